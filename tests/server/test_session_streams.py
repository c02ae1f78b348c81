"""What sessions over HTTP are told: changes, on the stream that a GET opens."""

from __future__ import annotations

import asyncio
import dataclasses
import subprocess
import sys
from typing import Any

import pytest
from patience import PATIENCE

from anyshape import Server
from anyshape.server import (
    AccessToken,
    Authorization,
    HttpOptions,
    ServerOptions,
    Sessions,
    Streams,
)

from .browsing import LATEST, Browser, Response

WITH_STREAMS = ["2025-03-26", "2025-06-18", LATEST]
LISTS = [
    {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"},
    {"jsonrpc": "2.0", "method": "notifications/resources/list_changed"},
]


def make_server(**options: Any) -> Server:
    server = Server("s", options=ServerOptions(**options))

    @server.resource("note:{name}")
    def note(name: str) -> str:
        return name

    return server


def about(uri: str) -> dict[str, Any]:
    method = "notifications/resources/updated"
    return {"jsonrpc": "2.0", "method": method, "params": {"uri": uri}}


def change_tools(server: Server) -> None:
    if "here" in server.tools:
        server.remove_tool("here")
    else:
        server.tool(name="here")(lambda: 1)


@pytest.fixture
def server() -> Server:
    return make_server()


@pytest.fixture
def application(server: Server) -> Any:
    return server.asgi()


@pytest.mark.behaviour("transport.http.standing-stream")
@pytest.mark.parametrize("revision", WITH_STREAMS)
async def test_a_session_is_told_of_lists_and_of_what_it_subscribed_to(
    server: Server, application: Any, revision: str
) -> None:
    async with Browser(application, revision) as browser, Browser(application) as other:
        declared = browser.greeting["capabilities"]
        assert declared["tools"] == {"listChanged": True}
        assert declared["resources"] == {"subscribe": True, "listChanged": True}
        stream = await browser.listen()
        assert stream.headers["content-type"] == "text/event-stream"
        others = await other.listen()
        assert (await browser.ask("resources/subscribe", uri="note:a")).json["result"] == {}
        server.resource_changed("note:a")
        server.resource_changed("note:b")
        change_tools(server)
        assert await stream.heard(2) == [about("note:a"), LISTS[0]]
        assert await others.heard() == [LISTS[0]]
        await browser.ask("resources/unsubscribe", uri="note:a")
        server.resource_changed("note:a")
        change_tools(server)
        assert await stream.heard(3) == [about("note:a"), LISTS[0], LISTS[0]]


async def test_what_changed_since_the_subscription_is_told_when_the_stream_opens(
    server: Server, application: Any
) -> None:
    async with Browser(application) as browser:
        await browser.ask("resources/subscribe", uri="note:a")
        server.resource_changed("note:a")
        assert await (await browser.listen()).heard() == [about("note:a")]


async def test_a_stream_begins_with_an_id_and_when_to_come_back(application: Any) -> None:
    async with Browser(application) as browser:
        stream = await browser.listen()
        (first,) = stream.events
        assert first.message is None
        assert set(first.fields) == {"id", "retry", "data"}
        assert first.fields["retry"] == "1000"
    async with Browser(application, "2025-06-18") as older:
        assert (await older.listen()).events == []


@pytest.mark.behaviour("transport.http.resumption")
async def test_who_comes_back_is_told_what_it_missed_once(server: Server, application: Any) -> None:
    async with Browser(application) as browser:
        for uri in ("note:a", "note:b"):
            await browser.ask("resources/subscribe", uri=uri)
        stream = await browser.listen()
        server.resource_changed("note:a")
        await stream.heard()
        seen = stream.last_id
        await stream.hang_up()
        await finished(stream)
        for _ in range(3):
            server.resource_changed("note:b")
        change_tools(server)
        again = await browser.listen(last_event_id=seen)
        assert await again.heard(2) == [about("note:b"), LISTS[0]]
        server.resource_changed("note:a")
        assert await again.heard(3) == [about("note:b"), LISTS[0], about("note:a")]
        ids = [event.id for event in stream.events + again.events]
        assert len(set(ids)) == len(ids)


async def test_who_cannot_be_told_what_it_missed_is_told_of_everything(
    server: Server, application: Any
) -> None:
    async with Browser(application) as browser:
        await browser.ask("resources/subscribe", uri="note:a")
        for lost in ("n.0.0.x", f"n.{10**18}.7.y"):
            again = await browser.listen(last_event_id=lost)
            assert await again.heard(3) == [*LISTS, about("note:a")]


async def test_much_that_changed_is_forgotten_but_not_that_it_did(
    server: Server, application: Any
) -> None:
    async with Browser(application) as browser:
        await browser.ask("resources/subscribe", uri="note:a")
        stream = await browser.listen()
        server.resource_changed("note:a")
        for number in range(5000):
            server.resource_changed(f"note:{number}")
        again = await browser.listen(last_event_id=stream.last_id)
        assert await again.heard(3) == [*LISTS, about("note:a")]


@pytest.mark.parametrize(
    "hostile",
    ["", "1", "n", "n.1.2", "n.-1.2.x", "n.1.2.x.y", "n.٣.1.x", "c.a.b", "n." + "9" * 5000, "\\0"],
)
async def test_an_event_id_that_is_none_of_ours_is_refused(application: Any, hostile: str) -> None:
    async with Browser(application) as browser:
        answer = await browser.listen(last_event_id=hostile)
        assert (answer.status, answer.json["error"]["code"]) == (400, -32600)


@pytest.mark.behaviour("transport.http.resumption")
async def test_an_event_id_of_another_session_gives_nothing_of_it(
    server: Server, application: Any
) -> None:
    async with Browser(application) as mine, Browser(application) as others:
        await others.ask("resources/subscribe", uri="note:secret")
        stream = await others.listen()
        server.resource_changed("note:secret")
        await stream.heard()
        change_tools(server)
        stolen = await mine.listen(last_event_id=stream.last_id)
        assert await stolen.heard() == [LISTS[0]]
        server.resource_changed("note:secret")
        change_tools(server)
        assert await stolen.heard(2) == [LISTS[0], LISTS[0]]


@pytest.mark.behaviour("transport.http.one-stream")
async def test_a_message_goes_to_the_newest_stream_alone(server: Server, application: Any) -> None:
    async with Browser(application) as browser:
        first = await browser.listen()
        second = await browser.listen()
        await first.over()
        change_tools(server)
        assert await second.heard() == [LISTS[0]]
        assert first.messages == []


async def test_streams_are_bounded_and_room_is_made_when_one_ends() -> None:
    application = make_server(max_subscriptions=2).asgi()
    async with (
        Browser(application) as one,
        Browser(application) as two,
        Browser(application) as three,
    ):
        stream = await one.listen()
        await two.listen()
        refused = await three.listen()
        assert (refused.status, refused.headers["retry-after"]) == (503, "1")
        await stream.hang_up()
        await finished(stream)
        assert (await three.listen()).status == 200


async def test_who_comes_back_to_a_full_server_takes_the_place_of_its_own_stream() -> None:
    application = Server("s", options=ServerOptions(max_subscriptions=1)).asgi()
    async with Browser(application) as browser, Browser(application) as other:
        lost = await browser.listen()
        found = await browser.listen()
        await lost.over()
        assert found.status == 200
        assert (await other.listen()).status == 503


async def test_idle_sessions_make_room_and_those_with_a_stream_do_not() -> None:
    server = make_server()
    application = server.asgi(HttpOptions(streams=Streams(max_sessions=2)))
    async with (
        Browser(application) as one,
        Browser(application) as two,
        Browser(application) as three,
    ):
        await one.ask("resources/subscribe", uri="note:a")
        stream = await two.listen()
        assert (await three.listen()).status == 200
        assert (await one.ask("resources/subscribe", uri="note:a")).status == 503
        server.resource_changed("note:a")
        change_tools(server)
        assert await stream.heard() == [LISTS[0]]


async def test_a_session_subscribes_to_so_many_resources() -> None:
    application = make_server(max_resource_subscriptions=2).asgi()
    async with Browser(application) as browser:
        for _ in range(2):
            for uri in ("note:a", "note:b"):
                assert (await browser.ask("resources/subscribe", uri=uri)).status == 200
        assert (await browser.ask("resources/subscribe", uri="note:c")).status == 503
        await browser.ask("resources/unsubscribe", uri="note:a")
        assert (await browser.ask("resources/subscribe", uri="note:c")).status == 200


async def finished(response: Response) -> None:
    assert response.task is not None
    await response.task


async def test_a_reader_that_is_too_slow_is_left_and_told_the_rest_when_it_is_back() -> None:
    server = make_server(max_resource_subscriptions=300)
    application = server.asgi()
    async with Browser(application) as browser:
        for number in range(300):
            await browser.ask("resources/subscribe", uri=f"note:{number}")
        stream = await browser.listen()
        stream.reading.clear()
        for number in range(300):
            server.resource_changed(f"note:{number}")
        assert (await browser.ask("ping")).status == 200
        stream.reading.set()
        told = len((await stream.over()).messages)
        assert told < 300
        again = await browser.listen(last_event_id=stream.last_id)
        assert [*stream.messages, *await again.heard(300 - told)] == [
            about(f"note:{number}") for number in range(300)
        ]


@pytest.mark.behaviour("transport.http.session-end")
async def test_ending_a_session_ends_its_stream_and_its_requests() -> None:
    server = make_server()
    waiting, stopped = asyncio.Event(), asyncio.Event()

    @server.tool
    async def wait() -> None:
        waiting.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    application = server.asgi()
    async with Browser(application) as browser, Browser(application) as other:
        stream = await browser.listen()
        await browser.ask("resources/subscribe", uri="note:a")
        call = browser.post("tools/call", name="wait", arguments={})
        await waiting.wait()
        ended = await browser.end()
        assert (ended.status, ended.body) == (204, b"")
        await stream.over()
        await stopped.wait()
        await finished(call)
        assert (await browser.ask("ping")).status == 404
        assert (await browser.listen()).status == 404
        assert (await browser.end()).status == 404
        assert (await other.ask("ping")).json["result"] == {}
        async with Browser(application) as again:
            assert (await again.ask("ping")).json["result"] == {}
        assert server._service.listeners._by_topic == {}


async def test_a_session_can_cancel_its_own_requests_alone() -> None:
    server = make_server()
    waiting = asyncio.Event()

    @server.tool
    async def wait() -> None:
        waiting.set()
        await asyncio.Event().wait()

    application = server.asgi()
    async with Browser(application) as browser, Browser(application) as other:
        call = browser.post("tools/call", id=7, name="wait", arguments={})
        await waiting.wait()
        cancelling = {"jsonrpc": "2.0", "method": "notifications/cancelled"}
        unwanted = {**cancelling, "params": {"requestId": 7}}
        for sender, body in ((other, unwanted), (browser, cancelling)):
            assert (await sender.start("POST", body).over()).status == 202
            assert not call.ended
        await browser.start("POST", unwanted).over()
        assert (await call.over()).body == b""


async def test_a_session_is_good_for_the_caller_who_opened_it_alone() -> None:
    class Verifier:
        async def verify(self, token: str) -> AccessToken | None:
            return AccessToken(token, audience=("https://mcp.example.com/mcp",))

    authorization = Authorization(Verifier(), "https://mcp.example.com/mcp", ("https://a.example",))
    application = make_server().asgi(HttpOptions(authorization=authorization))
    async with Browser(application, token="ann") as ann, Browser(application, token="bob") as bob:
        assert (await ann.listen()).status == 200
        bob.session = ann.session
        for answer in (await bob.listen(), await bob.ask("ping"), await bob.end()):
            assert answer.status == 404
        assert (await ann.ask("ping")).status == 200
        assert (await ann.listen(authorization=None)).status == 401


async def test_who_has_no_session_has_no_stream(application: Any) -> None:
    async with Browser(application) as browser:
        for session in (None, "unknown"):
            browser.session = session
            for answer in (await browser.listen(), await browser.end()):
                assert (answer.status, answer.headers["allow"]) == (405, "POST")
            refused = await browser.ask("resources/subscribe", uri="note:a")
            assert (refused.status, refused.json["error"]["code"]) == (400, -32600)


@pytest.mark.parametrize(
    "options", [HttpOptions(streams=None), HttpOptions(sessions=None)], ids=["streams", "sessions"]
)
async def test_a_server_without_streams_promises_none(options: HttpOptions) -> None:
    async with Browser(make_server().asgi(options)) as browser:
        declared = browser.greeting["capabilities"]
        assert declared["resources"] == {"subscribe": False, "listChanged": False}
        for answer in (await browser.listen(), await browser.end()):
            assert (answer.status, answer.headers["allow"]) == (405, "POST")


async def test_what_a_get_says_is_checked(application: Any) -> None:
    async with Browser(application) as browser:
        assert (await browser.listen(accept="application/json")).status == 406
        for version in ("2026-07-28", "1999-01-01"):
            assert (await browser.listen(mcp_protocol_version=version)).status == 400
        assert (await browser.listen(origin="https://evil.example")).status == 403
        for method in ("PUT", "HEAD", "OPTIONS"):
            assert (await browser.start(method).over()).status == 405


async def test_with_keys_of_the_operator_a_foreign_session_is_not_found() -> None:
    application = make_server().asgi(HttpOptions(sessions=Sessions(keys=(b"k" * 32,))))
    async with Browser(application) as browser:
        browser.session = "unknown"
        for answer in (await browser.listen(), await browser.end()):
            assert answer.status == 404


async def test_streams_end_when_the_server_stops(application: Any) -> None:
    async with Browser(application) as browser:
        stream = await browser.listen()
        await application.drain()
        await stream.over()


@pytest.mark.parametrize("bound", [bound.name for bound in dataclasses.fields(Streams)])
def test_bounds_of_streams_are_above_zero(bound: str) -> None:
    with pytest.raises(ValueError, match=bound):
        Streams(**{bound: 0})


LEAN = """
import asyncio, json, sys

from anyshape import Server

server = Server("s")
application = server.asgi()


@server.tool
async def add(a: int, b: int) -> int:
    return a + b


async def post(session, method, **params):
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    sent = []

    async def receive():
        return {"type": "http.request", "body": json.dumps(body).encode()}

    async def send(event):
        sent.append(event)

    headers = [(b"host", b"x"), (b"content-type", b"application/json"), *session]
    scope = {"type": "http", "method": "POST", "path": "/mcp", "headers": headers}
    await application(scope, receive, send)
    return sent


async def main():
    async with application.lifespan():
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}}
        start, _ = await post([], "initialize", **hello)
        session = [pair for pair in start["headers"] if pair[0] == b"mcp-session-id"]
        call = {"name": "add", "arguments": {"a": 1, "b": 2}}
        _, answer = await post(session, "tools/call", **call)
        assert json.loads(answer["body"])["result"]["structuredContent"] == {"result": 3}


asyncio.run(main())
ours = ("anyshape.server.streams", "anyshape.server.stores", "redis")
print([name for name in sys.modules if name.startswith(ours)])
"""


def test_a_session_that_only_calls_tools_loads_nothing_of_streams() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LEAN], capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    assert done.stdout == "[]\n"
