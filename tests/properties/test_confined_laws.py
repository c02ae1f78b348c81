"""Laws of confinement: a schema and a value have one verdict and one story, wherever they meet."""

from __future__ import annotations

import pytest

from anyshape.errors import AnyshapeError, LimitExceeded
from anyshape.schema import compile
from anyshape.schema._schema import InProcess, Judge
from differential import case, own_seeds

SEED = 11
DOCUMENTS = 60
VALUES = 6


def said(judge: Judge, value: object) -> object:
    """Return the verdict and the problems, or the error that a judge raises instead."""
    try:
        return judge.accepts(value), judge.problems(value, 20)
    except LimitExceeded as error:
        return type(error), str(error), error.limit, error.allowed, error.found, error.path


@pytest.mark.parametrize("part", range(2))
def test_a_value_is_judged_alike_in_the_process_and_in_a_confined_one(part: int) -> None:
    asked = 0
    for number in range(part * DOCUMENTS, (part + 1) * DOCUMENTS):
        one = case(SEED, number, own_seeds(), VALUES)
        try:
            here = compile(one.document)._judge
        except AnyshapeError:
            continue
        if not isinstance(here, InProcess):
            continue
        for value in one.values:
            assert said(here, value) == said(here._confined, value), (one.document, value)
            asked += 1
    assert asked > DOCUMENTS * VALUES / 3
