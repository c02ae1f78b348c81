"""Run every benchmark side by side in one go and write RESULTS.md.

python benchmarks/run.py            everything, about half an hour
python benchmarks/run.py --quick    the main ratios, under two minutes; RESULTS.md is left alone
python benchmarks/run.py http stdio only those
"""

from __future__ import annotations

import argparse
import importlib
import time

from bed.contenders import BENCHMARKS, node_module
from bed.report import Report, machine, show_targets

NAMES = ("schema", "http", "stdio", "client", "listing", "start", "gateway", "growth")
QUICK_NAMES = ("schema", "http", "stdio", "client", "listing", "start")
PREFACE = """# Results

Written by `make bench`; how the figures are taken is in
[docs/internals/benchmarks.md](../docs/internals/benchmarks.md). Ratios are medians over interleaved
rounds of one run, with the lowest and the highest; the *floor* is a bare server that parses and
answers and does nothing else. Absolute figures belong to this machine on this day.
"""


def main() -> int:
    """Run the chosen benchmarks; exit 1 when a promised figure was missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", choices=[*NAMES, []], help="which; all by default")
    parser.add_argument("--quick", action="store_true", help="the main ratios in two minutes")
    parser.add_argument("--strict", action="store_true", help="exit 1 when a target is missed")
    options = parser.parse_args()
    names = options.names or (QUICK_NAMES if options.quick else NAMES)
    node_module().install()
    facts = machine()
    start = time.monotonic()
    reports: list[Report] = []
    for name in names:
        module = importlib.import_module(f"bench_{name}")
        print(f"\n# {module.__doc__.splitlines()[0]}", flush=True)
        reports.append(module.measure(module.QUICK if options.quick else module.FULL))
    targets = show_targets(reports)
    print(f"\n{targets}\n\n{facts}\n\ntook {time.monotonic() - start:.0f} s")
    if not options.quick and not options.names:
        sections = [PREFACE.rstrip(), facts, "## Targets", targets]
        sections += [report.markdown() for report in reports]
        (BENCHMARKS / "RESULTS.md").write_text("\n\n".join(sections) + "\n")
    missed = any(not target.holds for report in reports for target in report.targets)
    return 1 if options.strict and missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
