"""Golden frames of questions: one server that asks for everything, answered at every revision.

`asking/<revision>.json` holds each call with all that is sent until its answer. After a change that
is meant, run with `ANYSHAPE_WRITE_FRAMES=1` and review the difference.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from mcp_types.methods import parse_server_request, validate_server_result
from patience import turn_until
from pydantic import BaseModel, Field

from anyshape import Ask, Context, Message, Server, Text
from anyshape.protocol.revision import RELEASED, Revision

from .golden import expect_frames

Json = dict[str, Any]
HERE = Path(__file__).parent / "asking"
META = "io.modelcontextprotocol/"
ABLE: Json = {"elicitation": {"form": {}, "url": {}}, "sampling": {"tools": {}}, "roots": {}}


class Order(BaseModel):
    """A form with a field of each kind that every revision with forms has."""

    name: Annotated[str, Field(min_length=1, max_length=50, title="Name", description="Who?")]
    day: Annotated[str, Field(json_schema_extra={"format": "date"})]
    seats: Annotated[int, Field(ge=1, le=8)] = 2
    price: Annotated[float, Field(gt=0)] = 9.5
    fast: bool = True
    size: Literal["s", "l"] = "s"
    colour: Annotated[
        str,
        Field(
            json_schema_extra={
                "oneOf": [{"const": "r", "title": "Red"}, {"const": "b", "title": "Blue"}]
            }
        ),
    ]
    note: str | None = None


def golden_server() -> Server:
    """Return a server that asks all there is to ask."""
    server = Server("golden", version="1.0.0")

    @server.tool
    async def form(context: Context) -> str:
        return (await context.elicit("Please order", Order)).action

    @server.tool
    async def several(context: Context) -> str:
        return (await context.elicit("Which?", list[Literal["a", "b"]])).action

    @server.tool
    async def visit(context: Context) -> str:
        url = "https://golden.example/pay"
        return (await context.elicit_url("Please pay", url, id="visit-1")).action

    @server.tool
    async def sample(context: Context) -> str:
        said = await context.sample(
            ["One", Message([Text("Two"), Text("Three")], role="assistant"), "Four"],
            max_tokens=10,
            system_prompt="Brief",
            temperature=0.5,
            stop_sequences=["."],
            preferences={"hints": [{"name": "small"}]},
        )
        return said.text

    @server.tool
    async def tools(context: Context) -> str:
        said = await context.sample("Go", tools=[server.tools["form"]], tool_choice="none")
        return said.text

    @server.tool
    async def roots(context: Context) -> int:
        return len(await context.roots())

    @server.tool
    def declared(
        first: Annotated[bool, Ask("First?")], second: Annotated[int, Ask("Second?")]
    ) -> str:
        return f"{first} {second}"

    return server


VALUES = {"name": "Ada", "day": "2026-07-28", "colour": "b"}
SAID = {"role": "assistant", "content": {"type": "text", "text": "said"}, "model": "m"}


def answer_to(method: str, params: Json) -> Json:
    if method == "roots/list":
        return {"roots": [{"uri": "file:///a"}]}
    if method == "sampling/createMessage":
        return SAID
    if params.get("mode") == "url":
        return {"action": "accept"}
    values = {"First?": {"value": True}, "Second?": {"value": 2}, "Which?": {"value": ["a"]}}
    return {"action": "accept", "content": values.get(params["message"], VALUES)}


class Exchange:
    """A client that answers all it is asked, and remembers every frame of the server's."""

    def __init__(self, revision: Revision, capabilities: Json) -> None:
        self.revision = revision
        self.capabilities = capabilities
        self.sent: list[Json] = []
        self.frames: list[Json] = []
        self.connection = golden_server().connect(lambda frame: self.sent.append(json.loads(frame)))
        self._id = 0

    async def request(self, method: str, params: Json) -> Json:
        self._id += 1
        body = {"jsonrpc": "2.0", "id": self._id, "method": method, "params": params}
        answer = await self.connection.handle(json.dumps(body).encode())
        assert answer is not None
        return json.loads(answer)

    async def call(self, name: str) -> list[Json]:
        """Return what the server sends for one call: questions and results, in order."""
        self.sent.clear()
        self.frames = []
        params: Json = {"name": name, "arguments": {}}
        await (self._in_rounds(params) if self.revision.is_modern else self._by_requests(params))
        return self.frames

    async def _by_requests(self, params: Json) -> None:
        call = asyncio.create_task(self.request("tools/call", params))
        while not call.done():
            await turn_until(lambda: call.done() or self.sent)
            while self.sent:
                question = self.sent.pop(0)
                self.frames.append({**question, "id": "<id>"})
                result = answer_to(question["method"], question.get("params", {}))
                reply = {"jsonrpc": "2.0", "id": question["id"], "result": result}
                await self.connection.handle(json.dumps(reply).encode())
        self.frames.append(call.result())

    async def _in_rounds(self, params: Json) -> None:
        params["_meta"] = {
            f"{META}protocolVersion": str(self.revision),
            f"{META}clientCapabilities": self.capabilities,
        }
        while True:
            answer = await self.request("tools/call", params)
            self.frames.append(answer)
            result = answer.get("result", {})
            if result.get("resultType") != "input_required":
                return
            params["requestState"], result["requestState"] = result["requestState"], "<sealed>"
            params["inputResponses"] = {
                key: answer_to(each["method"], each.get("params", {}))
                for key, each in result["inputRequests"].items()
            }


async def frames(revision: Revision) -> Json:
    """Return all that a client of a revision is sent, that can be asked and that cannot."""
    found: Json = {}
    for name, capabilities in (("able", ABLE), ("unable", {})):
        exchange = Exchange(revision, capabilities)
        if not revision.is_modern:
            params: Json = {"protocolVersion": str(revision), "capabilities": capabilities}
            await exchange.request("initialize", params)
        tools = ("form", "several", "visit", "sample", "tools", "roots", "declared")
        found[name] = {tool: await exchange.call(tool) for tool in tools}
        await exchange.connection.close()
    return found


@pytest.mark.parametrize("revision", Revision, ids=str)
async def test_frames_are_the_golden_ones(revision: Revision) -> None:
    expect_frames(HERE / f"{revision}.json", await frames(revision))


@pytest.mark.parametrize("revision", RELEASED, ids=str)
async def test_questions_satisfy_the_official_models(revision: Revision) -> None:
    asked = 0
    for sent in (await frames(revision))["able"].values():
        for frame in sent:
            if "method" in frame:
                parse_server_request(frame["method"], revision.value, frame.get("params"))
                asked += 1
            elif "result" in frame:
                validate_server_result("tools/call", revision.value, frame["result"])
                asked += len(frame["result"].get("inputRequests", ()))
    at_least = {"2024-11-05": 2, "2025-03-26": 2, "2025-06-18": 5}
    assert asked == at_least.get(revision.value, 8)


@pytest.mark.parametrize("revision", Revision, ids=str)
async def test_a_client_that_cannot_be_asked_is_sent_one_answer_alone(revision: Revision) -> None:
    for sent in (await frames(revision))["unable"].values():
        [frame] = sent
        if revision.is_modern:
            assert frame["error"]["code"] == -32021
        else:
            assert frame["result"]["isError"]


def test_every_golden_file_belongs_to_a_revision() -> None:
    assert {path.stem for path in HERE.glob("*.json")} == {str(revision) for revision in Revision}
