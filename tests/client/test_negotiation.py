"""Which revision a client ends up with, and how it asks."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from aiohttp import web
from patience import turn_until

from anyshape import Client, Server
from anyshape.client import Bounds, Identity
from anyshape.errors import ProtocolError, TransportError

if TYPE_CHECKING:
    from .conftest import Refusal, Scripted, ServeHttp

Json = dict[str, Any]


def initialize(params: Json) -> Json:
    return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}}


async def test_modern_is_tried_first_and_kept(server: Server) -> None:
    async with Client(server) as client:
        assert client.revision.value == "2026-07-28"


async def test_every_request_says_who_asks_and_in_which_revision(scripted: type[Scripted]) -> None:
    server = scripted(tools__list=lambda params: {"tools": []})
    async with Client(server, identity=Identity("host", "9", "The Host")) as client:
        await client.list_tools()
    for params in (server.asked("server/discover")[0], server.asked("tools/list")[0]):
        assert params["_meta"] == {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {
                "name": "host",
                "version": "9",
                "title": "The Host",
            },
            "io.modelcontextprotocol/clientCapabilities": {
                "extensions": {"io.modelcontextprotocol/tasks": {}}
            },
        }


async def test_a_handshake_introduces_the_client_once(scripted: type[Scripted]) -> None:
    server = scripted(initialize=initialize, tools__list=lambda params: {"tools": []})
    async with Client(server, revision="2025-06-18") as client:
        await client.list_tools()
    assert [message["method"] for message in server.seen] == [
        "initialize",
        "notifications/initialized",
        "tools/list",
    ]
    assert server.asked("initialize")[0]["protocolVersion"] == "2025-06-18"
    assert server.asked("initialize")[0]["clientInfo"]["name"] == "anyshape"
    assert server.asked("tools/list") == [{}]


@pytest.mark.parametrize("code", [-32601, -32602, -32600, -32603, 0, -32000])
async def test_any_other_error_means_an_older_server(
    scripted: type[Scripted], refusal: type[Refusal], code: int
) -> None:
    def discover(params: Json) -> Json:
        raise refusal(code)

    server = scripted(server__discover=discover, initialize=initialize)
    async with Client(server) as client:
        assert client.revision.value == "2025-11-25"


@pytest.mark.parametrize("found", [{}, {"tools": []}, {"supportedVersions": "x"}])
async def test_an_answer_that_is_no_discovery_means_an_older_server(
    scripted: type[Scripted], found: Json
) -> None:
    server = scripted(server__discover=lambda params: found, initialize=initialize)
    async with Client(server) as client:
        assert client.revision.value == "2025-11-25"


@pytest.mark.parametrize("kind", ["task", "input_required", "", None, 5])
async def test_a_discovery_of_an_unknown_type_is_invalid(
    scripted: type[Scripted], kind: object
) -> None:
    found: Json = {"resultType": kind, "supportedVersions": ["2026-07-28"], "capabilities": {}}
    server = scripted(server__discover=lambda params: found, initialize=initialize)
    with pytest.raises(ProtocolError, match="server/discover with a result of the unknown type"):
        async with Client(server):
            pass
    assert server.asked("initialize") == []


async def test_silence_means_an_older_server(scripted: type[Scripted]) -> None:
    server = scripted(server__discover=lambda params: asyncio.sleep(60), initialize=initialize)
    async with Client(server, bounds=Bounds(probe_timeout=0.05)) as client:
        assert client.revision.value == "2025-11-25"


async def test_a_server_that_pings_before_the_handshake_is_done_is_answered(
    serve_http: ServeHttp,
) -> None:
    answered = asyncio.Event()

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        message = await request.json()
        if message.get("id") == "p":
            assert request.headers["Mcp-Session-Id"] == "s"
            assert message["result"] == {}
            answered.set()
        if message.get("method") != "initialize":
            return web.Response(status=202 if request.method == "POST" else 405)
        response = web.StreamResponse(
            headers={"Content-Type": "text/event-stream", "Mcp-Session-Id": "s"}
        )
        await response.prepare(request)
        await response.write(event({"jsonrpc": "2.0", "id": "p", "method": "ping"}))
        await answered.wait()
        result: Json = {"protocolVersion": "2025-06-18", "capabilities": {}}
        await response.write(event({"jsonrpc": "2.0", "id": message["id"], "result": result}))
        return response

    def event(message: Json) -> bytes:
        return f"data: {json.dumps(message)}\n\n".encode()

    async with serve_http(handle) as url, Client(url, timeout=20) as client:
        assert client.revision.value == "2025-06-18"


async def test_a_process_that_waits_for_its_ping_is_answered(tmp_path: Path) -> None:
    program = tmp_path / "pings.py"
    program.write_text(PINGS, encoding="utf-8")
    async with Client([sys.executable, str(program)], timeout=20) as client:
        assert client.revision.value == "2025-06-18"


PINGS = """
import json, sys

def say(**members):
    print(json.dumps({"jsonrpc": "2.0", **members}), flush=True)

for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "server/discover":
        say(id=message["id"], error={"code": -32601, "message": "Method not found"})
    elif message.get("method") == "initialize":
        asked = message["id"]
        say(id="p", method="ping")
    elif message.get("id") == "p":
        assert message["result"] == {}
        say(id=asked, result={"protocolVersion": "2025-06-18", "capabilities": {}})
"""


@pytest.mark.parametrize(
    "version",
    ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-06-30", "DRAFT-2026-06-v1"],
)
async def test_an_older_server_chooses_its_revision(scripted: type[Scripted], version: str) -> None:
    server = scripted(
        server__discover=lambda params: {}, initialize=lambda params: {"protocolVersion": version}
    )
    async with Client(server) as client:
        assert client.revision.value == version


async def test_an_unsupported_version_is_tried_again_as_the_server_says(
    scripted: type[Scripted], refusal: type[Refusal]
) -> None:
    def discover(params: Json) -> Json:
        if len(server.asked("server/discover")) == 1:
            raise refusal(-32022, data={"supported": ["2026-07-28"], "requested": "x"})
        return {"supportedVersions": ["2026-07-28"], "capabilities": {}}

    server = scripted(server__discover=discover)
    async with Client(server) as client:
        assert client.revision.value == "2026-07-28"


async def test_a_server_that_refuses_what_it_supports_is_given_up(
    scripted: type[Scripted], refusal: type[Refusal]
) -> None:
    def discover(params: Json) -> Json:
        raise refusal(-32022, data={"supported": ["2026-07-28"]})

    with pytest.raises(ProtocolError, match="refuses it"):
        async with Client(scripted(server__discover=discover, initialize=initialize)):
            pass


@pytest.mark.parametrize("version", ["2024-11-05", "2025-06-18", "2025-11-25"])
async def test_a_server_that_lists_only_older_revisions_is_offered_one_of_them(
    scripted: type[Scripted], refusal: type[Refusal], version: str
) -> None:
    def discover(params: Json) -> Json:
        raise refusal(-32022, data={"supported": ["2031-01-01", version]})

    def initialize(params: Json) -> Json:
        assert params["protocolVersion"] == version
        return {"protocolVersion": version}

    server = scripted(server__discover=discover, initialize=initialize)
    async with Client(server) as client:
        assert client.revision.value == version
    server.answers["server/discover"] = lambda params: {"supportedVersions": [version]}
    async with Client(server) as client:
        assert client.revision.value == version


async def test_a_server_that_refuses_the_offer_is_offered_what_it_names(
    scripted: type[Scripted], refusal: type[Refusal]
) -> None:
    def initialize(params: Json) -> Json:
        if params["protocolVersion"] != "2025-03-26":
            raise refusal(-32602, "Unsupported", {"supported": ["2025-03-26", "2024-11-05"]})
        return {"protocolVersion": "2025-03-26"}

    server = scripted(server__discover=lambda params: {}, initialize=initialize)
    async with Client(server) as client:
        assert client.revision.value == "2025-03-26"
    with pytest.raises(ProtocolError, match="refused initialize: Unsupported") as raised:
        async with Client(server, revision="2025-11-25"):
            pass
    assert raised.value.code == -32602


@pytest.mark.parametrize(
    ("asked", "answered", "taken"),
    [
        ("2025-11-25", "2025-06-18", True),
        ("2025-11-25", "2025-11-25", True),
        ("2025-06-18", "2025-11-25", False),
        ("2025-06-18", "2026-06-30", False),
    ],
)
async def test_an_older_revision_is_taken_where_the_caller_allows_it(
    scripted: type[Scripted], asked: str, answered: str, taken: bool
) -> None:
    server = scripted(initialize=lambda params: {"protocolVersion": answered, "capabilities": {}})
    client = Client(server, revision=asked, or_older=True)
    if taken:
        async with client:
            assert client.revision.value == answered
    else:
        with pytest.raises(ProtocolError, match=f"protocol version '{answered}'"):
            await client.__aenter__()
    assert server.asked("server/discover") == []
    assert server.asked("initialize")[0]["protocolVersion"] == asked


async def test_a_modern_revision_or_an_older_one_is_whichever_is_found(
    scripted: type[Scripted],
) -> None:
    server = scripted(server__discover=lambda params: {}, initialize=initialize)
    async with Client(server, revision="2026-07-28", or_older=True) as client:
        assert client.revision.value == "2025-11-25"


async def test_a_modern_server_without_a_common_revision_is_an_error(
    scripted: type[Scripted], refusal: type[Refusal]
) -> None:
    def discover(params: Json) -> Json:
        raise refusal(-32022, data={"supported": ["2031-01-01"]})

    server = scripted(server__discover=discover, initialize=initialize)
    with pytest.raises(ProtocolError, match=r"supports 2031-01-01; this client speaks 2026-07-28"):
        async with Client(server):
            pass
    assert server.asked("initialize") == []


@pytest.mark.parametrize("code", [-32020, -32021])
async def test_other_modern_errors_do_not_lead_to_a_handshake(
    scripted: type[Scripted], refusal: type[Refusal], code: int
) -> None:
    def discover(params: Json) -> Json:
        raise refusal(code, "modern")

    server = scripted(server__discover=discover, initialize=initialize)
    with pytest.raises(ProtocolError, match="modern"):
        async with Client(server):
            pass
    assert server.asked("initialize") == []


async def test_the_modern_revision_alone_never_falls_back(
    scripted: type[Scripted], refusal: type[Refusal]
) -> None:
    def discover(params: Json) -> Json:
        raise refusal(-32601, "Method not found")

    server = scripted(server__discover=discover, initialize=initialize)
    with pytest.raises(ProtocolError, match=r"does not speak 2026-07-28.*-32601"):
        async with Client(server, revision="2026-07-28"):
            pass
    assert server.asked("initialize") == []


@pytest.mark.parametrize("status", [200, 400, 404, 405, 406, 500, 501])
async def test_an_http_refusal_without_a_modern_error_means_an_older_server(
    serve_http: ServeHttp, status: int
) -> None:
    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        message = await request.json()
        if message["method"] == "server/discover":
            return web.Response(status=status, text="Bad Request: no session")
        if "id" not in message:
            return web.Response(status=202)
        result: Json = {"protocolVersion": "2025-06-18", "capabilities": {}}
        return web.json_response({"jsonrpc": "2.0", "id": message["id"], "result": result})

    async with serve_http(handle) as url, Client(url) as client:
        assert client.revision.value == "2025-06-18"


@pytest.mark.parametrize("status", [401, 403])
async def test_an_http_refusal_of_credentials_is_no_older_server(
    serve_http: ServeHttp, status: int
) -> None:
    asked: list[str] = []

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        asked.append((await request.json())["method"])
        return web.Response(status=status)

    async with serve_http(handle) as url:
        with pytest.raises(TransportError, match=str(status)):
            async with Client(url):
                pass
    assert asked == ["ping"]


async def test_a_modern_error_in_a_400_is_read(serve_http: ServeHttp) -> None:
    asked: list[tuple[str, str | None]] = []

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        message = await request.json()
        if message["method"] == "ping":
            return web.Response(status=404)
        asked.append((message["method"], request.headers.get("MCP-Protocol-Version")))
        answer: Json = {"jsonrpc": "2.0", "id": message["id"]}
        if len(asked) == 1:
            data = {"supported": ["2026-07-28"]}
            answer["error"] = {"code": -32022, "message": "Unsupported", "data": data}
            return web.json_response(answer, status=400)
        answer["result"] = {"supportedVersions": ["2026-07-28"], "capabilities": {}}
        return web.json_response(answer)

    async with serve_http(handle) as url, Client(url) as client:
        assert client.revision.value == "2026-07-28"
    assert asked == [("server/discover", "2026-07-28")] * 2


async def test_nobody_at_the_other_end_is_an_error_at_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(TransportError, match="cannot reach"):
        async with Client(f"http://127.0.0.1:{port}/mcp"):
            pass


async def test_giving_up_twice_leaves_nothing_of_the_negotiation_behind(
    scripted: type[Scripted],
) -> None:
    given_up = asyncio.Event()

    async def reluctant(params: Json) -> Json:
        try:
            return await silent(params)
        except asyncio.CancelledError:
            given_up.set()
            await asyncio.sleep(0.05)
            raise

    async def silent(params: Json) -> Json:
        await asyncio.Event().wait()
        return {}

    server = scripted(server__discover=reluctant, initialize=silent)
    client = Client(server, bounds=Bounds(probe_timeout=0.01))
    opening = asyncio.create_task(client.__aenter__())
    await turn_until(lambda: server.asked("initialize"), 0.01)
    opening.cancel()
    await given_up.wait()
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    await turn_until(lambda: asyncio.all_tasks() == {asyncio.current_task()}, 0.01)
