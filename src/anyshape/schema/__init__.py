"""JSON Schema documents: compile, admit, bound, validate, explain. Useful on its own.

>>> from anyshape.schema import compile
>>> schema = compile({"type": "array", "items": {"type": "integer"}})
>>> schema.accepts([1, 2, 3])
True
"""

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
from anyshape.schema._compile import compile
from anyshape.schema._cost import Cost
from anyshape.schema._limits import Limits
from anyshape.schema._remote import RemoteReferences
from anyshape.schema._schema import Schema

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
    "compile",
]
