"""Known clients are listed a form that they take, and held to the author's schema all the same."""

from __future__ import annotations

from typing import Any

import pytest

from anyshape import Server
from anyshape.server import KNOWN_CLIENTS, KnownClient, Need, ServerOptions, ShapeOptions

from .asking import Asker
from .visiting import MODERN

CLAUDE = {"name": "claude-code", "version": "2.1.325"}
CODEX = {"name": "codex-mcp-client", "version": "0.166.0", "title": "Codex"}
GEMINI = {"name": "gemini-cli-mcp-client", "version": "0.61.0"}
DEFAULT = {"name": "mcp", "version": "0.1.0"}
OTHER = {"name": "other", "version": "1"}
EITHER: dict[str, Any] = {
    "type": "object",
    "properties": {"id": {"type": "integer"}, "name": {"type": "string"}},
    "oneOf": [{"required": ["id"]}, {"required": ["name"]}],
}


class Peer(Asker):
    """A client of some name and revision."""

    def __init__(self, server: Server, client: dict[str, Any], revision: str) -> None:
        super().__init__(server, revision, client)

    async def tool(self, name: str) -> dict[str, Any]:
        listed = await self.result("tools/list")
        return next(tool for tool in listed["tools"] if tool["name"] == name)

    async def call(self, name: str, arguments: dict[str, Any]) -> Any:
        return await self.result("tools/call", name=name, arguments=arguments)


def make(**shape: Any) -> Server:
    server = Server("s", options=ServerOptions(shape=ShapeOptions(**shape)))

    @server.tool(input_schema=EITHER)
    async def find(arguments: dict[str, Any]) -> list[str]:
        return sorted(arguments)

    @server.tool
    async def note(
        text: str, tag: str = "none", stars: int | None = 3, inner: dict[str, int] | None = None
    ) -> str | None:
        return f"{text} {tag} {stars}" if text else None

    return server


@pytest.mark.parametrize("client", [CLAUDE, CODEX], ids=lambda client: client["name"])
@pytest.mark.parametrize("revision", ["2025-03-26", "2025-11-25", MODERN])
async def test_hosts_whose_provider_refuses_it_are_listed_no_composition_at_the_root(
    client: dict[str, Any], revision: str
) -> None:
    peer = Peer(make(), client, revision)
    assert (await peer.tool("find"))["inputSchema"] == {
        "type": "object",
        "properties": EITHER["properties"],
        "description": "Give exactly one of: (id) or (name).",
    }
    assert (await peer.call("find", {"id": 1}))["content"][0]["text"] == '["id"]'
    refused = await peer.call("find", {"id": 1, "name": "x"})
    assert refused["isError"] is True


@pytest.mark.parametrize("revision", ["2025-11-25", MODERN])
async def test_others_are_listed_what_the_author_wrote(revision: str) -> None:
    peer = Peer(make(), OTHER, revision)
    assert (await peer.tool("find"))["inputSchema"] == EITHER
    assert "outputSchema" in await peer.tool("note")


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-11-25"])
async def test_clients_that_drop_tools_without_a_description_find_an_empty_one(
    revision: str,
) -> None:
    server = make()
    assert (await Peer(server, DEFAULT, revision).tool("find"))["description"] == ""
    assert "description" not in await Peer(server, OTHER, revision).tool("find")


@pytest.mark.parametrize("revision", ["2025-06-18", "2025-11-25"])
async def test_fastmcp_finds_its_mark_on_envelopes(revision: str) -> None:
    server = make()
    marked = (await Peer(server, DEFAULT, revision).tool("find"))["outputSchema"]
    plain = (await Peer(server, OTHER, revision).tool("find"))["outputSchema"]
    assert marked == {**plain, "x-fastmcp-wrap-result": True}
    assert plain["properties"]["result"] == {"type": "array", "items": {"type": "string"}}


async def test_clients_that_take_null_for_nothing_are_listed_no_schema_beside_it() -> None:
    peer = Peer(make(), DEFAULT, MODERN)
    assert "outputSchema" not in await peer.tool("note")
    assert (await peer.tool("find"))["outputSchema"]["type"] == "array"
    result = await peer.call("note", {"text": ""})
    assert result["structuredContent"] is None


@pytest.mark.parametrize("client", [DEFAULT, {"name": "mcp-use", "version": "1.7.1"}], ids=str)
@pytest.mark.parametrize("revision", ["2025-06-18", MODERN])
async def test_null_for_what_was_left_out_is_absent_where_null_is_not_admitted(
    client: dict[str, Any], revision: str
) -> None:
    arguments = {"text": "hi", "tag": None, "stars": None, "inner": None}
    peer = Peer(make(), client, revision)
    result = await peer.call("note", arguments)
    assert result["content"][0]["text"].strip('"') == "hi none None"
    refused = await peer.call("note", {"text": None})
    assert refused["isError"] is True
    refused = await Peer(make(), OTHER, revision).call("note", arguments)
    assert refused["isError"] is True


@pytest.mark.parametrize("revision", ["2025-06-18", MODERN])
async def test_what_gemini_cli_adds_for_itself_does_not_reach_the_tool(revision: str) -> None:
    server = make()

    @server.tool
    async def wait(wait_for_previous: bool) -> bool:
        return wait_for_previous

    peer = Peer(server, GEMINI, revision)
    told = await peer.call("note", {"text": "hi", "wait_for_previous": True, "tag": "1.50"})
    assert told["content"][0]["text"].strip('"') == "hi 1.50 3"
    refused = await peer.call("note", {"text": "hi", "tag": None})
    assert refused["isError"] is True
    refused = await Peer(server, OTHER, revision).call(
        "note", {"text": "hi", "wait_for_previous": True}
    )
    assert refused["isError"] is True
    assert (await peer.call("wait", {"wait_for_previous": True}))["content"][0]["text"] == "true"


async def test_a_client_that_looks_at_the_root_alone_finds_every_property_there() -> None:
    server = Server("s")
    text = {"type": "string"}
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"a": text},
        "anyOf": [{"properties": {"b": text}, "required": ["b"]}, {"required": ["a"]}],
    }

    @server.tool(input_schema=schema)
    async def find(arguments: dict[str, Any]) -> list[str]:
        return sorted(arguments)

    peer = Peer(server, {"name": "mcp-use", "version": "1.7.1"}, "2025-06-18")
    named = {"a": text, "b": {"anyOf": [text, {}]}}
    assert (await peer.tool("find"))["inputSchema"] == {**schema, "properties": named}
    assert (await peer.call("find", {"b": "x"}))["content"][0]["text"] == '["b"]'
    assert (await peer.call("find", {"c": "x"}))["isError"] is True
    for client in (OTHER, DEFAULT):  # autogen, of the default name, would lose all tools.
        listed = (await Peer(server, client, "2025-06-18").tool("find"))["inputSchema"]
        assert listed == schema


async def test_the_operator_may_know_nobody() -> None:
    server = make(known_clients=())
    peer = Peer(server, CLAUDE, MODERN)
    assert (await peer.tool("find"))["inputSchema"] == EITHER
    refused = await Peer(server, DEFAULT, MODERN).call("note", {"text": "hi", "tag": None})
    assert refused["isError"] is True


async def test_the_operator_may_know_others() -> None:
    own = KnownClient("other", frozenset({Need.FOLDED_ROOT}), since="1", until="1.9")
    server = make(known_clients=(*KNOWN_CLIENTS, own))
    for client in (OTHER, CLAUDE):
        assert "oneOf" not in (await Peer(server, client, MODERN).tool("find"))["inputSchema"]
    later = Peer(server, {"name": "other", "version": "2.0"}, MODERN)
    assert (await later.tool("find"))["inputSchema"] == EITHER


async def test_each_form_of_a_listing_is_made_once_however_many_clients_there_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from anyshape.protocol.shapes import Shape

    made = 0
    entry = Shape.entry

    def counted(self: Shape, *arguments: Any) -> dict[str, Any]:
        nonlocal made
        made += 1
        return entry(self, *arguments)

    monkeypatch.setattr(Shape, "entry", counted)
    server = make()
    for number in range(50):
        for client in (OTHER, CLAUDE, DEFAULT, {"name": f"n{number}", "version": "1"}):
            await Peer(server, client, MODERN).result("tools/list")
    assert made == 3 * len(server.tools)
