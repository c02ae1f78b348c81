"""A schema and values for it, as a JSON array: compiled, validated, explained.

Where our bound says that every value is cheap, the raw engine and `jsonschema` are asked too.
"""

from __future__ import annotations

from pathlib import Path

from mutator import mutate_json, read_json
from schema_seeds import schema_seeds
from trees import items_of

from anyshape.errors import AnyshapeError, LimitExceeded, SchemaError
from anyshape.schema import Limits, Schema, compile
from differential import Tally, check, verdicts

from . import Target, check_message

LIMITS = Limits(seconds=0.2)
SOME_VALUES = (None, 1, "a", [1, "a"], {"a": 1})


def run(data: bytes) -> None:
    """Compile the first item, and judge the others by it."""
    document, *values = items_of(read_json(data)) or [True]
    values = values[:6] or list(SOME_VALUES)
    try:
        schema = compile(document, limits=LIMITS)
    except (SchemaError, LimitExceeded) as error:
        check_message(error)
        return
    for value in values:
        said = verdicts(schema, value)
        if "LimitExceeded" not in said:
            assert said == [said[0]] * 3, said
            assert said[0] in (True, False, "NotJson"), said
        _explain(schema, value)
    if not schema.cost.confined:
        tally = Tally()
        check(document, values, tally)
        assert not tally.found, str(tally.found[0])[:2_000]


def _explain(schema: Schema, value: object) -> None:
    try:
        problems = schema.problems(value)
    except AnyshapeError as error:
        check_message(error)
        return
    for problem in problems:
        check_message(problem)


def make(corpus: Path | None) -> Target:
    """Return the target."""
    return Target(run, schema_seeds(corpus), mutate_json, short=250)
