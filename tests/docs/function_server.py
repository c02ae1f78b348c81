"""The same functions as tools of one of three frameworks: `anyshape`, `mcp` or `fastmcp`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, cast


def names() -> list[str]:
    return ["Ada", "Grace"]


def nobody() -> str | None:
    return None


def empty() -> list[str]:
    return []


def wrong() -> int:
    return cast("int", "seven")


def limit(limit: int = 5) -> int:
    return limit


def kind(text: str | None = None) -> str:
    return type(text).__name__


FUNCTIONS: list[Callable[..., Any]] = [names, nobody, empty, wrong, limit, kind]


def main(framework: str) -> None:
    if framework == "anyshape":
        from anyshape import Server

        ours = Server("functions")
        for function in FUNCTIONS:
            ours.tool(function)
        ours.run()
    elif framework == "mcp":
        from mcp.server.mcpserver import MCPServer

        theirs = MCPServer("functions", log_level="CRITICAL")
        for function in FUNCTIONS:
            theirs.tool()(function)
        theirs.run("stdio")
    else:
        from fastmcp import FastMCP

        fast = FastMCP("functions")
        for function in FUNCTIONS:
            fast.tool(function)
        fast.run("stdio", show_banner=False, log_level="CRITICAL")


if __name__ == "__main__":
    main(sys.argv[1])
