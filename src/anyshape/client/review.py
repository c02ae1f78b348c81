"""Judge tools as the clients that will meet them do: usable or not, at what cost, in which form.

A review is about what is listed, so it works for any server's tools and for entries in a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, cast

from anyshape.client.advice import advise_on_schema, advise_on_tool
from anyshape.client.tools import ListedTool, Terms, admit
from anyshape.errors import AnyshapeError, ProtocolError
from anyshape.protocol.encoding import encode_data
from anyshape.protocol.result import ABSENT
from anyshape.protocol.revision import Revision
from anyshape.protocol.shapes import OLDER, shape
from anyshape.protocol.shapes.result_reader import is_envelope
from anyshape.schema import Limits, compile
from anyshape.screening import Finding, screen_entry, screen_schema

Carried: TypeAlias = Literal["natural", "object", "wrapped", "absent", "none"]
"""How a tool's output reaches clients: as it is, stamped an object, in the envelope, as text only;
`none` for a tool that has no output schema in the first place."""

ListedEntries: TypeAlias = Mapping[str, Mapping[str, Any]]
"""The entries of a listing by name."""


@dataclass(frozen=True, slots=True)
class Review:
    """What there is to say about one tool, or one schema."""

    name: str
    refused: str | None = None
    """Why no client should use it."""
    cost: Mapping[str, str] = field(default_factory=dict[str, str])
    """What validating costs: `cheap` or `confined`, for `input` and `output`."""
    carried: Mapping[str, str] = field(default_factory=dict[str, str])
    """How its output reaches clients of each older revision: a `Carried`, or why it does not."""
    size: int = 0
    """Bytes of its entry in a listing."""
    advice: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    """What is hidden in it, the worst first."""

    @property
    def tokens(self) -> int:
        """About how many tokens the entry takes in a model's context, at four bytes each."""
        return (self.size + 3) // 4


def count_tokens(entries: Iterable[object]) -> int:
    """Return about how many tokens the entries of a listing take together."""
    return sum(Review("", size=_size(entry)).tokens for entry in entries)


def review_entry(entry: object, *, position: int = 0) -> Review:
    """Review one tool as a file lists it: in its natural form."""
    found = cast("dict[str, Any]", entry) if isinstance(entry, dict) else {}
    name = found.get("name")
    shown = name if isinstance(name, str) and name else f"#{position}"
    size = _size(found)
    try:
        if shown != name:
            raise ProtocolError("expected a tool: an object with name and inputSchema")
        tool = admit(shown, found, Terms(limits=Limits()))
    except AnyshapeError as error:
        return Review(shown, refused=str(error), size=size, findings=screen_entry(found))
    return review_tool(tool)


def review_tool(tool: ListedTool, older: Mapping[Revision, ListedEntries] | None = None) -> Review:
    """Review a tool that a client admitted.

    `older` holds what its server really lists to older clients, where it lists anything; without
    it, the review says what Anyshape would do.
    """
    cost = {"input": _verdict(tool.input.cost)}
    if tool.output is not None:
        cost["output"] = _verdict(tool.output.cost)
    carried: dict[str, str] = {}
    for revision in OLDER:
        listed = _would_list(tool, revision) if older is None else older.get(revision)
        if listed is not None:
            carried[str(revision)] = _carried_to(tool, listed, revision)
    return Review(
        tool.name,
        cost=cost,
        carried=carried,
        size=_size(tool.entry),
        advice=tuple(advise_on_tool(tool)),
        findings=screen_entry(tool.entry),
    )


def review_schema(
    name: str, document: object, *, role: Literal["input", "output"] | None = None
) -> Review:
    """Review a schema document by itself."""
    size = _size(document)
    try:
        schema = compile(cast("Any", document), role=role)
    except AnyshapeError as error:
        return Review(name, refused=str(error), size=size, findings=screen_schema(document))
    return Review(
        name,
        cost={"schema": _verdict(schema.cost)},
        carried={} if role == "input" else _carried_by_shape(cast("Any", document)),
        size=size,
        advice=tuple(advise_on_schema(document)),
        findings=screen_schema(document),
    )


def _carried_to(tool: ListedTool, listed: ListedEntries, revision: Revision) -> str:
    """Return how a tool's output reaches clients that were listed these entries."""
    entry = listed.get(tool.name)
    if entry is None:
        return "this tool is not listed"
    return carried_output(tool.output_schema, entry.get("outputSchema"), revision)


def carried_output(natural: object, listed: object, revision: Revision) -> Carried:
    """Return how an output reaches clients of a revision that are listed this schema for it."""
    if listed is None:
        return "none" if natural is None else "absent"
    if is_envelope(listed, revision):
        return "wrapped"
    return "natural" if listed == natural else "object"


def _would_list(tool: ListedTool, revision: Revision) -> ListedEntries:
    if tool.output_schema is None:
        return {tool.name: {}}
    schema = shape(revision).output_schema(dict(tool.output_schema))
    return {tool.name: {} if schema is ABSENT else {"outputSchema": schema}}


def _carried_by_shape(document: dict[str, Any] | bool) -> dict[str, str]:
    carried: dict[str, str] = {}
    for revision in OLDER:
        listed = shape(revision).output_schema(document)
        shown = None if listed is ABSENT else listed
        carried[str(revision)] = carried_output(document, shown, revision)
    return carried


def _verdict(cost: object) -> str:
    return str(cost).partition(":")[0]


def _size(value: object) -> int:
    try:
        return len(encode_data(value))
    except (TypeError, ValueError, OverflowError, RecursionError):
        return 0
