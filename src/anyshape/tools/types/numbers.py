"""How numbers in decoded JSON become the numbers that annotations ask for.

JSON Schema calls 1.0 an integer, and Python calls 1 no float. Where a value of Python's own types
has numbers is described by a small tree, a `Conversion`. From it the text of a function is written,
once for all arguments of a tool and compiled at its first call: it looks up nothing and calls
nothing per part, and takes a third of the time of closures that do the same. A value that is right
is not copied, and one that is not changes in place, as the decoder made it for this call.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from types import CodeType
from typing import Any, TypeAlias, cast

import msgspec

from anyshape.tools.types.library import ArgumentsError, ReadArguments

_DEEPEST = 8
"""How many blocks may stand in each other before the next one wants a function of its own.

Python refuses more than twenty.
"""


class Number(enum.Enum):
    """A number that has to be of one Python type, whichever way JSON wrote it."""

    WHOLE = (float, int)
    FRACTION = (int, float)


class Each(msgspec.Struct, frozen=True):
    """A list, or a dict of any keys if it is `keyed`: its items or values are converted."""

    item: Conversion
    keyed: bool = False


class Member(msgspec.Struct, frozen=True):
    """One of several types; which one it is shows in the type that JSON gave it."""

    by_type: Mapping[type, Conversion]


class Fields(msgspec.Struct, frozen=True, eq=False):
    """A dict of known keys, some of which are converted; `optional` ones may be missing.

    It may contain itself, so the keys are added once it is there.
    """

    by_key: dict[str, Conversion] = msgspec.field(default_factory=dict[str, "Conversion"])
    optional: set[str] = msgspec.field(default_factory=set[str])


Conversion: TypeAlias = Number | Each | Member | Fields


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


def number_reader(fields: Fields) -> ReadArguments:
    """Return what converts decoded arguments that satisfy the schema of `fields`, in place."""
    convert: Callable[[dict[str, Any]], dict[str, Any]] | None = None

    def read(arguments: dict[str, Any], raw: bytes | None) -> dict[str, Any]:
        nonlocal convert
        if convert is None:
            convert = converter(fields)
        try:
            return convert(arguments)
        except OverflowError:
            for name, part in fields.by_key.items():
                try:
                    converter(Fields({name: part}, {name}))(arguments)
                except OverflowError:
                    message = "expected a number that a float can hold, got a larger one"
                    raise ArgumentsError.at(f"/{name}", message) from None
            raise

    return read


def converter(fields: Fields) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Write a function that converts a dict in place and returns it.

    The dict satisfies the schema of what is converted; an integer that no float can hold raises
    `OverflowError`.
    """
    return _ConverterText(fields).compile()


class _ConverterText:
    """The text of a converter; what is used twice, or contains itself, is a function of its own.

    What comes from outside is never part of the text but as the literal of a string.
    """

    def __init__(self, root: Fields) -> None:
        self._root = root
        self._uses = _count_uses(root)
        self._functions: dict[int, str] = {}
        self._waiting: list[tuple[str, Conversion]] = []
        self._lines: list[str] = []
        self._names = 0
        self._depth = 0

    def compile(self) -> Callable[[dict[str, Any]], dict[str, Any]]:
        with self._block("def convert(values):"):
            self._write_fields(self._root, "values")
            self._line("return values")
        while self._waiting:
            name, conversion = self._waiting.pop()
            with self._block(f"def {name}(values):"):
                self._write_inside(conversion, "values")
                self._line("return")
        names: dict[str, Any] = {}
        exec(_compile("\n".join(self._lines)), names)  # noqa: S102 - every word of it is ours
        return names["convert"]

    def _line(self, text: str) -> None:
        self._lines.append("    " * self._depth + text)

    @contextmanager
    def _block(self, head: str) -> Generator[None]:
        """Write `head`, and beneath it what is written meanwhile."""
        self._line(head)
        self._depth += 1
        yield
        self._depth -= 1

    def _new_name(self, stem: str) -> str:
        self._names += 1
        return f"{stem}_{self._names}"

    def _write(self, conversion: Conversion, place: str) -> None:
        """Write what converts the value at `place`, which can be assigned to."""
        if isinstance(conversion, Number):
            found, wanted = conversion.value
            self._line(
                f"if type({place}) is {found.__name__}: {place} = {wanted.__name__}({place})"
            )
        elif isinstance(conversion, Member):
            for python_type, part in conversion.by_type.items():
                if changes(part):
                    with self._block(f"if type({place}) is {python_type.__name__}:"):
                        self._write(part, place)
        else:
            self._write_container(conversion, place)

    def _write_container(self, conversion: Each | Fields, place: str) -> None:
        key = id(conversion)
        if self._uses[key] > 1 or self._depth > _DEEPEST:
            if key not in self._functions:
                self._functions[key] = self._new_name("convert")
                self._waiting.append((self._functions[key], conversion))
            self._line(f"{self._functions[key]}({place})")
            return
        self._write_inside(conversion, place)

    def _write_inside(self, conversion: Conversion, place: str) -> None:
        values = self._new_name("values")
        self._line(f"{values} = {place}")
        if isinstance(conversion, Fields):
            self._write_fields(conversion, values)
        elif isinstance(conversion, Each) and conversion.keyed:
            self._write_parts(conversion.item, values, f"{values}.items()", f"{values}.values()")
        elif isinstance(conversion, Each):
            self._write_parts(conversion.item, values, f"enumerate({values})", values)

    def _write_fields(self, fields: Fields, values: str) -> None:
        for key, part in fields.by_key.items():
            if not changes(part):
                continue
            if key in fields.optional:
                with self._block(f"if {key!r} in {values}:"):
                    self._write(part, f"{values}[{key!r}]")
            else:
                self._write(part, f"{values}[{key!r}]")

    def _write_parts(self, part: Conversion, values: str, pairs: str, parts: str) -> None:
        if isinstance(part, Each | Fields):
            item = self._new_name("item")
            with self._block(f"for {item} in {parts}:"):
                self._write_container(part, item)
            return
        key = self._new_name("key")
        loop = f"for {key}, _ in {pairs}:"
        if isinstance(part, Member):
            with self._block(loop):
                self._write(part, f"{values}[{key}]")
            return
        # The first scan runs in C and nearly always finds nothing to do.
        scan = f"if {part.value[0].__name__} in map(type, {parts}):"
        with self._block(scan), self._block(loop):
            self._write(part, f"{values}[{key}]")


@lru_cache(maxsize=256)
def _compile(text: str) -> CodeType:
    # Tools of the same types have the same text.
    return compile(text, "<anyshape>", "exec")


def _count_uses(root: Conversion) -> Counter[int]:
    uses: Counter[int] = Counter()
    pending = [root]
    while pending:
        current = pending.pop()
        uses[id(current)] += 1
        if uses[id(current)] == 1 and not isinstance(current, Number):
            pending.extend(_parts(current))
    return uses


def _parts(conversion: Each | Member | Fields) -> list[Conversion]:
    if isinstance(conversion, Each):
        return [conversion.item]
    if isinstance(conversion, Member):
        return list(conversion.by_type.values())
    return list(conversion.by_key.values())


def with_whole_numbers(value: Any) -> Any:
    """Return `value` with every whole float as an integer, or `value` itself if it has none.

    Libraries that refuse 1.0 for an `int` are asked again with this. A type that wanted a float
    takes the integer back without loss.
    """
    if type(value) is float:
        return int(value) if value.is_integer() else value
    if type(value) is list:
        before = cast("list[Any]", value)
        items = [with_whole_numbers(item) for item in before]
        return items if any(map(_differ, items, before)) else before
    if type(value) is dict:
        entries = cast("dict[str, Any]", value)
        changed = {key: with_whole_numbers(item) for key, item in entries.items()}
        return changed if any(map(_differ, changed.values(), entries.values())) else entries
    return value


def _differ(first: Any, second: Any) -> bool:
    return first is not second
