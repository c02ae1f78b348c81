"""Servers that are hostile before anything was listed or called."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from patience import PATIENCE

from anyshape.client import Bounds, Client
from anyshape.errors import AnyshapeError, ProtocolError, TransportError

pytestmark = pytest.mark.usefixtures("unheld")

Open = Callable[..., contextlib.AbstractAsyncContextManager[Client]]
SCRIPT = Path(__file__).parent / "hostile_server.py"


async def open_once(variant: str, revision: str = "auto", timeout: float = PATIENCE) -> None:
    command = [sys.executable, str(SCRIPT), "stdio", variant]
    bounds = Bounds(probe_timeout=timeout)
    async with Client(command, revision=revision, timeout=timeout, bounds=bounds):
        pass


async def test_a_mute_process_fails_with_the_time_limit() -> None:
    with pytest.raises(TransportError, match="no answer to initialize within 1"):
        await open_once("mute", timeout=1)


async def test_a_mute_http_server_fails_with_the_time_limit(open_http_client: Open) -> None:
    with pytest.raises(TransportError, match="no answer"):
        async with open_http_client("mute", timeout=0.5):
            pass


async def test_a_process_that_ends_at_once_fails_with_its_status() -> None:
    with pytest.raises(TransportError, match="exit status 3"):
        await open_once("exits_at_once")


async def test_a_command_that_does_not_exist_says_so() -> None:
    with pytest.raises(TransportError, match="cannot start"):
        async with Client(["/no/such/program"]):
            pass


@pytest.mark.parametrize(
    "found",
    [
        {},
        {"supportedVersions": "2026-07-28"},
        {"supportedVersions": None},
        {"supportedVersions": [["2026-07-28"], 5]},
        {"supportedVersions": ["zzz", "9999-12-31"]},
        {"supportedVersions": []},
    ],
)
async def test_a_strange_discovery_ends_in_an_error(found: object) -> None:
    with pytest.raises(AnyshapeError):
        await open_once("discover:" + json.dumps(found))


async def test_strange_things_about_oneself_are_ignored(open_client: Open) -> None:
    found = {
        "supportedVersions": ["2026-07-28", 7],
        "capabilities": [],
        "instructions": 5,
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": 5, "version": None}},
    }
    async with open_client("discover:" + json.dumps(found)) as client:
        assert client.server.name is None
        assert client.server.instructions is None
        assert client.server.capabilities == {}
        assert await client.call("good", returns=int) == 42


@pytest.mark.parametrize("version", ["zzz", "2026-07-28", "", 5, None])
async def test_an_unknown_revision_in_the_handshake_is_refused(version: object) -> None:
    with pytest.raises(ProtocolError, match="protocol version"):
        await open_once("initialize:" + json.dumps({"protocolVersion": version}), "2025-11-25")


async def test_another_revision_than_the_one_asked_for_is_refused() -> None:
    answered = "initialize:" + json.dumps({"protocolVersion": "2025-06-18"})
    with pytest.raises(ProtocolError, match="2025-06-18"):
        await open_once(answered, "2025-11-25")


async def test_a_process_that_dies_of_the_probe_is_tried_with_the_handshake() -> None:
    with pytest.raises(AnyshapeError, match="Method not found"):
        await open_once("discover:crash")


async def test_garbage_after_the_probe_leads_to_the_handshake() -> None:
    with pytest.raises(AnyshapeError, match="Method not found"):
        await open_once("discover:garbage", timeout=1)
