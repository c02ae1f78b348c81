"""Compiling and validating touch no socket, resolve no name and open no file."""

from __future__ import annotations

import subprocess
import sys

import pytest
from patience import PATIENCE

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="limits descriptors as POSIX does")

PROGRAM = r"""
import os, resource, sys
from anyshape.schema import compile
from anyshape.errors import UnresolvableReference, UnsupportedDialect
from anyshape.documents.dialects import DIALECTS

# What loads on first use loads now, before nothing can be opened any more.
for dialect in DIALECTS:
    compile({"$schema": dialect.uri, "$ref": dialect.uri}).problems({"type": 1})
compile({"pattern": "^(?!x)a"}).problems("x")
try:
    compile({"$ref": "http://example.com/"})
except UnresolvableReference:
    pass

FORBIDDEN = ("socket.", "open", "os.listdir", "os.scandir", "subprocess.", "urllib.", "http.")

def loudly(event, arguments):
    if event.startswith(FORBIDDEN):
        os.write(2, f"{event} {arguments}\n".encode())
        os._exit(70)

sys.addaudithook(loudly)  # what Python code opens
free = os.dup(0); os.close(free)
resource.setrlimit(resource.RLIMIT_NOFILE, (free, free))  # what native code opens: nothing is left

try:
    os.dup(0)
except OSError:
    pass
else:
    os._exit(71)  # the fence does not hold

REFERENCES = ("http://example.com/a", "https://127.0.0.1/a", "file:///etc/passwd", "ftp://h/a",
              "//example.com/a", "other.json", "urn:a:b", "data:application/json,{}")
PLACES = (
    lambda r: {"$ref": r}, lambda r: {"not": {"$ref": r}}, lambda r: {"$dynamicRef": r},
    lambda r: {"$defs": {"a": {"items": {"$ref": r}}}},
    lambda r: {"properties": {"x": {"$ref": r}}},
)
for reference in REFERENCES:
    for place in PLACES:
        try:
            compile(place(reference))
        except UnresolvableReference as error:
            assert error.uri
        else:
            os._exit(72)
try:
    compile({"$schema": "http://example.com/dialect"})
except UnsupportedDialect:
    pass
own = {"$id": "http://example.com/own", "$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}}
schema = compile(own)
assert schema.accepts("x") and not schema.accepts(1) and schema.problems(1)
os.write(1, b"untouched")
os._exit(0)
"""


def test_no_socket_name_or_file_is_touched_by_any_reference() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "untouched", "")
