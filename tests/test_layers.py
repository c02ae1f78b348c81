"""The layers of the house: who may import whom, read from the imports themselves."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import anyshape

PACKAGE = Path(anyshape.__file__).parent

MAY_IMPORT = {
    "_version": set[str](),
    "addresses": set[str](),
    "decoding": set[str](),
    "typed_reading": set[str](),
    "errors": set[str](),
    "documents": {"errors"},
    "moved": set[str](),
    "resumption": set[str](),
    "schema": {"addresses", "decoding", "errors", "documents", "_version"},
    "protocol": {"decoding", "errors", "documents", "moved", "_version"},
    "tools": {
        *("decoding", "errors", "documents", "moved", "schema", "protocol", "resumption"),
        "typed_reading",
    },
    "server": {
        *("errors", "moved", "schema", "protocol", "tools", "resumption", "addresses"),
        *("_version", "decoding"),
    },
    "screening": {"errors", "documents", "schema"},
    "providers": {"errors", "documents", "schema", "protocol"},
    "agents": {"decoding", "errors", "documents", "schema", "protocol", "providers"},
    "client": {
        *("errors", "documents", "schema", "protocol", "providers", "agents", "resumption"),
        *("screening", "addresses", "_version", "decoding", "typed_reading"),
    },
}
MAY_IMPORT["gateway"] = set(MAY_IMPORT) | {"gateway"}
MAY_IMPORT["page"] = set(MAY_IMPORT) | {"page"}
ANYTHING = {"__init__", "__main__", "cli", "demo"}


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def room(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_rooms(path: Path) -> Iterator[str]:
    """Yield the room of ours that each import in `path` leads to, lazy ones included."""
    for node in ast.walk(ast.parse(path.read_text())):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: write imports in full"
            module = node.module or ""
            names = (
                [f"{module}.{alias.name}" for alias in node.names]
                if module == "anyshape"
                else [module]
            )
        for name in names:
            parts = name.split(".")
            if parts[0] == "anyshape" and len(parts) > 1:
                yield parts[1]


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_only_the_layers_below_it(path: Path) -> None:
    here = room(path)
    if here in ANYTHING:
        return
    allowed = MAY_IMPORT[here] | {here}
    assert set(imported_rooms(path)) <= allowed


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_private_rooms_are_entered_by_their_front_door(path: Path) -> None:
    here = path.relative_to(PACKAGE).parts
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("anyshape."):
            parts = (node.module or "").split(".")[1:]
            inner = [at for at, part in enumerate(parts[:-1]) if part.startswith("_")]
            assert all(here[: at + 1] == tuple(parts[: at + 1]) for at in inner), node.module


def test_every_room_is_named_in_the_plan() -> None:
    rooms = {room(path) for path in modules()}
    assert rooms <= MAY_IMPORT.keys() | ANYTHING


def test_no_drawers() -> None:
    forbidden = {"utils", "helpers", "common", "shared", "manager", "metadata", "util", "misc"}
    for path in modules():
        assert not forbidden & {
            part.removesuffix(".py") for part in path.relative_to(PACKAGE).parts
        }


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_module_waits_in_a_way_that_loses_a_cancellation(path: Path) -> None:
    # On Python 3.11 `wait_for` returns, as if nobody had cancelled it, when both happen at once.
    assert "asyncio.wait_for(" not in path.read_text(), "write: async with asyncio.timeout(…)"
