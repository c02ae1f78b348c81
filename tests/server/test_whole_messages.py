"""What goes past the events of ASGI looks to a client as what goes through them.

Each exchange runs twice on a transport that keeps what is written: with the application as it is,
and with one in between that passes events on, so that nothing can go past them.
"""

from __future__ import annotations

import asyncio
import functools
import gc
import json
import logging
import weakref
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import pytest
import uvicorn
from patience import turn_until
from uvicorn.protocols.http import httptools_impl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from anyshape import Server
from anyshape.server import http, whole_messages
from anyshape.server.http import HOSTED, HttpApplication
from anyshape.server.http_options import HttpOptions
from anyshape.server.http_protocol import HttpProtocol
from anyshape.server.kept_connections import GLANCE
from anyshape.server.options import ServerOptions
from anyshape.server.whole_messages import VERSIONS, UvicornRecords, take_request, write_answer

from .conftest import MODERN, headers_for, message, with_meta

Event = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Event]]
Send = Callable[[Event], Awaitable[None]]

DATE = (b"date", b"Mon, 16 Nov 2026 10:00:00 GMT")

server = Server("whole", options=ServerOptions(max_message_bytes=2_000))


stayed: list[str] = []


@server.tool
async def count(text: str, waits: bool = False, stays: bool = False) -> int:
    """Count characters."""
    if waits:
        await asyncio.sleep(0)
    if stays:
        stayed.append("begun")
        try:
            await asyncio.Event().wait()
        finally:
            stayed.append("cancelled")
    return len(text)


class Kept(asyncio.Transport):
    """A transport to nobody."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""
        self.is_open = True
        self.is_read = True

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return ("127.0.0.1", 80) if name in ("sockname", "peername") else default

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written += bytes(data)

    def is_closing(self) -> bool:
        return not self.is_open

    def close(self) -> None:
        self.is_open = False

    def abort(self) -> None:
        self.is_open = False

    def pause_reading(self) -> None:
        self.is_read = False

    def resume_reading(self) -> None:
        self.is_read = True

    def get_write_buffer_size(self) -> int:
        return 0

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass


def _head(
    length: bytes, *headers: bytes, version: bytes = b"1.1", method: bytes = b"POST"
) -> bytes:
    needed = headers_for(MODERN, "tools/call", {"name": "count"}).items()
    lines = [
        b"%b /mcp HTTP/%b" % (method, version),
        b"Host: localhost",
        b"Content-Type: application/json",
        b"Accept: application/json, text/event-stream",
        *(f"{name}: {value}".encode() for name, value in needed),
        length,
        *headers,
    ]
    return b"\r\n".join([*lines, b"", b""])


def _body(**arguments: Any) -> bytes:
    params = {"name": "count", "arguments": arguments or {"text": "abc"}}
    return json.dumps(message("tools/call", with_meta(MODERN, params), 1)).encode()


def _request(*headers: bytes, version: bytes = b"1.1", **arguments: Any) -> bytes:
    body = _body(**arguments)
    return _head(b"Content-Length: %d" % len(body), *headers, version=version) + body


def _chunks(*parts: bytes) -> bytes:
    framed = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in (*parts, b""))
    return _head(b"Transfer-Encoding: chunked") + framed


EXCHANGES: dict[str, list[bytes]] = {
    "a request": [_request()],
    "one that waits": [_request(text="abc", waits=True)],
    "one with wrong arguments": [_request(text=7)],
    "two, one after the other": [_request(), _request(text="longer")],
    "two at once": [_request() + _request(text="longer")],
    "three at once, the first waits": [
        _request(text="", waits=True) + _request(text="a") + _request(text="bc")
    ],
    "a head, then a body": [_head(b"Content-Length: %d" % len(_body())), _body()],
    "a body in two pieces": [_request()[:-30], _request()[-30:]],
    "chunks": [_chunks(_body()[:40], _body()[40:])],
    "a long one in chunks": [_chunks(b'{"a":"' + b"x" * 3_000 + b'"}')],
    "a long one": [_head(b"Content-Length: 3000"), b"x" * 3_000],
    "no body": [_head(b"Content-Length: 0")],
    "no JSON": [_head(b"Content-Length: 3") + b"{x}"],
    "the last one": [_request(b"Connection: close"), _request()],
    "HTTP/1.0": [_request(version=b"1.0")],
    "HTTP/1.0, to be kept": [_request(b"Connection: keep-alive", version=b"1.0"), _request()],
    "one that asks first": [
        _head(b"Content-Length: %d" % len(_body()), b"Expect: 100-continue"),
        _body(),
    ],
    "one that asks and does not wait": [_request(b"Expect: 100-continue")],
    "odd trailers": [
        _chunks(_body())[:-2] + b"Connection: close\r\nExpect: 100-continue\r\nHost: other\r\n\r\n"
    ],
    "odd trailers to one that is long": [
        _chunks(b'{"a":"' + b"x" * 3_000 + b'"}')[:-2]
        + b"Connection: close\r\nExpect: 100-continue\r\nX-Forwarded-For: 203.0.113.7\r\n\r\n"
    ],
    "one through a proxy": [_request(b"X-Forwarded-For: 203.0.113.7")],
    "garbage behind it": [_request() + b"\x00garbage\r\n\r\n"],
    "garbage behind one that waits": [_request(text="", waits=True) + b"\x00garbage\r\n\r\n"],
    "another method": [_head(b"Content-Length: 0", method=b"PUT"), _request()],
}

DEFAULTS: dict[str, list[tuple[bytes, bytes]]] = {
    "none": [],
    "two of one name": [DATE, DATE],
    "a name in capitals": [(b"Server", b"one")],
    "bytes beyond ASCII": [(b"server", "Überbrücke".encode("latin-1"))],
    "a tab": [(b"server", b"one\ttwo")],
    "an empty value": [(b"server", b"")],
    "a newline": [(b"server", b"one\r\nx-injected: two")],
    "a zero": [DATE, (b"server", b"\x00")],
    "a length": [(b"content-length", b"3")],
    "another length": [(b"Content-Length", b"3000")],
    "chunks": [(b"transfer-encoding", b"chunked")],
    "what uvicorn says": [DATE, (b"server", b"uvicorn")],
    "more": [DATE, (b"X-Served-By", b"one")],
    "an end": [DATE, (b"Connection", b"close")],
}
REFUSED = {"a newline", "a zero"}
"""Those that uvicorn does not write."""


async def _exchange(
    protocol: type[HttpToolsProtocol],
    application: Any,
    pieces: list[bytes],
    headers: list[tuple[bytes, bytes]],
    *,
    logs: bool = False,
    hosted: object = None,
) -> tuple[bytes, bool, bool, int]:
    """Return what is written, what becomes of the connection, and how many answers were counted."""
    state = ServerState()
    state.default_headers = headers
    connection, transport = _connect(protocol, application, state, logs=logs, hosted=hosted)
    for piece in pieces:
        if transport.is_open:
            connection.data_received(piece)
        await _some_turns()
    left = transport.is_open, transport.is_open and transport.is_read, state.total_requests
    connection.connection_lost(None)
    await _some_turns()
    assert not state.tasks
    return transport.written, *left


@pytest.fixture(autouse=True)
def unlogged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have uvicorn log no accesses: it takes the handlers of the test runner for its own."""
    monkeypatch.setattr(logging.getLogger("uvicorn.access"), "hasHandlers", lambda: False)


def _connect(
    protocol: type[HttpToolsProtocol],
    application: Any,
    state: ServerState,
    *,
    logs: bool = False,
    hosted: object = None,
) -> tuple[HttpToolsProtocol, Kept]:
    """Connect; `hosted` is the application that the host's connections know of."""
    config = uvicorn.Config(application, log_config=None, ws="none", lifespan="off")
    known = {} if hosted is None else {HOSTED: hosted}
    connection = protocol(config, state, known, asyncio.get_running_loop())
    connection.access_log = logs
    transport = Kept()
    connection.connection_made(transport)
    return connection, transport


async def _some_turns() -> None:
    for _ in range(30):
        await asyncio.sleep(0)


def _passed_on(application: Any) -> Any:
    """Return an application that nothing goes past."""

    async def run(scope: Any, receive: Receive, send: Send) -> None:
        async def taken() -> Event:
            return await receive()

        async def sent(event: Event) -> None:
            await send(event)

        await application(scope, taken, sent)

    return run


@pytest.mark.parametrize("protocol", [HttpToolsProtocol, HttpProtocol])
@pytest.mark.parametrize("headers", DEFAULTS)
@pytest.mark.parametrize("exchange", EXCHANGES)
async def test_the_same_bytes_go_out_in_the_same_order(
    protocol: type[HttpToolsProtocol], headers: str, exchange: str
) -> None:
    application = server.asgi()
    pieces, says = EXCHANGES[exchange], DEFAULTS[headers]
    past = await _exchange(protocol, application, pieces, says)
    through = await _exchange(protocol, _passed_on(application), pieces, says)
    assert past == through
    assert past[0].startswith(b"HTTP/1.1 ") or headers in REFUSED


async def _used(application: HttpApplication) -> HttpApplication:
    """Return an application that knows whom it admits."""
    await _exchange(HttpProtocol, application, [_request()], [])
    return application


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Return what requests to connections of ours have been answered with directly."""
    seen: list[object] = []
    answer = HttpApplication.answer_directly

    def counted(*given: Any) -> Any:
        seen.append(answer(*given))
        return seen[-1]

    monkeypatch.setattr(HttpApplication, "answer_directly", counted)
    return seen


DIRECT = {
    "a request": 1,
    "one that waits": 1,
    "one with wrong arguments": 1,
    "two, one after the other": 2,
    "two at once": 1,
    "three at once, the first waits": 1,
    "chunks": 1,
    "no body": 1,
    "no JSON": 1,
    "odd trailers": 1,
    "garbage behind it": 1,
    "garbage behind one that waits": 1,
    "another method": 1,
}
"""How many requests of an exchange are answered directly, where any are."""


@pytest.mark.parametrize("headers", DEFAULTS)
@pytest.mark.parametrize("exchange", EXCHANGES)
async def test_what_is_answered_directly_goes_out_as_ever(
    exchange: str, headers: str, answers: list[object]
) -> None:
    application = await _used(server.asgi())
    pieces, says = EXCHANGES[exchange], DEFAULTS[headers]
    through = await _exchange(HttpProtocol, _passed_on(application), pieces, says)
    assert answers == []
    direct = await _exchange(HttpProtocol, application, pieces, says, hosted=application)
    assert direct == through
    if headers == "none":
        assert sum(answer is not None for answer in answers) == DIRECT.get(exchange, 0)


async def test_what_is_not_known_to_be_admitted_is_looked_at_first(answers: list[object]) -> None:
    application = server.asgi()
    exchange = [_request(), _request(), _request(b"Origin: http://elsewhere.example"), _request()]
    written, *_ = await _exchange(HttpProtocol, application, exchange, [], hosted=application)
    assert written.count(b'"structuredContent":3') == 3
    assert written.count(b"HTTP/1.1 403 ") == 1
    assert [answer is not None for answer in answers] == [False, True, False, True]


@pytest.mark.parametrize(
    "setting",
    [
        {"root_path": "/api"},
        {"limit_concurrency": 100},
        {"limit_concurrency": 0},
        {"reset_contextvars": True},
    ],
    ids=str,
)
async def test_whatever_a_host_is_set_up_with_counts(
    setting: dict[str, Any], answers: list[object]
) -> None:
    application = await _used(server.asgi())
    config = uvicorn.Config(application, log_config=None, ws="none", lifespan="off", **setting)
    state = {HOSTED: application}
    connection = HttpProtocol(config, ServerState(), state, asyncio.get_running_loop())
    connection.connection_made(Kept())
    for _ in range(2):
        connection.data_received(_request())
        await _some_turns()
    assert answers == []
    assert connection.server_state.total_requests == 2


@pytest.mark.parametrize("path", ["/%6dcp", "/m cp", "/mcp?a=b", "/mçp"])
async def test_a_path_that_can_be_written_in_several_ways_is_read_by_uvicorn(
    path: str, answers: list[object]
) -> None:
    application = server.asgi(HttpOptions(path=path))
    exchange = [_request().replace(b" /mcp ", b" " + path.encode() + b" ")]
    through = await _exchange(HttpProtocol, _passed_on(application), exchange, [])
    direct = await _exchange(HttpProtocol, application, exchange, [], hosted=application)
    assert direct == through
    assert answers == []


async def test_an_application_of_another_kind_is_called_as_ever(answers: list[object]) -> None:
    called: list[str] = []

    class Other(HttpApplication):
        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            called.append(scope["path"])
            await super().__call__(scope, receive, send)

    application = Other(server._service)
    await _exchange(HttpProtocol, application, [_request(), _request()], [], hosted=application)
    assert called == ["/mcp", "/mcp"]
    assert answers == []


async def test_what_a_direct_request_cannot_do_is_uvicorn_s_to_say(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    application = await _used(server.asgi())

    async def fails(*_: object) -> None:
        raise RuntimeError("of its own")

    monkeypatch.setattr(http, "answer_post", fails)
    through = await _exchange(HttpProtocol, _passed_on(application), [_request()], [DATE])
    direct = await _exchange(HttpProtocol, application, [_request()], [DATE], hosted=application)
    assert direct == through
    assert direct[0].startswith(b"HTTP/1.1 500 ")
    assert [record.message.strip() for record in caplog.records] == [
        "Exception in ASGI application"
    ] * 2


async def test_what_fails_behind_a_direct_answer_ends_the_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    application = await _used(server.asgi())
    answer_post = http.answer_post

    async def fails(*given: Any) -> None:
        await answer_post(*given)
        raise RuntimeError("of its own")

    monkeypatch.setattr(http, "answer_post", fails)
    through = await _exchange(HttpProtocol, _passed_on(application), [_request()], [DATE])
    direct = await _exchange(HttpProtocol, application, [_request()], [DATE], hosted=application)
    assert direct == through
    assert direct[0].startswith(b"HTTP/1.1 200 ")
    assert not direct[1]


async def test_nothing_of_a_direct_request_is_kept_when_it_is_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    failures: list[weakref.ref[BaseException]] = []

    class Failure(BaseException):
        def __init__(self) -> None:
            failures.append(weakref.ref(self))

    async def fails(*_: object) -> None:
        raise Failure

    application = await _used(server.asgi())
    connection, _ = _connect(HttpProtocol, application, ServerState(), hosted=application)
    assert isinstance(connection, HttpProtocol)
    monkeypatch.setattr(connection.logger, "disabled", True)
    try:
        gc.disable()
        connection.data_received(_request())
        assert connection._pieces == []
        await _some_turns()
        monkeypatch.setattr(http, "answer_post", fails)
        connection.data_received(_request())
        await _some_turns()
        assert [failure() for failure in failures] == [None]
    finally:
        gc.enable()


@pytest.mark.parametrize("direct", [True, False])
@pytest.mark.parametrize("together", [True, False])
async def test_what_comes_behind_a_request_that_waits_is_read(direct: bool, together: bool) -> None:
    application = await _used(server.asgi())
    called = application if direct else _passed_on(application)
    connection, transport = _connect(HttpProtocol, called, ServerState(), hosted=application)
    stayed.clear()
    connection.data_received(_request(text="", stays=True) + _request() * together)
    await turn_until(lambda: stayed == ["begun"])
    await asyncio.sleep(0.05)  # Connections are watched for calls that take a while.
    connection.data_received(_request())
    assert transport.is_read
    connection.data_received(b"\x00garbage\r\n\r\n")
    assert transport.written.startswith(b"HTTP/1.1 400 ")
    assert not transport.is_open
    connection.connection_lost(None)
    await turn_until(lambda: not connection.server_state.tasks)


@pytest.mark.parametrize("behind", [_request(), _head(b"Content-Length: 9999999")], ids=len)
async def test_no_more_than_a_little_is_read_behind_a_request_that_waits(behind: bytes) -> None:
    application = await _used(server.asgi())
    connection, transport = _connect(HttpProtocol, application, ServerState(), hosted=application)
    connection.data_received(_request(text="", stays=True))
    size = 0
    connection.data_received(behind)
    while transport.is_read and size < 100_000:
        piece = behind if behind.endswith(b"}") else b"x" * 1_000
        connection.data_received(piece)
        size += len(piece)
    assert size <= 70_000
    assert transport.is_open
    connection.connection_lost(None)
    await turn_until(lambda: not connection.server_state.tasks)


async def test_an_answer_that_waits_is_the_last_when_the_host_stops() -> None:
    application = await _used(server.asgi())
    connection, transport = _connect(HttpProtocol, application, ServerState(), hosted=application)
    connection.data_received(_request(text="abc", waits=True))
    connection.shutdown()
    assert transport.is_open
    await _some_turns()
    assert b"connection: close" in transport.written.lower()
    assert b'"structuredContent":3' in transport.written
    assert not transport.is_open


@pytest.mark.parametrize("behind", [0, 1, 3])
@pytest.mark.parametrize("before", [0, 1])
async def test_a_call_ends_with_its_connection_whatever_waits_behind_it(
    before: int, behind: int
) -> None:
    application = await _used(server.asgi())
    stayed.clear()
    connection, transport = _connect(HttpProtocol, application, ServerState(), hosted=application)
    first = _request(text="abc", waits=True) * before
    connection.data_received(first + _request(text="abc", stays=True) + _request() * behind)
    await turn_until(lambda: stayed == ["begun"])
    await asyncio.sleep(0.05)  # Connections are watched for calls that take a while.
    connection.connection_lost(None)
    await turn_until(lambda: stayed == ["begun", "cancelled"])
    await _some_turns()
    assert not connection.server_state.tasks
    assert transport.written.count(b'"structuredContent"') == before


async def test_nothing_is_written_to_whom_is_gone() -> None:
    application = await _used(server.asgi())
    connection, transport = _connect(HttpProtocol, application, ServerState(), hosted=application)
    connection.data_received(_request(text="abc", waits=True))
    connection.connection_lost(None)
    await _some_turns()
    assert transport.written == b""
    assert not connection.server_state.tasks


async def test_a_slow_reader_has_its_direct_answer_when_it_has_read_on() -> None:
    application = await _used(server.asgi())
    connection, transport = _connect(HttpProtocol, application, ServerState(), hosted=application)
    connection.pause_writing()
    connection.data_received(_request())
    await _some_turns()
    assert transport.written == b""
    connection.resume_writing()
    await _some_turns()
    assert b'"structuredContent":3' in transport.written


async def test_a_direct_answer_that_cannot_be_written_is_not_complete() -> None:
    application = await _used(server.asgi())
    connection, _ = _connect(HttpProtocol, application, ServerState(), hosted=application)

    class Broken(Kept):
        def write(self, data: bytes | bytearray | memoryview) -> None:
            raise RuntimeError

    transport = connection.transport = Broken()
    connection.data_received(_request())
    await _some_turns()
    assert not transport.is_open
    assert connection.cycle.response_started
    assert not connection.cycle.response_complete
    assert connection.server_state.total_requests == 0


async def test_a_connection_that_is_used_is_not_given_up() -> None:
    application = await _used(server.asgi())
    connection, transport = _connect(HttpProtocol, application, ServerState(), hosted=application)
    assert isinstance(connection, HttpProtocol)
    for now in range(0, 5 * int(connection.patience), int(connection.patience / 2)):
        connection.look(now)
        connection.data_received(_request())
        await _some_turns()
    assert transport.is_open
    connection.look(1_000)
    connection.look(1_000 + connection.patience)
    await asyncio.sleep(2 * GLANCE)
    assert not transport.is_open


async def test_an_answer_to_a_head_request_has_no_body() -> None:
    async def overrides(scope: Any, receive: Receive, send: Send) -> None:
        await server.asgi()({**scope, "method": "POST"}, receive, send)

    body = _body()
    head = _head(b"Content-Length: %d" % len(body), method=b"HEAD")
    past = await _exchange(HttpToolsProtocol, overrides, [head + body], [DATE])
    through = await _exchange(HttpToolsProtocol, _passed_on(overrides), [head + body], [DATE])
    assert past == through
    assert past[0].startswith(b"HTTP/1.1 200 OK\r\n")
    assert past[0].endswith(b"\r\n\r\n")


async def test_headers_that_are_added_to_are_seen_at_once() -> None:
    state = ServerState()
    headers: list[tuple[bytes, bytes]] = [DATE]
    state.default_headers = headers
    connection, transport = _connect(HttpToolsProtocol, server.asgi(), state)
    for added in ((b"server", b"one"), (b"x-served-by", b"two")):
        headers.append(added)
        connection.data_received(_request())
        await _some_turns()
    first, second = transport.written.split(b"HTTP/1.1 200 OK\r\n")[1:]
    start = b"date: " + DATE[1] + b"\r\nserver: one\r\n"
    assert first.startswith(start + b"content-type")
    assert second.startswith(start + b"x-served-by: two\r\ncontent-type")


@pytest.mark.parametrize("protocol", [HttpToolsProtocol, HttpProtocol])
async def test_a_whole_exchange_needs_no_event(
    protocol: type[HttpToolsProtocol], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def no_event(*_: object) -> Event:
        raise AssertionError("an event")

    # The functions stay uvicorn's own: only what they do is another thing.
    monkeypatch.setattr(RequestResponseCycle.receive, "__code__", no_event.__code__)
    monkeypatch.setattr(RequestResponseCycle.send, "__code__", no_event.__code__)
    written, *_ = await _exchange(protocol, server.asgi(), [_request(), _request()], [DATE])
    assert written.count(b'"structuredContent":3') == 2


@pytest.fixture
def sought(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have uvicorn's methods looked for once more, as when a process begins."""
    monkeypatch.setattr(whole_messages, "records", UvicornRecords())


class Counted:
    """Counts the events that uvicorn is asked for and told of, and passes them on."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        theirs_receive, theirs_send = RequestResponseCycle.receive, RequestResponseCycle.send

        @functools.wraps(theirs_receive)
        async def receive(record: RequestResponseCycle) -> Any:
            self.seen.append("receive")
            return await theirs_receive(record)

        @functools.wraps(theirs_send)
        async def send(record: RequestResponseCycle, event: Any) -> None:
            self.seen.append("send")
            await theirs_send(record, event)

        self.receive, self.send = receive, send


ALL_EVENTS = ["receive", "send", "send"]


@pytest.mark.usefixtures("sought")
@pytest.mark.parametrize("version", ["0.40.0", "0.43.0", "0.52.4", "0.55.0", "0.5", "1.54.0", ""])
async def test_a_version_that_was_not_read_has_its_events(
    version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uvicorn, "__version__", version)
    seen: list[object] = []

    async def application(_scope: Any, receive: Receive, send: Send) -> None:
        seen.extend((take_request(receive), write_answer(send, b"{}")))
        await server.asgi()(_scope, receive, send)

    written, *_ = await _exchange(HttpToolsProtocol, application, [_request()], [])
    assert seen == [None, False]
    assert b'"structuredContent":3' in written


@pytest.mark.usefixtures("sought")
@pytest.mark.parametrize("version", sorted(VERSIONS))
async def test_a_later_patch_of_a_version_that_was_read_is_that_version(
    version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uvicorn, "__version__", f"{version}.7")
    record = RequestResponseCycle.__new__(RequestResponseCycle)
    assert whole_messages.records.own(record.send) is record
    assert whole_messages.records.own(record.receive) is record
    assert whole_messages.records.own(record.send_500_response) is None


@pytest.mark.usefixtures("sought")
@pytest.mark.parametrize("is_late", [False, True])
async def test_functions_in_the_place_of_uvicorns_see_every_event(
    is_late: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if is_late:
        await _exchange(HttpToolsProtocol, server.asgi(), [_request()], [])
    counted = Counted()
    monkeypatch.setattr(RequestResponseCycle, "receive", counted.receive)
    monkeypatch.setattr(RequestResponseCycle, "send", counted.send)
    written, *_ = await _exchange(HttpToolsProtocol, server.asgi(), [_request()], [])
    assert b'"structuredContent":3' in written
    assert counted.seen == ALL_EVENTS


@pytest.mark.parametrize("overridden", ["receive", "send"])
async def test_a_record_of_another_kind_has_its_events(
    overridden: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = Counted()
    theirs = {overridden: getattr(counted, overridden)}
    kind = type("RequestResponseCycle", (RequestResponseCycle,), theirs)
    kind.__module__ = RequestResponseCycle.__module__
    monkeypatch.setattr(httptools_impl, "RequestResponseCycle", kind)
    written, *_ = await _exchange(HttpToolsProtocol, server.asgi(), [_request()], [])
    assert b'"structuredContent":3' in written
    assert counted.seen == [event for event in ALL_EVENTS if event == overridden]


class Proxy:
    """What looks like another object, as wrappers of instrumentation do."""

    def __init__(self, wrapped: Any, seen: list[str]) -> None:
        self._wrapped = wrapped
        self._seen = seen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._wrapped, name)

    def __call__(self, *arguments: Any) -> Any:
        self._seen.append(self._wrapped.__name__)
        return self._wrapped(*arguments)


@pytest.mark.parametrize("wrapped", [("receive",), ("send",), ("receive", "send")])
async def test_a_middleware_sees_what_it_wraps(wrapped: tuple[str, ...]) -> None:
    seen: list[str] = []

    async def middleware(scope: Any, receive: Receive, send: Send) -> None:
        if "receive" in wrapped:
            receive = Proxy(receive, seen)
        if "send" in wrapped:
            send = Proxy(send, seen)
        await server.asgi()(scope, receive, send)

    written, *_ = await _exchange(HttpToolsProtocol, middleware, [_request()], [])
    assert b'"structuredContent":3' in written
    assert seen == [event for event in ALL_EVENTS if event in wrapped]


async def test_whoever_logs_accesses_still_does(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    logger = logging.getLogger("uvicorn.access")

    def info(*said: object) -> None:
        seen.append(said)

    monkeypatch.setattr(logger, "info", info)
    exchange = [_request(), _request()]
    written, *_ = await _exchange(HttpToolsProtocol, server.asgi(), exchange, [], logs=True)
    assert b'"structuredContent":3' in written
    assert [said[-1] for said in seen] == [200, 200]


async def test_nothing_is_written_until_a_slow_reader_has_read_what_there_was() -> None:
    connection, transport = _connect(HttpToolsProtocol, server.asgi(), ServerState())
    connection.pause_writing()
    connection.data_received(_request())
    await _some_turns()
    assert transport.written == b""
    connection.resume_writing()
    await _some_turns()
    assert b'"structuredContent":3' in transport.written


@pytest.mark.parametrize("pass_on", [False, True])
async def test_a_body_waits_if_its_head_was_too_much_for_a_slow_reader(pass_on: bool) -> None:
    application = _passed_on(server.asgi()) if pass_on else server.asgi()
    connection, _ = _connect(HttpToolsProtocol, application, ServerState())

    class Full(Kept):
        def write(self, data: bytes | bytearray | memoryview) -> None:
            super().write(data)
            connection.pause_writing()

        def get_write_buffer_size(self) -> int:
            return 65_536

    transport = connection.transport = Full()
    connection.data_received(_request())
    await _some_turns()
    assert transport.written.endswith(b"\r\n\r\n")
    connection.resume_writing()
    await _some_turns()
    assert b'"structuredContent":3' in transport.written


@pytest.mark.parametrize("pass_on", [False, True])
async def test_an_answer_that_cannot_be_written_is_not_complete(pass_on: bool) -> None:
    application = _passed_on(server.asgi()) if pass_on else server.asgi()
    connection, _ = _connect(HttpToolsProtocol, application, ServerState())

    class Broken(Kept):
        def write(self, data: bytes | bytearray | memoryview) -> None:
            raise RuntimeError

    transport = connection.transport = Broken()
    connection.data_received(_request())
    await _some_turns()
    assert not transport.is_open
    assert connection.cycle.response_started
    assert not connection.cycle.response_complete
    assert connection.server_state.total_requests == 0


async def test_hosts_that_are_not_uvicorn_have_their_events() -> None:
    async def receive() -> Event:
        return {"type": "http.request", "body": b"", "more_body": False}

    class RequestResponseCycle:
        async def send(self, event: Event) -> None:
            raise AssertionError

    assert take_request(receive) is None
    assert not write_answer(RequestResponseCycle().send, b"{}")


async def test_a_request_that_somebody_else_has_read_is_not_read_again() -> None:
    seen: list[Any] = []

    async def reads(_scope: Any, receive: Receive, send: Send) -> None:
        seen.append((await receive())["body"])
        seen.append(take_request(receive))
        await send({"type": "http.response.start", "status": 204, "headers": []})
        seen.append(write_answer(send, b"{}"))
        await send({"type": "http.response.body", "body": b""})
        seen.append(take_request(receive))

    written, *_ = await _exchange(HttpToolsProtocol, reads, [_request()], [])
    assert seen == [_body(), None, False, None]
    assert written.startswith(b"HTTP/1.1 204 ")


async def test_behind_a_whole_request_there_is_the_end_of_the_connection() -> None:
    seen: list[Any] = []

    async def waits(_scope: Any, receive: Receive, send: Send) -> None:
        seen.append(take_request(receive))
        seen.append(await receive())
        seen.append((take_request(receive), write_answer(send, b"{}")))

    connection, transport = _connect(HttpToolsProtocol, waits, ServerState())
    connection.data_received(_request())
    await _some_turns()
    assert [event["body"] for event in seen] == [_body()]
    connection.connection_lost(None)
    await _some_turns()
    assert seen[1:] == [{"type": "http.disconnect"}, (None, False)]
    assert transport.written == b""


async def test_whoever_waits_for_the_end_hears_of_it_with_the_answer() -> None:
    heard: list[Event] = []

    async def answers(_scope: Any, receive: Receive, send: Send) -> None:
        async def listen() -> None:
            take_request(receive)
            heard.append(await receive())

        listening = asyncio.create_task(listen())
        await asyncio.sleep(0)
        assert write_answer(send, b"{}")
        await listening

    connection, _ = _connect(HttpToolsProtocol, answers, ServerState())
    connection.data_received(_request())
    await _some_turns()
    assert heard == [{"type": "http.disconnect"}]


async def test_nobody_is_asked_to_go_on_who_has_been_answered() -> None:
    async def answers(_scope: Any, receive: Receive, send: Send) -> None:
        write_answer(send, b"{}")
        await receive()

    written, *_ = await _exchange(
        HttpToolsProtocol, answers, [_head(b"Content-Length: 3", b"Expect: 100-continue")], []
    )
    assert written.endswith(b"\r\n\r\n{}")
    assert b"100 Continue" not in written
