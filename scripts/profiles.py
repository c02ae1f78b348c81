"""Write docs/reference/profiles.md from the profiles themselves; `--check` only compares.

python scripts/profiles.py [--check]
"""

from __future__ import annotations

import dataclasses
import enum
import sys
from pathlib import Path

from anyshape.providers import PROFILES, Profile, Writing

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "profiles.md"

INTRODUCTION = """# Profiles of providers

<!-- Written by scripts/profiles.py from src/anyshape/providers/profiles.py: change it there. -->

What each provider or engine accepts as a tool's input schema, as
[`lower`](../concepts/providers.md) and `check` read it. A profile is a value:
`dataclasses.replace(PROFILES["openai-strict"], formats=…)` is one of your own.

| name | for | written | may fall back on |
| --- | --- | --- | --- |
"""

FIELDS = {
    "tool_names": "tool names",
    "property_names": "property names",
    "root_names_only": "that rule for the root only",
    "root_properties": "the root has `properties`",
    "root_keywords": "the only keywords at the root",
    "closed": "every object is closed",
    "openness_written": "every object says if it is open",
    "all_required": "every property is required",
    "one_required": "one property is required",
    "nulls_for_optional": "optional properties admit null",
    "undeclared": "undeclared properties",
    "maps": "maps",
    "any_value": "any value as",
    "type_lists": "lists of types",
    "nullable": "null by `nullable`",
    "union_siblings": "words beside `anyOf`",
    "enum_kinds": "types that can be enumerated",
    "empty_enum_strings": "empty strings in enumerations",
    "open_tuples": "items after a tuple",
    "array_items_required": "every array has `items`",
    "recursion": "recursion",
    "guarded_recursion": "recursion below optional properties only",
    "patterns": "regular expressions",
    "lengths_beside_pattern": "lengths beside a pattern",
    "formats": "formats",
    "most_min_items": "largest `minItems`",
    "largest_bound": "largest bound of a number",
    "largest_count": "largest length or count",
    "prefix_definitions": "definitions named by tool",
}


def shown(value: object) -> str:
    """Return a field's value as a reader takes it in."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, enum.Enum):
        return str(value.value)
    if isinstance(value, frozenset):
        return ", ".join(f"`{item}`" for item in sorted(map(str, value))) or "none"
    if value is None:
        return "any"
    return f"`{value}`".replace("|", "\\|") if isinstance(value, str) else str(value)


def section(profile: Profile) -> str:
    """Return the part of the page on one profile."""
    lines = [f"## {profile.name}", "", profile.about, ""]
    if profile.observed:
        lines += [f"Source: {profile.observed}.", ""]
    if profile.writing is Writing.REBUILT:
        lines += [f"Keywords: {shown(profile.keywords)}.", ""]
    lines += [f"Not at the root: {shown(profile.root_refuses)}.", "", "| rule | |", "| --- | --- |"]
    kept = ("tool_names", "property_names", "root_names_only", "array_items_required")
    kept += ("nulls_for_optional", "undeclared")
    for name, noun in FIELDS.items():
        if profile.writing is Writing.KEPT and name not in kept:
            continue
        lines.append(f"| {noun} | {shown(getattr(profile, name))} |")
    for bound in dataclasses.fields(profile.bounds):
        most = getattr(profile.bounds, bound.name)
        if most is not None:
            lines.append(f"| at most, {bound.name.replace('_', ' ')} | {most:,} |")
    return "\n".join([*lines, ""])


def page() -> str:
    """Return the whole page."""
    rows = [
        f"| [`{profile.name}`](#{profile.name.replace('.', '')}) | {profile.about} "
        f"| {profile.writing.value} | {f'`{profile.fallback}`' if profile.fallback else ''} |"
        for profile in PROFILES.values()
    ]
    sections = "\n".join(section(profile) for profile in PROFILES.values())
    return INTRODUCTION + "\n".join(rows) + "\n\n" + sections


def main() -> int:
    """Write the page, or tell whether it is current."""
    if "--check" in sys.argv:
        current = PAGE.read_text() == page()
        print("current" if current else "stale: run python scripts/profiles.py", file=sys.stderr)
        return 0 if current else 1
    PAGE.write_text(page())
    return 0


if __name__ == "__main__":
    sys.exit(main())
