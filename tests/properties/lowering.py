"""The laws of lowering, as a function: what holds for one document, one profile and some values.

`Judge.judge` tallies what it saw and takes down every breach. The tests drive it with generated
documents, each known by its seed; `make fuzz` with more of them, for as long as one likes;
scripts/lower_listings.py with real ones.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, cast

from documents import Maker
from instances import Sampler

from anyshape.documents.json import identity
from anyshape.errors import AnyshapeError, CannotLower, ValidationError
from anyshape.providers import (
    PROFILES,
    Effect,
    Lowered,
    Profile,
    Undeclared,
    Writing,
    check,
    lower,
)
from anyshape.providers._values import kind_of
from anyshape.providers.lowered import plain_document
from anyshape.schema import Schema, compile

DRAFT_4 = "http://json-schema.org/draft-04/"


SOUND = {name: replace(profile, undeclared=Undeclared.KEPT) for name, profile in PROFILES.items()}
"""Every profile, with a form for every value."""


@dataclass
class Judge:
    """Counts what was seen, and keeps the breaches."""

    counts: Counter[str] = field(default_factory=Counter[str])
    refusals: Counter[str] = field(default_factory=Counter[str])
    breaches: list[str] = field(default_factory=list[str])

    def judge(
        self, document: Any, profile: Profile, values: Iterable[Any], *, name: str = ""
    ) -> Lowered | None:
        """Hold one document to the laws, with values that its schema may or may not admit."""
        original = compile(document)
        try:
            lowered = lower(document, profile)
        except CannotLower as refusal:
            self.counts["refused"] += 1
            self.refusals[str(refusal)] += 1
            return None
        self.counts["lowered"] += 1
        self.counts["losses"] += len(lowered.losses)
        self.counts["lossless"] += not lowered.losses

        def breach(law: str, *details: object) -> None:
            shown = [json.dumps(document), json.dumps(lowered.document), *map(repr, details)]
            self.breaches.append(f"{name} {profile.name}: {law}\n    " + "\n    ".join(shown))

        for violation in check(lowered.document, profile):
            breach("accepted", violation)
        text = json.dumps(lowered.document)
        try:
            schema = compile(plain_document(lowered.document, profile))
            again = lower(lowered.document, profile).document
        except AnyshapeError as error:
            breach("is a schema that can be lowered again", error)
            return lowered
        if json.dumps(again) != text:
            breach("idempotent", json.dumps(again))
        # A target that enforces nothing reads formats as the specification has them: as hints.
        hints = profile.writing is Writing.KEPT
        loose = compile(lowered.document, formats=False) if hints else schema
        self._round_trips(original, loose, lowered, values, breach)
        self._exact(original, schema, lowered, breach)
        return lowered

    def _round_trips(
        self, original: Schema, schema: Schema, lowered: Lowered, values: Iterable[Any], breach: Any
    ) -> None:
        effects = {loss.effect for loss in lowered.losses}
        for value in values:
            if original.dialect.startswith(DRAFT_4):
                value = _whole(value)
            if kind_of(value) != "object" or not _accepts(original, value):
                continue
            try:
                rewritten = lowered.rewrite(value)
            except ValidationError as error:
                self.counts["narrowed"] += 1
                if Effect.NARROWER not in effects:
                    breach("sound: every value has a form", value, error)
                continue
            if not _accepts(schema, rewritten):
                breach("sound: the form is admitted", value, rewritten)
                continue
            restored = lowered.restore(rewritten)
            self.counts["round trips"] += 1
            if identity(restored) != identity(value):
                alike = identity(_denulled(restored)) == identity(_denulled(value))
                if Effect.AMBIGUOUS in effects and alike:
                    self.counts["null or absent"] += 1
                else:
                    breach("restored exactly", value, rewritten, restored)

    def _exact(self, original: Schema, schema: Schema, lowered: Lowered, breach: Any) -> None:
        if any(loss.effect is Effect.WIDER for loss in lowered.losses):
            return
        plain = plain_document(lowered.document, lowered.profile)
        for value in Sampler(Random(0), plain).batch(12):
            if kind_of(value) == "object" and _accepts(schema, value):
                restored = lowered.restore(value)
                self.counts["exact values"] += 1
                if not _accepts(original, restored):
                    breach("what it admits beyond is a loss", value, restored)


def _whole(value: Any) -> Any:
    """Return a value without numbers such as 1.0, which are integers in all dialects but one."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_whole(item) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {name: _whole(item) for name, item in cast("dict[str, Any]", value).items()}
    return value


def _accepts(schema: Schema, value: Any) -> bool:
    try:
        return schema.accepts(value)
    except AnyshapeError:
        return False


def _denulled(value: Any) -> Any:
    if isinstance(value, list):
        return [_denulled(item) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        return {name: _denulled(item) for name, item in members.items() if item is not None}
    return value


def tool_document(seed: int) -> Any:
    """Return a document such as a tool might have: most of them admit objects."""
    random = Random(seed)
    maker = Maker(random, random.choice((20, 20, 20, 7, 19, 4)))
    document: Any = maker.document()
    if random.random() < 0.3 and not isinstance(document, bool):
        return document
    outer: dict[str, Any] = {"type": "object", "properties": {"v": document}, "required": ["v"]}
    if not isinstance(document, bool):
        for keyword in ("$schema", "$defs", "definitions"):
            if keyword in document:
                outer[keyword] = document.pop(keyword)
    if random.random() < 0.5:
        outer["additionalProperties"] = False
    return outer


def hold(seed: int, profile: Profile) -> Judge | None:
    """Hold a generated document to the laws; `None` if it is no schema to begin with."""
    document = tool_document(seed)
    try:
        compile(document)
    except AnyshapeError:
        return None
    judge = Judge()
    judge.judge(document, profile, Sampler(Random(seed), document).batch(10), name=str(seed))
    return judge
