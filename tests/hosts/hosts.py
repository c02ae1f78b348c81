"""Have each host's model, replaced by a stand-in, call every tool; report what came of it.

python tests/hosts/hosts.py [NAME…]
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import plan
import programs
import record
from programs import Host
from standins import Handed, StandIn
from targets import TRANSPORTS, serving

from anyshape.providers import PROFILES
from anyshape.providers.checking import check

Json = dict[str, Any]


def observe(host: Host) -> tuple[Json, list[str]]:
    """Return what a host showed its model over each transport, and what is wrong with that."""
    over: Json = {}
    problems: list[str] = []
    for transport in TRANSPORTS:
        with serving(transport) as target, tempfile.TemporaryDirectory() as home:
            model = programs.visit(host, target, [*plan.calls(), *host.own_calls], Path(home))
        over[transport] = {
            "offered": {tool: model.offered[tool].name for tool in sorted(model.offered)},
            "schemas": {tool: model.offered[tool].schema for tool in sorted(model.offered)},
            "shown": {id: handed.texts for id, handed in model.handed.items()},
        }
        problems += [f"{host.name} over {transport}: {problem}" for problem in judge(model)]
    about = {"package": host.package, "version": host.version, "note": host.note}
    return {**about, **record.merged(over)}, problems


def judge(model: StandIn) -> list[str]:
    """Return what is wrong with what a model was offered and handed back."""
    problems = [f"{tool} is not offered" for tool in model.missing]
    if model.PROFILE is not None:
        problems += [
            f"the provider refuses {tool}: {violation}"
            for tool, offered in sorted(model.offered.items())
            for violation in check(offered.schema, PROFILES[model.PROFILE])
        ]
    for call in model.plan:
        handed = model.handed.get(call["id"])
        problem = "was not passed on" if handed is None else _flaw(call, handed)
        if problem is not None:
            problems.append(f"call {call['id']}: {problem}")
    return problems


def _flaw(call: Json, handed: Handed) -> str | None:
    text = "\n".join(handed.texts)
    if "value" in call:
        if handed.is_error or not plan.tells(handed.texts, call["value"]):
            return f"expected {json.dumps(call['value'])[:60]}, got {text[:200]!r}"
        return None
    if handed.is_error is False:
        return f"is to be an error, got {text[:200]!r}"
    words = [call["failure"]] if "failure" in call else call["refusal"]
    # Gemini CLI validates arguments itself, and has its own words for what is wrong.
    if not text.startswith("params") and any(word not in text for word in words):
        return f"expected an error that says {words}, got {text[:200]!r}"
    return None


def main(names: list[str]) -> int:
    """Observe the hosts named, or all; write what was seen, and tell what is wrong."""
    problems: list[str] = []
    for host in programs.HOSTS:
        if not names or host.name in names:
            print(host.name, file=sys.stderr)
            observed, wrong = observe(host)
            record.keep("hosts", host.name, observed)
            problems += wrong
    print("\n".join(problems or ["every tool is offered, every call passed on"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
