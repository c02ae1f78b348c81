"""The directories and files that a client tells servers about.

https://modelcontextprotocol.io/specification/2026-07-28/client/roots
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any, TypeAlias, cast

from anyshape.protocol.roots import Root

_RootLike: TypeAlias = str | Path | Root
Roots: TypeAlias = (
    Iterable[_RootLike] | Callable[[], Iterable[_RootLike] | Awaitable[Iterable[_RootLike]]]
)
"""Paths, `file://` URIs and `Root`s, or a callable that gives them whenever a server asks."""


def check_roots(roots: Any) -> Any:
    """Return roots as they are kept: a callable, or each of them read."""
    return roots if callable(roots) else [_read_root(root) for root in roots]


async def list_roots(roots: Any) -> dict[str, Any]:
    """Return the result of `roots/list`."""
    given = roots() if callable(roots) else roots
    if inspect.isawaitable(given):
        given = await given
    listed = cast("Iterable[_RootLike]", given)
    return {"roots": [_read_root(root).wire() for root in listed]}


def _read_root(root: _RootLike) -> Root:
    if isinstance(root, Root):
        return root
    if isinstance(root, Path):
        return Root(root.resolve().as_uri(), root.name or None)
    return Root(root)
