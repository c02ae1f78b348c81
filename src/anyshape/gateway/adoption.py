"""What a gateway cannot give back of the servers behind it: what an SDK, or their age, has taken.

`anyshape check` says it, so that nobody finds out by a client that misses something.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from anyshape.gateway.envelopes import is_unmarked
from anyshape.gateway.foreign import is_foreign
from anyshape.gateway.upstream import UpstreamLink

_AUTH = ("auth", "_token_verifier", "_auth_server_provider")
_ROUTES = ("_additional_http_routes", "_custom_starlette_routes")
"""Where the objects of other SDKs keep what only their own HTTP service asks for, or serves."""


def unrecovered(link: UpstreamLink) -> Iterator[str]:
    """Yield what is lost of an upstream that has been connected to, one line each."""
    if is_foreign(link.upstream.target):
        yield from _lost_with_object(link.upstream.target)
        if link.asks_in_results:
            yield (
                "what a function asks in the middle of a call, as by ctx.elicit, reaches nobody at "
                f'{link.revision}: adopt(server, revision="2025-11-25") lets it ask'
            )
        bare = [tool.name for tool in link.offer.tools if tool.output_schema is None]
        if bare:
            yield (
                f"{_names(bare)}: no output schema, so what its function returned reaches nobody "
                "but as text; a return annotation gives it one"
            )
    if not link.revision.has_structured_content:
        yield f"it speaks {link.revision}, which has no values: every result is text"
        return
    kept = [
        tool.name
        for tool in link.offer.tools
        if tool.output_schema is not None and is_unmarked(tool.name, tool.output_schema)
    ]
    if kept:
        yield (
            f"{_names(kept)}: an object with the one member result, which no SDK has marked as an "
            "envelope of its own, so it stays what it is"
        )


def _lost_with_object(server: Any) -> Iterator[str]:
    settings = getattr(server, "settings", None)
    if any(_get(server, name) for name in _AUTH) or _get(settings, "auth"):
        yield "its own authentication is not asked for: give HttpOptions an Authorization"
    routes = sum(len(_get(server, name) or ()) for name in _ROUTES)
    if routes:
        yield f"{routes} HTTP route{'' if routes == 1 else 's'} of its own: only /mcp is served"
    yield "all callers share one session with it, and so what it keeps per session"


def _get(holder: object, name: str) -> Any:
    return getattr(holder, name, None)


def _names(names: list[str]) -> str:
    shown = ", ".join(names[:3])
    return shown if len(names) <= 3 else f"{shown} and {len(names) - 3} more"
