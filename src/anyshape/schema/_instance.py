"""Python values as JSON: prove that one is, quickly; or find what in it is not, patiently.

RFC 8259 knows objects with string keys, arrays, strings of Unicode scalar values, finite numbers,
`true`, `false` and `null`. docs/internals/instances.md tells why there are two ways to find out.
"""

from __future__ import annotations

import enum
import functools
import math
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from decimal import Decimal
from typing import Any, Final, cast

import jsonschema_rs
import msgspec

from anyshape.documents.pointers import escape
from anyshape.errors import AnyshapeError, LimitExceeded, NotJson

_encode: Final = msgspec.msgpack.Encoder().encode
ENDLESS: Final = 2**62
"""The size of a value that has integers of more than 64 bits."""
_MAX_DIGITS = 4_300
_TOO_LONG: Final = 10**_MAX_DIGITS
_SCALARS: Final = (int, str, float, type(None), Decimal, bytes, bytearray, memoryview)
"""What is no array and no object; abstract classes take long to ask."""
_READ_TEXT: Final[Mapping[str, object]] = {"enum": ["\0 no text but this one \0"]}
"""What, when negated, makes the engine read a string, and so notice a lone surrogate in it.

Nothing else is rejected but the text itself, and whatever is rejected is looked at again.
"""


def _describe_json(depth: int) -> dict[str, object]:
    """Return a schema that any JSON value nested at most `depth` levels satisfies, nothing else.

    `type: number` is what turns NaN away, and integers of so many digits that the engine takes them
    for zero; keys the engine checks as it meets them.
    """
    text: dict[str, object] = {"type": "string", "not": dict(_READ_TEXT)}
    scalars: list[dict[str, object]] = [text, {"type": "number"}, {"type": ["null", "boolean"]}]
    levels: dict[str, object] = {
        f"{level}": {
            "anyOf": [
                *scalars,
                {"type": "object", "additionalProperties": {"$ref": f"#/$defs/{level + 1}"}},
                {"type": "array", "items": {"$ref": f"#/$defs/{level + 1}"}},
            ]
        }
        for level in range(depth)
    }
    levels[f"{depth}"] = {"anyOf": scalars}
    return {"$ref": "#/$defs/0", "$defs": levels}


@functools.lru_cache(maxsize=16)
def json_test(depth: int) -> Callable[[object], bool]:
    """Return a test for being JSON as it stands, nested at most `depth` levels.

    It is the engine itself that looks, so that whatever passes is what the engine can read. The
    test may raise anything instead of failing. What fails may be readable still: see `read_json`.
    """
    return jsonschema_rs.Draft202012Validator(_describe_json(depth), offline=True).is_valid


def text_size(value: object) -> int:
    """Return about how long a JSON value is as text, no less than two bytes for each place.

    What has numbers of more than 64 bits in it counts as endless: writing those takes a time that
    grows with the square of their digits, and so does nearly all that is done with them.
    """
    try:
        return 2 * len(_encode(value))
    except (TypeError, ValueError, OverflowError, RecursionError):
        return ENDLESS


def is_light(value: object, most: int) -> bool:
    """Tell whether `value` is little to judge for its length, since nearly all of it is long texts.

    Where a text is compared and not read, a byte of it takes 0.4 ns at most, of a key, and a byte
    of places 15: so a sixteenth of the texts counts, and more than enough for all others.
    """
    size, waiting = 0, [value]
    for item in waiting:  # grows while it is walked
        size += 16
        if isinstance(item, str):
            size += len(item) // (16 if item.isascii() else 4)
        elif isinstance(item, (dict, list)):
            inner = cast("dict[object, object] | list[object]", item)
            size += 16 * len(inner)
            if size > most:
                return False
            waiting.extend((*inner, *inner.values()) if isinstance(inner, dict) else inner)
        elif text_size(item) > 32:  # a long integer, or of a type of its own
            return False
    return size <= most


class _Opened(msgspec.Struct, eq=False):
    """An array or object that is being read: what comes next, and under which key it stands."""

    source: object
    todo: Iterator[tuple[object, object]]
    into: dict[str, object] | list[object]
    key: object = None


def read_json(value: object, *, depth: int, most: int, what: str = "value") -> object:
    """Return `value` in the types that JSON has; raise `NotJson`, or `LimitExceeded` when too deep.

    Accepts what pydantic would emit as arrays, objects and scalars: tuples, sets, deques and other
    sequences, mappings, enumerations, subclasses of the plain types. Never recurses; gives up with
    `LimitExceeded` after `most` values, shared ones counted as often as they would be written;
    `what` it is read as decides which limits are named. What types of their own raise when they
    are read is `NotJson`.
    """
    result: list[object] = []
    frames = [_Opened(None, iter(((0, value),)), result)]
    try:
        _read(frames, depth, most, what)
    except (AnyshapeError, MemoryError):
        raise
    except Exception as error:
        raise NotJson(
            f"expected a JSON value, got one that raises {_kind(error)} when it is read",
            path=_path(frames),
        ) from error
    return result[0]


def _read(frames: list[_Opened], depth: int, most: int, what: str) -> None:
    on_path: set[int] = set()
    count = 0
    while frames:
        frame = frames[-1]
        frame.key = None
        pair = next(frame.todo, None)
        if pair is None:
            frames.pop()
            on_path.discard(id(frame.source))
            continue
        key, item = pair
        frame.key = key if isinstance(frame.into, list) else _read_key(key, frames)
        count += 1 if what == "value" or not isinstance(item, str) else len(item)
        if count > most:
            limit = "memory" if what == "value" else "document_bytes"
            raise LimitExceeded(
                f"the {what} holds more than {most} values (limit: {limit})",
                limit=limit,
                allowed=most,
                found=count,
            )
        while isinstance(item, enum.Enum):
            item = item.value
        opened = _open(item)
        read = _read_scalar(item, frames) if opened is None else opened.into
        if isinstance(frame.into, list):
            frame.into.append(read)
        else:
            frame.into[cast("str", frame.key)] = read
        if opened is None:
            continue
        if id(item) in on_path:
            raise NotJson("expected a JSON value, got one that contains itself", path=_path(frames))
        if len(frames) > depth:
            limit = "instance_depth" if what == "value" else "depth"
            raise LimitExceeded(
                f"the {what} is nested more than {depth} levels deep (limit: {limit})",
                limit=limit,
                allowed=depth,
                found=len(frames),
                path=_path(frames),
            )
        on_path.add(id(item))
        frames.append(opened)


def _open(item: object) -> _Opened | None:
    """Return a frame over the members of an array or object, `None` for anything else.

    Of what is a list or a dict to the engine, those members that the engine sees.
    """
    if isinstance(item, _SCALARS):
        return None
    if not isinstance(item, list) and isinstance(item, (dict, Mapping)):
        mapping = cast("Mapping[object, object]", item)
        kind: Any = dict if isinstance(item, dict) else type(mapping)
        return _Opened(mapping, iter(kind.items(mapping)), {})
    if isinstance(item, (list, tuple, set, frozenset, deque, Sequence, AbstractSet)):
        sequence = cast("Any", item)
        members = list[object].__iter__(sequence) if isinstance(item, list) else sequence
        return _Opened(sequence, enumerate(members), [])
    return None


def _read_key(key: object, frames: list[_Opened]) -> str:
    while isinstance(key, enum.Enum):
        key = key.value
    if not isinstance(key, str):
        raise NotJson(
            f"expected keys that are strings, got {shorten(key)} ({_kind(key)})",
            path=_path(frames),
        )
    return _read_text(key, frames, "key")


def _read_scalar(item: object, frames: list[_Opened]) -> object:
    if item is None or item is True or item is False:
        return item
    if isinstance(item, str):
        return _read_text(item, frames, "string")
    if isinstance(item, int):
        number = int.__int__(item)
        if abs(number) >= _TOO_LONG:
            raise NotJson(
                f"expected a number, got an integer of more than {_MAX_DIGITS} digits",
                path=_path(frames),
            )
        return number
    if isinstance(item, float):
        if not math.isfinite(item):
            raise NotJson(
                f"expected a finite number, got {float.__repr__(item)}", path=_path(frames)
            )
        return float.__float__(item)
    if isinstance(item, Decimal):
        if not item.is_finite():
            raise NotJson(f"expected a finite number, got {item}", path=_path(frames))
        return Decimal(item)
    raise NotJson(
        f"expected a JSON value, got {_article(_kind(item))}; convert it first", path=_path(frames)
    )


def _read_text(given: str, frames: list[_Opened], what: str) -> str:
    text = str.__str__(given)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        surrogate = f"\\u{ord(text[error.start]):04x}"
        raise NotJson(
            f"expected Unicode text, got a {what} with a lone surrogate ({surrogate}) "
            f"at position {error.start}",
            path=_path(frames),
        ) from None
    return text


def _path(frames: list[_Opened]) -> str:
    """Return a JSON Pointer to where reading stands, the outermost frame being no part of it."""
    return "".join(f"/{escape(str(frame.key))}" for frame in frames[1:] if frame.key is not None)


def _kind(item: Any) -> str:
    return type(item).__name__


def _article(noun: str) -> str:
    return f"an {noun}" if noun[:1].lower() in "aeio" else f"a {noun}"


def shorten(value: object, width: int = 60) -> str:
    """Return `value` as a message shows it: one line, at most `width` characters, any text safe."""
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 512:
        return f"an integer of {value.bit_length()} bits"
    if isinstance(value, str) and len(value) > width:
        value = value[:width] + "…"
    elif not isinstance(value, (str, int, float, bool, type(None))):
        return _article(_kind(value))
    text = ascii(value) if isinstance(value, str) and not value.isprintable() else repr(value)
    return text if len(text) <= width else text[: width - 1] + "…"
