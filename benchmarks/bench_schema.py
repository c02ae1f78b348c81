"""What does our schema core cost next to the raw engine, and what does it save next to others?

On realistic tool schemas: the time to compile one, and to judge a value that satisfies it and one
that does not, with Anyshape, the raw engine (jsonschema-rs), jsonschema and fastjsonschema.
Anyshape's figures include all its guards. A value that was parsed from JSON text, as every value
that comes over the wire is, is known to be JSON and of what size (`accepts_parsed`); any other
Python value is proved to be JSON and measured first (`accepts`).
"""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import fastjsonschema
import jsonschema
import jsonschema_rs
import msgspec
from bed.report import Report, microseconds
from bed.rounds import Ratio, interleave, ratio
from schemas import CASES, Case

import anyshape.schema

VALID, INVALID, COMPILE = "accepts a valid value", "accepts an invalid value", "compile"
PYTHON = "accepts a valid Python value"
ENGINES = ("anyshape", "engine", "jsonschema", "fastjsonschema")
_unique = itertools.count()


@dataclass(frozen=True)
class Plan:
    """How long and how often to measure."""

    rounds: int
    slice: float
    repeats: int
    cases: tuple[Case, ...] = CASES


FULL = Plan(rounds=5, slice=0.004, repeats=5)
QUICK = Plan(rounds=3, slice=0.001, repeats=2)


def compile_with(engine: str, document: dict[str, Any]) -> Callable[[Any], bool]:
    """Return a function that tells whether a value satisfies `document`."""
    if engine == "anyshape":
        return anyshape.schema.compile(document).accepts
    if engine == "engine":
        return jsonschema_rs.validator_for(document).is_valid
    if engine == "jsonschema":
        jsonschema.Draft202012Validator.check_schema(document)
        return jsonschema.Draft202012Validator(document).is_valid
    check = fastjsonschema.compile(document, use_default=False)

    def accepts(value: Any) -> bool:
        try:
            check(value)
        except fastjsonschema.JsonSchemaException:
            return False
        return True

    return accepts


def measure(plan: Plan) -> Report:
    """Measure all cases and print one table for each question."""
    report = Report("Schemas")
    report.say(
        f"{len(plan.cases)} realistic tool schemas. Ratios compare the best of {plan.repeats} "
        f"short loops within a round, {plan.rounds} rounds."
    )
    for question in (VALID, INVALID, PYTHON, COMPILE):
        _ask(report, plan, question)
    return report


def _ask(report: Report, plan: Plan, question: str) -> None:
    rows: list[tuple[str, ...]] = []
    of_engine: list[float] = []
    of_others: dict[str, list[float]] = {"jsonschema": [], "fastjsonschema": []}
    for case in plan.cases:
        actions = {
            engine: action
            for engine in ENGINES
            if (action := _prepare(question, engine, case)) is not None
        }
        loops = {name: _calibrate(*action, plan.slice) for name, action in actions.items()}
        found = interleave(
            actions, plan.rounds, lambda n, a=actions, c=loops: _best(*a[n], c[n], plan.repeats)
        )
        ours = found["anyshape"]
        own = ratio(ours, found["engine"])
        of_engine.append(own.median)
        cells = [case.name, microseconds(statistics.median(ours)), str(own)]
        for other in of_others:
            if other in found:
                gain = ratio(found[other], ours)
                of_others[other].append(gain.median)
                cells.append(str(gain))
            else:
                cells.append("wrong verdict")
        rows.append(tuple(cells))
    middle = ["median of all", ""]
    middle += [_spread(values) for values in (of_engine, *of_others.values())]
    header = ("schema", "anyshape", "of the engine", "jsonschema, times", "fastjsonschema, times")
    report.table(question, header, [*rows, tuple(middle)])
    if question == VALID:
        got = statistics.median(of_engine)
        report.promise(f"schema: {question}", "≤ 1.3 of the engine", _spread(of_engine), got <= 1.3)
    if question != COMPILE:
        # The engine refuses at the first fault; we also prove that the rest is JSON, so a refusal
        # is held against the others alone.
        gain = statistics.median(of_others["jsonschema"])
        report.promise(
            f"schema: {question}",
            "≥ 20 times jsonschema",
            _spread(of_others["jsonschema"]),
            gain >= 20,
        )


def _prepare(
    question: str, engine: str, case: Case
) -> tuple[Callable[..., Any], tuple[Any, ...]] | None:
    """Return what is timed and its arguments, or `None` when the engine judges the case wrongly."""
    accepts = compile_with(engine, case.schema)
    if not accepts(case.valid) or accepts(case.invalid):
        return None
    if question == COMPILE:
        return lambda document: _compile_anew(engine, document), (case.schema,)
    value = case.invalid if question == INVALID else case.valid
    if engine == "anyshape" and question != PYTHON:
        parsed = anyshape.schema.compile(case.schema).accepts_parsed
        return parsed, (value, len(msgspec.json.encode(value)))
    return accepts, (value,)


def _compile_anew(engine: str, document: dict[str, Any]) -> None:
    # A comment makes each document new, so that nobody answers from a cache.
    compile_with(engine, {**document, "$comment": f"{next(_unique)}"})


def _calibrate(action: Callable[..., Any], arguments: tuple[Any, ...], target: float) -> int:
    loops = 1
    while True:
        elapsed = _best(action, arguments, loops, 1) * loops
        if elapsed >= target:
            return loops
        loops = max(loops * 2, int(loops * target / max(elapsed, 1e-7)))


def _best(
    action: Callable[..., Any], arguments: tuple[Any, ...], loops: int, repeats: int
) -> float:
    found = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        for _ in itertools.repeat(None, loops):
            action(*arguments)
        found = min(found, time.perf_counter() - start)
    return found / loops


def _spread(values: list[float]) -> str:
    return str(Ratio(statistics.median(values), min(values), max(values)))


if __name__ == "__main__":
    from bed.command import run_alone

    run_alone(measure, FULL, QUICK)
