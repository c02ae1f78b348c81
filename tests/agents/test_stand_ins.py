"""A whole conversation over plain HTTP with a stand-in of each API, which checks every request."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import aiohttp
import pytest
import stand_in
from stand_in import Api
from workshop import PICTURE, SCRIPT, make_server

from anyshape import Client
from anyshape.agents import FormatName

Json = dict[str, Any]
Turn = Callable[[list[Json], Json], tuple[list[Json], list[Any]]]
"""From the messages so far and an answer to the messages with it, and what it says."""


def chat_turn(messages: list[Json], answer: Json) -> tuple[list[Json], list[Any]]:
    message = answer["choices"][0]["message"]
    return [*messages, message], message.get("tool_calls", [])


def responses_turn(messages: list[Json], answer: Json) -> tuple[list[Json], list[Any]]:
    return messages + answer["output"], answer["output"]


def anthropic_turn(messages: list[Json], answer: Json) -> tuple[list[Json], list[Any]]:
    message = {"role": "assistant", "content": answer["content"]}
    return [*messages, message], answer["content"]


def gemini_turn(messages: list[Json], answer: Json) -> tuple[list[Json], list[Any]]:
    content = answer["candidates"][0]["content"]
    return [*messages, content], content["parts"]


def bedrock_turn(messages: list[Json], answer: Json) -> tuple[list[Json], list[Any]]:
    message = answer["output"]["message"]
    return [*messages, message], message["content"]


def as_user(key: str) -> Callable[[list[Json]], list[Json]]:
    return lambda results: [{"role": "user", key: results}]


def as_they_are(results: list[Json]) -> list[Json]:
    return results


CASES: list[Any] = [
    ("openai", None, stand_in.CHAT, "/v1/chat/completions", "messages", chat_turn, as_they_are),
    ("openai-strict", None, stand_in.CHAT, "/chat/completions", "messages", chat_turn, as_they_are),
    (
        *("openai-strict", "openai-responses", stand_in.RESPONSES, "/v1/responses", "input"),
        *(responses_turn, as_they_are),
    ),
    (
        *("anthropic", None, stand_in.ANTHROPIC, "/v1/messages", "messages"),
        *(anthropic_turn, as_user("content")),
    ),
    (
        *("anthropic-strict", None, stand_in.ANTHROPIC, "/v1/messages", "messages"),
        *(anthropic_turn, as_user("content")),
    ),
    (
        *("gemini", None, stand_in.GEMINI, "/v1beta/models/g:generateContent", "contents"),
        *(gemini_turn, as_user("parts")),
    ),
    (
        *("gemini-json", None, stand_in.GEMINI, "/v1beta/models/g:generateContent", "contents"),
        *(gemini_turn, as_user("parts")),
    ),
    (
        *("bedrock", None, stand_in.BEDROCK, "/model/m/converse", "messages"),
        *(bedrock_turn, as_user("content")),
    ),
    ("mistral", None, stand_in.MISTRAL, "/v1/chat/completions", "messages", chat_turn, as_they_are),
]


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


@pytest.mark.parametrize(
    ("profile", "format", "api", "path", "key", "turn", "wrap"),
    CASES,
    ids=lambda it: it if isinstance(it, str) else "",
)
async def test_a_model_corrects_itself_and_gets_its_results(
    profile: str,
    format: FormatName | None,
    api: Api,
    path: str,
    key: str,
    turn: Turn,
    wrap: Callable[[list[Json]], list[Json]],
) -> None:
    async with Client(make_server()) as client, aiohttp.ClientSession() as http:
        tools = await client.toolbox(profile, format=format)
        defined: Json = {"tools": tools.definitions}
        if profile == "bedrock":
            defined = {"toolConfig": defined}
        messages: list[Json] = [{"role": "user", "parts": [{"text": "go"}], "content": []}]
        results: list[Any] = []
        with stand_in.stand_in(api, SCRIPT) as (url, conversation):
            for _ in range(len(SCRIPT) + 1):
                body = json.dumps({key: messages, **defined}, default=encoded)
                async with http.post(url + path, data=body) as response:
                    answer = await response.json()
                    assert response.status == 200, answer
                messages, said = turn(messages, answer)
                results = await tools.call_all(said)
                messages += wrap(results) if results else []
            corrected, final = (json.dumps(it[key]) for it in conversation.asked[1:])
    assert "/amount: expected an integer" in corrected
    assert "There is no tool 'nobody'" in corrected
    assert not results
    assert '{\\"amount\\":3,\\"note\\":\\"x\\"}' in final
    assert "inside b" in final
    assert (encoded(PICTURE) in final) is (profile != "mistral")


@pytest.mark.parametrize(
    "tool",
    [
        {"name": "a.b", "parameters": {"type": "object", "properties": {}}, "strict": False},
        {"name": "a", "parameters": {"type": "object"}, "strict": False},
        {"name": "a", "parameters": {"type": "object", "properties": {}}, "strict": True},
        {"name": "a", "parameters": {"oneOf": []}, "strict": False},
    ],
)
async def test_a_stand_in_refuses_what_the_provider_does(tool: Json) -> None:
    async with aiohttp.ClientSession() as http:
        with stand_in.stand_in(stand_in.CHAT) as (url, conversation):
            body = {"messages": [], "tools": [{"type": "function", "function": tool}]}
            async with http.post(f"{url}/v1/chat/completions", json=body) as response:
                assert response.status == 400
                assert "a" in (await response.json())["error"]["message"]
        assert not conversation.asked
