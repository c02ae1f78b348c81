"""How often tools may be called: by whom, how many at once, and what callers are told of it."""

from __future__ import annotations

from typing import Any, cast

import pytest

from anyshape import Client, ProtocolError, Server
from anyshape.errors import RateLimited
from anyshape.protocol.revision import RELEASED
from anyshape.server import (
    AccessToken,
    Authorization,
    HttpOptions,
    MiddlewareAnswer,
    MiddlewareRequest,
    Proceed,
    RateLimit,
)

from .asking import Asker
from .visiting import Visit, call


class Clock:
    """A time that passes when it is told to."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    """The time of a test."""
    return Clock()


def limited(*limits: RateLimit) -> Server:
    server = Server("limited")

    @server.tool
    async def work() -> int:
        return 1

    @server.tool
    async def play() -> int:
        return 2

    for limit in limits:
        server.middleware(limit)
    return server


async def outcomes(asker: Asker, number: int, name: str = "work") -> list[bool]:
    """Return which of so many calls were served."""
    served: list[bool] = []
    for _ in range(number):
        result = await asker.result("tools/call", name=name)
        served.append(not result.get("isError", False))
    return served


@pytest.mark.behaviour("tools.call.rate-limited")
@pytest.mark.parametrize("revision", [str(revision) for revision in RELEASED])
async def test_a_call_too_many_is_refused_in_words_a_model_can_act_on(
    clock: Clock, revision: str
) -> None:
    asker = Asker(limited(RateLimit(2, per="minute", clock=clock)), revision)
    assert await outcomes(asker, 2) == [True, True]
    clock.now += 12.5
    refused = await asker.result("tools/call", name="work")
    assert refused["isError"] is True
    assert refused["content"] == [
        {
            "type": "text",
            "text": "Too many calls of work, at most 2 per minute are allowed; "
            "try again in 18 seconds",
        }
    ]
    clock.now += 18
    assert await outcomes(asker, 2) == [True, False]


@pytest.mark.behaviour("tools.call.rate-limited")
@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
async def test_over_http_it_is_refused_by_status(clock: Clock, revision: str) -> None:
    application = limited(RateLimit(1, per="hour", clock=clock)).asgi()

    def visit() -> Visit:
        if revision == "2026-07-28":
            return call("work")
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "work"}}
        return Visit(body, headers={"mcp-protocol-version": revision})

    assert (await visit().to(application)).status == 200
    reply = await visit().to(application)
    assert (reply.status, reply.headers["retry-after"]) == (429, "3600")
    assert reply.json == {
        "jsonrpc": "2.0",
        "id": 1,
        "error": {
            "code": 429,
            "message": "Too many calls of work, at most 1 per hour are allowed; "
            "try again in 3600 seconds",
            "data": {"retryAfter": 3600},
        },
    }


async def test_in_a_batch_one_call_too_many_costs_only_itself(clock: Clock) -> None:
    application = limited(RateLimit(2, per="hour", clock=clock)).asgi()
    params = {"name": "work"}
    batch = [
        {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params} for id in range(3)
    ]
    reply = await Visit(batch, headers={"mcp-protocol-version": "2025-03-26"}).to(application)
    assert reply.status == 200
    assert [each["result"].get("isError", False) for each in reply.json] == [False, False, True]


async def test_tools_and_callers_are_counted_apart(clock: Clock) -> None:
    server = limited(RateLimit(1, clock=clock))
    one, other = Asker(server), Asker(server)
    assert await outcomes(one, 2) == [True, False]
    assert await outcomes(other, 2) == [True, False]
    assert await outcomes(one, 2, "play") == [True, False]


async def test_only_the_tools_that_are_named_are_limited(clock: Clock) -> None:
    asker = Asker(limited(RateLimit(1, tools=["play"], clock=clock)))
    assert await outcomes(asker, 5) == [True] * 5
    assert await outcomes(asker, 2, "play") == [True, False]


async def test_limits_can_be_combined(clock: Clock) -> None:
    limits = RateLimit(1, per="second", clock=clock), RateLimit(3, per="day", clock=clock)
    asker = Asker(limited(*limits))
    served: list[bool] = []
    for _ in range(5):
        served += await outcomes(asker, 1)
        clock.now += 1
    assert served == [True, True, True, False, False]


async def test_a_burst_is_as_large_as_it_is_said_to_be(clock: Clock) -> None:
    asker = Asker(limited(RateLimit(60, per="minute", burst=2, clock=clock)))
    assert await outcomes(asker, 4) == [True, True, False, False]
    clock.now += 1
    assert await outcomes(asker, 2) == [True, False]
    clock.now += 1000
    assert await outcomes(asker, 3) == [True, True, False]


async def test_seconds_can_be_given_as_a_number(clock: Clock) -> None:
    asker = Asker(limited(RateLimit(1, per=2.5, clock=clock)))
    assert await outcomes(asker, 1) == [True]
    clock.now += 2.4
    assert await outcomes(asker, 1) == [False]
    clock.now += 0.11
    assert await outcomes(asker, 1) == [True]


class Names:
    """Takes a token for the name of whoever brings it."""

    async def verify(self, token: str) -> AccessToken:
        return AccessToken(subject=token)


async def test_over_http_callers_are_told_apart_by_their_tokens(clock: Clock) -> None:
    resource = "https://mcp.example.com/mcp"
    authorization = Authorization(Names(), resource, ("https://issuer.example.com",))
    server = limited(RateLimit(1, clock=clock))
    application = server.asgi(HttpOptions(authorization=authorization))
    statuses = [
        (await call("work", headers={"authorization": f"Bearer {who}"}).to(application)).status
        for who in ("ada", "ada", "bob", "bob")
    ]
    assert statuses == [200, 429, 200, 429]


def _from(address: str | None) -> Visit:
    visit = call("work")
    visit.scope["client"] = None if address is None else (address, 5)
    return visit


async def test_over_http_those_without_a_token_are_one_caller(clock: Clock) -> None:
    application = limited(RateLimit(1, clock=clock)).asgi()
    statuses = [(await _from(each).to(application)).status for each in ("10.0.0.1", "10.0.0.2")]
    assert statuses == [200, 429]


async def test_they_are_told_apart_by_address_if_that_is_asked_for(clock: Clock) -> None:
    application = limited(RateLimit(1, by="address", clock=clock)).asgi()
    addresses = ("10.0.0.1", "10.0.0.2", "10.0.0.1", "2001:db8::1", "2001:db8::ffff:1", "x:y", None)
    statuses = [(await _from(each).to(application)).status for each in addresses]
    assert statuses == [200, 200, 429, 200, 429, 200, 200]


async def test_a_function_may_tell_callers_apart(clock: Clock) -> None:
    def client_name(request: MiddlewareRequest) -> str:
        return (request.client or {}).get("name", "")

    asker = Asker(limited(RateLimit(1, by=client_name, clock=clock)))
    served: list[bool] = []
    for name in ("a", "b", "a"):
        info = {"io.modelcontextprotocol/clientInfo": {"name": name, "version": "1"}}
        result = await asker.result("tools/call", name="work", _meta=info)
        served.append(not result.get("isError", False))
    assert served == [True, True, False]


async def test_what_is_remembered_is_bounded(clock: Clock) -> None:
    limit = RateLimit(1, per="day", max_buckets=3, clock=clock)
    assert [limit.wait(key) == 0 for key in "abca"] == [True, True, True, False]
    assert limit.wait("d") == 0  # For which "b", the one used least recently, is forgotten.
    assert [limit.wait(key) == 0 for key in "acdb"] == [False, False, False, True]


async def test_tools_that_are_not_there_take_no_room(clock: Clock) -> None:
    asker = Asker(limited(RateLimit(1, max_buckets=1, clock=clock)))
    assert await outcomes(asker, 2) == [True, False]
    for number in range(5):
        error = await asker.error("tools/call", name=f"none{number}")
        assert error["code"] == -32602
    assert await outcomes(asker, 1) == [False]


async def test_nothing_but_calls_is_limited(clock: Clock) -> None:
    asker = Asker(limited(RateLimit(1, clock=clock)))
    await outcomes(asker, 2)
    for _ in range(5):
        await asker.result("tools/list")


async def test_a_policy_of_ones_own_refuses_in_the_same_way() -> None:
    server = limited()

    @server.middleware
    async def closed(request: MiddlewareRequest, proceed: Proceed) -> MiddlewareAnswer:
        if request.method in ("tools/call", "prompts/list"):
            raise RateLimited("We are closed", retry_after=0.2)
        return await proceed(request)

    server.prompt(name="nothing")(lambda: "nothing")
    async with Client(server) as client:
        result = await client.call_tool("work")
        assert result.is_error
        assert result.text == "We are closed; try again in 1 second"
        with pytest.raises(ProtocolError) as caught:
            await client.list_prompts()
    assert caught.value.code == 429


@pytest.mark.parametrize(
    "settings",
    [
        {"calls": 0},
        {"calls": 1, "per": "fortnight"},
        {"calls": 1, "per": 0},
        {"calls": 1, "burst": 0},
        {"calls": 1, "max_buckets": 0},
        {"calls": 1, "by": "moon"},
    ],
)
def test_a_limit_that_makes_no_sense_is_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="has to be"):
        RateLimit(**settings)


def test_one_name_is_no_collection_of_names() -> None:
    with pytest.raises(TypeError, match="write tools="):
        RateLimit(1, tools=cast("Any", "work"))


async def test_a_new_connection_has_nothing_to_do_with_one_that_is_gone(clock: Clock) -> None:
    server = Server("limited")
    server.middleware(RateLimit(1, per="hour", clock=clock))

    @server.tool
    async def ping() -> str:
        return "pong"

    for _ in range(50):
        async with Client(server) as client:
            assert (await client.call_tool("ping")).value == "pong"
            assert (await client.call_tool("ping")).is_error
