"""The short forms of `make load`: whatever a crowd does, each call has one answer, and all ends."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from .load import SHORT, annoy, ask, crowd, flood_listings, listen
from .programs import Program, run_front
from .traffic import GOOD, number_of

Front = tuple[Program, ...]
ROOM = 64.0
"""MiB that a process may hold more than at rest: an answer for each of those who do not read it."""


@pytest.fixture(scope="module", params=["server", "gateway"])
def front(request: pytest.FixtureRequest) -> Generator[Front]:
    """A server, or a gateway and the server behind it, that all tests here load in turn."""
    with run_front(request.param, WORKSHOP_TOOLS="200") as programs:
        yield programs


async def test_every_call_of_a_crowd_is_answered_exactly_once(front: Front) -> None:
    found = [await crowd(front, SHORT, seed) for seed in range(SHORT.rounds)]
    for each in found:
        assert each.answered_once
        assert set(each.outcomes) == {"right"}
        assert each.done == number_of(each.calls, GOOD)
        assert each.bystander.median < each.seconds / 2
    for first, last in zip(found[0].vitals, found[-1].vitals, strict=True):
        assert last.memory < first.memory + ROOM
        assert last.children == first.children


@pytest.mark.parametrize("kind", ["server", "gateway"])
async def test_a_crowd_that_is_too_large_is_refused_as_busy_and_all_is_well_afterwards(
    kind: str,
) -> None:
    # One batch alone has more calls that wait than that, however fast or slow the machine is.
    with run_front(kind, WORKSHOP_CALLS="4") as programs:
        found = await crowd(programs, SHORT)
        assert found.answered_once
        assert set(found.outcomes) == {"right", "busy"}
        assert set(found.refused) <= {503}
        assert found.done == found.good
        for number in range(20):
            assert await ask(programs[0].port, "wait", number=number) == number


async def test_clients_that_stop_in_the_middle_are_given_up_and_others_do_not_wait(
    front: Front,
) -> None:
    found = await annoy(front, SHORT)
    assert found.during.descriptors > found.before.descriptors
    assert found.bystander.median < found.seconds / 10


async def test_listings_that_nobody_reads_fill_no_memory(front: Front) -> None:
    found = await flood_listings(front, SHORT)
    assert found.peak < found.first + ROOM
    assert found.bystander.median < found.seconds / 4


async def test_idle_listeners_of_both_eras_hear_of_a_change_once_and_leave_nothing(
    front: Front,
) -> None:
    found = await listen(front, SHORT)
    assert found.heard == {"session": SHORT.listeners // 2, "subscription": SHORT.listeners // 2}
    assert found.after.memory < found.before.memory + ROOM
