"""What a function does with a variable, read from its code: which attributes it looks up."""

from __future__ import annotations

import dis
from collections.abc import Collection, Iterator
from types import CodeType
from typing import Any, cast


def attributes_of(
    function: Any, variable: str, names: Collection[str], *, inside: bool = True
) -> Iterator[str]:
    """Yield those of `names` that a function looks up in a variable of its own.

    With `inside`, those of functions that it defines count, too.
    """
    code: object = getattr(function, "__code__", None)
    if isinstance(code, CodeType):
        yield from _in_code(code, variable, frozenset(names), inside)


def _in_code(code: CodeType, variable: str, names: frozenset[str], inside: bool) -> Iterator[str]:
    if not names.isdisjoint(code.co_names):
        loaded: object = None
        for instruction in dis.get_instructions(code):
            operation, value = instruction.opname, instruction.argval
            if operation in ("LOAD_ATTR", "LOAD_METHOD") and loaded == variable and value in names:
                yield value
            if operation.startswith(("LOAD_FAST", "LOAD_DEREF")):
                # One instruction may load two variables; the last is the one looked at.
                loaded = cast("tuple[str, ...]", value)[-1] if isinstance(value, tuple) else value
            elif operation != "EXTENDED_ARG":
                loaded = None
    for constant in code.co_consts if inside else ():
        if isinstance(constant, CodeType) and variable in constant.co_freevars:
            yield from _in_code(constant, variable, names, inside)
