"""The garbage collector while a process runs a gateway."""

from __future__ import annotations

import gc
from collections.abc import Generator

import pytest

from anyshape.gateway.collection import relaxed_collector


@pytest.fixture(autouse=True)
def _as_before() -> Generator[None]:
    before = gc.get_threshold()
    gc.unfreeze()
    yield
    gc.enable()
    gc.set_threshold(*before)
    gc.unfreeze()


async def test_what_was_loaded_is_left_alone_until_the_gateway_ends() -> None:
    gc.set_threshold(700, 10, 10)
    async with relaxed_collector():
        assert gc.get_freeze_count() > 0
        assert gc.get_threshold()[0] > 700
    assert gc.get_freeze_count() == 0
    assert gc.get_threshold() == (700, 10, 10)


@pytest.mark.parametrize("first", [0, 50_000])
async def test_a_process_that_was_set_up_otherwise_stays_so(first: int) -> None:
    gc.set_threshold(first, 5, 5)
    async with relaxed_collector():
        assert gc.get_freeze_count() == 0
        assert gc.get_threshold()[0] == first


async def test_a_process_without_a_collector_gets_none() -> None:
    gc.disable()
    async with relaxed_collector():
        assert not gc.isenabled()
        assert gc.get_freeze_count() == 0
