"""What every Python client script does the same: read its arguments, run, print its report.

    python SCRIPT TARGET PLAN

TARGET is `{"url": …}` or `{"command": […]}`, or a list of those, each with a
`plan` that says what is different there; PLAN is `{"mode": …, "calls": [{"id",
"tool", "arguments"}, …], "features": …, "answer": …}`, where the latter two are what is asked for
beside tools, and what a user answers. A call with `give_up` is given up at its first progress. The
report, one JSON document on standard output (of several targets, a list of reports), has the same
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
Run = Callable[[Json, Json], Coroutine[Any, Any, Json]]


def main(run: Run) -> None:
    """Run the plan and print the report."""
    where, plan = map(json.loads, sys.argv[1:3])
    json.dump(asyncio.run(visit(run, where, plan)), sys.stdout)


async def visit(run: Run, where: Json | list[Json], plan: Json) -> Any:
    """Run the plan for a target, or for each of several: one that fails does so alone."""
    if isinstance(where, dict):
        return await run(where, plan)
    reports: list[Json] = []
    for target in where:
        try:
            reports.append(await run(target, {**plan, **target["plan"]}))
        except Exception as error:
            reports.append({"raised": repr(error)})
    return reports


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

    Without a plan for that, nothing is asked; a picture, a resource that is missing, and a
    completion only if the plan has them.
    """
    if plan is None:
        return {}
    prompt = plan["prompt"]
    listed = await client.list_prompts()
    resources, templates = await client.list_resources(), await client.list_resource_templates()

    async def read(uri: str) -> Any:
        found = await client.read_resource(uri)
        return getattr(found, "contents", found)[0]

    found: Json = {}
    if "missing" in plan:
        try:
            found["missing"] = wire(await read(plan["missing"]))
        except Exception as error:
            found["missing"] = {"raised": str(error), "code": getattr(error, "code", None)}
    if "complete" in plan:
        ref = PromptReference(type="ref/prompt", name=plan["complete"]["ref"]["name"])
        completed = await client.complete(ref, plan["complete"]["argument"])
        found["completion"] = getattr(completed, "completion", completed).values
    if "blob" in plan:
        found["blob"] = (await read(plan["blob"])).blob
    got = await client.get_prompt(prompt["name"], prompt["arguments"])
    return {
        "prompts": [each.name for each in getattr(listed, "prompts", listed)],
        "prompt": [each.content.text for each in got.messages],
        "resources": [str(each.uri) for each in getattr(resources, "resources", resources)],
        "templates": [
            each.uri_template for each in getattr(templates, "resource_templates", templates)
        ],
        "resource": (await read(plan["resource"])).text,
        **found,
    }


async def record(
    calls: list[Json], call: Callable[[str, Json, Callable[..., Awaitable[None]]], Awaitable[Json]]
) -> Json:
    """Make every call, and return what each of them showed or raised."""
    outcomes: Json = {}
    for wanted in calls:
        progress: Progress = []
        begun = asyncio.Event()

        async def told(
            step: float,
            total: float | None,
            message: str | None,
            into: Progress = progress,
            begun: asyncio.Event = begun,
        ) -> None:
            into.append([step, total, message])
            begun.set()

        made = asyncio.ensure_future(call(wanted["tool"], wanted["arguments"], told))
        if wanted.get("give_up"):
            outcome = await _given_up(made, begun)
        else:
            outcome = await _outcome(made)
        outcomes[wanted["id"]] = {**outcome, "progress": progress} if progress else outcome
    return outcomes


async def _outcome(made: asyncio.Future[Json]) -> Json:
    try:
        return await made
    except Exception as error:
        return {"raised": str(error), "code": getattr(error, "code", None)}


async def _given_up(made: asyncio.Future[Json], begun: asyncio.Event) -> Json:
    """Give a call up as soon as its progress shows that it has begun."""
    beginning = asyncio.ensure_future(begun.wait())
    await asyncio.wait((made, beginning), return_when=asyncio.FIRST_COMPLETED)
    beginning.cancel()
    if made.done():
        return await _outcome(made)
    made.cancel()
    await asyncio.wait((made,))
    return {"given_up": True}
