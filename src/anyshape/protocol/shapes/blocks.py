"""Content blocks for revisions that do not know every kind of block or field.

A block that a revision's schema has no word for becomes text that says what it was; a field it has
no word for is left out. Blocks come as `encode_content` writes them, with `type` first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from anyshape.decoding import decoder
from anyshape.protocol.content import encode_text
from anyshape.protocol.encoding import encode_data
from anyshape.protocol.revision import Revision

_decode: Final = decoder(dict[str, Any])


def block_adapter(revision: Revision) -> Callable[[bytes], bytes] | None:
    """Return what makes a block fit a revision, or `None` where every block fits."""
    if revision.has_icons:
        # The latest of all that is asked for below.
        return None

    def adapt(block: bytes) -> bytes:
        if _needs_nothing(block):
            return block
        wire = _decode(block)
        kind = wire.get("type")
        if kind == "resource_link" and not revision.has_resource_links:
            return encode_text(_describe_link(wire))
        if kind == "audio" and not revision.has_audio:
            return encode_text(_describe_audio(wire))
        return encode_data(_without_unknown_fields(wire, revision))

    return adapt


def _needs_nothing(block: bytes) -> bool:
    """Return whether a block certainly is plain text or an image; false is always safe."""
    return (
        block.startswith((b'{"type":"text",', b'{"type":"image",'))
        and b'"_meta":' not in block
        and b'"lastModified":' not in block
    )


def _without_unknown_fields(wire: dict[str, Any], revision: Revision) -> dict[str, Any]:
    wire.pop("icons", None)
    if not revision.has_item_meta:
        wire.pop("_meta", None)
        resource = wire.get("resource")
        if isinstance(resource, dict):
            resource.pop("_meta", None)  # pyright: ignore[reportUnknownMemberType]
    annotations = wire.get("annotations")
    if not revision.has_last_modified and isinstance(annotations, dict):
        annotations.pop("lastModified", None)  # pyright: ignore[reportUnknownMemberType]
    return wire


def _describe_link(wire: dict[str, Any]) -> str:
    name = wire.get("title") or wire.get("name")
    line = f"{name}: {wire.get('uri')}"
    mime_type = wire.get("mimeType")
    if mime_type:
        line += f" ({mime_type})"
    description = wire.get("description")
    return f"{line}\n{description}" if description else line


def _describe_audio(wire: dict[str, Any]) -> str:
    size = len(wire.get("data") or "") * 3 // 4
    return f"[{wire.get('mimeType')}, about {size} bytes: this client cannot take audio]"
