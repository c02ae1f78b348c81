"""The official Python client, `mcp`; modes `auto` and `legacy`."""

from __future__ import annotations

from typing import Any

import report
from mcp import Client, StdioServerParameters
from mcp_types import ElicitResult, LoggingMessageNotificationParams


async def run(target: report.Json, plan: report.Json) -> report.Json:
    """Run the plan."""
    where: Any = target.get("url")
    if where is None:
        program, *arguments = target["command"]
        where = StdioServerParameters(command=program, args=arguments)
    logs: list[report.Json] = []

    async def hear(params: LoggingMessageNotificationParams) -> None:
        logs.append(report.wire(params))

    async def answer(context: Any, params: Any) -> ElicitResult:
        return ElicitResult(action="accept", content=plan["answer"])

    async with Client(
        where,
        mode=plan["mode"],
        read_timeout_seconds=plan["patience"],
        logging_callback=hear,
        log_level="info",
        elicitation_callback=answer,
    ) as client:

        async def call(tool: str, arguments: report.Json, told: Any) -> report.Json:
            return report.wire(await client.call_tool(tool, arguments, progress_callback=told))

        return {
            **report.connection(client.protocol_version, client.server_info, client.instructions),
            "tools": await report.tools(lambda cursor: client.list_tools(cursor=cursor)),
            "calls": await report.record(plan["calls"], call),
            "features": await report.features(plan.get("features"), client),
            "logs": logs,
        }


if __name__ == "__main__":
    report.main(run)
