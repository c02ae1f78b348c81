"""What a server asks of the user: to fill in a form, or to visit an address.

https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, cast
from urllib.parse import urlsplit

from anyshape.client.answers import as_object, as_string
from anyshape.client.quoting import shorten, show
from anyshape.errors import AnyshapeError, ProtocolError
from anyshape.protocol.jsonrpc import INVALID_PARAMS
from anyshape.protocol.methods import ELICIT
from anyshape.schema import Limits, Schema, compile_here

_LONGEST_MESSAGE: Final = 20_000
_LONGEST_URL: Final = 8_192
_NEVER: Final = frozenset(" \\")
_MOST_FIELDS: Final = 100


@dataclass(frozen=True, slots=True)
class Elicitation:
    """One question of a server to the user.

    A form has a `schema`, whose properties are its fields; a visit has a `url`, which is to be
    shown in full, and opened only after the user agreed to it. All of it is a stranger's text.
    """

    message: str
    """What the server says it needs this for."""
    server: str
    """Which server asks, for the user to see."""
    schema: Mapping[str, Any] | None = None
    """A flat object of strings, numbers, booleans and choices."""
    url: str | None = None
    """Where the server wants the user to go; what happens there is not for the client to see."""
    id: str | None = None
    """What older servers call the visit."""

    @property
    def defaults(self) -> dict[str, Any]:
        """The values that the form's fields start with."""
        return {
            name: field["default"]
            for name, field in as_object((self.schema or {}).get("properties")).items()
            if "default" in field
        }


ElicitAnswer: TypeAlias = Mapping[str, Any] | Literal["accept", "decline", "cancel"]
"""The values of a form's fields, or what the user chose: to agree, to refuse, or neither."""

OnElicit: TypeAlias = Callable[[Elicitation], ElicitAnswer | Awaitable[ElicitAnswer]]
"""Asks the user; what is left out of a form, its defaults fill in."""


def read_elicitation(params: Mapping[str, Any], server: str) -> Elicitation:
    """Return what is asked; `ProtocolError` if it is nothing to put before a user."""
    message = params.get("message")
    if not isinstance(message, str) or len(message) > _LONGEST_MESSAGE:
        raise _unfit(f"message: expected a string of at most {_LONGEST_MESSAGE} characters")
    mode = params.get("mode", "form")
    if mode == "form":
        return Elicitation(message, server, schema=_read_form(params.get("requestedSchema")))
    if mode == "url":
        url, id = _read_url(params.get("url")), as_string(params.get("elicitationId"))
        return Elicitation(message, server, url=url, id=id)
    raise _unfit(f"mode: expected form or url, got {show(mode, 40)}")


def _read_form(schema: object) -> Mapping[str, Any]:
    form = as_object(schema)
    fields = form.get("properties", {})
    if form.get("type") != "object" or not isinstance(fields, dict):
        raise _unfit('requestedSchema: expected "type": "object" and its properties')
    named = cast("dict[str, object]", fields)
    if len(named) > _MOST_FIELDS:
        raise _unfit(f"requestedSchema: expected at most {_MOST_FIELDS} properties")
    for name, field in named.items():
        nested = isinstance(field, dict) and "object" in _types(cast("dict[str, Any]", field))
        if not isinstance(field, dict) or nested or "properties" in field:
            raise _unfit(
                f"requestedSchema: property {shorten(name, 60)!r} has to be a string, "
                "a number, a boolean or a choice of strings"
            )
    return form


def _types(field: Mapping[str, Any]) -> list[Any]:
    kind = field.get("type")
    return cast("list[Any]", kind) if isinstance(kind, list) else [kind]


def _read_url(url: object) -> str:
    """Return an address that a browser may be given; nothing that an application answers to.

    No URL has a backslash. Browsers take it for a slash, and the host to end there; others do not.
    """
    if isinstance(url, str) and len(url) <= _LONGEST_URL and url.isascii() and url.isprintable():
        try:
            parts = urlsplit(url)
            is_port = parts.port is None or parts.port > 0  # raises, if it is none at all
            if (
                parts.scheme in ("http", "https")
                and parts.hostname
                and is_port
                and not _NEVER & {*url}
            ):
                return url
        except ValueError:
            pass
    raise _unfit(f"url: expected an http or https address, got {show(url, 60)}")


def write_elicited(asked: Elicitation, answer: object, limits: Limits) -> dict[str, Any]:
    """Return the result of a question; `ValidationError` if the answer does not fit its form.

    May wait for another process: to be called aside of the event loop.
    """
    if answer in ("decline", "cancel"):
        return {"action": answer}
    if answer != "accept" and not isinstance(answer, Mapping):
        raise TypeError(
            "on_elicit: expected the form's values, 'accept', 'decline' or 'cancel', "
            f"got {type(answer).__name__}"
        )
    if asked.schema is None:
        return {"action": "accept"}
    given = {} if answer == "accept" else dict(cast("Mapping[str, Any]", answer))
    content = {**asked.defaults, **given}
    _compile_form(asked.schema, limits).validate(content)
    return {"action": "accept", "content": content}


def _compile_form(schema: Mapping[str, Any], limits: Limits) -> Schema:
    try:
        return compile_here(dict(schema), limits=limits, formats=False)
    except AnyshapeError as error:
        raise _unfit(f"requestedSchema: {error}") from error


def _unfit(reason: str) -> ProtocolError:
    return ProtocolError(f"{ELICIT}: {reason}", code=INVALID_PARAMS)
