"""Servers of every era behind the gateway, clients of every era before it: who they are.

A server is started on stdio by `anyshape gateway`, some over HTTP+SSE beside it; clients come to
the gateway over HTTP, the oldest, which know no such thing, on stdio. The generations that cannot
be in one environment with what came after them are in `.cache/older-peers`, one environment for
each file of `requirements/older-peers`, and in `.cache/older-node`; `make older-peers` installs
them.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import visits
from patience import until

Json = dict[str, Any]
Kind = Literal["wraps", "by hand", "text", "everything", "old everything"]

MODERN, LATER, LATE = "2026-07-28", "2025-11-25", "2025-06-18"
OLDER, OLDEST = "2025-03-26", "2024-11-05"
REVISIONS = (MODERN, LATER, LATE, OLDER, OLDEST)
ENVIRONMENTS = visits.ROOT / ".cache" / "older-peers"
OLDER_NODE = visits.HERE / "older-node"
EVERYTHING = "@modelcontextprotocol/server-everything"
GIVEN_UP = 2.5
_ended: list[float] = []


@dataclass(frozen=True)
class Installed:
    """A package in the environment of the tests, or in one of those for older generations."""

    name: str
    package: str
    environment: str = ""

    def __post_init__(self) -> None:
        assert not self.environment or self.environment in OLDER_ENVIRONMENTS

    @property
    def is_here(self) -> bool:
        """Whether it is installed with all that tests need."""
        return not self.environment

    @property
    def published(self) -> str:
        """The name it is published under."""
        return "@modelcontextprotocol/sdk" if self.package.startswith("sdk-") else self.package

    @cached_property
    def version(self) -> str:
        """The version that is installed."""
        if self.environment == "node":
            modules = visits.node().install(OLDER_NODE) / "node_modules"
            return json.loads((modules / self.package / "package.json").read_text())["version"]
        if not self.environment:
            return visits.version(self.package)
        code = f"import importlib.metadata as m; print(m.version({self.package!r}))"
        done = subprocess.run([self.python, "-c", code], capture_output=True, text=True, check=True)
        return done.stdout.strip()

    @property
    def python(self) -> str:
        """The interpreter that has it."""
        if not self.environment:
            return sys.executable
        return str(ENVIRONMENTS / self.environment / "bin" / "python")

    def command(self, script: Path | str, *arguments: str) -> list[str]:
        """Return the command that runs a script, or a package's program, where it is installed."""
        if isinstance(script, Path) and script.suffix == ".py":
            return [self.python, str(script), *arguments]
        source = {"source": OLDER_NODE} if self.environment == "node" else {}
        return visits.node().node_command(script, *arguments, **source)


OLDER_ENVIRONMENTS = ("node", "2024-11", "2025-03", "2025-06", "2025-11", "fastmcp-3", "mcp-proxy")


@dataclass(frozen=True)
class Row:
    """A server behind the gateway, the revision that is spoken there, and what it makes of values.

    It `wraps` what is no object; or its author does so, `by hand`; or it has only `text`.
    """

    at: Installed
    revision: str
    kind: Kind
    is_told: bool = False
    """Whether the gateway is told that revision; else it is the newest that both know."""
    over: Literal["stdio", "sse"] = "stdio"

    @property
    def id(self) -> str:
        """Return what tests call it."""
        over = "" if self.over == "stdio" else f", {self.over}"
        return f"{self.at.name}, {self.at.environment or 'here'}, {self.revision}{over}"

    @property
    def command(self) -> list[str]:
        """The command that starts it."""
        servers = visits.HERE / "servers"
        if self.at.package == EVERYTHING:
            return self.at.command(EVERYTHING, "stdio")
        if self.at.package in ("mcp", "fastmcp"):
            over = [] if self.over == "stdio" else [self.over]
            return self.at.command(servers / "every_python.py", self.at.package, *over)
        if self.at.package == "@modelcontextprotocol/server":
            return self.at.command(servers / "every_typescript2.mjs")
        return self.at.command(servers / "every_typescript1.mjs", self.at.package)


@dataclass(frozen=True)
class Column:
    """A client before the gateway, and the revision it speaks."""

    at: Installed
    script: str
    mode: str
    revision: str

    @property
    def id(self) -> str:
        """Return what tests call it."""
        return f"{self.at.name}, {self.at.environment or 'here'}, {self.revision}"

    @property
    def uses_stdio(self) -> bool:
        """Whether it is from before there was Streamable HTTP."""
        return self.at.environment == "2024-11"


def _mcp1(environment: str) -> Installed:
    return Installed("Python SDK 1", "mcp", environment)


def _fastmcp2(environment: str) -> Installed:
    return Installed("FastMCP 2", "fastmcp", environment)


ANYSHAPE = Installed("Anyshape", "anyshape")
MCP2, FASTMCP4 = Installed("Python SDK 2", "mcp"), Installed("FastMCP 4", "fastmcp")
FASTMCP3 = Installed("FastMCP 3", "fastmcp", "fastmcp-3")
TYPESCRIPT2 = Installed("TypeScript SDK 2", "@modelcontextprotocol/server")
TYPESCRIPT1 = Installed("TypeScript SDK 1", "@modelcontextprotocol/sdk")
TYPESCRIPT1_2025_06 = Installed("TypeScript SDK 1", "sdk-2025-06", "node")
TYPESCRIPT1_2025_03 = Installed("TypeScript SDK 1", "sdk-2025-03", "node")
ROWS = (
    Row(MCP2, MODERN, "wraps"),
    Row(MCP2, LATER, "wraps", is_told=True),
    Row(FASTMCP4, MODERN, "wraps"),
    Row(FASTMCP4, LATER, "wraps", is_told=True),
    Row(TYPESCRIPT2, MODERN, "wraps"),
    Row(TYPESCRIPT2, LATER, "wraps", is_told=True),
    Row(TYPESCRIPT1, LATER, "by hand"),
    Row(Installed("Everything server", EVERYTHING), LATER, "everything"),
    Row(FASTMCP3, LATER, "wraps"),
    Row(_mcp1("2025-11"), LATER, "wraps"),
    Row(_fastmcp2("2025-11"), LATER, "wraps"),
    Row(_mcp1("2025-06"), LATE, "wraps"),
    Row(_fastmcp2("2025-06"), LATE, "wraps"),
    Row(TYPESCRIPT1_2025_06, LATE, "by hand"),
    Row(_mcp1("2025-03"), OLDER, "text"),
    Row(_fastmcp2("2025-03"), OLDER, "text"),
    Row(TYPESCRIPT1_2025_03, OLDER, "text"),
    Row(Installed("Everything server", EVERYTHING, "node"), OLDER, "old everything"),
    Row(_mcp1("2024-11"), OLDEST, "text"),
)
EVENTS = (
    Row(MCP2, LATER, "wraps", over="sse"),
    Row(FASTMCP4, LATER, "wraps", over="sse"),
    Row(FASTMCP3, LATER, "wraps", over="sse"),
    Row(_mcp1("2025-11"), LATER, "wraps", over="sse"),
    Row(_fastmcp2("2025-11"), LATER, "wraps", over="sse"),
    Row(_mcp1("2025-06"), LATE, "wraps", over="sse"),
    Row(_fastmcp2("2025-06"), LATE, "wraps", over="sse"),
    Row(_mcp1("2025-03"), OLDER, "text", over="sse"),
    Row(_fastmcp2("2025-03"), OLDER, "text", over="sse"),
    Row(_mcp1("2024-11"), OLDEST, "text", over="sse"),
)
"""The same servers over the transport of 2024-11-05, which begins with a handshake."""
COLUMNS = (
    *(Column(ANYSHAPE, "anyshape_sdk.py", "", revision) for revision in REVISIONS),
    Column(MCP2, "python_sdk.py", "auto", MODERN),
    Column(MCP2, "python_sdk.py", "legacy", LATER),
    Column(FASTMCP4, "fastmcp_sdk.py", "auto", MODERN),
    Column(FASTMCP4, "fastmcp_sdk.py", "legacy", LATER),
    Column(TYPESCRIPT2, "typescript2.mjs", "auto", MODERN),
    Column(TYPESCRIPT2, "typescript2.mjs", "legacy", LATER),
    Column(TYPESCRIPT1, "typescript1.mjs", TYPESCRIPT1.package, LATER),
    Column(FASTMCP3, "older_python.py", "fastmcp", LATER),
    Column(_mcp1("2025-11"), "older_python.py", "mcp", LATER),
    Column(_fastmcp2("2025-11"), "older_python.py", "fastmcp", LATER),
    Column(_mcp1("2025-06"), "older_python.py", "mcp", LATE),
    Column(_fastmcp2("2025-06"), "older_python.py", "fastmcp", LATE),
    Column(TYPESCRIPT1_2025_06, "typescript1.mjs", "sdk-2025-06", LATE),
    Column(_mcp1("2025-03"), "older_python.py", "mcp", OLDER),
    Column(_fastmcp2("2025-03"), "older_python.py", "fastmcp", OLDER),
    Column(TYPESCRIPT1_2025_03, "typescript1.mjs", "sdk-2025-03", OLDER),
    Column(_mcp1("2024-11"), "older_python.py", "mcp", OLDEST),
)


@contextlib.contextmanager
def gateways(rows: Sequence[Row]) -> Generator[dict[Row, Json]]:
    """Give the target of a gateway before each server: its `url`, and the `command` for another."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        commands: dict[Row, list[str]] = {}
        running: dict[Row, subprocess.Popen[str]] = {}
        for number, row in enumerate(rows):
            file = folder / f"{number}.toml"
            where = f"command = {json.dumps(row.command)}"
            if row.over == "sse":
                server = stack.enter_context(
                    subprocess.Popen(row.command, stdout=subprocess.PIPE, text=True)
                )
                stack.callback(server.kill)
                assert server.stdout is not None
                where = f'url = "http://127.0.0.1:{int(server.stdout.readline())}/sse"'
            file.write_text(_configuration(row, where))
            commands[row] = [sys.executable, "-m", "anyshape", "gateway", str(file)]
            http = [*commands[row], "--http", "--port", "0", "--json"]
            process = subprocess.Popen(http, stdout=subprocess.PIPE, text=True)
            stack.enter_context(process)
            stack.callback(process.terminate)
            running[row] = process
        yield {
            row: {"url": _address(process), "command": commands[row]}
            for row, process in running.items()
        }


def _configuration(row: Row, where: str) -> str:
    told = f'\nrevision = "{row.revision}"' if row.is_told else ""
    return (
        f"[upstreams.peer]\n{where}\n"
        f"timeout = {visits.PATIENCE}{told}\n"
        '[health]\nrequired = ["peer"]\n'
    )


def _address(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    announcement = process.stdout.readline()
    if not announcement:
        raise RuntimeError(f"the gateway ended with {process.wait()} before it listened")
    url: str = json.loads(announcement)["url"]
    until(lambda: _is_ready(url))
    return url


def _is_ready(url: str) -> bool:
    """Tell whether the server behind a gateway is there."""
    try:
        with urllib.request.urlopen(url.removesuffix("/mcp") + "/ready", timeout=visits.PATIENCE):
            return True
    except OSError:
        return False


def visit(column: Column, targets: Sequence[Json]) -> list[Json]:
    """Return the reports of a client on several gateways; each target has its `plan`.

    A server on a pipe may ask on behalf of a call that was given up for a moment longer, and nobody
    else is asked then: so a client waits until those of the one before it do not count any more.
    """
    time.sleep(max(0.0, _ended[-1] + GIVEN_UP - time.monotonic()) if _ended else 0.0)
    try:
        return _visit(column, targets)
    finally:
        _ended.append(time.monotonic())


def _visit(column: Column, targets: Sequence[Json]) -> list[Json]:
    over = "command" if column.uses_stdio else "url"
    given = [{over: target[over], "plan": target["plan"]} for target in targets]
    plan = {
        "mode": column.mode,
        "revision": column.revision,
        "patience": visits.PATIENCE,
    }
    command = column.at.command(visits.HERE / "clients" / column.script)
    done = subprocess.run(
        [*command, json.dumps(given), json.dumps(plan)],
        env=visits.environment(),
        capture_output=True,
        text=True,
        timeout=visits.PATIENCE * len(targets),
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"{column.id} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout)
