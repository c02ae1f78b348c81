"""Strangers' tools: odd names, bad schemas, a thousand of them, odd results. None costs another."""

from __future__ import annotations

import json
import re
import sys
import threading
from base64 import b64encode
from typing import Any

import pytest
from scripted import Scripted

from anyshape import Client
from anyshape.agents import Toolbox, offering
from anyshape.agents.outcome import Outcome, outcome_of
from anyshape.providers import PROFILES

Json = dict[str, Any]
OBJECT: Json = {"type": "object", "properties": {"n": {"type": "integer"}}}
ODD = [
    "a.b",
    "a/b",
    "a b",
    "a_b",
    "ä",
    "ö",
    "日本",
    "x" * 300,
    "x" * 301,
    "1",
    "-",
    "a\tb",
    "call:it",
]


async def echo(params: Json) -> Json:
    return {
        "content": [{"type": "text", "text": json.dumps([params["name"], params["arguments"]])}]
    }


@pytest.mark.parametrize("profile", PROFILES)
async def test_odd_names_lead_back_to_their_tools(profile: str) -> None:
    listed = [{"name": name, "inputSchema": OBJECT} for name in ODD]
    async with Client(Scripted(listed, echo)) as client:
        tools = await client.toolbox(profile, format="plain")
        assert len(tools) == len(ODD)
        assert not tools.left_out
        for name, tool in tools.tools.items():
            assert re.fullmatch(PROFILES[profile].tool_names, name)
            answer = await tools.call(name, tool.lowered.rewrite({"n": 1}))
            assert json.loads(answer["content"]) == [tool.tool.name, {"n": 1}]


async def test_a_thousand_tools_are_lowered_once_and_not_at_calls(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def schema(n: int) -> Json:
        return {"type": "object", "properties": {f"p{n}": {"type": "integer"}}, "required": []}

    listed = [{"name": f"tool {n}", "inputSchema": schema(n)} for n in range(1000)]
    async with Client(Scripted(listed, echo)) as client:
        tools = await client.toolbox("anthropic", format="plain")
        assert len(tools.definitions) == 1000

        def never(*_: Any) -> Any:
            raise AssertionError("lowered at a call")

        monkeypatch.setattr(offering, "lower", never)
        calls = [{"name": f"tool_{n}", "arguments": {f"p{n}": n}} for n in range(1000)]
        answers = await tools.call_all(calls)
        assert [json.loads(it["content"]) for it in answers] == [
            [f"tool {n}", {f"p{n}": n}] for n in range(1000)
        ]


async def test_a_tool_that_cannot_be_lowered_costs_no_other(caplog: Any) -> None:
    never: Json = {"type": "object", "properties": {"n": False}, "required": ["n"]}
    bad: Json = {"type": "object", "properties": {"n": {"type": "nothing"}}}
    listed: list[Json] = [
        {"name": "good", "inputSchema": OBJECT},
        {"name": "never", "inputSchema": never},
        {"name": "bad", "inputSchema": bad},
        {"name": "none", "inputSchema": 5},
    ]
    async with Client(Scripted(listed, echo)) as client:
        tools = await client.toolbox("openai-strict", format="plain")
        assert list(tools.tools) == ["good"]
        assert set(tools.left_out) == {"never", "bad", "none"}
        assert all(tools.left_out.values())
        assert {note.tool for note in tools.notes if note.kind == "left out"} == set(tools.left_out)
        answer = await tools.call("never", {})
        assert answer["is_error"]
        assert "never" in caplog.text


async def test_a_mistake_in_lowering_costs_only_its_tool(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    real = offering.lower

    def broken(schema: Any, profile: Any) -> Any:
        if "secret" in str(schema.document):
            raise KeyError("oh")
        return real(schema, profile)

    monkeypatch.setattr(offering, "lower", broken)
    listed: list[Json] = [
        {"name": "good", "inputSchema": OBJECT},
        {"name": "odd", "inputSchema": {**OBJECT, "title": "secret"}},
    ]
    async with Client(Scripted(listed, echo)) as client:
        tools = await client.toolbox("openai")
        assert list(tools.tools) == ["good"]
        assert "log" in tools.left_out["odd"]
        assert "KeyError" in caplog.text


BLOCKS: list[tuple[Any, str]] = [
    ([], "(the tool gave no output)"),
    ([{"type": "text", "text": " \n"}], "(the tool gave no output)"),
    ([{"type": "hologram", "data": 7}], '{"type":"hologram","data":7}'),
    ([{"type": "image", "data": "not base64!", "mimeType": "image/png"}], "not base64!"),
    ([{"type": "resource", "resource": {"uri": "u:x"}}], "u:x"),
]


@pytest.mark.parametrize(("content", "words"), BLOCKS)
@pytest.mark.parametrize("profile", ["openai", "anthropic", "gemini", "bedrock", "mistral"])
async def test_odd_content_is_told_in_words(profile: str, content: Any, words: str) -> None:
    async def call(params: Json) -> Json:
        return {"content": content}

    async with Client(Scripted([{"name": "odd", "inputSchema": OBJECT}], call)) as client:
        tools = await client.toolbox(profile)
        answer = json.dumps(await tools.call("odd", {}))
        assert json.dumps(words)[1:-1] in answer


PNG = b"\x89PNG\r\n\x1a\n"
PICTURES = [
    (PNG, "image/png", "image/png"),
    (PNG, "image/jpeg", "image/png"),
    (b"\xff\xd8\xff\xe0", "image/jpg", "image/jpeg"),
    (b"RIFF\0\0\0\0WEBP", "image/png", "image/webp"),
    (b"<svg/>", "image/png", None),
    (b"", "image/png", None),
]


def picture(data: bytes, media_type: str) -> Json:
    return {"type": "image", "data": b64encode(data).decode(), "mimeType": media_type}


@pytest.mark.parametrize(("data", "said", "shown"), PICTURES)
async def test_an_image_is_shown_as_what_its_bytes_are(
    data: bytes, said: str, shown: str | None
) -> None:
    async def call(params: Json) -> Json:
        return {"content": [picture(data, said)]}

    async with Client(Scripted([{"name": "draw", "inputSchema": OBJECT}], call)) as client:
        (part,) = (await (await client.toolbox("anthropic")).call("draw", {}))["content"]
    words = {"type": "text", "text": f"(image: {said}, {len(data)} bytes)"}
    assert (part if shown is None else part["source"]["media_type"]) == (shown or words)


@pytest.mark.parametrize("profile", ["anthropic", "bedrock"])
async def test_images_of_failures_are_told_in_words_where_errors_hold_only_text(
    profile: str,
) -> None:
    async def call(params: Json) -> Json:
        return {"content": [picture(PNG, "image/png")], "isError": True}

    async with Client(Scripted([{"name": "draw", "inputSchema": OBJECT}], call)) as client:
        answer = await (await client.toolbox(profile)).call("draw", {})
    (part,) = answer.get("toolResult", answer)["content"]
    assert part["text"] == "(image: image/png, 8 bytes)"


async def test_a_tool_that_cannot_be_offered_without_strict_costs_no_other() -> None:
    only_strict: Json = {
        **OBJECT,
        "if": {"properties": {"d": {"format": "date"}}},
        "then": {"properties": {"d": {"type": "string"}}},
        "unevaluatedProperties": False,
    }
    listed = [{"name": f"a{n}", "inputSchema": OBJECT} for n in range(20)]
    listed.append({"name": "odd", "inputSchema": only_strict})
    async with Client(Scripted(listed, echo)) as client:
        tools = await client.toolbox("anthropic-strict")
        assert len(tools) == 20
        assert "format" in tools.left_out["odd"]


VALUES: list[tuple[Any, list[str], str]] = [
    ({"a": 1}, ['{"a": 1}'], '{"a": 1}'),
    ({"a": 1}, ["one"], 'one\n{"a":1}'),
    ([1, 2], ["1", "2"], "1\n2"),
    (["a", "b"], ["a", "b"], "a\nb"),
    ([1, 2], ["1"], "1\n[1,2]"),
    ([], [], "[]"),
    (None, [], "null"),
    (0, [], "0"),
    (False, ["0"], "0\nfalse"),
    ("text", [], "text"),
    ("text", ['"text"'], "text"),
    ("text", ["text"], "text"),
    (2**70, [], str(2**70)),
]


@pytest.mark.parametrize(("value", "texts", "told"), VALUES)
async def test_a_value_is_told_once(value: Any, texts: list[str], told: str) -> None:
    async def call(params: Json) -> Json:
        blocks = [{"type": "text", "text": text} for text in texts]
        return {"content": blocks, "structuredContent": value}

    async with Client(Scripted([{"name": "give", "inputSchema": OBJECT}], call)) as client:
        tools = await client.toolbox("openai", format="plain")
        assert (await tools.call("give", {}))["content"] == told


async def test_text_that_cannot_be_sent_is_made_to() -> None:
    async def call(params: Json) -> Json:
        return {"content": [{"type": "text", "text": "half \ud83d of it"}], "isError": True}

    async with Client(Scripted([{"name": "half", "inputSchema": OBJECT}], call)) as client:
        tools = await client.toolbox("openai")
        for name in ("half", "ha\udcfflf"):
            assert (await tools.call(name, {}))["content"].encode()


@pytest.mark.parametrize("length", [10, 1_000_000])
async def test_a_long_result_is_not_put_into_words_on_the_event_loop(
    length: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_loop: list[bool] = []

    def recorded(result: Any) -> Outcome:
        on_loop.append(threading.current_thread() is threading.main_thread())
        return outcome_of(result)

    async def call(params: Json) -> Json:
        return {"content": [{"type": "text", "text": "x" * length}]}

    monkeypatch.setattr(sys.modules[Toolbox.__module__], "outcome_of", recorded)
    async with Client(Scripted([{"name": "long", "inputSchema": OBJECT}], call)) as client:
        tools = await client.toolbox("openai", format="plain", result_tokens=2)
        assert (await tools.call("long", {}))["content"]
    assert on_loop == [length < 1000]
