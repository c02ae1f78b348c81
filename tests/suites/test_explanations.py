"""The explainer against the official JSON Schema suite: its own walk comes to the same verdicts.

`problems` is only asked about values that the engine refuses, so it could be wrong about all others
and nobody would notice. Here the walk is asked about every value, with the engine's help and
without, and no failure may be left unexplained.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from anyshape.errors import Problem
from anyshape.schema import Limits, compile
from anyshape.schema._compile.core import Core, build
from anyshape.schema._compile.sources import Sources
from anyshape.schema._explain import verdicts
from anyshape.schema._explain.explainer import Explainer

from .json_schema_suite import DRAFTS, asserts_formats, files_of, name_of, read, remotes

FILES = [
    pytest.param(draft, file, id=name_of(file)) for draft in DRAFTS for file in files_of(draft)
]


def _walk(problems: list[Problem] | tuple[Problem, ...]) -> Iterator[Problem]:
    for problem in problems:
        yield problem
        yield from _walk(problem.causes)


def _exists(document: Any, pointer: str) -> bool:
    found: Any = document
    for token in pointer.split("/")[1:]:
        name = token.replace("~1", "/").replace("~0", "~")
        try:
            found = found[int(name) if isinstance(found, list) else name]
        except (KeyError, IndexError):
            return False
    return True


def _unaided(core: Core) -> Explainer:
    """Return an explainer that never asks the engine about a subschema that has others in it."""
    with mock.patch.object(verdicts, "_MOST_ROUTES", 0):
        return Explainer(core.graph, core.engine, core.rate)


@pytest.mark.parametrize(("draft", "file"), FILES)
def test_the_walk_comes_to_the_verdicts_of_the_official_suite(draft: str, file: Path) -> None:
    formats = asserts_formats(file)
    for group in read(file):
        document = group["schema"]
        if not isinstance(document, bool):
            document = {"$schema": DRAFTS[draft].uri} | document
        schema = compile(document, resources=remotes(), formats=formats)
        core = build(Sources.of(document, remotes()), Limits(), formats)
        explainers = [core.explainer(), _unaided(core)]
        for case in group["tests"]:
            story = f"{group['description']}: {case['description']}"
            for explainer in explainers:
                assert (explainer.explain(case["data"]) == []) is case["valid"], story
            for problem in _walk(schema.problems(case["data"])):
                assert problem.keyword != "", story
                assert _exists(case["data"], problem.path), story
                assert str(problem).isprintable(), story
                if "#" not in problem.schema_path:
                    assert _exists(document, problem.schema_path), story
