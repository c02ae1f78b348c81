"""The gateway that is put under load, in a process of its own.

python gatehouse.py TARGET [NAME=TARGET ...] PORT

A target is a URL, or the path of a script that serves on stdio. The first one keeps its names.
`WORKSHOP_CALLS` and `WORKSHOP_PATIENCE` are those of workshop.py.
"""

from __future__ import annotations

import os
import sys

from anyshape.gateway import BreakerOptions, Gateway, RoomOptions, Upstream
from anyshape.server import HttpOptions, ServerOptions

LISTENERS = 20_000
CALLS = int(os.environ.get("WORKSHOP_CALLS", "20000"))
PATIENCE = float(os.environ.get("WORKSHOP_PATIENCE", "5"))


def upstream(target: str, prefix: str | None) -> Upstream:
    return Upstream(
        target=target if target.startswith("http") else [sys.executable, target],
        prefix=prefix,
        timeout=60.0,
        room=RoomOptions(max_calls=200, max_waiting=20_000, max_wait=120.0),
        breaker=BreakerOptions(failures=10_000, of=10_000),
    )


def make_gateway(targets: list[str]) -> Gateway:
    first, *others = targets
    pairs = [each.split("=", 1) for each in others]
    return Gateway(
        {"first": upstream(first, ""), **{name: upstream(target, None) for name, target in pairs}},
        options=ServerOptions(
            max_concurrent_calls=CALLS, max_subscriptions=LISTENERS, call_timeout=120, grace=5
        ),
    )


if __name__ == "__main__":
    *targets, port = sys.argv[1:]
    options = HttpOptions(request_timeout=PATIENCE)
    make_gateway(targets).run(
        "http", port=int(port), options=options, log_level="critical", backlog=4096
    )
