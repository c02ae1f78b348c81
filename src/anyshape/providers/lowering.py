"""`lower`: a tool's schema in the form that one provider accepts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, NamedTuple, Protocol, cast, runtime_checkable

from anyshape.documents.library import dialect_of
from anyshape.errors import CannotLower
from anyshape.providers._attempts import Attempt, attempts, is_small_enough
from anyshape.providers._branches import Branches
from anyshape.providers._cases import Cases
from anyshape.providers._codecs import Codec
from anyshape.providers._graph import Key
from anyshape.providers._kept import kept_document
from anyshape.providers._losses import Losses
from anyshape.providers._source import Source
from anyshape.providers._writer import Reading, TooManyNodes, Writer
from anyshape.providers.checking import check
from anyshape.providers.lowered import Lowered
from anyshape.providers.profile import Profile, Writing
from anyshape.providers.profiles import find_profile
from anyshape.schema import Schema, compile
from anyshape.schema._cache import Cache

_KEPT_BYTES: Final = 64_000_000
_REFUSAL_BYTES: Final = 2_000


class RefusedSchema(NamedTuple):
    """Why a schema cannot be lowered: found out once, like what it is lowered to."""

    message: str
    path: str


_cache: Cache[Lowered | RefusedSchema] = Cache(most=_KEPT_BYTES)


@runtime_checkable
class HasInputSchema(Protocol):
    """A tool, of a server or as a client listed it."""

    @property
    def name(self) -> str:
        """The name of the tool."""
        ...

    @property
    def input_schema(self) -> Mapping[str, Any]:
        """The schema of its arguments."""
        ...


def lower(
    schema: Mapping[str, Any] | bool | Schema | HasInputSchema, profile: Profile | str
) -> Lowered:
    """Return `schema`, or the input schema of a tool, in the form that a provider accepts.

    `profile` is a `Profile` or the name of one in `PROFILES`. Every value that the original admits
    has a form that the lowered schema admits (`rewrite`), and comes back as it was (`restore`);
    `losses` says what else it admits. Raises `CannotLower` where the provider has no such schema,
    and another `SchemaError` where the original is none.
    """
    rules = find_profile(profile)
    name, document = _document(schema)
    text = json.dumps(document)

    def make() -> tuple[Lowered | RefusedSchema, int]:
        original = schema if isinstance(schema, Schema) else compile(document)
        try:
            made = _lower(name, document, original, rules)
        except CannotLower as refusal:
            return RefusedSchema(refusal.message, refusal.path), len(text) + _REFUSAL_BYTES
        return made, len(text) + made.size

    found = _cache.get((name if rules.prefix_definitions else "", text, rules), make)
    if isinstance(found, RefusedSchema):
        raise CannotLower(found.message, path=found.path)
    return found


def _document(schema: Any) -> tuple[str, dict[str, Any] | bool]:
    """Return the name of a tool, if it is one, and the document."""
    if isinstance(schema, Schema):
        return "", schema.document
    if isinstance(schema, bool):
        return "", schema
    if isinstance(schema, Mapping):
        members = cast("Mapping[str, Any]", schema)
        if isinstance(members.get("inputSchema"), dict) and isinstance(members.get("name"), str):
            return members["name"], members["inputSchema"]
        return "", dict(members)
    if isinstance(schema, HasInputSchema):
        return schema.name, dict(schema.input_schema)
    raise TypeError(f"expected a schema or a tool, got {type(schema).__name__}")


def _lower(
    name: str, document: dict[str, Any] | bool, original: Schema, profile: Profile
) -> Lowered:
    try:
        lowered = _written(name, document, original, profile)
    except RecursionError:
        raise CannotLower(
            f"the schema is nested too deeply to be lowered for {profile.name}"
        ) from None
    problems = check(lowered.document, profile)
    if problems:
        hint = f"; lower it for {profile.fallback!r} instead" if profile.fallback else ""
        raise CannotLower(f"{profile.name} would refuse the schema: {problems[0]}{hint}")
    return lowered


def _written(
    name: str, document: dict[str, Any] | bool, original: Schema, profile: Profile
) -> Lowered:
    losses = Losses()
    branches = Branches(Source(document, subschemas=original.limits.subschemas), losses)
    cases = Cases(branches)
    if not dialect_of(document).integers_may_have_fractions:
        losses.add("", "type", "integers are written without a fraction")
    if profile.writing is Writing.KEPT:
        written, codec = kept_document(profile, branches, cases, losses)
        return Lowered(original, profile, written, losses.all(), codec)
    reading = Reading(branches, cases)
    crowded: TooManyNodes | None = None
    found: Lowered | None = None
    for attempt in attempts(profile, recursive=reading.is_unrolled(profile)):
        if crowded is not None and crowded.places == attempt.places:
            continue
        try:
            written, codec, lost = _rebuilt(name, reading, attempt)
        except TooManyNodes as error:
            crowded = error
            continue
        found = Lowered(original, profile, written, losses.joined(lost).all(), codec)
        if is_small_enough(written, profile):
            break
    if found is None:
        assert crowded is not None
        raise crowded
    return found


def _rebuilt(name: str, reading: Reading, attempt: Attempt) -> tuple[dict[str, Any], Codec, Losses]:
    """Write a document until no definition in it is needless."""
    inlined: frozenset[Key] = frozenset()
    while True:
        losses = Losses()
        writer = Writer(reading, attempt, losses, prefix=name, inlined=inlined)
        written, codec = writer.document()
        needless = writer.needless(written) - inlined
        if not needless:
            return written, codec, losses
        inlined |= needless
