"""Which dialect a document speaks, and the official metaschemas, which the engine carries."""

from __future__ import annotations

import functools
from collections.abc import Mapping

import jsonschema_rs

from anyshape.dialects import (
    DEFAULT_DIALECT,
    DIALECTS,
    SUPPORTED,
    Applicator,
    Dialect,
    Form,
    Step,
    find_dialect,
)
from anyshape.errors import InvalidSchema, UnsupportedDialect
from anyshape.schema._json import is_object

__all__ = [
    "DEFAULT_DIALECT",
    "DIALECTS",
    "SUPPORTED",
    "Applicator",
    "Dialect",
    "Form",
    "Step",
    "dialect_of",
    "find_dialect",
    "is_metaschema",
    "metaschema_documents",
]


def dialect_of(document: object, *, default: Dialect = DEFAULT_DIALECT, path: str = "") -> Dialect:
    """Return the dialect that `document`, a resource found at `path`, declares.

    Raises `UnsupportedDialect` for any other, and for a `$schema` that is not a string.
    """
    if not is_object(document) or "$schema" not in document:
        return default
    declared = document["$schema"]
    if isinstance(declared, str):
        found = find_dialect(declared)
        if found is not None:
            return found
    shown = repr(declared) if len(repr(declared)) <= 80 else repr(declared)[:79] + "…"
    raise UnsupportedDialect(
        f"$schema is {shown}; supported are {', '.join(SUPPORTED)}. Leave $schema out for 2020-12",
        dialect=declared,
        supported=SUPPORTED,
        path=f"{path}/$schema",
    )


@functools.cache
def metaschema_documents(dialect: Dialect) -> Mapping[str, dict[str, object]]:
    """Return the official metaschema of `dialect` and its vocabularies, by URI without fragment.

    The engine carries them; bundling references to them brings them to light. The metaschema refers
    to all but one, the vocabulary that asserts formats.
    """
    references: list[object] = [{"$ref": dialect.uri}]
    if dialect is DEFAULT_DIALECT:
        references.append({"$ref": "https://json-schema.org/draft/2020-12/meta/format-assertion"})
    bundled = jsonschema_rs.bundle({"$schema": dialect.uri, "allOf": references}, offline=True)
    container = bundled.get("$defs", bundled.get("definitions"))
    if not is_object(container):
        raise InvalidSchema(f"the engine has no metaschema for {dialect.uri}")
    return {uri.removesuffix("#"): found for uri, found in container.items() if is_object(found)}


def is_metaschema(uri: str) -> Dialect | None:
    """Return the dialect whose official metaschema or vocabulary has this URI (no fragment)."""
    if not uri.startswith(("http://json-schema.org/", "https://json-schema.org/")):
        return None
    for dialect in DIALECTS:
        if uri in metaschema_documents(dialect):
            return dialect
    return None
