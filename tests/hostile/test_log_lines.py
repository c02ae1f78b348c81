"""Nobody who is quoted in a log can forge a line of it, or steer the terminal that it is read on."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from patience import PATIENCE, turn_until

from anyshape import Client, Context, Server
from anyshape.client import Identity
from anyshape.errors import AnyshapeError
from anyshape.gateway import AuditLog, Gateway, Upstream
from anyshape.gateway.vetting import Vetting

HOSTILE = str(Path(__file__).parents[1] / "cli" / "hostile_server.py")
TRICK = (
    "v\x1b]0;owned\x07\x1b[2J\rFORGED cr\x9b2J\nFORGED lf\x85FORGED nel\u2028FORGED ls\u202eFORGED"
    '\u200b\x7f"}\n{"event":"FORGED"}'
)
HARMFUL = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\u200b]|\n(?!  )"
)
"""A control character, or a line break after which a line could look like a record of its own."""
OLDER, MODERN = "2025-11-25", "2026-07-28"


def assert_harmless(caplog: pytest.LogCaptureFixture) -> None:
    ours = [record for record in caplog.records if record.name.startswith("anyshape")]
    assert any("FORGED" in record.getMessage() for record in ours)
    for record in ours:
        assert not HARMFUL.search(record.getMessage()), (record.pathname, record.lineno)


def talkative() -> Server:
    server = Server("talkative")

    @server.tool
    async def crash(text: str, context: Context) -> str:
        context.warning(f"about to crash for {text}")
        raise RuntimeError(text)

    @server.tool
    async def mismatch(text: str) -> Any:
        return text

    @server.tool
    async def wait(text: str, context: Context) -> None:
        context.progress(1)
        await asyncio.Event().wait()

    @server.resource("note:{text}")
    def note(text: str) -> str:
        raise RuntimeError(text)

    @server.prompt
    def greet(text: str) -> str:
        raise RuntimeError(text)

    return server


REQUESTS: list[tuple[str, dict[str, Any]]] = [
    ("tools/call", {"name": "crash", "arguments": {"text": TRICK}}),
    ("tools/call", {"name": "crash", "arguments": {TRICK: TRICK}}),
    ("tools/call", {"name": "mismatch", "arguments": {"text": TRICK}}),
    ("tools/call", {"name": TRICK, "arguments": {}}),
    ("resources/read", {"uri": f"note:{TRICK}"}),
    ("resources/read", {"uri": "note:a%0AFORGED"}),
    ("prompts/get", {"name": "greet", "arguments": {"text": TRICK}}),
    ("prompts/get", {"name": TRICK}),
    ("logging/setLevel", {"level": TRICK}),
    ("tools/list", {"cursor": TRICK}),
    ("resources/subscribe", {"uri": TRICK}),
    (TRICK, {TRICK: TRICK}),
]


@pytest.mark.parametrize("revision", [OLDER, MODERN])
async def test_a_client_forges_no_line_of_a_servers_log(
    caplog: pytest.LogCaptureFixture, revision: str
) -> None:
    caplog.set_level(logging.DEBUG)
    sent: list[bytes] = []
    connection = talkative().connect(sent.append)
    introduced = {"name": TRICK, "version": TRICK}
    meta: dict[str, Any] = {"progressToken": TRICK, TRICK: TRICK}

    async def say(**message: Any) -> bytes | None:
        frame = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False)
        return await connection.handle(frame.encode())

    if revision == MODERN:
        prefix = "io.modelcontextprotocol/"
        meta |= {f"{prefix}protocolVersion": MODERN, f"{prefix}clientInfo": introduced}
        meta |= {f"{prefix}clientCapabilities": {TRICK: {TRICK: TRICK}}}
    else:
        told: dict[str, Any] = {"protocolVersion": OLDER, "clientInfo": introduced}
        await say(id=TRICK, method="initialize", params={**told, "capabilities": {TRICK: {}}})
        await say(method="notifications/initialized")
    for method, params in REQUESTS:
        await say(id=TRICK, method=method, params={**params, "_meta": meta})
    named = {"name": "wait", "arguments": {"text": TRICK}, "_meta": meta}
    sent.clear()
    waiting = asyncio.ensure_future(say(id=TRICK, method="tools/call", params=named))
    await turn_until(lambda: sent)
    given_up = {"requestId": TRICK, "reason": TRICK}
    await say(method="notifications/cancelled", params=given_up)
    await asyncio.wait_for(waiting, PATIENCE)
    await connection.close()
    assert_harmless(caplog)


@pytest.mark.parametrize("revision", [OLDER, MODERN])
async def test_a_server_forges_no_line_of_a_clients_log(
    caplog: pytest.LogCaptureFixture, revision: str
) -> None:
    caplog.set_level(logging.DEBUG)
    async with Client([sys.executable, HOSTILE, revision]) as client:
        await browse(client)
    assert_harmless(caplog)


@pytest.mark.parametrize("vetting", [None, Vetting()], ids=["as it is", "vetted"])
async def test_neither_side_forges_a_line_of_a_gateways_logs(
    caplog: pytest.LogCaptureFixture, tmp_path: Path, vetting: Vetting | None
) -> None:
    caplog.set_level(logging.DEBUG)
    file = tmp_path / "audit.jsonl"
    with contextlib.closing(AuditLog(file)) as audit:
        upstream = Upstream(target=[sys.executable, HOSTILE, OLDER])
        gateway = Gateway({"up": upstream}, audit=audit, vetting=vetting)
        async with Client(gateway, identity=Identity(TRICK, TRICK)) as client:
            await browse(client)
    assert_harmless(caplog)
    lines = file.read_text().removesuffix("\n").split("\n")
    assert len(lines) > 3
    for line in lines:
        assert not HARMFUL.search(line)
        assert json.loads(line).get("event") != "FORGED"


async def browse(client: Client) -> None:
    """List and call everything, whatever comes of it."""
    await client.list_tools()
    await client.list_prompts()
    await client.list_resources()
    await client.list_resource_templates()
    attempts = [
        *(client.call_tool(name, {}) for name in ("text", "both", "fails", "breaks", TRICK)),
        client.read_resource("x:one"),
        client.get_prompt("one"),
        client.get_prompt(TRICK),
    ]
    for attempt in attempts:
        (outcome,) = await asyncio.gather(attempt, return_exceptions=True)
        if isinstance(outcome, BaseException):
            assert isinstance(outcome, AnyshapeError)
            assert not HARMFUL.search(str(outcome))


PROGRAM = """
import logging
from anyshape import Server

server = Server("crashing")

@server.tool
def crash(text: str) -> str:
    logging.getLogger("my.own").error("a caller says %s", text)
    raise RuntimeError(text)
"""


def test_a_traceback_that_the_program_logs_is_indented_and_made_visible(tmp_path: Path) -> None:
    script = tmp_path / "crashing.py"
    script.write_text(PROGRAM)
    params = {
        "protocolVersion": OLDER,
        "capabilities": {},
        "clientInfo": {"name": "c", "version": "1"},
    }
    called = {"name": "crash", "arguments": {"text": TRICK}}
    frames = [
        {"id": 1, "method": "initialize", "params": params},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": called},
    ]
    done = subprocess.run(
        [sys.executable, "-m", "anyshape", "serve", str(script)],
        input="".join(json.dumps({"jsonrpc": "2.0", **frame}) + "\n" for frame in frames),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    assert "RuntimeError: v\\x1b]0;owned" in done.stderr
    assert not HARMFUL.search(done.stderr.replace("\ntool crash failed", "\n  tool").rstrip("\n"))
