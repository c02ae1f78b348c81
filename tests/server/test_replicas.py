"""Two replicas of a server that share Redis: to clients they are one."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from patience import PATIENCE, is_listening, turn_until

from anyshape import Client, Context, Server
from anyshape.server import HttpOptions, RedisStore, ServerOptions, Sessions, Streams
from anyshape.server.features.announcements import Topic
from anyshape.server.stores.sessions import KnownSession, SharedSessions

from .asking import Asker
from .browsing import Browser, Response
from .redis_process import RedisProcess

KEY = b"k" * 32
TOOLS_CHANGED = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
ALL_LISTS = [
    TOOLS_CHANGED,
    {"jsonrpc": "2.0", "method": "notifications/resources/list_changed"},
]


class Replica:
    """One process of a server, as far as anybody can tell."""

    def __init__(self, store: RedisStore, streams: Streams | None = None, **options: Any) -> None:
        self.server = Server("s", options=ServerOptions(store=store, **options))
        self.steps: asyncio.Queue[str] = asyncio.Queue()
        self.stopped = asyncio.Event()

        @self.server.resource("note:{name}")
        def note(name: str) -> str:
            return name

        @self.server.tool
        async def work(context: Context) -> str:
            number = 0
            try:
                while (step := await self.steps.get()) != "done":
                    number += 1
                    context.progress(number, message=step)
            finally:
                self.stopped.set()
            return "done"

        @self.server.tool
        async def ask(context: Context) -> str:
            return str(await context.elicit("Sure?", bool))

        self.application = self.server.asgi(
            HttpOptions(sessions=Sessions(keys=(KEY,)), streams=streams or Streams())
        )

    @property
    def link(self) -> Any:
        return self.server._service.link


class Site:
    """Two replicas, and sessions that are served by either."""

    def __init__(self, one: Replica, two: Replica) -> None:
        self.one, self.two = one, two

    @contextlib.asynccontextmanager
    async def session(self, **settings: Any) -> AsyncGenerator[tuple[Browser, Browser]]:
        """Give a session, seen from where each replica serves it."""
        async with Browser(self.one.application, **settings) as here:
            there = Browser(self.two.application, **settings)
            there.session = here.session
            try:
                yield here, there
            finally:
                await there.__aexit__()


@contextlib.asynccontextmanager
async def running(
    url: str, namespace: str, streams: Streams | None = None, **options: Any
) -> AsyncGenerator[Site]:
    store = RedisStore(url, namespace=namespace, max_news=options.pop("max_news", 4096))
    one, two = Replica(store, streams, **options), Replica(store, streams, **options)
    async with one.application.lifespan(), two.application.lifespan():
        yield Site(one, two)


@pytest.fixture
async def site(redis: RedisProcess, request: pytest.FixtureRequest) -> AsyncGenerator[Site]:
    async with running(redis.url, request.node.name) as site:
        yield site


def about(uri: str) -> dict[str, Any]:
    method = "notifications/resources/updated"
    return {"jsonrpc": "2.0", "method": method, "params": {"uri": uri}}


def call(browser: Browser, name: str) -> Response:
    meta = {"progressToken": 1}
    return browser.post("tools/call", id=9, name=name, arguments={}, _meta=meta)


def yes(question: dict[str, Any], value: bool = True) -> dict[str, Any]:
    """Return the answer to a question of the tool `ask`."""
    result = {"action": "accept", "content": {"value": value}}
    return {"jsonrpc": "2.0", "id": question["id"], "result": result}


ACCEPTED = {"result": "Accepted(data=True)"}
"""What that tool returns then."""


async def test_a_change_in_one_is_announced_by_the_other_on_the_streams_of_sessions(
    site: Site,
) -> None:
    async with site.session() as (here, there):
        stream = await there.listen()
        assert (await here.ask("resources/subscribe", uri="note:a")).json["result"] == {}
        site.one.server.resource_changed("note:a")
        assert await stream.heard() == [about("note:a")]
        site.one.server.remove_tool("ask")
        site.two.server.resource_changed("note:a")
        await stream.heard(3)
        assert sorted(map(json.dumps, stream.messages)) == sorted(
            map(json.dumps, [about("note:a"), about("note:a"), TOOLS_CHANGED])
        )
        await there.ask("resources/unsubscribe", uri="note:a")
        await turn_until(lambda: is_quiet(site.two, "note:a"))
        site.one.server.resource_changed("note:a")
        site.one.server.remove_tool("work")
        assert (await stream.heard(4))[3] == TOOLS_CHANGED


def is_quiet(replica: Replica, uri: str) -> bool:
    topics = replica.server._service.listeners._by_topic
    return not any(uri.encode() in topic.members for topic in topics)


async def test_a_change_in_one_is_announced_by_the_other_to_modern_subscriptions(
    site: Site,
) -> None:
    asker = Asker(site.two.server)
    wanted = {"toolsListChanged": True, "resourceSubscriptions": ["note:a"]}
    listening = asyncio.ensure_future(asker.ask("subscriptions/listen", notifications=wanted))
    await turn_until(lambda: asker.sent)
    site.one.server.resource_changed("note:a")
    site.one.server.resource_changed("note:b")
    site.one.server.remove_tool("ask")
    await turn_until(lambda: len(asker.sent) == 3)
    assert [message["method"] for message in asker.sent[1:]] == [
        "notifications/resources/updated",
        "notifications/tools/list_changed",
    ]
    await asker.connection.close()
    await asyncio.gather(listening, return_exceptions=True)


async def test_news_missed_at_one_are_told_by_the_other(site: Site) -> None:
    async with site.session() as (here, there):
        await here.ask("resources/subscribe", uri="note:a")
        stream = await here.listen()
        site.two.server.remove_tool("ask")
        await stream.heard()
        await stream.hang_up()
        site.two.server.resource_changed("note:a")
        await turn_until(lambda: site.one.server._service.listeners.position[0])
        again = await there.listen(last_event_id=stream.last_id)
        assert await again.heard() == [about("note:a")]


async def test_who_names_no_event_goes_on_where_the_other_replica_left_it(site: Site) -> None:
    async with site.session() as (here, there):
        await here.ask("resources/subscribe", uri="note:a")
        site.one.server.resource_changed("note:a")
        stream = await there.listen()
        assert await stream.heard() == [about("note:a")]


async def test_who_opens_another_stream_is_not_told_again_what_the_first_has_told(
    site: Site,
) -> None:
    async with site.session() as (here, _):
        await here.ask("resources/subscribe", uri="note:a")
        first = await here.listen()
        site.two.server.resource_changed("note:a")
        assert await first.heard() == [about("note:a")]
        second = await here.listen()  # before the first is known to be gone
        site.two.server.remove_tool("ask")
        assert await second.heard() == [TOOLS_CHANGED]


async def test_what_was_missed_is_told_though_a_later_change_was_told_before_it(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    look_up = SharedSessions.listen

    async def subscribe_meanwhile(shared: SharedSessions, session: str) -> KnownSession:
        known = await look_up(shared, session)
        await here.ask("resources/subscribe", uri="note:b")
        await turn_until(lambda: not is_quiet(site.one, "note:b"))
        await change("note:b")
        [(_, stream)] = shared._streams.table.streaming()
        await turn_until(lambda: stream.told == site.one.server._service.listeners.position)
        return known

    async def change(uri: str) -> None:
        listeners = site.one.server._service.listeners
        before = listeners.position
        site.one.server.resource_changed(uri)
        await turn_until(lambda: listeners.position > before)

    async with site.session() as (here, _):
        await here.ask("resources/subscribe", uri="note:a")
        first = await here.listen()
        await change("note:a")
        await first.heard()
        await first.hang_up()
        await change("note:a")
        monkeypatch.setattr(SharedSessions, "listen", subscribe_meanwhile)
        stream = await here.listen(last_event_id=first.last_id)
        await turn_until(
            lambda: {str(about("note:a")), str(about("note:b"))} == set(map(str, stream.messages))
        )


async def test_a_stream_that_ends_while_the_store_is_asked_for_its_topics_listens_to_none(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hang_up_meanwhile(shared: SharedSessions, session: str) -> list[Topic]:
        found = await look_up(shared, session)
        await stream.hang_up()
        await turn_until(lambda: not shared._streams.table.streaming())
        return found

    look_up = SharedSessions._topics
    async with site.session() as (here, _):
        await here.ask("resources/subscribe", uri="note:a")
        stream = await here.listen()
        monkeypatch.setattr(SharedSessions, "_topics", hang_up_meanwhile)
        assert site.one.application.streams is not None
        await site.one.application.streams.join()
        assert is_quiet(site.one, "note:a")


async def test_a_session_has_one_stream_among_all_replicas(site: Site) -> None:
    async with site.session() as (here, there):
        first = await here.listen()
        second = await there.listen()
        await first.over()
        site.one.server.remove_tool("ask")
        assert await second.heard() == [TOOLS_CHANGED]


async def test_a_session_that_was_ended_is_over_everywhere_and_for_newcomers(
    site: Site, redis: RedisProcess, request: pytest.FixtureRequest
) -> None:
    async with site.session() as (here, there):
        stream = await there.listen()
        running_call = call(there, "work")
        site.two.steps.put_nowait("one")
        await running_call.heard()
        assert (await here.end()).status == 204
        await stream.over()
        await asyncio.wait_for(site.two.stopped.wait(), PATIENCE)
        assert (await there.ask("ping")).status == 404
        store = RedisStore(redis.url, namespace=request.node.name)
        newcomer = Replica(store)
        async with newcomer.application.lifespan():
            late = Browser(newcomer.application)
            late.session = here.session
            assert (await late.ask("ping")).status == 404


async def test_a_request_can_be_cancelled_at_another_replica(site: Site) -> None:
    async with site.session() as (here, there):
        waiting = call(here, "work")
        site.one.steps.put_nowait("one")
        await waiting.heard()
        params = {"requestId": 9}
        body = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
        assert (await there.start("POST", body).over()).status == 202
        await waiting.over()
        assert len(waiting.messages) == 1


async def test_a_reply_goes_on_at_another_replica(site: Site) -> None:
    async with site.session() as (here, there):
        waiting = call(here, "work")
        for step in ("one", "two"):
            site.one.steps.put_nowait(step)
        await waiting.heard(2)
        await waiting.hang_up()
        rest = there.start("GET", last_event_id=waiting.events[1].id)
        assert [message["params"]["message"] for message in await rest.heard()] == ["two"]
        site.one.steps.put_nowait("three")
        await rest.heard(2)
        site.one.steps.put_nowait("done")
        await rest.over()
        assert rest.messages[-1]["result"]["structuredContent"] == {"result": "done"}
        again = await there.start("GET", last_event_id=rest.events[1].id).over()
        assert again.messages == rest.messages[-1:]


async def test_a_reply_is_for_its_own_session_at_every_replica(site: Site) -> None:
    async with site.session() as (here, _), site.session() as (_, thief):
        waiting = call(here, "work")
        site.one.steps.put_nowait("one")
        await waiting.heard()
        assert (await thief.listen(last_event_id=waiting.last_id)).status == 400
        site.one.steps.put_nowait("done")
        await waiting.over()


async def test_a_reply_that_no_replica_has_is_not_waited_for_long(site: Site) -> None:
    async with site.session() as (here, there):
        waiting = call(here, "work")
        site.one.steps.put_nowait("one")
        await waiting.heard()
        site.one.steps.put_nowait("done")
        await waiting.over()
        assert site.one.application.streams is not None
        site.one.application.streams.archive.end(key_of(site, here))
        assert (await there.listen(last_event_id=waiting.last_id)).status == 400


def key_of(site: Site, browser: Browser) -> str:
    assert site.one.application.session_ids is not None
    assert browser.session is not None
    found = site.one.application.session_ids.find(browser.session.encode())
    assert found is not None
    return found.key


async def test_an_answer_reaches_the_replica_that_asked(site: Site) -> None:
    async with site.session(capabilities={"elicitation": {}}) as (here, there):
        asked = call(here, "ask")
        (question,) = await asked.heard()
        for value in (True, False):
            assert (await there.start("POST", yes(question, value)).over()).status == 202
        await asked.over()
        assert asked.messages[-1]["result"]["structuredContent"] == ACCEPTED
        await turn_until(lambda: not site.one.link._tasks)
        for kind in ("question", "answer"):
            assert await site.one.link.client.keys(site.one.link.key(kind, "*")) == []


async def test_bounds_hold_across_replicas(redis: RedisProcess) -> None:
    bounds = Streams(max_sessions=2)
    async with (
        running(redis.url, "bounds", bounds, max_resource_subscriptions=2) as site,
        site.session() as (here, there),
    ):
        for browser, uri in ((here, "note:a"), (there, "note:b"), (there, "note:a")):
            assert (await browser.ask("resources/subscribe", uri=uri)).status == 200
        assert (await here.ask("resources/subscribe", uri="note:c")).status == 503
        for _ in range(2):
            async with site.session() as (other, _):
                assert (await other.ask("resources/subscribe", uri="note:a")).status == 200
        link = site.one.link
        assert await link.client.zcard(link.key("sessions")) == 2
        assert len(await link.client.keys(link.key("topics", "*"))) == 2
        assert not await link.client.exists(link.key("topics", key_of(site, here)))


async def test_what_is_subscribed_to_stays_so_while_one_more_is_refused(
    redis: RedisProcess,
) -> None:
    async with (
        running(redis.url, "at once", max_resource_subscriptions=2) as site,
        site.session() as (here, there),
    ):
        for uri in ("note:a", "note:b"):
            await here.ask("resources/subscribe", uri=uri)
        stream = await here.listen()
        for _ in range(10):
            new, known = await asyncio.gather(
                here.ask("resources/subscribe", uri="note:c"),
                there.ask("resources/subscribe", uri="note:b"),
            )
            assert (new.status, known.status) == (503, 200)
        await stream.hang_up()
        stream = await there.listen()
        site.one.server.resource_changed("note:b")
        assert about("note:b") in await stream.heard()


async def test_everything_in_the_store_expires_or_is_bounded(redis: RedisProcess) -> None:
    async with running(redis.url, "expiry", max_news=16) as site, site.session() as (here, there):
        await here.ask("resources/subscribe", uri="note:a")
        stream = await there.listen()
        for number in range(500):
            site.one.server.resource_changed(f"note:{number}")
        site.one.server.resource_changed("note:a")
        await stream.heard()
        client = site.one.link.client
        for key in await client.keys(site.one.link.key("*")):
            name = key.decode().removeprefix("expiry:")
            if name in ("news", "signals"):
                assert await client.xlen(key) <= 16 + 100  # As many as fit a node more, at most.
            elif name not in ("sessions", "ended"):
                assert 0 < await client.ttl(key) <= 3601, name


async def test_keys_say_nothing_that_opens_a_session(site: Site) -> None:
    async with site.session() as (here, _):
        await here.ask("resources/subscribe", uri="note:a")
        client = site.one.link.client
        keys = await client.keys(site.one.link.key("*"))
        assert here.session is not None
        assert not [key for key in keys if here.session.encode() in key]


async def test_servers_in_one_store_do_not_hear_of_each_other(redis: RedisProcess) -> None:
    async with (
        running(redis.url, "left") as left,
        running(redis.url, "right") as right,
        right.session() as (browser, _),
    ):
        stream = await browser.listen()
        left.one.server.remove_tool("ask")
        right.one.server.remove_tool("work")
        right.two.server.resource_changed("note:a")
        assert await stream.heard() == [TOOLS_CHANGED]


async def test_while_the_store_is_away_everything_else_goes_on(
    mortal_redis: RedisProcess, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    async with running(mortal_redis.url, "away") as site, site.session() as (here, there):
        await here.ask("resources/subscribe", uri="note:a")
        stream = await there.listen()
        mortal_redis.stop()
        await turn_until(lambda: not site.one.link.is_linked and not site.two.link.is_linked)
        assert "is away" in caplog.text
        assert (await here.ask("ping")).json["result"] == {}
        refused = await here.ask("resources/subscribe", uri="note:b")
        assert (refused.status, refused.json["error"]["code"]) == (503, 503)
        site.two.server.resource_changed("note:a")
        assert await stream.heard() == [about("note:a")]
        fresh = await here.listen()
        site.one.server.remove_tool("ask")
        assert await fresh.heard() == [TOOLS_CHANGED]

        mortal_redis.start()
        await turn_until(lambda: site.one.link.is_linked and site.two.link.is_linked, pause=0.01)
        heard = len(stream.messages)
        await turn_until(lambda: TOOLS_CHANGED in stream.messages[1:], pause=0.01)
        site.one.server.resource_changed("note:a")
        await turn_until(lambda: about("note:a") in stream.messages[heard:], pause=0.01)
        topics = site.one.link.key("topics", key_of(site, here))
        async with asyncio.timeout(PATIENCE):
            while not await site.one.link.client.exists(topics):  # noqa: ASYNC110 - elsewhere
                await asyncio.sleep(0.01)
        again = await here.listen()
        await stream.over()
        site.two.server.resource_changed("note:a")
        await turn_until(lambda: about("note:a") in again.messages, pause=0.01)


async def test_a_session_that_was_ended_while_the_store_was_away_is_over_when_it_is_back(
    mortal_redis: RedisProcess,
) -> None:
    async with running(mortal_redis.url, "ended") as site, site.session() as (here, there):
        stream = await there.listen()
        mortal_redis.stop()
        await turn_until(lambda: not site.one.link.is_linked and not site.two.link.is_linked)
        assert (await here.end()).status == 204
        assert (await there.ask("ping")).status == 200
        mortal_redis.start()
        await stream.over()
        assert (await there.ask("ping")).status == 404


async def test_an_answer_that_cannot_be_handed_over_is_refused_and_may_come_again(
    mortal_redis: RedisProcess,
) -> None:
    async with (
        running(mortal_redis.url, "answers") as site,
        site.session(capabilities={"elicitation": {}}) as (here, there),
    ):
        asked = call(here, "ask")
        (question,) = await asked.heard()
        mortal_redis.stop()
        await turn_until(lambda: not site.one.link.is_linked and not site.two.link.is_linked)
        refused = await there.start("POST", yes(question)).over()
        assert (refused.status, refused.headers["retry-after"]) == (503, "1")
        assert (await here.start("POST", yes(question)).over()).status == 202
        await asked.over()
        assert asked.messages[-1]["result"]["structuredContent"] == ACCEPTED


async def test_a_batch_with_an_answer_that_cannot_be_handed_over_is_refused_as_a_whole(
    mortal_redis: RedisProcess,
) -> None:
    async with (
        running(mortal_redis.url, "batches") as site,
        site.session(revision="2025-03-26") as (here, _),
    ):
        mortal_redis.stop()
        await turn_until(lambda: not site.one.link.is_linked)
        batch = [yes({"id": "x"}), {"jsonrpc": "2.0", "id": 1, "method": "ping"}]
        refused = here.start("POST", batch)
        assert refused.task is not None
        await refused.task
        assert (refused.status, refused.json["error"]["code"]) == (503, 503)


async def test_a_question_that_is_asked_while_the_store_is_away_can_be_answered_when_it_is_back(
    mortal_redis: RedisProcess,
) -> None:
    async with (
        running(mortal_redis.url, "asked") as site,
        site.session(capabilities={"elicitation": {}}) as (here, there),
    ):
        mortal_redis.stop()
        await turn_until(lambda: not site.one.link.is_linked and not site.two.link.is_linked)
        asked = call(here, "ask")
        (question,) = await asked.heard()
        mortal_redis.start()
        await turn_until(lambda: site.one.link.is_linked and site.two.link.is_linked, pause=0.01)
        keys, client = site.one.link.key("question", "*"), site.one.link.client
        async with asyncio.timeout(PATIENCE):
            while not await client.keys(keys):  # noqa: ASYNC110 - elsewhere
                await asyncio.sleep(0.01)
        assert (await there.start("POST", yes(question)).over()).status == 202
        await asked.over()
        assert asked.messages[-1]["result"]["structuredContent"] == ACCEPTED


async def test_the_rights_that_the_guide_names_are_enough(redis: RedisProcess) -> None:
    store = RedisStore(redis.url)
    client: Any = store.connect()
    rights = ("on", ">pw", "~anyshape:*", "+@all", "-@dangerous")
    await client.execute_command("ACL", "SETUSER", "least", *rights)
    await client.aclose()
    url = redis.url.replace("redis://", "redis://least:pw@")
    async with (
        running(url, "anyshape:least") as site,
        site.session(capabilities={"elicitation": {}}) as (here, there),
    ):
        asked = call(here, "ask")
        (question,) = await asked.heard()
        assert (await there.start("POST", yes(question)).over()).status == 202
        await asked.over()
        assert asked.messages[-1]["result"]["structuredContent"] == ACCEPTED
        stream = await there.listen()
        await here.ask("resources/subscribe", uri="note:a")
        site.one.server.resource_changed("note:a")
        assert await stream.heard() == [about("note:a")]
        waiting = call(here, "work")
        site.one.steps.put_nowait("one")
        await waiting.heard()
        site.one.steps.put_nowait("done")
        await waiting.over()
        again = await there.start("GET", last_event_id=waiting.events[0].id).over()
        assert len(again.messages) == 2
        assert (await here.end()).status == 204
        await stream.over()


async def test_what_others_write_into_the_store_hurts_nobody(site: Site) -> None:
    link = site.one.link
    async with site.session() as (here, there):
        stream = await there.listen()
        signals: list[Any] = [
            b"",
            b"\xff",
            b"[]",
            b"{}",
            {"kind": 7},
            {"kind": "subscribed"},
            {"kind": "subscribed", "session": key_of(site, here), "topic": "[1,2]"},
            {"kind": "ended", "session": key_of(site, here), "expires": "soon"},
            {"kind": "listening", "session": None},
            {"kind": "cancelled", "session": key_of(site, here), "request": []},
            {"kind": "resume", "session": key_of(site, here), "stream": 1, "after": "x"},
            {"kind": "answer", "address": {"a": 1}},
        ]
        for each in signals:
            text = each if isinstance(each, bytes) else json.dumps(each)
            await link.client.xadd(link.key("signals"), {"s": text})
        for news in (b"", b"7", b'["a"]', b'["\\ud800","x"]', b"\xff\xfe"):
            await link.client.xadd(link.key("news"), {"t": news})
        await link.client.xadd(link.key("news"), {"other": "x"})
        site.one.server.remove_tool("ask")
        assert await stream.heard() == [TOOLS_CHANGED]
        assert (await here.ask("ping")).status == 200


WORKER = """
import os
from anyshape import Server
from anyshape.server import RedisStore, ServerOptions

server = Server("s", options=ServerOptions(store=RedisStore(os.environ["STORE"])))

@server.resource("note:a")
def note() -> str:
    return "a"

@server.tool
def change() -> int:
    server.resource_changed("note:a")
    return os.getpid()
"""


async def test_workers_behind_one_address_tell_of_changes_that_another_made(
    redis: RedisProcess, tmp_path: Path
) -> None:
    script = tmp_path / "app.py"
    script.write_text(WORKER)
    command = [sys.executable, "-m", "anyshape", "serve", str(script), "--http", "--json"]
    process = await asyncio.create_subprocess_exec(
        *(*command, "--workers", "2", "--port", "0"),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={**os.environ, "STORE": redis.url},
    )
    assert process.stdout is not None
    url = json.loads(await asyncio.wait_for(process.stdout.readline(), PATIENCE))["url"]
    port = int(url.rpartition(":")[2].removesuffix("/mcp"))
    await turn_until(lambda: is_listening(port), pause=0.05)
    try:
        heard: dict[int, list[str]] = {number: [] for number in range(8)}
        async with contextlib.AsyncExitStack() as clients:
            for number in heard:
                # One after another, so that both processes have some of them.
                revision = ("2025-11-25", "2026-07-28")[number % 2]
                client = await clients.enter_async_context(Client(url, revision=revision))
                await client.subscribe("note:a", heard[number].append)
            changer = await clients.enter_async_context(Client(url))
            await changer.call_tool("change", {})
            await turn_until(lambda: all(heard.values()), pause=0.01)
    finally:
        process.terminate()
        await process.wait()


async def test_a_server_starts_without_its_store(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    redis = RedisProcess(tmp_path)
    async with running(redis.url, "late") as site, site.session() as (here, _):
        assert (await here.ask("ping")).json["result"] == {}
        assert "is away" in caplog.text
        assert str(redis.port) in caplog.text


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"url": "http://example.com"}, "url"),
        ({"url": "redis://x", "namespace": ""}, "namespace"),
        ({"url": "redis://x", "max_news": 0}, "max_news"),
    ],
)
def test_a_store_that_cannot_be_is_refused_when_it_is_made(
    settings: dict[str, Any], named: str
) -> None:
    with pytest.raises(ValueError, match=named):
        RedisStore(**settings)


def test_a_store_does_not_print_its_password() -> None:
    assert repr(RedisStore("rediss://user:secret@example.com:7/1")) == (
        "RedisStore('rediss://example.com:7/1')"
    )
