"""What definitions cost is estimated, and descriptions are cut to fit: the same way every time."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest

from anyshape import UNSTRUCTURED, Client, Image, Server, ToolResult
from anyshape.agents import estimate_tokens
from anyshape.agents.budget import CAPS, shorten_text, trimmed
from anyshape.providers import PROFILES, check

LONG = "This is the first sentence. " + "And this explains a great many details. " * 40


def make_server(tools: int = 8) -> Server:
    server = Server("wordy")
    for n in range(tools):
        schema: dict[str, Any] = {
            "type": "object",
            "title": "Arguments",
            "properties": {
                "amount": {"type": "integer", "minimum": 1, "description": LONG},
                "description": {"type": "string", "description": "Short.", "title": "Words"},
                "where": {"type": "object", "additionalProperties": True, "description": LONG},
            },
            "required": ["amount"],
        }

        @server.tool(name=f"tool{n}", description=LONG, input_schema=schema)
        def give(arguments: dict[str, Any]) -> Any:
            return arguments

    return server


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("word", 1),
        ("internationalization", 3),
        ('{"type":"object"}', 5),
        ("123456", 2),
        ("größe", 4),
        ("日本語", 3),
        ("a b c", 3),
    ],
)
def test_the_estimate_counts_pieces_of_words(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


@pytest.mark.parametrize("most", [0, 1, 2, 40, 80, 300, 2_000])
def test_a_shortened_text_keeps_to_its_bound_and_its_beginning(most: int) -> None:
    short = shorten_text(LONG, most)
    assert len(short) <= most
    assert LONG.startswith(short.rstrip("…"))


def test_a_text_is_cut_after_a_sentence_where_one_ends() -> None:
    assert shorten_text(LONG, 40) == "This is the first sentence."
    assert shorten_text("one two three four", 10) == "one two…"
    assert shorten_text("unbreakable", 5) == "unbr…"


def test_what_lowering_added_is_kept() -> None:
    document = {"type": "integer", "title": "N", "description": f"{LONG} (minimum=1)"}
    assert trimmed(document, {LONG}, 40) == {
        "type": "integer",
        "description": "This is the first sentence. (minimum=1)",
    }
    assert trimmed({"description": LONG}, {LONG}, 0) == {}


def test_a_property_called_description_is_no_description() -> None:
    document: dict[str, Any] = {
        "properties": {"description": {"enum": ["x"]}, "title": {"const": {"title": "y"}}}
    }
    assert trimmed(document, {LONG}, 0) == document


async def test_the_budget_is_kept_and_reported() -> None:
    async with Client(make_server()) as client:
        whole = await client.toolbox("openai-strict")
        assert not whole.notes
        assert whole.tokens == estimate_tokens(
            json.dumps(whole.definitions, ensure_ascii=False, separators=(",", ":"))
        )
        for tokens in (whole.tokens - 1, whole.tokens // 2, whole.tokens // 4):
            cut = await client.toolbox("openai-strict", tokens=tokens)
            assert cut.tokens <= tokens
            assert [note.kind for note in cut.notes] == ["trimmed"]
            assert len(cut) == len(whole)
        generous = await client.toolbox("openai-strict", tokens=whole.tokens + 100)
        assert generous.definitions == whole.definitions


async def test_a_budget_that_cannot_be_kept_is_reported() -> None:
    async with Client(make_server()) as client:
        tools = await client.toolbox("openai", tokens=10)
        assert [note.kind for note in tools.notes] == ["trimmed", "over budget"]
        assert len(tools) == 8
        assert all(it["function"]["description"] for it in tools.definitions)
        assert (await tools.call("tool0", {"amount": 2}))["content"] == '{"amount":2}'


@pytest.mark.parametrize("profile", PROFILES)
async def test_what_was_cut_is_accepted_still(profile: str) -> None:
    async with Client(make_server(2)) as client:
        tools = await client.toolbox(profile, tokens=1)
        for tool in tools.tools.values():
            assert check(dict(tool.document), PROFILES[profile]) == []
        assert "minimum" in json.dumps(tools.definitions)


async def test_cutting_gives_the_same_bytes_every_time() -> None:
    texts: set[str] = set()
    for _ in range(2):
        async with Client(make_server()) as client:
            texts.add(json.dumps((await client.toolbox("gemini", tokens=500)).definitions))
    assert len(texts) == 1


def test_measures_only_ever_get_shorter() -> None:
    for before, after in pairwise(CAPS):
        for wide, narrow in zip(before, after, strict=True):
            assert wide is None or (narrow is not None and narrow <= wide)


async def said(value: Any, most: int | None) -> list[dict[str, Any]]:
    """Return the content that Claude is given for a result."""
    server = Server("talkative")

    @server.tool(output_schema=UNSTRUCTURED)
    def talk() -> ToolResult[Any]:
        return ToolResult(content=value)

    async with Client(server) as client:
        tools = await client.toolbox("anthropic", result_tokens=most)
        answer = await tools.call("talk", {}, id="1")
    return answer["content"]


async def test_a_result_is_cut_to_its_budget_and_says_so() -> None:
    whole = "word " * 10_000
    (cut, told) = [part["text"] for part in await said([whole], 100)]
    assert whole.startswith(cut)
    assert estimate_tokens(cut) <= 100
    assert told == f"(cut here: {len(whole) - len(cut):,} more characters; ask for less at a time)"
    assert [part["text"] for part in await said([whole], None)] == [whole]
    assert [part["text"] for part in await said([whole], 10_000)] == [whole]


async def test_the_budget_is_for_all_texts_of_a_result_and_leaves_pictures() -> None:
    picture = Image(b"\x89PNG\r\n\x1a\n", "image/png")
    content = await said(["one two", picture, "three four", picture, "five"], 3)
    assert [part.get("text", "picture") for part in content] == [
        *("one two", "picture", "three ", "picture"),
        "(cut here: 8 more characters; ask for less at a time)",
    ]


async def test_a_text_of_nothing_but_spaces_has_an_end() -> None:
    (cut, _) = [part["text"] for part in await said(["a" + " " * 100_000 + "b"], 50)]
    assert len(cut) < 1_000


async def test_a_budget_of_nothing_is_refused() -> None:
    async with Client(Server("s")) as client:
        with pytest.raises(ValueError, match="result_tokens"):
            await client.toolbox("openai", result_tokens=0)
