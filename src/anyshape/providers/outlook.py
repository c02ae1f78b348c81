"""What becomes of a tool at a provider: taken as it is, lowered with losses, or refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from anyshape.errors import AnyshapeError
from anyshape.providers._losses import Loss
from anyshape.providers._names import fits
from anyshape.providers.checking import Violation, check
from anyshape.providers.lowering import lower
from anyshape.providers.profile import Profile
from anyshape.providers.profiles import find_profile

Acceptance: TypeAlias = Literal["as is", "lowered", "refused"]


@dataclass(frozen=True, slots=True)
class Outlook:
    """What one provider would make of one tool."""

    profile: str
    outcome: Acceptance
    why: str = ""
    """Why there is no form that the provider takes."""
    violations: tuple[Violation, ...] = ()
    """The rules that the tool breaks as it is."""
    losses: tuple[Loss, ...] = ()
    """What its schema no longer says when it is lowered."""

    def as_data(self) -> dict[str, Any]:
        """Return it for programs."""
        return {
            "outcome": self.outcome,
            "why": self.why or None,
            "violations": [
                {"path": each.path, "keyword": each.keyword, "message": each.message}
                for each in self.violations
            ],
            "losses": [
                {
                    "path": loss.path,
                    "keyword": loss.keyword,
                    "words": loss.words,
                    "effect": loss.effect.value,
                }
                for loss in self.losses
            ],
        }


def outlook(name: str | None, schema: Mapping[str, Any] | bool, profile: Profile | str) -> Outlook:
    """Return what a provider makes of a tool called `name`, or of a schema that has no name yet."""
    rules = find_profile(profile)
    try:
        lowered = lower(schema, rules)
    except AnyshapeError as error:
        return Outlook(rules.name, "refused", why=str(error))
    violations = check(dict(schema), rules) if isinstance(schema, Mapping) else []
    if name is not None and not fits(name, rules.tool_names):
        message = f"the name {name[:80]!r} is not accepted: it has to match {rules.tool_names}"
        violations.insert(0, Violation("", "name", message))
    if isinstance(schema, Mapping) and not violations:
        return Outlook(rules.name, "as is")
    return Outlook(rules.name, "lowered", violations=tuple(violations), losses=lowered.losses)
