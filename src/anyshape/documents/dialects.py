"""The dialects of JSON Schema that Anyshape speaks, as data: where subschemas stand in them.

2020-12 is the default (MCP, "JSON Schema Usage"); the others are spoken when `$schema` names them.
Walkers ask these tables instead of knowing keywords, so that text inside `const`, `enum`, `default`
or a property that happens to be called `$ref` is never taken for a schema. Both the schema core
and the protocol's shapes read them, so they stand below both.
"""

from __future__ import annotations

import enum
from collections.abc import Container, Mapping

import msgspec


class Form(enum.Enum):
    """How a keyword's value holds subschemas."""

    ONE = enum.auto()
    LIST = enum.auto()
    MAP = enum.auto()
    ONE_OR_LIST = enum.auto()
    """`items` before 2020-12."""
    MAP_OR_NAMES = enum.auto()
    """`dependencies`: each value is a subschema or a list of property names."""


class Step(enum.Enum):
    """What part of the instance a keyword's subschemas are applied to."""

    IN_PLACE = enum.auto()
    PROPERTY = enum.auto()
    """The property of that name."""
    PATTERN = enum.auto()
    """Properties whose name matches."""
    ADDITIONAL = enum.auto()
    """Properties that `properties` and `patternProperties` beside it leave."""
    EVERY_PROPERTY = enum.auto()
    """Any property, as far as can be told from the schema alone (`unevaluatedProperties`)."""
    NAME = enum.auto()
    """The names of the properties."""
    ITEM = enum.auto()
    """The item at that index."""
    REST = enum.auto()
    """Items from an index on."""
    NOWHERE = enum.auto()
    """Nothing: definitions, and annotations such as `contentSchema`."""


class Applicator(msgspec.Struct, frozen=True):
    """A keyword that holds subschemas."""

    form: Form
    step: Step


class Dialect(msgspec.Struct, frozen=True, eq=False):
    """One dialect: its name, the URI of its metaschema, and its tables."""

    name: str
    uri: str
    applicators: Mapping[str, Applicator]
    id_keyword: str
    references: tuple[str, ...]
    anchors: tuple[str, ...]
    reference_hides_siblings: bool
    """Whether everything beside a `$ref` is void, and an id may be a mere fragment, an anchor."""
    lacks: frozenset[str] = frozenset()
    """Keywords of 2020-12 that mean nothing here, beside those that hold subschemas."""
    lacks_formats: frozenset[str] = frozenset()
    """Formats of 2020-12 that mean nothing here."""
    asserts_content: bool = False
    """Whether `contentEncoding` and `contentMediaType` judge a value."""
    integers_may_have_fractions: bool = True
    """Whether a number such as 1.0 is an integer."""

    def __repr__(self) -> str:
        """Return the name."""
        return f"<Dialect {self.name}>"

    def __reduce__(self) -> tuple[object, ...]:
        """Stay the same object in another process: dialects are told apart by identity."""
        return find_dialect, (self.uri,)

    def hides_siblings_in(self, schema: Container[str]) -> bool:
        """Tell whether all of a schema but its `$ref` is void."""
        return self.reference_hides_siblings and "$ref" in schema

    @property
    def metaschema_uri(self) -> str:
        """The URI without its empty fragment, as references resolve to it."""
        return self.uri.removesuffix("#")


_IN_PLACE_LIST = Applicator(Form.LIST, Step.IN_PLACE)
_IN_PLACE_ONE = Applicator(Form.ONE, Step.IN_PLACE)
_DEFINITIONS = Applicator(Form.MAP, Step.NOWHERE)

_DRAFT_4 = {
    "allOf": _IN_PLACE_LIST,
    "anyOf": _IN_PLACE_LIST,
    "oneOf": _IN_PLACE_LIST,
    "not": _IN_PLACE_ONE,
    "dependencies": Applicator(Form.MAP_OR_NAMES, Step.IN_PLACE),
    "properties": Applicator(Form.MAP, Step.PROPERTY),
    "patternProperties": Applicator(Form.MAP, Step.PATTERN),
    "additionalProperties": Applicator(Form.ONE, Step.ADDITIONAL),
    "items": Applicator(Form.ONE_OR_LIST, Step.REST),
    "additionalItems": Applicator(Form.ONE, Step.REST),
    "definitions": _DEFINITIONS,
}
_DRAFT_6 = _DRAFT_4 | {
    "contains": Applicator(Form.ONE, Step.REST),
    "propertyNames": Applicator(Form.ONE, Step.NAME),
}
_DRAFT_7 = _DRAFT_6 | {"if": _IN_PLACE_ONE, "then": _IN_PLACE_ONE, "else": _IN_PLACE_ONE}
_DRAFT_2019_09 = _DRAFT_7 | {
    "$defs": _DEFINITIONS,
    "dependentSchemas": Applicator(Form.MAP, Step.IN_PLACE),
    "unevaluatedProperties": Applicator(Form.ONE, Step.EVERY_PROPERTY),
    "unevaluatedItems": Applicator(Form.ONE, Step.REST),
    "contentSchema": Applicator(Form.ONE, Step.NOWHERE),
}
_DRAFT_2020_12 = {
    name: how for name, how in _DRAFT_2019_09.items() if name != "additionalItems"
} | {
    "prefixItems": Applicator(Form.LIST, Step.ITEM),
    "items": Applicator(Form.ONE, Step.REST),
}

_SINCE_2019_09 = frozenset(("dependentRequired", "maxContains", "minContains"))
_SINCE_DRAFT_7 = _SINCE_2019_09 | {"contentEncoding", "contentMediaType"}
_FORMATS_SINCE_2019_09 = frozenset(("duration", "uuid"))
_FORMATS_SINCE_DRAFT_7 = _FORMATS_SINCE_2019_09 | {
    *("idn-hostname", "iri", "iri-reference", "relative-json-pointer")
}
_FORMATS_SINCE_DRAFT_6 = _FORMATS_SINCE_DRAFT_7 | {
    *("json-pointer", "uri-reference", "uri-template")
}

DIALECTS = (
    Dialect(
        name="2020-12",
        uri="https://json-schema.org/draft/2020-12/schema",
        applicators=_DRAFT_2020_12,
        id_keyword="$id",
        references=("$ref", "$dynamicRef"),
        anchors=("$anchor", "$dynamicAnchor"),
        reference_hides_siblings=False,
    ),
    Dialect(
        name="2019-09",
        uri="https://json-schema.org/draft/2019-09/schema",
        applicators=_DRAFT_2019_09,
        id_keyword="$id",
        references=("$ref", "$recursiveRef"),
        anchors=("$anchor",),
        reference_hides_siblings=False,
    ),
    Dialect(
        name="draft-07",
        uri="http://json-schema.org/draft-07/schema#",
        applicators=_DRAFT_7,
        id_keyword="$id",
        references=("$ref",),
        anchors=(),
        reference_hides_siblings=True,
        lacks=_SINCE_2019_09,
        lacks_formats=_FORMATS_SINCE_2019_09,
        asserts_content=True,
    ),
    Dialect(
        name="draft-06",
        uri="http://json-schema.org/draft-06/schema#",
        applicators=_DRAFT_6,
        id_keyword="$id",
        references=("$ref",),
        anchors=(),
        reference_hides_siblings=True,
        lacks=_SINCE_DRAFT_7,
        lacks_formats=_FORMATS_SINCE_DRAFT_7,
    ),
    Dialect(
        name="draft-04",
        uri="http://json-schema.org/draft-04/schema#",
        applicators=_DRAFT_4,
        id_keyword="id",
        references=("$ref",),
        anchors=(),
        reference_hides_siblings=True,
        lacks=_SINCE_DRAFT_7 | {"const"},
        lacks_formats=_FORMATS_SINCE_DRAFT_6,
        integers_may_have_fractions=False,
    ),
)
DEFAULT_DIALECT = DIALECTS[0]
SUPPORTED = tuple(dialect.uri for dialect in DIALECTS)

_BY_URI = {dialect.metaschema_uri: dialect for dialect in DIALECTS}


def find_dialect(uri: str) -> Dialect | None:
    """Return the dialect whose metaschema has this URI, with or without an empty fragment."""
    return _BY_URI.get(uri.removesuffix("#"))
