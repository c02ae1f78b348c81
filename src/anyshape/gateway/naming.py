"""What the things of an upstream are called at the gateway, and which of them are offered.

Patterns are matched with what the upstream calls a thing: the name of a tool or prompt, the URI of
a resource, the text of a template.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final, TypeVar
from urllib.parse import unquote

from anyshape.gateway.options import Upstream

Source = TypeVar("Source")
_PATHS: Final = 'over HTTP, endpoints="each" gives every upstream a path of its own'


class Naming:
    """The names of one upstream's tools and prompts."""

    def __init__(self, upstream: Upstream, name: str, *, alone: bool) -> None:
        own = "" if alone else f"{name}_"
        self._prefix = own if upstream.prefix is None else upstream.prefix
        self._rename = upstream.rename

    def here(self, name: str) -> str:
        """Return what it is called here."""
        return self._rename.get(name) or self._prefix + name

    def at_path(self, here: str) -> str | None:
        """Return what something that is called so here is called where no prefix is needed.

        Returns `None` for what cannot be this upstream's.
        """
        if here in self._rename.values():
            return here
        return here.removeprefix(self._prefix) if here.startswith(self._prefix) else None


def is_offered(upstream: Upstream, name: str) -> bool:
    """Tell whether something that the upstream calls so is offered."""
    return _matches(name, upstream.allow) and not _matches(name, upstream.deny)


def is_denied(upstream: Upstream, uri: str) -> bool:
    """Tell whether a resource is not to be had by a template that is offered.

    `note:%73ecret` is as good as `note:secret` to whoever reads it.
    """
    return _matches(uri, upstream.deny) or _matches(unquote(uri), upstream.deny)


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


@dataclass(frozen=True, slots=True)
class Collision:
    """A name that two upstreams would have: the first in the configuration has it."""

    noun: str
    name: str
    holder: str
    """The upstream whose thing has the name."""
    other: str
    """The upstream whose thing is not offered because of it."""

    def __str__(self) -> str:
        is_named = self.noun in ("tool", "prompt")
        fix = "set prefix= or rename= for one of them" if is_named else _PATHS
        return (
            f"{self.noun} {self.name!r:.200} of upstream {self.other!r} is not offered: upstream "
            f"{self.holder!r} has one of that name; {fix}"
        )


def without_collisions(
    noun: str, offers: Mapping[str, Iterable[tuple[str, Source]]]
) -> tuple[dict[str, tuple[str, Source]], list[Collision]]:
    """Return which upstream has each name, with what, of those that each would have.

    Upstreams are in the order of the configuration, and the first one has the name; so of one that
    has a name twice, by renaming, the first thing has it. Collisions say who goes without.
    """
    holders: dict[str, tuple[str, Source]] = {}
    collisions: list[Collision] = []
    for upstream, things in offers.items():
        for name, thing in things:
            if name in holders:
                collisions.append(Collision(noun, name, holders[name][0], upstream))
            else:
                holders[name] = (upstream, thing)
    return holders, collisions
