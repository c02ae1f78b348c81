"""The codec of objects: renamed and padded properties, and pairs for undeclared ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from anyshape.providers._codecs import Codec, Misfit, Trip, fitting, restored_within, within
from anyshape.providers._losses import Losses

PAIR: Final = ("name", "value")
"""The properties of a pair that stands for a property of an open object."""


@dataclass(frozen=True)
class Field:
    """A property: its name in the lowered schema, and how its value goes there and back."""

    lowered: str
    codec: Codec
    required: bool = True
    """Whether the lowered schema requires it."""
    padded: bool = False
    """Whether null stands for its absence."""
    null: bool = False
    """Whether the original admits null."""


def note_renamed(fields: Mapping[str, Field], place: str, losses: Losses) -> None:
    """Take down that an open object admits renamed properties by their own names, unchecked."""
    if any(name != entry.lowered for name, entry in fields.items()):
        losses.add(place, "additionalProperties", "renamed properties by their own names")


@dataclass(frozen=True)
class Pairs:
    """Undeclared properties, as an array of pairs."""

    lowered: str | None
    """The property that holds the array; `None` where the array stands for the whole object."""
    codec: Codec


@dataclass(frozen=True)
class Members:
    """An object."""

    fields: Mapping[str, Field]
    rest: Codec | None = None
    """How undeclared properties go as properties; `None` where they cannot."""
    pairs: Pairs | None = None

    @property
    def kinds(self) -> frozenset[str]:
        """The type of the lowered form."""
        return frozenset(("array" if self.pairs and self.pairs.lowered is None else "object",))

    @property
    def plain(self) -> bool:
        """Whether restoring changes nothing."""
        return (
            self.pairs is None
            and (self.rest is None or self.rest.plain)
            and all(
                name == entry.lowered and entry.codec.plain and not entry.padded
                for name, entry in self.fields.items()
            )
        )

    def rewrite(self, value: Any, trip: Trip) -> Any:
        """Return the object with its names, paddings and pairs as they are lowered."""
        if not isinstance(value, dict):
            raise Misfit("it is no object")
        members = cast("dict[str, Any]", value)
        found: dict[str, Any] = {}
        for name, entry in self.fields.items():
            if name in members:
                if members[name] is None and entry.padded and entry.null:
                    found[entry.lowered] = None
                else:
                    found[entry.lowered] = within(name, entry.codec, members[name], trip)
            elif entry.padded:
                found[entry.lowered] = None
            elif entry.required:
                raise Misfit(f"it has no {name!r}")
        pairs: list[dict[str, Any]] = []
        for name, item in members.items():
            if name in self.fields:
                continue
            if self.pairs is not None:
                lowered = within(name, self.pairs.codec, item, trip)
                pairs.append({PAIR[0]: name, PAIR[1]: lowered})
            elif self.rest is not None:
                found[name] = within(name, self.rest, item, trip)
            else:
                raise Misfit(f"the lowered schema has no place for the property {name!r}")
        if self.pairs is None:
            return found
        if self.pairs.lowered is None:
            return pairs
        return {**found, self.pairs.lowered: pairs}

    def restore(self, value: Any, trip: Trip) -> Any:
        """Return the object in the author's terms."""
        if self.pairs is not None and self.pairs.lowered is None and isinstance(value, list):
            return _from_pairs(_as_pairs(cast("list[Any]", value)), self.pairs.codec, {}, trip)
        if not isinstance(value, dict):
            return value
        names = {entry.lowered: name for name, entry in self.fields.items()}
        found: dict[str, Any] = {}
        pairs: list[tuple[str, Any]] = []
        for lowered, item in cast("dict[str, Any]", value).items():
            name = names.get(lowered)
            if name is not None:
                entry = self.fields[name]
                if item is None and entry.padded and not (entry.null and trip.nulls_kept):
                    continue
                is_null = item is None and entry.null
                found[name] = None if is_null else restored_within(name, entry.codec, item, trip)
            elif self.pairs is not None and lowered == self.pairs.lowered:
                pairs = _as_pairs(item)
            else:
                # One that was renamed may be given by its own name where objects are open.
                rest = self.fields[lowered].codec if lowered in self.fields else self.rest
                if rest is not None:
                    item = restored_within(lowered, rest, item, trip)
                found.setdefault(lowered, item)
        return _from_pairs(pairs, self.pairs.codec, found, trip) if self.pairs else found

    def fits(self, value: Any, trip: Trip) -> bool:
        """Tell whether the names are right, and the values fit."""
        if self.pairs is not None and self.pairs.lowered is None:
            return isinstance(value, list)
        if not isinstance(value, dict):
            return False
        members = cast("dict[str, Any]", value)
        known = {entry.lowered: entry for entry in self.fields.values()}
        for lowered, entry in known.items():
            if lowered not in members:
                if entry.required:
                    return False
            elif not (members[lowered] is None and (entry.padded or entry.null)) and not fitting(
                entry.codec, members[lowered], trip
            ):
                return False
        if self.pairs is not None and self.pairs.lowered is not None:
            if not isinstance(members.get(self.pairs.lowered, []), list):
                return False
            known = {**known, self.pairs.lowered: None}
        beyond = [item for name, item in members.items() if name not in known]
        if self.rest is None:
            return not beyond
        return all(fitting(self.rest, item, trip) for item in beyond)


def _as_pairs(value: object) -> list[tuple[str, Any]]:
    """Return names and values from what a model sent for them: pairs, or an object after all."""
    if isinstance(value, dict):
        return list(cast("dict[str, Any]", value).items())
    if value is None:
        return []
    found: list[tuple[str, Any]] = []
    for pair in cast("list[Any]", value) if isinstance(value, list) else [value]:
        members = cast("dict[str, Any]", pair) if isinstance(pair, dict) else {}
        name = members.get(PAIR[0])
        if not isinstance(name, str) or PAIR[1] not in members:
            raise Misfit('expected {"name": …, "value": …} for each undeclared property')
        found.append((name, members[PAIR[1]]))
    return found


def _from_pairs(
    pairs: list[tuple[str, Any]], codec: Codec, found: dict[str, Any], trip: Trip
) -> dict[str, Any]:
    for name, value in pairs:
        if name in found:
            raise Misfit(f"the property {name!r} is given twice")
        found[name] = restored_within(name, codec, value, trip)
    return found
