"""The demo server for clients that we did not write, and what each of them reported of it."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

# The modules beside this file are also a program (`make peers`), so they import each other by name.
sys.path.append(str(Path(__file__).resolve().parent))

import visits

Json = dict[str, Any]
Demo = Callable[[str], Json]
Visit = Callable[[visits.Peer, str], Json]


@pytest.fixture(scope="session")
def demo() -> Iterator[Demo]:
    """Return what gives the target of the demo server over a transport."""
    with visits.demo_over_http() as http:
        targets: dict[str, Json] = {"stdio": visits.STDIO, "http": http}
        yield targets.__getitem__


@pytest.fixture(scope="session")
def visit(demo: Demo, request: pytest.FixtureRequest) -> Iterator[Visit]:
    """Return what gives the report of a peer over a transport, made once.

    Those that the tests of this run will ask for are made ahead of them, two at a time.
    """
    wanted = dict.fromkeys(
        (item.callspec.params["peer"], item.callspec.params["transport"])
        for item in request.session.items
        if isinstance(item, pytest.Function)
        and "visit" in item.fixturenames
        and hasattr(item, "callspec")
        and "peer" in item.callspec.params
    )
    with ThreadPoolExecutor(max_workers=2) as pool:

        @functools.cache
        def begin(peer: visits.Peer, transport: str) -> Future[Json]:
            return pool.submit(visits.visit, peer, transport, demo(transport))

        for pair in wanted:
            begin(*pair)
        yield lambda peer, transport: begin(peer, transport).result()
        pool.shutdown(cancel_futures=True)
