"""Whether the names in a document, and what goes by them, are the same to everybody who reads it.

What is worked out about a schema holds for the engine only if the engine, when it resolves a
reference, comes to the same place. Readers differ in where they look for identifiers, some beneath
keywords that a dialect does not have, and in which spellings of a URI they take for the same.
"""

from __future__ import annotations

from collections.abc import Collection

from anyshape.documents.dialects import Dialect
from anyshape.documents.json import is_object, parts
from anyshape.documents.library import Spot
from anyshape.documents.uris import is_plain


def is_unambiguous(
    document: object, spots: Collection[Spot], adopted: Collection[Spot], dialect: Dialect
) -> bool:
    """Tell whether any reader of `document` finds the names that a library found, and no others.

    Of the `spots`, those that were `adopted` are schemas only because something refers to them.
    """
    identifying = {"$id", "$anchor", dialect.id_keyword}
    for spot in spots:
        if any(name != "#" and name[:2] != "#/" for _, name in spot.references):
            break
        if not isinstance(spot.schema, bool) and not identifying.isdisjoint(spot.schema):
            break
    else:
        return True  # Pointers lead the same way for all, from a root that is the only one.
    known = sum([_names_itself(spot.schema, identifying) for spot in spots])
    references = {name for spot in spots for _, name in spot.references}
    if known and adopted:
        return False  # What is relative in them depends on which of the names around them count.
    names: list[object] = []
    found = 0
    for value in parts(document):
        if is_object(value) and _names_itself(value, identifying):
            found += 1
            names.extend(value[keyword] for keyword in identifying & value.keys())
    return (
        found == known
        and all(map(is_plain, references))
        # In the middle, a fragment both names a place and says where it is.
        and all(isinstance(n, str) and is_plain(n) and "#" not in n[1:-1] for n in names)
    )


def _names_itself(schema: object, identifying: set[str]) -> bool:
    if not is_object(schema) or identifying.isdisjoint(schema):
        return False
    return any(isinstance(schema.get(word), str) for word in identifying)
