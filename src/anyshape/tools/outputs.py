"""A return annotation becomes an output schema, and a way to turn values into JSON.

What is decided here, once: whether a tool's values are structured, content, or judged by what they
are; the schema that is published; how a value becomes JSON types.
"""

from __future__ import annotations

import collections.abc
import enum
import types
import typing
from collections.abc import Mapping
from typing import Any, Final, Never, NoReturn, TypeAlias, Union, cast, get_args, get_origin

import msgspec
from msgspec.structs import replace

from anyshape.errors import ToolDefinitionError
from anyshape.protocol.content import CONTENT_TYPES
from anyshape.protocol.result import ABSENT, Absent, ToolResult
from anyshape.tools.formats import publish, to_write
from anyshape.tools.signature import EMPTY
from anyshape.tools.types import WriteValue, describe_value


class Unstructured(enum.Enum):
    """The type of `UNSTRUCTURED`."""

    UNSTRUCTURED = "unstructured"

    def __repr__(self) -> str:
        return "UNSTRUCTURED"


UNSTRUCTURED: Final = Unstructured.UNSTRUCTURED
"""Pass as `output_schema=` to publish none and to send values as text alone."""

GivenOutputSchema: TypeAlias = Mapping[str, Any] | bool | Unstructured | Absent
"""What may be given as `output_schema=`; `ABSENT` is what leaving it out means."""

_UNION: Any = Union  # subscribed with what is known only at run time


class OutputKind(enum.Enum):
    """What a tool's return values are."""

    STRUCTURED = "structured"
    CONTENT = "content"
    BY_VALUE = "by value"
    """Nothing was declared: content is content, a string is text, the rest is structured."""
    TEXT = "text"
    """Declared unstructured: content is content, a string is text, the rest is JSON as text."""


class Output(msgspec.Struct, frozen=True):
    """The decision: what values are checked against, and how they become JSON types.

    Where `write` is `None`, values are JSON types already. `published` is the document that is
    listed, if that differs.
    """

    kind: OutputKind
    document: dict[str, Any] | bool | Absent = ABSENT
    write: WriteValue | None = None
    published: dict[str, Any] | None = None


def describe_output(annotation: Any, written: GivenOutputSchema, label: str) -> Output:
    """Decide what values of `annotation` become; `written` is the author's own schema, if any."""
    if written is UNSTRUCTURED:
        return _as_values_of(_value_type(annotation), Output(OutputKind.TEXT))
    document = _read_written(written, label)
    annotation = _value_type(annotation)
    if annotation is EMPTY:
        kind = OutputKind.BY_VALUE if document is ABSENT else OutputKind.STRUCTURED
        return Output(kind, document)
    content = _content_members(annotation)
    if content is False:
        raise ToolDefinitionError(
            f"{label}: its return annotation has content beside or inside other types; return it "
            f"alone or in a list, or return ToolResult with content= and structured="
        )
    if content:
        if document is not ABSENT:
            raise ToolDefinitionError(
                f"{label}: returns content, which no output_schema describes; return ToolResult "
                f"with structured= and content=, or leave output_schema out"
            )
        return Output(OutputKind.CONTENT)
    if document is not ABSENT:
        return _as_values_of(annotation, Output(OutputKind.STRUCTURED, document))
    return _derive(annotation, label)


def _read_written(written: GivenOutputSchema, label: str) -> dict[str, Any] | bool | Absent:
    if written is ABSENT or isinstance(written, bool):
        return written
    if isinstance(written, Mapping):
        return cast("dict[str, Any]", written)
    got = "null" if cast("object", written) is None else type(written).__name__
    fix = "pass UNSTRUCTURED for none"
    if isinstance(cast("object", written), type):
        got, fix = "a class", "annotate the function with it, as its return type"
    raise ToolDefinitionError(
        f"{label}: output_schema has to be a JSON Schema document (an object, True or False), got "
        f"{got}; {fix}"
    )


def _derive(annotation: Any, label: str) -> Output:
    if annotation in (NoReturn, Never):
        return Output(OutputKind.STRUCTURED, False)
    described = describe_value(annotation, label)
    published = publish(described.schema)
    return Output(
        OutputKind.STRUCTURED,
        to_write(described.schema),
        described.write,
        published=None if published is described.schema else published,
    )


def _as_values_of(annotation: Any, output: Output) -> Output:
    """Return `output`, which has another schema, with how values of `annotation` are written."""
    try:
        own = _derive(annotation, "")
    except ToolDefinitionError:
        return output
    return replace(own, kind=output.kind, document=output.document, published=None)


def _value_type(annotation: Any) -> Any:
    """Return the type of the value itself: out of `ToolResult[T]`, unions with it, awaitables.

    A bare `ToolResult` says nothing about its value, as if nothing had been annotated.
    """
    origin, arguments = get_origin(annotation), get_args(annotation)
    if annotation is ToolResult:
        return EMPTY
    if origin is ToolResult:
        return _value_type(arguments[0])
    if origin in (collections.abc.Awaitable, collections.abc.Coroutine):
        return _value_type(arguments[-1])
    if _is_union(origin):
        members = [_value_type(member) for member in arguments]
        if members != list(arguments):
            values = [member for member in members if member is not EMPTY]
            return _UNION[tuple(values)] if values else EMPTY
    return annotation


def _content_members(annotation: Any) -> bool | None:
    """Return `True` for content, `None` for values that are none, `False` for a mixture."""
    if isinstance(annotation, type) and issubclass(annotation, CONTENT_TYPES):
        return True
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is typing.Annotated:
        return _content_members(arguments[0])
    # Strings go along with content, as text; and where there may be none of it, None does.
    company: tuple[Any, ...] = ()
    if _is_union(origin):
        company = (str, type(None))
    elif origin in (list, tuple, collections.abc.Sequence):
        company = (str, Ellipsis)
    members = [_content_members(member) for member in arguments if member not in company]
    if all(member is None for member in members):
        return None
    return bool(company) and all(member is True for member in members)


def _is_union(origin: Any) -> bool:
    return origin is Union or origin is types.UnionType
