"""Which library describes which parameter, and which describes what a function returns.

Types that are JSON already need no library. Of the others, those that a library claims are its own;
pydantic is asked for all the rest at once, and what it does not support is offered to the
libraries.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from anyshape.documents.positions import Node
from anyshape.errors import ToolDefinitionError
from anyshape.tools.signature import Parameter
from anyshape.tools.types import msgspec_types, python_types
from anyshape.tools.types.library import (
    ParameterTypes,
    ReadArguments,
    TypeLibrary,
    UnsupportedError,
    ValueType,
)

_LIBRARIES: tuple[TypeLibrary, ...] = (msgspec_types,)
"""The libraries beside pydantic, the first to be asked first."""


def describe_parameters(
    parameters: Sequence[Parameter], label: str, *, checked: bool = True
) -> ParameterTypes:
    """Describe the parameters of one function, each by the library that knows its type.

    With `checked`, arguments are known to satisfy the derived schemas before they are read; without
    it (the author wrote another schema) their types have yet to be found out.
    """
    try:
        described = python_types.describe_parameters(parameters)
        if checked or not any(described.schemas.values()):
            return described
    except UnsupportedError:
        pass
    described = _join(parameters, _share_out(parameters, label), label)
    if checked:
        try:
            # It took a library to describe them, but their values are JSON types as they are.
            return replace(described, read=python_types.reader(parameters))
        except UnsupportedError:
            pass
    return described


def describe_value(annotation: Any, label: str) -> ValueType:
    """Describe a return annotation by the library that knows it."""
    try:
        return python_types.describe_value(annotation)
    except UnsupportedError:
        described = _describe_by_library(annotation, label)
    if python_types.is_json(annotation):
        # It took a library to describe them, but these values are JSON types as they are.
        return ValueType(described.schema)
    return described


def _describe_by_library(annotation: Any, label: str) -> ValueType:
    library = _claimant(annotation)
    if library is not None:
        try:
            described = library.describe_value(annotation)
        except UnsupportedError as error:
            reason = "msgspec structs and pydantic models cannot contain each other"
            raise _no_schema(annotation, label, reason) from error
        if library.overlooks(annotation):
            raise _lost_notes(library, label, "returns")
        return described

    from anyshape.tools.types import pydantic_types

    try:
        return pydantic_types.describe_value(annotation)
    except UnsupportedError as error:
        library = _substitute(annotation)
        if library is None:
            raise _no_schema(annotation, label, str(error)) from error
        if library.overlooks(annotation):
            raise _unread_notes(label, "its return annotation", str(error)) from error
        return library.describe_value(annotation)


def _claimant(annotation: Any) -> TypeLibrary | None:
    return next((library for library in _LIBRARIES if library.claims(annotation)), None)


def _substitute(annotation: Any) -> TypeLibrary | None:
    """Return a library that describes what pydantic does not support."""
    for library in _LIBRARIES:
        try:
            library.describe_value(annotation)
        except UnsupportedError:
            continue
        return library
    return None


def _share_out(parameters: Sequence[Parameter], label: str) -> list[ParameterTypes]:
    """Have each library describe its share of the parameters; pydantic's comes first."""
    from anyshape.tools.types import pydantic_types

    owners: dict[str, TypeLibrary] = {}
    for parameter in parameters:
        library = _claimant(parameter.annotation)
        if library is not None:
            if library.overlooks(parameter.annotation):
                raise _lost_notes(library, label, f"parameter '{parameter.name}' is")
            owners[parameter.name] = library
    shares: list[ParameterTypes] = []
    while rest := [parameter for parameter in parameters if parameter.name not in owners]:
        try:
            shares.append(pydantic_types.describe_parameters(rest))
            break
        except UnsupportedError as error:
            parameter, reason = _find_unsupported(rest, str(error), label)
            library = _substitute(parameter.annotation)
            if library is None:
                raise ToolDefinitionError(
                    f"{label}: parameter '{parameter.name}' has no JSON Schema ({reason}); use a "
                    f"type that pydantic or msgspec understands, such as a dataclass, or bind it "
                    f"with functools.partial"
                ) from error
            if library.overlooks(parameter.annotation):
                where = f"parameter '{parameter.name}'"
                raise _unread_notes(label, where, reason) from error
            owners[parameter.name] = library
    for library in _LIBRARIES:
        share = [parameter for parameter in parameters if owners.get(parameter.name) is library]
        used = {name for described in shares for name in described.definitions}
        if share:
            try:
                shares.append(library.describe_parameters(share, used))
            except UnsupportedError as error:
                names = ", ".join(repr(parameter.name) for parameter in share)
                raise ToolDefinitionError(
                    f"{label}: parameters {names} have no JSON Schema ({error})"
                ) from error
    return shares


def _find_unsupported(
    parameters: list[Parameter], reason: str, label: str
) -> tuple[Parameter, str]:
    """Return the parameter that pydantic does not support, and why."""
    from anyshape.tools.types import pydantic_types

    for parameter in parameters:
        try:
            pydantic_types.describe_parameters([parameter])
        except UnsupportedError as error:
            return parameter, str(error)
    names = ", ".join(parameter.name for parameter in parameters)
    raise ToolDefinitionError(f"{label}: parameters {names} do not go together: {reason}")


def _join(
    parameters: Sequence[Parameter], shares: list[ParameterTypes], label: str
) -> ParameterTypes:
    """Return what the libraries say as one, in the order of the parameters."""
    if len(shares) == 1:
        return shares[0]
    found: dict[str, tuple[str, Node]] = {}
    definitions: dict[str, Node] = {}
    for described in shares:
        definitions.update(described.definitions)
        for name, parameter in described.names.items():
            found[parameter] = (name, described.schemas[name])
    schemas: Node = {}
    names: dict[str, str] = {}
    for parameter in parameters:
        name, schema = found[parameter.name]
        if name in names:
            raise ToolDefinitionError(f"{label}: two parameters are called '{name}'; change one")
        schemas[name] = schema
        names[name] = parameter.name
    return ParameterTypes(schemas, names, definitions, _read_each(shares))


def _read_each(parts: list[ParameterTypes]) -> ReadArguments:
    """Return what has each library read its own arguments."""

    def read(arguments: dict[str, Any], raw: bytes | None) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for part in parts:
            own = {name: arguments[name] for name in part.names if name in arguments}
            values.update(own if part.read is None else part.read(own, raw))
        return values

    return read


def _no_schema(annotation: Any, label: str, reason: str) -> ToolDefinitionError:
    name = getattr(annotation, "__name__", None) or str(annotation)
    return ToolDefinitionError(
        f"{label}: return type {name} has no JSON Schema ({reason}); return a type that pydantic "
        f"or msgspec understands, such as a dataclass, write output_schema=, or pass "
        f"output_schema=UNSTRUCTURED"
    )


def _lost_notes(library: TypeLibrary, label: str, what: str) -> ToolDefinitionError:
    return ToolDefinitionError(
        f"{label}: {what} {library.FAMILY}, for which notes of pydantic or annotated_types mean "
        f"nothing; use {library.NOTES}"
    )


def _unread_notes(label: str, where: str, reason: str) -> ToolDefinitionError:
    return ToolDefinitionError(
        f"{label}: {where} has notes that only pydantic reads, which does not take them ({reason})"
    )
