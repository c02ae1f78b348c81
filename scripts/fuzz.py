"""Feed every target of tests/fuzz for as long as you like, and tell what came of it.

    make fuzz ARGS="--seconds 3600 --corpus DIR"         all targets, an hour together
    make fuzz ARGS="schema headers --seconds 600"        these alone
    make fuzz ARGS="--runs 100000"                       so many executions of each

Coverage-guided by Atheris where it is installed, which `make fuzz` sees to; `--plain` does without.
DIR holds listings of tools as JSON (`{"tools": [{"inputSchema": …}]}`), whose schemas are seeds
beside the official suites. Each target is fed in a process of its own. One that ends, hangs for ten
seconds of processor time, or grows by 400 MB is a finding, as is every error that is not the
library's own; another process goes on behind it. Findings are kept with their inputs in
`.cache/fuzz`, and so is what reached new code, so that the next run goes on from there. Exit code 1
when there is a finding.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FUZZ = ROOT / "tests" / "fuzz"
sys.path += [str(FUZZ), str(ROOT / "tests" / "properties")]

import psutil  # noqa: E402
from recorder import Ledger, Recorder  # noqa: E402
from targets import NAMES, Target  # noqa: E402

LONGEST = 10.0
"""Seconds of processor time that one execution may take."""
PATIENCE = 120.0
"""Seconds by the clock, on a machine that may be busy."""
GROWTH = 400_000_000
LOOK = 1.0


@dataclass
class Outcome:
    """What came of one target."""

    target: str
    executions: int
    seconds: float
    grown: int
    findings: int


def feed(name: str, seconds: float, options: argparse.Namespace) -> Outcome:
    """Feed one target, in one process after another, until its time is up."""
    folder: Path = options.work / name
    folder.mkdir(parents=True, exist_ok=True)
    known = set(folder.glob("*.txt"))
    ledger = Ledger(folder / "ledger")
    first, _ = ledger.read()
    began = time.monotonic()
    grown = 0
    seed = options.seed
    while (left := began + seconds - time.monotonic()) > 1:
        runs = options.runs - (ledger.read()[0] - first)
        if runs <= 0:
            break
        command = [sys.executable, str(FUZZ / "feed.py"), name, str(folder)]
        command += ["--seconds", str(left), "--runs", str(runs), "--seed", str(seed)]
        command += ["--corpus", str(options.corpus)] if options.corpus else []
        command += ["--plain"] if options.plain else []
        with (folder / "output").open("ab") as output:
            child = subprocess.Popen(command, stdout=output, stderr=output)
        ended, growth = watch(child, ledger)
        grown = max(grown, growth)
        if ended:
            nothing = Target(lambda _data: None, ())
            Recorder(nothing, folder).report(ended, ledger.read()[1], f"{name} {ended}")
        seed += 1
    executions = ledger.read()[0] - first
    findings = set(folder.glob("*.txt")) - known
    return Outcome(name, executions, time.monotonic() - began, grown, len(findings))


def watch(child: subprocess.Popen[bytes], ledger: Ledger) -> tuple[str, int]:
    """Wait for a process; return how it ended, if that was no good end, and by how much it grew."""
    process = psutil.Process(child.pid)
    began = since = time.monotonic()
    count, worked = -1, 0.0
    settled = grown = 0
    while True:
        try:
            code = child.wait(LOOK)
        except subprocess.TimeoutExpired:
            pass
        else:
            return (f"the process ended with {code}" if code else ""), grown
        try:
            times, memory = process.cpu_times(), process.memory_info().rss
        except psutil.Error:
            continue
        now, work = time.monotonic(), times.user + times.system
        if ledger.read()[0] != count:
            count, since, worked = ledger.read()[0], now, work
        if now - began > 20:  # Modules, seeds and caches are there.
            settled = settled or memory
            grown = memory - settled
        hangs = work - worked > LONGEST or now - since > PATIENCE
        if hangs or grown > GROWTH:
            child.kill()
            child.wait()
            return ("the process hung" if hangs else f"the process grew by {grown} bytes"), grown


def main() -> int:
    """Read the arguments, feed, and print a line for each target."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("target", nargs="*", help=f"of {', '.join(NAMES)}; all by default")
    parser.add_argument("--seconds", type=float, default=600, help="for all targets together")
    parser.add_argument("--runs", type=int, default=sys.maxsize, help="at most, of each target")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 2**31)
    parser.add_argument("--corpus", type=Path, help="a folder of tool listings")
    parser.add_argument("--plain", action="store_true", help="without Atheris")
    parser.add_argument("--work", type=Path, default=ROOT / ".cache" / "fuzz")
    options = parser.parse_args()
    names = options.target or list(NAMES)
    if unknown := set(names) - set(NAMES):
        parser.error(f"there is no target {', '.join(sorted(unknown))}")
    found = 0
    for name in names:
        outcome = feed(name, options.seconds / len(names), options)
        found += outcome.findings
        print(json.dumps(vars(outcome)), flush=True)
        for path in sorted((options.work / name).glob("*.txt"))[: 5 if outcome.findings else 0]:
            print(f"    {path}: {path.read_text().splitlines()[0]}", flush=True)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
