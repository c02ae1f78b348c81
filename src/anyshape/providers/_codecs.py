"""Values in the author's terms and in a lowered schema's, and the way between them.

Lowering makes one codec per place, beside the schema of that place. `rewrite` takes a value of the
original to the lowered form, or raises `Misfit` where this codec has none; `restore` goes back, and
takes what a model made of it with patience; `fits` tells whether a lowered value has this form.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, cast

from anyshape.documents.json import identity
from anyshape.documents.pointers import pointer
from anyshape.errors import AnyshapeError
from anyshape.providers._losses import compact
from anyshape.providers._values import KINDS, kind_of
from anyshape.schema import compile


class Misfit(Exception):
    """A codec has no form for a value: `path` in the value, and why."""

    def __init__(self, why: str, path: str = "") -> None:
        super().__init__(why)
        self.why = why
        self.path = path

    def inside(self, name: str) -> Misfit:
        """Return it as seen from what holds the value under a name."""
        return Misfit(self.why, pointer((name,)) + self.path)


@dataclass(slots=True)
class Trip:
    """One rewriting or restoring: what has been found out on the way, and how nulls are read."""

    nulls_kept: bool = False
    """Whether null stays null where it may also stand for an absent property."""
    fitting: dict[tuple[int, int], bool] = field(default_factory=dict[tuple[int, int], bool])
    rewritten: dict[tuple[int, int], object] = field(default_factory=dict[tuple[int, int], object])


class Codec(Protocol):
    """The way between a value of one place and its lowered form."""

    @property
    def kinds(self) -> frozenset[str]:
        """The JSON types of the lowered form."""
        ...

    @property
    def plain(self) -> bool:
        """Whether the lowered form is the value itself."""
        ...

    def rewrite(self, value: Any, trip: Trip) -> Any:
        """Return the lowered form of `value`, or raise `Misfit`."""
        ...

    def restore(self, value: Any, trip: Trip) -> Any:
        """Return the value that a lowered form stands for."""
        ...

    def fits(self, value: Any, trip: Trip) -> bool:
        """Tell whether `value` has the lowered form."""
        ...


@dataclass(frozen=True, eq=False)
class AsIs:
    """Values that stay what they are: of some types, satisfying a schema without references."""

    kinds: frozenset[str]
    schema: Mapping[str, Any] | None = None
    values: frozenset[Hashable] | None = None
    plain: bool = True

    def __eq__(self, other: object) -> bool:
        """Say that any two are equal: they do the same."""
        return isinstance(other, AsIs)

    def __hash__(self) -> int:
        """Return one number for all, since they are equal."""
        return 0

    def rewrite(self, value: Any, trip: Trip) -> Any:
        """Return `value`, if it satisfies the schema."""
        if not self.fits(value, trip):
            raise Misfit("it is of another type or not listed")
        if self.schema is not None:
            try:
                accepted = compile(dict(self.schema)).accepts(value)
            except AnyshapeError:
                accepted = True
            if not accepted:
                raise Misfit("it breaks the schema of this place")
        return value

    def restore(self, value: Any, trip: Trip) -> Any:
        """Return `value`."""
        return value

    def fits(self, value: Any, trip: Trip) -> bool:
        """Tell whether the type is right, and the value listed."""
        kind = kind_of(value)
        if kind not in self.kinds and not (kind == "integer" and "number" in self.kinds):
            return False
        return self.values is None or identity(value) in self.values


ANY: Final = AsIs(frozenset(KINDS))
"""Any value, as it is."""


@dataclass(frozen=True)
class AsText:
    """Any value, as JSON text."""

    kinds: frozenset[str] = frozenset(("string",))
    plain: bool = False

    def rewrite(self, value: Any, trip: Trip) -> Any:
        """Return the text of `value`."""
        return compact(value)

    def restore(self, value: Any, trip: Trip) -> Any:
        """Parse once; what is no JSON is taken for what it is."""
        if not isinstance(value, str):
            return value
        try:
            return json.loads(value, parse_constant=_refuse)
        except (ValueError, RecursionError):
            return value

    def fits(self, value: Any, trip: Trip) -> bool:
        """Tell whether it is text."""
        return isinstance(value, str)


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is not JSON")


@dataclass(frozen=True)
class AsListed:
    """A few values, each as a string: its JSON text, or itself where it is one."""

    entries: tuple[tuple[Hashable, str, str], ...]
    """The identity of each value, its lowered form, and its JSON text."""
    kinds: frozenset[str] = frozenset(("string",))
    plain: bool = False

    @property
    def values(self) -> frozenset[Hashable]:
        """The lowered forms."""
        return frozenset(identity(form) for _, form, _ in self.entries)

    def rewrite(self, value: Any, trip: Trip) -> Any:
        """Return the form that is listed for `value`."""
        wanted = identity(value)
        for known, form, _ in self.entries:
            if known == wanted:
                return form
        raise Misfit("it is not listed")

    def restore(self, value: Any, trip: Trip) -> Any:
        """Return the value that is listed for a form."""
        for _, form, text in self.entries:
            if form == value:
                return json.loads(text)
        return value

    def fits(self, value: Any, trip: Trip) -> bool:
        """Tell whether it is one of the forms."""
        return any(form == value for _, form, _ in self.entries)


@dataclass(frozen=True)
class Items:
    """An array: the codecs of its first items, and of the rest."""

    prefix: tuple[Codec, ...]
    rest: Codec
    least: int = 0
    most: int | None = None
    kinds: frozenset[str] = frozenset(("array",))

    @property
    def plain(self) -> bool:
        """Whether restoring changes nothing."""
        return self.rest.plain and all(codec.plain for codec in self.prefix)

    def at(self, index: int) -> Codec:
        """Return the codec of one item."""
        return self.prefix[index] if index < len(self.prefix) else self.rest

    def rewrite(self, value: Any, trip: Trip) -> Any:
        """Rewrite each item."""
        if not isinstance(value, list) or not self._counts(cast("list[Any]", value)):
            raise Misfit("it is no array of that length")
        items = cast("list[Any]", value)
        return [within(str(i), self.at(i), item, trip) for i, item in enumerate(items)]

    def restore(self, value: Any, trip: Trip) -> Any:
        """Restore each item."""
        if not isinstance(value, list):
            return value
        items = cast("list[Any]", value)
        return [restored_within(str(i), self.at(i), item, trip) for i, item in enumerate(items)]

    def fits(self, value: Any, trip: Trip) -> bool:
        """Tell whether it is an array whose items fit."""
        if not isinstance(value, list) or not self._counts(cast("list[Any]", value)):
            return False
        items = cast("list[Any]", value)
        return all(fitting(self.at(i), item, trip) for i, item in enumerate(items))

    def _counts(self, items: list[Any]) -> bool:
        return self.least <= len(items) and (self.most is None or len(items) <= self.most)


@dataclass(frozen=True)
class Union:
    """One of several forms; two that fit the same lowered value restore it alike."""

    alternatives: tuple[Codec, ...]

    @property
    def kinds(self) -> frozenset[str]:
        """The types of all of them."""
        return frozenset(kind for codec in self.alternatives for kind in codec.kinds)

    @property
    def plain(self) -> bool:
        """Whether restoring changes nothing."""
        return all(codec.plain for codec in self.alternatives)

    def rewrite(self, value: Any, trip: Trip) -> Any:
        """Return the first form that there is."""
        first: Misfit | None = None
        for codec in self.alternatives:
            try:
                return rewritten(codec, value, trip)
            except Misfit as misfit:
                first = misfit if first is None or misfit.path > first.path else first
        raise first or Misfit("there is no alternative")

    def restore(self, value: Any, trip: Trip) -> Any:
        """Restore by the first form that it has, or else by one of its type."""
        for codec in self.alternatives:
            if fitting(codec, value, trip):
                return codec.restore(value, trip)
        kind = kind_of(value)
        for codec in self.alternatives:
            if kind in codec.kinds:
                return codec.restore(value, trip)
        return value

    def fits(self, value: Any, trip: Trip) -> bool:
        """Tell whether it has one of the forms."""
        return any(fitting(codec, value, trip) for codec in self.alternatives)


@dataclass(frozen=True, eq=False)
class Reference:
    """What a definition of the lowered schema does, by its name."""

    name: str
    kinds: frozenset[str]
    table: Mapping[str, Codec]
    plain: bool = False

    def __eq__(self, other: object) -> bool:
        """Compare by name: a document has one definition of it."""
        return isinstance(other, Reference) and other.name == self.name

    def __hash__(self) -> int:
        """Hash the name."""
        return hash(self.name)

    def rewrite(self, value: Any, trip: Trip) -> Any:
        """Ask the definition."""
        return rewritten(self.table[self.name], value, trip)

    def restore(self, value: Any, trip: Trip) -> Any:
        """Ask the definition."""
        return self.table[self.name].restore(value, trip)

    def fits(self, value: Any, trip: Trip) -> bool:
        """Ask the definition."""
        return fitting(self.table[self.name], value, trip)


def within(name: str, codec: Codec, value: Any, trip: Trip) -> Any:
    """Rewrite a part of a value; a misfit names the place."""
    try:
        return rewritten(codec, value, trip)
    except Misfit as misfit:
        raise misfit.inside(name) from None


def restored_within(name: str, codec: Codec, value: Any, trip: Trip) -> Any:
    """Restore a part of a value; a misfit names the place."""
    try:
        return codec.restore(value, trip)
    except Misfit as misfit:
        raise misfit.inside(name) from None


def rewritten(codec: Codec, value: Any, trip: Trip) -> Any:
    """Rewrite once per codec and value, however many alternatives come back to it."""
    if not isinstance(value, (dict, list)):
        return codec.rewrite(value, trip)
    key = (id(codec), id(cast("object", value)))
    if key not in trip.rewritten:
        try:
            trip.rewritten[key] = codec.rewrite(value, trip)
        except Misfit as misfit:
            trip.rewritten[key] = misfit
    found = trip.rewritten[key]
    if isinstance(found, Misfit):
        raise found
    return found


def fitting(codec: Codec, value: Any, trip: Trip) -> bool:
    """Tell whether `value` fits, once per codec and value."""
    if not isinstance(value, (dict, list)):
        return codec.fits(value, trip)
    key = (id(codec), id(cast("object", value)))
    if key not in trip.fitting:
        trip.fitting[key] = codec.fits(value, trip)
    return trip.fitting[key]
