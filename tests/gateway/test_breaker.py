"""The circuit breaker: an upstream that keeps failing is left alone, and tried again."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from anyshape.errors import ToolError, TransportError
from anyshape.gateway.breaker import Breaker, BreakerOptions
from anyshape.gateway.refusal import UpstreamRefusal


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def call(breaker: Breaker, error: BaseException | None = None) -> None:
    permit = breaker.admit()
    if error is None:
        with permit:
            return
    with pytest.raises(type(error)), permit:
        raise error


def fail(breaker: Breaker, times: int = 1) -> None:
    for _ in range(times):
        call(breaker, TransportError("gone"))


def refused(breaker: Breaker) -> UpstreamRefusal:
    with pytest.raises(UpstreamRefusal) as caught:
        call(breaker)
    return caught.value


def test_enough_failures_among_the_last_calls_open_it(clock: Clock) -> None:
    breaker = Breaker("sums", BreakerOptions(failures=3, of=4), clock=clock)
    for _ in range(5):
        fail(breaker, 2)
        call(breaker)
        call(breaker)
    assert breaker.state == "closed"
    fail(breaker, 2)
    assert breaker.state == "closed"
    fail(breaker)
    assert breaker.state == "open"


def test_an_upstream_that_fails_half_the_time_is_noticed_too(clock: Clock) -> None:
    breaker = Breaker("sums", BreakerOptions(failures=5, of=10), clock=clock)
    for _ in range(5):
        call(breaker)
        fail(breaker)
    assert breaker.state == "open"


def test_an_open_one_refuses_at_once_and_says_what_to_do(clock: Clock) -> None:
    breaker = Breaker("sums", BreakerOptions(failures=2, of=2, pause=30), clock=clock)
    fail(breaker, 2)
    clock.now += 10
    refusal = refused(breaker)
    assert (refusal.upstream, refusal.limit, refusal.retry_after) == ("sums", "breaker", 20)
    assert "'sums'" in str(refusal)
    assert "try again in 20 seconds" in str(refusal)


def test_after_the_pause_one_call_is_the_probe_and_its_success_closes_it(clock: Clock) -> None:
    breaker = Breaker("sums", BreakerOptions(failures=2, of=2, pause=30), clock=clock)
    fail(breaker, 2)
    clock.now += 30
    with breaker.admit():
        assert breaker.state == "half-open"
        refused(breaker)
    assert breaker.state == "closed"
    fail(breaker)
    assert breaker.state == "closed", "what was before it opened is forgotten"


def test_an_upstream_that_says_something_in_the_middle_of_a_probe_works(clock: Clock) -> None:
    breaker = Breaker("sums", BreakerOptions(failures=2, of=2, pause=30), clock=clock)
    breaker.hear()
    fail(breaker, 2)
    breaker.hear()
    assert breaker.state == "open", "what was said before it opened is no answer"
    clock.now += 30
    with breaker.admit():
        breaker.hear()
        assert breaker.state == "closed"


def test_a_probe_that_fails_makes_the_next_pause_twice_as_long(clock: Clock) -> None:
    options = BreakerOptions(failures=1, of=1, pause=10, longest_pause=25)
    breaker = Breaker("sums", options, clock=clock)
    fail(breaker)
    for pause in (10, 20, 25, 25):
        clock.now += pause - 1
        assert refused(breaker).retry_after == pytest.approx(1)
        clock.now += 1
        fail(breaker)
        assert breaker.state == "open"
    clock.now += 25
    call(breaker)
    fail(breaker)
    assert refused(breaker).retry_after == 10


def test_a_probe_that_nobody_waited_for_leaves_its_place_to_another(clock: Clock) -> None:
    breaker = Breaker("sums", BreakerOptions(failures=1, of=1, pause=10), clock=clock)
    fail(breaker)
    clock.now += 10
    call(breaker, asyncio.CancelledError())
    assert breaker.state == "half-open"
    call(breaker)
    assert breaker.state == "closed"


def test_calls_that_nobody_waited_for_do_not_count(clock: Clock) -> None:
    breaker = Breaker("sums", BreakerOptions(failures=2, of=2), clock=clock)
    fail(breaker)
    call(breaker, asyncio.CancelledError())
    assert breaker.state == "closed"
    fail(breaker)
    assert breaker.state == "open"


@pytest.mark.parametrize("error", [TransportError("x"), TimeoutError(), OSError("x")])
def test_silence_and_broken_connections_are_failures(clock: Clock, error: Exception) -> None:
    breaker = Breaker("sums", BreakerOptions(failures=1, of=1), clock=clock)
    call(breaker, error)
    assert breaker.state == "open"


def test_a_tool_that_fails_is_no_failure_of_its_upstream(clock: Clock) -> None:
    breaker = Breaker("sums", BreakerOptions(failures=1, of=1), clock=clock)
    call(breaker, ToolError("no such sum"))
    assert breaker.state == "closed"


def test_the_outcome_of_a_call_from_before_does_not_count(clock: Clock) -> None:
    breaker = Breaker("sums", BreakerOptions(failures=1, of=1, pause=10), clock=clock)
    late, later = breaker.admit(), breaker.admit()
    fail(breaker)
    with late:
        pass
    assert breaker.state == "open"
    clock.now += 10
    probe = breaker.admit()
    with pytest.raises(TransportError), later:
        raise TransportError("gone")
    assert breaker.state == "half-open"
    with probe:
        pass
    assert breaker.state == "closed"


@pytest.mark.parametrize(
    "options",
    [{"failures": 0}, {"failures": 11}, {"pause": 0}, {"pause": 200}, {"probes": -1}],
    ids=str,
)
def test_options_that_mean_nothing_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="expected"):
        BreakerOptions(**options)
