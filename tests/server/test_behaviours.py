"""The manifest of required behaviours and the tests that prove them name each other exactly."""

from __future__ import annotations

import ast
import functools
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).parent.parent
MANIFEST: list[dict[str, Any]] = tomllib.loads((TESTS / "behaviours.toml").read_text())["behaviour"]
LINK = re.compile(
    r"https://modelcontextprotocol\.io/specification/"
    r"(2024-11-05|2025-03-26|2025-06-18|2025-11-25|2026-07-28)/[a-z0-9/_-]+(#[a-z0-9_-]+)?"
    r"|https://github\.com/modelcontextprotocol/ext-[a-z]+/blob/main/specification/draft/[a-z.]+#[a-z-]+"
)


@functools.cache
def _marked() -> dict[str, list[str]]:
    """Return the tests that carry each id, read from the sources so that no selection hides any."""
    found: dict[str, list[str]] = {}
    for path in sorted(TESTS.rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            for decorator in node.decorator_list:
                if ast.unparse(decorator).startswith("pytest.mark.behaviour("):
                    assert isinstance(decorator, ast.Call)
                    (argument,) = decorator.args
                    assert isinstance(argument, ast.Constant), f"{path}: {node.name}"
                    found.setdefault(str(argument.value), []).append(node.name)
    return found


def test_ids_are_unique_and_say_what_where() -> None:
    ids = [entry["id"] for entry in MANIFEST]
    assert len(ids) == len(set(ids))
    for entry in MANIFEST:
        assert entry.keys() == {"id", "requires", "link"}
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+(-[a-z0-9]+)*)+", entry["id"])
        assert LINK.fullmatch(entry["link"]), entry["link"]
        assert entry["requires"].endswith(".")


@pytest.mark.parametrize("id", [entry["id"] for entry in MANIFEST])
def test_every_behaviour_has_a_test(id: str) -> None:
    assert _marked().get(id), f"no test is marked behaviour({id!r})"


@pytest.mark.parametrize("name", ["test_http_wire", "test_stdio_wire", "test_specification"])
def test_every_test_of_the_wire_names_the_behaviour_it_proves(name: str) -> None:
    marked = {test for tests in _marked().values() for test in tests}
    tree = ast.parse((TESTS / "server" / f"{name}.py").read_text())
    tests = {
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
    }
    assert not tests - marked


def test_every_marked_test_names_a_behaviour_of_the_manifest() -> None:
    unknown = _marked().keys() - {entry["id"] for entry in MANIFEST}
    assert not unknown
