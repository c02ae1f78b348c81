"""Parameters that are asked for: declared, published nowhere, asked before anything is done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from pydantic import Field

from anyshape import (
    Accepted,
    Ask,
    Client,
    Context,
    Declined,
    Elicited,
    Server,
    Tool,
    ToolDefinitionError,
)
from anyshape.client import ElicitAnswer, Elicitation
from anyshape.schema import Limits
from anyshape.tools.prompt import Prompt

ERAS = ("2025-06-18", "2025-11-25", "2026-07-28")


@dataclass
class Delivery:
    street: str
    fast: bool = False


def buying(item: str) -> str:
    return f"Buy {item}?"


def toning(topic: str) -> str:
    return f"Tone of {topic}?"


def wondering(other: str) -> str:
    return f"What of {other}?"


class Answers:
    """Answers by message, and remembers what was asked."""

    def __init__(self, **answers: ElicitAnswer) -> None:
        self.answers = answers
        self.heard: list[str] = []

    def __call__(self, question: Elicitation) -> ElicitAnswer:
        self.heard.append(question.message)
        return self.answers[question.message.partition(" ")[0].strip("?").lower()]


@pytest.mark.parametrize("revision", ERAS)
async def test_all_is_asked_before_the_function_runs_once(revision: str) -> None:
    server = Server("asked")
    runs: list[Any] = []

    @server.tool
    async def order(
        item: str,
        where: Annotated[Delivery, Ask("Where to?")],
        sure: Annotated[bool, Ask(buying)],
        count: int = 1,
    ) -> str:
        runs.append((item, where, sure, count))
        return "ordered"

    answers = Answers(where={"street": "Main"}, buy={"value": True})
    async with Client(server, revision=revision, on_elicit=answers) as client:
        result = await client.call_tool("order", {"item": "tea"})
    assert result.value == "ordered"
    assert runs == [("tea", Delivery("Main"), True, 1)]
    assert answers.heard == ["Where to?", "Buy tea?"]


@pytest.mark.parametrize("revision", ERAS)
async def test_a_synchronous_function_has_its_parameters_asked_for(revision: str) -> None:
    server = Server("asked")

    @server.tool
    def delete(path: str, sure: Annotated[bool, Ask("Sure?")], context: Context) -> str:
        assert context.capabilities
        return f"{path} {sure}"

    server.tool(name="inline", inline=True)(delete)
    server.tool(name="timed", timeout=60)(delete)
    async with Client(
        server, revision=revision, on_elicit=Answers(sure={"value": False})
    ) as client:
        for name in ("delete", "inline", "timed"):
            assert (await client.call_tool(name, {"path": "a"})).value == "a False"


def test_what_is_asked_for_is_no_argument() -> None:
    def delete(path: str, /, sure: Annotated[bool, Ask("Sure?")], *, force: bool = False) -> str:
        return path

    tool = Tool.from_function(delete)
    assert tool.listing.input_schema == {
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "force": {"type": "boolean", "default": False},
        },
        "required": ["path"],
        "additionalProperties": False,
    }
    written = Tool.from_function(
        delete, input_schema={"type": "object", "properties": {"path": {}}, "required": ["path"]}
    )
    assert written.listing.input_schema["properties"] == {"path": {}}
    prompt = Prompt(delete, limits=Limits())
    assert [argument.name for argument in prompt.listing.arguments] == ["path", "force"]


async def test_a_caller_cannot_fill_in_what_the_user_is_asked_for() -> None:
    server = Server("asked")

    @server.tool
    async def delete(sure: Annotated[bool, Ask("Sure?")]) -> str:
        return f"{sure}"

    answers = Answers(sure={"value": False})
    async with Client(server, on_elicit=answers, check_arguments=False) as client:
        result = await client.call_tool("delete", {"sure": True})
    assert result.is_error
    assert answers.heard == []


@pytest.mark.parametrize("revision", ERAS)
async def test_a_user_who_does_not_answer_ends_the_call(revision: str) -> None:
    server = Server("asked")

    @server.tool
    async def delete(sure: Annotated[bool, Ask("Sure?")]) -> str:
        raise AssertionError("it was not to run")

    silences: list[tuple[ElicitAnswer, str]] = [
        ("decline", "refused to answer"),
        ("cancel", "did not answer"),
    ]
    for said, told in silences:
        answers = Answers(sure=said)
        async with Client(server, revision=revision, on_elicit=answers) as client:
            result = await client.call_tool("delete", {})
        assert result.is_error
        assert result.text == f"the user {told}: Sure?"


@pytest.mark.parametrize("revision", ERAS)
async def test_a_default_or_an_outcome_says_what_no_answer_means(revision: str) -> None:
    server = Server("asked")
    got: list[Any] = []

    @server.tool
    async def delete(
        sure: Annotated[Elicited[bool], Ask("Sure?")],
        keep: Annotated[int, Field(ge=1), Ask("Keep?")] = 3,
    ) -> None:
        got.append((sure, keep))

    answers = Answers(sure="decline", keep="cancel")
    async with Client(server, revision=revision, on_elicit=answers) as client:
        await client.call_tool("delete", {})
    answers = Answers(sure={"value": True}, keep={"value": 5})
    async with Client(server, revision=revision, on_elicit=answers) as client:
        await client.call_tool("delete", {})
    assert got == [(Declined(), 3), (Accepted(True), 5)]


@pytest.mark.parametrize("revision", ERAS)
async def test_prompts_and_resources_have_parameters_asked_for(revision: str) -> None:
    server = Server("asked")

    @server.prompt
    def write(topic: str, tone: Annotated[str, Ask(toning)]) -> str:
        return f"{topic} {tone}"

    @server.resource("notes://{id}")
    def note(id: int, pin: Annotated[int, Ask("Pin?")]) -> str:
        return f"{id} {pin}"

    answers = Answers(tone={"value": "calm"}, pin={"value": 7})
    async with Client(server, revision=revision, on_elicit=answers) as client:
        prompt = await client.get_prompt("write", {"topic": "rain"})
        assert prompt.messages[0].text == "rain calm"
        assert (await client.read_resource("notes://3")).contents[0].text == "3 7"
    assert answers.heard == ["Tone of rain?", "Pin?"]


async def test_mistakes_are_told_at_definition() -> None:
    server = Server("asked")
    with pytest.raises(ToolDefinitionError, match="parameter 'it': field 'value' cannot be in a"):

        @server.tool
        def nested(it: Annotated[dict[str, int], Ask("What?")]) -> None: ...

    with pytest.raises(ToolDefinitionError, match="its message takes 'other', which is no arg"):

        @server.tool
        def foreign(a: int, it: Annotated[int, Ask(wondering)]) -> None: ...

    with pytest.raises(TypeError, match="Ask takes a message"):
        Ask(7)  # pyright: ignore[reportArgumentType]


async def test_a_client_that_cannot_be_asked_is_told_so() -> None:
    server = Server("asked")

    @server.tool
    async def delete(sure: Annotated[bool, Ask("Sure?")]) -> str:
        return f"{sure}"

    async with Client(server, revision="2025-11-25") as client:
        assert "did not declare" in (await client.call_tool("delete", {})).text
    async with Client(server) as client:
        with pytest.raises(Exception, match="Missing required client capability") as caught:
            await client.call_tool("delete", {})
    assert getattr(caught.value, "code", None) == -32021
