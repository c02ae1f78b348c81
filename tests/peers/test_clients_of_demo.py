"""Clients that we did not write list and call every tool of the demo, over stdio and HTTP.

Each is entitled to the form of its revision: values as they are, in the envelope, or as text alone.
What that comes to is literal in `demo_calls.json` and `demo_listing.json`; where a peer is mistaken
by itself, `visits.QUIRKS` says what it shows, so that a change on either side is noticed.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest
import visits
from visits import Peer

from anyshape import __version__
from anyshape.demo.records import LOGO

Json = dict[str, Any]
Visit = Callable[[Peer, str], Json]

PAIRS = [
    pytest.param(peer, transport, id=f"{peer.id}-{transport}")
    for peer in visits.PEERS
    for transport in visits.TRANSPORTS
]
CALLS = [
    pytest.param(peer, transport, call, id=f"{peer.id}-{transport}-{call['id']}")
    for peer in visits.PEERS
    for transport in visits.TRANSPORTS
    for call in visits.calls(brief=visits.is_brief(peer, transport))
]


def server_as_seen(revision: str) -> Json:
    titled = revision not in visits.UNSTRUCTURED
    title = {"title": "Anyshape demo"} if titled else {}
    return {"name": "anyshape-demo", **title, "version": __version__}


@pytest.mark.parametrize(("peer", "transport"), PAIRS)
def test_a_peer_agrees_on_its_revision_and_knows_the_server(
    visit: Visit, peer: Peer, transport: str
) -> None:
    report = visit(peer, transport)
    assert {name: report[name] for name in ("revision", "server", "instructions")} == {
        "revision": peer.revision,
        "server": server_as_seen(peer.revision),
        "instructions": "Small tools of every JSON shape. Nothing here touches the world.",
    }


@pytest.mark.parametrize(("peer", "transport"), PAIRS)
def test_a_peer_lists_every_tool_with_the_schemas_of_its_revision(
    visit: Visit, peer: Peer, transport: str
) -> None:
    listed = visit(peer, transport)["tools"]
    expected = {
        name: {"inputSchema": input_schema(tool, peer), **output_schema(tool, peer)}
        for name, tool in visits.listing().items()
    }
    assert {
        name: {member: tool[member] for member in tool if member.endswith("Schema")}
        for name, tool in listed.items()
    } == expected
    assert {name for name, tool in listed.items() if not tool["description"]} == set()
    assert list(listed) == list(expected)


def input_schema(tool: Json, peer: Peer) -> Json:
    is_older = peer.revision not in visits.NATURAL
    return tool.get("older_input", tool["input"]) if is_older else tool["input"]


def output_schema(tool: Json, peer: Peer) -> Json:
    if peer.revision in visits.UNSTRUCTURED:
        return {}
    is_known = peer.name in visits.KNOWN
    if peer.revision in visits.ENVELOPED and "older" in tool:
        envelope = tool["older"]
        is_marked = is_known and list(envelope.get("properties", ())) == ["result"]
        return {"outputSchema": {**envelope, **({visits.MARK: True} if is_marked else {})}}
    if is_known and peer.revision == "2026-07-28" and tool.get("may_be_null"):
        return {}
    return {"outputSchema": tool["natural"]}


@pytest.mark.parametrize(("peer", "transport", "call"), CALLS)
def test_a_peer_sees_what_its_revision_is_entitled_to(
    visit: Visit, peer: Peer, transport: str, call: Json
) -> None:
    shown = dict(visit(peer, transport)["calls"][call["id"]])
    assert_progress(shown.pop("progress", []), peer, transport, call)
    for quirk in visits.QUIRKS:
        if (quirk.peer, quirk.call) == (peer.id, call["id"]):
            assert shown == quirk.shows
            return
    if "unknown" in call:
        assert shown == unknown_tool(peer, call["unknown"])
        return
    if "asks" in call and not can_be_asked(peer):
        assert shown.get("raised", shown.get("content")) == nobody_asked(peer)
        return
    texts = [block["text"] for block in shown.pop("content")]
    if "value" in call:
        assert texts[:-1] == ([call["text"]] if "text" in call else [])
        assert json.loads(texts[-1]) == call["value"]
    elif "failure" in call:
        assert texts == [call["failure"]]
    else:
        assert [word for word in call["refusal"] if word not in "".join(texts)] == []
        assert len(texts) == 1
    assert shown == members(peer, call)


def members(peer: Peer, call: Json) -> Json:
    """Return what a result has beside its content."""
    expected: Json = {}
    if "value" not in call:
        expected["isError"] = True
    elif peer.revision in visits.NATURAL or call.get("is_always_object"):
        expected["structuredContent"] = call["value"]
    else:
        expected["structuredContent"] = {"result": call["value"]}
    if peer.revision in visits.UNSTRUCTURED:
        expected.pop("structuredContent", None)
    if peer.revision == "2026-07-28":
        server = server_as_seen(peer.revision)
        expected["_meta"] = {"io.modelcontextprotocol/serverInfo": server}
        if peer.name == "Python SDK":  # The others keep this to themselves.
            expected["resultType"] = "complete"
    if peer.name == "FastMCP":
        # Its results have every member, so an absent one cannot be told from null; and `data` is
        # taken out of an envelope since its own marker is on the schema.
        value = call.get("value") if "structuredContent" in expected else None
        absent = {"structuredContent": None, "isError": False, "_meta": None, "data": value}
        return {**absent, **expected}
    return expected


def can_be_asked(peer: Peer) -> bool:
    """Tell whether there is a user at this client, at this revision."""
    return peer.name not in visits.ASKS_NOBODY and peer.revision not in visits.UNSTRUCTURED


def nobody_asked(peer: Peer) -> Any:
    """Return what a tool that asks the user comes to where there is none."""
    if peer.revision == "2026-07-28":
        return "Missing required client capability: elicitation"
    reason = f"at revision {peer.revision} a user cannot be asked"
    if peer.revision not in visits.UNSTRUCTURED:
        reason = (
            "the client cannot be asked with elicitation/create: "
            "it did not declare elicitation.form"
        )
    return [{"type": "text", "text": reason}]


def unknown_tool(peer: Peer, name: str) -> Json:
    """Return what calling a tool that does not exist raises."""
    if peer.name == "Inspector":  # It looks the tool up in the listing and never asks.
        return {"raised": f"Tool '{name}' not found on server.", "code": None}
    prefix = "MCP error -32602: " if peer.script == "typescript1.mjs" else ""
    return {"raised": f"{prefix}Unknown tool: {name}", "code": -32602}


def assert_progress(told: list[list[Any]], peer: Peer, transport: str, call: Json) -> None:
    expected = [list(step) for step in call.get("progress", [])]
    if peer.revision == "2024-11-05":  # Its progress has no message.
        expected = [[step, total, None] for step, total, _ in expected]
    if peer.name in visits.SHOWS_NO_PROGRESS:
        expected = []
    if "asks" in call and peer.id == "TypeScript SDK 2@2026-07-28":
        # It reports rounds of questions as progress of its own.
        expected = [[1, None, "Fulfilling input required by 'tools/call' (round 1)"]]
        assert told == expected
        return
    if expected and peer.name in visits.SHARES_A_READ and transport == "stdio":
        # What comes in one read with the answer is lost; how much that is depends on the moment.
        assert told != []
        assert told == expected[: len(told)]
        return
    assert told == expected


BESIDE_TOOLS: Json = {
    "prompts": ["introduce"],
    "prompt": ["Introduce Ada, 36, in 2 grand lines.", "Ladies and gentlemen,"],
    "resources": ["demo://folders", "demo://logo.png"],
    "templates": ["demo://people/{name}"],
    "resource": '{"name":"Alan","age":41}',
    "blob": base64.b64encode(LOGO).decode(),
    "completion": ["ada", "alan"],
}
LOGGED = {"level": "info", "logger": "counting", "data": {"steps": 3}}


@pytest.mark.parametrize(("peer", "transport"), PAIRS)
def test_a_peer_uses_what_there_is_beside_tools(visit: Visit, peer: Peer, transport: str) -> None:
    found = dict(visit(peer, transport)["features"])
    missing = found.pop("missing")
    assert missing["raised"].endswith("Resource not found: nobody is called nobody")
    # The newer TypeScript client gives the code of 2026-07-28 to what it hears at any revision.
    translates = peer.script in ("typescript2.mjs", "inspector.mjs")
    assert missing["code"] == (-32602 if translates or peer.revision in visits.NATURAL else -32002)
    expected = dict(BESIDE_TOOLS)
    if peer.name == "Inspector":  # Its command line cannot ask for that.
        del expected["completion"]
    assert found == expected


def test_peers_of_the_generation_before_used_it_all_when_they_were_last_here() -> None:
    for peer in json.loads((visits.HERE / "older.json").read_text()):
        for report in peer["reports"].values():
            found = dict(report["features"])
            assert found.pop("missing")["code"] == -32002
            assert found == BESIDE_TOOLS
            assert report["logs"] == [LOGGED]
            expected = {call["id"]: call["value"] for call in visits.calls() if "value" in call}
            values = {id: call["structuredContent"] for id, call in report["calls"].items()}
            assert values == {"slow": {"result": expected["slow"]}, "seat": expected["seat"]}


@pytest.mark.parametrize(("peer", "transport"), PAIRS)
def test_a_peer_hears_what_is_logged(visit: Visit, peer: Peer, transport: str) -> None:
    heard = visit(peer, transport)["logs"]
    assert heard == ([] if peer.name == "Inspector" else [LOGGED])


def test_every_tool_of_the_demo_is_called() -> None:
    for brief in (False, True):
        called = {call["tool"] for call in visits.calls(brief=brief) if "unknown" not in call}
        assert called == set(visits.listing())


@pytest.mark.timeout(2400)  # Run alone, it has to visit with every peer.
def test_the_table_in_the_docs_is_what_peers_see(visit: Visit) -> None:
    import table

    written, _, _of_hosts = table.DOCUMENT.read_text().partition(table.MARK)
    assert written.rstrip() == table.document(visit).rstrip(), "run `make peers`"
