"""One tool as a server lists it: read, judged, and got ready for calls.

https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from anyshape.client.answers import as_object
from anyshape.client.lifecycle import open_request
from anyshape.client.listing import ListedFeature, common_members
from anyshape.client.quoting import shorten
from anyshape.errors import InvalidSchema, ProtocolError
from anyshape.protocol.encoding import encode_data
from anyshape.protocol.headers import HeaderPlan, header_plan
from anyshape.protocol.methods import TOOLS_CALL, TOOLS_LIST
from anyshape.protocol.result import ABSENT
from anyshape.protocol.revision import LATEST, Revision
from anyshape.protocol.shapes.result_reader import Read, result_reader
from anyshape.schema import Limits, Schema, compile_here


@dataclass(frozen=True, slots=True)
class ListedTool:
    """One usable tool of a server; schemas and annotations are exactly as received.

    Icons whose address is not of a harmless kind are left out; `entry` has them all.
    """

    name: str
    input_schema: Mapping[str, Any]
    title: str | None = None
    description: str | None = None
    output_schema: Mapping[str, Any] | None = None
    annotations: Mapping[str, Any] = field(default_factory=dict[str, Any])
    icons: Sequence[Any] = ()
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])
    entry: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)
    """The whole entry, unknown members included."""
    input: Schema = field(kw_only=True, repr=False, compare=False)
    output: Schema | None = field(kw_only=True, repr=False, compare=False, default=None)
    read: Read = field(kw_only=True, repr=False, compare=False)
    """From the wire form of its results to their natural values."""
    header_plan: HeaderPlan = field(kw_only=True, repr=False, compare=False)
    opening: bytes = field(kw_only=True, repr=False, compare=False)
    """The text of its calls from the method to the arguments; see `open_request`."""
    is_repeatable: bool = field(kw_only=True, repr=False, compare=False)
    """Whether calling twice does no more than calling once, as far as the server is believed."""

    @property
    def says_repeatable(self) -> bool:
        """Whether calling twice does no more than calling once, as the server says."""
        return _say_repeatable(self.annotations)

    @property
    def weight(self) -> int:
        """About how many bytes its compiled schemas take."""
        return self.input.weight + (0 if self.output is None else self.output.weight)


def _say_repeatable(hints: Mapping[str, Any]) -> bool:
    return hints.get("readOnlyHint") is True or hints.get("idempotentHint") is True


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What tools are judged by, beside themselves."""

    revision: Revision = LATEST
    limits: Limits
    unwrap: bool = True
    """Whether envelopes are taken off values."""
    has_headers: bool = True
    """Whether calls carry arguments in headers, so that an `x-mcp-header` has to be right."""
    trust_annotations: bool = False
    """Whether the server's word is enough for sending a call again."""
    has_old_tasks: bool = False
    """Whether the server runs calls as tasks of 2025-11-25, so that a tool can insist on that."""


def tool_feature(terms: Terms) -> ListedFeature[ListedTool]:
    """Return the tools of a server as a list whose entries are judged by these terms."""

    def admit_listed(name: str, entry: Mapping[str, Any], light: bool) -> ListedTool:
        return admit(name, entry, terms, light=light)

    return ListedFeature(
        noun="tool",
        capability="tools",
        member="tools",
        method=TOOLS_LIST,
        bound="max_tools",
        admit=admit_listed,
    )


def admit(name: str, entry: Mapping[str, Any], terms: Terms, *, light: bool = False) -> ListedTool:
    """Return the tool of one entry, or raise what makes it unusable.

    `light` says that so much is held already that compiled schemas are not to be kept.

    Raises `WouldWait` on an event loop if a schema has to be judged in another process.
    """
    if not isinstance(entry.get("inputSchema"), dict):
        raise InvalidSchema("inputSchema: expected an object")
    if terms.has_old_tasks and as_object(entry.get("execution")).get("taskSupport") == "required":
        raise ProtocolError(
            "the tool only runs as a task (execution.taskSupport is required), "
            "and this client has tasks from 2026-07-28 on"
        )
    input_schema = cast("dict[str, Any]", entry["inputSchema"])
    output_schema: dict[str, Any] | None = None
    output: Schema | None = None
    # Some servers write null for what is not there.
    if entry.get("outputSchema") is not None:
        if not isinstance(entry["outputSchema"], dict):
            got = shorten(encode_data(entry["outputSchema"]), 60)
            raise InvalidSchema(f"outputSchema: expected an object, got {got}")
        output_schema = cast("dict[str, Any]", entry["outputSchema"])
        output = compile_listed(output_schema, "output", terms.limits, light=light)
    hints = as_object(entry.get("annotations"))
    return ListedTool(
        name,
        input_schema,
        **common_members(entry),
        output_schema=output_schema,
        annotations=hints,
        is_repeatable=terms.trust_annotations and _say_repeatable(hints),
        input=compile_listed(input_schema, "input", terms.limits, light=light),
        output=output,
        read=result_reader(
            terms.revision,
            ABSENT if output_schema is None else output_schema,
            unwrap=terms.unwrap,
        ),
        header_plan=header_plan(input_schema if terms.has_headers else None),
        opening=open_request(TOOLS_CALL, b'"name":%b,"arguments":' % encode_data(name)),
    )


def compile_listed(
    document: dict[str, Any],
    role: Literal["input", "output"],
    limits: Limits,
    *,
    light: bool = False,
) -> Schema:
    """Return the schema of a stranger's tool."""
    # A stranger's format is what the specification says, an annotation: most servers list Python's
    # dates as `date-time` and send them without the offset that this format wants.
    return compile_here(document, role=role, limits=limits, formats=False, light=light)
