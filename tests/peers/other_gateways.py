"""Put servers of two eras behind other gateways and behind ours; compare what clients see.

    python tests/peers/other_gateways.py

Writes the table of docs/comparison.md. `make gateways` runs it, once mcp-proxy is installed; the
Node programs are named in `other-gateways/package.json`.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import shlex
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable, Generator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import table
import visits
from gateway_peers import ENVIRONMENTS, LATER, MODERN, TYPESCRIPT2, Installed
from patience import is_listening, until

from anyshape import Client
from anyshape.client import Progress

DOCUMENT = visits.ROOT / "docs" / "comparison.md"
BEGIN, END = "<!-- gateways: written by `make gateways` -->", "<!-- end of gateways -->"
PROGRAMS = visits.HERE / "other-gateways"
SHORT, LONG = 10.0, 60.0
"""Seconds in which something has to be seen, or else counts as not seen; and for a whole visit."""

Command = list[str]
Target = str | Command
Seen = dict[str, str]

PYTHON1 = Installed("Python SDK 1", "mcp", "2025-11")
SERVERS = visits.HERE / "servers"
NEW = TYPESCRIPT2.command(SERVERS / "every_typescript2.mjs")
OLD = PYTHON1.command(SERVERS / "every_python.py", "mcp")
VALUES: dict[str, tuple[str, dict[str, Any]]] = {
    "array": ("list_users", {}),
    "number": ("get_count", {}),
    "null": ("maybe_user", {"id": 9}),
}


@contextlib.contextmanager
def _listening(command: Command, port: int, path: str = "/mcp") -> Generator[str]:
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, env=visits.environment(), stdout=quiet, stderr=quiet) as process:
        try:
            until(lambda: is_listening(port))
            yield f"http://127.0.0.1:{port}{path}"
        finally:
            process.terminate()


def _free_port() -> int:
    """Return a port that nobody has; below those that are given to whoever asks for any."""
    while True:
        port = random.randrange(20_000, 32_000)
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


def _anyshape(server: Command) -> AbstractContextManager[Target]:
    port = _free_port()
    ours = [sys.executable, "-m", "anyshape", "gateway", "--http", "--port", str(port), "--"]
    return _listening([*ours, *server], port)


def _fastmcp(server: Command) -> AbstractContextManager[Target]:
    port = _free_port()
    code = (
        "from fastmcp.client.transports import StdioTransport\n"
        "from fastmcp.server import create_proxy\n"
        f"proxy = create_proxy(StdioTransport({server[0]!r}, {server[1:]!r}))\n"
        f"proxy.run('http', port={port}, show_banner=False)\n"
    )
    return _listening([sys.executable, "-c", code], port)


def _mcp_proxy(server: Command) -> AbstractContextManager[Target]:
    port = _free_port()
    program = str(ENVIRONMENTS / "mcp-proxy" / "bin" / "mcp-proxy")
    return _listening([program, "--port", str(port), "--", *server], port)


def _supergateway(server: Command) -> AbstractContextManager[Target]:
    port = _free_port()
    options = ("--outputTransport", "streamableHttp", "--stateful", "--port", str(port))
    given = ("--stdio", shlex.join(server), *options)
    return _listening(_program("supergateway", *given), port)


@contextlib.contextmanager
def _mcp_remote(server: Command) -> Generator[Target]:
    """Give the command of a program that stands before one server over HTTP."""
    with subprocess.Popen([*server, "http"], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            port = process.stdout.readline().strip()
            yield _program("mcp-remote", f"http://127.0.0.1:{port}/mcp", "--allow-http")
        finally:
            process.terminate()


def _program(package: str, *arguments: str) -> Command:
    return visits.node().node_command(package, *arguments, source=PROGRAMS)


GATEWAYS: dict[str, Callable[[Command], AbstractContextManager[Target]]] = {
    "Anyshape": _anyshape,
    "FastMCP's proxy": _fastmcp,
    "mcp-proxy": _mcp_proxy,
    "supergateway": _supergateway,
    "mcp-remote": _mcp_remote,
}
VISITS = (("new", NEW, MODERN), ("new", NEW, LATER), ("old", OLD, MODERN), ("old", OLD, LATER))
"""A server of both eras and one of 2025-11-25, each with a client of either."""


async def observe(target: Target, revision: str) -> Seen:
    """Return what a client sees; a gateway that does not speak its revision shows nothing."""
    changes: list[str] = []
    try:
        async with (
            asyncio.timeout(LONG),
            Client(
                target,
                revision=revision,
                timeout=SHORT,
                unwrap=False,
                on_elicit=lambda _question: {"city": "Oslo"},
                on_list_changed=changes.append,
            ) as client,
        ):
            if not await client.list_tools():
                return {"connected": "no tools are listed"}
            return {"connected": "yes"} | await _looked_at(client, changes)
    except Exception as error:
        print(f"{revision}: {error}"[:200], file=sys.stderr)
        return {"connected": "not spoken"}


async def _looked_at(client: Client, changes: list[str]) -> Seen:
    seen = {name: await _value(client, *VALUES[name]) for name in VALUES}
    told: list[float] = []

    def hear(step: Progress) -> None:
        told.append(step.progress)

    await _attempt(client.call_tool("count_to", {"number": 3}, on_progress=hear))
    seen["progress"] = "told" if told == [1, 2, 3] else "not told"
    asked = await _attempt(client.call_tool("ask"))
    seen["question"] = "answered" if asked is not None and "Oslo" in asked.text else "not asked"
    seen["cancellation"] = await _given_up(client)
    seen["changes"] = await _grown(client, changes)
    return seen


async def _value(client: Client, tool: str, arguments: dict[str, Any]) -> str:
    result = await _attempt(client.call_tool(tool, arguments))
    if result is None or result.is_error:
        return "error"
    match result.raw.get("structuredContent", ...):
        case value if value is ...:
            return "text"
        case {"result": _}:
            return "envelope"
        case _:
            return "natural"


async def _given_up(client: Client) -> str:
    begun = asyncio.Event()
    call = asyncio.ensure_future(
        client.call_tool("wait", {"key": "here"}, on_progress=lambda _step: begun.set())
    )
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(begun.wait(), SHORT)
    call.cancel()
    await asyncio.wait((call,))
    said = await _attempt(client.call_tool("was_given_up", {"key": "here"}))
    if said is not None and said.is_error:
        return ""  # The answer, a truth value, did not come through.
    return "heard" if said is not None and "true" in said.text else "not heard"


async def _grown(client: Client, changes: list[str]) -> str:
    """Have the server list one more tool, if it can; see whether clients are told."""
    if "grow" not in {tool.name for tool in await client.list_tools()}:
        return ""
    await _attempt(client.call_tool("grow"))
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(SHORT):
            while not changes:  # noqa: ASYNC110 - what is waited for may never come
                await asyncio.sleep(0.1)
    return "told" if changes else "not told"


async def _attempt(asked: Awaitable[Any]) -> Any:
    """Return what comes of something; nothing if it fails or takes too long."""
    try:
        return await asyncio.wait_for(asked, SHORT)
    except Exception:
        return None


def main() -> int:
    """Visit, and write the table."""
    seen: dict[str, dict[tuple[str, str], Seen]] = {}
    for name, start in GATEWAYS.items():
        seen[name] = {}
        for era, server, revision in VISITS:
            with start(server) as target:
                found = asyncio.run(observe(target, revision))
            if start is _mcp_remote and era == "new":
                # Over HTTP this server is made anew for every request, and keeps nothing in mind.
                found |= {"cancellation": "", "changes": ""}
            seen[name][era, revision] = found
            print(name, era, revision, json.dumps(found), file=sys.stderr, flush=True)
    written = DOCUMENT.read_text()
    before, _, rest = written.partition(BEGIN)
    _, _, after = rest.partition(END)
    DOCUMENT.write_text(f"{before}{BEGIN}\n\n{_table(seen)}\n{END}{after}")
    return 0


def _table(seen: dict[str, dict[tuple[str, str], Seen]]) -> str:
    eras = {"new": "TypeScript 2", "old": "`mcp` 1"}
    rows = [
        [
            f"values of {eras[era]}, for {revision}",
            *(_values(each[era, revision]) for each in seen.values()),
        ]
        for era, _, revision in VISITS
    ]
    both = (("new", MODERN), ("old", LATER))
    for title, key in (
        ("progress", "progress"),
        ("a call that is given up, upstream", "cancellation"),
        ("a question to the user", "question"),
    ):
        rows.append(
            [title, *(" / ".join(_of(each[pair], key) for pair in both) for each in seen.values())]
        )
    pairs = (("new", MODERN), ("new", LATER))
    changes = [" / ".join(_of(each[pair], "changes") for pair in pairs) for each in seen.values()]
    rows.append(["a tool that is new", *changes])
    return table.markdown(["", *(f"{name} {_version(name)}".strip() for name in seen)], rows)


def _of(seen: Seen, key: str) -> str:
    """Return a cell; nothing was seen where nobody is there, or the answer did not come through."""
    return seen.get(key) or "–"


def _values(seen: Seen) -> str:
    if seen["connected"] != "yes":
        return seen["connected"]
    kinds = [seen[name] for name in VALUES]
    return kinds[0] if len(set(kinds)) == 1 else ", ".join(kinds)


def _version(name: str) -> str:
    if name == "Anyshape":
        return ""
    if name == "FastMCP's proxy":
        return visits.version("fastmcp")
    if name == "mcp-proxy":
        return Installed(name, name, "mcp-proxy").version
    manifest: Path = visits.node().install(PROGRAMS) / "node_modules" / name / "package.json"
    return json.loads(manifest.read_text())["version"]


if __name__ == "__main__":
    sys.exit(main())
