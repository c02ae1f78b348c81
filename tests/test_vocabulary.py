"""One word, one idea: what a type is called in one module is called so in no other."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import anyshape
from anyshape.protocol.headers import (
    LAST_EVENT_HEADER,
    METHOD_HEADER,
    NAME_HEADER,
    SESSION_HEADER,
    VERSION_HEADER,
)

PACKAGE = Path(anyshape.__file__).parent
LONGEST_MODULE = 450
HEADERS = (METHOD_HEADER, NAME_HEADER, SESSION_HEADER, VERSION_HEADER, LAST_EVENT_HEADER)
RESERVED = ("io.modelcontextprotocol/", "notifications/")
SPELT_OUT = {"server/incoming.py: tools/call"}
"""A `Literal` takes no name."""


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


def strings_in(path: Path) -> Iterator[str]:
    """Yield the strings of a module's code, those in bytes too, and none of its docstrings."""
    tree = ast.parse(path.read_text())
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and id(node) not in prose:
            if isinstance(node.value, str):
                yield node.value
            elif isinstance(node.value, bytes):
                yield node.value.decode("latin-1")


def test_words_of_the_wire_are_written_once() -> None:
    protocol = PACKAGE / "protocol"
    homes = {
        word.lower(): path
        for path in (protocol / "methods.py", protocol / "meta.py")
        for word in strings_in(path)
        if not word.isupper()
    }
    homes |= {word.lower(): protocol / "headers.py" for word in HEADERS}
    elsewhere = {
        f"{path.relative_to(PACKAGE)}: {word}"
        for path in PACKAGE.rglob("*.py")
        for word in strings_in(path)
        if homes.get(word.lower(), path) != path
        or (word.startswith(RESERVED) and path not in homes.values())
    }
    assert elsewhere == SPELT_OUT


def test_the_key_of_the_envelope_is_written_once() -> None:
    found = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if any('{"result"' in word for word in strings_in(path))
    }
    assert found == set()


def test_every_module_can_be_read_in_one_sitting() -> None:
    lengths = {
        str(path.relative_to(PACKAGE)): len(path.read_text().splitlines())
        for path in PACKAGE.rglob("*.py")
    }
    assert {name: lines for name, lines in lengths.items() if lines > LONGEST_MODULE} == {}
