"""Who is measured: each contender's name, how it is started, and what it speaks."""

from __future__ import annotations

import functools
import importlib.util
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bed import shop
from bed.listing import make_entries
from bed.schemas_of_shop import INPUTS, OUTPUTS
from bed.wire import HANDSHAKE, REVISIONS

ROOT = Path(__file__).resolve().parent.parent.parent
BENCHMARKS = ROOT / "benchmarks"
SERVERS = BENCHMARKS / "bed" / "servers"
CLIENTS = BENCHMARKS / "bed" / "clients"
CACHE = ROOT / ".cache" / "benchmarks"


@dataclass(frozen=True)
class Contender:
    """A server that can be started over HTTP or stdio."""

    name: str
    program: str
    options: tuple[str, ...] = ()
    revisions: tuple[str, ...] = REVISIONS

    def command(self, transport: str, port: int = 0, tools: int = 0) -> list[str]:
        """Return the command, to be run in `BENCHMARKS`, that serves the shop and more tools."""
        arguments = [transport, str(port), *self.options, "--tools", str(tools)]
        script = SERVERS / self.program
        if script.suffix == ".mjs":
            return node_command(script, *arguments, "--shop", str(shop_as_json()))
        return [sys.executable, "-m", f"bed.servers.{script.stem}", *arguments]


FLOOR = Contender("floor", "floor.py")
ANYSHAPE = Contender("anyshape, pydantic", "anyshape_high.py")
ANYSHAPE_STRUCTS = Contender("anyshape, msgspec", "anyshape_high.py", ("--types", "msgspec"))
ANYSHAPE_DICTS = Contender("anyshape, TypedDict", "anyshape_high.py", ("--types", "typed_dicts"))
ANYSHAPE_ASGI = Contender("anyshape.asgi(), pydantic", "anyshape_high.py", ("--asgi",))
MCP_LOW = Contender("mcp lowlevel", "mcp_low.py")
MCP_HIGH = Contender("mcp MCPServer", "mcp_high.py")
FASTMCP = Contender("FastMCP", "fastmcp_high.py")
TYPESCRIPT2_LOW = Contender("TypeScript 2 Server", "typescript2_low.mjs")
TYPESCRIPT2_HIGH = Contender("TypeScript 2 McpServer", "typescript2_high.mjs")
TYPESCRIPT1 = Contender("TypeScript 1 McpServer", "typescript1_high.mjs", revisions=(HANDSHAKE,))

OURS = (ANYSHAPE, ANYSHAPE_STRUCTS, ANYSHAPE_DICTS)
"""Over HTTP as `server.run("http")` serves it; `ANYSHAPE_ASGI` is its application on a uvicorn that
is set up as it is for the floor and the Python peers."""
PEERS = (MCP_LOW, MCP_HIGH, FASTMCP, TYPESCRIPT2_LOW, TYPESCRIPT2_HIGH, TYPESCRIPT1)
ALL = (FLOOR, *OURS, *PEERS)


@functools.cache
def node_module() -> Any:
    """Return scripts/node.py, which installs Node and its packages when first asked."""
    spec = importlib.util.spec_from_file_location("anyshape_node", ROOT / "scripts" / "node.py")
    if spec is None or spec.loader is None:
        raise FileNotFoundError("scripts/node.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def node_command(script: Path, *arguments: str) -> list[str]:
    """Return the command that runs a script of ours with Node 22."""
    return node_module().node_command(script, *arguments)


@functools.cache
def shop_as_json() -> Path:
    """Write the shop's data and schemas where the TypeScript contenders read them."""
    data = {
        "count": shop.COUNT,
        "created": shop.CREATED,
        "taxRate": shop.TAX_RATE,
        "users": shop.USERS,
        "arguments": shop.ARGUMENTS,
        "expected": shop.EXPECTED,
        "inputs": INPUTS,
        "outputs": OUTPUTS,
        "listing": make_entries(10_000),
    }
    CACHE.mkdir(parents=True, exist_ok=True)
    path = CACHE / "shop.json"
    path.write_text(json.dumps(data))
    return path
