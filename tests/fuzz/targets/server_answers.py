"""What a server answers a client, and says on its own: JSON, the answers by method.

An answer is merged into the envelope of a response; a string is sent as it is. `says` are messages
that the server sends before some of its answers.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from mutator import mutate_json, read_json, write_json
from trees import items_of, members_of
from turns import run_hastily

from anyshape import Client
from anyshape.client import (
    Bounds,
    ElicitAnswer,
    Elicitation,
    ListedTool,
    Root,
    Sampled,
    SamplingRequest,
)
from anyshape.errors import AnyshapeError, TransportError
from anyshape.screening import screen_entry

from . import Target, check_message

BOUNDS = Bounds(
    max_answer_bytes=50_000,
    max_pages=3,
    max_rounds=3,
    max_questions=3,
    answer_timeout=20.0,
    task_timeout=60.0,
)
FORM = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "count": {"type": "integer", "default": 3}},
    "required": ["name"],
}
ELICIT = {
    "method": "elicitation/create",
    "params": {"message": "Who?", "requestedSchema": FORM, "mode": "form"},
}
SAMPLE = {
    "method": "sampling/createMessage",
    "params": {
        "messages": [{"role": "user", "content": {"type": "text", "text": "Capital?"}}],
        "maxTokens": 10,
    },
}
TOOL = {
    "name": "ask",
    "title": "Ask",
    "description": "Asks.",
    "inputSchema": {
        "type": "object",
        "properties": {"n": {"type": "integer", "x-mcp-header": "N"}},
    },
    "outputSchema": {"type": "object", "properties": {"result": {"type": "array"}}},
    "annotations": {"readOnlyHint": True},
    "icons": [{"src": "https://example.com/a.png", "sizes": ["48x48"]}],
    "_meta": {"a": 1},
}
CONTENT: list[Any] = [
    {"type": "text", "text": "x", "annotations": {"audience": ["user"], "priority": 1}},
    {"type": "image", "data": "AAAA", "mimeType": "image/png"},
    {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
    {"type": "resource_link", "uri": "a:b", "name": "b", "size": 1},
    {"type": "resource", "resource": {"uri": "a:b", "text": "x"}},
]
CALLED = {"content": CONTENT, "structuredContent": {"result": [1]}, "isError": False}
TASK = {
    "taskId": "t1",
    "status": "working",
    "pollInterval": 10,
    "ttl": 1_000,
    "createdAt": "2026-01-01T00:00:00Z",
    "lastUpdatedAt": "2026-01-01T00:00:00Z",
}
COMMON: dict[str, Any] = {
    "tools/list": {"result": {"tools": [TOOL]}},
    "tools/call": {"result": CALLED},
    "prompts/list": {
        "result": {"prompts": [{"name": "p", "arguments": [{"name": "a", "required": True}]}]}
    },
    "prompts/get": {"result": {"messages": [{"role": "user", "content": CONTENT[0]}]}},
    "resources/list": {"result": {"resources": [{"uri": "a:b", "name": "b", "size": 3}]}},
    "resources/templates/list": {
        "result": {"resourceTemplates": [{"uriTemplate": "a:{b}", "name": "b"}]}
    },
    "resources/read": {"result": {"contents": [{"uri": "a:b", "blob": "AAAA"}]}},
    "completion/complete": {"result": {"completion": {"values": ["x"], "hasMore": True}}},
    "says": [
        {"method": "notifications/progress", "params": {"progressToken": 3, "progress": 1}},
        {"method": "notifications/message", "params": {"level": "info", "data": {"a": 1}}},
        {"method": "notifications/tools/list_changed"},
        {"method": "notifications/cancelled", "params": {"requestId": 1}},
        {"id": 5, "method": "ping"},
    ],
}
CAPABILITIES: dict[str, Any] = {
    "tools": {"listChanged": True},
    "prompts": {},
    "resources": {"subscribe": True},
    "completions": {},
    "logging": {},
    "extensions": {"io.modelcontextprotocol/tasks": {}},
}
MODERN: dict[str, Any] = {
    **COMMON,
    "server/discover": {
        "result": {"supportedVersions": ["2026-07-28"], "capabilities": CAPABILITIES}
    },
}
OLD: dict[str, Any] = {
    **COMMON,
    "initialize": {
        "result": {
            "protocolVersion": "2025-11-25",
            "capabilities": {**CAPABILITIES, "tasks": {"requests": {"tools": {"call": {}}}}},
            "serverInfo": {"name": "s", "version": "1"},
        }
    },
    "server/discover": {"error": {"code": -32601, "message": "no"}},
    "says": [{"id": 5, **ELICIT}, {"id": "x", **SAMPLE}, {"id": 7, "method": "roots/list"}],
}
SCRIPTS: tuple[dict[str, Any], ...] = (
    MODERN,
    OLD,
    {
        **MODERN,
        "tools/call": {
            "result": {
                "resultType": "input_required",
                "inputRequests": {"a": ELICIT, "b": SAMPLE, "c": {"method": "roots/list"}},
                "requestState": "s",
            }
        },
    },
    {
        **MODERN,
        "tools/call": {"result": {"resultType": "task", **TASK}},
        "tasks/get": {"result": {**TASK, "status": "completed", "result": CALLED}},
    },
    {
        **OLD,
        "tools/call": {"result": {"task": TASK}},
        "tasks/get": {"result": {**TASK, "status": "completed"}},
        "tasks/result": {"result": CALLED},
    },
    {**MODERN, "tools/list": {"result": {"tools": [TOOL], "nextCursor": "2"}}},
    {**MODERN, "tools/call": '{"jsonrpc":"2.0","id":3,"result":{"a":NaN}}'},
    {**MODERN, "server/discover": {"error": {"code": -32022, "data": {"supported": ["x"]}}}},
)
SEEDS = tuple(map(write_json, SCRIPTS))


class ScriptedServer:
    """Answers as an input says."""

    def __init__(self, script: dict[str, Any]) -> None:
        self._script = script
        self._left = 60
        self._send: Callable[[bytes], None] = print

    def connect(self, send: Callable[[bytes], None], /) -> ScriptedServer:
        """Remember whom to talk to."""
        self._send = send
        return self

    async def handle(self, frame: bytes) -> bytes | None:
        """Answer, up to a number of times."""
        message = json.loads(frame)
        self._left -= 1
        if "method" not in message or "id" not in message or self._left < 0:
            return None
        if self._left % 4 == 0:
            for said in items_of(self._script.get("says"))[:5]:
                self._send(_frame(said, {}))
        return _frame(self._script.get(message["method"]), {"id": message["id"]})

    async def close(self) -> None:
        """Do nothing."""


def _frame(said: Any, envelope: dict[str, Any]) -> bytes:
    if isinstance(said, str):
        return said.encode("utf-8", "surrogateescape")
    if said is None:
        said = {"error": {"code": -32601, "message": "Method not found"}}
    return write_json({"jsonrpc": "2.0", **envelope, **members_of(said)})


def run(data: bytes) -> None:
    """Connect, and ask for everything that there is."""
    run_hastily(_visit(members_of(read_json(data))))


def _elicit(question: Elicitation) -> ElicitAnswer:
    return {"name": "Ada"}


def _sample(question: SamplingRequest) -> Sampled:
    return Sampled("Paris", model="m")


def _hear(*said: object) -> None:
    """Hear of something, and do nothing about it."""


async def _visit(script: dict[str, Any]) -> None:
    client = Client(
        ScriptedServer(script),
        timeout=30.0,
        bounds=BOUNDS,
        on_elicit=_elicit,
        on_sample=_sample,
        roots=[Root("file:///tmp")],
        on_log=_hear,
        on_list_changed=_hear,
    )
    try:
        async with client:
            await _ask_everything(client)
    except AnyshapeError as error:
        check_message(error)


async def _ask_everything(client: Client) -> None:
    tools: list[ListedTool] = await _attempt(client.list_tools()) or []
    for tool in tools[:2]:
        screen_entry(tool.entry)
        for arguments in ({}, {"n": 1}):
            result = await _attempt(client.call_tool(tool.name, arguments, on_progress=_hear))
            if result is not None:
                assert isinstance(result.content, tuple)
                assert result.raw is not None
    await _attempt(client.call("ask", {"n": 2}))
    for error in client.rejected.values():
        check_message(error)
    await _attempt(client.list_prompts())
    await _attempt(client.get_prompt("p", {"a": "x"}))
    await _attempt(client.list_resources())
    await _attempt(client.list_resource_templates())
    read = await _attempt(client.read_resource("a:b"))
    if read is not None:
        for part in ("text", "data"):
            try:
                getattr(read, part)
            except AnyshapeError as error:
                check_message(error)
    await _attempt(client.complete("a", "x", prompt="p"))
    await _attempt(client.subscribe("a:b", _hear))
    await _attempt(client.ping())


async def _attempt(asked: Awaitable[Any]) -> Any:
    try:
        return await asked
    except TransportError:
        raise
    except AnyshapeError as error:
        check_message(error)
    return None


def make(corpus: Path | None) -> Target:
    """Return the target; the tools of real listings are listed by the server."""
    real = [
        write_json({**MODERN, "tools/list": {"result": {"tools": tools}}})
        for tools in (_real(corpus) if corpus is not None else ())
    ]
    seeds = (*SEEDS, *(each for each in real if len(each) < 30_000))
    return Target(run, seeds, mutate_json, 32_000, short=60)


def _real(corpus: Path) -> list[list[Any]]:
    listings = [read_json(path.read_bytes()) for path in sorted(corpus.glob("*.json"))]
    tools = [items_of(each) or items_of(members_of(each).get("tools")) for each in listings]
    return [each[start : start + 3] for each in tools for start in range(0, len(each), 30)]
