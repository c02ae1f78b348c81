"""JSON Schema documents: compile, admit, bound, validate, explain. Useful on its own.

>>> from anyshape.schema import compile
>>> schema = compile({"type": "array", "items": {"type": "integer"}})
>>> schema.accepts([1, 2, 3])
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from anyshape.errors import (
    InvalidSchema,
    LimitExceeded,
    NotJson,
    Problem,
    SchemaError,
    UnresolvableReference,
    UnsupportedDialect,
    ValidationError,
)
from anyshape.schema._bounds import Cost, WouldWait, aside, leave_loop
from anyshape.schema._instance import text_size
from anyshape.schema._limits import Limits
from anyshape.schema._pipeline import compile, compile_async, compile_here
from anyshape.schema._schema import Schema

if TYPE_CHECKING:
    from anyshape.schema._remote import RemoteReferences

__all__ = [
    "Cost",
    "InvalidSchema",
    "LimitExceeded",
    "Limits",
    "NotJson",
    "Problem",
    "RemoteReferences",
    "Schema",
    "SchemaError",
    "UnresolvableReference",
    "UnsupportedDialect",
    "ValidationError",
    "WouldWait",
    "aside",
    "compile",
    "compile_async",
    "compile_here",
    "leave_loop",
    "text_size",
]


def __getattr__(name: str) -> object:
    # Few fetch anything, and what it takes is no small part of this package.
    if name != "RemoteReferences":
        raise AttributeError(f"module 'anyshape.schema' has no attribute {name!r}")
    from anyshape.schema._remote import RemoteReferences

    globals()[name] = RemoteReferences
    return RemoteReferences
