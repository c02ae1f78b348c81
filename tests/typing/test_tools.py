"""What a type checker knows of tools: checked by pyright in strict mode, and run as tests."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Literal, assert_type

from anyshape import (
    ABSENT,
    UNSTRUCTURED,
    Accepted,
    Cancelled,
    Client,
    Context,
    Declined,
    Elicited,
    Server,
    Text,
    Tool,
    ToolResult,
)
from anyshape.client import Sampled, Sampling
from anyshape.protocol.result import Absent, EncodedResult


def find(query: str, limit: int = 10) -> list[str]:
    return [query] * limit


async def find_later(query: str, context: Context) -> ToolResult[list[str]]:
    context.progress(1, 2, "half way")
    return ToolResult(structured=[query], content=["found", Text("it")])


def test_a_decorated_function_keeps_its_type() -> None:
    server = Server("typing")
    plain = server.tool(find)
    named = server.tool(name="named", output_schema={"type": "array"}, timeout=3)(find)
    later = server.tool(find_later)
    assert_type(plain("a", limit=2), list[str])
    assert_type(named("a"), list[str])
    kept: Callable[[str, Context], Awaitable[ToolResult[list[str]]]] = later
    assert kept is find_later
    assert plain("a", limit=2) == ["a", "a"]


async def test_an_answer_has_the_type_that_was_asked_for() -> None:
    server = Server("typing")

    @dataclass
    class Point:
        x: int

    @server.tool
    async def ask(context: Context) -> str:
        point = await context.elicit("Where?", Point)
        assert_type(point, Accepted[Point] | Declined | Cancelled)
        if isinstance(point, Accepted):
            assert_type(point.data, Point)
        written = await context.elicit("What?", {"type": "object", "properties": {}})
        assert_type(written, Elicited[dict[str, Any]])
        assert_type(await context.elicit("Sure?"), Elicited[None])
        assert_type(await context.elicit("Which?", Literal["a", "b"]), Elicited[Any])
        said = await context.sample("Hello", tools=[server.tools["ask"]])
        assert_type(said.text, str)
        assert_type([root.uri for root in await context.roots()], list[str])
        return point.action

    async with Client(
        server,
        on_elicit=lambda asked: _fill(asked.schema or {}),
        on_sample=Sampling(lambda asked: Sampled("Hi", model="m"), tools=True),
        roots=[],
    ) as client:
        assert (await client.call_tool("ask", {})).value == "accept"


def _fill(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {name: 1 if name == "x" else "a" for name in schema["properties"]}


def test_a_method_keeps_its_type() -> None:
    class Shop:
        def price(self, item: str) -> int:
            return len(item)

    server = Server("typing")
    price = server.tool(Shop().price)
    assert_type(price("tea"), int)
    assert price("tea") == 3


def test_a_result_knows_the_type_of_its_value() -> None:
    result = ToolResult(structured=3)
    assert_type(result, ToolResult[int])
    assert_type(result.structured, int | Absent)
    if result.structured is not ABSENT:
        assert_type(result.structured, int)
    assert ToolResult[int](3) == result


async def test_a_tool_is_made_and_called_with_known_types() -> None:
    made = Tool.from_function(find, output_schema=UNSTRUCTURED)
    assert_type(made, Tool)
    assert_type(made.name, str)
    assert_type(made.timeout, float | None)
    result = await made.call(b'{"query": "a", "limit": 1}', Context())
    assert_type(result, EncodedResult)
    assert_type(result.structured, bytes | None)

    async def handler(arguments: dict[str, Any]) -> Any:
        return arguments

    by_hand = Tool(
        name="by_hand", handler=handler, input_schema={"type": "object"}, output_schema=True
    )
    assert_type(by_hand, Tool)


def test_a_context_has_known_types() -> None:
    context = Context(request_id=3)
    assert_type(context.request_id, str | int | float | None)
    assert_type(context.cancelled, bool)
    context.progress(0.5)


class Pool:
    size = 3


@asynccontextmanager
async def lifespan(server: Server) -> AsyncGenerator[Pool]:
    assert_type(server, Server)
    yield Pool()


async def size(context: Context[Pool], anything: Context) -> int:
    assert_type(context.state, Pool)
    assert_type(anything.state, Any)
    assert context is anything
    return context.state.size


async def test_the_state_of_a_lifespan_has_its_type() -> None:
    server = Server(lifespan=lifespan)
    server.tool(size)
    async with Client(server) as client:
        assert await client.call("size", returns=int) == 3
