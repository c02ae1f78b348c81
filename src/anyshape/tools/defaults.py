"""Defaults of parameters: which of them are published, and which every call needs afresh."""

from __future__ import annotations

import dataclasses
from collections.abc import MutableMapping, MutableSequence, MutableSet
from typing import Any, cast

import msgspec

from anyshape.documents.positions import Node
from anyshape.tools.signature import EMPTY
from anyshape.tools.types.msgspec_types import to_builtins


def publish_default(default: Any, described: Node) -> None:
    """Put a default into the schema of its parameter if it is JSON and the type admits it."""
    if default is EMPTY:
        return
    described.pop("default", None)  # One of the annotation, which that of the function replaces.
    if default is None and not _admits_null(described):
        return
    if default is None or type(default) in (bool, int, str):
        described["default"] = default
        return
    if isinstance(default, msgspec.Struct):
        described["default"] = to_builtins(default)
        return

    from anyshape.tools.types.pydantic_types import default_to_json

    try:
        value = default_to_json(default)
        msgspec.json.encode(value)
    except (ValueError, TypeError):
        return  # a sentinel of the author's: the parameter is optional, its default is private
    if value == value and value not in (float("inf"), float("-inf")):
        described["default"] = value


def _admits_null(schema: Node) -> bool:
    if not schema.keys() - {"description", "title", "examples"}:
        return True
    kind = schema.get("type")
    if kind is not None:
        return kind == "null" or "null" in kind
    if "enum" in schema:
        return None in schema["enum"]
    return "const" not in schema and any(
        _admits_null(member) for member in schema.get("anyOf", schema.get("oneOf", ({},)))
    )


def is_mutable(default: Any) -> bool:
    """Tell whether one call could leave something in a default for the next to find.

    This is so for known mutable values alone: copying an author's sentinel would break `is`.
    """
    if isinstance(default, tuple):
        return any(is_mutable(item) for item in cast("tuple[Any, ...]", default))
    if isinstance(default, MutableMapping | MutableSequence | MutableSet | msgspec.Struct):
        return True
    if hasattr(default, "model_copy"):
        return True
    return dataclasses.is_dataclass(default) and not isinstance(default, type)
