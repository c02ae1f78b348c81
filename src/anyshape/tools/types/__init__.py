"""Annotations in the hands of the libraries that know them.

    library         what a type library answers: a schema, and a way to read or to write values
    choice          which library describes which parameter or return annotation
    python_types    types that are JSON already: strings, numbers, lists, dicts, TypedDicts
    pydantic_types  everything that pydantic understands
    msgspec_types   structs, and what else only msgspec takes

The other modules belong to one of the libraries, and nobody else imports them. Pydantic takes
longer to load than the rest of Anyshape, so its module is imported by the first tool that needs it.
"""

from anyshape.tools.types.choice import describe_parameters, describe_value
from anyshape.tools.types.library import (
    ArgumentsError,
    ParameterTypes,
    ReadArguments,
    ValueType,
    WriteValue,
)

__all__ = [
    "ArgumentsError",
    "ParameterTypes",
    "ReadArguments",
    "ValueType",
    "WriteValue",
    "describe_parameters",
    "describe_value",
]
