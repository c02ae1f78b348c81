"""What comes of a question to the user: an answer, a refusal, or neither.

https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#response-actions
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Literal, TypeAlias, TypeVar, get_args

Answered = TypeVar("Answered")


@dataclass(frozen=True, slots=True)
class Accepted(Generic[Answered]):
    """The user has answered; `data` is the answer, checked."""

    data: Answered
    action: ClassVar[Literal["accept"]] = "accept"


@dataclass(frozen=True, slots=True)
class Declined:
    """The user has refused to answer."""

    action: ClassVar[Literal["decline"]] = "decline"


@dataclass(frozen=True, slots=True)
class Cancelled:
    """The user has chosen nothing, and perhaps closed the question."""

    action: ClassVar[Literal["cancel"]] = "cancel"


Elicited: TypeAlias = Accepted[Answered] | Declined | Cancelled
"""Any of the three."""


def accepted_type(annotation: Any) -> Any | None:
    """Return the `T` of an `Elicited[T]`; `None` for any other annotation."""
    members = get_args(annotation)
    if Declined not in members or Cancelled not in members:
        return None
    return next((get_args(each)[0] for each in members if get_args(each)), None)
