"""The official JSON Schema suite: every case, and every verb agrees on it.

The data comes from the network the first time (scripts/json_schema_suite.py). Without it this
module cannot be collected, which is an error.
"""

from __future__ import annotations

import functools
import importlib.util
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from anyshape.schema import Schema, ValidationError, compile

ROOT = Path(__file__).resolve().parent.parent.parent
DRAFTS = {
    "draft2020-12": None,
    "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
    "draft7": "http://json-schema.org/draft-07/schema#",
    "draft6": "http://json-schema.org/draft-06/schema#",
    "draft4": "http://json-schema.org/draft-04/schema#",
}
"""What `$schema` is where a test leaves it out; 2020-12 is what we take documents for anyway."""


def _install_suite() -> Path:
    path = ROOT / "scripts" / "json_schema_suite.py"
    spec = importlib.util.spec_from_file_location("anyshape_json_schema_suite", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    folder: Path = module.install()
    return folder


SUITE = _install_suite()


@dataclass(frozen=True)
class Case:
    draft: str
    file: Path
    group: int
    number: int
    valid: bool

    @property
    def id(self) -> str:
        name = self.file.relative_to(SUITE / "tests").with_suffix("").as_posix()
        return f"{name}-{self.group}.{self.number}"


@functools.cache
def _read(file: Path) -> Any:
    return json.loads(file.read_text())


def _cases() -> Iterator[Case]:
    for draft in DRAFTS:
        for file in sorted((SUITE / "tests" / draft).rglob("*.json")):
            for group, described in enumerate(_read(file)):
                for number, case in enumerate(described["tests"]):
                    yield Case(draft, file, group, number, case["valid"])


CASES = list(_cases())


@functools.cache
def _remotes() -> dict[str, Any]:
    folder = SUITE / "remotes"
    return {
        f"http://localhost:1234/{file.relative_to(folder).as_posix()}": _read(file)
        for file in folder.rglob("*.json")
    }


@functools.cache
def _schema(draft: str, file: Path, group: int) -> Schema:
    document = _read(file)[group]["schema"]
    default = DRAFTS[draft]
    if default is not None and not isinstance(document, bool):
        document = {"$schema": default} | document
    # Outside of optional/ the suite wants formats to be annotations.
    formats = "optional" in file.parts and "format" in file.as_posix()
    return compile(document, resources=_remotes(), formats=formats)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_every_verb_gives_the_verdict_of_the_official_suite(case: Case) -> None:
    described = _read(case.file)[case.group]
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
