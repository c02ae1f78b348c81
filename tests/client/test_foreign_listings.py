"""Listings as servers write them that are not ours: odd pages, odd entries, and what they mean."""

from __future__ import annotations

import copy
import time
from typing import TYPE_CHECKING, Any

import pytest
from aiohttp import web

from anyshape import Client, ResourceLink
from anyshape.client import Bounds
from anyshape.errors import LimitExceeded, ProtocolError, ValidationError

if TYPE_CHECKING:
    from .conftest import Refusal, Scripted, ServeHttp

Json = dict[str, Any]


def tool(name: str, **more: Any) -> Json:
    return {"name": name, "inputSchema": {"type": "object"}, **more}


def names(tools: Any) -> list[str]:
    return [tool.name for tool in tools]


@pytest.mark.parametrize("change", [{}, {"description": "newer"}, {"outputSchema": []}])
async def test_of_a_tool_on_two_pages_the_later_holds(
    scripted: type[Scripted], change: Json
) -> None:
    def page(params: Json) -> Json:
        if "cursor" in params:
            return {"tools": [tool("c"), tool("a", **change)]}
        return {"tools": [tool("a"), tool("b")], "nextCursor": "x"}

    async with Client(scripted(tools__list=page)) as client:
        listed = await client.list_tools()
        if "outputSchema" in change:
            assert names(listed) == ["b", "c"]
            assert list(client.rejected) == ["a"]
        else:
            assert names(listed) == ["a", "b", "c"]
            assert listed[0].description == change.get("description")
            assert client.rejected == {}


async def test_a_tool_that_was_listed_badly_may_be_listed_well_on_a_later_page(
    scripted: type[Scripted],
) -> None:
    def page(params: Json) -> Json:
        if "cursor" in params:
            return {"tools": [tool("a")]}
        return {"tools": [tool("a"), tool("a")], "nextCursor": "x"}

    async with Client(scripted(tools__list=page)) as client:
        assert names(await client.list_tools()) == ["a"]
        assert client.rejected == {}


async def test_the_same_cursor_twice_is_followed(scripted: type[Scripted]) -> None:
    pages = iter([["a"], ["b"], ["c"]])

    def page(params: Json) -> Json:
        listed = next(pages)
        more: Json = {} if listed == ["c"] else {"nextCursor": "more"}
        return {"tools": [tool(name) for name in listed], **more}

    async with Client(scripted(tools__list=page)) as client:
        assert names(await client.list_tools()) == ["a", "b", "c"]


async def test_a_cursor_that_expired_starts_the_list_again(
    scripted: type[Scripted], refusal: type[Refusal]
) -> None:
    def page(params: Json) -> Json:
        asked = len(server.asked("tools/list"))
        if asked == 2:
            raise refusal(-32602, "Invalid cursor")
        if "cursor" in params:
            return {"tools": [tool("c")]}
        # The list has changed meanwhile.
        return {"tools": [tool("a") if asked == 1 else tool("b")], "nextCursor": f"at {asked}"}

    server = scripted(tools__list=page)
    async with Client(server) as client:
        assert names(await client.list_tools()) == ["b", "c"]
    cursors = [params.get("cursor") for params in server.asked("tools/list")]
    assert cursors == [None, "at 1", None, "at 3"]


async def test_a_cursor_that_never_works_is_an_error(
    scripted: type[Scripted], refusal: type[Refusal]
) -> None:
    def page(params: Json) -> Json:
        if "cursor" in params:
            raise refusal(-32602, "Invalid cursor")
        return {"tools": [tool("a")], "nextCursor": "x"}

    server = scripted(tools__list=page)
    async with Client(server) as client:
        with pytest.raises(ProtocolError, match="Invalid cursor"):
            await client.list_tools()
        assert len(server.asked("tools/list")) == 4


@pytest.mark.parametrize("kind", ["task", "input_required", "", None, 5])
async def test_a_list_of_an_unknown_type_is_invalid(scripted: type[Scripted], kind: object) -> None:
    server = scripted(tools__list=lambda params: {"resultType": kind, "tools": [tool("a")]})
    async with Client(server) as client:
        with pytest.raises(ProtocolError, match="tools/list"):
            await client.list_tools()


async def test_an_output_schema_of_null_is_none(scripted: type[Scripted]) -> None:
    server = scripted(
        tools__list=lambda params: {"tools": [tool("a", outputSchema=None)]},
        tools__call=lambda params: {"content": []},
    )
    async with Client(server) as client:
        (listed,) = await client.list_tools()
        assert listed.output_schema is None
        assert not (await client.call_tool("a")).has_value


@pytest.mark.parametrize("capabilities", [{}, {"prompts": {}}, {"tools": None}])
@pytest.mark.parametrize("revision", ["2026-07-28", "2025-11-25"])
async def test_a_server_without_tools_is_not_asked_for_them(
    scripted: type[Scripted], capabilities: Json, revision: str
) -> None:
    server = scripted(
        server__discover=lambda params: {
            "supportedVersions": ["2026-07-28"],
            "capabilities": capabilities,
        },
        initialize=lambda params: {"protocolVersion": revision, "capabilities": capabilities},
    )
    async with Client(server, revision=revision) as client:
        assert await client.list_tools() == []
        with pytest.raises(ProtocolError, match="has no tool 'a'"):
            await client.call("a")
    assert server.asked("tools/list") == []


async def test_a_server_that_does_not_say_what_it_has_is_asked(scripted: type[Scripted]) -> None:
    server = scripted(
        initialize=lambda params: {"protocolVersion": "2024-11-05"},
        tools__list=lambda params: {"tools": [tool("a")]},
    )
    async with Client(server, revision="2024-11-05") as client:
        assert names(await client.list_tools()) == ["a"]


EXTENSION: Json = {"extensions": {"io.modelcontextprotocol/tasks": {}}}


@pytest.mark.parametrize(
    ("support", "capabilities", "usable"),
    [
        ("required", {"tasks": {"requests": {"tools": {"call": {}}}}}, False),
        ("required", EXTENSION, False),
        ("optional", {"tasks": {"requests": {"tools": {"call": {}}}}}, True),
        ("forbidden", EXTENSION, True),
        ("required", {"tasks": {"list": {}}}, True),
        ("required", {}, True),
    ],
)
async def test_a_tool_that_only_runs_as_a_task_is_not_usable(
    scripted: type[Scripted], support: str, capabilities: Json, usable: bool
) -> None:
    server = scripted(
        initialize=lambda params: {
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}, **capabilities},
        },
        tools__list=lambda params: {"tools": [tool("a", execution={"taskSupport": support})]},
    )
    async with Client(server, revision="2025-11-25") as client:
        assert names(await client.list_tools()) == (["a"] if usable else [])
        if not usable:
            with pytest.raises(ProtocolError, match="only runs as a task"):
                await client.call("a")


async def test_all_pages_together_are_bounded_in_bytes(scripted: type[Scripted]) -> None:
    def page(params: Json) -> Json:
        number = int(params.get("cursor", 0))
        return {
            "tools": [tool(f"t{number}", description="x" * 1_000)],
            "nextCursor": str(number + 1),
        }

    server = scripted(tools__list=page, tools__call=lambda params: {"content": []})
    async with Client(server, bounds=Bounds(max_listing_bytes=5_000)) as client:
        with pytest.raises(LimitExceeded, match="more than 5000 bytes on all its pages") as raised:
            await client.list_tools()
        assert (raised.value.limit, raised.value.allowed) == ("max_listing_bytes", 5_000)
        assert len(server.asked("tools/list")) == 5
        await client.call_tool("t0")


async def test_all_pages_together_are_bounded_in_parts(scripted: type[Scripted]) -> None:
    def page(params: Json) -> Json:
        number = int(params.get("cursor", 0))
        many: list[Json] = [{} for _ in range(1_000)]
        return {"tools": [tool(f"t{number}", _meta={"many": many})], "nextCursor": str(number + 1)}

    server = scripted(tools__list=page, tools__call=lambda params: {"content": []})
    async with Client(server, bounds=Bounds(max_parts=5_000)) as client:
        with pytest.raises(LimitExceeded, match="more than 5000 arrays, objects") as raised:
            await client.list_tools()
        assert (raised.value.limit, raised.value.allowed) == ("max_parts", 5_000)
        assert len(server.asked("tools/list")) == 5
        await client.call_tool("t0")


@pytest.mark.parametrize("member", ["nextCursor", "ttlMs", "name"])
async def test_what_should_be_a_word_or_a_number_is_not_read_if_it_is_something_else(
    scripted: type[Scripted], member: str
) -> None:
    many = [1e308] * 500_000  # for which a decoder takes four seconds
    page: Json = {"tools": [tool("a")], member: many}
    if member == "name":
        page = {"tools": [tool("a"), {**tool("b"), "name": many}]}
    async with Client(scripted(tools__list=lambda params: page)) as client:
        began = time.process_time()
        if member == "nextCursor":
            with pytest.raises(ProtocolError, match="nextCursor"):
                await client.list_tools()
        else:
            assert names(await client.list_tools()) == ["a"]
        assert time.process_time() - began < 2


async def test_a_reason_keeps_nothing_of_the_entry_that_it_is_about(
    scripted: type[Scripted],
) -> None:
    unusable = [tool("a", inputSchema={"$ref": "#/nowhere"}), tool("b", inputSchema=None), {}]
    server = scripted(tools__list=lambda params: {"tools": unusable})
    async with Client(server) as client:
        assert await client.list_tools() == []
        for error in client.rejected.values():
            assert (error.__traceback__, error.__cause__, error.__context__) == (None, None, None)
        with pytest.raises(ProtocolError, match="cannot be used"):
            await client.call_tool("a")


def requiring(*defaulted: str, nested: bool = False) -> Json:
    """Return a schema that requires `a` and `b`, and has defaults for some of them."""
    properties: Json = {
        name: {"type": "integer", **({"default": 1} if name in defaulted else {})} for name in "ab"
    }
    schema = {"type": "object", "properties": properties, "required": ["a", "b"]}
    return {"type": "object", "properties": {"in": schema}} if nested else schema


@pytest.mark.parametrize(
    ("schema", "arguments", "lenient"),
    [
        (requiring("a"), {"b": 1}, True),
        (requiring("a", "b"), {}, True),
        (requiring("a"), {"a": 1}, False),
        (requiring("a"), {"a": "1", "b": 1}, False),
        (requiring("a", nested=True), {"in": {"b": 1}}, True),
        (requiring("a", nested=True), {"in": {}}, False),
        (
            {"type": "object", "$defs": {"s": requiring("a")}, "allOf": [{"$ref": "#/$defs/s"}]},
            {"b": 1},
            True,
        ),
    ],
)
async def test_what_has_a_default_can_be_left_out_on_request_although_it_is_required(
    scripted: type[Scripted], schema: Json, arguments: Json, lenient: bool
) -> None:
    server = scripted(
        tools__list=lambda params: {"tools": [tool("a", inputSchema=schema)]},
        tools__call=lambda params: {"content": []},
    )
    before = copy.deepcopy(schema)
    async with Client(server) as client:
        with pytest.raises(ValidationError):
            await client.call_tool("a", arguments)
        if lenient:
            await client.call_tool("a", arguments, check_arguments="lenient")
    async with Client(server, check_arguments="lenient") as client:
        if lenient:
            await client.call_tool("a", arguments)
            assert server.asked("tools/call")[-1]["arguments"] == arguments
        else:
            with pytest.raises(ValidationError):
                await client.call_tool("a", arguments)
        (listed,) = await client.list_tools()
        assert listed.input.document == before


HEADED = {"type": "object", "properties": {"a": {"type": "number", "x-mcp-header": "A"}}}


@pytest.mark.parametrize("revision", ["2026-07-28", "2025-11-25"])
async def test_a_wrong_header_annotation_does_not_matter_without_headers(
    scripted: type[Scripted], revision: str
) -> None:
    server = scripted(
        initialize=lambda params: {"protocolVersion": revision, "capabilities": {"tools": {}}},
        tools__list=lambda params: {"tools": [tool("a", inputSchema=HEADED)]},
        tools__call=lambda params: {"content": []},
    )
    async with Client(server, revision=revision) as client:
        await client.call_tool("a", {"a": 1.5})
        assert client.rejected == {}


@pytest.mark.parametrize(("revision", "usable"), [("2026-07-28", False), ("2025-11-25", True)])
async def test_a_wrong_header_annotation_matters_over_http_from_2026_07_28_on(
    serve_http: ServeHttp, revision: str, usable: bool
) -> None:
    answers: Json = {
        "server/discover": {"supportedVersions": [revision], "capabilities": {"tools": {}}},
        "initialize": {"protocolVersion": revision, "capabilities": {"tools": {}}},
        "tools/list": {"tools": [tool("a", inputSchema=HEADED)]},
        "tools/call": {"content": []},
    }

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        message = await request.json()
        if "id" not in message:
            return web.Response(status=202)
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": answers[message["method"]]}
        return web.json_response(answer)

    async with serve_http(handle) as url, Client(url, revision=revision) as client:
        assert names(await client.list_tools()) == (["a"] if usable else [])
        assert list(client.rejected) == ([] if usable else ["a"])
        if usable:
            await client.call_tool("a", {"a": 1.5})


async def test_icons_at_unsafe_addresses_are_not_passed_on(scripted: type[Scripted]) -> None:
    good = {"src": "https://example.com/i.png"}
    icons = [{"src": "javascript:alert(1)"}, good]
    link = {"type": "resource_link", "uri": "a:b", "name": "c", "icons": icons}
    server = scripted(
        tools__list=lambda params: {"tools": [tool("a", icons=icons)]},
        tools__call=lambda params: {"content": [link]},
    )
    async with Client(server) as client:
        (listed,) = await client.list_tools()
        assert (listed.icons, listed.entry["icons"]) == ([good], icons)
        (block,) = (await client.call_tool("a")).content
        assert isinstance(block, ResourceLink)
        assert block.icons == [good]
