"""Golden frames of tasks: one server, asked at every revision by a client with tasks and without.

`tasks/<revision>.json` holds every question with the whole answer; ids and times, which nobody can
know, are written as what they are. After a change that is meant, run with `ANYSHAPE_WRITE_FRAMES=1`
and review the difference.
"""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Annotated, Any

import pytest
from patience import PATIENCE, turn_until

from anyshape import Ask, Context, Server, ToolError
from anyshape.protocol.revision import Revision
from anyshape.server import ServerOptions, TaskOptions

from .golden import expect_frames

HERE = Path(__file__).parent / "tasks"
CAPABILITIES: dict[str, Any] = {
    "elicitation": {"form": {}},
    "extensions": {"io.modelcontextprotocol/tasks": {}},
}
FINAL = ("completed", "failed", "cancelled")


class Golden:
    """A server with a task for every end, and a client of one revision."""

    def __init__(self, revision: Revision) -> None:
        options = ServerOptions(state_keys=(b"k" * 32,), tasks=TaskOptions(keep=60))
        self.server = server = Server("golden", version="1.0.0", options=options)
        self.may_end = asyncio.Event()
        self.is_begun = asyncio.Event()

        @server.tool(task=True)
        async def count(up_to: int, ctx: Context) -> list[int]:
            """Count."""
            await ctx.progress(1, up_to, "counting")
            self.is_begun.set()
            await self.may_end.wait()
            return list(range(up_to))

        @server.tool(task=True)
        async def fail() -> int:
            raise ToolError("no")

        @server.tool(task=True)
        async def rooted(ctx: Context) -> int:
            return len(await ctx.roots())

        @server.tool(task=True)
        async def confirm(ctx: Context) -> str:
            return (await ctx.elicit("Sure?", bool)).action

        @server.tool(task="required")
        async def greet(name: Annotated[str, Ask("Who?")]) -> str:
            return f"Hello, {name}"

        self.revision = revision
        self.sent: list[Any] = []
        self.connection = server.connect(lambda message: self.sent.append(json.loads(message)))
        self.answers: list[Any] = []
        self._id = 0

    async def ask(self, method: str, *, keep: bool = True, **params: Any) -> Any:
        """Return an answer, and have it among the golden ones."""
        self._id += 1
        asked = dict(params)
        if self.revision.is_modern:
            params["_meta"] = {
                "io.modelcontextprotocol/protocolVersion": str(self.revision),
                "io.modelcontextprotocol/clientCapabilities": CAPABILITIES,
            }
        body = {"jsonrpc": "2.0", "id": self._id, "method": method, "params": params}
        answer = await self.connection.handle(json.dumps(body).encode())
        parsed = None if answer is None else json.loads(answer)
        if keep:
            self.answers.append({"method": method, "params": asked, "answer": parsed})
        return parsed

    async def end(self, id: str) -> None:
        """Look at a task once it has ended."""
        async with asyncio.timeout(PATIENCE):
            while True:
                looked = await self.ask("tasks/get", keep=False, taskId=id)
                if looked["result"]["status"] in FINAL:
                    break
                await asyncio.sleep(0)
        await self.ask("tasks/get", taskId=id)


async def frames(revision: Revision) -> dict[str, Any]:
    """Return all that a client of a revision is sent."""
    golden = Golden(revision)
    if revision.is_modern:
        opening = await golden.ask("server/discover", keep=False)
    else:
        opening = await golden.ask(
            "initialize",
            keep=False,
            protocolVersion=str(revision),
            capabilities={"elicitation": {}},
        )
        golden.may_end.set()
    counting = await golden.ask("tools/call", name="count", arguments={"up_to": 3})
    await golden.ask("tasks/get", taskId="unknown")
    await golden.ask("tasks/update", taskId="unknown", inputResponses={})
    await golden.ask("tasks/cancel", taskId="unknown")
    await golden.ask("tasks/list")
    if revision.is_modern:
        await _look_at_tasks(golden, counting["result"]["taskId"])
    else:
        await golden.ask("tools/call", name="greet", arguments={})
    await golden.connection.close()
    text = json.dumps(
        {
            "capabilities": opening["result"]["capabilities"],
            "answers": golden.answers,
            "notifications": golden.sent,
        }
    )
    text = re.sub(r'"(taskId|requestState)": "(?!unknown)[\w-]{20,}"', r'"\1": "<\1>"', text)
    text = re.sub(r'"taskIds": \["[\w-]{20,}"\]', '"taskIds": ["<taskId>"]', text)
    text = re.sub(r'"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"', '"<moment>"', text)
    text = re.sub(r'"(ttlMs|pollIntervalMs)": \d+', r'"\1": "<milliseconds>"', text)
    return json.loads(text)


async def _look_at_tasks(golden: Golden, counting: str) -> None:
    await golden.is_begun.wait()
    await golden.ask("tasks/get", taskId=counting)
    listening = asyncio.create_task(
        golden.ask("subscriptions/listen", keep=False, notifications={"taskIds": [counting]})
    )
    await turn_until(lambda: golden.sent)
    golden.may_end.set()
    await turn_until(lambda: len(golden.sent) == 2)
    await golden.ask("tasks/get", taskId=counting)
    for name in ("fail", "rooted"):
        created = await golden.ask("tools/call", keep=False, name=name, arguments={})
        await golden.end(created["result"]["taskId"])
    created = await golden.ask("tools/call", keep=False, name="confirm", arguments={})
    id = created["result"]["taskId"]
    asked: Any = {}
    async with asyncio.timeout(PATIENCE):
        while not asked:
            looked = await golden.ask("tasks/get", keep=False, taskId=id)
            asked = looked["result"].get("inputRequests")
            await asyncio.sleep(0)
    await golden.ask("tasks/get", taskId=id)
    [key] = asked
    answer = {"action": "accept", "content": {"value": True}}
    await golden.ask("tasks/update", taskId=id, inputResponses={key: answer})
    await golden.end(id)
    first = await golden.ask("tools/call", name="greet", arguments={})
    created = await golden.ask(
        "tools/call",
        name="greet",
        arguments={},
        requestState=first["result"]["requestState"],
        inputResponses={"name": {"action": "accept", "content": {"value": "Ada"}}},
    )
    await golden.ask("tasks/cancel", taskId=created["result"]["taskId"])
    await golden.ask("tasks/get", taskId=created["result"]["taskId"])
    listening.cancel()


@pytest.mark.parametrize("revision", Revision, ids=str)
async def test_frames_are_the_golden_ones(revision: Revision) -> None:
    expect_frames(HERE / f"{revision}.json", await frames(revision))


def test_every_golden_file_belongs_to_a_revision() -> None:
    assert {path.stem for path in HERE.glob("*.json")} == {str(revision) for revision in Revision}
