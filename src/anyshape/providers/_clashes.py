"""Whether two alternatives of a union could be taken for each other when a value comes back.

A lowered value that fits two alternatives must restore to the same value by both. Where that cannot
be proved, the union is not written as alternatives (see `_unions`).
"""

from __future__ import annotations

import enum
from itertools import combinations

from anyshape.providers._codecs import AsIs, AsListed, Codec, Items, Reference, Union
from anyshape.providers._members import Field, Members


class Clash(enum.IntEnum):
    """How bad it is when two alternatives meet."""

    NONE = 0
    NULL = 1
    """One of them reads null as absence, the other as null."""
    VALUE = 2
    """They may restore the same form to different values."""


def worst(codecs: list[Codec]) -> Clash:
    """Return the worst clash among several alternatives."""
    if all(codec.plain for codec in codecs):
        return Clash.NONE
    found = Clash.NONE
    seen: set[tuple[int, int]] = set()
    for first, second in combinations(codecs, 2):
        found = max(found, _clash(first, second, seen))
        if found is Clash.VALUE:
            break
    return found


def _clash(first: Codec, second: Codec, seen: set[tuple[int, int]]) -> Clash:
    """Return how two alternatives clash; what was `seen` counts where it was met first.

    Two definitions may meet on as many ways as there are: all that counts is the worst of them.
    """
    pair = (id(first), id(second))
    if pair in seen:
        return Clash.NONE
    seen.add(pair)
    if (first.plain and second.plain) or first == second or _apart(first, second):
        return Clash.NONE
    if isinstance(first, Reference) or isinstance(second, Reference):
        one, other = _resolved(first), _resolved(second)
        return Clash.VALUE if one is None or other is None else _clash(one, other, seen)
    if isinstance(first, Union):
        return max(_clash(codec, second, seen) for codec in first.alternatives)
    if isinstance(second, Union):
        return max(_clash(first, codec, seen) for codec in second.alternatives)
    if isinstance(first, Members) and isinstance(second, Members):
        return _members(first, second, seen)
    if isinstance(first, Items) and isinstance(second, Items):
        length = max(len(first.prefix), len(second.prefix))
        return max(_clash(first.at(i), second.at(i), seen) for i in range(length + 1))
    return Clash.VALUE


def _resolved(codec: Codec) -> Codec | None:
    return codec.table.get(codec.name) if isinstance(codec, Reference) else codec


def _apart(first: Codec, second: Codec) -> bool:
    """Tell whether no lowered value has both forms, by type or by the values listed."""
    if not _with_integers(first.kinds) & _with_integers(second.kinds):
        return True
    if isinstance(first, (AsIs, AsListed)) and isinstance(second, (AsIs, AsListed)):
        one, other = first.values, second.values
        return one is not None and other is not None and not one & other
    return False


def _with_integers(kinds: frozenset[str]) -> frozenset[str]:
    return kinds | {"integer"} if "number" in kinds else kinds


def _members(first: Members, second: Members, seen: set[tuple[int, int]]) -> Clash:
    if first.pairs is not None and second.pairs is not None:
        if first.pairs.lowered is None or second.pairs.lowered is None:
            return _clash(first.pairs.codec, second.pairs.codec, seen)
    elif "array" in first.kinds | second.kinds:
        return Clash.VALUE
    ours = {entry.lowered: (name, entry) for name, entry in first.fields.items()}
    theirs = {entry.lowered: (name, entry) for name, entry in second.fields.items()}
    if _told_apart(first, second) or _told_apart(second, first):
        return Clash.NONE
    both = [(*ours[lowered], *theirs[lowered]) for lowered in ours if lowered in theirs]
    if any(_always_apart(one, other) for _, one, _, other in both):
        return Clash.NONE
    found = Clash.NONE
    for name, one, other_name, other in both:
        if name != other_name:
            return Clash.VALUE
        found = max(found, _clash(one.codec, other.codec, seen))
        if one.padded != other.padded and (one.null or other.null):
            found = max(found, Clash.NULL)
    for lowered in ours.keys() ^ theirs.keys():
        name, entry = ours.get(lowered) or theirs[lowered]
        opposite = second if lowered in ours else first
        if opposite.rest is not None and not (
            name == entry.lowered and entry.codec.plain and not entry.padded and opposite.rest.plain
        ):
            return Clash.VALUE
    return found if first.pairs == second.pairs else Clash.VALUE


def _always_apart(one: Field, other: Field) -> bool:
    """Tell whether both have a property always, and no value of it in common."""
    always = one.required and other.required
    nulls = one.padded or other.padded or one.null or other.null
    return always and not nulls and _apart(one.codec, other.codec)


def _told_apart(first: Members, second: Members) -> bool:
    """Tell whether `first` always has a property that `second` never has."""
    if second.rest is not None:
        return False
    known = {entry.lowered for entry in second.fields.values()}
    if second.pairs is not None and second.pairs.lowered is not None:
        known.add(second.pairs.lowered)
    return any(
        entry.required and entry.lowered not in known for entry in first.fields.values()
    ) or (
        first.pairs is not None
        and first.pairs.lowered is not None
        and first.pairs.lowered not in known
    )
