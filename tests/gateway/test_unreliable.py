"""An upstream that does everything wrong, in the middle of many calls; and one with many tools."""

from __future__ import annotations

import asyncio
import logging
import os
import random
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from patience import PATIENCE, PAUSE, turn_until

from anyshape import Client, Server, Tool
from anyshape.client import Elicitation
from anyshape.errors import AnyshapeError
from anyshape.gateway import BreakerOptions, Gateway, Upstream
from anyshape.gateway import upstream as upstream_module
from anyshape.server import ServerOptions

UNRELIABLE = [sys.executable, str(Path(__file__).parent / "unreliable.py")]
HARMLESS = ["", "flood", "wrong id", "twice", "garbage", "change", "ask"]
"""What an upstream may do and still answer."""
WRONG = ["no result", "wrong shape", "array", "wrong value", "error", "deep"]
"""What makes an answer one that cannot be used; others are not touched by it."""
CALLS = int(os.environ.get("UNRELIABLE_CALLS", "1500"))
"""`make load` asks for 10,000."""


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upstream_module, "_FIRST_DELAY", 0.01)
    monkeypatch.setattr(upstream_module, "_STEADY", 0.0)


@pytest.fixture
def steady() -> Server:
    server = Server("steady")

    @server.tool
    async def ping() -> str:
        return "pong"

    return server


async def answer_of(client: Client, how: str, n: int) -> str:
    """Tell what a call came to; one that is never answered fails the test."""
    try:
        async with asyncio.timeout(PATIENCE):
            result = await client.call_tool("bad_work", {"how": how, "n": n})
    except AnyshapeError:
        return "error"
    if result.is_error:
        return "error"
    return "right" if result.value == {"n": n} else "wrong"


@pytest.fixture
def bad() -> Upstream:
    return Upstream(
        target=UNRELIABLE,
        revision="2025-11-25",
        timeout=2.0,
        breaker=BreakerOptions(failures=10_000, of=10_000),
    )


async def test_every_call_is_answered_once_whatever_an_upstream_does(
    bad: Upstream, steady: Server, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)
    choose = random.Random(16).choices
    gateway = Gateway({"bad": replace(bad, timeout=PATIENCE), "steady": steady})
    async with Client(gateway, check_results=False) as client:
        link, before = gateway.upstreams["bad"], len(asyncio.all_tasks())
        for start in range(0, CALLS, 50):
            await turn_until(lambda: link.is_up, PAUSE)
            kinds = choose([*HARMLESS, *WRONG], [20] + [1] * 12, k=50)
            if start % 250 == 200:
                kinds[25] = "die" if start % 500 == 200 else "huge"
            answers, pongs = await asyncio.gather(
                asyncio.gather(*(answer_of(client, how, start + n) for n, how in enumerate(kinds))),
                asyncio.gather(*(client.call_tool("steady_ping") for _ in kinds)),
            )
            assert {pong.value for pong in pongs} == {"pong"}
            if kinds[25] not in ("die", "huge"):
                expected = ["right" if how in HARMLESS else "error" for how in kinds]
                assert answers == expected
            else:
                assert answers[25] == "error"
                assert "wrong" not in answers
        await turn_until(lambda: link.is_up, PAUSE)
        assert await answer_of(client, "", 7) == "right"
        assert link.health.in_flight == link.health.waiting == 0
        await turn_until(lambda: len(asyncio.all_tasks()) <= before + 1, PAUSE)


async def test_a_call_that_hangs_costs_no_other_call(bad: Upstream, steady: Server) -> None:
    gateway = Gateway({"bad": replace(bad, timeout=0.5), "steady": steady})
    async with Client(gateway, check_results=False) as client:
        link = gateway.upstreams["bad"]
        hanging = [asyncio.create_task(answer_of(client, "hang", n)) for n in range(3)]
        answers = [await answer_of(client, "", n) for n in range(200)]
        assert [await each for each in hanging] == ["error"] * 3
        answers += [await answer_of(client, "", n) for n in range(200)]
        assert answers == ["right"] * 400
        assert link.is_up


async def test_a_call_that_is_given_up_leaves_nothing_behind(bad: Upstream) -> None:
    gateway = Gateway({"bad": bad, "other": Server("other")})
    async with Client(gateway) as client:
        await client.list_tools()
        link, before = gateway.upstreams["bad"], len(asyncio.all_tasks())
        calls = [asyncio.create_task(answer_of(client, "hang", n)) for n in range(20)]
        await turn_until(lambda: link.health.in_flight == 20, PAUSE)
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        await turn_until(lambda: link.health.in_flight == 0, PAUSE)
        await turn_until(lambda: len(asyncio.all_tasks()) <= before, PAUSE)
        assert await answer_of(client, "", 3) == "right"


@pytest.mark.parametrize("front", ["2026-07-28", "2025-11-25"])
async def test_a_question_that_is_open_when_the_upstream_dies_ends_with_the_call(
    bad: Upstream, front: str
) -> None:
    gateway = Gateway({"bad": bad, "other": Server("other")})

    async def answer(_question: Elicitation) -> Any:
        async with Client(gateway) as other:
            assert await answer_of(other, "die", 0) == "error"
        return "decline"

    async with Client(gateway, revision=front, on_elicit=answer) as client:
        link, before = gateway.upstreams["bad"], len(asyncio.all_tasks())
        assert await answer_of(client, "ask and wait", 1) == "error"
        await turn_until(lambda: link.is_up, PAUSE)
        assert link.health.in_flight == 0
        assert await answer_of(client, "", 2) == "right"
        await turn_until(lambda: len(asyncio.all_tasks()) <= before + 1, PAUSE)


async def test_an_upstream_that_came_back_may_ask_at_once(bad: Upstream) -> None:
    gateway = Gateway({"bad": replace(bad, timeout=0.5), "other": Server("other")})
    asked: list[str] = []

    def answer(question: Elicitation) -> Any:
        asked.append(question.message)
        return "decline"

    async with Client(gateway, on_elicit=answer) as client:
        link = gateway.upstreams["bad"]
        assert await answer_of(client, "die", 0) == "error"
        await turn_until(lambda: not link.is_up, PAUSE)
        await turn_until(lambda: link.is_up, PAUSE)
        await answer_of(client, "ask and wait", 1)
    assert asked == ["Go on?"]


def _same(given: dict[str, Any]) -> dict[str, Any]:
    return given


async def test_ten_thousand_tools_cost_a_call_no_more_than_ten() -> None:
    async def seconds(tools: int) -> float:
        server = Server("large", options=ServerOptions(page_size=5_000))
        schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
        for number in range(tools):
            server.add_tool(Tool(name=f"tool{number}", handler=_same, input_schema=schema))
        gateway = Gateway({"large": server, "other": Server("other")}, patience=PATIENCE)
        async with Client(gateway, listen=False) as client:
            await client.list_tools()
            best = float("inf")
            for _ in range(5):
                start = time.process_time()
                for number in range(50):
                    await client.call_tool(f"large_tool{number % tools}", {"n": number})
                best = min(best, time.process_time() - start)
        return best

    assert await seconds(10_000) < 3 * await seconds(10)
