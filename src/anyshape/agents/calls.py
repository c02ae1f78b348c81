"""A model's request to call a tool, read from the object or dict that a provider's SDK gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

import msgspec

from anyshape.decoding import decode_json
from anyshape.errors import Problem, ValidationError

_NAMED: Final = {
    "function": ("arguments",),
    "function_call": ("arguments", "args"),
    "functionCall": ("args", "arguments"),
    "tool_use": ("input",),
    "toolUse": ("input",),
}
"""Members that hold a call inside something larger, and where its arguments are."""
_ARGUMENTS: Final = ("arguments", "args", "input")
_IDS: Final = ("call_id", "toolUseId", "tool_use_id", "id")
_CALL_TYPES: Final = frozenset(("function", "function_call", "tool_use", "tool_call"))


@dataclass(frozen=True, slots=True)
class ToolCall:
    """What a model asked for: `arguments` as they came, JSON text or already an object."""

    name: str
    arguments: object = None
    id: str | None = None


def read_call(given: object) -> ToolCall:
    """Return the call in a provider's object or dict; `TypeError` if there is none."""
    call = _find(given)
    if call is None:
        raise TypeError(
            f"expected a tool call of a provider, or the name of a tool; got {type(given).__name__}"
        )
    return call


def calls_in(given: object) -> Iterator[ToolCall]:
    """Yield the calls among what a model said: text and whatever else there is is passed over."""
    if not given:  # None, or what an SDK has in its place
        return
    if not isinstance(given, Sequence) or isinstance(given, str | bytes):
        raise TypeError(
            "expected a list of tool calls, or of what a model said; got " + type(given).__name__
        )
    for item in cast("Sequence[object]", given):
        call = _find(item)
        if call is not None:
            yield call


def read_arguments(call: ToolCall) -> dict[str, Any]:
    """Return the arguments of a call as an object; `ValidationError` says what they are instead."""
    value = call.arguments
    # Some models write their JSON text as JSON text once more.
    for _ in range(2):
        if not isinstance(value, str | bytes):
            break
        if not value.strip():
            value = None
            break
        value = _parse(value)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise _problem(f"expected one JSON object with the arguments, got {_kind(value)}")
    return dict(cast("Mapping[str, Any]", value))


def _parse(text: str | bytes) -> object:
    try:
        return decode_json(text)
    except msgspec.DecodeError as error:
        raise _problem(f"they are not JSON: {error}; send one JSON object") from None
    except RecursionError:
        raise _problem("the arguments are nested too deeply") from None
    except UnicodeEncodeError:
        raise _problem("the arguments hold a lone surrogate, which JSON text cannot") from None


def _problem(message: str) -> ValidationError:
    return ValidationError([Problem("", "", message)])


def _kind(value: object) -> str:
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, int | float):
        return "a number"
    return "a string" if isinstance(value, str | bytes) else "an array"


def _find(item: object) -> ToolCall | None:
    """Return the call that an item is, or holds."""
    if isinstance(item, ToolCall):
        return item
    for member, places in _NAMED.items():
        inner = _member(item, member)
        if inner is not None and isinstance(_member(inner, "name"), str):
            return _call(inner, places, id_of=item)
    kind = _member(item, "type")
    if isinstance(kind, str) and kind not in _CALL_TYPES:
        return None
    if isinstance(_member(item, "name"), str) and any(_has(item, it) for it in _ARGUMENTS):
        return _call(item, _ARGUMENTS, id_of=item)
    return None


def _call(inner: object, places: tuple[str, ...], *, id_of: object) -> ToolCall:
    arguments = next((_member(inner, place) for place in places if _has(inner, place)), None)
    ids = [_member(holder, name) for holder in (inner, id_of) for name in _IDS]
    id = next((it for it in ids if isinstance(it, str) and it), None)
    return ToolCall(cast("str", _member(inner, "name")), arguments, id)


def _has(item: object, name: str) -> bool:
    return name in item if isinstance(item, Mapping) else hasattr(item, name)


def _member(item: object, name: str) -> Any:
    if isinstance(item, Mapping):
        return cast("Mapping[str, Any]", item).get(name)
    return getattr(item, name, None)
