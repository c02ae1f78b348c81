"""The demo server for clients that we did not write, and what each of them reported of it."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
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
def visit(demo: Demo) -> Visit:
    """Return what gives the report of a peer over a transport, made once."""

    @functools.cache
    def report(peer: visits.Peer, transport: str) -> Json:
        return visits.visit(peer, transport, demo(transport))

    return report
