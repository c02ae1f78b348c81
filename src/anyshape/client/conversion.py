"""What a tool gave as a Python type: whatever pydantic understands, and msgspec structs.

Values are read as JSON, so that `datetime`, `Decimal`, tuples or enums work as they do for a body,
in strict models too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec

from anyshape.client.quoting import shorten
from anyshape.client.result import CallResult
from anyshape.errors import OutputMismatch, Problem
from anyshape.protocol.encoding import encode_data
from anyshape.protocol.shapes.envelope import has_only_envelope_key

if TYPE_CHECKING:
    from anyshape.typed_reading import TypedReader

_SHOWN: Final = 5


@dataclass(frozen=True, slots=True)
class Converter:
    """Reads what tools give as one type."""

    name: str
    read: Callable[[bytes], Any]
    describe: Callable[[], Mapping[str, Any]]
    """Gives the JSON Schema of the type."""

    def convert(self, result: CallResult, tool: str) -> Any:
        """Return what a tool gave, or raise `OutputMismatch`."""
        candidates = self._values(result) if result.has_value else _words(result)
        problems: list[Problem] = []
        for text in candidates:
            value, flaws = self._try(text)
            if not flaws:
                return value
            problems = problems or flaws
        shown = "; ".join(shorten(str(problem)) for problem in problems[:_SHOWN])
        raise OutputMismatch(
            f"tool {shorten(tool, 60)!r} gave no {self.name}: {shown}", problems=problems
        )

    def _values(self, result: CallResult) -> Iterator[bytes]:
        """Yield the value and, if it came in an envelope, the whole: the caller may mean that."""
        value, structured = result.value, result.raw.get("structuredContent")
        if structured is value:
            yield _to_json(value)
            return
        natural, whole = _to_json(value), _to_json(structured)
        if self._is_envelope() and not has_only_envelope_key(value):
            # A type whose properties are all optional would read anything.
            yield whole
            yield natural
        else:
            yield natural
            yield whole

    def _is_envelope(self) -> bool:
        """Return whether the type is an envelope that the caller has written out."""
        from pydantic.errors import PydanticUserError

        try:
            schema = self.describe()
        except (PydanticUserError, TypeError):
            return False
        name = str(schema.get("$ref", "")).rpartition("/")[2]
        properties = (schema["$defs"][name] if name else schema).get("properties")
        return has_only_envelope_key(properties)

    def _try(self, text: bytes) -> tuple[Any, list[Problem]]:
        from pydantic import ValidationError

        from anyshape.typed_reading import flaws_of

        try:
            return self.read(text), []
        except ValidationError as error:
            return None, [
                Problem(
                    keyword=flaw["type"],
                    path="".join(f"/{step}" for step in flaw["loc"]),
                    message=flaw["msg"],
                    schema_path="",
                )
                for flaw in flaws_of(error)
            ]
        except (msgspec.DecodeError, RecursionError) as error:
            return None, [Problem(keyword="", path="", message=str(error), schema_path="")]


def converter_to(returns: Any) -> Converter:
    """Return what reads JSON as a `returns`; `TypeError` if nothing can."""
    try:
        hash(returns)
    except TypeError:  # such as Annotated with a list in it
        return _make_converter(returns)
    return _cached_converter(returns)


def _make_converter(returns: Any) -> Converter:
    from pydantic import TypeAdapter
    from pydantic.errors import PydanticSchemaGenerationError

    from anyshape.typed_reading import TypedReader

    shown = returns.__name__ if isinstance(returns, type) else repr(returns)
    name = shorten(shown, 60)
    try:
        known = isinstance(returns, TypeAdapter)
        adapter = cast("TypeAdapter[Any]", returns) if known else TypeAdapter[Any](returns)
    except PydanticSchemaGenerationError as error:
        try:
            # Structs, which pydantic does not know, and what holds them.
            read = msgspec.json.Decoder(returns).decode
            return Converter(name, read, partial(msgspec.json.schema, returns))
        except TypeError:
            raise TypeError(
                f"returns={name}: expected a type that pydantic or msgspec can read"
            ) from error
    return Converter(name, partial(_read_exactly, TypedReader(adapter)), adapter.json_schema)


def _read_exactly(reader: TypedReader, text: bytes) -> Any:
    """Read JSON as what it is if that is of the type, else as what pydantic can make of it.

    Of a union, the first member that something can be made of would be taken else.
    """
    from pydantic import ValidationError

    validate = reader.of(len(text)).validate_json
    try:
        return validate(text, strict=True)
    except ValidationError:
        pass  # What it holds is let go of before there is more.
    return validate(text)


_cached_converter: Final = lru_cache(maxsize=512)(_make_converter)


def _words(result: CallResult) -> Iterator[bytes]:
    """Yield what a tool said in words only: as JSON if it is, or as a string; nothing as null.

    Servers before 2025-06-18 have no other way to give a value.
    """
    text = result.text
    yield text.encode("utf-8", "surrogatepass") if result.content else b"null"
    yield _to_json(text)


def _to_json(value: object) -> bytes:
    try:
        return encode_data(value)
    except (OverflowError, TypeError, ValueError):
        return json.dumps(value, ensure_ascii=True, allow_nan=False).encode()
