"""How decoded JSON becomes the values of plain annotations: only numbers ever change.

JSON Schema calls 1.0 an integer, Python calls 1 no float. What to look at is described by a small
tree and written down as one function for all arguments of a tool; a value that needs no change is
not copied, and one that does changes in place: the decoder made it for this call.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import msgspec

from anyshape.tools.source import DEEPEST, Source

__all__ = ["Conversion", "Each", "Fields", "Member", "Number", "Values", "changes", "converter"]


class Number(enum.Enum):
    """A number that has to be of one Python type, whichever way JSON wrote it."""

    WHOLE = (float, int)
    FRACTION = (int, float)


class Each(msgspec.Struct, frozen=True):
    """A list: its items are converted."""

    item: Conversion


class Values(msgspec.Struct, frozen=True):
    """A dict of any keys: its values are converted."""

    value: Conversion


class Member(msgspec.Struct, frozen=True):
    """One of several types; which one it is shows in the type that JSON gave it."""

    by_type: Mapping[type, Conversion]


class Fields(msgspec.Struct, frozen=True, eq=False):
    """A dict of known keys, some of which are converted; `optional` ones may be missing.

    It may contain itself, so the keys are added once it is there.
    """

    by_key: dict[str, Conversion] = msgspec.field(default_factory=dict[str, "Conversion"])
    optional: set[str] = msgspec.field(default_factory=set[str])


Conversion: TypeAlias = Number | Each | Values | Member | Fields


def changes(conversion: Conversion) -> bool:
    """Tell whether there is a number in `conversion`; without one it changes nothing."""
    seen: set[int] = set()
    pending = [conversion]
    while pending:
        current = pending.pop()
        if isinstance(current, Number):
            return True
        if id(current) not in seen:
            seen.add(id(current))
            pending.extend(_parts(current))
    return False


def converter(fields: Fields) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Write a function that converts a dict in place and returns it.

    The dict satisfies the schema of what is converted; an integer that no float can hold raises
    `OverflowError`.
    """
    if all(isinstance(part, Number) for part in fields.by_key.values()):
        return _number_converter(fields)
    return _Writer(fields).write()


def _number_converter(fields: Fields) -> Callable[[dict[str, Any]], dict[str, Any]]:
    # Most tools take a number or two; writing a function for each would take a third of the time
    # in which they are defined.
    integers = tuple(key for key, part in fields.by_key.items() if part is Number.WHOLE)
    floats = tuple(key for key, part in fields.by_key.items() if part is Number.FRACTION)

    def convert(values: dict[str, Any]) -> dict[str, Any]:
        for key in integers:
            if type(values.get(key)) is float:
                values[key] = int(values[key])
        for key in floats:
            if type(values.get(key)) is int:
                values[key] = float(values[key])
        return values

    return convert


class _Writer:
    """Writes the function; what is used twice, or contains itself, is a function of its own."""

    def __init__(self, root: Fields) -> None:
        self._root = root
        self._source = Source()
        self._uses = _count_uses(root)
        self._functions: dict[int, str] = {}
        self._waiting: list[tuple[str, Conversion]] = []

    def write(self) -> Callable[[dict[str, Any]], dict[str, Any]]:
        source = self._source
        with source.block("def convert(values):"):
            self._write_fields(self._root, "values")
            source.line("return values")
        while self._waiting:
            name, conversion = self._waiting.pop()
            with source.block(f"def {name}(values):"):
                self._write_inside(conversion, "values")
                source.line("return")
        return source.function("convert")

    def _write(self, conversion: Conversion, place: str) -> None:
        """Write what converts the value at `place`, which can be assigned to."""
        if isinstance(conversion, Number):
            found, wanted = conversion.value
            self._source.line(
                f"if type({place}) is {found.__name__}: {place} = {wanted.__name__}({place})"
            )
        elif isinstance(conversion, Member):
            for python_type, part in conversion.by_type.items():
                if changes(part):
                    with self._source.block(f"if type({place}) is {python_type.__name__}:"):
                        self._write(part, place)
        else:
            self._write_container(conversion, place)

    def _write_container(self, conversion: Each | Values | Fields, place: str) -> None:
        key = id(conversion)
        if self._uses[key] > 1 or self._source.depth > DEEPEST:
            if key not in self._functions:
                self._functions[key] = self._source.new_name("convert")
                self._waiting.append((self._functions[key], conversion))
            self._source.line(f"{self._functions[key]}({place})")
            return
        self._write_inside(conversion, place)

    def _write_inside(self, conversion: Conversion, place: str) -> None:
        values = self._source.new_name("values")
        self._source.line(f"{values} = {place}")
        if isinstance(conversion, Fields):
            self._write_fields(conversion, values)
        elif isinstance(conversion, Each):
            self._write_parts(conversion.item, values, f"enumerate({values})", values)
        elif isinstance(conversion, Values):
            self._write_parts(conversion.value, values, f"{values}.items()", f"{values}.values()")

    def _write_fields(self, fields: Fields, values: str) -> None:
        for key, part in fields.by_key.items():
            if not changes(part):
                continue
            if key in fields.optional:
                with self._source.block(f"if {key!r} in {values}:"):
                    self._write(part, f"{values}[{key!r}]")
            else:
                self._write(part, f"{values}[{key!r}]")

    def _write_parts(self, part: Conversion, values: str, pairs: str, parts: str) -> None:
        source = self._source
        if isinstance(part, Each | Values | Fields):
            item = source.new_name("item")
            with source.block(f"for {item} in {parts}:"):
                self._write_container(part, item)
            return
        key = source.new_name("key")
        loop = f"for {key}, _ in {pairs}:"
        if isinstance(part, Member):
            with source.block(loop):
                self._write(part, f"{values}[{key}]")
            return
        # The first scan runs in C and nearly always finds nothing to do.
        scan = f"if {part.value[0].__name__} in map(type, {parts}):"
        with source.block(scan), source.block(loop):
            self._write(part, f"{values}[{key}]")


def _count_uses(root: Conversion) -> Counter[int]:
    uses: Counter[int] = Counter()
    pending = [root]
    while pending:
        current = pending.pop()
        uses[id(current)] += 1
        if uses[id(current)] == 1 and not isinstance(current, Number):
            pending.extend(_parts(current))
    return uses


def _parts(conversion: Each | Values | Member | Fields) -> list[Conversion]:
    if isinstance(conversion, Each):
        return [conversion.item]
    if isinstance(conversion, Values):
        return [conversion.value]
    if isinstance(conversion, Member):
        return list(conversion.by_type.values())
    return list(conversion.by_key.values())
