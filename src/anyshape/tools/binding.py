"""From the JSON text of a call's arguments to the values of a function's parameters.

First the full input schema judges the arguments, then they are converted. Conversion never
changes what an argument is: a string stays a string unless the parameter's type says that it is
written as one (a date, a UUID), and the only number that changes is one that JSON Schema and
Python file differently (1.0 for an `int`, 1 for a `float`).
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import msgspec

from anyshape.decoding import LONG, decode_json
from anyshape.documents.pointers import escape
from anyshape.errors import LimitExceeded, Problem
from anyshape.protocol.nesting import is_too_deep
from anyshape.schema import Schema, leave_loop
from anyshape.tools.inputs import Inputs
from anyshape.tools.types import ArgumentsError, ReadArguments

Bind = Callable[[bytes | None], dict[str, Any]]
"""Returns the values of the parameters by name, or raises `ArgumentsError`."""

_decode = msgspec.json.Decoder().decode


def bind_whole_object(schema: Schema, parameter: str) -> Bind:
    """Give all arguments, as one dict, to the parameter named `parameter`."""
    bind_arguments = _binder(schema)

    def bind(raw: bytes | None) -> dict[str, Any]:
        return {parameter: bind_arguments(raw)}

    return bind


def bind_parameters(schema: Schema, inputs: Inputs, *, derived: bool, takes_any: bool) -> Bind:
    """Give each argument to its parameter, read as `inputs` decided.

    A schema that the author wrote may accept names that the function does not take; those are
    refused here, unless it `takes_any`.
    """
    names = None if derived or takes_any else tuple(inputs.names)
    read = inputs.read
    if takes_any and read is not None:
        read = _with_others(read, frozenset(inputs.names))
    bind = _binder(schema, names, read)
    return _with_fresh_defaults(bind, inputs.fresh) if inputs.fresh else bind


def _binder(
    schema: Schema, names: tuple[str, ...] | None = None, read_values: ReadArguments | None = None
) -> Bind:
    """Return what decodes, checks and reads arguments: one function, as each more takes time.

    No others than `names` are taken, if those are given.
    """
    accepts, problems = schema.accepts_parsed, schema.problems
    free, depth = schema.cost.free_bytes, schema.limits.instance_depth
    known = None if names is None else frozenset(names)

    def bind(raw: bytes | None) -> dict[str, Any]:
        size = 2 if raw is None else len(raw)
        if size > free:
            leave_loop()
        if raw is not None and size > 2 * depth and is_too_deep(raw, depth):
            raise _refuse(f"nested more than {depth} levels deep (limit: instance_depth)")
        try:
            arguments: dict[str, Any] = (
                {} if raw is None else (decode_json if size > LONG else _decode)(raw)
            )
            if not accepts(arguments, size):
                raise ArgumentsError(problems(arguments, size=size))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise _refuse(f"expected JSON, got text that is not: {error}") from None
        except RecursionError:
            raise _refuse("expected JSON, got text that is nested too deeply to read") from None
        except LimitExceeded as error:
            raise _refuse(error.message, error.path) from None
        if known is not None and not arguments.keys() <= known:
            raise ArgumentsError(
                [_unknown(name, names or ()) for name in arguments if name not in known]
            )
        return arguments if read_values is None else read_values(arguments, raw)

    return bind


def _with_others(read: ReadArguments, names: frozenset[str]) -> ReadArguments:
    """Return what reads arguments, and passes on as they are those that are not in `names`."""

    def read_all(arguments: dict[str, Any], raw: bytes | None) -> dict[str, Any]:
        others = {name: arguments[name] for name in arguments.keys() - names}
        return {**read(arguments, raw), **others}

    return read_all


def _with_fresh_defaults(bind: Bind, fresh: tuple[tuple[str, Any], ...]) -> Bind:
    """Return what adds a copy of each mutable default that was left out."""

    def bind_all(raw: bytes | None) -> dict[str, Any]:
        values = bind(raw)
        for name, default in fresh:
            if name not in values:
                values[name] = deepcopy(default)
        return values

    return bind_all


def _unknown(name: str, names: tuple[str, ...]) -> Problem:
    from difflib import get_close_matches  # Only for who makes mistakes.

    close = get_close_matches(name[:100], names, n=1)
    hint = f"did you mean '{close[0]}'?" if close else f"it takes {', '.join(names) or 'none'}"
    message = f"expected an argument this tool takes, got an unknown one; {hint}"
    return _refuse(message, "/" + escape(name[:100])).problems[0]


def _refuse(message: str, path: str = "") -> ArgumentsError:
    return ArgumentsError.at(path, message)
