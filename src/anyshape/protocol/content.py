"""The blocks a result's `content` is made of.

https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-result
Each is a frozen value; `wire()` is its JSON form with `type` first, and `read_content` comes back
from that form without ever failing: what it does not recognise is an `UnknownContent`.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import InitVar, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, TypeAlias, TypedDict, cast

from anyshape.errors import NotJson
from anyshape.moved import CONTENT_SETTINGS
from anyshape.protocol.encoding import encode_data
from anyshape.protocol.icons import Icon, published_icons, received_icons


class Annotations(TypedDict, total=False):
    """Who a block is for and how much it matters, as it stands on the wire."""

    audience: list[Literal["user", "assistant"]]
    priority: float
    lastModified: str


class RefusesMovedKeywords:
    """Refuses keywords that `mcp` and FastMCP have for such a class, and says what to write."""

    __slots__ = ()

    if not TYPE_CHECKING:

        def __new__(cls, *_: object, **given: object) -> RefusesMovedKeywords:
            """Raise `TypeError` for such a keyword."""
            for name in given:
                if name in CONTENT_SETTINGS:
                    raise TypeError(f"{cls.__name__}() takes no {name}=; {CONTENT_SETTINGS[name]}")
            return super().__new__(cls)


@dataclass(frozen=True, slots=True)
class Text:
    """Words for the model or the user."""

    text: str
    annotations: Annotations | Mapping[str, Any] | None = None
    meta: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        """Refuse what no client could read."""
        _expect(self, "text", str, "a string")

    def wire(self) -> dict[str, Any]:
        """Return the JSON form."""
        return _with_common({"type": "text", "text": self.text}, self.annotations, self.meta)


@dataclass(frozen=True, slots=True)
class Media(RefusesMovedKeywords):
    """What pictures and sounds have in common; `data` is bytes, not base64."""

    kind: ClassVar[str]
    """The `type` of the block, and what its media type begins with."""

    data: bytes
    mime_type: str = ""
    annotations: Annotations | Mapping[str, Any] | None = None
    meta: Mapping[str, Any] | None = None
    format: InitVar[str | None] = None

    def __post_init__(self, format: str | None) -> None:
        """Refuse what no client could read; set the media type that a format stands for."""
        _expect(self, "data", (bytes, bytearray, memoryview), "bytes")
        _expect(self, "mime_type", str, "a string")
        if format is not None and not self.mime_type:
            name = _FORMATS.get(format.lower(), format.lower())
            object.__setattr__(self, "mime_type", f"{self.kind}/{name}")
        if not self.mime_type:
            raise TypeError(
                f"{type(self).__name__} needs a mime_type, such as '{self.kind}/…', or a format="
            )

    def wire(self) -> dict[str, Any]:
        """Return the JSON form."""
        wire = {"type": self.kind, "data": _to_base64(self.data), "mimeType": self.mime_type}
        return _with_common(wire, self.annotations, self.meta)


class Image(Media):
    """A picture; `data` is its bytes, not base64.

    `format` may be given in place of `mime_type`: `png` stands for `image/png`.
    """

    __slots__ = ()
    kind = "image"


class Audio(Media):
    """Sound; `data` is its bytes, not base64.

    `format` may be given in place of `mime_type`: `wav` stands for `audio/wav`.
    """

    __slots__ = ()
    kind = "audio"


@dataclass(frozen=True, slots=True)
class ResourceLink:
    """A resource that the client may fetch; icons whose address is not safe are not sent."""

    uri: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size: int | None = None
    icons: Sequence[Icon | Mapping[str, Any]] | None = None
    annotations: Annotations | Mapping[str, Any] | None = None
    meta: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        """Refuse what no client could read."""
        _expect(self, "uri", str, "a string")
        _expect(self, "name", str, "a string")

    def wire(self) -> dict[str, Any]:
        """Return the JSON form."""
        wire: dict[str, Any] = {"type": "resource_link", "uri": self.uri, "name": self.name}
        if self.title is not None:
            wire["title"] = self.title
        if self.description is not None:
            wire["description"] = self.description
        if self.mime_type is not None:
            wire["mimeType"] = self.mime_type
        if self.size is not None:
            wire["size"] = self.size
        if self.icons is not None:
            wire["icons"] = published_icons(self.icons)
        return _with_common(wire, self.annotations, self.meta)


@dataclass(frozen=True, slots=True)
class EmbeddedResource:
    """The contents of a resource: `text`, or the bytes of `blob`.

    `meta` belongs to the block, `resource_meta` to the resource inside it.
    """

    uri: str
    text: str | None = None
    blob: bytes | None = None
    mime_type: str | None = None
    annotations: Annotations | Mapping[str, Any] | None = None
    meta: Mapping[str, Any] | None = None
    resource_meta: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        """Refuse a resource that has no contents, or two, and what no client could read."""
        _expect(self, "uri", str, "a string")
        _expect(self, "text", (str, type(None)), "a string")
        _expect(self, "blob", (bytes, bytearray, memoryview, type(None)), "bytes")
        if (self.text is None) == (self.blob is None):
            raise ValueError("an EmbeddedResource has either text or blob; give exactly one")

    def wire(self) -> dict[str, Any]:
        """Return the JSON form."""
        resource: dict[str, Any] = {"uri": self.uri}
        if self.mime_type is not None:
            resource["mimeType"] = self.mime_type
        if self.blob is not None:
            resource["blob"] = _to_base64(self.blob)
        else:
            resource["text"] = self.text
        if self.resource_meta is not None:
            resource["_meta"] = dict(self.resource_meta)
        wire: dict[str, Any] = {"type": "resource", "resource": resource}
        return _with_common(wire, self.annotations, self.meta)


@dataclass(frozen=True, slots=True)
class UnknownContent:
    """A block that came from a peer and is none of the types above, kept as it came."""

    json: Any

    def wire(self) -> Any:
        """Return the block as it came."""
        return self.json


Content: TypeAlias = Text | Image | Audio | ResourceLink | EmbeddedResource | UnknownContent
"""Any content block."""

CONTENT_TYPES: Final = (Text, Image, Audio, ResourceLink, EmbeddedResource, UnknownContent)
"""The classes of content blocks."""


def content_blocks(content: Sequence[Content | str] | Content) -> tuple[Content, ...]:
    """Return content as blocks, strings as `Text`; `TypeError` for what can be neither."""
    given = (content,) if isinstance(content, (str, *CONTENT_TYPES)) else content
    blocks = tuple(Text(block) if isinstance(block, str) else block for block in given)
    for block in blocks:
        if not isinstance(cast("object", block), CONTENT_TYPES):
            raise TypeError(
                f"content has to be Text, Image and the like, got {type(block).__name__}"
            )
    return blocks


def encode_content(block: Content) -> bytes:
    """Return the JSON text of a block."""
    if type(block) is Text and block.annotations is None and block.meta is None:
        return encode_text(block.text)
    try:
        return encode_data(block.wire())
    except UnicodeEncodeError:
        raise NotJson(f"{type(block).__name__} holds a lone surrogate; JSON text cannot") from None
    except TypeError as error:
        raise NotJson(f"{type(block).__name__} holds what is not JSON: {error}") from None


def encode_text(text: str) -> bytes:
    """Return the JSON text of a text block that is nothing but text."""
    try:
        return b'{"type":"text","text":%b}' % encode_data(text)
    except UnicodeEncodeError:
        raise NotJson("Text holds a lone surrogate; JSON text cannot") from None


def read_content(wire: object) -> Content:
    """Return the block that a peer's JSON stands for; an unusual one is `UnknownContent`."""
    if isinstance(wire, dict):
        block = cast("dict[str, Any]", wire)
        kind = block.get("type")
        reader = _READERS.get(kind) if isinstance(kind, str) else None
        if reader is not None:
            try:
                return reader(block)
            except (KeyError, TypeError, ValueError, binascii.Error):
                pass
    return UnknownContent(wire)


def _read_text(block: dict[str, Any]) -> Content:
    return Text(_string(block["text"]), _object(block, "annotations"), _object(block, "_meta"))


def _read_media(block: dict[str, Any]) -> Content:
    return _MEDIA[block["type"]](
        _from_base64(block["data"]),
        _string(block["mimeType"]),
        _object(block, "annotations"),
        _object(block, "_meta"),
    )


def _read_resource_link(block: dict[str, Any]) -> Content:
    return ResourceLink(
        uri=_string(block["uri"]),
        name=_string(block["name"]),
        title=_optional_string(block, "title"),
        description=_optional_string(block, "description"),
        mime_type=_optional_string(block, "mimeType"),
        size=_optional_integer(block, "size"),
        icons=_optional_icons(block),
        annotations=_object(block, "annotations"),
        meta=_object(block, "_meta"),
    )


def _read_resource(block: dict[str, Any]) -> Content:
    resource = block["resource"]
    if not isinstance(resource, dict):
        raise TypeError
    contents = cast("dict[str, Any]", resource)
    text = contents.get("text")
    blob = contents.get("blob")
    return EmbeddedResource(
        uri=_string(contents["uri"]),
        text=None if text is None else _string(text),
        blob=None if blob is None else _from_base64(blob),
        mime_type=_optional_string(contents, "mimeType"),
        annotations=_object(block, "annotations"),
        meta=_object(block, "_meta"),
        resource_meta=_object(contents, "_meta"),
    )


_MEDIA: Final = {cls.kind: cls for cls in (Image, Audio)}
_READERS: Final = {
    "text": _read_text,
    **dict.fromkeys(_MEDIA, _read_media),
    "resource_link": _read_resource_link,
    "resource": _read_resource,
}


_FORMATS = {"jpg": "jpeg", "mp3": "mpeg", "svg": "svg+xml"}
"""Formats that the media type has another name for."""


def _expect(block: object, name: str, kinds: Any, expected: str) -> None:
    value: object = getattr(block, name)
    if not isinstance(value, kinds):
        raise TypeError(
            f"{type(block).__name__}.{name} has to be {expected}, got {type(value).__name__}"
        )


def _with_common(
    wire: dict[str, Any], annotations: Mapping[str, Any] | None, meta: Mapping[str, Any] | None
) -> dict[str, Any]:
    if annotations is not None:
        wire["annotations"] = dict(annotations)
    if meta is not None:
        wire["_meta"] = dict(meta)
    return wire


def _to_base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _from_base64(value: object) -> bytes:
    return base64.b64decode(_string(value), validate=True)


def _string(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _optional_string(block: dict[str, Any], key: str) -> str | None:
    value = block.get(key)
    return None if value is None else _string(value)


def _optional_integer(block: dict[str, Any], key: str) -> int | None:
    value = block.get(key)
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    raise TypeError


def _optional_icons(block: dict[str, Any]) -> list[dict[str, Any]] | None:
    value = block.get("icons")
    if value is None:
        return None
    if not isinstance(value, list):
        raise TypeError
    return received_icons(cast("list[object]", value))


def _object(block: dict[str, Any], key: str) -> dict[str, Any] | None:
    value = block.get(key)
    if value is None:
        return None
    if not isinstance(value, dict):
        raise TypeError
    return cast("dict[str, Any]", value)
