"""One word, one idea: what a type is called in one module is called so in no other."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import anyshape

PACKAGE = Path(anyshape.__file__).parent
ROOMS_OF_THE_WIRE = ("server", "protocol")
LONGEST_MODULE = 450
WORDS_OF_THE_WIRE = ("io.modelcontextprotocol/", "notifications/")


def wire_modules() -> Iterator[Path]:
    for room in ROOMS_OF_THE_WIRE:
        yield from sorted((PACKAGE / room).rglob("*.py"))


def types_in(path: Path) -> Iterator[str]:
    """Yield the public classes and type aliases that a module defines at its top."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ClassDef):
            name = node.name
        elif isinstance(node, ast.AnnAssign) and "TypeAlias" in ast.unparse(node.annotation):
            name = ast.unparse(node.target)
        else:
            continue
        if not name.startswith("_"):
            yield name


def test_no_two_modules_give_a_type_the_same_name() -> None:
    homes: dict[str, list[str]] = defaultdict(list)
    for path in sorted(PACKAGE.rglob("*.py")):
        for name in types_in(path):
            homes[name].append(str(path.relative_to(PACKAGE)))
    assert {name: where for name, where in homes.items() if len(where) > 1} == {}


def test_words_of_the_wire_are_written_once() -> None:
    homes: dict[str, list[str]] = defaultdict(list)
    for path in wire_modules():
        for node in ast.walk(ast.parse(path.read_text())):
            value = node.value if isinstance(node, ast.Constant) else None
            if isinstance(value, str) and value.startswith(WORDS_OF_THE_WIRE):
                homes[value].append(path.name)
    assert {word: where for word, where in homes.items() if len(where) > 1} == {}
    assert {where for places in homes.values() for where in places} == {"meta.py", "methods.py"}


def test_every_module_can_be_read_in_one_sitting() -> None:
    lengths = {
        str(path.relative_to(PACKAGE)): len(path.read_text().splitlines())
        for path in PACKAGE.rglob("*.py")
    }
    assert {name: lines for name, lines in lengths.items() if lines > LONGEST_MODULE} == {}
