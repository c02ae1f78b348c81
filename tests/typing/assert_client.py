"""Types that checkers have to infer for calls; read by `test_client.py`, never run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, assert_type

from pydantic import BaseModel, Field, TypeAdapter

from anyshape import Client
from anyshape.client import CallResult, ListedTool, Progress, ServerInfo
from anyshape.errors import AnyshapeError
from anyshape.protocol.content import Content
from anyshape.protocol.revision import Revision


class User(BaseModel):
    id: int


@dataclass
class Point:
    x: float


async def check(client: Client) -> None:
    """Ask for values in every way that types can be written."""
    assert_type(await client.call("x", returns=list[User]), list[User])
    assert_type(await client.call("x", {"a": 1}, returns=User), User)
    assert_type(await client.call("x", returns=Point), Point)
    assert_type(await client.call("x", returns=int), int)
    assert_type(await client.call("x", returns=int | None), int | None)
    assert_type(await client.call("x", returns=None), None)
    assert_type(await client.call("x", returns=dict[str, list[User]]), dict[str, list[User]])
    assert_type(await client.call("x", returns=tuple[int, str]), tuple[int, str])
    assert_type(await client.call("x", returns=Annotated[int, Field(ge=1)]), int)
    assert_type(await client.call("x", returns=Literal["a", "b"]), Literal["a", "b"])
    assert_type(await client.call("x", returns=TypeAdapter(list[int])), list[int])
    assert_type(await client.call("x", returns=Any), Any)
    assert_type(await client.call("x"), Any)


async def check_results(client: Client) -> None:
    """Look at what a call and a listing give."""
    result = await client.call_tool("x", {"a": 1}, timeout=1, on_progress=print)
    assert_type(result, CallResult)
    assert_type(result.has_value, bool)
    assert_type(result.is_error, bool)
    assert_type(result.text, str)
    assert_type(result.content, tuple[Content, ...])
    assert_type(result.raw, Mapping[str, Any])
    assert_type(await client.list_tools(), list[ListedTool])
    assert_type(client.rejected, Mapping[str, AnyshapeError])
    assert_type(client.revision, Revision)
    assert_type(client.server, ServerInfo)
    async with client as entered:
        assert_type(entered, Client)


async def report(progress: Progress) -> None:
    """Take a report, later."""
    assert_type(progress.total, float | None)


async def check_targets() -> None:
    """Make clients of everything that is a target."""
    Client("https://example.com/mcp", auth="token")
    Client(["python", "server.py"])
    Client(("python", "server.py"), auth=lambda: {"X-Key": "k"})
    await Client("http://x").call_tool("x", on_progress=report)
