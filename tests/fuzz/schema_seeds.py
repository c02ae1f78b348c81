"""Schemas with values for them, as JSON arrays of a schema and its values, to begin with."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from random import Random
from typing import Any, Final

from documents import DIALECTS
from instances import Sampler
from mutator import write_json
from trees import members_of

from differential import own_seeds, read_corpus

__all__ = ["schema_seeds"]

ROOT: Final = Path(__file__).resolve().parent.parent.parent
_DRAFTS: Final = {
    "draft4": DIALECTS[4],
    "draft6": DIALECTS[6],
    "draft7": DIALECTS[7],
    "draft2019-09": DIALECTS[19],
    "draft2020-12": DIALECTS[20],
}
_MOST_VALUES: Final = 4
_MOST_BYTES: Final = 6_000


def schema_seeds(corpus: Path | None) -> tuple[bytes, ...]:
    """Return those of the official suite, of the benchmarks, and of the listings in a folder."""
    found = [[schema, *values[:_MOST_VALUES]] for schema, values in _suite()]
    real = (*own_seeds(), *(read_corpus(corpus) if corpus is not None else ()))
    found += [[schema, *Sampler(Random(0), schema).batch(_MOST_VALUES)] for schema in real]
    written = dict.fromkeys(map(write_json, found))
    return tuple(each for each in written if len(each) <= _MOST_BYTES)


def _suite() -> list[tuple[Any, list[Any]]]:
    folder = _install() / "tests"
    cases: list[tuple[Any, list[Any]]] = []
    for name, dialect in _DRAFTS.items():
        for path in sorted((folder / name).rglob("*.json")):
            for group in json.loads(path.read_text()):
                schema = group["schema"]
                if members_of(schema):
                    schema = {"$schema": dialect, **members_of(schema)}
                cases.append((schema, [test["data"] for test in group["tests"]]))
    return cases


def _install() -> Path:
    """Return where the suite is; `scripts/json_schema_suite.py` gets it."""
    path = ROOT / "scripts" / "json_schema_suite.py"
    spec = importlib.util.spec_from_file_location("json_schema_suite", path)
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module.install()
