"""Questions of an upstream reach the client that waits, whatever the age of either."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from patience import PATIENCE, PAUSE, turn_until

from anyshape import Client, Context, Message, Server, Text
from anyshape.client import Elicitation, Sampled, SamplingRequest
from anyshape.errors import ProtocolError
from anyshape.gateway import Gateway, RoomOptions, Upstream, questions

MODERN, LATER = "2026-07-28", "2025-11-25"
ERAS = [(MODERN, MODERN), (MODERN, LATER), (LATER, MODERN), (LATER, LATER)]


@pytest.fixture
def curious() -> Server:
    server = Server("curious")

    @server.tool
    async def book(city: str, context: Context) -> str:
        day = await context.elicit(f"When to {city}?", {"type": "object", "properties": DAY})
        if day.action != "accept":
            return day.action
        seat = await context.elicit("Window?", bool)
        return f"{city}, {day.data['day']}, {seat.action == 'accept' and seat.data}"

    @server.tool
    async def add(a: int, b: int) -> int:
        return a + b

    @server.tool
    async def think(context: Context) -> str:
        said = await context.sample("What now?", max_tokens=5)
        return said.text

    @server.tool
    async def where(context: Context) -> list[str]:
        return [root.uri for root in await context.roots()]

    return server


DAY: dict[str, Any] = {"day": {"type": "string"}}


@pytest.mark.parametrize(("upstream", "front"), ERAS)
async def test_the_user_is_asked_in_several_rounds(
    curious: Server, upstream: str, front: str
) -> None:
    asked: list[str] = []

    def answer(question: Elicitation) -> dict[str, Any]:
        asked.append(question.message)
        (name,) = (question.schema or {})["properties"]
        return {name: "Monday" if name == "day" else True}

    gateway = Gateway({"up": Upstream(target=curious, revision=upstream)})
    async with Client(gateway, revision=front, on_elicit=answer) as client:
        result = await client.call_tool("book", {"city": "Oslo"})
    assert result.value == "Oslo, Monday, True"
    assert asked == ["When to Oslo?", "Window?"]


@pytest.mark.parametrize(("upstream", "front"), ERAS)
async def test_a_user_may_decline(curious: Server, upstream: str, front: str) -> None:
    gateway = Gateway({"up": Upstream(target=curious, revision=upstream)})
    async with Client(gateway, revision=front, on_elicit=lambda _: "decline") as client:
        assert (await client.call_tool("book", {"city": "Oslo"})).value == "decline"


@pytest.mark.parametrize(("upstream", "front"), ERAS)
async def test_the_model_and_the_roots_are_asked(
    curious: Server, upstream: str, front: str
) -> None:
    def sample(question: SamplingRequest) -> Sampled:
        assert question.max_tokens == 5
        return Sampled("a nap", model="m")

    gateway = Gateway({"up": Upstream(target=curious, revision=upstream)})
    async with Client(gateway, revision=front, on_sample=sample, roots=["file:///home"]) as client:
        assert (await client.call_tool("think")).value == "a nap"
        assert (await client.call_tool("where")).value == ["file:///home"]


@pytest.mark.parametrize(("upstream", "front"), ERAS)
async def test_what_the_model_says_stays_one_block_or_several(upstream: str, front: str) -> None:
    """A server that samples without tools knows a block, and no array of one."""
    server = Server("up")

    @server.tool
    async def think(context: Context) -> bool:
        return isinstance((await context.sample("What now?")).content, tuple)

    for given, several in (("a nap", False), ([Text("a nap")], True)):
        gateway = Gateway({"up": Upstream(target=server, revision=upstream)})
        said = Sampled(given, model="m")
        async with Client(gateway, revision=front, on_sample=lambda _, said=said: said) as client:
            assert await client.call("think") is several


@pytest.mark.parametrize("front", ["2024-11-05", "2025-06-18", LATER, MODERN])
@pytest.mark.parametrize("upstream", [LATER, MODERN])
async def test_the_model_is_asked_in_the_words_of_the_clients_revision(
    upstream: str, front: str
) -> None:
    server = Server("curious")

    @server.tool
    async def think(context: Context) -> str:
        together = Message(["Look:", "a bird"])
        return (await context.sample(together, preferences={"speedPriority": 1})).text

    heard: list[Any] = []

    def sample(question: SamplingRequest) -> Sampled:
        heard.append(question.raw)
        return Sampled("a nap", model="m")

    gateway = Gateway({"up": Upstream(target=server, revision=upstream)})
    async with Client(gateway, revision=front, on_sample=sample) as client:
        assert (await client.call_tool("think")).text.strip('"') == "a nap"
    blocks = [{"type": "text", "text": text} for text in ("Look:", "a bird")]
    several = [{"role": "user", "content": block} for block in blocks]
    assert heard == [
        {
            "messages": [{"role": "user", "content": blocks}]
            if front in (LATER, MODERN)
            else several,
            "maxTokens": 1_000,
            "modelPreferences": {"speedPriority": 1},
        }
    ]


@pytest.mark.parametrize("front", [LATER, MODERN])
async def test_a_model_is_given_no_tools_that_its_client_did_not_offer_to_use(front: str) -> None:
    server = Server("curious")

    @server.tool
    async def think(context: Context) -> str:
        return (await context.sample("What now?", tool_choice="none")).text

    def sample(_: SamplingRequest) -> Sampled:
        raise AssertionError("nothing is to be asked")

    gateway = Gateway({"up": Upstream(target=server, revision=LATER)})
    async with Client(gateway, revision=front, on_sample=sample) as client:
        assert (await client.call_tool("think")).is_error


@pytest.mark.parametrize(("upstream", "front"), ERAS)
async def test_a_client_that_cannot_be_asked_gets_an_error(
    curious: Server, upstream: str, front: str
) -> None:
    gateway = Gateway({"up": Upstream(target=curious, revision=upstream)})
    async with Client(gateway, revision=front) as client, asyncio.timeout(PATIENCE):
        try:
            said = (await client.call_tool("book", {"city": "Oslo"})).text
        except ProtocolError as error:
            said = str(error)
    assert "Oslo, " not in said
    assert "elicitation" in said or "asked" in said or "error inside" in said


@pytest.mark.parametrize(
    ("tool", "required"), [("think", {"sampling": {}}), ("where", {"roots": {}})]
)
async def test_a_client_is_told_what_it_would_have_to_declare(
    curious: Server, tool: str, required: dict[str, Any]
) -> None:
    gateway = Gateway({"up": Upstream(target=curious, revision=MODERN)})
    async with Client(gateway, revision=MODERN) as client:
        with pytest.raises(ProtocolError) as raised:
            await client.call_tool(tool)
    assert raised.value.code == -32021
    assert raised.value.data == {"requiredCapabilities": required}


@pytest.mark.parametrize(("upstream", "front"), ERAS)
async def test_many_callers_are_each_asked_their_own_question(
    curious: Server, upstream: str, front: str
) -> None:
    gateway = Gateway({"up": Upstream(target=curious, revision=upstream)})

    async def one(city: str) -> None:
        def answer(question: Elicitation) -> Any:
            if "day" in (question.schema or {})["properties"]:
                assert city in question.message
                return {"day": city}
            return "decline"

        async with Client(gateway, revision=front, on_elicit=answer) as client:
            result = await client.call_tool("book", {"city": city})
            if not result.is_error:
                assert result.value == f"{city}, {city}, False"
            else:
                assert upstream == LATER  # nothing tells which call an old upstream asks for

    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(*(one(f"city{number}") for number in range(8)))


@pytest.mark.parametrize("upstream", [MODERN, LATER])
async def test_a_user_who_takes_time_takes_no_place_of_others(
    curious: Server, upstream: str
) -> None:
    asked, go_on = asyncio.Event(), asyncio.Event()

    async def answer(_question: Elicitation) -> Any:
        asked.set()
        await go_on.wait()
        return "decline"

    room = RoomOptions(max_calls=1, max_waiting=0)
    gateway = Gateway({"up": Upstream(target=curious, revision=upstream, room=room)})
    async with Client(gateway, on_elicit=answer) as client, asyncio.timeout(PATIENCE):
        booking = asyncio.create_task(client.call_tool("book", {"city": "Oslo"}))
        await asked.wait()
        for n in range(3):
            assert (await client.call_tool("add", {"a": n, "b": 1})).value == n + 1
        go_on.set()
        assert (await booking).value == "decline"
        assert gateway.upstreams["up"].health.in_flight == 0
        assert (await client.call_tool("add", {"a": 1, "b": 1})).value == 2


@pytest.mark.parametrize("upstream", [MODERN, LATER])
async def test_a_user_who_never_answers_leaves_nothing_behind(
    curious: Server, upstream: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(questions, "_LONGEST_HELD", 0.05)
    room = RoomOptions(max_calls=1, max_waiting=0)
    gateway = Gateway({"up": Upstream(target=curious, revision=upstream, room=room)})
    waiting = asyncio.Event()

    async def answer(_question: Elicitation) -> Any:
        waiting.set()
        await asyncio.Event().wait()

    async with Client(gateway, on_elicit=answer) as client, asyncio.timeout(PATIENCE):
        link = gateway.upstreams["up"]
        booking = asyncio.create_task(client.call_tool("book", {"city": "Oslo"}))
        await waiting.wait()
        await link.unused()
        booking.cancel()
        await asyncio.wait([booking])
        await turn_until(lambda: link.health.in_flight == 0)
        assert (await client.call_tool("add", {"a": 1, "b": 1})).value == 2


def test_a_call_that_is_held_when_the_gateway_closes_ends_quietly(
    curious: Server, caplog: pytest.LogCaptureFixture
) -> None:
    async def close_while_it_is_held() -> None:
        waiting = asyncio.Event()

        async def answer(_question: Elicitation) -> Any:
            waiting.set()
            await asyncio.Event().wait()

        gateway = Gateway({"up": Upstream(target=curious, revision=LATER)})
        async with Client(gateway, on_elicit=answer) as client, asyncio.timeout(PATIENCE):
            booking = asyncio.create_task(client.call_tool("book", {"city": "Oslo"}))
            await waiting.wait()
        booking.cancel()

    asyncio.run(close_while_it_is_held())
    gc.collect()
    assert "never retrieved" not in caplog.text


@pytest.mark.parametrize("upstream", [MODERN, LATER])
@pytest.mark.parametrize("how", ["closed", "configured anew"])
async def test_a_call_that_is_held_ends_with_its_gateway(
    curious: Server, upstream: str, how: str, caplog: pytest.LogCaptureFixture
) -> None:
    waiting = asyncio.Event()

    async def answer(_question: Elicitation) -> Any:
        waiting.set()
        await asyncio.Event().wait()

    before = asyncio.all_tasks()
    gateway = Gateway({"up": Upstream(target=curious, revision=upstream)})
    async with Client(gateway, on_elicit=answer) as client, asyncio.timeout(PATIENCE):
        link = gateway.upstreams["up"]
        booking = asyncio.create_task(client.call_tool("book", {"city": "Oslo"}))
        await waiting.wait()
        booking.cancel()
        await asyncio.wait([booking])
        if how == "configured anew":
            link.upstream = replace(link.upstream, timeout=PAUSE)  # how long calls may finish
            await gateway.reconfigure({"other": curious})
            assert _held_in(asyncio.all_tasks()) == []
    assert _held_in(asyncio.all_tasks() - before) == []
    gc.collect()
    assert "never retrieved" not in caplog.text
    assert "did not answer" not in caplog.text


def _held_in(tasks: set[asyncio.Task[Any]]) -> list[asyncio.Task[Any]]:
    """Return the tasks of calls that are held."""
    return [task for task in tasks if "HeldCall" in repr(task)]


class Hasty:
    """A server of a handshake whose tool asks, and does or does not wait for the answer."""

    def __init__(self) -> None:
        self.waits = False
        self.answers: list[Any] = []
        self.send: Callable[[bytes], None] = lambda frame: None

    def connect(self, send: Callable[[bytes], None], /) -> Hasty:
        self.send = send
        return self

    async def handle(self, frame: bytes) -> bytes | None:
        message = json.loads(frame)
        if message.get("id") == "q":
            self.answers.append(message)
            return None
        results: dict[str, Any] = {
            "initialize": {"protocolVersion": LATER, "capabilities": {"tools": {}}},
            "tools/list": {"tools": [{"name": "ask", "inputSchema": {"type": "object"}}]},
            "tools/call": {"content": [{"type": "text", "text": "never mind"}]},
        }
        if message["method"] == "tools/call":
            params = {"message": "When?", "requestedSchema": {"type": "object", "properties": DAY}}
            ask = {"jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": params}
            self.send(json.dumps(ask).encode())
            if self.waits:
                await asyncio.Event().wait()
        if "id" not in message:
            return None
        result = results.get(message["method"], {})
        return json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode()

    async def close(self) -> None:
        pass


@pytest.mark.parametrize("front", [MODERN, LATER])
async def test_an_upstream_that_asks_and_does_not_wait_is_not_waited_for(front: str) -> None:
    hasty = Hasty()
    gateway = Gateway({"up": Upstream(target=hasty, revision=LATER)})

    async with (
        Client(gateway, revision=front, on_elicit=lambda _: {"day": "Monday"}) as client,
        asyncio.timeout(PATIENCE),
    ):
        assert (await client.call_tool("ask")).text == "never mind"
        await turn_until(lambda: hasty.answers)


@pytest.mark.parametrize("front", [MODERN, LATER])
async def test_a_question_is_over_when_its_call_is_given_up(front: str) -> None:
    hasty, asked = Hasty(), asyncio.Event()
    hasty.waits = True
    gateway = Gateway({"up": Upstream(target=hasty, revision=LATER)})

    async def answer(_question: Elicitation) -> Any:
        asked.set()
        await asyncio.Event().wait()

    async with Client(gateway, revision=front, on_elicit=answer) as client:
        async with asyncio.timeout(PATIENCE):
            call = asyncio.create_task(client.call_tool("ask"))
            await asked.wait()
            if front == MODERN:  # whose call is kept until it comes back, for so long
                held = gateway.upstreams["up"].held
                held._drop(next(iter(held._held)))
            call.cancel()
            await turn_until(lambda: hasty.answers)
    assert hasty.answers[0]["error"]["message"] == "the call is over"
