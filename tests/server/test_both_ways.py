"""Whatever is sent, a server that goes past uvicorn's events says what one says that does not."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from .both_ways import HOSTS, count_past, difference, serving


@pytest.mark.parametrize("host", HOSTS)
def test_both_ways_give_the_same_bytes_and_the_same_end(host: str) -> None:
    with serving(host) as ports, ThreadPoolExecutor(16) as pool:
        found = pool.map(partial(difference, ports), range(150))
        assert [said for said in found if said is not None] == []
        past, through = map(count_past, ports)
    assert past > 0
    assert through == 0
