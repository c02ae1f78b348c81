"""The Python clients of the generation before: `mcp` 1.x and FastMCP 2.x; the mode names which.

The plan and the report are those of report.py, which knows only newer packages.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import sys
from contextlib import AsyncExitStack
from typing import Any

# By name, since type checkers know only the packages that came after.
mcp: Any = importlib.import_module("mcp")
stdio: Any = importlib.import_module("mcp.client.stdio")
http: Any = importlib.import_module("mcp.client.streamable_http")

Json = dict[str, Any]


async def run(target: Json, plan: Json) -> Json:
    """Run the plan."""
    logs: list[Json] = []

    async def hear(params: Any) -> None:
        logs.append(params.model_dump(mode="json", by_alias=True, exclude_unset=True))

    async with AsyncExitStack() as stack:
        if plan["mode"] == "fastmcp":
            client = await stack.enter_async_context(_fastmcp(target, plan, hear))
            session = client.session
            revision = client.initialize_result.protocolVersion
        else:
            session = await _official(stack, target, plan, hear)
            revision = (await session.initialize()).protocolVersion
        await session.set_logging_level("info")
        return {
            "revision": revision,
            "calls": {
                call["id"]: await _outcome(session.call_tool(call["tool"], call["arguments"]))
                for call in plan["calls"]
            },
            "features": await _features(session, plan["features"]) if "features" in plan else {},
            "logs": logs,
        }


async def _official(stack: AsyncExitStack, target: Json, plan: Json, hear: Any) -> Any:
    if "url" in target:
        streams = await stack.enter_async_context(http.streamablehttp_client(target["url"]))
    else:
        program, *arguments = target["command"]
        where = mcp.StdioServerParameters(command=program, args=arguments)
        streams = await stack.enter_async_context(stdio.stdio_client(where))

    async def answer(context: Any, params: Any) -> Any:
        return mcp.types.ElicitResult(action="accept", content=plan["answer"])

    session = mcp.ClientSession(
        streams[0], streams[1], logging_callback=hear, elicitation_callback=answer
    )
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
    return client(where, log_handler=hear, elicitation_handler=answer, timeout=plan["patience"])


async def _features(session: Any, plan: Json) -> Json:
    prompt, complete = plan["prompt"], plan["complete"]
    ref = mcp.types.PromptReference(type="ref/prompt", name=complete["ref"]["name"])
    got = await session.get_prompt(prompt["name"], prompt["arguments"])
    templates = (await session.list_resource_templates()).resourceTemplates
    completed = await session.complete(ref, complete["argument"])

    async def read(uri: str) -> Any:
        return (await session.read_resource(uri)).contents[0]

    return {
        "prompts": [each.name for each in (await session.list_prompts()).prompts],
        "prompt": [each.content.text for each in got.messages],
        "resources": [str(each.uri) for each in (await session.list_resources()).resources],
        "templates": [each.uriTemplate for each in templates],
        "resource": (await read(plan["resource"])).text,
        "blob": (await read(plan["blob"])).blob,
        "missing": await _outcome(session.read_resource(plan["missing"])),
        "completion": completed.completion.values,
    }


async def _outcome(asked: Any) -> Json:
    try:
        shown = await asked
    except Exception as error:
        failure = getattr(error, "error", None)
        return {"raised": str(error), "code": getattr(failure, "code", None)}
    return shown.model_dump(mode="json", by_alias=True, exclude_unset=True)


if __name__ == "__main__":
    print(json.dumps(asyncio.run(run(json.loads(sys.argv[1]), json.loads(sys.argv[2])))))
