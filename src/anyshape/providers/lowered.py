"""A schema lowered for a profile: what to send, what it no longer says, and the way back."""

from __future__ import annotations

import json
from typing import Any, Final, cast

from anyshape.documents.positions import rebuild
from anyshape.errors import AnyshapeError, LimitExceeded, Problem, ValidationError
from anyshape.providers._codecs import Codec, Misfit, Trip
from anyshape.providers._losses import Effect, Loss
from anyshape.providers._repairs import repaired
from anyshape.providers.profile import Profile
from anyshape.schema import Schema, compile

_BYTES_PER_CHARACTER: Final = 8
"""What the codecs take, for each character of the document that they were made with."""


class Lowered:
    """What `lower` returns; safe to share between threads."""

    def __init__(
        self,
        original: Schema,
        profile: Profile,
        document: dict[str, Any],
        losses: tuple[Loss, ...],
        codec: Codec,
    ) -> None:
        self.original = original
        """The author's schema, which every call is checked against."""
        self.profile = profile
        self.losses = losses
        """What the document no longer says, by the path in the original."""
        self._text = json.dumps(document, ensure_ascii=False)
        self._codec = codec
        self._narrowed = any(loss.effect is Effect.NARROWER for loss in losses)
        self._ambiguous = any(loss.effect is Effect.AMBIGUOUS for loss in losses)

    @property
    def size(self) -> int:
        """About how many bytes of memory it takes."""
        return _BYTES_PER_CHARACTER * len(self._text)

    @property
    def document(self) -> dict[str, Any]:
        """The schema to send: a fresh copy each time, the same bytes for the same original."""
        return json.loads(self._text)

    def rewrite(self, arguments: object) -> Any:
        """Return arguments that the original admits, as the lowered schema has them.

        Raises `ValidationError` where there is no such form: the losses that are `narrower` say
        when that is so.
        """
        try:
            found = self._codec.rewrite(arguments, Trip())
        except Misfit as misfit:
            raise _no_form(self.profile, misfit.why, misfit.path) from None
        except RecursionError:
            raise self._too_deep() from None
        if self._narrowed and not self._admits(found):
            raise _no_form(self.profile, "it uses what the losses name as narrower", "")
        return found

    def restore(self, arguments: object) -> Any:
        """Return what a model sent, in the author's terms, to be checked against the original.

        What still breaks the original is repaired where only one reading is left: null for an
        absent property, JSON text for an object, capitals of a listed value.
        """
        try:
            return self._restored(arguments)
        except Misfit as misfit:
            problem = Problem("additionalProperties", misfit.path, misfit.why)
            raise ValidationError([problem]) from None
        except RecursionError:
            raise self._too_deep() from None

    def _restored(self, arguments: object) -> Any:
        found = self._codec.restore(arguments, Trip())
        if self._accepts(found):
            return found
        if self._ambiguous:
            kept = self._codec.restore(arguments, Trip(nulls_kept=True))
            if self._accepts(kept):
                return kept
        fixed = repaired(found, self.original)
        return found if fixed is None else fixed

    def _too_deep(self) -> LimitExceeded:
        return LimitExceeded(
            f"the arguments are nested too deeply to go to and from {self.profile.name}",
            limit="instance_depth",
            allowed=self.original.limits.instance_depth,
        )

    def _accepts(self, value: object) -> bool:
        try:
            return self.original.accepts(value)
        except AnyshapeError:
            return True  # no verdict is no reason to change anything

    def _admits(self, value: object) -> bool:
        try:
            return compile(plain_document(self.document, self.profile)).accepts(value)
        except AnyshapeError:
            return True

    def __repr__(self) -> str:
        """Return the profile and the number of losses."""
        return f"<Lowered for {self.profile.name}, {len(self.losses)} losses>"


def plain_document(document: Any, profile: Profile) -> Any:
    """Return a lowered document as JSON Schema reads it: `nullable` said in its terms."""
    if not profile.nullable or not isinstance(document, dict):
        return document
    found = rebuild(cast("dict[str, Any]", document), lambda inner: plain_document(inner, profile))
    if found.pop("nullable", None) is True:
        return {"anyOf": [found, {"type": "null"}]}
    return found


def _no_form(profile: Profile, why: str, path: str) -> ValidationError:
    message = f"the value has no form in the schema for {profile.name}: {why}"
    return ValidationError([Problem("", path, message)])
