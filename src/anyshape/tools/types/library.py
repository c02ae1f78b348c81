"""What a type library answers about annotations: a schema, and a way to read or to write values.

A library is a module with the functions of `TypeLibrary`. What it says of a tool's parameters is
one `ParameterTypes`, what it says of a return annotation is one `ValueType`; nothing else of it is
known outside its own module. `docs/internals/changing.md` tells how to add one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import msgspec

from anyshape.documents.positions import Node
from anyshape.errors import Problem
from anyshape.tools.signature import Parameter

ReadArguments: TypeAlias = Callable[[dict[str, Any], bytes | None], dict[str, Any]]
"""Makes the values of parameters, by name, of decoded arguments that the schema has accepted.

It is given the text of all arguments too, and may change the decoded ones. It raises
`ArgumentsError` for what the schema could not tell.
"""

WriteValue: TypeAlias = Callable[[Any], Any]
"""Makes JSON types of a value."""


class UnsupportedError(Exception):
    """A library has no schema for a type; the message is its reason, in one line."""


class ArgumentsError(Exception):
    """The arguments of a call do not fit; `problems` say where."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__()
        self.problems = problems

    def __str__(self) -> str:
        """Return all problems in one line."""
        return "; ".join(" ".join(str(problem).split("\n")) for problem in self.problems)

    @classmethod
    def at(cls, path: str, message: str) -> ArgumentsError:
        """Return the error for one problem that no keyword of the schema has found."""
        return cls([Problem(keyword="", path=path, message=message, schema_path="")])


class ParameterTypes(msgspec.Struct, frozen=True):
    """What is known of parameters: their schemas by JSON name, and how their values are read.

    `names` maps each JSON name to its parameter; `definitions` are what the schemas refer to under
    `$defs`. Where `read` is `None`, decoded arguments are the values.
    """

    schemas: Node
    names: dict[str, str]
    definitions: Mapping[str, Node]
    read: ReadArguments | None = None


class ValueType(msgspec.Struct, frozen=True):
    """What is known of a return annotation: its schema, and how its values are written.

    Where `write` is `None`, values are JSON types as they are.
    """

    schema: Node
    write: WriteValue | None = None


class TypeLibrary(Protocol):
    """A library that describes types of its own, which pydantic does not know."""

    FAMILY: str
    """What messages call a type of this library."""
    NOTES: str
    """What takes the place of pydantic's notes in `Annotated` for these types."""

    def claims(self, annotation: Any) -> bool:
        """Tell whether an annotation has a part that no other library describes rightly."""
        ...

    def overlooks(self, annotation: Any) -> bool:
        """Tell whether an annotation has a part that means nothing to this library."""
        ...

    def describe_parameters(
        self, parameters: Sequence[Parameter], used: Collection[str] = ()
    ) -> ParameterTypes:
        """Describe parameters, by definitions whose names are not in `used`.

        Raises `UnsupportedError` if there is no schema for one of them.
        """
        ...

    def describe_value(self, annotation: Any) -> ValueType:
        """Describe a return annotation, or raise `UnsupportedError`."""
        ...
