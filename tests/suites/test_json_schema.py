"""The official JSON Schema suite: every case, and every verb agrees on it."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from anyshape.documents.dialects import DEFAULT_DIALECT
from anyshape.schema import Schema, ValidationError, compile

from .json_schema_suite import DRAFTS, asserts_formats, files_of, name_of, read, remotes


@dataclass(frozen=True)
class Case:
    draft: str
    file: Path
    group: int
    number: int
    valid: bool

    @property
    def id(self) -> str:
        return f"{name_of(self.file)}-{self.group}.{self.number}"


def _cases() -> Iterator[Case]:
    for draft in DRAFTS:
        for file in files_of(draft):
            for group, described in enumerate(read(file)):
                for number, case in enumerate(described["tests"]):
                    yield Case(draft, file, group, number, case["valid"])


CASES = list(_cases())


@functools.cache
def _schema(draft: str, file: Path, group: int) -> Schema:
    document = read(file)[group]["schema"]
    dialect = DRAFTS[draft]
    # Documents that leave `$schema` out are taken for 2020-12 anyway.
    if dialect is not DEFAULT_DIALECT and not isinstance(document, bool):
        document = {"$schema": dialect.uri} | document
    return compile(document, resources=remotes(), formats=asserts_formats(file))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_every_verb_gives_the_verdict_of_the_official_suite(case: Case) -> None:
    described = read(case.file)[case.group]
    story = f"{described['description']}: {described['tests'][case.number]['description']}"
    value = described["tests"][case.number]["data"]
    schema = _schema(case.draft, case.file, case.group)

    assert schema.accepts(value) is case.valid, story
    assert (schema.problems(value) == []) is case.valid, story
    if case.valid:
        schema.validate(value)
    else:
        with pytest.raises(ValidationError) as raised:
            schema.validate(value)
        assert raised.value.problems, story


def test_the_suite_is_all_there() -> None:
    counts = {draft: sum(case.draft == draft for case in CASES) for draft in DRAFTS}

    assert counts == {
        "draft2020-12": 1906,
        "draft2019-09": 1864,
        "draft7": 1465,
        "draft6": 1149,
        "draft4": 863,
    }
