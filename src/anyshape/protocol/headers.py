"""Parameters that travel in HTTP headers too: `x-mcp-header`, `Mcp-Param-*` and `Mcp-Name`.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#request-metadata
The plan is made once, from a tool's input schema; the client extracts headers by it and the server
compares by it, so that both read the same places.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, TypeAlias, cast

import msgspec

from anyshape.documents.pointers import Place, escape
from anyshape.documents.positions import Node, dialect_in, subschemas
from anyshape.errors import InvalidSchema, NotJson

# As clients write them; servers, to whom case says nothing, look for them in lower case.
VERSION_HEADER: Final = "MCP-Protocol-Version"
METHOD_HEADER: Final = "Mcp-Method"
NAME_HEADER: Final = "Mcp-Name"
SESSION_HEADER: Final = "Mcp-Session-Id"
LAST_EVENT_HEADER: Final = "Last-Event-ID"
PARAMETER_PREFIX: Final = "Mcp-Param-"

_ANNOTATION: Final = "x-mcp-header"
_LARGEST_INTEGER: Final = 2**53 - 1
LONGEST_ECHO: Final = 8_192
"""Bytes of what one side sends for the other to repeat in a header; servers take no longer ones."""
HEADER_WORD: Final = r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
"""The expression for what may be the name of a header, and other words in one."""
_TOKEN: Final = re.compile(HEADER_WORD)
_PLAIN: Final = re.compile(r"[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?|")
_PERMITTED: Final = re.compile(r"[\x20-\x7e\t]*")
_DECIMAL: Final = re.compile(r"(-?[0-9]{1,16})(?:\.0{1,16})?")
_SENTINEL_START: Final = "=?base64?"
_SENTINEL_END: Final = "?="

HeaderType: TypeAlias = Literal["string", "integer", "boolean"]


def encode_header_value(value: str) -> str:
    """Return a string as a header may carry it: itself, or base64 between the sentinels."""
    if _PLAIN.fullmatch(value) and not _is_encoded(value):
        return value
    try:
        encoded = base64.b64encode(value.encode())
    except UnicodeEncodeError:
        raise NotJson("a lone surrogate cannot travel in a header") from None
    return f"{_SENTINEL_START}{encoded.decode('ascii')}{_SENTINEL_END}"


def decode_header_value(value: str) -> str:
    """Return the string a header value stands for; `ValueError` when it stands for none."""
    if not _PERMITTED.fullmatch(value):
        raise ValueError("it holds characters that a header may not")
    if not _is_encoded(value):
        return value
    payload = value[len(_SENTINEL_START) : -len(_SENTINEL_END)]
    try:
        decoded = base64.b64decode(payload, validate=True)
        text = decoded.decode()
    except (binascii.Error, UnicodeDecodeError):
        raise ValueError("it is not base64 of UTF-8") from None
    if base64.b64encode(decoded).decode("ascii") != payload:
        raise ValueError("its base64 is not canonical")
    return text


def _is_encoded(value: str) -> bool:
    shortest = len(_SENTINEL_START) + len(_SENTINEL_END)
    return (
        len(value) >= shortest
        and value.startswith(_SENTINEL_START)
        and value.endswith(_SENTINEL_END)
    )


class HeaderParameter(msgspec.Struct, frozen=True):
    """One argument that a header repeats: which header, from where, of what type."""

    header: str
    """The header's name in lower case, prefix included."""
    name: str
    """The header's name as clients write it."""
    path: Place
    """The property names that lead to the argument."""
    kind: HeaderType

    def render(self, value: object) -> str | None:
        """Return the header value for an argument; `None` for one that no header can carry."""
        if self.kind == "string":
            return encode_header_value(value) if isinstance(value, str) else None
        if isinstance(value, bool):
            return ("true" if value else "false") if self.kind == "boolean" else None
        if self.kind == "integer":
            if isinstance(value, float) and value.is_integer():
                value = int(value)
            if isinstance(value, int) and abs(value) <= _LARGEST_INTEGER:
                return str(value)
        return None

    def write(self, value: object) -> str | None:
        """Return what a client sends for an argument, of the planned type or another.

        A value in the body without its header is refused for that; that its type is wrong is for
        the check against the schema to say.
        """
        if isinstance(value, int | float) and abs(value) > _LARGEST_INTEGER:
            return None
        text = _as_it_stands(value)
        return self.render(value) or (None if text is None else encode_header_value(text))

    def expects(self, value: object) -> bool:
        """Return whether an argument makes the header obligatory.

        A value of another type is left to the check against the schema; an integer too large for
        any header is not, or leaving the header out would hide it from those who route by it.
        """
        if self.kind == "integer" and isinstance(value, int) and not isinstance(value, bool):
            return True
        return self.render(value) is not None

    def matches(self, value: object, header: str) -> bool:
        """Return whether a header value says the same as the argument.

        An argument of another type than planned may be repeated as it stands: that its type is
        wrong is for the check against the schema to say, in words that a model can act on.
        """
        try:
            text = decode_header_value(header)
        except ValueError:
            return False
        if self.kind != "integer" or not _is_integer(value):
            return text == _as_it_stands(value)
        rendered = self.render(value)
        number = _DECIMAL.fullmatch(text)
        return rendered is not None and number is not None and int(number[1]) == int(rendered)


class HeaderPlan(msgspec.Struct, frozen=True):
    """Every argument of a tool that a header repeats."""

    parameters: tuple[HeaderParameter, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.parameters)

    def __iter__(self) -> Iterator[HeaderParameter]:
        return iter(self.parameters)

    def extract(self, arguments: Mapping[str, Any]) -> dict[str, str]:
        """Return the headers a client sends beside these arguments."""
        headers: dict[str, str] = {}
        for parameter in self.parameters:
            written = parameter.write(_value_at(arguments, parameter.path))
            if written is not None:
                headers[parameter.name] = written
        return headers

    def flaw(self, arguments: Mapping[str, Any], headers: Mapping[str, str]) -> str | None:
        """Return how headers, by lower-case name, contradict the arguments, or `None`."""
        for parameter in self.parameters:
            header = headers.get(parameter.header)
            value = _value_at(arguments, parameter.path)
            if header is None:
                if parameter.expects(value):
                    return f"{parameter.name} is missing, but {_dotted(parameter)} has a value"
            elif value is None:
                return f"{parameter.name} is there, but {_dotted(parameter)} has no value"
            elif not parameter.matches(value, header):
                return f"{parameter.name} differs from {_dotted(parameter)} in the body"
        return None


_NO_PLAN: Final = HeaderPlan()


def header_plan(input_schema: object) -> HeaderPlan:
    """Return the plan that the `x-mcp-header` annotations of an input schema make.

    `InvalidSchema` when one of them breaks a rule of the specification, naming the place.
    """
    if not isinstance(input_schema, dict):
        return _NO_PLAN
    root = cast("Node", input_schema)
    dialect = dialect_in(root)
    parameters: dict[str, HeaderParameter] = {}
    # A path of `None` has left the chain of `properties`; what is annotated there is misplaced.
    pending: list[tuple[Place | None, object]] = [((), root)]
    while pending:
        path, value = pending.pop()
        if not isinstance(value, dict):
            continue
        node = cast("Node", value)
        if _ANNOTATION in node:
            parameter = _read_annotation(node, path)
            if parameter.header in parameters:
                raise InvalidSchema(
                    f"{_ANNOTATION} {parameter.name[len(PARAMETER_PREFIX) :]!r} is used twice; "
                    "header names must differ by more than case",
                    path=_pointer(parameter.path),
                )
            parameters[parameter.header] = parameter
        for keyword, label, child in subschemas(node, dialect):
            chained = path is not None and keyword == "properties"
            pending.append(((*path, str(label)) if chained and path is not None else None, child))
    if not parameters:
        return _NO_PLAN
    return HeaderPlan(tuple(sorted(parameters.values(), key=lambda each: each.header)))


def _read_annotation(node: Node, path: Place | None) -> HeaderParameter:
    if not path:
        raise InvalidSchema(
            f"{_ANNOTATION} may only be on a property that the root reaches through "
            "`properties` alone"
        )
    where = _pointer(path)
    name = node[_ANNOTATION]
    if not isinstance(name, str) or not _TOKEN.fullmatch(name):
        raise InvalidSchema(f"{_ANNOTATION} must be an HTTP token, such as 'Region'", path=where)
    kind = node.get("type")
    if kind not in ("string", "integer", "boolean"):
        raise InvalidSchema(
            f"{_ANNOTATION} {name!r} needs a property of type string, integer or boolean",
            path=where,
        )
    written = PARAMETER_PREFIX + name
    return HeaderParameter(header=written.lower(), name=written, path=path, kind=kind)


def _is_integer(value: object) -> bool:
    if isinstance(value, float):
        return value.is_integer()
    return isinstance(value, int) and not isinstance(value, bool)


def _as_it_stands(value: object) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str | int | float) else None


def _value_at(arguments: Mapping[str, Any], path: Place) -> object:
    value: object = arguments
    for name in path:
        if not isinstance(value, Mapping):
            return None
        value = cast("Mapping[str, object]", value).get(name)
    return value


def _pointer(path: Place) -> str:
    return "".join(f"/properties/{escape(name)}" for name in path)


def _dotted(parameter: HeaderParameter) -> str:
    return ".".join(parameter.path)
