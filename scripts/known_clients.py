"""Write docs/reference/known-clients.md from the table itself; `--check` only compares.

python scripts/known_clients.py [--check]
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

from anyshape.protocol import clients
from anyshape.protocol.clients import KNOWN_CLIENTS, OWN_ARGUMENTS, KnownClient, Need

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "known-clients.md"

HEAD = """\
<!-- Written by scripts/known_clients.py from src/anyshape/protocol/clients.py: change it there. -->

# Known clients

Clients that drop a tool, or break on it, in the form that others take. Each names itself in
`clientInfo`; it is then listed a form that it takes, and its calls are checked against the author's
schema all the same. [Your tools in every host](../guides/every-host.md) says how to change that.

"""

MEANINGS = {
    Need.DESCRIPTION: "up to 2025-11-25 a tool without a description is listed with an empty one",
    Need.FOLDED_ROOT: "`oneOf`, `anyOf`, `allOf` and `$ref` at the root of an input schema are "
    "folded into one plain object that admits whatever they admit; which properties go together "
    "is then said in its description",
    Need.MARKED_ENVELOPE: "at 2025-06-18 and 2025-11-25 the schema of an envelope says "
    '`"x-fastmcp-wrap-result": true`',
    Need.NAMED_PROPERTIES: "up to 2025-11-25 the properties that only branches of an input schema "
    "name are named at its root, too, as wide as the branches together",
    Need.NO_SCHEMA_BESIDE_NULL: "from 2026-07-28 on a tool that may return null is listed without "
    "its output schema; its values stay as they are",
    Need.NULL_FOR_ABSENT: "an argument that is null where the schema admits no null counts as left "
    "out, also in objects and arrays inside (in arguments of up to 256 KiB)",
    Need.OWN_ARGUMENTS: "the argument that the host has added for itself ("
    + ", ".join(f"`{name}`" for name in OWN_ARGUMENTS)
    + ") is not passed on to a tool that has none of that name",
}


def page() -> str:
    """Return the page as it should be."""
    assert MEANINGS.keys() == set(Need)
    lines = [HEAD + "## What is done for them\n", "| need | form |", "| --- | --- |"]
    lines += [f"| `{need}` | {MEANINGS[need]} |" for need in Need]
    lines += ["\n## Who they are"]
    for entry in KNOWN_CLIENTS:
        lines.append(_section(entry))
    return "\n".join(lines) + "\n"


def _section(entry: KnownClient) -> str:
    versions = "every version"
    if entry.since == entry.until and entry.since is not None:
        versions = f"`{entry.since}`"
    elif entry.since or entry.until:
        versions = f"from `{entry.since or '0'}` to `{entry.until or 'now'}`"
    needs = ", ".join(f"`{need}`" for need in sorted(entry.needs))
    return f"""
### {entry.program}

| | |
| --- | --- |
| goes by | `{entry.name}`, {versions} |
| trouble | {entry.trouble} |
| given | {needs} |
| evidence | {entry.evidence} |
| observed | {entry.observed} |"""


def main() -> int:
    """Write the page, or compare it."""
    text = page()
    if "--check" in sys.argv[1:]:
        if PAGE.exists() and PAGE.read_text() == text:
            return 0
        source = Path(inspect.getfile(clients)).name
        print(f"{PAGE.name} is not what {source} says; run {sys.argv[0]}", file=sys.stderr)
        return 1
    PAGE.write_text(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
