"""Suggestions for the value of an argument while a user types it.

https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from anyshape.client.answers import as_object
from anyshape.client.request import ClientRequest
from anyshape.errors import ProtocolError
from anyshape.protocol.encoding import encode_data
from anyshape.protocol.methods import COMPLETE

_MOST_VALUES: Final = 100


@dataclass(frozen=True, slots=True)
class Suggestions:
    """Suggestions, the best first; there may be more than were sent."""

    values: tuple[str, ...]
    total: int | None = None
    has_more: bool = False


def ask_completion(
    argument: str,
    value: str,
    prompt: str | None,
    resource: str | None,
    context: Mapping[str, str] | None,
) -> ClientRequest:
    """Return the request for suggestions; exactly one of prompt and resource is completed."""
    if (prompt is None) == (resource is None):
        raise TypeError("complete(): expected prompt= or resource=, and not both")
    reference = (
        {"type": "ref/prompt", "name": prompt}
        if resource is None
        else {"type": "ref/resource", "uri": resource}
    )
    params: dict[str, Any] = {"ref": reference, "argument": {"name": argument, "value": value}}
    if context:
        params["context"] = {"arguments": dict(context)}
    return ClientRequest(COMPLETE, encode_data(params)[1:-1], repeatable=True)


def read_completion(result: object) -> Suggestions:
    """Return the suggestions; `ProtocolError` if they are none."""
    found = as_object(as_object(result).get("completion"))
    values, total = found.get("values"), found.get("total")
    if not isinstance(values, list):
        raise ProtocolError("completion/complete gave no array of values")
    named = cast("list[object]", values)
    if not all(isinstance(value, str) for value in named):
        raise ProtocolError("completion/complete gave a value that is no string")
    kept = tuple(cast("list[str]", named[:_MOST_VALUES]))
    has_more = found.get("hasMore") is True or len(named) > len(kept)
    return Suggestions(kept, total if type(total) is int else None, has_more)
