"""The official JSON Schema suite, as its files have it, for each dialect that we speak.

The data comes from the network the first time (scripts/json_schema_suite.py). Without it this
module cannot be imported, which is an error.
"""

from __future__ import annotations

import functools
import importlib.util
import json
from pathlib import Path
from typing import Any, Final

from anyshape.documents.dialects import DIALECTS

__all__ = ["DRAFTS", "SUITE", "asserts_formats", "files_of", "name_of", "read", "remotes"]

DRAFTS: Final = {f"draft{dialect.name.removeprefix('draft-0')}": dialect for dialect in DIALECTS}
"""The dialects by the folders that the suite has for them."""


def _install() -> Path:
    path = Path(__file__).resolve().parent.parent.parent / "scripts" / "json_schema_suite.py"
    spec = importlib.util.spec_from_file_location("anyshape_json_schema_suite", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    folder: Path = module.install()
    return folder


SUITE: Final = _install()


def files_of(draft: str) -> list[Path]:
    """Return the files with cases for a draft."""
    return sorted((SUITE / "tests" / draft).rglob("*.json"))


def name_of(file: Path) -> str:
    """Return what a file is called in the ids of tests."""
    return file.relative_to(SUITE / "tests").with_suffix("").as_posix()


@functools.cache
def read(file: Path) -> Any:
    """Return the groups of cases in a file."""
    return json.loads(file.read_text())


@functools.cache
def remotes() -> dict[str, Any]:
    """Return the documents that cases refer to, by their URIs."""
    folder = SUITE / "remotes"
    return {
        f"http://localhost:1234/{file.relative_to(folder).as_posix()}": read(file)
        for file in folder.rglob("*.json")
    }


def asserts_formats(file: Path) -> bool:
    """Tell whether formats judge values in a file: elsewhere the suite has them as annotations."""
    return "optional" in file.parts and "format" in file.as_posix()
