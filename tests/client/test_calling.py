"""Calls in memory against our own server: the same values at every revision."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import IntEnum
from types import MappingProxyType
from typing import Annotated, Any

import msgspec
import pytest
from patience import PATIENCE
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from anyshape import Client, Server, Text
from anyshape.errors import (
    NotJson,
    OutputMismatch,
    ProtocolError,
    ToolError,
    TransportError,
    ValidationError,
)

from .fickle import Fickle

USERS = [{"id": 1, "name": "Ada"}, {"id": 2, "name": "Grace"}]


class User(BaseModel):
    id: int
    name: str


@dataclass
class PlainUser:
    id: int
    name: str


class StructUser(msgspec.Struct):
    id: int
    name: str


class OnlyResult(BaseModel):
    result: int


async def test_values_are_the_same_at_every_revision(server: Server, revision: str) -> None:
    async with Client(server, revision=revision) as client:
        assert client.revision.value == revision
        assert await client.call("get_count", returns=int) == 42
        assert await client.call("list_users", returns=list[User]) == [User(**u) for u in USERS]  # pyright: ignore[reportArgumentType]
        assert await client.call("no_users", returns=list[User]) == []
        assert await client.call("find_user", {"id": 2}, returns=User | None) == User(
            id=2, name="Grace"
        )
        assert await client.call("find_user", {"id": 9}, returns=User | None) is None
        assert await client.call("greet", {"name": "Bo"}, returns=str) == "Hello, Bo"
        assert await client.call("nothing", returns=None) is None
        assert await client.call("own_result", returns=OnlyResult) == OnlyResult(result=5)


@pytest.mark.parametrize("structured", ["2025-06-18", "2025-11-25", "2026-07-28"])
async def test_natural_values_without_a_type(server: Server, structured: str) -> None:
    async with Client(server, revision=structured) as client:
        results = [
            (await client.call_tool(name, arguments)).value
            for name, arguments in [
                ("get_count", None),
                ("list_users", {}),
                ("no_users", {}),
                ("find_user", {"id": 9}),
                ("greet", {"name": "Bo"}),
                ("nothing", None),
            ]
        ]
        assert results == [42, USERS, [], None, "Hello, Bo", None]


async def test_a_result_has_its_parts(server: Server) -> None:
    async with Client(server) as client:
        result = await client.call_tool("get_count")
        assert (result.value, result.has_value, result.is_error) == (42, True, False)
        assert result.content == (Text("42"),)
        assert result.text == "42"
        assert result.raw["structuredContent"] == 42
        assert "io.modelcontextprotocol/serverInfo" in result.meta
        assert repr(result) == "CallResult(value=42)"


async def test_no_value_and_null_are_different(server: Server) -> None:
    async with Client(server) as client:
        null = await client.call_tool("nothing")
        absent = await client.call_tool("words_only")
        assert (null.value, null.has_value) == (None, True)
        assert (absent.value, absent.has_value) == (None, False)
        assert absent.text == "just\nwords"
        assert await client.call("words_only") == "just\nwords"
        assert await client.call("words_only", returns=str) == "just\nwords"


async def test_what_came_is_seen_without_unwrapping(server: Server) -> None:
    async with Client(server, revision="2025-11-25", unwrap=False) as client:
        assert (await client.call_tool("get_count")).value == {"result": 42}


async def test_a_failure_is_a_result_or_an_exception(server: Server) -> None:
    async with Client(server) as client:
        result = await client.call_tool("fail", {"reason": "because"})
        assert (result.is_error, result.text, result.has_value) == (True, "because", False)
        with pytest.raises(ToolError, match=r"^because$"):
            await client.call("fail", {"reason": "because"}, returns=int)


@pytest.mark.parametrize(
    ("returns", "expected"),
    [
        (list[PlainUser], [PlainUser(1, "Ada"), PlainUser(2, "Grace")]),
        (list[StructUser], [StructUser(1, "Ada"), StructUser(2, "Grace")]),
        (TypeAdapter(list[User]), [User(id=1, name="Ada"), User(id=2, name="Grace")]),
        (
            Annotated[list[User], Field(min_length=2)],
            [User(id=1, name="Ada"), User(id=2, name="Grace")],
        ),
        (tuple[User, User], (User(id=1, name="Ada"), User(id=2, name="Grace"))),
        (list[dict[str, Any]], USERS),
        (Any, USERS),
    ],
)
async def test_any_type_can_be_asked_for(server: Server, returns: Any, expected: object) -> None:
    async with Client(server) as client:
        assert await client.call("list_users", returns=returns) == expected


async def test_values_are_read_as_json_even_by_strict_models() -> None:
    class Day(BaseModel):
        model_config = ConfigDict(strict=True)
        day: date

    server = Server("days")

    @server.tool
    async def today() -> Day:
        return Day(day=date(2026, 7, 28))

    async with Client(server) as client:
        assert await client.call("today", returns=Day) == Day(day=date(2026, 7, 28))


class Level(IntEnum):
    LOW = 1


async def test_of_a_union_the_member_is_read_that_the_value_is() -> None:
    server = Server("levels")

    @server.tool
    async def level() -> timedelta | Level:
        return Level.LOW

    async with Client(server) as client:
        found = await client.call("level", returns=timedelta | Level)
        assert found is Level.LOW
        assert await client.call("level", returns=timedelta) == timedelta(seconds=1)


async def test_a_value_of_another_type_is_a_mismatch(server: Server) -> None:
    async with Client(server) as client:
        with pytest.raises(OutputMismatch, match="list_users") as raised:
            await client.call("list_users", returns=list[int])
        assert [problem.path for problem in raised.value.problems] == ["/0", "/1"]
        with pytest.raises(OutputMismatch):
            await client.call("list_users", returns=StructUser)


async def test_wrong_arguments_are_not_sent(server: Server) -> None:
    async with Client(server) as client:
        with pytest.raises(ValidationError) as raised:
            await client.call_tool("greet", {"name": 5})
        assert raised.value.problems[0].path == "/name"
        with pytest.raises(NotJson):
            await client.call_tool("greet", {"name": float("nan")})
        with pytest.raises(ValidationError):
            await client.call_tool("greet")


async def test_the_check_of_arguments_can_be_left_to_the_server(server: Server) -> None:
    async with Client(server, check_arguments=False) as client:
        assert (await client.call_tool("greet", {"name": 5})).is_error
    async with Client(server) as client:
        assert (await client.call_tool("greet", {"name": 5}, check_arguments=False)).is_error
        with pytest.raises(ToolError, match="/name"):
            await client.call("greet", {"name": 5}, check_arguments=False)
        for unfit in (object(), float("nan"), datetime(2026, 7, 28), "\ud800"):
            with pytest.raises(NotJson):
                await client.call_tool("greet", {"name": unfit}, check_arguments=False)
        with pytest.raises(NotJson):
            await client.call_tool("greet", [1], check_arguments=False)  # pyright: ignore[reportArgumentType]


async def test_arguments_may_be_any_mapping(server: Server) -> None:
    async with Client(server) as client:
        assert await client.call("greet", MappingProxyType({"name": "Bo"})) == "Hello, Bo"


async def test_an_unknown_tool_is_named_with_the_known_ones(server: Server) -> None:
    async with Client(server) as client:
        with pytest.raises(ProtocolError, match="no tool 'get_cuont'; it lists: get_count"):
            await client.call_tool("get_cuont")


async def test_a_tool_that_was_added_later_is_found(server: Server) -> None:
    async with Client(server) as client:
        await client.list_tools()

        @server.tool
        async def late() -> str:
            return "found"

        assert await client.call("late", returns=str) == "found"


async def test_calls_run_side_by_side(server: Server) -> None:
    started = asyncio.Semaphore(0)
    release = asyncio.Event()

    @server.tool
    async def wait() -> str:
        started.release()
        await release.wait()
        return "done"

    async with Client(server) as client, asyncio.timeout(PATIENCE):
        calls = [asyncio.create_task(client.call("wait", returns=str)) for _ in range(16)]
        for _ in calls:
            await started.acquire()
        assert await client.call("get_count", returns=int) == 42
        release.set()
        assert await asyncio.gather(*calls) == ["done"] * 16


async def test_metadata_reaches_the_tool(server: Server) -> None:
    from anyshape import Context

    @server.tool
    async def trace(context: Context) -> Any:
        return context.meta.get("traceparent")

    async with Client(server) as client:
        assert await client.call("trace", meta={"traceparent": "00-ab"}) == "00-ab"


@pytest.mark.parametrize(
    "name",
    [
        "io.modelcontextprotocol/protocolVersion",
        "io.modelcontextprotocol/clientInfo",
        "io.modelcontextprotocol/clientCapabilities",
        "progressToken",
    ],
)
async def test_metadata_that_the_client_writes_itself_is_refused(
    server: Server, revision: str, name: str
) -> None:
    called: list[str] = []

    @server.tool
    async def record() -> None:
        called.append("record")

    async with Client(server, revision=revision) as client:
        with pytest.raises(ProtocolError, match=name) as raised:
            await client.call_tool("record", meta={"traceparent": "00-ab", name: "mine"})
        assert raised.value.code == -32602
    assert called == []


async def test_the_server_is_known_by_what_it_says(server: Server, revision: str) -> None:
    async with Client(server, revision=revision) as client:
        assert (client.server.name, client.server.version) == ("example", "1.2.3")
        assert client.server.instructions == "Ask."
        assert "tools" in client.server.capabilities


async def test_a_client_that_is_not_open_says_so(server: Server) -> None:
    client = Client(server)
    for use in (client.list_tools(), client.call_tool("get_count")):
        with pytest.raises(TransportError, match="async with"):
            await use
    with pytest.raises(TransportError, match="async with"):
        _ = client.revision
    async with client:
        with pytest.raises(TransportError, match="open already"):
            await client.__aenter__()
    async with client:
        assert await client.call("get_count", returns=int) == 42


async def test_what_was_found_out_is_known_after_closing(server: Server) -> None:
    async with Client(server) as client:
        await client.list_tools()
    assert client.revision.value == "2026-07-28"
    assert client.server.name == "example"
    assert client.rejected == {}
    for use in (client.list_tools(), client.call_tool("get_count")):
        with pytest.raises(TransportError, match="async with"):
            await use


@pytest.mark.parametrize("target", ["ftp://example.com", "python server.py", [], ["a", 5]])
def test_a_target_that_is_none_is_refused(target: Any) -> None:
    with pytest.raises(ValueError, match="Client"):
        Client(target)


def test_a_target_of_another_type_is_refused() -> None:
    with pytest.raises(TypeError, match="expected a URL"):
        Client(5)  # pyright: ignore[reportArgumentType]


def test_an_unknown_revision_is_refused_at_once(server: Server) -> None:
    with pytest.raises(ValueError, match="'auto' or one of '2024-11-05'"):
        Client(server, revision="2027-01-01")


@pytest.mark.parametrize("revision", ["2026-07-28", "2025-11-25", "2024-11-05"])
async def test_a_ping_tells_whether_a_server_is_there(revision: str) -> None:
    server = Fickle("fickle")
    async with Client(server, revision=revision) as client:
        await client.ping()
        server.is_there = False
        with pytest.raises(TransportError):
            await client.ping()
