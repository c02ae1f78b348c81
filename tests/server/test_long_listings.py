"""Listings that take long to make: the event loop goes on meanwhile."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from typing import Any

import pytest

from anyshape import Server
from anyshape.server.features import roster
from anyshape.server.features.tools import OfferedTool

from .asking import Asker

LARGE = {
    "type": "object",
    "properties": {f"p{number}": {"type": "integer"} for number in range(5_000)},
}


@pytest.fixture
def described(monkeypatch: pytest.MonkeyPatch) -> dict[str, threading.Thread]:
    """Tell on which thread each tool was described."""
    threads: dict[str, threading.Thread] = {}
    describe = OfferedTool.describe

    def noticed(self: OfferedTool, *of: Any) -> Mapping[str, Any]:
        threads[self.name] = threading.current_thread()
        return describe(self, *of)

    monkeypatch.setattr(OfferedTool, "describe", noticed)
    return threads


def make_server(schemas: Mapping[str, dict[str, Any]]) -> Server:
    server = Server("s")
    for name, schema in schemas.items():

        @server.tool(name=name, input_schema=schema)
        async def tool(arguments: dict[str, Any]) -> int:
            return len(arguments)

    return server


@pytest.mark.parametrize("revision", ["2026-07-28", "2025-11-25"])
async def test_a_tool_with_a_large_schema_is_described_on_a_thread(
    described: dict[str, threading.Thread], revision: str
) -> None:
    confined = {"type": "object", "propertyNames": {"pattern": "(?=a)a"}}
    server = make_server({"large": LARGE, "small": {"type": "object"}, "confined": confined})
    listed = (await Asker(server, revision).result("tools/list"))["tools"]
    assert [len(tool["inputSchema"].get("properties", {})) for tool in listed] == [5_000, 0, 0]
    assert described["large"] is not threading.current_thread()
    assert described["small"] is described["confined"] is threading.current_thread()
    described.clear()
    assert (await Asker(server, revision).result("tools/list"))["tools"] == listed
    assert not described


async def test_others_have_their_turn_while_many_tools_are_described(
    described: dict[str, threading.Thread], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(roster, "_HELD", 0.0)
    server = make_server({f"tool{number}": {"type": "object"} for number in range(20)})
    seen: list[int] = []

    async def look() -> None:
        while len(described) < 20:
            seen.append(len(described))
            await asyncio.sleep(0)

    looking = asyncio.create_task(look())
    assert len((await Asker(server).result("tools/list"))["tools"]) == 20
    await looking
    assert len(set(seen)) > 10
