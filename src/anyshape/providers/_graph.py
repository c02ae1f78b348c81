"""Which places of a schema lead back to themselves, and which are worth a definition.

Walks from the root over everything that will be written, each distinct place once, within a budget.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeAlias

from anyshape.errors import CannotLower
from anyshape.providers._branches import Branch, Branches, Raw
from anyshape.providers._cases import Case, Cases

Key: TypeAlias = tuple[Branch, ...]

_MOST_PLACES: Final = 5_000
_MOST_ROUNDS: Final = 50
_FEW: Final = 8


def raws_of(case: Case) -> Iterator[Raw]:
    """Yield every place directly inside a case; a listed value has none."""
    if case.values is not None:
        return
    yield from case.properties.values()
    yield from case.mentioned.values()
    yield from case.patterns.values()
    if case.extra != ((),):
        yield case.extra
    yield from case.prefix
    if case.kind == "array" and case.rest != ((),):
        yield case.rest


def is_large(properties: int, values: int) -> bool:
    """Tell whether a schema with so many properties or listed values is worth a definition."""
    return properties > 0 or values > _FEW


class NodeGraph:
    """The places of a document as nodes, by what they say."""

    def __init__(self, branches: Branches, cases: Cases, root: Raw) -> None:
        self.names: dict[Key, int] = {}
        """For places that references name, the subschema they name."""
        self._branches = branches
        self._cases = cases
        self._edges: dict[Key, list[Key]] = {}
        self._parts: dict[Key, list[Key]] = {}
        self._uses: dict[Key, int] = {}
        start = self._key(root)
        self._walk(start)
        self.cyclic = self._cyclic()
        self.defined = {
            key
            for key in self.names
            if key in self._edges
            and (key in self.cyclic or (self._uses.get(key, 0) > 1 and self._large(key)))
        }
        self.defined |= self._unbroken()

    def _key(self, raw: Raw) -> Key:
        site = self._branches.site(raw)
        self._branches.source.spend(len(site.ways))
        if site.name is not None:
            self.names.setdefault(site.key, site.name)
        if len(site.ways) > 1 and site.key not in self._parts:
            parts = self._branches.parts(site)
            self._parts[site.key] = [tuple(way.branch for way in part) for part in parts]
            for key, part in zip(self._parts[site.key], parts, strict=True):
                name = part[0].name
                if name is not None and self._branches.site(((name,),)).key == key:
                    self.names.setdefault(key, name)
        return site.key

    def _walk(self, start: Key) -> None:
        pending = [start]
        while pending:
            key = pending.pop()
            if key in self._edges:
                continue
            if len(self._edges) >= _MOST_PLACES:
                raise CannotLower(
                    f"the schema has more than {_MOST_PLACES} distinct places once references and "
                    "alternatives are joined"
                )
            if len(key) > 1:
                onward = self._parts.get(key) or [(branch,) for branch in key]
            else:
                onward = [self._key(raw) for case in self._cases.all(key) for raw in raws_of(case)]
            self._branches.source.spend(sum(map(len, onward)))
            self._edges[key] = onward
            for other in onward:
                self._uses[other] = self._uses.get(other, 0) + 1
            pending.extend(reversed(onward))
        for key, onward in self._edges.items():
            if len(key) > 1:  # a union is written out wherever it is used
                for other in onward:
                    self._uses[other] += self._uses.get(key, 1) - 1

    def _large(self, key: Key) -> bool:
        return any(
            is_large(len(case.properties), len(case.values or ())) for case in self._cases.all(key)
        )

    def _cyclic(self, without: frozenset[Key] | set[Key] = frozenset()) -> set[Key]:
        """Return the places that lead back to themselves, by way of none of `without`.

        What is left when places that lead nowhere, or come from nowhere, are taken away in turn
        includes what lies between two cycles; that costs a definition at most.
        """
        # A place is known by all its alternatives, so that to find one takes as many steps.
        looks = sum(len(other) for others in self._edges.values() for other in others)
        self._branches.source.spend(looks)
        onward = {
            key: {other for other in others if other not in without}
            for key, others in self._edges.items()
            if key not in without
        }
        backward: dict[Key, set[Key]] = {key: set() for key in onward}
        for key, others in onward.items():
            for other in others:
                backward[other].add(key)
        alive = set(onward)
        for ahead, behind in ((onward, backward), (backward, onward)):
            counts = {key: len(ahead[key] & alive) for key in alive}
            ends = [key for key in alive if not counts[key]]
            while ends:
                key = ends.pop()
                alive.discard(key)
                for other in behind[key] & alive:
                    counts[other] -= 1
                    if not counts[other]:
                        ends.append(other)
        return alive

    def _unbroken(self) -> set[Key]:
        """Return places to define so that every cycle goes through a definition."""
        chosen: set[Key] = set()
        for _ in range(_MOST_ROUNDS):
            left = self._cyclic(self.defined | chosen)
            if not left:
                return chosen
            chosen.add(next(key for key in self._edges if key in left))
        return chosen | self._cyclic(self.defined | chosen)
