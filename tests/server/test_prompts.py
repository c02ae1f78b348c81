"""Prompts: functions whose parameters are arguments, and whose values are messages."""

from __future__ import annotations

import asyncio
import enum
import subprocess
import sys
from datetime import date
from typing import Annotated, Any, Literal

import pytest
from patience import PATIENCE, turn_until
from pydantic import BaseModel, Field

from anyshape import (
    Audio,
    Context,
    EmbeddedResource,
    Icon,
    Image,
    Message,
    ProtocolError,
    ResourceLink,
    Server,
    Text,
    ToolDefinitionError,
    ToolError,
)
from anyshape.protocol.revision import RELEASED
from anyshape.server import ServerOptions

from .asking import Asker


class Style(enum.Enum):
    SHORT = "short"
    LONG = "long"


class Range(BaseModel):
    low: int
    high: int


async def said(server: Server, name: str, **arguments: str) -> list[Any]:
    result = await Asker(server).result("prompts/get", name=name, arguments=arguments)
    return [(each["role"], each["content"]) for each in result["messages"]]


@pytest.mark.behaviour("prompts.list")
async def test_parameters_are_the_arguments_with_the_words_of_the_docstring() -> None:
    server = Server("s")

    @server.prompt(title="Review", icons=[Icon("https://a.example/i.png")], meta={"a": 1})
    def review(code: str, style: Style = Style.SHORT, ctx: Context | None = None) -> str:
        """Ask for a review.

        Args:
            code: What to review
        """
        return code

    [entry] = (await Asker(server).result("prompts/list"))["prompts"]
    assert entry == {
        "name": "review",
        "title": "Review",
        "description": "Ask for a review.",
        "arguments": [
            {"name": "code", "description": "What to review", "required": True},
            {"name": "style", "required": False},
        ],
        "icons": [{"src": "https://a.example/i.png"}],
        "_meta": {"a": 1},
    }


async def test_texts_are_converted_to_what_the_parameters_are() -> None:
    server = Server("s")
    seen: list[Any] = []

    @server.prompt
    def everything(
        word: str,
        number: int,
        ratio: float,
        flag: bool,
        style: Style,
        kind: Literal["a", 1],
        day: date,
        tags: list[str],
        range: Range,
        either: int | str,
        nothing: int | None,
    ) -> str:
        seen.extend([word, number, ratio, flag, style, kind, day, tags, range, either, nothing])
        return "done"

    await said(
        server,
        "everything",
        word="12",
        number="12",
        ratio="1e3",
        flag="true",
        style="long",
        kind="1",
        day="2026-07-28",
        tags='["x", "y"]',
        range='{"low": 1, "high": 2}',
        either="5",
        nothing="null",
    )
    assert seen == [
        "12", 12, 1000.0, True, Style.LONG, 1, date(2026, 7, 28), ["x", "y"],
        Range(low=1, high=2), "5", None,
    ]  # fmt: skip


@pytest.mark.behaviour("prompts.get")
async def test_what_a_function_returns_becomes_messages_one_for_each_block() -> None:
    server = Server("s")

    @server.prompt
    async def talk() -> list[Any]:
        return [
            "text",
            Message("answer", role="assistant"),
            Image(b"i", "image/png"),
            Message([Audio(b"a", "audio/wav"), ResourceLink("a:b", "b")]),
            EmbeddedResource("a:b", text="t"),
        ]

    @server.prompt
    def one() -> Message:
        return Message(Text("one"), "assistant")

    assert await said(server, "talk") == [
        ("user", {"type": "text", "text": "text"}),
        ("assistant", {"type": "text", "text": "answer"}),
        ("user", {"type": "image", "data": "aQ==", "mimeType": "image/png"}),
        ("user", {"type": "audio", "data": "YQ==", "mimeType": "audio/wav"}),
        ("user", {"type": "resource_link", "uri": "a:b", "name": "b"}),
        ("user", {"type": "resource", "resource": {"uri": "a:b", "text": "t"}}),
    ]
    assert await said(server, "one") == [("assistant", {"type": "text", "text": "one"})]


@pytest.mark.behaviour("prompts.errors")
@pytest.mark.parametrize("revision", RELEASED, ids=str)
async def test_wrong_arguments_are_named(revision: str) -> None:
    server = Server("s")

    @server.prompt
    def greet(name: str, times: Annotated[int, Field(ge=1)] = 1) -> str:
        return name * times

    asker = Asker(server, revision)
    for arguments, named in [
        ({}, ["name"]),
        ({"name": "a", "times": "many"}, ["times", "many"]),
        ({"name": "a", "times": "0"}, ["times"]),
        ({"times": "x", "nome": "a"}, ["name", "times", "nome"]),
        ({"name": 3}, ["name", "string"]),
    ]:
        error = await asker.error("prompts/get", name="greet", arguments=arguments)
        assert error["code"] == -32602
        for word in named:
            assert word in error["message"]
    error = await asker.error("prompts/get", name="great")
    assert error["code"] == -32602
    assert "great" in error["message"]


@pytest.mark.parametrize(
    "text", ["[" * 100_000, "\x00", "9" * 5000, '{"low": 1, "high": 2', "NaN", "é\u2028", "1,2"]
)
async def test_hostile_texts_are_refused_where_no_text_is_admitted(text: str) -> None:
    server = Server("s")

    @server.prompt
    def take(range: Range) -> str:
        return "taken"

    error = await Asker(server).error("prompts/get", name="take", arguments={"range": text})
    assert error["code"] == -32602
    assert len(error["message"]) < 1000


async def test_failures_tell_what_the_author_chose_to_tell_and_nothing_else(
    caplog: pytest.LogCaptureFixture,
) -> None:
    server = Server("s")

    @server.prompt
    def tells() -> str:
        raise ToolError("the archive is closed")

    @server.prompt
    def crashes() -> str:
        raise ProtocolError("secret", code=-32602)

    @server.prompt
    async def returns_nonsense() -> Any:
        return {"secret": 1}

    @server.prompt
    def returns_half_a_character() -> str:
        return "secret \ud800"

    asker = Asker(server)
    assert await asker.error("prompts/get", name="tells") == {
        "code": -32603,
        "message": "the archive is closed",
    }
    for name in ("crashes", "returns_nonsense", "returns_half_a_character"):
        error = await asker.error("prompts/get", name=name)
        assert error["code"] == -32603
        assert "secret" not in str(error)
        assert name in caplog.text


async def test_a_prompt_is_given_up_after_its_time() -> None:
    server = Server("s", options=ServerOptions(call_timeout=0.01))
    gone: list[bool] = []

    @server.prompt
    async def own() -> str:
        await asyncio.sleep(PATIENCE)
        return "never"

    @server.prompt(timeout=0.02)
    async def longer(context: Context) -> str:
        try:
            await asyncio.sleep(PATIENCE)
        finally:
            gone.append(context.cancelled)
        return "never"

    for name in ("own", "longer"):
        error = await Asker(server).error("prompts/get", name=name)
        assert error["code"] == -32603
        assert "seconds" in error["message"]
    assert len(gone) == 1


async def test_a_prompt_may_take_a_context_and_report_progress() -> None:
    server = Server("s")

    @server.prompt
    def slow(topic: str, context: Context) -> str:
        context.progress(1, 2)
        return f"{topic} {context.request_id}"

    asker = Asker(server)
    result = await asker.result(
        "prompts/get", id=7, name="slow", arguments={"topic": "t"}, _meta={"progressToken": "p"}
    )
    assert result["messages"][0]["content"]["text"] == "t 7"
    assert [each["params"]["progress"] for each in asker.sent] == [1]


@pytest.mark.behaviour("prompts.changed")
async def test_listeners_are_told_when_prompts_come_and_go() -> None:
    server = Server("s")
    server.prompt(name="a")(lambda: "a")
    asker = Asker(server, "2025-11-25")
    assert (await asker.shake_hands())["capabilities"]["prompts"] == {"listChanged": True}
    server.prompt(name="b")(lambda: "b")
    await turn_until(lambda: len(asker.sent) == 1)
    server.remove_prompt("a")
    await turn_until(lambda: len(asker.sent) == 2)
    assert {each["method"] for each in asker.sent} == {"notifications/prompts/list_changed"}
    assert [each["name"] for each in (await asker.result("prompts/list"))["prompts"]] == ["b"]
    with pytest.raises(KeyError):
        server.remove_prompt("a")


def test_what_cannot_be_a_prompt_is_refused_when_it_is_defined() -> None:
    server = Server("s")
    server.prompt(name="taken")(lambda: "a")
    wrong: list[dict[str, Any]] = [
        {"name": "taken"},
        {"name": "two\nlines"},
        {},
        {"name": "a", "timeout": -1},
        {"name": "a", "title": 3},
        {"name": "a", "tags": {"x"}},
    ]
    for said in wrong:
        with pytest.raises(ToolDefinitionError):
            server.prompt(**said)(lambda: "b")
    with pytest.raises(ValueError, match="role"):
        Message("a", "system")  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match="content"):
        Message([1])  # pyright: ignore[reportArgumentType]


@pytest.mark.behaviour("prompts.capability")
async def test_a_server_that_only_has_tools_answers_and_declares_nothing_of_prompts() -> None:
    asker = Asker(Server("s"))
    for method in ("prompts/list", "prompts/get", "completion/complete", "resources/list"):
        assert (await asker.error(method))["code"] == -32601
    discovered = await asker.result("server/discover")
    assert discovered["capabilities"].keys() == {"tools"}


def test_a_server_that_only_has_tools_imports_nothing_of_the_rest() -> None:
    code = """
import sys
from anyshape import Server
server = Server("s")
@server.tool
def add(a: int, b: int) -> int:
    return a + b
names = (
    *("prompt", "resource", "completion", "director", "uri_template", "texts", "messages"),
    *("request_log", "middleware"),
)
print([name for name in sys.modules if "anyshape" in name and any(word in name for word in names)])
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    assert done.stdout.strip() == "[]"
