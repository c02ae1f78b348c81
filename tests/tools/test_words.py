"""What is said about a tool beside its schemas: listed as written, or refused at definition."""

from __future__ import annotations

from typing import Any

import pytest

from anyshape import Client, Icon, ResourceLink, Server
from anyshape.errors import ToolDefinitionError
from anyshape.tools import Tool


def scale(value: float) -> float:
    return value


@pytest.mark.parametrize("name", ["a b", "", "x" * 129, "naïve", "a/b"])
def test_a_name_outside_the_specification_is_refused(name: str) -> None:
    with pytest.raises(ToolDefinitionError, match="name cannot be used"):
        Tool.from_function(scale, name=name)


@pytest.mark.parametrize(
    "name", ["getUser", "DATA_EXPORT_v2", "admin.tools.list", "x" * 128, "a-b"]
)
def test_a_name_within_the_specification_is_kept(name: str) -> None:
    assert Tool.from_function(scale, name=name).listing.name == name


def test_words_about_a_tool_have_to_be_json() -> None:
    with pytest.raises(ToolDefinitionError, match="meta is not JSON"):
        Tool.from_function(scale, meta={"a": float("nan")})


def test_words_about_a_tool_are_listed() -> None:
    tool = Tool.from_function(
        scale,
        title="Scale",
        description="Scales.",
        annotations={"readOnlyHint": True},
        meta={"a": 1},
        icons=[
            {"src": "https://example.com/i.png"},
            Icon("data:image/png;base64,AA==", mime_type="image/png", sizes=["16x16"]),
        ],
    )
    assert (tool.listing.title, tool.listing.description) == ("Scale", "Scales.")
    assert tool.listing.annotations == {"readOnlyHint": True}
    assert tool.listing.meta == {"a": 1}
    assert tool.listing.icons == [
        {"src": "https://example.com/i.png"},
        {"src": "data:image/png;base64,AA==", "mimeType": "image/png", "sizes": ["16x16"]},
    ]


@pytest.mark.parametrize(
    ("words", "flaw"),
    [
        ({"name": 5}, "name cannot be used: it is no string"),
        ({"title": 5}, "title has to be a string, got int"),
        ({"title": "\ud800"}, "title is not JSON"),
        ({"description": b"x"}, "description has to be a string"),
        ({"annotations": ["readOnlyHint"]}, "annotations has to be an object, got list"),
        ({"annotations": {"readOnlyHint": "yes"}}, "readOnlyHint .* has to be true or false"),
        ({"annotations": {"title": True}}, "title in annotations has to be a string"),
        ({"meta": 5}, "meta has to be an object"),
        ({"icons": {"src": "a"}}, "icons has to be a list, got dict"),
        ({"annotations": {"read_only_hint": True}}, "write 'readOnlyHint'"),
        ({"annotations": {"readonlyHint": True}}, "write 'readOnlyHint'"),
        ({"icons": ["a"]}, "each of icons has to be an Icon, or its JSON form, got str"),
        ({"icons": [{"mimeType": "image/png"}]}, "icons: src has to be a string"),
        ({"icons": [{"src": "javascript:alert(1)"}]}, "icons: src has to be .*'javascript:alert"),
        ({"icons": [{"src": "file:///etc/passwd"}]}, "icons: src has to be an https:, http: or"),
        ({"icons": [{"src": " https://example.com"}]}, "icons: src has to be"),
        ({"timeout": "5"}, "timeout has to be a number of seconds above 0, got '5'"),
        ({"timeout": 0}, "timeout has to be a number of seconds above 0"),
    ],
    ids=str,
)
def test_a_word_that_no_client_could_read_is_refused(words: dict[str, Any], flaw: str) -> None:
    with pytest.raises(ToolDefinitionError, match=flaw):
        Tool.from_function(scale, **words)


async def test_words_changed_later_change_no_listing() -> None:
    annotations: dict[str, Any] = {"readOnlyHint": True}
    meta = {"example.com/a": [1]}
    server = Server("words")
    server.tool(annotations=annotations, meta=meta)(scale)
    annotations["readOnlyHint"] = object()
    meta["example.com/a"].append(2)
    async with Client(server) as client:
        [listed] = await client.list_tools()
    assert listed.annotations == {"readOnlyHint": True}
    assert listed.meta == {"example.com/a": [1]}


UNSAFE = ["javascript:alert(1)", "JaVaScRiPt:1", "file:///a", "ftp://a/b", "ws://a", "app://x", "a"]


@pytest.mark.parametrize("source", UNSAFE)
async def test_an_icon_of_an_unsafe_scheme_is_never_sent(source: str) -> None:
    with pytest.raises(ValueError, match=r"Icon.src has to be an https:, http: or"):
        Icon(source)
    with pytest.raises(ValueError, match="icons: src has to be an https:, http: or"):
        Server("words", icons=[{"src": source}])
    server = Server("words", icons=[Icon("https://example.com/s.png")])
    safe = Icon("https://example.com/i.png", theme="dark")

    @server.tool
    def link() -> ResourceLink:
        return ResourceLink("https://example.com", "home", icons=[{"src": source}, safe])

    async with Client(server) as client:
        [block] = (await client.call_tool("link")).raw["content"]
    assert link.__name__ == "link"
    assert block["icons"] == [{"src": "https://example.com/i.png", "theme": "dark"}]
