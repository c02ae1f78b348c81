"""JSON Schema documents as data: what everybody who walks one has to know, and nothing else.

    dialects    the dialects we speak, as tables: where subschemas stand, what names things
    json        JSON values as Python sees them, for type checkers
    pointers    JSON Pointers (RFC 6901)
    uris        resolving one URI against another (RFC 3986)
    positions   the subschemas directly inside a schema
    library     documents indexed by URI, place and anchor, and references resolved in them
    outline     every schema of one document, and what its references name
    types       the JSON types that a schema can admit
    property_types  those that one property of an object can have

It stands below the schema core, the protocol's shapes, the tools and the providers. A new dialect
is an entry in `dialects` and nothing else.
"""
