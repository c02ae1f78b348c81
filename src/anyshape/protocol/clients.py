"""Clients that are known to drop a tool, or to break on it, in the form that others take.

Each names itself in `clientInfo` (in `initialize`, or in the `_meta` of every modern request). What
is known of it is data: what it needs, how that was found out, and when. A client that is here is
listed a form that it takes; its calls are checked against the author's schema all the same.

Much of what is built on the Python SDK goes by that SDK's default name, `mcp` `0.1.0`, whatever its
own name and version, and the TypeScript SDK has no default at all. So an entry for `mcp` reaches
every program that kept the default, and asks for nothing that would harm one of them.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Sequence
from typing import Final, TypeAlias

import msgspec


class Need(enum.StrEnum):
    """Something that a client needs and others do not."""

    DESCRIPTION = "description"
    """A description of every tool, if only an empty one."""
    FOLDED_ROOT = "folded-root"
    """Input schemas without `oneOf`, `anyOf`, `allOf` or `$ref` at their root."""
    MARKED_ENVELOPE = "marked-envelope"
    """Envelopes of 2025 revisions marked as FastMCP marks its own."""
    NAMED_PROPERTIES = "named-properties"
    """Every property named at the root of an input schema, also those that only branches name."""
    NO_SCHEMA_BESIDE_NULL = "no-schema-beside-null"
    """No output schema for tools that may return null, where null is structured content."""
    NULL_FOR_ABSENT = "null-for-absent"
    """Null for an argument that must not be null has to be read as if it had been left out."""
    OWN_ARGUMENTS = "own-arguments"
    """Arguments that the host adds to every call for itself must not reach the tool."""

    # Sets of them are part of keys that requests are looked up by.
    __hash__ = str.__hash__


Needs: TypeAlias = frozenset[Need]

OWN_ARGUMENTS: Final = ("wait_for_previous",)
"""The arguments that hosts are known to add to every call for themselves."""

NOTHING: Final[Needs] = frozenset()
"""Nothing beyond the protocol, as is true of nearly all clients."""


class KnownClient(msgspec.Struct, frozen=True):
    """What is known of the clients that go by one name, of some versions or of all.

    `since` and `until` are the first and last of those versions. `program` is what people call it,
    `trouble` what it does without our help, `evidence` how that was seen, and `observed` when.
    """

    name: str
    needs: Needs
    since: str | None = None
    until: str | None = None
    program: str = ""
    trouble: str = ""
    evidence: str = ""
    observed: str = ""

    def covers(self, version: str) -> bool:
        """Tell whether a version is one of those.

        A version that has no number is one of them only if all versions are.
        """
        if self.since is None and self.until is None:
            return True
        number = _number(version)
        return (
            bool(number)
            and (self.since is None or number >= _number(self.since))
            and (self.until is None or number <= _number(self.until))
        )


_DEFAULT_NAME: Final = {"name": "mcp", "since": "0.1.0", "until": "0.1.0"}

KNOWN_CLIENTS: Final = (
    KnownClient(
        name="anyshape-gateway",
        needs=frozenset({Need.MARKED_ENVELOPE}),
        program="Anyshape's gateway",
        trouble="cannot tell an unmarked envelope from an object with one member `result` that "
        "its author meant, and so leaves both as they are at first",
        evidence="`tests/gateway/test_shapes.py`",
        observed="2026-11-16",
    ),
    KnownClient(
        name="claude-code",
        needs=frozenset({Need.FOLDED_ROOT}),
        program="Claude Code",
        trouble="leaves out every tool with `oneOf`, `anyOf` or `allOf` at the root of its input "
        "schema, since the Anthropic API refuses those there; `$ref` is refused, too",
        evidence="2.1.325 (bundled with claude-agent-sdk 0.2.182) run against the demo, its API "
        "replaced by a stand-in: 9 of 11 tools offered to the model, all 11 with the folded form",
        observed="2026-11-15",
    ),
    KnownClient(
        name="codex-mcp-client",
        needs=frozenset({Need.FOLDED_ROOT}),
        program="Codex",
        trouble="passes `oneOf`, `anyOf`, `allOf` and `$ref` at the root of an input schema on to "
        "the OpenAI API, which refuses a request with such a tool, and so every request",
        evidence="0.166.0 (npm) run against the demo, its API replaced by a stand-in: 2 of 11 "
        "tools offered with `oneOf` at their root; none with the folded form",
        observed="2026-11-15",
    ),
    KnownClient(
        name="gemini-cli-mcp-client",
        needs=frozenset({Need.OWN_ARGUMENTS}),
        program="Gemini CLI",
        trouble="adds a parameter `wait_for_previous` to every tool it offers its model, and sends "
        "it on with the call, which a tool that takes no other arguments refuses",
        evidence="0.61.0 (npm) run against the demo, its API replaced by a stand-in",
        observed="2026-11-15",
    ),
    KnownClient(
        name="mcp-use",
        needs=frozenset({Need.NULL_FOR_ABSENT, Need.NAMED_PROPERTIES}),
        program="mcp-use",
        trouble="sends null for every optional argument that its model left out, and drops "
        "arguments that only a branch of the schema names",
        evidence="version 1.7.1 run against the demo; its adapter fills a pydantic model whose "
        "optional fields are null",
        observed="2026-11-15",
    ),
    KnownClient(
        **_DEFAULT_NAME,
        needs=frozenset({Need.NULL_FOR_ABSENT, Need.DESCRIPTION}),
        program="CrewAI",
        trouble="sends null for every optional argument that its model left out, and leaves out "
        "every tool that has no description",
        evidence="version 1.15.30 run against the demo, under the default name: the nulls are sent "
        "by the `MCPServerAdapter` of crewai-tools, the tools left out of an agent's `mcps`",
        observed="2026-11-16",
    ),
    KnownClient(
        **_DEFAULT_NAME,
        needs=frozenset({Need.MARKED_ENVELOPE}),
        program="FastMCP 2.8 to 4",
        trouble="`.data` of a tool that returns no object is `Root(result=…)` at 2025 revisions; "
        "with the mark it is the value",
        evidence="clients of 2.8 to 3.4 run against the demo; the mark is looked for up to 4.1.4, "
        "and other clients pass over it as over any unknown keyword",
        observed="2026-11-15",
    ),
    KnownClient(
        **_DEFAULT_NAME,
        needs=frozenset({Need.NO_SCHEMA_BESIDE_NULL}),
        program="mcp 2.0.1 to 2.2.0, and what is built on it (Strands 1.62)",
        trouble="raises when a tool with an output schema returns null at 2026-07-28: it takes "
        "null for nothing",
        evidence="`ClientSession.validate_tool_result` of 2.0.1 and 2.2.0; 2.3.0 tells them apart. "
        "Without the schema all of them give the same value, None",
        observed="2026-11-15",
    ),
)
"""All that we know of; `ShapeOptions(known_clients=…)` takes these, others, or none."""


class _ClientInfo(msgspec.Struct, gc=False, frozen=True):
    name: str = ""
    version: str = ""


_decode_info: Final = msgspec.json.Decoder(_ClientInfo).decode
_VERSION: Final = re.compile(r"v?(\d{1,9}(?:\.\d{1,9}){0,3})", re.ASCII)
_REMEMBERED: Final = 256
_LONGEST_INFO: Final = 1024


class KnownClients:
    """Looks up what a client needs, by what it says of itself."""

    def __init__(self, entries: Sequence[KnownClient] = KNOWN_CLIENTS) -> None:
        self._by_name: dict[str, list[KnownClient]] = {}
        for entry in entries:
            self._by_name.setdefault(entry.name, []).append(entry)
        self._by_info: dict[bytes, Needs] = {}

    def needs(self, name: str, version: str) -> Needs:
        """Return what a client of that name and version needs."""
        entries = self._by_name.get(name, ())
        return NOTHING.union(*(entry.needs for entry in entries if entry.covers(version)))

    def needs_of(self, client_info: bytes) -> Needs:
        """Return what the client needs that wrote this `clientInfo`, which is JSON text."""
        known = self._by_info.get(client_info)
        if known is None:
            known = self._read(client_info)
            if len(client_info) <= _LONGEST_INFO:
                if len(self._by_info) >= _REMEMBERED:
                    self._by_info.clear()
                self._by_info[client_info] = known
        return known

    def _read(self, client_info: bytes) -> Needs:
        try:
            info = _decode_info(client_info)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return NOTHING
        return self.needs(info.name, info.version)


def _number(version: str) -> tuple[int, ...]:
    """Return the first four numbers of a version, zero for those it lacks; none without any."""
    found = _VERSION.match(version)
    numbers = [] if found is None else [int(part) for part in found[1].split(".")]
    return tuple(numbers + [0] * (4 - len(numbers))) if numbers else ()
