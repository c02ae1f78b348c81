"""Three validators of JSON Schema that know nothing of each other: ours, `jsonschema` and Ajv.

Each takes a document of a dialect and values, and returns a verdict for each, or why it refuses the
document. Formats are left out: the official suite compares those.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias

import jsonschema
from trees import Json

from anyshape.errors import AnyshapeError, LimitExceeded
from anyshape.schema import compile

__all__ = ["Ajv", "Judged", "Refused", "Validator", "ask_jsonschema", "ask_us"]

HERE: Final = Path(__file__).resolve().parent
_KINDS: Final[dict[int, Any]] = {
    4: jsonschema.Draft4Validator,
    6: jsonschema.Draft6Validator,
    7: jsonschema.Draft7Validator,
    19: jsonschema.Draft201909Validator,
    20: jsonschema.Draft202012Validator,
}


class Refused(str):
    """Why a document is not judged by."""

    __slots__ = ()


Judged: TypeAlias = "list[bool | Refused] | Refused"
"""A verdict for each value, or why there is none; of all values if it is about the document."""


class Validator(Protocol):
    """Judges values by a document."""

    def __call__(self, dialect: int, document: Json, values: list[Json]) -> Judged:
        """Return what it says."""
        ...


def ask_us(dialect: int, document: Json, values: list[Json]) -> Judged:
    """Return what Anyshape says."""
    try:
        schema = compile(document, formats=False)
    except AnyshapeError as error:
        return Refused(f"{type(error).__name__}: {error}")
    found: list[bool | Refused] = []
    for value in values:
        try:
            found.append(schema.accepts(value))
        except LimitExceeded as error:
            found.append(Refused(str(error)))
    return found


def ask_jsonschema(dialect: int, document: Json, values: list[Json]) -> Judged:
    """Return what `jsonschema` says; it finds out about many a flaw only when it gets there."""
    kind = _KINDS[dialect]
    try:
        kind.check_schema(document)
    except Exception as error:
        return Refused(f"{type(error).__name__}: {getattr(error, 'message', error)}"[:300])
    validator = kind(document)
    found: list[bool | Refused] = []
    for value in values:
        try:
            found.append(bool(validator.is_valid(value)))
        except Exception as error:  # It resolves late, recurses, and overflows.
            found.append(Refused(f"{type(error).__name__}: {error}"[:300]))
    return found


class Ajv:
    """Ajv, in a Node process that is kept."""

    def __init__(self) -> None:
        node = _node()
        command = node.node_command(HERE / "ajv.mjs", source=HERE)
        self._process: subprocess.Popen[str] = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __call__(self, dialect: int, document: Json, values: list[Json]) -> Judged:
        """Return what it says."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        asked = json.dumps({"dialect": dialect, "schema": document, "values": values})
        self._process.stdin.write(asked + "\n")
        self._process.stdin.flush()
        said = json.loads(self._process.stdout.readline())
        return Refused(said["refused"]) if "refused" in said else said["verdicts"]

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def _node() -> Any:
    spec = importlib.util.spec_from_file_location(
        "scripts_node", HERE.parent.parent / "scripts" / "node.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
