"""Log messages: to those who want them, in the way of each era, and never at a tool's cost."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Generator
from typing import Annotated, Any, cast

import pytest
from patience import PATIENCE

from anyshape import Client, Complete, Context, Server
from anyshape.client import LogMessage
from anyshape.protocol.revision import HANDSHAKE
from anyshape.server import HttpOptions, LogHandler
from anyshape.server.features import log_messages

from .asking import Asker
from .visiting import Visit, call

LEVEL = "io.modelcontextprotocol/logLevel"


@pytest.fixture
def server() -> Server:
    """A server that says what it does."""
    server = Server("talker")

    @server.tool
    async def work(context: Context) -> int:
        context.log("debug", {"step": 1})
        context.log("info", "begun", logger="worker")
        context.log("error", [None, 1.5])
        return 1

    return server


def messages(sent: list[Any]) -> list[Any]:
    return [each["params"] for each in sent if each.get("method") == "notifications/message"]


DEBUG = {"level": "debug", "data": {"step": 1}}
INFO = {"level": "info", "logger": "worker", "data": "begun"}
ERROR = {"level": "error", "data": [None, 1.5]}


@pytest.mark.behaviour("logging.level.request")
@pytest.mark.parametrize(
    ("level", "told"),
    [("debug", [DEBUG, INFO, ERROR]), ("info", [INFO, ERROR]), ("alert", []), (None, [])],
)
async def test_a_modern_request_is_told_what_it_asks_for(
    server: Server, level: str | None, told: list[Any]
) -> None:
    asker = Asker(server)
    meta = {} if level is None else {LEVEL: level}
    answer = await asker.result("tools/call", name="work", _meta=meta)
    assert answer["structuredContent"] == 1
    assert messages(asker.sent) == told


@pytest.mark.behaviour("logging.level.invalid")
async def test_a_level_that_is_none_is_refused(server: Server) -> None:
    error = await Asker(server).error("tools/call", name="work", _meta={LEVEL: "loud"})
    assert error["code"] == -32602
    error = await Asker(server, "2025-11-25").error("logging/setLevel", level="loud")
    assert error["code"] == -32602


@pytest.mark.behaviour("logging.level.set")
@pytest.mark.parametrize("revision", HANDSHAKE)
async def test_a_client_of_a_handshake_sets_the_level_once(server: Server, revision: str) -> None:
    asker, other = Asker(server, revision), Asker(server, revision)
    await asker.result("tools/call", name="work")
    assert messages(asker.sent) == [INFO, ERROR]
    assert await asker.result("logging/setLevel", level="error") == {}
    await asker.result("tools/call", name="work")
    assert messages(asker.sent)[2:] == [ERROR]
    await other.result("tools/call", name="work")
    assert messages(other.sent) == [INFO, ERROR]


@pytest.mark.behaviour("logging.level.set")
async def test_the_level_cannot_be_set_for_all_requests_at_2026_07_28(server: Server) -> None:
    error = await Asker(server).error("logging/setLevel", level="info")
    assert error["code"] == -32601


@pytest.mark.behaviour("logging.capability")
async def test_the_capability_is_declared_by_servers_that_can_log(server: Server) -> None:
    silent = Server("silent")

    @silent.tool
    async def add(a: int, b: int) -> int:
        return a + b

    @silent.prompt
    async def greet() -> str:
        return "hello"

    for one, declares in ((server, True), (silent, False)):
        discovered = await Asker(one).result("server/discover")
        greeting = await Asker(one, "2025-11-25").shake_hands()
        assert ("logging" in discovered["capabilities"]) is declares
        assert ("logging" in greeting["capabilities"]) is declares
    error = await Asker(silent, "2025-11-25").error("logging/setLevel", level="info")
    assert error["code"] == -32601


@pytest.mark.behaviour("logging.capability")
async def test_prompts_resources_and_completers_can_log(server: Server) -> None:
    def suggest(typed: str, context: Context) -> list[str]:
        context.log("info", "completer")
        return [typed]

    async def greet(name: Annotated[str, Complete(suggest)], context: Context) -> str:
        context.log("info", "prompt")
        return name

    async def notes(context: Context) -> str:
        context.log("info", "resource")
        return "notes"

    server.prompt(greet)
    server.resource("talk://notes")(notes)
    asker = Asker(server)
    asks: list[tuple[str, dict[str, Any]]] = [
        ("prompts/get", {"name": "greet", "arguments": {"name": "Ada"}}),
        ("resources/read", {"uri": "talk://notes"}),
        (
            "completion/complete",
            {
                "ref": {"type": "ref/prompt", "name": "greet"},
                "argument": {"name": "name", "value": "A"},
            },
        ),
    ]
    for method, params in asks:
        await asker.result(method, **params, _meta={LEVEL: "info"})
    assert [each["data"] for each in messages(asker.sent)] == ["prompt", "resource", "completer"]


@pytest.mark.behaviour("logging.stream")
async def test_over_http_messages_come_before_the_answer_on_its_stream(server: Server) -> None:
    application = server.asgi()
    streamed = await call("work", meta={LEVEL: "info"}).to(application)
    *told, answer = streamed.events
    assert messages(told) == [INFO, ERROR]
    assert answer["result"]["structuredContent"] == 1
    whole = await call("work", meta={LEVEL: "alert"}).to(application)
    assert whole.headers["content-type"] == "application/json"
    only_json = {"accept": "application/json"}
    unheard = await call("work", meta={LEVEL: "info"}, headers=only_json).to(application)
    assert unheard.json["result"]["structuredContent"] == 1


def _post(method: str, headers: dict[str, str], **params: Any) -> Visit:
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return Visit(body, headers={"mcp-protocol-version": "2025-11-25", **headers})


@pytest.mark.behaviour("logging.level.set")
async def test_over_http_the_level_belongs_to_the_session(server: Server) -> None:
    application = server.asgi()

    async def open_session() -> dict[str, str]:
        visit = _post("initialize", {}, protocolVersion="2025-11-25", capabilities={})
        reply = await visit.to(application)
        return {"mcp-session-id": reply.headers["mcp-session-id"]}

    one, other = await open_session(), await open_session()
    assert (await _post("logging/setLevel", one, level="error").to(application)).json[
        "result"
    ] == {}
    for session, told in ((one, [ERROR]), (other, [INFO, ERROR])):
        reply = await _post("tools/call", session, name="work").to(application)
        assert messages(reply.events) == told


async def test_levels_are_remembered_for_so_many_sessions(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_messages, "_MOST_SESSIONS", 2)
    application = server.asgi()
    sessions: list[dict[str, str]] = []
    for _ in range(3):
        visit = _post("initialize", {}, protocolVersion="2025-11-25", capabilities={})
        reply = await visit.to(application)
        sessions.append({"mcp-session-id": reply.headers["mcp-session-id"]})
    for session in (*sessions[:2], sessions[0], sessions[2]):
        await _post("logging/setLevel", session, level="error").to(application)
    told = [
        len(messages((await _post("tools/call", session, name="work").to(application)).events))
        for session in sessions
    ]
    assert told == [1, 2, 1]  # The second one had set its level longest ago.


async def test_without_sessions_a_level_is_taken_and_nobody_remembers_it(server: Server) -> None:
    application = server.asgi(HttpOptions(sessions=None))
    reply = await _post("logging/setLevel", {}, level="error").to(application)
    assert reply.json["result"] == {}
    reply = await _post("tools/call", {}, name="work").to(application)
    assert messages(reply.events) == [INFO, ERROR]


@pytest.mark.behaviour("logging.bounded")
async def test_of_too_many_messages_only_the_number_is_told() -> None:
    server = Server("chatty")

    @server.tool
    def chatter(context: Context) -> int:
        for number in range(5000):
            context.log("info", number)
        return 1

    asker = Asker(server)
    await asker.result("tools/call", name="chatter", _meta={LEVEL: "info"})
    told = [each["data"] for each in messages(asker.sent)]
    numbers = [each for each in told if isinstance(each, int)]
    notes = [each for each in told if isinstance(each, str)]
    assert numbers[:100] == list(range(100))
    assert notes
    left_out = sum(int(note.split()[0]) for note in notes)
    assert len(numbers) + left_out == 5000


@pytest.mark.behaviour("logging.bounded")
@pytest.mark.parametrize("data", ["ä" * 1_000_000, ["x"] * 1_000_000, {"a": "\x00" * 1_000_000}])
async def test_long_data_is_shortened(data: Any) -> None:
    server = Server("wordy")

    @server.tool
    async def tell(context: Context) -> int:
        context.log("info", data)
        return 1

    asker = Asker(server)
    await asker.result("tools/call", name="tell", _meta={LEVEL: "info"})
    [told] = messages(asker.sent)
    assert told["data"].startswith(str(data)[:2])
    assert len(json.dumps(told)) < 100_000


class Odd:
    def __repr__(self) -> str:
        return "odd \ud800"


async def test_data_that_is_no_json_is_told_as_text_and_fails_no_tool() -> None:
    server = Server("odd")
    cycle: list[Any] = []
    cycle.append(cycle)
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]

    @server.tool
    async def tell(context: Context) -> int:
        for data in (Odd(), cycle, deep, float("nan"), "\ud800", {1, 2}, b"raw"):
            context.log("info", data, logger="\ud800" * 1000)
        return 1

    asker = Asker(server)
    answer = await asker.result("tools/call", name="tell", _meta={LEVEL: "info"})
    assert answer["structuredContent"] == 1
    told = messages(asker.sent)
    assert told[0] == {"level": "info", "logger": "?" * 256, "data": "odd ?"}
    assert len(told) == 7


async def test_a_wrong_level_is_the_authors_mistake_whoever_listens() -> None:
    with pytest.raises(ValueError, match="expected one of debug, info"):
        Context().log(cast("Any", "warn"), "text")
    assert await Context().log("info", "text") is None


@pytest.mark.behaviour("logging.stream")
async def test_nothing_is_told_after_the_answer() -> None:
    server = Server("late")
    kept: list[Context] = []
    tasks: list[asyncio.Task[None]] = []
    answered = asyncio.Event()

    @server.tool
    async def work(context: Context) -> int:
        async def tell_later() -> None:
            await answered.wait()
            context.log("error", "too late")

        kept.append(context)
        tasks.append(asyncio.create_task(tell_later()))
        return 1

    asker = Asker(server)
    await asker.result("tools/call", name="work", _meta={LEVEL: "debug"})
    answered.set()
    await asyncio.gather(*tasks)
    kept[0].log("error", "too late")
    assert asker.sent == []


@pytest.mark.behaviour("logging.stream")
async def test_a_thread_that_works_on_after_a_cancellation_is_not_heard() -> None:
    server = Server("stubborn")
    begun, released, over = threading.Event(), threading.Event(), threading.Event()

    @server.tool
    def work(context: Context) -> int:
        context.log("info", "begun")
        begun.set()
        released.wait(PATIENCE)
        context.log("error", "too late")
        over.set()
        return 1

    asker = Asker(server)
    asking = asyncio.create_task(asker.ask("tools/call", id=7, name="work", _meta={LEVEL: "debug"}))
    await asyncio.to_thread(begun.wait, PATIENCE)
    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}
    await asker.connection.handle(json.dumps(cancelled).encode())
    assert await asking is None
    released.set()
    await asyncio.to_thread(over.wait, PATIENCE)
    assert [each["data"] for each in messages(asker.sent)] == ["begun"]


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
async def test_our_client_hears_what_our_server_says(server: Server, revision: str) -> None:
    heard: list[LogMessage] = []
    async with Client(server, revision=revision, on_log=heard.append) as client:
        await client.set_log_level("debug")
        await client.call_tool("work")
    assert heard == [
        LogMessage("debug", {"step": 1}),
        LogMessage("info", "begun", "worker"),
        LogMessage("error", [None, 1.5]),
    ]


@pytest.fixture
def routed(server: Server) -> Generator[Server]:
    """The server, with what Python's loggers under `routed` are told sent to clients."""
    top = logging.getLogger("routed")
    top.setLevel(logging.DEBUG)
    handler = server.route_logging("routed", "anyshape.tools.context")

    @server.tool
    async def inline() -> int:
        logging.getLogger("routed.inner").info("%d apples", 3, extra={"secret": 1})
        return 1

    @server.tool
    def threaded() -> int:
        try:
            raise RuntimeError("the password is 1234")
        except RuntimeError:
            top.exception("it broke")
        return 1

    yield server
    for name in ("routed", "anyshape.tools.context"):
        logging.getLogger(name).removeHandler(handler)
    top.setLevel(logging.NOTSET)


INLINE = {"level": "info", "logger": "routed.inner", "data": "3 apples"}
THREADED = {"level": "error", "logger": "routed", "data": "it broke"}


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
async def test_pythons_logging_reaches_the_client_whose_request_it_is(
    routed: Server, revision: str
) -> None:
    one, other = Asker(routed, revision), Asker(routed, revision)
    meta = {LEVEL: "info"}
    await asyncio.gather(
        one.result("tools/call", name="inline", _meta=meta),
        other.result("tools/call", name="threaded", _meta=meta),
    )
    logging.getLogger("routed").error("said outside of any request")
    assert messages(one.sent) == [INLINE]
    assert messages(other.sent) == [THREADED]


async def test_what_is_routed_is_what_the_client_wants(routed: Server) -> None:
    asker = Asker(routed)
    await asker.result("tools/call", name="inline", _meta={LEVEL: "error"})
    await asker.result("tools/call", name="inline")
    assert asker.sent == []


async def test_over_http_routed_messages_are_on_the_stream_of_their_request(
    routed: Server,
) -> None:
    application = routed.asgi()
    reply = await call("threaded", meta={LEVEL: "debug"}).to(application)
    assert messages(reply.events) == [THREADED]


async def test_a_context_s_info_is_routed_and_our_own_records_are_not(routed: Server) -> None:
    handler = routed.route_logging("anyshape")  # Above the other one: nothing comes twice.
    logging.getLogger("anyshape").setLevel(logging.DEBUG)

    @routed.tool
    async def tell(context: Context) -> int:
        context.info("for both")
        raise RuntimeError("the password is 1234")

    asker = Asker(routed)
    try:
        await asker.result("tools/call", name="tell", _meta={LEVEL: "debug"})
    finally:
        logging.getLogger("anyshape").removeHandler(handler)
        logging.getLogger("anyshape").setLevel(logging.NOTSET)
    assert messages(asker.sent) == [
        {"level": "info", "logger": "anyshape.tools.context", "data": "for both"}
    ]


async def test_what_is_logged_while_a_message_is_sent_is_not_sent(routed: Server) -> None:
    sent: list[Any] = []

    def send(message: bytes) -> None:
        logging.getLogger("routed").warning("sending")
        sent.append(json.loads(message))

    asker = Asker(routed)
    asker.connection = routed.connect(send)
    await asker.result("tools/call", name="inline", _meta={LEVEL: "debug"})
    assert messages(sent) == [INLINE]


async def test_routing_stops_with_the_answer(routed: Server) -> None:
    answered = asyncio.Event()
    tasks: list[asyncio.Task[None]] = []

    @routed.tool
    async def start() -> int:
        async def tell_later() -> None:
            await answered.wait()
            logging.getLogger("routed").error("too late")

        tasks.append(asyncio.create_task(tell_later()))
        return 1

    asker = Asker(routed)
    await asker.result("tools/call", name="start", _meta={LEVEL: "debug"})
    answered.set()
    await asyncio.gather(*tasks)
    assert asker.sent == []


@pytest.mark.behaviour("logging.capability")
async def test_a_server_that_routes_declares_that_it_logs() -> None:
    server = Server("router")
    server.route_logging()
    discovered = await Asker(server).result("server/discover")
    assert discovered["capabilities"]["logging"] == {}


async def test_a_formatter_has_its_way_and_a_broken_record_breaks_nothing(
    routed: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging, "raiseExceptions", False)
    handler = LogHandler()
    handler.setFormatter(logging.Formatter("<%(message)s>"))
    mine = logging.getLogger("mine")
    mine.addHandler(handler)

    @routed.tool
    async def tell() -> int:
        mine.warning("%d", cast("Any", "no number"))
        for level in (25, 50):
            mine.log(level, "formatted")
        return 1

    mine.setLevel(1)
    asker = Asker(routed)
    await asker.result("tools/call", name="tell", _meta={LEVEL: "debug"})
    mine.removeHandler(handler)
    mine.setLevel(logging.NOTSET)
    assert messages(asker.sent) == [
        {"level": level, "logger": "mine", "data": "<formatted>"}
        for level in ("notice", "critical")
    ]
