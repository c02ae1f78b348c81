"""The Python clients of the generations before: `mcp` 1.6 to 1.30, and FastMCP 2 and 3.

The mode names the package. The plan and the report are those of report.py, which knows only newer
packages.
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
import json
import logging
import sys
import warnings
from contextlib import AsyncExitStack
from typing import Any

warnings.simplefilter("ignore")
logging.disable(logging.ERROR)

# By name, since type checkers know only the packages that came after.
mcp: Any = importlib.import_module("mcp")
stdio: Any = importlib.import_module("mcp.client.stdio")

Json = dict[str, Any]


async def visit(where: Json | list[Json], plan: Json) -> Any:
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


async def run(target: Json, plan: Json) -> Json:
    """Run the plan."""
    logs: list[Json] = []

    async def hear(params: Any) -> None:
        logs.append(params.model_dump(mode="json", by_alias=True, exclude_unset=True))

    async with AsyncExitStack() as stack:
        client: Any = None
        if plan["mode"] == "fastmcp":
            client = await stack.enter_async_context(_fastmcp(target, plan, hear))
            session = client.session
            greeting = getattr(client, "initialize_result", None)
            revision = getattr(greeting, "protocolVersion", mcp.types.LATEST_PROTOCOL_VERSION)
        else:
            session = await _official(stack, target, plan, hear)
            revision = (await session.initialize()).protocolVersion
        await session.set_logging_level("info")
        tools = (await session.list_tools()).tools
        return {
            "revision": revision,
            "tools": {tool.name: _wire(tool) for tool in tools},
            "calls": {call["id"]: await _call(client, session, call) for call in plan["calls"]},
            "features": await _features(session, plan["features"]) if "features" in plan else {},
            "logs": logs,
        }


async def _official(stack: AsyncExitStack, target: Json, plan: Json, hear: Any) -> Any:
    if "url" in target:
        http: Any = importlib.import_module("mcp.client.streamable_http")
        streams = await stack.enter_async_context(http.streamablehttp_client(target["url"]))
    else:
        program, *arguments = target["command"]
        where = mcp.StdioServerParameters(command=program, args=arguments)
        streams = await stack.enter_async_context(stdio.stdio_client(where))

    async def answer(context: Any, params: Any) -> Any:
        return mcp.types.ElicitResult(action="accept", content=plan["answer"])

    asked = _known(mcp.ClientSession, elicitation_callback=answer)
    session = mcp.ClientSession(streams[0], streams[1], logging_callback=hear, **asked)
    return await stack.enter_async_context(session)


def _fastmcp(target: Json, plan: Json, hear: Any) -> Any:
    client: Any = importlib.import_module("fastmcp").Client
    transports: Any = importlib.import_module("fastmcp.client.transports")

    async def answer(*_asked: Any) -> Any:
        return plan["answer"]

    where: Any = target.get("url")
    if where is None:
        program, *arguments = target["command"]
        where = transports.StdioTransport(program, arguments, keep_alive=False)
    asked = _known(client, elicitation_handler=answer)
    return client(where, log_handler=hear, timeout=plan["patience"], **asked)


def _known(function: Any, **given: Any) -> Json:
    """Return those of the parameters that this generation has."""
    known = inspect.signature(function).parameters
    return {name: value for name, value in given.items() if name in known}


async def _call(client: Any, session: Any, call: Json) -> Json:
    progress: list[list[Any]] = []
    begun = asyncio.Event()

    async def told(step: float, total: float | None, message: str | None = None) -> None:
        progress.append([step, total, message])
        begun.set()

    watched = _known(session.call_tool, progress_callback=told)
    id = session._request_id
    if "give_up" in call:
        if not watched:
            return {"raised": "nothing tells this client that the call has begun"}
        made = asyncio.ensure_future(session.call_tool(call["tool"], call["arguments"], **watched))
        await begun.wait()
        params = mcp.types.CancelledNotificationParams(requestId=id, reason="given up")
        given_up = mcp.types.CancelledNotification(method="notifications/cancelled", params=params)
        await session.send_notification(mcp.types.ClientNotification(given_up))
        made.cancel()
        await asyncio.wait((made,))
        return {"given_up": True}
    if client is not None and _known(client.call_tool, raise_on_error=False):
        outcome = await _outcome(_converted(client, call, told))
    else:
        outcome = await _outcome(session.call_tool(call["tool"], call["arguments"], **watched))
    return {**outcome, "progress": progress} if progress else outcome


async def _converted(client: Any, call: Json, told: Any) -> Json:
    """Return what FastMCP shows: beside the structured content, what it makes of that."""
    shown = await client.call_tool(
        call["tool"], call["arguments"], progress_handler=told, raise_on_error=False
    )
    core: Any = importlib.import_module("pydantic_core")
    outcome = {"content": [_wire(block) for block in shown.content], "isError": shown.is_error}
    if shown.structured_content is not None:
        outcome["structuredContent"] = shown.structured_content
        outcome["data"] = core.to_jsonable_python(shown.data)
    return outcome


async def _features(session: Any, plan: Json) -> Json:
    prompt = plan["prompt"]
    got = await session.get_prompt(prompt["name"], prompt["arguments"])
    templates = (await session.list_resource_templates()).resourceTemplates

    async def read(uri: str) -> Any:
        return (await session.read_resource(uri)).contents[0]

    found: Json = {
        "prompts": [each.name for each in (await session.list_prompts()).prompts],
        "prompt": [each.content.text for each in got.messages],
        "resources": [str(each.uri) for each in (await session.list_resources()).resources],
        "templates": [each.uriTemplate for each in templates],
        "resource": (await read(plan["resource"])).text,
    }
    if "blob" in plan:
        found["blob"] = (await read(plan["blob"])).blob
    if "missing" in plan:
        found["missing"] = await _outcome(session.read_resource(plan["missing"]))
    if "complete" in plan:
        ref = mcp.types.PromptReference(type="ref/prompt", name=plan["complete"]["ref"]["name"])
        completed = await session.complete(ref, plan["complete"]["argument"])
        found["completion"] = completed.completion.values
    return found


async def _outcome(asked: Any) -> Json:
    try:
        shown = await asked
    except Exception as error:
        failure = getattr(error, "error", None)
        return {"raised": str(error), "code": getattr(failure, "code", None)}
    return _wire(shown) if hasattr(shown, "model_dump") else shown


def _wire(model: Any) -> Json:
    return model.model_dump(mode="json", by_alias=True, exclude_unset=True)


if __name__ == "__main__":
    print(json.dumps(asyncio.run(visit(json.loads(sys.argv[1]), json.loads(sys.argv[2])))))
