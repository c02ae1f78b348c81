"""What was observed of hosts and frameworks, as `observed.json` keeps it."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

Json = dict[str, Any]

RAISED = "raised "
"""What a text begins with that tells of an exception."""

_LONGEST = 2000
"""Characters of a text that are kept; errors may bring a stack along."""

FILE = Path(__file__).with_name("observed.json")


def read() -> Json:
    """Return all that was observed: hosts and frameworks, each by name."""
    return json.loads(FILE.read_text()) if FILE.exists() else {"hosts": {}, "frameworks": {}}


def keep(kind: str, name: str, observed: Json) -> None:
    """Keep what was observed of one host or framework today."""
    everything = read()
    for report in observed["over"].values():
        report["shown"] = {id: [*map(_kept, texts)] for id, texts in report["shown"].items()}
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    everything[kind][name] = {"observed": today, **observed}
    FILE.write_text(json.dumps(everything, indent=1, ensure_ascii=False, sort_keys=True) + "\n")


def merged(over: Json) -> Json:
    """Return reports by transport as one, if they are the same."""
    first, *others = over.values()
    if all(other == first for other in others):
        return {"over": {" and ".join(over): first}}
    return {"over": over}


def _kept(text: str) -> str:
    """Return a text without the stack that some frameworks add to an error."""
    return text.partition("Traceback")[0][:_LONGEST]
