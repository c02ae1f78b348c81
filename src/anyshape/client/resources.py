"""The resources of a server, templates of them, and what reading one gives.

https://modelcontextprotocol.io/specification/2026-07-28/server/resources
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from anyshape.client.answers import as_list, as_object, as_string
from anyshape.client.calling import write_meta
from anyshape.client.listing import ListedFeature, common_members
from anyshape.client.quoting import shorten, show
from anyshape.client.request import ClientRequest
from anyshape.errors import ProtocolError
from anyshape.protocol.content import EmbeddedResource, read_content
from anyshape.protocol.encoding import encode_data
from anyshape.protocol.methods import RESOURCES_LIST, RESOURCES_READ, TEMPLATES_LIST

_LONGEST_URI: Final = 8_192


@dataclass(frozen=True, slots=True)
class ListedResource:
    """One resource of a server; its URI is a stranger's, and for that server to read."""

    uri: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size: int | None = None
    """Bytes of its contents, as far as the server is believed."""
    annotations: Mapping[str, Any] = field(default_factory=dict[str, Any])
    icons: Sequence[Any] = ()
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])
    entry: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)
    """The whole entry, unknown members included."""

    weight = 0


@dataclass(frozen=True, slots=True)
class ListedTemplate:
    """Resources whose URIs follow a template, by RFC 6570: `file:///{path}`."""

    uri_template: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    annotations: Mapping[str, Any] = field(default_factory=dict[str, Any])
    icons: Sequence[Any] = ()
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])
    entry: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)
    """The whole entry, unknown members included."""

    weight = 0


@dataclass(frozen=True, slots=True)
class ReadResource:
    """What reading a resource gave: its contents, or those of several."""

    contents: tuple[EmbeddedResource, ...]
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])
    raw: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)
    """The result as it stands on the wire."""

    @property
    def text(self) -> str:
        """The text of all contents, one after another, each on its own line."""
        return "\n".join(each.text for each in self.contents if each.text is not None)

    @property
    def data(self) -> bytes:
        """The bytes of all contents, one after another; text as UTF-8."""
        return b"".join(
            (each.text or "").encode() if each.blob is None else each.blob for each in self.contents
        )


def _members(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return what resources and templates have in common."""
    name = entry.get("name")
    if not isinstance(name, str) or not name:
        raise ProtocolError(f"a resource needs a name, got {show(name, 60)}")
    return {
        "name": name,
        "mime_type": as_string(entry.get("mimeType")),
        "annotations": as_object(entry.get("annotations")),
        **common_members(entry),
    }


def _admit_resource(uri: str, entry: Mapping[str, Any], light: bool) -> ListedResource:
    if not _has_scheme(uri):
        raise ProtocolError(f"uri: expected a URI with a scheme, got {show(uri, 60)}")
    size = entry.get("size")
    is_size = type(size) is int and size >= 0
    return ListedResource(uri, size=size if is_size else None, **_members(entry))


def _admit_template(template: str, entry: Mapping[str, Any], light: bool) -> ListedTemplate:
    if not template.isprintable() or template.count("{") != template.count("}"):
        raise ProtocolError(f"uriTemplate: expected a template, got {show(template, 60)}")
    return ListedTemplate(template, **_members(entry))


def _has_scheme(uri: str) -> bool:
    """Return whether a URI begins with a scheme and holds nothing that none may hold."""
    scheme, colon, _ = uri.partition(":")
    letters = scheme.replace("+", "").replace("-", "").replace(".", "")
    is_scheme = bool(colon) and letters.isascii() and letters.isalnum() and scheme[0].isalpha()
    return is_scheme and uri.isprintable() and " " not in uri


RESOURCES: Final = ListedFeature(
    noun="resource",
    capability="resources",
    member="resources",
    method=RESOURCES_LIST,
    bound="max_resources",
    admit=_admit_resource,
    key="uri",
    longest=_LONGEST_URI,
    is_optional=True,
)
TEMPLATES: Final = ListedFeature(
    noun="resource template",
    capability="resources",
    member="resourceTemplates",
    method=TEMPLATES_LIST,
    bound="max_resources",
    admit=_admit_template,
    key="uriTemplate",
    longest=_LONGEST_URI,
    is_optional=True,
)


def ask_resource(uri: str, meta: Mapping[str, Any] | None) -> ClientRequest:
    """Return the request that reads a resource."""
    members = b'"uri":%b' % encode_data(uri)
    written = write_meta(meta) if meta else b""
    return ClientRequest(RESOURCES_READ, members, uri, meta=written, repeatable=True)


def read_contents(uri: str, result: Mapping[str, Any]) -> ReadResource:
    """Return what a resource holds; `ProtocolError` if that is neither text nor base64."""
    if not isinstance(result.get("contents"), list):
        raise ProtocolError(f"resource {shorten(uri, 100)!r} gave no array of contents")
    contents: list[EmbeddedResource] = []
    for each in as_list(result["contents"]):
        read = read_content({"type": "resource", "resource": each})
        if not isinstance(read, EmbeddedResource):
            raise ProtocolError(
                f"resource {shorten(uri, 100)!r} gave contents that are neither text nor base64"
            )
        contents.append(read)
    return ReadResource(tuple(contents), meta=as_object(result.get("_meta")), raw=result)
