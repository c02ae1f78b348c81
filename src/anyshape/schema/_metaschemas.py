"""Is a document a valid schema of its dialect, and if not, where and why not."""

from __future__ import annotations

import functools
from typing import Any

import jsonschema_rs

from anyshape.errors import InvalidSchema
from anyshape.schema._dialects import Dialect, metaschema_documents
from anyshape.schema._json import escape
from anyshape.schema._references import ROOT_URI
from anyshape.schema._sources import Reached, Sources

__all__ = ["check_document", "check_reached"]


@functools.cache
def _official(dialect: Dialect) -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for(
        {"$schema": dialect.uri, "$ref": dialect.uri}, validate_formats=False, offline=True
    )


def check_document(document: object, dialect: Dialect, uri: str = "") -> None:
    """Raise `InvalidSchema` for a document that breaks the metaschema of its dialect."""
    validator = _official(dialect)
    if not validator.is_valid(document):
        raise _invalid(validator, document, uri)


def check_reached(reached: Reached, sources: Sources) -> None:
    """Check the resources referred to, and whatever is written in a metaschema of one's own."""
    for uri, document in reached.documents.items():
        name = "" if uri == ROOT_URI else uri
        if uri != ROOT_URI:
            check_document(document, reached.spots[uri, ""].dialect, name)
        own = sources.metaschema(uri)
        if own is not None:
            # Vocabularies of other dialects than the default are not found unless they are given.
            resources: list[tuple[str, Any]] = [
                *(item for item in reached.documents.items() if item[0] != ROOT_URI),
                *metaschema_documents(sources.dialect).items(),
            ]
            validator = jsonschema_rs.validator_for(
                {"$ref": own},
                registry=jsonschema_rs.Registry(resources),
                validate_formats=False,
                offline=True,
            )
            if not validator.is_valid(document):
                raise _invalid(validator, document, name)


def _invalid(validator: jsonschema_rs.Validator, document: object, uri: str) -> InvalidSchema:
    error = max(validator.iter_errors(document), key=lambda found: len(found.instance_path))
    path = "".join(f"/{escape(str(token))}" for token in error.instance_path)
    which = f"the schema {uri}" if uri else "the schema"
    return InvalidSchema(
        f"{which} is invalid at {path or 'its root'}: {error.message[:160]}", path=path
    )
