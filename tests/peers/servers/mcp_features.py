"""The official Python SDK: prompts, resources, completion, logs and questions, in both eras."""

from __future__ import annotations

import warnings
from typing import Any

import hosting
from mcp.server.mcpserver import Context, MCPServer
from mcp_types import (
    Completion,
    CreateMessageRequest,
    CreateMessageRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    InputRequiredResult,
    ListRootsRequest,
    SamplingMessage,
    TextContent,
)
from pydantic import BaseModel

warnings.simplefilter("ignore")
server = MCPServer("peer", log_level="ERROR")
FORM: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer", "default": 2}},
    "required": ["city"],
}
QUESTION = SamplingMessage(role="user", content=TextContent(type="text", text="Capital?"))


class Trip(BaseModel):
    city: str
    days: int = 2


@server.resource("demo://fixed", name="fixed", mime_type="text/plain")
def fixed() -> str:
    return "contents"


@server.resource("demo://bytes", name="bytes", mime_type="application/octet-stream")
def some_bytes() -> bytes:
    return b"\x00\x01"


@server.resource("demo://users/{name}", name="user")
def user(name: str) -> str:
    return f"user {name}"


@server.prompt(title="Review code")
def review(code: str, style: str = "dry") -> str:
    return f"Review {style}: {code}"


@server.completion()
async def complete(ref: Any, argument: Any, context: Any) -> Completion:
    known = [word for word in ("dry", "drastic", "wet") if word.startswith(argument.value)]
    return Completion(values=known, total=len(known), has_more=False)


@server.tool()
async def touch(context: Context) -> str:
    await context.notify_resource_updated("demo://fixed")
    return "touched"


@server.tool()
async def log(context: Context) -> str:
    log: Any = context.log  # pyright: ignore[reportDeprecated]
    await log("info", {"step": 1}, logger_name="peer")
    return "logged"


@server.tool()
async def ask_older(context: Context) -> str:
    """Ask with requests, which ends with 2025-11-25."""
    session: Any = context.request_context.session
    trip: Any = await context.elicit("Where to?", Trip)
    said = await session.create_message([QUESTION], max_tokens=10)
    roots = await session.list_roots()
    return f"{trip.data} {said.content.text} {roots.roots[0].uri}"


@server.tool()
async def ask_modern(context: Context) -> str | InputRequiredResult:
    """Ask in rounds, which begins with 2026-07-28."""
    given: Any = context.input_responses
    if not given:
        return InputRequiredResult(
            input_requests={
                "trip": ElicitRequest(
                    params=ElicitRequestFormParams(message="Where to?", requested_schema=FORM)
                ),
                "capital": CreateMessageRequest(
                    params=CreateMessageRequestParams(messages=[QUESTION], max_tokens=10)
                ),
                "roots": ListRootsRequest(),
            },
            request_state="round 1",
        )
    trip, capital, roots = given["trip"], given["capital"], given["roots"]
    trip = Trip.model_validate(trip.content)
    return f"{trip} {capital.content.text} {roots.roots[0].uri} {context.request_state}"


if __name__ == "__main__":
    if hosting.is_http():
        hosting.serve(server.streamable_http_app())
    else:
        server.run("stdio")
