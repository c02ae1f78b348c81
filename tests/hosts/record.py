"""What was observed of hosts and frameworks, as `observed.json` keeps it."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

Json = dict[str, Any]

RAISED = "raised "
"""What a text begins with that tells of an exception."""

FILE = Path(__file__).with_name("observed.json")


def read() -> Json:
    """Return all that was observed: hosts and frameworks, each by name."""
    return json.loads(FILE.read_text()) if FILE.exists() else {"hosts": {}, "frameworks": {}}


def keep(kind: str, name: str, observed: Json) -> None:
    """Keep what was observed of one host or framework today."""
    everything = read()
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    everything[kind][name] = {"observed": today, **observed}
    FILE.write_text(json.dumps(everything, indent=1, ensure_ascii=False, sort_keys=True) + "\n")


def merged(over: Json) -> Json:
    """Return reports by transport as one, if they are the same."""
    first, *others = over.values()
    if all(other == first for other in others):
        return {"over": {" and ".join(over): first}}
    return {"over": over}
