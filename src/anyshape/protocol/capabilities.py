"""What a client declares that it can be asked for.

https://modelcontextprotocol.io/specification/2026-07-28/basic#meta
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

ELICITS_FORMS: Final[Mapping[str, Any]] = {"elicitation": {"form": {}}}
ELICITS_URLS: Final[Mapping[str, Any]] = {"elicitation": {"url": {}}}
SAMPLES: Final[Mapping[str, Any]] = {"sampling": {}}
SAMPLES_TOOLS: Final[Mapping[str, Any]] = {"sampling": {"tools": {}}}
ROOTS: Final[Mapping[str, Any]] = {"roots": {}}

_LETTERS: Final = {
    "f": ELICITS_FORMS,
    "u": ELICITS_URLS,
    "s": SAMPLES,
    "t": SAMPLES_TOOLS,
    "r": ROOTS,
}


def lacking(required: Mapping[str, Any], declared: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of required capabilities, in wire form, that was not declared."""
    elicits = declared.get("elicitation")
    if isinstance(elicits, Mapping) and not elicits:
        # "An empty capabilities object is equivalent to declaring support for form mode only."
        declared = {**declared, **ELICITS_FORMS}
    return _missing(required, declared)


def are_capabilities(given: object) -> bool:
    """Tell whether something is capabilities in wire form: objects by name."""
    if not isinstance(given, Mapping):
        return False
    members = cast("Mapping[object, object]", given).items()
    return all(isinstance(name, str) and isinstance(each, Mapping) for name, each in members)


def abbreviate(declared: Mapping[str, Any]) -> str:
    """Return what a client can be asked for as a few letters, to be carried in a session id."""
    return "".join(letter for letter, each in _LETTERS.items() if not lacking(each, declared))


def expand(letters: str) -> dict[str, Any]:
    """Return the capabilities that `abbreviate` wrote; letters it does not know say nothing."""
    declared: dict[str, Any] = {}
    for letter in letters:
        for name, inner in _LETTERS.get(letter, {}).items():
            declared[name] = {**declared.get(name, {}), **inner}
    return declared


def _missing(required: Mapping[str, Any], declared: Mapping[str, Any]) -> dict[str, Any]:
    missing: dict[str, Any] = {}
    for name, needed in required.items():
        found = declared.get(name)
        if not isinstance(found, Mapping):
            missing[name] = needed
        elif isinstance(needed, Mapping):
            inner = _missing(cast("Mapping[str, Any]", needed), cast("Mapping[str, Any]", found))
            if inner:
                missing[name] = inner
    return missing
