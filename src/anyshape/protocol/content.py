"""The blocks a result's `content` is made of.

https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-result
Each is a frozen value; `wire()` is its JSON form with `type` first, and `read_content` comes back
from that form without ever failing: what it does not recognise is an `UnknownContent`.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping, Sequence
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
        icons = None if self.icons is None else published_icons(self.icons)
        wire = _given(
            type="resource_link",
            uri=self.uri,
            name=self.name,
            title=self.title,
            description=self.description,
            mimeType=self.mime_type,
            size=self.size,
            icons=icons,
        )
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
        blob = None if self.blob is None else _to_base64(self.blob)
        given = _given(uri=self.uri, mimeType=self.mime_type, blob=blob, text=self.text)
        resource = _with_common(given, None, self.resource_meta)
        return _with_common({"type": "resource", "resource": resource}, self.annotations, self.meta)


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
    if not isinstance(cast("object", given), Iterable) or isinstance(given, Mapping):
        raise TypeError(
            f"content has to be a string, Text, Image and the like, or a list of those, got "
            f"{type(given).__name__}"
        )
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
    return Text(block["text"], *_common(block))


def _read_media(block: dict[str, Any]) -> Content:
    data = base64.b64decode(block["data"], validate=True)
    return _MEDIA[block["type"]](data, block["mimeType"], *_common(block))


def _read_resource_link(block: dict[str, Any]) -> Content:
    icons = _member(block, "icons", list)
    annotations, meta = _common(block)
    return ResourceLink(
        uri=block["uri"],
        name=block["name"],
        title=_member(block, "title", str),
        description=_member(block, "description", str),
        mime_type=_member(block, "mimeType", str),
        size=_optional_integer(block, "size"),
        icons=None if icons is None else received_icons(icons),
        annotations=annotations,
        meta=meta,
    )


def _read_resource(block: dict[str, Any]) -> Content:
    contents: dict[str, Any] = _member(block, "resource", dict) or {}
    blob = contents.get("blob")
    annotations, meta = _common(block)
    return EmbeddedResource(
        uri=contents["uri"],
        text=contents.get("text"),
        blob=None if blob is None else base64.b64decode(blob, validate=True),
        mime_type=_member(contents, "mimeType", str),
        annotations=annotations,
        meta=meta,
        resource_meta=_member(contents, "_meta", dict),
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


def _given(**members: Any) -> dict[str, Any]:
    """Return the members of a block that are there."""
    return {name: value for name, value in members.items() if value is not None}


def _member(block: dict[str, Any], key: str, kind: type) -> Any:
    """Return a member that may be missing; `TypeError` if it is of another kind."""
    value = block.get(key)
    if value is not None and not isinstance(value, kind):
        raise TypeError
    return value


def _common(block: dict[str, Any]) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    return _member(block, "annotations", dict), _member(block, "_meta", dict)


def _optional_integer(block: dict[str, Any], key: str) -> int | None:
    value = block.get(key)
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    raise TypeError
