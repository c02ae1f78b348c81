"""Clients that we did not write visit the demo server, and report what they saw.

Each is a small script in `clients/` that takes a target and a plan and prints a report; what those
are is said in `clients/report.py`. The calls, and what they come to, are literal in
`demo_calls.json`: nothing here asks our own code what it thinks.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

# A program too (`make peers`), which has not what pytest puts on the path.
sys.path.append(str(Path(__file__).resolve().parent.parent / "clock"))

from patience import PATIENCE

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TRANSPORTS = ("stdio", "http")

Json = dict[str, Any]


@dataclass(frozen=True)
class Peer:
    """A client, and the revision it speaks here."""

    name: str
    package: str
    script: str
    mode: str
    revision: str

    @property
    def id(self) -> str:
        """Return what tests call it."""
        return f"{self.name}@{self.revision}"


MCP = ("Python SDK", "mcp", "python_sdk.py")
FASTMCP = ("FastMCP", "fastmcp", "fastmcp_sdk.py")
TYPESCRIPT2 = ("TypeScript SDK 2", "@modelcontextprotocol/client", "typescript2.mjs")
TYPESCRIPT1 = ("TypeScript SDK 1", "@modelcontextprotocol/sdk", "typescript1.mjs")
SEP = ("SEP reference", "@olaservo/mcp-sdk", "typescript1.mjs")
INSPECTOR = ("Inspector", "@modelcontextprotocol/inspector", "inspector.mjs")

PEERS = (
    Peer(*MCP, "auto", "2026-07-28"),
    Peer(*FASTMCP, "auto", "2026-07-28"),
    Peer(*TYPESCRIPT2, "auto", "2026-07-28"),
    Peer(*INSPECTOR, "modern", "2026-07-28"),
    # It knows 2025-11-25 at the latest; the working name of its day gives it natural shapes.
    Peer(*SEP, "@olaservo/mcp-sdk", "2026-06-30"),
    Peer(*MCP, "legacy", "2025-11-25"),
    Peer(*FASTMCP, "legacy", "2025-11-25"),
    Peer(*TYPESCRIPT2, "legacy", "2025-11-25"),
    Peer(*TYPESCRIPT1, "@modelcontextprotocol/sdk", "2025-11-25"),
    Peer(*INSPECTOR, "legacy", "2025-11-25"),
    Peer(*SEP, "@olaservo/mcp-sdk", "2025-11-25"),
    Peer(*TYPESCRIPT2, "legacy", "2025-06-18"),
    Peer(*TYPESCRIPT2, "legacy", "2025-03-26"),
    Peer(*TYPESCRIPT1, "@modelcontextprotocol/sdk", "2024-11-05"),
)
KNOWN = ("Python SDK", "FastMCP")
"""Go by the default name of the Python SDK, so they are listed what clients of that name need."""
MARK = "x-fastmcp-wrap-result"
NATURAL = ("2026-07-28", "2026-06-30")
ENVELOPED = ("2025-11-25", "2025-06-18")
UNSTRUCTURED = ("2025-03-26", "2024-11-05")


@dataclass(frozen=True)
class Quirk:
    """Something a peer gets wrong by itself: what it shows for one call, and why."""

    peer: str
    call: str
    shows: Json
    why: str


QUIRKS = (
    Quirk(
        "Inspector@2026-07-28",
        "nobody",
        {
            "raised": 'Tool "find_person" declares an output schema but returned no structured '
            "content",
            "code": -32602,
        },
        "The Inspector tests `structuredContent == null`, so it takes null for nothing and refuses "
        "a result that its own SDK accepts.",
    ),
    Quirk(
        "SEP reference@2026-06-30",
        "nobody",
        {
            "raised": "MCP error -32600: Tool find_person has an output schema but did not return "
            "structured content",
            "code": -32600,
        },
        "The SEP's client tests `!structuredContent`, so null, and 0 and false and the empty "
        "string with it, count as nothing.",
    ),
)

SHARES_A_READ = ("TypeScript SDK 2", "TypeScript SDK 1", "SEP reference")
"""Lose the progress that shares a read with the answer, over stdio.

They hand a notification to its handler in a later microtask than the one that takes the answer, and
the answer takes the handler away.
"""

SHOWS_NO_PROGRESS = ("Inspector",)
"""Its command line prints the result alone."""

ASKS_NOBODY = ("Inspector",)
"""Its command line has no form to fill in, and says so."""


def calls(*, brief: bool = False) -> list[Json]:
    """Return the calls of the plan and what they come to; `brief` is one for every tool."""
    every: list[Json] = json.loads((HERE / "demo_calls.json").read_text())
    return [call for call in every if call.get("brief")] if brief else every


def is_brief(peer: Peer, transport: str) -> bool:
    """Tell whether a peer makes the brief plan: the one that starts a server for every call."""
    return peer.name == "Inspector" and transport == "stdio"


def listing() -> Json:
    """Return the schemas of the demo's tools by name; `older` where 2025 clients see others."""
    return json.loads((HERE / "demo_listing.json").read_text())


FEATURES: Json = {
    "prompt": {"name": "introduce", "arguments": {"name": "ada", "tone": "grand", "lines": "2"}},
    "resource": "demo://people/alan",
    "blob": "demo://logo.png",
    "missing": "demo://people/nobody",
    "complete": {
        "ref": {"type": "ref/prompt", "name": "introduce"},
        "argument": {"name": "name", "value": "a"},
    },
}
"""What peers ask for beside tools."""


def visit(peer: Peer, transport: str, target: Json) -> Json:
    """Return the report of one client on one target."""
    chosen = calls(brief=is_brief(peer, transport))
    made = {**plan(peer.mode, chosen), "revision": peer.revision}
    return run_client(peer.script, target, made)


def plan(mode: str, chosen: list[Json]) -> Json:
    """Return what a client is to do."""
    return {
        "mode": mode,
        "calls": [{name: call[name] for name in ("id", "tool", "arguments")} for call in chosen],
        "features": FEATURES,
        "answer": {"row": 3, "side": "aisle"},
    }


def run_client(script: str, target: Json, plan: Json) -> Json:
    """Run a client script and return what it prints."""
    path = HERE / "clients" / script
    runner = [sys.executable, str(path)] if path.suffix == ".py" else node().node_command(path)
    done = subprocess.run(
        [*runner, json.dumps(target), json.dumps({"patience": PATIENCE, **plan})],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"{script} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout)


def environment() -> dict[str, str]:
    """Return the environment of a peer: ours, with a home of its own to leave files in."""
    home = ROOT / ".cache" / "peers-home"
    home.mkdir(parents=True, exist_ok=True)
    return {**os.environ, "HOME": str(home)}


STDIO: Json = {"command": [sys.executable, "-m", "anyshape", "demo", "--stdio"]}


@contextlib.contextmanager
def demo_over_http() -> Generator[Json]:
    """Give the target of a demo server that listens on a free port."""
    command = [sys.executable, "-m", "anyshape", "demo", "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            announcement = process.stdout.readline()
            if not announcement:
                raise RuntimeError(f"the demo ended with {process.wait()} before it listened")
            yield {"url": json.loads(announcement)["url"]}
        finally:
            process.terminate()


def version(package: str) -> str:
    """Return the version of a peer that is installed."""
    if "/" not in package:
        return importlib.metadata.version(package)
    manifest: Path = node().install() / "node_modules" / package / "package.json"
    return json.loads(manifest.read_text())["version"]


def node() -> ModuleType:
    """Return scripts/node.py."""
    name = "anyshape_node"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / "node.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        sys.modules[name] = module
    return sys.modules[name]
