"""Servers of both eras that are slow, break over the first question, or were met before."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from aiohttp import web

from anyshape import Client
from anyshape.client import Bounds, eras

if TYPE_CHECKING:
    from .conftest import Refusal, Scripted, ServeHttp

Json = dict[str, Any]

# This and `break_over_the_probe` below behave as real servers on `mcp` 1.2 to 1.8 were seen to;
# installing those would take too long here.
DIES_OF_UNKNOWN_METHODS = """
import json, os, sys

starts = open(sys.argv[1], "a")
print("started", file=starts, flush=True)
for line in sys.stdin:
    message = json.loads(line)
    print(message["method"], file=starts, flush=True)
    if message["method"] == "server/discover":
        sys.stdin.readline()  # dead already, but the thread that reads lets go only of a line
        os._exit(1)
    result = {"tools": []}
    if message["method"] == "initialize":
        result = {"protocolVersion": "2024-11-05", "capabilities": {"tools": {}}}
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


@pytest.mark.parametrize("moment", [0.05, 60.0])
async def test_a_process_that_dies_of_the_probe_is_started_again_and_then_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: float
) -> None:
    monkeypatch.setattr("anyshape.client.negotiation._MOMENT", moment)
    program, noted = tmp_path / "old.py", tmp_path / "noted"
    program.write_text(DIES_OF_UNKNOWN_METHODS, encoding="utf-8")
    command = [sys.executable, str(program), str(noted)]
    bounds = Bounds(probe_timeout=1.0)
    for started in (["started", "server/discover", "started"], ["started"]):
        noted.write_text("", encoding="utf-8")
        async with Client(command, timeout=20, bounds=bounds) as client:
            assert client.revision.value == "2024-11-05"
            assert await client.list_tools() == []
        assert noted.read_text(encoding="utf-8").split() == [
            *started,
            "initialize",
            "notifications/initialized",
            "tools/list",
        ]


async def test_a_service_that_breaks_over_the_probe_is_not_asked_it(serve_http: ServeHttp) -> None:
    asked: list[str] = []

    async def break_over_the_probe(request: web.BaseRequest) -> web.StreamResponse:
        message = await request.json()
        asked.append(message["method"])
        if "server/discover" in asked:
            # The stateless service of `mcp` 1.8.1: an empty stream, then nothing for anybody.
            broken = message["method"] != "server/discover"
            return web.Response(status=500 if broken else 200, content_type="text/event-stream")
        if "id" not in message:
            return web.Response(status=202)
        result: Json = {}
        if message["method"] == "initialize":
            result = {"protocolVersion": "2024-11-05", "capabilities": {}}
        return web.json_response({"jsonrpc": "2.0", "id": message["id"], "result": result})

    async with serve_http(break_over_the_probe) as url:
        for _ in range(2):
            async with Client(url) as client:
                assert client.revision.value == "2024-11-05"
    opened = ["initialize", "notifications/initialized"]
    assert asked == ["ping", *opened, *opened]


class Service:
    """A service of one era that notes what it is asked."""

    def __init__(self, era: eras.Era) -> None:
        self.era = era
        self.asked: list[str] = []

    async def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
        message = await request.json()
        self.asked.append(message["method"])
        answer: Json = {"jsonrpc": "2.0", "id": message.get("id")}
        if self.era == "modern" and message["method"] == "server/discover":
            answer["result"] = {"supportedVersions": ["2026-07-28"], "capabilities": {}}
        elif self.era == "modern":
            answer["error"] = {"code": -32601, "message": "Method not found"}
        elif message["method"] == "initialize":
            answer["result"] = {"protocolVersion": "2025-06-18", "capabilities": {}}
        else:
            return web.Response(status=400 if "id" in message else 202)
        return web.json_response(answer, status=404 if "error" in answer else 200)


async def test_a_modern_service_is_asked_to_ping_only_once(serve_http: ServeHttp) -> None:
    service = Service("modern")
    async with serve_http(service) as url:
        for _ in range(2):
            async with Client(url) as client:
                assert client.revision.value == "2026-07-28"
    assert service.asked == ["ping", "server/discover", "server/discover"]


@pytest.mark.parametrize(
    ("now", "before", "revision"),
    [("modern", "older", "2026-07-28"), ("older", "modern", "2025-06-18")],
)
async def test_a_server_that_was_replaced_is_found_out_anew(
    serve_http: ServeHttp, now: eras.Era, before: eras.Era, revision: str
) -> None:
    async with serve_http(Service(now)) as url:
        eras.remember(url, before)
        async with Client(url) as client:
            assert client.revision.value == revision
        assert eras.recall(url) == now


def test_an_older_server_is_not_remembered_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr("anyshape.client.eras.time.monotonic", lambda: now)
    eras.remember("a", "older")
    eras.remember("b", "modern")
    now += 3600
    assert (eras.recall("a"), eras.recall("b")) == ("older", "modern")
    now += 1
    assert (eras.recall("a"), eras.recall("b")) == (None, "modern")


def test_servers_are_remembered_up_to_a_number() -> None:
    for number in range(1_500):
        eras.remember(number, "modern")
    assert [eras.recall(number) for number in (0, 499, 500, 1_499)] == [
        None,
        None,
        "modern",
        "modern",
    ]


LATE = """
import json, sys

lines = [json.loads(sys.stdin.readline()) for _ in range(2)]
assert [line["method"] for line in lines] == ["server/discover", "initialize"]
found = {"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {}}
for line in lines:
    answer = {"result": found} if line is lines[0] else {"error": {"code": -32601, "message": "no"}}
    print(json.dumps({"jsonrpc": "2.0", "id": line["id"], **answer}), flush=True)
sys.stdin.read()
"""


async def test_a_process_that_starts_slowly_is_still_taken_for_modern(tmp_path: Path) -> None:
    program = tmp_path / "late.py"
    program.write_text(LATE, encoding="utf-8")
    command = [sys.executable, str(program)]
    async with Client(command, timeout=20, bounds=Bounds(probe_timeout=0.05)) as client:
        assert client.revision.value == "2026-07-28"


async def test_a_discovery_that_comes_after_the_handshake_was_refused_is_accepted(
    scripted: type[Scripted], refusal: type[Refusal]
) -> None:
    refused = asyncio.Event()

    async def discover(params: Json) -> Json:
        await refused.wait()
        return {"supportedVersions": ["2026-07-28"], "capabilities": {}}

    def initialize(params: Json) -> Json:
        asyncio.get_running_loop().call_soon(refused.set)
        raise refusal(-32601, "Method not found")

    server = scripted(server__discover=lambda params: discover(params), initialize=initialize)
    async with Client(server, timeout=20, bounds=Bounds(probe_timeout=0.2)) as client:
        assert client.revision.value == "2026-07-28"
