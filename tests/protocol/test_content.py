from __future__ import annotations

import json
from typing import Any

import pytest

from anyshape.errors import NotJson
from anyshape.protocol.content import (
    Audio,
    Content,
    EmbeddedResource,
    Image,
    ResourceLink,
    Text,
    UnknownContent,
    encode_content,
    encode_text,
    read_content,
)

BLOCKS: list[Content] = [
    Text("héllo\n"),
    Text("x", annotations={"audience": ["user"], "priority": 0.5}, meta={"k": None}),
    Image(b"\x00\x01\xff", "image/png"),
    Audio(b"", "audio/wav", annotations={"priority": 1}),
    ResourceLink("file:///a", "a"),
    ResourceLink(
        "file:///a",
        "a",
        title="A",
        description="d",
        mime_type="text/plain",
        size=3,
        icons=[{"src": "https://example.com/i.png", "theme": "dark"}],
        annotations={"lastModified": "2026-07-28T00:00:00Z"},
        meta={},
    ),
    EmbeddedResource("file:///a", text="hi", mime_type="text/plain", resource_meta={"v": 1}),
    EmbeddedResource("file:///a", blob=b"\x00", meta={"k": 1}),
    UnknownContent({"type": "hologram", "data": 1}),
]


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: type(block).__name__)
def test_a_block_comes_back_from_the_wire_as_it_was(block: Content) -> None:
    assert read_content(json.loads(encode_content(block))) == block


def test_the_type_comes_first() -> None:
    assert all(
        encode_content(block).startswith(b'{"type":"')
        for block in BLOCKS
        if not isinstance(block, UnknownContent)
    )


def test_plain_text_is_encoded_alike_both_ways() -> None:
    assert encode_content(Text('a"b')) == encode_text('a"b') == b'{"type":"text","text":"a\\"b"}'


@pytest.mark.parametrize(
    "wire",
    [
        None,
        3,
        "text",
        [],
        {},
        {"type": 1},
        {"type": []},
        {"type": "text"},
        {"type": "text", "text": 1},
        {"type": "text", "text": "x", "annotations": []},
        {"type": "image", "data": "!!", "mimeType": "image/png"},
        {"type": "image", "data": "AAEC"},
        {"type": "audio", "data": 5, "mimeType": "audio/wav"},
        {"type": "resource_link", "uri": "x"},
        {"type": "resource_link", "uri": "x", "name": "y", "size": "3"},
        {"type": "resource_link", "uri": "x", "name": "y", "size": True},
        {"type": "resource_link", "uri": "x", "name": "y", "icons": 1},
        {"type": "resource", "resource": None},
        {"type": "resource", "resource": {"uri": "x"}},
        {"type": "resource", "resource": {"uri": "x", "text": "a", "blob": "AAEC"}},
        {"type": "resource", "resource": {"uri": "x", "blob": "é"}},
        {"type": "hologram"},
    ],
)
def test_an_unusual_block_is_kept_as_it_came(wire: Any) -> None:
    block = read_content(wire)
    assert block == UnknownContent(wire)
    assert block.wire() == wire


def test_an_unsafe_icon_is_dropped_whatever_stands_beside_it() -> None:
    icons = [{"src": "javascript:alert(1)"}, {"src": "https://example.com/i.png"}, {"src": 3}, 1]
    block = read_content({"type": "resource_link", "uri": "x", "name": "y", "icons": icons})
    assert block == ResourceLink("x", "y", icons=[{"src": "https://example.com/i.png"}])


def test_a_size_written_as_a_float_is_read() -> None:
    block = read_content({"type": "resource_link", "uri": "x", "name": "y", "size": 3.0})
    assert isinstance(block, ResourceLink)
    assert block.size == 3


@pytest.mark.parametrize(
    "block",
    [
        Text("\ud800"),
        Text("x", meta={"k": "\ud800"}),
        Text("x", meta={"k": object()}),
        ResourceLink("file:///\udfff", "a"),
    ],
)
def test_what_is_not_json_is_refused(block: Content) -> None:
    with pytest.raises(NotJson):
        encode_content(block)


@pytest.mark.parametrize(
    ("kind", "parts", "flaw"),
    [
        (Text, (5,), r"Text\.text has to be a string, got int"),
        (Text, (None,), r"Text\.text has to be a string, got NoneType"),
        (Image, ("AAEC", "image/png"), r"Image\.data has to be bytes, got str"),
        (Image, (b"", None), r"Image\.mime_type has to be a string"),
        (Audio, (b"", 5), r"Audio\.mime_type has to be a string"),
        (ResourceLink, (5, "a"), r"ResourceLink\.uri has to be a string"),
        (ResourceLink, ("file:///a", None), r"ResourceLink\.name has to be a string"),
        (EmbeddedResource, (None, "a"), r"EmbeddedResource\.uri has to be a string"),
        (EmbeddedResource, ("file:///a", b"a"), r"EmbeddedResource\.text has to be a string"),
    ],
)
def test_a_block_that_no_client_could_read_is_refused(
    kind: Any, parts: tuple[Any, ...], flaw: str
) -> None:
    with pytest.raises(TypeError, match=flaw):
        kind(*parts)


def test_a_resource_has_text_or_bytes() -> None:
    with pytest.raises(ValueError, match="exactly one"):
        EmbeddedResource("file:///a")
    with pytest.raises(ValueError, match="exactly one"):
        EmbeddedResource("file:///a", text="", blob=b"")
    assert EmbeddedResource("file:///a", text="").wire()["resource"]["text"] == ""
