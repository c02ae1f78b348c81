"""A server that wants tokens, for each test."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from locked_server import World, locked_server


@pytest.fixture
async def world() -> AsyncIterator[World]:
    """Serve a world of its own to each test."""
    async with locked_server() as made:
        yield made
