"""The short form of `make soak`: a few laps of mixed traffic leave nothing behind."""

from __future__ import annotations

from .soak import soak


async def test_a_few_laps_of_mixed_traffic_lose_no_call_and_leave_nothing_open() -> None:
    found = await soak(0, least=3)
    assert found.laps == 3
    assert found.faults() == []
