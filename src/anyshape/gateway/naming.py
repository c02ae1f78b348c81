"""What the things of an upstream are called at the gateway, and which of them are offered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from anyshape.gateway.options import Upstream

__all__ = ["Collision", "Naming", "without_collisions"]


_PATHS = 'over HTTP, endpoints="each" gives every upstream a path of its own'


class Naming:
    """The names of one upstream's tools and prompts."""

    def __init__(self, upstream: Upstream, name: str, *, alone: bool) -> None:
        own = "" if alone else f"{name}_"
        self._prefix = own if upstream.prefix is None else upstream.prefix
        self._rename = upstream.rename
        self._allow = upstream.allow
        self._deny = upstream.deny

    def offers(self, name: str) -> bool:
        """Tell whether something that the upstream calls so is offered."""
        return _matches(name, self._allow) and not _matches(name, self._deny)

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
    noun: str, offers: Mapping[str, Iterable[str]]
) -> tuple[dict[str, str], list[Collision]]:
    """Return the upstream that has each name, of those that each would have, and who goes without.

    Upstreams are in the order of the configuration, and the first one has the name.
    """
    holders: dict[str, str] = {}
    collisions: list[Collision] = []
    for upstream, names in offers.items():
        for name in names:
            holder = holders.setdefault(name, upstream)
            if holder != upstream:
                collisions.append(Collision(noun, name, holder, upstream))
    return holders, collisions
