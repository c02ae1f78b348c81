"""The root of a tool's schema: one object, whatever alternatives it was written as.

Providers want `"type": "object"` at the root and refuse compositions there. The alternatives are
merged: their properties unite, only what all of them require is required, and a note says which
properties go together.
"""

from __future__ import annotations

from typing import cast

from anyshape.errors import CannotLower
from anyshape.providers._branches import ANYTHING, Raw, Site, either
from anyshape.providers._cases import Case, Cases
from anyshape.providers._losses import Effect, Losses, Said
from anyshape.providers.profile import Undeclared

__all__ = ["fold", "object_cases"]


def object_cases(site: Site, cases: Cases) -> list[Case]:
    """Return what the root says of objects: arguments are nothing else."""
    found = [case for case in cases.all(site.key) if case.kind == "object"]
    if not found:
        raise CannotLower(
            "the schema admits no object, and the arguments of a tool are one: no call could "
            "satisfy it"
        )
    return found


def fold(found: list[Case], undeclared: Undeclared, losses: Losses) -> Case:
    """Return one case that admits whatever one of `found` admits."""
    found = [case if case.values is None else _spelt_out(case) for case in found]
    if len(found) == 1:
        return found[0]
    merged = Case("object", place="")
    names = dict.fromkeys(name for case in found for name in case.properties)
    for name in names:
        merged.properties[name] = either([_place(case, name, undeclared, losses) for case in found])
    required = [set(case.required) for case in found]
    merged.required = tuple(
        name for name in found[0].required if all(name in others for others in required)
    )
    # A pattern of one alternative would hold for the properties of the others as well.
    patterns = [entry for case in found for entry in case.patterns.items()]
    merged.extra = either([*(case.extra for case in found), *(raw for _, raw in patterns)])
    for case in found:
        for name, raw in case.mentioned.items():
            if name not in names:
                merged.mentioned[name] = either([merged.mentioned.get(name, ()), raw])
    merged.implied = all(case.implied or case.closed for case in found) and not all(
        case.closed for case in found
    )
    common = [said for said in found[0].more if all(said in case.more for case in found)]
    merged.more = common
    if patterns:
        merged.more.append(Said("patternProperties", [name for name, _ in patterns], ""))
    merged.more.append(Said("anyOf", f"one of: {_summary(found)}", ""))
    return merged


def _spelt_out(case: Case) -> Case:
    """Return an object that is listed as one with the properties of what is listed."""
    values = [cast("dict[str, object]", value) for value in case.values or ()]
    names = dict.fromkeys(name for value in values for name in value)
    return Case(
        "object",
        said=case.said,
        more=[*case.more, Said("enum", values, case.place)],
        place=case.place,
        properties=dict.fromkeys(names, ANYTHING),
        required=tuple(name for name in names if all(name in value for value in values)),
        extra=(),
        implied=False,
    )


def _place(case: Case, name: str, undeclared: Undeclared, losses: Losses) -> Raw:
    if name in case.properties:
        return case.properties[name]
    if name in case.forbidden:
        return ()
    if case.implied and undeclared is Undeclared.LEFT_OUT:
        losses.add(
            case.place,
            "additionalProperties",
            "properties that this alternative does not declare",
            Effect.NARROWER,
        )
        return ()
    return either([case.extra, *case.patterns.values()])


def _summary(found: list[Case]) -> str:
    """Say which properties go together: `a,b | c`."""
    shared = set(found[0].required).intersection(*(case.required for case in found[1:]))
    parts = [
        ",".join(name for name in (case.required or case.properties) if name not in shared)
        or "none"
        for case in found
    ]
    return " | ".join(dict.fromkeys(parts))
