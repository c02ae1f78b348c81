"""Our own client, at the plan's `revision`; its `data` is the natural value."""

from __future__ import annotations

from typing import Any

import report

from anyshape import Client
from anyshape.client import LogMessage, Progress


async def run(target: report.Json, plan: report.Json) -> report.Json:
    """Run the plan."""
    logs: list[LogMessage] = []
    async with Client(
        target.get("url") or target["command"],
        revision=plan["revision"],
        timeout=plan["patience"],
        on_log=logs.append,
        on_elicit=lambda _question: plan["answer"],
    ) as client:
        await client.set_log_level("info")

        async def call(tool: str, arguments: report.Json, told: Any) -> report.Json:
            async def tell(step: Progress) -> None:
                await told(step.progress, step.total, step.message)

            shown = await client.call_tool(tool, arguments, on_progress=tell)
            return {**shown.raw, **({"data": shown.value} if shown.has_value else {})}

        listed = await client.list_tools()
        return {
            "revision": client.revision,
            "tools": {tool.name: dict(tool.entry) for tool in listed},
            "calls": await report.record(plan["calls"], call),
            "features": await _features(plan["features"], client),
            "logs": [each.data for each in logs],
        }


async def _features(plan: report.Json, client: Client) -> report.Json:
    prompt = plan["prompt"]
    got = await client.get_prompt(prompt["name"], prompt["arguments"])
    templates = await client.list_resource_templates()
    return {
        "prompts": [each.name for each in await client.list_prompts()],
        "prompt": [message["content"]["text"] for message in got.raw["messages"]],
        "resources": [each.uri for each in await client.list_resources()],
        "templates": [each.uri_template for each in templates],
        "resource": (await client.read_resource(plan["resource"])).text,
    }


if __name__ == "__main__":
    report.main(run)
