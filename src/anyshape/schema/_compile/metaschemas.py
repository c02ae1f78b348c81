"""The official metaschemas, which the engine carries."""

from __future__ import annotations

import functools
from collections.abc import Mapping

import jsonschema_rs

from anyshape.documents.dialects import DEFAULT_DIALECT, DIALECTS, Dialect
from anyshape.documents.json import is_object
from anyshape.errors import InvalidSchema


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


def find_metaschema(uri: str) -> tuple[object, Dialect] | None:
    """Return the official metaschema or vocabulary that has this URI, and its dialect."""
    dialect = is_metaschema(uri)
    return None if dialect is None else (metaschema_documents(dialect)[uri], dialect)
