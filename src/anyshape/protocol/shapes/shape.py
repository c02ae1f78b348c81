"""What one revision makes of tools and results: data per revision, the same functions for all.

Everything is decided when a tool is defined; a result encoder only joins bytes. The value comes
serialized, is never parsed again, and its text mirror is that same text, quoted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

import msgspec

from anyshape.documents.positions import Node
from anyshape.protocol.clients import NOTHING, Need, Needs
from anyshape.protocol.completed import SERVER_INFO_KEY, opening, server_meta
from anyshape.protocol.description import ToolDescription
from anyshape.protocol.encoding import encode_data
from anyshape.protocol.meta import SERVER_INFO
from anyshape.protocol.result import Absent, EncodedResult
from anyshape.protocol.revision import Revision
from anyshape.protocol.shapes.blocks import block_adapter
from anyshape.protocol.shapes.booleans import without_booleans
from anyshape.protocol.shapes.entries import add_rest, add_words
from anyshape.protocol.shapes.family import Family, OutputSchema, ShapeOptions
from anyshape.protocol.shapes.folding import fold_root, name_properties

Encode: TypeAlias = Callable[[EncodedResult], bytes]
"""From a natural result to the JSON text of the `result` member of its answer."""

_decode_members: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_OPTIONS: Final = ShapeOptions()


class Shape(msgspec.Struct, frozen=True):
    """The form that tools and results take at one revision."""

    revision: Revision
    family: Family

    def output_schema(
        self,
        schema: OutputSchema,
        options: ShapeOptions = _OPTIONS,
        needs: Needs = NOTHING,
    ) -> Node | Absent:
        """Return a natural output schema as this revision lists it."""
        return self.family.output_schema(schema, options, needs)

    def input_schema(self, schema: Node, needs: Needs = NOTHING) -> Node:
        """Return an input schema as this revision lists it."""
        if Need.FOLDED_ROOT in needs:
            schema = fold_root(schema)
        if self.revision.is_natural:
            return schema
        if Need.NAMED_PROPERTIES in needs:
            schema = name_properties(schema)
        if "properties" not in schema:
            # It says nothing, but a client that misses it loses every tool (smolagents).
            schema = {**schema, "properties": {}}
        return without_booleans(schema)

    def entry(
        self,
        tool: ToolDescription,
        options: ShapeOptions = _OPTIONS,
        needs: Needs = NOTHING,
    ) -> dict[str, Any]:
        """Return the `tools/list` entry of a tool, with the fields this revision knows.

        `needs` are those of the client, as far as `family.listing_needs` has them.
        """
        revision = self.revision
        entry: dict[str, Any] = {"name": tool.name}
        add_words(entry, tool, revision)
        if Need.DESCRIPTION in needs:
            entry.setdefault("description", "")
        entry["inputSchema"] = self.input_schema(tool.input_schema, needs)
        output_schema = self.output_schema(tool.output_schema, options, needs)
        if not isinstance(output_schema, Absent):
            entry["outputSchema"] = output_schema
        annotations = self._annotations(tool)
        if annotations is not None:
            entry["annotations"] = annotations
        add_rest(entry, tool, revision)
        return entry

    def _annotations(self, tool: ToolDescription) -> dict[str, Any] | None:
        if not self.revision.has_tool_annotations:
            return None
        if tool.title is not None and not self.revision.has_titles:
            # The one place this revision has for a title.
            return {"title": tool.title, **(tool.annotations or {})}
        return None if tool.annotations is None else dict(tool.annotations)

    def result_encoder(
        self,
        output_schema: OutputSchema,
        options: ShapeOptions = _OPTIONS,
        server_info: bytes | None = None,
    ) -> Encode:
        """Return the function that gives each result of a tool the form of this revision."""
        start = opening(self.revision)
        if not self.revision.is_modern:
            server_info = None
        carry = self.family.carrier(output_schema, options)
        mirrors_objects = options.mirror_objects or not self.revision.is_natural
        raw_strings = options.raw_strings or not self.revision.is_natural
        adapt = block_adapter(self.revision)
        plain_meta = b"" if server_info is None else b',"_meta":%b' % server_meta(server_info)
        mirroring = start + b'"content":[{"type":"text","text":'
        ending = plain_meta + b"}"

        # Joined, not formatted, for the sake of large values: see `encode_response`.
        def encode(result: EncodedResult) -> bytes:
            structured, blocks = result.structured, result.content
            carried = quoted = b""
            if structured is not None:
                carried = carry(structured, result.is_error)
                first = structured[:1]
                if mirrors_objects or first != b"{":
                    # The JSON text of a string is that string, quoted.
                    is_raw = raw_strings and first == b'"'
                    quoted = structured if is_raw else encode_data(structured.decode())
                    if not (blocks or result.is_error or result.meta):
                        # A value and nothing else, as nearly all results are.
                        return b"".join((mirroring, quoted, b"}]", carried, ending))
            if adapt is not None and blocks:
                blocks = tuple(map(adapt, blocks))
            if quoted and not result.has_mirror:
                mirror = b'{"type":"text","text":' + quoted + b"}"
                if mirror not in blocks:
                    blocks = (*blocks, mirror)
            failed = b',"isError":true' if result.is_error else b""
            meta = plain_meta if result.meta is None else _joined_meta(result.meta, server_info)
            return b"".join(
                (start, b'"content":[', b",".join(blocks), b"]", carried, failed, meta, b"}")
            )

        return encode


def _joined_meta(meta: bytes, server_info: bytes | None) -> bytes:
    # The author's own word counts, and only as a key of the object itself.
    if server_info is None or (SERVER_INFO_KEY in meta and SERVER_INFO in _decode_members(meta)):
        return b',"_meta":%b' % meta
    if meta == b"{}":
        return b',"_meta":%b' % server_meta(server_info)
    return b',"_meta":{%b:%b,%b' % (SERVER_INFO_KEY, server_info, meta[1:])
