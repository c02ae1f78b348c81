"""What the comparison says of Anyshape and of others was seen here."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from anyshape import AnyshapeError, Client, LimitExceeded, OutputMismatch, UnresolvableReference

HERE = Path(__file__).resolve().parent
PAGE = (HERE.parents[1] / "docs" / "comparison.md").read_text()

COMMANDS = {
    "Anyshape": [sys.executable, str(HERE / "function_server.py"), "anyshape"],
    "`MCPServer`": [sys.executable, str(HERE / "function_server.py"), "mcp"],
    "`mcp` low level": [sys.executable, str(HERE / "lowlevel_server.py")],
    "FastMCP": [sys.executable, str(HERE / "function_server.py"), "fastmcp"],
}


def table(heading: str) -> dict[str, dict[str, str]]:
    """Return a table of the page: row, then column, then cell."""
    text = PAGE.split(f"## {heading}\n")[1]
    lines = [line for line in text.split("\n\n")[0].splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    return {row[0]: dict(zip(rows[0][1:], row[1:], strict=True)) for row in rows[2:]}


SERVERS = table("Servers")
CLIENTS = table("Clients")


async def answer(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    return dict((await client.call_tool(tool, arguments)).raw)


async def shape_of(client: Client, tool: str) -> str:
    try:
        result = await answer(client, tool)
    except OutputMismatch:  # it promised a value
        return "nothing"
    except AnyshapeError as error:
        return "listing fails" if "invalid result" in str(error) else f"{error}"
    if "structuredContent" not in result:
        return "text"
    value: Any = result["structuredContent"]
    if isinstance(value, list):
        return "array"
    return "null" if value is None else "envelope" if set[str](value) == {"result"} else "object"


async def text_of_empty(client: Client) -> str:
    content = (await answer(client, "empty"))["content"]
    if not content:
        return "none"
    return "`[]`" if content[0]["text"] == "[]" else "the author's"


async def wrong_value(client: Client) -> str:
    try:
        result = await answer(client, "wrong")
    except OutputMismatch:
        return "sent"
    return "refused" if result["isError"] else "changed"


async def passed(client: Client, changed: str, **arguments: Any) -> str:
    """Return what became of arguments for a tool that takes only `limit`, an integer."""
    result = await answer(client, "limit", **arguments)
    if result.get("isError"):
        return "refused"
    return "passed on" if result["structuredContent"] == arguments else changed


async def json_text(client: Client) -> str:
    result = await answer(client, "kind", text='{"a": 1}')
    return "replaced" if result.get("isError") else "kept"


@pytest.mark.parametrize("column", COMMANDS)
async def test_a_server_does_what_the_table_says(column: str) -> None:
    def visit(revision: str) -> Client:
        return Client(COMMANDS[column], revision=revision, unwrap=False, check_arguments=False)

    async with visit("2026-07-28") as new, visit("2025-11-25") as old, visit("2025-03-26") as older:
        seen = {
            "`list[str]`, to a 2026-07-28 client": await shape_of(new, "names"),
            "the same tool, to a 2025-11-25 client": await shape_of(old, "names"),
            "the same tool, to a 2025-03-26 client": await shape_of(older, "names"),
            "null, to a 2026-07-28 client": await shape_of(new, "nobody"),
            "the text beside an empty list": await text_of_empty(new),
            "a value that breaks the output schema": await wrong_value(new),
            "a misspelt optional argument": await passed(new, "dropped", limt=1),
            '`"7"` where the schema says integer': await passed(new, "becomes 7", limit="7"),
            '`{"a": 1}` as a string, for `str \\| None`': await json_text(new),
        }
    said = {row: cells[column] for row, cells in SERVERS.items()}
    said.pop("a hand-written input schema on a function")
    assert seen == said


def test_who_takes_a_hand_written_input_schema_on_a_function() -> None:
    from fastmcp import FastMCP
    from mcp.server.mcpserver import MCPServer

    from anyshape import Tool

    takes = {
        "Anyshape": Tool.from_function,
        "`MCPServer`": MCPServer.tool,
        "FastMCP": FastMCP.tool,
    }
    row = SERVERS["a hand-written input schema on a function"]
    for column, function in takes.items():
        found = "input_schema" in inspect.signature(function).parameters
        assert row[column] == ("yes" if found else "no")


# Clients.

STRANGER = HERE / "stranger.py"


async def visit_anyshape() -> tuple[str, str]:
    async with Client([sys.executable, str(STRANGER), "elsewhere"]) as client:
        await client.list_tools()
        assert isinstance(client.rejected["elsewhere"], UnresolvableReference)
        return "rejected at listing", "usable" if await client.call("good") == {} else ""


async def visit_mcp() -> tuple[str, str]:
    from mcp import Client as Official
    from mcp import StdioServerParameters, stdio_client

    parameters = StdioServerParameters(command=sys.executable, args=[str(STRANGER), "elsewhere"])
    async with Official(stdio_client(parameters, errlog=sys.__stderr__ or sys.stderr)) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert "elsewhere" in names
        good = await client.call_tool("good", {})
        # The SDK lets the validator's own exception out.
        with pytest.raises(Exception, match=r"example\.com"):
            await client.call_tool("elsewhere", {})
        return "fails when called", "usable" if good.structured_content == {} else ""


async def visit_fastmcp() -> tuple[str, str]:
    from fastmcp import Client as Fast
    from fastmcp.client.transports import StdioTransport

    transport = StdioTransport(
        sys.executable, [str(STRANGER), "elsewhere"], log_file=sys.__stderr__
    )
    async with Fast(transport) as client:
        assert "elsewhere" in [tool.name for tool in await client.list_tools()]
        good = await client.call_tool("good", {})
        with pytest.raises(RuntimeError, match=r"example\.com"):
            await client.call_tool("elsewhere", {})
        return "fails when called", "usable" if good.structured_content == {} else ""


@pytest.mark.parametrize(
    ("column", "visit"),
    [("Anyshape", visit_anyshape), ("`mcp`", visit_mcp), ("FastMCP", visit_fastmcp)],
)
async def test_a_bad_tool_costs_what_the_table_says(
    column: str, visit: Callable[[], Awaitable[tuple[str, str]]]
) -> None:
    bad, others = await visit()
    assert bad == CLIENTS["a tool whose schema refers to another host"][column]
    assert others == CLIENTS["the other tools of that server"][column]


async def test_the_value_of_a_number_is_natural_here_and_not_there() -> None:
    from fastmcp import Client as Fast
    from fastmcp.client.transports import StdioTransport
    from mcp import Client as Official
    from mcp import StdioServerParameters, stdio_client

    row = CLIENTS["the value of a number tool, at 2025-11-25"]
    demo = ["-m", "anyshape", "demo", "--stdio"]
    async with Client([sys.executable, *demo], revision="2025-11-25") as ours:
        assert str(await ours.call("get-count")) == row["Anyshape"]
    parameters = StdioServerParameters(command=sys.executable, args=demo)
    async with Official(
        stdio_client(parameters, errlog=sys.__stderr__ or sys.stderr), mode="legacy"
    ) as theirs:
        said = (await theirs.call_tool("get-count", {})).structured_content
        assert (said, row["`mcp`"]) == ({"result": 42}, "in the envelope")
    async with Fast(
        StdioTransport(sys.executable, demo, log_file=sys.__stderr__), mode="legacy"
    ) as fast:
        result = await fast.call_tool("get-count", {})
        assert (result.structured_content, row["FastMCP"]) == ({"result": 42}, "in the envelope")


async def test_an_exponential_schema_ends_with_a_limit() -> None:
    async with Client([sys.executable, str(STRANGER), "doubling"]) as client:
        listed = {tool.name for tool in await client.list_tools()}
        if "doubling" in listed:
            with pytest.raises(LimitExceeded):
                await client.call("doubling")
        else:
            assert isinstance(client.rejected["doubling"], LimitExceeded)
