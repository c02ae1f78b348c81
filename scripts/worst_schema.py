"""Look for the schema and the value that hold a process longest, or fill it most.

Climbs over the families of tests/hostile/families.py and their amplifiers: doubles, halves and
combines, and keeps what is worse. Every trial runs in a child process of its own, under the default
limits, with documents of at most 1 MB, and values of at most 4 MB and of no more parts than a
message may have. Counted is processor time of the thread that called, because that is how long an
event loop would have stood still, and the peak of memory of that process; what a confined worker
does elsewhere is not counted. A trial that takes more than 8 s of processor time is killed, and one
that takes a minute by the clock, on a busy machine, is given up and does not count. The table is
Markdown, for docs/internals/confinement.md.

    make worst ARGS="--seconds 600 --seed 7"

Exit code 1 when a process ended, an error that is not ours came out, or a bound was passed.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import resource
import select
import signal
import sys
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "hostile"))

import psutil  # noqa: E402
from amplifiers import AMPLIFIERS  # noqa: E402
from families import FAMILIES, Numbers  # noqa: E402
from probe import measured  # noqa: E402

from anyshape.protocol.nesting import has_too_many_parts  # noqa: E402
from anyshape.schema import Limits, Schema, compile  # noqa: E402

LONGEST = 8
PATIENCE = 60
HELD = 0.25
GROWN = 256_000_000
MOST_VALUE = 4_000_000
MOST_DOCUMENT = Limits().document_bytes
MOST_MEMORY = 8_000_000_000
OURS = ("LimitExceeded", "InvalidSchema", "UnresolvableReference", "NotJson", "True", "False")
AIMS = ("compile", "accepts", "problems", "memory")


@dataclass(frozen=True)
class Genome:
    """A family, its numbers, and what is done to it, innermost first."""

    family: str
    numbers: Numbers
    amplifiers: tuple[tuple[str, int], ...] = ()

    def __str__(self) -> str:
        """Return it in one line."""
        of = self.numbers
        text = f"{self.family} (size {of.size}, length {of.length}, count {of.count}, "
        text += f"variant {of.variant})"
        return text + "".join(f", {name} by {count}" for name, count in self.amplifiers)

    def mutated(self, random: Random) -> Genome:
        """Return a neighbour."""
        if random.random() < 0.3:
            return replace(self, amplifiers=self._reamplified(random))
        name = random.choice(("size", "size", "length", "length", "count", "variant"))
        number: int = getattr(self.numbers, name)
        if name == "variant":
            number = random.randrange(48)
        else:
            number = int(number * random.choice((0.3, 0.7, 1.4, 2, 4, 10))) + random.randint(0, 1)
        return replace(self, numbers=replace(self.numbers, **{name: min(number, 1_000_000)}))

    def _reamplified(self, random: Random) -> tuple[tuple[str, int], ...]:
        known = list(self.amplifiers)
        if known and random.random() < 0.6:
            index = random.randrange(len(known))
            name, count = known.pop(index)
            if random.random() < 0.7:
                scaled = int(count * random.choice((0.3, 0.7, 1.4, 2, 4, 10))) + 1
                known.insert(index, (name, min(scaled, 1_000_000)))
        elif len(known) < 3:
            name = random.choice(list(AMPLIFIERS))
            known.append((name, int(10 ** random.uniform(0, 4))))
        return tuple(known)

    def halved(self) -> Genome:
        """Return the same with its largest number halved, for when it is too large."""
        numbers = {name: getattr(self.numbers, name) for name in ("size", "length", "count")}
        name = max(numbers, key=numbers.__getitem__)
        most = max((count for _, count in self.amplifiers), default=0)
        if most > numbers[name]:
            halves = ((key, n // 2 if n == most else n) for key, n in self.amplifiers)
            return replace(self, amplifiers=tuple(halves))
        return replace(self, numbers=replace(self.numbers, **{name: numbers[name] // 2}))


@dataclass
class Trial:
    """What came of a genome: processor seconds for each verb, bytes, and how each step ended."""

    genome: Genome
    seconds: dict[str, float] = field(default_factory=dict[str, float])
    outcomes: dict[str, str] = field(default_factory=dict[str, str])
    grown: int = 0
    before: int = 0
    ended: str = ""
    fits: bool = True

    def score(self, aim: str) -> float:
        """Return how bad it is: 1 is the bound."""
        return self.grown / GROWN if aim == "memory" else self.seconds.get(aim, 0.0) / HELD

    def defects(self) -> list[str]:
        """Return what must not happen at all."""
        foreign = [text for text in self.outcomes.values() if text not in OURS]
        return foreign + ([self.ended] if self.ended and "killed after" not in self.ended else [])


async def measure(genome: Genome, write: Any) -> None:
    """Do the trial in this process, and write each step as it is begun and done."""
    part = FAMILIES[genome.family](genome.numbers)
    for name, count in genome.amplifiers:
        part = AMPLIFIERS[name](part, count)
    document = json.dumps(part.document())
    texts = [json.dumps(part.good), json.dumps(part.bad)]
    if (
        len(document) > MOST_DOCUMENT
        or max(map(len, texts)) > MOST_VALUE
        or any(has_too_many_parts(text.encode()) for text in texts)
    ):
        write({"fits": False})
        return
    del part
    compile({"type": "object"}).accepts({})
    whole = json.loads(document)
    values = [json.loads(text) for text in texts]
    del document, texts
    before = psutil.Process().memory_info().rss
    kept: list[Schema] = []
    write({"before": before, "begun": "compile"})
    found = await measured(lambda: kept.append(compile(whole)))
    write({"step": "compile", **found})
    for value in values if kept else ():
        for verb in (kept[0].accepts, kept[0].problems, kept[0].validate):
            name = "accepts" if verb == kept[0].accepts else "problems"
            write({"begun": name})
            found = await measured(lambda: verb(value))  # noqa: B023
            write({"step": name, **found})
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    write({"grown": peak - before})


def run(genome: Genome) -> Trial:
    """Return what a child process measured."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        _become_trial(genome, reading, writing)
    os.close(writing)
    trial = Trial(genome)
    begun, since = "", time.monotonic()
    worked = 0.0
    pending = b""
    while True:
        ready, _, _ = select.select([reading], [], [], 0.5)
        data = os.read(reading, 65_536) if ready else b""
        if not ready:
            state = psutil.Process(child)
            work = _work(state) - worked
            if work > LONGEST and not begun:
                trial.fits = False  # too large to be made, so nothing was asked of us
            elif work > LONGEST:
                trial.ended = f"killed after {LONGEST} s in {begun}"
                trial.seconds[begun] = float(LONGEST)
                trial.grown = max(trial.grown, state.memory_info().rss - trial.before)
            elif time.monotonic() - since > PATIENCE:
                trial.fits = False
            else:
                continue
            os.killpg(child, signal.SIGKILL)
            break
        if not data:
            break
        *lines, pending = (pending + data).split(b"\n")
        for line in lines:
            begun = _take(trial, json.loads(line)) or begun
        with contextlib.suppress(psutil.Error):
            worked = _work(psutil.Process(child))
    os.close(reading)
    _, status = os.waitpid(child, 0)
    if not trial.ended and os.WIFSIGNALED(status):
        name = signal.Signals(os.WTERMSIG(status)).name
        trial.ended = f"the process ended by {name} in {begun}"
    return trial


def _work(process: psutil.Process) -> float:
    """Return the processor time of a process, that of its children not counted."""
    times = process.cpu_times()
    return times.user + times.system


def _become_trial(genome: Genome, reading: int, writing: int) -> None:
    os.setsid()
    os.close(reading)
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)

    def write(report: dict[str, Any]) -> None:
        os.write(writing, json.dumps(report).encode() + b"\n")

    try:
        asyncio.run(measure(genome, write))
    except BaseException as error:
        write(
            {"begun": "the trial itself", "step": "trial", "outcome": repr(error)[:200], "work": 0}
        )
    finally:
        os._exit(0)


def _take(trial: Trial, report: dict[str, Any]) -> str:
    if "fits" in report:
        trial.fits = False
    trial.before = report.get("before", trial.before)
    if "grown" in report:
        trial.grown = report["grown"]
    if "step" in report:
        step = report["step"]
        trial.seconds[step] = max(trial.seconds.get(step, 0.0), report["work"])
        trial.outcomes[f"{step} {len(trial.outcomes)}"] = str(report["outcome"])
    return report.get("begun", "")


def fitting(genome: Genome) -> Trial:
    """Return the trial of `genome`, made smaller until it is within the limits."""
    trial = run(genome)
    for _ in range(16):
        if trial.fits:
            break
        genome = genome.halved()
        trial = run(genome)
    return trial


class Search:
    """The worst of each family for each aim, and what must not happen."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.best: dict[tuple[str, str], Trial] = {}
        self.defects: list[Trial] = []
        self.trials = 0

    def take(self, trial: Trial) -> None:
        """Count a trial, and keep it where it is the worst."""
        self.trials += 1
        if trial.defects():
            self.defects.append(trial)
            print(f"! {trial.genome}: {trial.defects()}", file=sys.stderr, flush=True)
        for aim in AIMS:
            key = (trial.genome.family, aim)
            if key not in self.best or trial.score(aim) > self.best[key].score(aim):
                self.best[key] = trial

    def begin(self, family: str) -> Genome:
        """Return a genome to start from."""
        size, length, count = (int(10 ** self.random.uniform(1, 5)) for _ in range(3))
        genome = Genome(family, Numbers(size, length, count, self.random.randrange(48)))
        return genome.mutated(self.random) if self.random.random() < 0.5 else genome

    def climb(self, seconds: float, families: list[str]) -> None:
        """Try until time is up: every family in turn, each aim in turn, then something new."""
        ends = time.monotonic() + seconds
        rounds = 0
        while time.monotonic() < ends:
            aim = AIMS[rounds % len(AIMS)]
            for family in families:
                if time.monotonic() > ends:
                    break
                known = self.best.get((family, aim))
                hopeless = known is not None and known.score(aim) * HELD >= LONGEST
                if known is None or hopeless or rounds < 3 or self.random.random() < 0.2:
                    genome = self.begin(family)
                else:
                    genome = known.genome.mutated(self.random)
                self.take(fitting(genome))
            rounds += 1

    def table(self) -> str:
        """Return the records as Markdown."""
        lines = [
            "| what | compile | accepts | explain | memory | worst, and how it ended |",
            "| --- | --- | --- | --- | --- | --- |",
        ]
        families = sorted({family for family, _ in self.best})
        worst = {f: max((self.best[f, a] for a in AIMS), key=_worst) for f in families}
        for family in sorted(families, key=lambda name: -_worst(worst[name])):
            cells = [f"{self.best[family, aim].seconds.get(aim, 0):.2f} s" for aim in AIMS[:3]]
            cells.append(f"{self.best[family, 'memory'].grown / 1e6:.0f} MB")
            trial = worst[family]
            ended = trial.ended or ", ".join(dict.fromkeys(trial.outcomes.values()))
            lines.append(f"| {family} | {' | '.join(cells)} | {trial.genome}: {ended} |")
        return "\n".join(lines)


def _worst(trial: Trial) -> float:
    return max(trial.score(aim) for aim in AIMS)


def main() -> int:
    """Read the arguments, climb, and print the records."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--family", action="append", choices=list(FAMILIES), help="only this one")
    options = parser.parse_args()
    search = Search(options.seed)
    with contextlib.suppress(KeyboardInterrupt):
        search.climb(options.seconds, options.family or list(FAMILIES))
    print(f"{search.trials} trials in {options.seconds:.0f} s, seed {options.seed}\n")
    print(search.table())
    for trial in search.defects[:20]:
        print(f"\n{trial.genome}: {trial.defects()}")
    return 1 if search.defects or any(_worst(trial) > 1 for trial in search.best.values()) else 0


if __name__ == "__main__":
    raise SystemExit(main())
