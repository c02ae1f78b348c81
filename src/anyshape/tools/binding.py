"""From the JSON text of a call's arguments to the values of a function's parameters.

First the full input schema judges the arguments, then they are converted. Conversion never
changes what an argument is: a string stays a string unless the parameter's type says that it is
written as one (a date, a UUID), and the only number that changes is one that JSON Schema and
Python file differently (1.0 for an `int`, 1 for a `float`).
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from difflib import get_close_matches
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import msgspec

from anyshape.documents.pointers import escape
from anyshape.errors import LimitExceeded, Problem
from anyshape.protocol.nesting import is_too_deep
from anyshape.schema import leave_loop
from anyshape.tools import msgspec_types
from anyshape.tools.conversion import Fields, converter
from anyshape.tools.inputs import Inputs

if TYPE_CHECKING:
    from anyshape.schema import Schema

__all__ = ["ArgumentsError", "Bind", "bind_parameters", "bind_whole_object"]

Bind = Callable[[bytes | None], dict[str, Any]]
"""Returns the values of the parameters by name, or raises `ArgumentsError`."""

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode


class ArgumentsError(Exception):
    """The arguments of a call do not fit; `problems` say where."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__()
        self.problems = problems


def bind_whole_object(schema: Schema, parameter: str) -> Bind:
    """Give all arguments, as one dict, to the parameter named `parameter`."""
    read = _reader(schema)

    def bind(raw: bytes | None) -> dict[str, Any]:
        return {parameter: read(raw)}

    return bind


def bind_parameters(schema: Schema, inputs: Inputs, *, derived: bool, takes_any: bool) -> Bind:
    """Give each argument to its parameter, converted as `inputs` decided.

    A schema that the author wrote may accept names that the function does not take; those are
    refused here, unless it `takes_any`.
    """
    names = None if derived or takes_any else tuple(inputs.names)
    validates = inputs.validate_json is not None
    if validates and not inputs.structs and not takes_any and inputs.validate_python is not None:
        bind = _reader(schema, names, _validate_decoded(inputs))
    elif validates:
        bind = _validating(_reader(schema, names), inputs, takes_any=takes_any)
    elif inputs.numbers is not None:
        bind = _reader(schema, names, _convert_numbers(inputs.numbers))
    else:
        bind = _reader(schema, names)
    if inputs.structs:
        bind = _building(bind, inputs)
    return _refreshing(bind, inputs) if inputs.fresh else bind


def _decode_object(raw: bytes | None) -> dict[str, Any]:
    return {} if raw is None else _decode(raw)


class _Conversion(msgspec.Struct, frozen=True):
    """What makes values of decoded arguments, if anything, and what does where that fails.

    `prepare` returns the function; it is called for the first arguments that there are.
    """

    prepare: Callable[[], Callable[[dict[str, Any]], dict[str, Any]]] | None = None
    failure: type[Exception] = OverflowError
    recover: Bind = _decode_object


_NO_CONVERSION = _Conversion()


def _reader(
    schema: Schema,
    names: tuple[str, ...] | None = None,
    conversion: _Conversion = _NO_CONVERSION,
) -> Bind:
    """Return what reads, checks and converts arguments: one function, as each more takes time.

    No others than `names` are taken, if those are given.
    """
    accepts, problems = schema.accepts_parsed, schema.problems
    free, depth = schema.cost.free_bytes, schema.limits.instance_depth
    known = None if names is None else frozenset(names)
    prepare, failure, recover = conversion.prepare, conversion.failure, conversion.recover
    convert: Callable[[dict[str, Any]], dict[str, Any]] | None = None

    def read(raw: bytes | None) -> dict[str, Any]:
        nonlocal convert
        size = 2 if raw is None else len(raw)
        if size > free:
            leave_loop()
        if raw is not None and size > 2 * depth and is_too_deep(raw, depth):
            raise _refuse(f"nested more than {depth} levels deep (limit: instance_depth)")
        try:
            arguments: dict[str, Any] = {} if raw is None else _decode(raw)
            accepted = accepts(arguments, size)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise _refuse(f"expected JSON, got text that is not: {error}") from None
        except RecursionError:
            raise _refuse("expected JSON, got text that is nested too deeply to read") from None
        except LimitExceeded as error:
            raise _refuse(error.message, error.path) from None
        if not accepted:
            raise ArgumentsError(problems(arguments, size=size))
        if known is not None and not arguments.keys() <= known:
            raise ArgumentsError(
                [_unknown(name, names or ()) for name in arguments if name not in known]
            )
        if convert is None:
            if prepare is None:
                return arguments
            convert = prepare()
        try:
            return convert(arguments)
        except failure:
            return recover(raw)

    return read


def _convert_numbers(numbers: Fields) -> _Conversion:
    def recover(raw: bytes | None) -> dict[str, Any]:
        arguments = _decode_object(raw)
        for name, conversion in numbers.by_key.items():
            if name not in arguments:
                continue
            try:
                converter(Fields({name: conversion}))(arguments)
            except OverflowError:
                message = "expected a number that a float can hold, got a larger one"
                raise _refuse(message, f"/{name}") from None
        return arguments

    return _Conversion(partial(converter, numbers), OverflowError, recover)


def _validate_decoded(inputs: Inputs) -> _Conversion:
    from pydantic import ValidationError

    validate_python = inputs.validate_python
    assert validate_python is not None
    validate = partial(validate_python, strict=True)
    validate_text = _text_validator(inputs)

    def recover(raw: bytes | None) -> dict[str, Any]:
        # The text has the last word, and says what is wrong. Decoded anew: validators that an
        # author wrote may have changed what was decoded before.
        return validate_text(raw, _decode_object(raw))

    return _Conversion(lambda: validate, ValidationError, recover)


def _text_validator(inputs: Inputs) -> Callable[[bytes | None, dict[str, Any]], dict[str, Any]]:
    from pydantic import ValidationError

    from anyshape.tools.pydantic_types import problems_of

    validate_json = inputs.validate_json
    assert validate_json is not None

    def validate(raw: bytes | None, arguments: dict[str, Any]) -> dict[str, Any]:
        try:
            return validate_json(b"{}" if raw is None else raw, strict=True)
        except ValidationError as error:
            whole = _with_whole_numbers(arguments)
            if whole is arguments:
                raise ArgumentsError(problems_of(error, arguments)) from None
            try:
                return validate_json(_encode(whole), strict=True)
            except ValidationError as again:
                raise ArgumentsError(problems_of(again, arguments)) from None

    return validate


def _validating(read: Bind, inputs: Inputs, *, takes_any: bool) -> Bind:
    validate_text = _text_validator(inputs)
    structs = [name for name, _ in inputs.structs]
    names = frozenset(inputs.names)

    def bind(raw: bytes | None) -> dict[str, Any]:
        arguments = read(raw)
        values = validate_text(raw, arguments)
        for name in structs:
            if name in arguments:
                values[name] = arguments[name]
        if takes_any:
            for name in arguments.keys() - names:
                values[name] = arguments[name]
        return values

    return bind


def _building(read: Bind, inputs: Inputs) -> Bind:
    structs = inputs.structs
    convert = msgspec_types.convert

    def bind(raw: bytes | None) -> dict[str, Any]:
        values = read(raw)
        for name, annotation in structs:
            if name not in values:
                continue
            value = values[name]
            try:
                values[name] = convert(value, annotation)
            except msgspec.ValidationError as error:
                whole = _with_whole_numbers(value)
                try:
                    if whole is value:
                        raise error
                    values[name] = convert(whole, annotation)
                except msgspec.ValidationError as again:
                    problem = msgspec_types.problem_of(again, f"/{name}")
                    raise ArgumentsError([problem]) from None
        return values

    return bind


def _refreshing(read: Bind, inputs: Inputs) -> Bind:
    fresh = inputs.fresh

    def bind(raw: bytes | None) -> dict[str, Any]:
        values = read(raw)
        for name, default in fresh:
            if name not in values:
                values[name] = deepcopy(default)
        return values

    return bind


def _with_whole_numbers(value: Any) -> Any:
    """Return `value` with every whole float as an integer, or `value` itself if it has none.

    A type that wanted a float takes the integer back without loss; one that wanted an integer
    would have refused the float, although its schema accepts it.
    """
    if type(value) is float:
        return int(value) if value.is_integer() else value
    if type(value) is list:
        before = cast("list[Any]", value)
        items = [_with_whole_numbers(item) for item in before]
        return before if all(map(_is_same, items, before)) else items
    if type(value) is dict:
        entries = cast("dict[str, Any]", value)
        changed = {key: _with_whole_numbers(item) for key, item in entries.items()}
        return entries if all(changed[key] is entries[key] for key in entries) else changed
    return value


def _is_same(first: Any, second: Any) -> bool:
    return first is second


def _unknown(name: str, names: tuple[str, ...]) -> Problem:
    close = get_close_matches(name[:100], names, n=1)
    hint = f"did you mean '{close[0]}'?" if close else f"it takes {', '.join(names) or 'none'}"
    path = "/" + escape(name[:100])
    return _problem(f"expected an argument this tool takes, got an unknown one; {hint}", path)


def _refuse(message: str, path: str = "") -> ArgumentsError:
    return ArgumentsError([_problem(message, path)])


def _problem(message: str, path: str = "") -> Problem:
    return Problem(keyword="", path=path, message=message, schema_path="")
