"""What the demo has no occasion to show to peers: falsy values, rare schemas, and their habits.

The server is `odd_server.py`. As everywhere here, expectations are literal: what a peer is entitled
to, or what it shows where it is mistaken by itself, with the reason.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest
import visits
from odd_server import CONSTANTS
from patience import PATIENCE
from visits import Peer

Json = dict[str, Any]
Odd = Callable[[str], Json]
See = Callable[[Peer], Json]

COMMAND = [sys.executable, str(visits.HERE / "odd_server.py")]
STRUCTURED = [peer for peer in visits.PEERS if peer.revision not in visits.UNSTRUCTURED]
OBJECTS = ("empty_object", "looks_wrapped", "is_an_object_with_id", "composed", "leaves_nothing")

# The rest see every value. Peers are named with the revision where they are mistaken at that only.
MISTAKES: dict[str, dict[str, str]] = {
    # `!structuredContent` and `structuredContent == null` take values for nothing.
    "SEP reference@2026-06-30": {
        "zero": "did not return structured content",
        "no": "did not return structured content",
        "blank": "did not return structured content",
        "null": "did not return structured content",
        # Its validators are kept by `$id`, so the second tool is judged by the first one's.
        "takes_that_id": "data/0 must be integer",
    },
    "Inspector@2026-07-28": {"null": "returned no structured content"},
    # Validators are kept by `$id` here too; in the envelope the `$id` is not at the root.
    "TypeScript SDK 2@2026-07-28": {"takes_that_id": "data/0 must be integer"},
    # Python's `re` knows no `\p{L}`, which JSON Schema's regular expressions (ECMA-262) do.
    "Python SDK": {"letters": "is not a 'regex'"},
    "FastMCP": {"letters": "is not a 'regex'"},
}


@pytest.fixture(scope="session")
def odd() -> Iterator[Odd]:
    """Return what gives the target of the odd server over a transport."""
    with subprocess.Popen([*COMMAND, "http"], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            url = f"http://127.0.0.1:{int(process.stdout.readline())}/mcp"
            targets: dict[str, Json] = {"stdio": {"command": COMMAND}, "http": {"url": url}}
            yield targets.__getitem__
        finally:
            process.terminate()


@pytest.fixture(scope="session")
def see(odd: Odd) -> See:
    """Return what gives a peer's outcomes of calling every constant, made once."""
    calls: list[Json] = [{"id": name, "tool": name, "arguments": {}} for name in CONSTANTS]

    @cache
    def outcomes(peer: Peer) -> Json:
        plan: Json = {"mode": peer.mode, "revision": peer.revision, "calls": calls}
        return visits.run_client(peer.script, odd("http"), plan)["calls"]

    return outcomes


@pytest.mark.parametrize("name", [name for name in CONSTANTS if name != "lied_about"])
@pytest.mark.parametrize("peer", STRUCTURED, ids=lambda peer: peer.id)
def test_a_peer_sees_every_value_under_every_schema(see: See, peer: Peer, name: str) -> None:
    outcome = see(peer)[name]
    mistakes = {**MISTAKES.get(peer.name, {}), **MISTAKES.get(peer.id, {})}
    if name in mistakes:
        assert mistakes[name] in outcome["raised"]
        return
    _, value = CONSTANTS[name]
    text = outcome["content"][0]["text"]
    is_raw = isinstance(value, str) and peer.revision not in visits.NATURAL
    assert (text if is_raw else json.loads(text)) == value
    if name == "large" and peer.script.endswith(".mjs"):
        value = 9007199254740992  # JavaScript has no larger odd number; the text has them all.
    is_natural = peer.revision in visits.NATURAL or name in OBJECTS
    assert outcome["structuredContent"] == (value if is_natural else {"result": value})
    assert not outcome.get("isError")


@pytest.mark.parametrize("peer", STRUCTURED, ids=lambda peer: peer.id)
def test_a_peer_does_check_what_it_is_sent(see: See, peer: Peer) -> None:
    assert "raised" in see(peer)["lied_about"]


HABITS = [
    ("Python SDK", "python_habits.py", "auto", "mcp"),
    ("Python SDK", "python_habits.py", "legacy", "mcp"),
    ("TypeScript SDK 2", "typescript_habits.mjs", "auto", "@modelcontextprotocol/client"),
    ("TypeScript SDK 2", "typescript_habits.mjs", "legacy", "@modelcontextprotocol/client"),
    ("TypeScript SDK 1", "typescript_habits.mjs", "legacy", "@modelcontextprotocol/sdk"),
]


@pytest.mark.parametrize("transport", visits.TRANSPORTS)
@pytest.mark.parametrize(("name", "script", "mode", "package"), HABITS)
def test_a_peer_can_do_what_it_is_used_to(
    odd: Odd, name: str, script: str, mode: str, package: str, transport: str
) -> None:
    plan = {
        "mode": mode,
        "package": package,
        "tag": f"{script[:6]}{name[-1]}-{mode}-{transport}",
        "moment": PATIENCE,
    }
    # At 2026-07-28 an unknown method is a 404 with a JSON-RPC error, of which this one tells half.
    hides_code = name == "TypeScript SDK 2" and mode == "auto" and transport == "http"
    refusal = "CLIENT_HTTP_NOT_IMPLEMENTED" if hides_code else -32601
    assert visits.run_client(script, odd(transport), plan) == {
        "again": [0, 0],
        "gave_up": [True, True],
        "changes": [True, False],
        "crowd": [[str(number)] for number in range(25)],
        "long": 1000,
        "routed": [
            {"region": "plain"},
            {"region": "Zürich ☃"},
            {"region": " padded "},
            {"region": "=?base64?x?="},
            {"region": "two\nlines"},
            {"region": ""},
            {"limit": -3},
            {},
        ],
        "refused": {"prompts": refusal, "resources": refusal},
    }


@pytest.mark.parametrize(
    "peer",
    [peer for peer in visits.PEERS if peer.name != "Inspector" and peer.mode != "legacy"],
    ids=lambda peer: peer.id,
)
def test_a_peer_walks_a_listing_of_many_pages(peer: Peer) -> None:
    command = ["env", "PAGE_SIZE=3", *COMMAND]
    plan: Json = {"mode": peer.mode, "revision": peer.revision, "calls": []}
    listed = visits.run_client(peer.script, {"command": command}, plan)["tools"]
    assert list(listed) == [*CONSTANTS, "routed", "change", "wait", "given_up", "repeat"]
