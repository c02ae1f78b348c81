"""Tools for model providers: a full schema in the form that one of them accepts, and back.

>>> from anyshape.providers import lower
>>> lowered = lower({"type": "object", "properties": {"n": {"type": "integer"}}}, "openai-strict")
>>> lowered.rewrite({})
{'n': None}
>>> lowered.restore({"n": None})
{}
"""

from __future__ import annotations

from anyshape.errors import CannotLower
from anyshape.providers._losses import Effect, Loss
from anyshape.providers.checking import Violation, check
from anyshape.providers.lowered import Lowered
from anyshape.providers.lowering import lower
from anyshape.providers.outlook import Acceptance, Outlook, outlook
from anyshape.providers.profile import (
    AnyValue,
    Maps,
    PatternSupport,
    Profile,
    SizeBounds,
    Undeclared,
    Writing,
)
from anyshape.providers.profiles import PROFILES

__all__ = [
    "PROFILES",
    "Acceptance",
    "AnyValue",
    "CannotLower",
    "Effect",
    "Loss",
    "Lowered",
    "Maps",
    "Outlook",
    "PatternSupport",
    "Profile",
    "SizeBounds",
    "Undeclared",
    "Violation",
    "Writing",
    "check",
    "lower",
    "outlook",
]
