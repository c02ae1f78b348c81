"""Listing: pages, lifetimes, changes, and every keyword as it came."""

from __future__ import annotations

import asyncio
import gc
import threading
from typing import TYPE_CHECKING, Any

import pytest

from anyshape import Client, Server
from anyshape.client import Bounds
from anyshape.client.answers import decode_value
from anyshape.client.listing import Listing
from anyshape.errors import LimitExceeded, ProtocolError, TransportError

if TYPE_CHECKING:
    from .conftest import Refusal, Scripted

Json = dict[str, Any]


def tool(name: str, **more: Any) -> Json:
    return {"name": name, "inputSchema": {"type": "object"}, **more}


def names(tools: Any) -> list[str]:
    return [tool.name for tool in tools]


async def test_pages_are_followed_to_the_end(scripted: type[Scripted]) -> None:
    pages: dict[str | None, Json] = {
        None: {"tools": [tool("a")], "nextCursor": ""},
        "": {"tools": [tool("b")], "nextCursor": "x"},
        "x": {"tools": [tool("c")], "nextCursor": None},
    }
    server = scripted(tools__list=lambda params: pages[params.get("cursor")])
    async with Client(server) as client:
        assert names(await client.list_tools()) == ["a", "b", "c"]
    assert [params.get("cursor") for params in server.asked("tools/list")] == [None, "", "x"]


async def test_a_client_that_is_opened_again_keeps_no_listing_from_before(
    scripted: type[Scripted],
) -> None:
    client = Client(scripted(tools__list=lambda _: {"tools": [tool("a")]}))

    def count() -> int:
        gc.collect()
        # By their own type: objects of other tests may not know their class.
        return sum(issubclass(type(each), Listing) for each in gc.get_objects())

    counts: list[int] = []
    for _ in range(3):
        async with client:
            assert names(await client.list_tools()) == ["a"]
        counts.append(count())
    assert counts == counts[:1] * 3


async def test_pages_and_tools_are_bounded(scripted: type[Scripted]) -> None:
    def page(params: Json) -> Json:
        number = int(params.get("cursor", 0))
        return {"tools": [tool(f"t{number}")], "nextCursor": str(number + 1)}

    server = scripted(tools__list=page)
    async with Client(server, bounds=Bounds(max_pages=3)) as client:
        with pytest.raises(LimitExceeded) as raised:
            await client.list_tools()
        assert (raised.value.limit, raised.value.allowed) == ("max_pages", 3)
    assert len(server.asked("tools/list")) == 3
    async with Client(server, bounds=Bounds(max_tools=2)) as client:
        with pytest.raises(LimitExceeded) as raised:
            await client.list_tools()
        assert raised.value.limit == "max_tools"


async def test_pages_share_one_time_limit(scripted: type[Scripted]) -> None:
    async def page(params: Json) -> Json:
        number = int(params.get("cursor", 0))
        await asyncio.sleep(0.05 if number else 0)
        return {"tools": [tool(f"t{number}")], "nextCursor": str(number + 1)}

    server = scripted(tools__list=page, tools__call=lambda params: {"content": []})
    async with Client(server) as client:
        with pytest.raises(TransportError, match=r"tools/list within 0\.2 s"):
            await client.list_tools(timeout=0.2)
        assert len(server.asked("tools/list")) < 10
        await client.call_tool("t0")


async def test_a_lifetime_saves_asking_again(scripted: type[Scripted]) -> None:
    server = scripted(tools__list=lambda params: {"tools": [tool("a")], "ttlMs": 60_000})
    async with Client(server) as client:
        for _ in range(3):
            assert names(await client.list_tools()) == ["a"]
    assert len(server.asked("tools/list")) == 1


@pytest.mark.parametrize("ttl", [0, -5, None, "60000", True])
async def test_without_a_lifetime_the_server_is_asked_each_time(
    scripted: type[Scripted], ttl: Any
) -> None:
    server = scripted(tools__list=lambda params: {"tools": [tool("a")], "ttlMs": ttl})
    async with Client(server) as client:
        for _ in range(3):
            await client.list_tools()
    assert len(server.asked("tools/list")) == 3


async def test_the_shortest_lifetime_of_all_pages_counts(scripted: type[Scripted]) -> None:
    def page(params: Json) -> Json:
        if "cursor" in params:
            return {"tools": [tool("b")], "ttlMs": 0}
        return {"tools": [tool("a")], "ttlMs": 60_000, "nextCursor": "x"}

    server = scripted(tools__list=page)
    async with Client(server) as client:
        await client.list_tools()
        await client.list_tools()
    assert len(server.asked("tools/list")) == 4


async def test_an_expired_list_is_renewed_before_a_call(
    scripted: type[Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    monkeypatch.setattr("anyshape.client.listing.time.monotonic", lambda: now)
    server = scripted(
        tools__list=lambda params: {"tools": [tool("a")], "ttlMs": 5000},
        tools__call=lambda params: {"content": []},
    )
    async with Client(server) as client:
        await client.call_tool("a")
        now += 4.9
        await client.call_tool("a")
        assert len(server.asked("tools/list")) == 1
        now += 0.2
        await client.call_tool("a")
        assert len(server.asked("tools/list")) == 2


async def test_calls_do_not_list_again_where_there_is_no_lifetime(scripted: type[Scripted]) -> None:
    server = scripted(
        tools__list=lambda params: {"tools": [tool("a")]},
        tools__call=lambda params: {"content": []},
    )
    async with Client(server) as client:
        for _ in range(3):
            await client.call_tool("a")
    assert len(server.asked("tools/list")) == 1


async def test_callers_at_once_share_one_list(scripted: type[Scripted]) -> None:
    async def page(params: Json) -> Json:
        await asyncio.sleep(0.01)
        return {"tools": [tool("a")]}

    server = scripted(
        tools__list=lambda params: page(params), tools__call=lambda params: {"content": []}
    )
    async with Client(server) as client:
        await asyncio.gather(*(client.call_tool("a") for _ in range(10)))
    assert len(server.asked("tools/list")) == 1


async def test_a_change_outdates_a_list_that_would_still_live(scripted: type[Scripted]) -> None:
    listed = ["a"]
    server = scripted(
        tools__list=lambda params: {"tools": [tool(n) for n in listed], "ttlMs": 60_000}
    )
    async with Client(server) as client:
        assert names(await client.list_tools()) == ["a"]
        listed.append("b")
        server.say("notifications/tools/list_changed")
        assert names(await client.list_tools()) == ["a", "b"]


async def test_our_own_server_tells_of_changes(server: Server, revision: str) -> None:
    async with Client(server, revision=revision) as client:
        before = names(await client.list_tools())
        server.remove_tool("greet")
        await asyncio.sleep(0)  # Changes of one turn of the loop are told together.
        assert set(before) - set(names(await client.list_tools())) == {"greet"}


async def test_a_list_that_cannot_be_renewed_still_serves_calls(
    scripted: type[Scripted], refusal: type[Refusal]
) -> None:
    healthy = True

    def page(params: Json) -> Json:
        if not healthy:
            raise refusal(-32603, "broken")
        return {"tools": [tool("a")]}

    server = scripted(tools__list=page, tools__call=lambda params: {"content": []})
    async with Client(server) as client:
        await client.list_tools()
        healthy = False
        server.say("notifications/tools/list_changed")
        await client.call_tool("a")
        with pytest.raises(ProtocolError, match="broken"):
            await client.list_tools()


async def test_schemas_are_kept_exactly_as_received(scripted: type[Scripted]) -> None:
    entry = tool(
        "exact",
        title="Exact",
        description="d",
        annotations={"readOnlyHint": True, "vendor": 1},
        icons=[{"src": "https://example.com/i.png"}],
        _meta={"a/b": [1]},
        vendor={"kept": True},
        outputSchema={"const": None, "x-vendor": {"$ref": "nowhere"}, "maximum": 1.0},
    )
    entry["inputSchema"] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {"n": {"$anchor": "n", "type": "integer"}},
        "properties": {"b": {"$ref": "#n"}, "a": {"const": None, "default": {"$ref": "x"}}},
        "if": {"required": ["a"]},
        "then": {"required": ["b"]},
        "unevaluatedProperties": False,
        "maxProperties": 123456789012345678901234567890,
    }
    server = scripted(tools__list=lambda params: {"tools": [entry]})
    async with Client(server) as client:
        (listed,) = await client.list_tools()
        assert listed.entry == entry
        assert list(listed.input_schema) == list(entry["inputSchema"])
        assert listed.input_schema == entry["inputSchema"]
        assert listed.output_schema == entry["outputSchema"]
        assert repr(listed.output_schema) == repr(entry["outputSchema"])
        assert (listed.title, listed.description) == ("Exact", "d")
        assert listed.annotations == entry["annotations"]
        assert listed.icons == entry["icons"]
        assert listed.meta == {"a/b": [1]}


async def test_two_tools_of_one_name_are_both_refused(scripted: type[Scripted]) -> None:
    listed = [tool("a"), tool("b"), tool("a")]
    async with Client(scripted(tools__list=lambda params: {"tools": listed})) as client:
        assert names(await client.list_tools()) == ["b"]
        assert list(client.rejected) == ["a"]
        with pytest.raises(ProtocolError, match="two tools"):
            await client.call_tool("a")


async def test_a_rejected_tool_that_is_repaired_can_be_used(scripted: type[Scripted]) -> None:
    listed = [tool("a", outputSchema=True)]
    server = scripted(
        tools__list=lambda params: {"tools": listed}, tools__call=lambda params: {"content": []}
    )
    async with Client(server) as client:
        await client.list_tools()
        assert "outputSchema" in str(client.rejected["a"])
        listed[0] = tool("a")
        await client.list_tools()
        assert client.rejected == {}
        await client.call_tool("a")


async def test_unchanged_tools_are_not_judged_again(scripted: type[Scripted]) -> None:
    server = scripted(tools__list=lambda params: {"tools": [tool("a"), tool("b")]})
    async with Client(server) as client:
        first = await client.list_tools()
        second = await client.list_tools()
        assert [one is other for one, other in zip(first, second, strict=True)] == [True, True]


async def test_a_long_tool_is_not_read_on_the_event_loop(
    scripted: type[Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    readers: dict[str, int] = {}

    def read(text: bytes, max_depth: int) -> Any:
        entry = decode_value(text, max_depth)
        readers[entry["name"]] = threading.get_ident()
        return entry

    monkeypatch.setattr("anyshape.client.listing.decode_value", read)
    listed = [tool("short"), tool("long", description="x" * 100_000), tool("last")]
    async with Client(scripted(tools__list=lambda params: {"tools": listed})) as client:
        assert names(await client.list_tools()) == ["short", "long", "last"]
    here = threading.get_ident()
    assert {name: ident == here for name, ident in readers.items()} == {
        "short": True,
        "long": False,
        "last": True,
    }


async def test_a_rejection_is_logged_once(
    scripted: type[Scripted], caplog: pytest.LogCaptureFixture
) -> None:
    listed = [tool("a", outputSchema=False), tool("b")]
    async with Client(scripted(tools__list=lambda params: {"tools": listed})) as client:
        await client.list_tools()
        await client.list_tools()
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert "tool a cannot be used: outputSchema" in record.getMessage()


async def test_a_server_that_stopped_telling_is_asked_to_tell_again(
    scripted: type[Scripted],
) -> None:
    ended = asyncio.Event()

    async def listen(params: Json) -> Json:
        await ended.wait()
        ended.clear()
        return {"resultType": "complete"}

    server = scripted(
        server__discover=lambda params: {
            "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {"listChanged": True}},
        },
        tools__list=lambda params: {"tools": [tool("a")]},
        subscriptions__listen=lambda params: listen(params),
    )
    async with Client(server) as client:
        await client.list_tools()
        await client.list_tools()
        assert len(server.asked("subscriptions/listen")) == 1
        ended.set()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        await client.list_tools()
        listening = server.asked("subscriptions/listen")
        assert len(listening) == 2
        assert listening[0]["notifications"] == {"toolsListChanged": True}


async def test_a_server_that_cannot_tell_is_asked_once(scripted: type[Scripted]) -> None:
    server = scripted(
        server__discover=lambda params: {
            "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {"listChanged": True}},
        },
        tools__list=lambda params: {"tools": [tool("a")]},
    )
    async with Client(server) as client:
        for _ in range(3):
            await client.list_tools()
        assert len(server.asked("subscriptions/listen")) == 1
    async with Client(server, listen=False) as client:
        await client.list_tools()
        assert len(server.asked("subscriptions/listen")) == 1
