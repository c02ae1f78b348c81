"""Replies over HTTP that a client may lose, or be sent away from, and come back for."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from patience import PATIENCE, turn_until

from anyshape import Context, Server
from anyshape.errors import AskError
from anyshape.server import HttpOptions, MiddlewareAnswer, MiddlewareRequest, Streams
from anyshape.server import response as responses
from anyshape.server.middleware import Proceed

from .browsing import LATEST, Browser, Response


class Stepping:
    """A server whose tool `work` takes a step, and reports it, whenever it is told to."""

    def __init__(self, streams: Streams | None = None) -> None:
        self.steps: asyncio.Queue[str] = asyncio.Queue()
        self.server = Server("s")

        @self.server.tool
        async def work(context: Context, weight: int = 0) -> str:
            number = 0
            while True:
                step = await self.steps.get()
                if step == "done":
                    return "x" * weight or "done"
                if step == "hang up":
                    context.hang_up()
                number += 1
                context.progress(number, message=step)

        self.application = self.server.asgi(HttpOptions(streams=streams or Streams()))

    def browser(self, revision: str = LATEST) -> Browser:
        return Browser(self.application, revision)

    def call(self, browser: Browser, **arguments: Any) -> Response:
        meta = {"progressToken": 1}
        return browser.post("tools/call", id=9, name="work", arguments=arguments, _meta=meta)

    async def step(self, response: Response, step: str, count: int) -> None:
        """Have a step taken, and wait until so many messages are there."""
        self.steps.put_nowait(step)
        await response.heard(count)

    @property
    def kept(self) -> int:
        assert self.application.streams is not None
        return len(self.application.streams.archive)


def said(response: Response) -> list[str]:
    """Return the steps that a response reports, and its answer."""
    return [
        message["params"]["message"]
        if "method" in message
        else message["result"]["content"][0]["text"]
        for message in response.messages
    ]


@pytest.fixture
def stepping() -> Stepping:
    return Stepping()


@pytest.mark.behaviour("transport.http.resumption")
@pytest.mark.parametrize("revision", ["2025-03-26", "2025-06-18", LATEST])
async def test_a_reply_that_was_lost_goes_on_behind_what_was_heard(
    stepping: Stepping, revision: str
) -> None:
    async with stepping.browser(revision) as browser:
        call = stepping.call(browser)
        await stepping.step(call, "one", 1)
        heard = call.last_id
        await stepping.step(call, "two", 2)
        await call.hang_up()
        stepping.steps.put_nowait("three")
        rest = browser.start("GET", last_event_id=heard)
        await rest.heard(2)
        stepping.steps.put_nowait("done")
        await rest.over()
        assert said(rest) == ["two", "three", "done"]
        assert rest.messages[-1]["id"] == 9
        ids = [event.id for event in [*call.events[:1], *rest.events]]
        assert len(set(ids)) == len(ids)


@pytest.mark.behaviour("transport.http.resumption")
async def test_a_reply_that_is_complete_can_be_had_again(stepping: Stepping) -> None:
    async with stepping.browser() as browser:
        call = stepping.call(browser)
        await stepping.step(call, "one", 1)
        stepping.steps.put_nowait("done")
        await call.over()
        for _ in range(2):
            again = await browser.start("GET", last_event_id=call.events[0].id).over()
            assert said(again) == ["one", "done"]
        behind = await browser.start("GET", last_event_id=call.last_id).over()
        assert (behind.status, behind.messages) == (200, [])


@pytest.mark.behaviour("transport.http.polling")
async def test_a_client_is_sent_away_and_comes_back_for_its_answer(stepping: Stepping) -> None:
    async with stepping.browser() as browser:
        call = stepping.call(browser)
        stepping.steps.put_nowait("hang up")
        await call.over()
        (first,) = call.events
        assert (first.message, first.fields["retry"]) == (None, "1000")
        for _ in range(2):
            waiting = await browser.listen(last_event_id=first.id)
            stepping.steps.put_nowait("hang up")
            await waiting.over()
        stepping.steps.put_nowait("done")
        last = await browser.start("GET", last_event_id=first.id).over()
        assert said(last) == ["hang up", "hang up", "hang up", "done"]


@pytest.mark.parametrize("revision", ["2025-06-18", LATEST])
async def test_nobody_is_sent_away_who_could_not_come_back(
    stepping: Stepping, revision: str
) -> None:
    async with stepping.browser(revision) as browser:
        if revision == LATEST:
            browser.session = None
        call = stepping.call(browser)
        stepping.steps.put_nowait("hang up")
        stepping.steps.put_nowait("done")
        assert said(await call.over()) == ["hang up", "done"]
        assert {event.id is None for event in call.events} == {revision == LATEST}


async def test_a_connection_is_held_for_so_long() -> None:
    stepping = Stepping(Streams(hold=0.01))
    async with stepping.browser() as browser:
        call = stepping.call(browser)
        stepping.steps.put_nowait("one")
        await call.over()
        assert said(call) == ["one"]
        polled = await browser.start("GET", last_event_id=call.last_id).over()
        assert polled.messages == []
        news = await browser.start("GET").over()
        assert news.messages == []
        stepping.steps.put_nowait("done")
        while not polled.messages:
            polled = await browser.start("GET", last_event_id=call.last_id).over()
        assert said(polled) == ["done"]


def hosted(application: Any) -> Any:
    """Return an application under a host that wants every response to be whole in the end."""

    async def host(scope: Any, receive: Any, send: Any) -> None:
        is_whole = False

        async def watch(event: Any) -> None:
            nonlocal is_whole
            await send(event)
            is_whole = event["type"] == "http.response.body" and not event.get("more_body")

        await application(scope, receive, watch)
        assert is_whole

    return host


async def test_a_tool_that_hangs_up_and_is_done_at_once_has_ended_its_response() -> None:
    server = Server("s")

    @server.tool
    async def work(context: Context) -> str:
        context.hang_up()
        return "done"

    async with Browser(hosted(server.asgi())) as browser:
        call = browser.post("tools/call", id=9, name="work", arguments={})
        assert call.task is not None
        await call.task
        assert not call.messages
        again = await browser.start("GET", last_event_id=call.last_id).over()
        assert said(again) == ["done"]


async def test_who_ends_its_session_ends_the_responses_to_its_requests(stepping: Stepping) -> None:
    async with Browser(hosted(stepping.application)) as browser:
        call = stepping.call(browser)
        await stepping.step(call, "one", 1)
        call.reading.clear()
        stepping.steps.put_nowait("two")
        await browser.end()
        await turn_until(lambda: not stepping.application.flights)
        call.reading.set()
        assert call.task is not None
        await call.task
        assert said(call) == ["one", "two"]


async def test_a_function_on_a_worker_thread_can_hang_up() -> None:
    server = Server("s")
    back = threading.Event()

    @server.tool
    def work(context: Context) -> str:
        context.hang_up()
        back.wait()
        return "done"

    async with Browser(server.asgi()) as browser:
        call = await browser.post("tools/call", name="work", arguments={}).over()
        rest = await browser.listen(last_event_id=call.last_id)
        back.set()
        assert said(await rest.over()) == ["done"]


async def test_a_question_is_asked_again_of_a_client_that_comes_back() -> None:
    server = Server("s")

    @server.tool
    async def ask(context: Context) -> str:
        return str(await context.elicit("Sure?", bool))

    async with Browser(server.asgi(), capabilities={"elicitation": {}}) as browser:
        call = browser.post("tools/call", id=9, name="ask", arguments={})
        (question,) = await call.heard()
        await call.hang_up()
        rest = await browser.listen(last_event_id=call.events[0].id)
        assert await rest.heard() == [question]
        result = {"action": "accept", "content": {"value": True}}
        answer = {"jsonrpc": "2.0", "id": question["id"], "result": result}
        assert (await browser.start("POST", answer).over()).status == 202
        assert said(await rest.over())[-1] == "Accepted(data=True)"


async def test_the_newest_connection_has_the_reply(stepping: Stepping) -> None:
    async with stepping.browser() as browser:
        call = stepping.call(browser)
        await stepping.step(call, "one", 1)
        first = await browser.listen(last_event_id=call.last_id)
        await call.over()
        second = await browser.listen(last_event_id=call.last_id)
        await first.over()
        stepping.steps.put_nowait("done")
        assert said(await second.over()) == ["done"]
        assert (said(call), said(first)) == (["one"], [])


@pytest.mark.behaviour("transport.http.resumption")
async def test_a_reply_is_for_the_session_that_asked_alone(stepping: Stepping) -> None:
    async with stepping.browser() as browser, stepping.browser() as thief:
        call = stepping.call(browser)
        await stepping.step(call, "one", 1)
        first = call.events[0].id
        assert first is not None
        stolen = await thief.listen(last_event_id=first)
        assert (stolen.status, stolen.json["error"]["code"]) == (400, -32600)
        stepping.steps.put_nowait("done")
        assert said(await call.over()) == ["one", "done"]
        assert (await thief.listen(last_event_id=first)).status == 400


@pytest.mark.parametrize(
    "forged",
    [
        "{stream}x.1",
        "{stream}.1" + "0" * 100,
        "{stream}.-1",
        "{stream}." + "9" * 21,
        "n.{stream}.1",
        "r..0",
        "r." + "A" * 28 + ".0",
    ],
)
async def test_a_forged_event_id_gives_nothing(stepping: Stepping, forged: str) -> None:
    async with stepping.browser() as browser:
        call = stepping.call(browser)
        await stepping.step(call, "one", 1)
        stream = call.last_id.rpartition(".")[0]
        answer = await browser.listen(last_event_id=forged.format(stream=stream))
        assert answer.status == 400


async def test_an_event_that_is_still_to_come_is_waited_for(stepping: Stepping) -> None:
    async with stepping.browser() as browser:
        call = stepping.call(browser)
        await stepping.step(call, "one", 1)
        ahead = call.last_id.rpartition(".")[0] + "." + "9" * 20
        rest = await browser.listen(last_event_id=ahead)
        stepping.steps.put_nowait("done")
        assert said(await rest.over()) == ["done"]


async def test_of_many_events_the_last_are_kept() -> None:
    stepping = Stepping(Streams(max_events=3))
    async with stepping.browser() as browser:
        call = stepping.call(browser)
        for number in range(1, 6):
            await stepping.step(call, str(number), number)
        stepping.steps.put_nowait("done")
        await call.over()
        again = await browser.start("GET", last_event_id=call.events[0].id).over()
        assert said(again) == ["4", "5", "done"]


async def test_what_was_answered_first_makes_room_within_a_session_and_for_all() -> None:
    bounds = Streams(session_bytes=16_000, total_bytes=28_000)
    stepping = Stepping(bounds)
    browsers = [stepping.browser() for _ in range(3)]
    first, second, third = browsers
    async with first, second, third:
        replies: list[tuple[Browser, Response]] = []
        for browser in (first, first, second, third):
            call = stepping.call(browser, weight=5_000)
            await stepping.step(call, "one", 1)
            stepping.steps.put_nowait("done")
            await call.over()
            replies.append((browser, call))
        found = [
            (await browser.listen(last_event_id=call.last_id)).status for browser, call in replies
        ]
        assert found == [400, 400, 200, 200]


async def test_an_answer_that_is_too_large_is_sent_and_not_kept() -> None:
    stepping = Stepping(Streams(session_bytes=4_000))
    async with stepping.browser() as browser:
        call = stepping.call(browser, weight=100_000)
        await stepping.step(call, "one", 1)
        stepping.steps.put_nowait("done")
        assert len(said(await call.over())[-1]) == 100_000
        again = await browser.start("GET", last_event_id=call.events[0].id).over()
        assert again.status == 400


async def test_a_reply_is_kept_for_some_time_and_then_forgotten() -> None:
    stepping = Stepping(Streams(keep=0.001))
    async with stepping.browser() as browser:
        call = stepping.call(browser)
        await stepping.step(call, "one", 1)
        stepping.steps.put_nowait("done")
        await call.over()
        await turn_until(lambda: not stepping.kept)
        assert (await browser.listen(last_event_id=call.last_id)).status == 400
        streams = stepping.application.streams
        assert streams is not None
        assert (streams.archive._size, streams.archive._sizes) == (0, {})


async def test_nothing_is_kept_of_a_reply_that_is_not_wanted_any_more(stepping: Stepping) -> None:
    async with stepping.browser() as browser:
        call = stepping.call(browser)
        await stepping.step(call, "one", 1)
        cancellation = {"method": "notifications/cancelled", "params": {"requestId": 9}}
        await browser.start("POST", {"jsonrpc": "2.0", **cancellation}).over()
        await call.over()
        assert stepping.kept == 0


async def test_ending_a_session_ends_what_it_was_told(stepping: Stepping) -> None:
    async with stepping.browser() as browser:
        call = stepping.call(browser)
        await stepping.step(call, "one", 1)
        await browser.end()
        await call.over()
        assert stepping.kept == 0


async def test_an_answer_that_needs_no_stream_is_not_kept(stepping: Stepping) -> None:
    async with stepping.browser() as browser:
        call = browser.post("tools/call", name="work", arguments={})
        stepping.steps.put_nowait("done")
        assert (await call.over()).headers["content-type"] == "application/json"
        assert stepping.kept == 0


@pytest.mark.parametrize("streams", [Streams(), None], ids=["kept", "not kept"])
async def test_a_question_reaches_a_client_that_is_far_behind_in_reading(
    streams: Streams | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(responses, "_MOST_QUEUED_BYTES", 20_000)
    server = Server("s")
    flooded = asyncio.Event()

    async def turn() -> None:
        for _ in range(10):
            await asyncio.sleep(0)

    @server.tool
    async def ask(context: Context) -> str:
        context.log("info", "on its way")
        await turn()
        asking = asyncio.ensure_future(context.elicit("Sure?"))
        await turn()
        for _ in range(50):
            context.log("info", ["x" * 1000])
        flooded.set()
        return (await asking).action

    application = server.asgi(HttpOptions(streams=streams))
    async with Browser(application, capabilities={"elicitation": {}}) as browser:
        call = browser.post("tools/call", id=1, name="ask", arguments={})
        call.reading.clear()
        await asyncio.wait_for(flooded.wait(), PATIENCE)
        call.reading.set()
        await turn_until(lambda: "elicitation/create" in str(call.messages))
        [question] = [each for each in call.messages if each["method"] == "elicitation/create"]
        answer = {"jsonrpc": "2.0", "id": question["id"], "result": {"action": "decline"}}
        await browser.start("POST", answer).over()
        *_, left_out, last = (await call.over()).messages
    assert "log messages were left out" in left_out["params"]["data"]
    assert last["result"]["content"][0]["text"] == "decline"


@pytest.mark.parametrize("when", ["begun before", "begun behind"])
async def test_what_is_asked_behind_the_answer_opens_no_stream(
    stepping: Stepping, when: str
) -> None:
    asked: list[asyncio.Task[object]] = []

    @stepping.server.tool
    async def leave(context: Context) -> str:
        async def ask() -> object:
            await answered.wait()
            return await context.elicit("Still there?", bool)

        question = context.elicit("Still there?", bool) if when == "begun before" else ask()
        asked.append(asyncio.create_task(question))
        return "done"

    answered = asyncio.Event()
    async with Browser(stepping.application, capabilities={"elicitation": {}}) as browser:
        left = await browser.post("tools/call", id=9, name="leave", arguments={}).over()
        assert left.json["result"]["structuredContent"] == {"result": "done"}
        answered.set()
        with pytest.raises(AskError):
            await asyncio.wait_for(asked[0], PATIENCE)
        assert stepping.kept == 0


async def test_what_a_middleware_has_done_behind_the_answer_opens_no_stream(
    stepping: Stepping,
) -> None:
    late: list[asyncio.Task[object]] = []

    @stepping.server.middleware
    async def answer_early(
        request: MiddlewareRequest, proceed: Proceed
    ) -> MiddlewareAnswer | dict[str, Any]:
        if request.method != "tools/call":
            return await proceed(request)

        async def go_on() -> object:
            await answered.wait()
            return await proceed(request)

        late.append(asyncio.create_task(go_on()))
        return {"content": [{"type": "text", "text": "early"}]}

    answered = asyncio.Event()
    async with stepping.browser() as browser:
        early = await stepping.call(browser).over()
        assert early.json["result"]["content"][0]["text"] == "early"
        answered.set()
        for step in ("one", "hang up", "done"):
            stepping.steps.put_nowait(step)
        await asyncio.wait_for(late[0], PATIENCE)
        assert stepping.kept == 0
