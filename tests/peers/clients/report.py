"""What every Python client script does the same: read its arguments, run, print its report.

    python SCRIPT TARGET PLAN

TARGET is `{"url": …}` or `{"command": […]}`; PLAN is `{"mode": …, "calls": [{"id", "tool",
"arguments"}, …], "features": …, "answer": …}`, where the latter two are what is asked for beside
tools, and what a user answers. The report, one JSON document on standard output, has the same
members in every language: `revision`, `server`, `instructions`, `tools` by name, `calls` by id,
`features` (what was found beside tools) and `logs`. A call has the members its client shows
(`content`, `structuredContent`, `isError`) and the `progress` it was told of; or `raised` and
`code`, what the client threw instead.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from mcp_types import Implementation, ListToolsResult, PromptReference
from pydantic import BaseModel

Json = dict[str, Any]
Progress = list[list[Any]]


def main(run: Callable[[Json, Json], Coroutine[Any, Any, Json]]) -> None:
    """Run the plan and print the report."""
    report = asyncio.run(run(json.loads(sys.argv[1]), json.loads(sys.argv[2])))
    json.dump(report, sys.stdout)


def wire(model: BaseModel) -> Json:
    """Return a model as it came over the wire: what was not said is left out."""
    return model.model_dump(mode="json", by_alias=True, exclude_unset=True)


def connection(revision: str, server: Implementation | None, instructions: str | None) -> Json:
    """Return what the client knows of the server before it asks for anything."""
    return {
        "revision": revision,
        "server": None if server is None else wire(server),
        "instructions": instructions,
    }


async def tools(page: Callable[[str | None], Awaitable[ListToolsResult]]) -> Json:
    """Return the tools of every page by name."""
    listed: Json = {}
    cursor: str | None = None
    while True:
        listing = await page(cursor)
        listed |= {tool.name: wire(tool) for tool in listing.tools}
        cursor = listing.next_cursor
        if cursor is None:
            return listed


async def features(plan: Json | None, client: Any) -> Json:
    """Return what the server has beside tools; the official client's words are asked for.

    Without a plan for that, nothing is asked.
    """
    if plan is None:
        return {}
    prompt, complete = plan["prompt"], plan["complete"]
    listed = await client.list_prompts()
    resources, templates = await client.list_resources(), await client.list_resource_templates()

    async def read(uri: str) -> Any:
        found = await client.read_resource(uri)
        return getattr(found, "contents", found)[0]

    try:
        missing: Json = wire(await read(plan["missing"]))
    except Exception as error:
        missing = {"raised": str(error), "code": getattr(error, "code", None)}
    ref = PromptReference(type="ref/prompt", name=complete["ref"]["name"])
    completed = await client.complete(ref, complete["argument"])
    got = await client.get_prompt(prompt["name"], prompt["arguments"])
    return {
        "prompts": [each.name for each in getattr(listed, "prompts", listed)],
        "prompt": [each.content.text for each in got.messages],
        "resources": [str(each.uri) for each in getattr(resources, "resources", resources)],
        "templates": [
            each.uri_template for each in getattr(templates, "resource_templates", templates)
        ],
        "resource": (await read(plan["resource"])).text,
        "blob": (await read(plan["blob"])).blob,
        "missing": missing,
        "completion": getattr(completed, "completion", completed).values,
    }


async def record(
    calls: list[Json], call: Callable[[str, Json, Callable[..., Awaitable[None]]], Awaitable[Json]]
) -> Json:
    """Make every call, and return what each of them showed or raised."""
    outcomes: Json = {}
    for wanted in calls:
        progress: Progress = []

        async def told(
            step: float, total: float | None, message: str | None, into: Progress = progress
        ) -> None:
            into.append([step, total, message])

        try:
            outcome = await call(wanted["tool"], wanted["arguments"], told)
        except Exception as error:
            outcome = {"raised": str(error), "code": getattr(error, "code", None)}
        outcomes[wanted["id"]] = {**outcome, "progress": progress} if progress else outcome
    return outcomes
