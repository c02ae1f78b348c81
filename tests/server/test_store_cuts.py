"""A store that is cut off at every single command: nothing hangs, nothing is lost in silence."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias, get_args

import pytest
from patience import PATIENCE, turn_until

from .browsing import Browser, Response
from .cutting_store import CuttingStore, Moment
from .redis_process import RedisProcess
from .test_replicas import ACCEPTED, Site, about, call, running, yes


def of_requests(name: str) -> bool:
    """Tell whether a command is sent for a request."""
    return not of_readers(name) and name not in {"CLIENT", "SELECT"}


def of_readers(name: str) -> bool:
    """Tell whether a command is of those who wait for news."""
    return name in {"XREAD", "XREVRANGE"}


def is_settled(site: Site) -> bool:
    """Tell whether both replicas are linked, and have told what they had to tell."""
    links = site.one.link, site.two.link
    return all(link.is_linked and not link._unsent and not link._tasks for link in links)


Scenario: TypeAlias = Callable[[Site], Awaitable[None]]


async def answer_a_question(site: Site) -> None:
    """Have a tool of one replica ask, and answer at the other one."""
    async with site.session(capabilities={"elicitation": {}}) as (here, there):
        asked = call(here, "ask")
        (question,) = await asked.heard()
        await post(there, yes(question))
        await asked.over()
        assert asked.messages[-1]["result"]["structuredContent"] == ACCEPTED


async def hear_of_a_change(site: Site) -> None:
    """Subscribe at one replica, listen at the other one, and change something at the first."""
    async with site.session() as (here, there):
        uri = f"note:{secrets.token_hex(4)}"
        body = {"jsonrpc": "2.0", "id": 1, "method": "resources/subscribe"}
        await post(here, {**body, "params": {"uri": uri}})
        stream = await there.listen()
        site.one.server.resource_changed(uri)
        await turn_until(lambda: about(uri) in stream.messages)


async def cancel_a_call(site: Site) -> None:
    """Cancel at one replica what the other one does."""
    async with site.session() as (here, there):
        site.one.stopped.clear()
        waiting = call(here, "work")
        site.one.steps.put_nowait("one")
        await waiting.heard()
        cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled"}
        await post(there, {**cancelled, "params": {"requestId": 9}})
        await waiting.over()
        await asyncio.wait_for(site.one.stopped.wait(), PATIENCE)


async def end_a_session(site: Site) -> None:
    """End a session at one replica; the other one knows."""
    async with site.session() as (here, there):
        stream = await there.listen()
        await insist(here.end)
        await stream.over()
        assert (await there.ask("ping")).status == 404


async def fetch_the_rest_of_a_reply(site: Site) -> None:
    """Have a call that was cut off go on at the other replica."""
    async with site.session() as (here, there):
        waiting = call(here, "work")
        site.one.steps.put_nowait("one")
        await waiting.heard()
        await waiting.hang_up()
        rest = await insist(lambda: there.start("GET", last_event_id=waiting.last_id).begun())
        for step in ("two", "three", "done"):
            site.one.steps.put_nowait(step)
        await rest.over()
        steps = [each["params"]["message"] for each in rest.messages[:-1]]
        assert steps == ["two", "three"]
        assert rest.messages[-1]["result"]["structuredContent"] == {"result": "done"}


async def post(browser: Browser, body: Any) -> None:
    """Send a message until it is taken."""
    await insist(lambda: browser.start("POST", body).over())


async def insist(ask: Callable[[], Awaitable[Response]]) -> Response:
    """Ask until something else comes than that it is too early: what is not done is said."""
    async with asyncio.timeout(PATIENCE):
        while (response := await ask()).status == 503:
            assert response.headers["retry-after"]
            await asyncio.sleep(0.01)
    assert response.status in {200, 202, 204}
    return response


@pytest.mark.parametrize("moment", get_args(Moment))
@pytest.mark.parametrize(
    "scenario",
    [
        answer_a_question,
        hear_of_a_change,
        cancel_a_call,
        end_a_session,
        fetch_the_rest_of_a_reply,
    ],
)
@pytest.mark.parametrize("counts", [of_requests, of_readers])
async def test_nothing_is_lost_at_whichever_command_the_store_is_cut_off(
    redis: RedisProcess, scenario: Scenario, counts: Callable[[str], bool], moment: Moment
) -> None:
    store = CuttingStore(redis.port)
    async with (
        store.open() as port,
        running(f"redis://127.0.0.1:{port}/0", secrets.token_hex(4)) as site,
    ):
        at = 0
        while at == 0 or store.has_cut:
            await turn_until(lambda: is_settled(site))
            store.cut(at, moment, counts)
            await scenario(site)
            at += 1
        assert at > 1
