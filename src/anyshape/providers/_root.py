"""The root of a tool's schema: one object, whatever alternatives it was written as.

Providers want `"type": "object"` at the root and refuse compositions there. The alternatives are
merged: their properties unite, only what all of them require is required, and a note says which
properties go together.
"""

from __future__ import annotations

from typing import Final, cast

from anyshape.errors import CannotLower
from anyshape.providers._branches import ANYTHING, NOTHING, Raw, Site, either
from anyshape.providers._cases import Case, Cases
from anyshape.providers._losses import Effect, Losses, Said
from anyshape.providers.profile import Undeclared

_MOST_FOLDED: Final = 2_000_000
"""Properties of all alternatives at the root, times the alternatives that each is asked of."""


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
    if len(names) * len(found) > _MOST_FOLDED:
        raise CannotLower(
            f"{len(found)} alternatives at the root with {len(names)} properties are too many to "
            "be one object; put them into a property"
        )
    known = [{**dict.fromkeys(case.forbidden, NOTHING), **case.properties} for case in found]
    others = [
        _undeclared(case, not names.keys() <= said.keys(), undeclared, losses)
        for case, said in zip(found, known, strict=True)
    ]
    for name in names:
        merged.properties[name] = either(
            said.get(name, other) for said, other in zip(known, others, strict=True)
        )
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


def _undeclared(case: Case, some: bool, undeclared: Undeclared, losses: Losses) -> Raw:
    """Return what a case says of properties that others declare; `some` if there are any."""
    if not case.implied or undeclared is not Undeclared.LEFT_OUT:
        return either([case.extra, *case.patterns.values()])
    if some:
        losses.add(
            case.place,
            "additionalProperties",
            "properties that this alternative does not declare",
            Effect.NARROWER,
        )
    return NOTHING


def _summary(found: list[Case]) -> str:
    """Say which properties go together: `a,b | c`."""
    shared = set(found[0].required).intersection(*(case.required for case in found[1:]))
    parts = [
        ",".join(name for name in (case.required or case.properties) if name not in shared)
        or "none"
        for case in found
    ]
    return " | ".join(dict.fromkeys(parts))
