"""Lower every tool of a folder of listings for every profile, and report figures.

    python scripts/lower_listings.py FOLDER [--probes FILE] [--profile NAME ...] [--values N]

FOLDER holds listings of tools as JSON (`{"tools": [{"name": …, "inputSchema": …}]}`). FILE holds
probes: a list of `{"name": …, "schema": …, "accepts": [instances], "rejects": [instances]}`. Every
law of tests/properties/lowering.py is checked on each; exit code 1 when one is broken.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "properties"))

from instances import Sampler  # noqa: E402
from lowering import Judge  # noqa: E402

from anyshape.errors import AnyshapeError, CannotLower  # noqa: E402
from anyshape.providers import PROFILES, lower  # noqa: E402
from anyshape.schema import compile  # noqa: E402


def tools_in(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name and input schema of every tool of every listing."""
    for path in sorted(folder.glob("*.json")):
        listing = json.loads(path.read_text())
        for tool in listing.get("tools", []):
            yield f"{path.stem}/{tool['name']}", tool["inputSchema"]


def read_probes(path: Path) -> list[tuple[str, Any, list[Any]]]:
    """Return the name, schema and accepted values of every probe in a file."""
    probes = json.loads(path.read_text())
    return [(probe["name"], probe["schema"], probe["accepts"]) for probe in probes]


def usable(tools: Iterator[tuple[str, dict[str, Any]]]) -> list[tuple[str, dict[str, Any]]]:
    """Leave out what is no schema to begin with, and say so."""
    found: list[tuple[str, dict[str, Any]]] = []
    for name, schema in tools:
        try:
            compile(schema)
            found.append((name, schema))
        except AnyshapeError as error:
            print(f"not a schema: {name}: {error}", file=sys.stderr)
    return found


def report(label: str, judge: Judge, seconds: float | None = None) -> None:
    """Print the figures of one profile."""
    counts = judge.counts
    print(
        f"{label:18} lowered {counts['lowered']:5} refused {counts['refused']:4} "
        f"lossless {counts['lossless']:5} losses {counts['losses']:6} "
        f"round trips {counts['round trips']:6} null-or-absent {counts['null or absent']:4} "
        f"no form {counts['narrowed']:4} exact {counts['exact values']:5} "
        f"breaches {len(judge.breaches)}" + ("" if seconds is None else f"  {seconds:.2f} s")
    )


def main() -> int:
    """Run, report, and tell whether a law was broken."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--probes", type=Path)
    parser.add_argument("--profile", action="append", choices=sorted(PROFILES))
    parser.add_argument("--values", type=int, default=12)
    parser.add_argument("--shown", type=int, default=5)
    options = parser.parse_args()
    cases: list[tuple[str, Any, list[Any]]] = []
    if options.folder:
        for name, schema in usable(tools_in(options.folder)):
            cases.append((name, schema, Sampler(Random(name), schema).batch(options.values)))
    if options.probes:
        cases += read_probes(options.probes)
    broken = 0
    for name in options.profile or PROFILES:
        profile = PROFILES[name]
        started = time.process_time()
        for _, schema, _ in cases:
            try:
                lower(schema, profile)
            except CannotLower:
                continue
        seconds = time.process_time() - started
        judge = Judge()
        for label, schema, values in cases:
            judge.judge(schema, profile, values, name=label)
        report(name, judge, seconds)
        for reason, count in judge.refusals.most_common(options.shown):
            print(f"    refused {count}: {reason}")
        for breach in judge.breaches[: options.shown]:
            print(f"  {breach}")
        broken += len(judge.breaches)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
