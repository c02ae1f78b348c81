"""Write what was observed of hosts and frameworks into docs/reference/peers.md; `--check` compares.

    python tests/hosts/page.py [--check]

The page has two parts, one by `make peers` and one by `make hosts`; a mark stands between them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import plan
import record

Json = dict[str, Any]

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "reference" / "peers.md"
MARK = "<!-- What follows is written by `make hosts`; change tests/hosts/page.py instead. -->\n"

HOSTS = """
## Hosts

Programs that offer the tools of MCP servers to a model. Each is the real program; the API of its
model is replaced by a local stand-in that keeps what the host sends it and makes every call, over
stdio and over HTTP. The server is the demo with two tools more: one returns a string, one takes a
union of tagged objects and returns a number or a string. What the model is handed back is shown
without what the host says around it. `{…}` and `[…]` stand for an object and an array, and *prose*
for the sentence that `list_users` writes beside its value.
"""

FRAMEWORKS = """
## Agent frameworks

Libraries through which a program gives the tools of MCP servers to a model: what their own adapters
list of the same server, and what they give back for a call. *raises* is an exception, *text* is
more than the value as text, *blocks* are content blocks as JSON.
"""


def section() -> str:
    """Return the part of the page that is about hosts and frameworks."""
    observed = record.read()
    parts = [HOSTS, _table("host", observed["hosts"]), _notes(observed["hosts"])]
    parts += [FRAMEWORKS, _table("framework", observed["frameworks"])]
    parts += [_notes(observed["frameworks"])]
    return "\n".join(parts)


def _table(title: str, observed: Json) -> str:
    heading = [title, "version", "tools", *plan.SHOWN]
    rows: list[list[str]] = []
    for name, seen in sorted(observed.items()):
        over: Json = seen["over"]
        for transport, report in over.items():
            place = name if len(over) == 1 else f"{name}, {transport}"
            shown = [_cell(report["shown"].get(id), id) for id in plan.SHOWN.values()]
            offered = f"{len(report['offered'])} of {len(plan.tools())}"
            rows.append([place, seen["version"], offered, *shown])
    return markdown(heading, rows)


def _cell(texts: list[str] | None, id: str) -> str:
    if texts is None:
        return "–"
    call = next(call for call in plan.calls() if call["id"] == id)
    if "value" not in call:
        return "raises" if texts[0].startswith(record.RAISED) else "error"
    return ", ".join(_shorten(text, call) for text in texts)


def _shorten(text: str, call: Json) -> str:
    if text == call.get("text"):
        return "prose"
    if text.startswith(record.RAISED):
        return "raises"
    try:
        value = json.loads(text)
    except ValueError:
        return f"`{text}`" if len(text) <= 24 else "text"
    if isinstance(value, dict) and "content" in value:
        return "whole result"
    if isinstance(value, list) and value and all("type" in block for block in _blocks(value)):
        return "blocks"
    return f"`{_brief(value)}`"


def _blocks(value: Any) -> list[Json]:
    return [block if isinstance(block, dict) else {} for block in value]


def _brief(value: Any) -> str:
    if isinstance(value, dict):
        members = cast("Json", value)
        return f'{{"result": {_brief(members["result"])}}}' if [*members] == ["result"] else "{…}"
    return "[…]" if isinstance(value, list) else json.dumps(value)


def _notes(observed: Json) -> str:
    notes = [f"- {name} {seen['note']}\n" for name, seen in sorted(observed.items())]
    return "".join(notes)


def markdown(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table whose columns line up."""
    cells = [[cell.replace("|", "\\|") for cell in row] for row in (heading, *rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(heading))]
    lines = ["| " + " | ".join(map(str.ljust, row, widths)) + " |" for row in cells]
    lines.insert(1, "| " + " | ".join("-" * width for width in widths) + " |")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Write the part, or compare it."""
    before, _, _ = PAGE.read_text().partition(MARK)
    text = before.rstrip("\n") + "\n\n" + MARK + section()
    if "--check" in sys.argv[1:]:
        if PAGE.read_text() == text:
            return 0
        print("peers.md does not say what observed.json does; run make hosts", file=sys.stderr)
        return 1
    PAGE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
