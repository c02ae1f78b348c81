"""Suggestions for arguments: from types, from lists and from functions."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from itertools import count
from typing import Annotated, Any, Literal

import pytest

from anyshape import Complete, Context, Server, ToolDefinitionError
from anyshape.protocol.revision import HANDSHAKE, RELEASED, Revision

from .asking import Asker


class Color(enum.Enum):
    RED = "red"
    GREEN = "green"


async def suggested(server: Server, argument: str, value: str, **given: str) -> dict[str, Any]:
    result = await Asker(server).result(
        "completion/complete",
        ref={"type": "ref/prompt", "name": "paint"},
        argument={"name": argument, "value": value},
        context={"arguments": given},
    )
    return result["completion"]


def whole(*values: str) -> dict[str, Any]:
    return {"values": list(values), "total": len(values), "hasMore": False}


async def test_types_that_offer_a_choice_complete_by_themselves() -> None:
    server = Server("s")

    @server.prompt
    def paint(
        color: Color,
        tone: Literal["light", "dark", "Lively"] | None = None,
        level: Literal[1, 2, 10] = 1,
        shiny: bool = False,
        title: str = "",
        either: Literal["a"] | int = "a",
    ) -> str:
        return "painted"

    assert await suggested(server, "color", "") == whole("red", "green")
    assert await suggested(server, "color", "G") == whole("green")
    assert await suggested(server, "tone", "li") == whole("light", "Lively")
    assert await suggested(server, "level", "1") == whole("1", "10")
    assert await suggested(server, "shiny", "f") == whole("false")
    assert await suggested(server, "title", "x") == whole()
    assert await suggested(server, "either", "") == whole()


@pytest.mark.behaviour("completion.context")
async def test_a_function_is_given_the_text_and_the_other_arguments() -> None:
    server = Server("s")

    def brands(typed: str, given: dict[str, str]) -> list[str]:
        return [f"{given.get('country', 'any')}:{typed}"]

    async def sizes(typed: str, context: Context) -> tuple[str, ...]:
        return (typed, str(context.request_id))

    @server.prompt
    def paint(
        brand: Annotated[str, "Who made it", Complete(brands)],
        size: Annotated[str, Complete(sizes)] = "",
        country: Annotated[str, Complete(["France", "Finland", "Italy"])] = "",
    ) -> str:
        return "painted"

    assert await suggested(server, "brand", "b", country="Italy") == whole("Italy:b")
    assert await suggested(server, "size", "s") == whole("s", "1")
    assert await suggested(server, "country", "f") == whole("France", "Finland")
    [prompt] = (await Asker(server).result("prompts/list"))["prompts"]
    assert prompt["arguments"][0] == {
        "name": "brand",
        "description": "Who made it",
        "required": True,
    }


@pytest.mark.behaviour("completion.values")
async def test_at_most_a_hundred_are_sent() -> None:
    server = Server("s")

    def endless(typed: str) -> Iterator[str]:
        return (str(number) for number in count())

    @server.prompt
    def paint(
        few: Annotated[str, Complete([str(number) for number in range(250)])],
        many: Annotated[str, Complete(endless)],
    ) -> str:
        return "painted"

    answer = await suggested(server, "few", "")
    assert len(answer["values"]) == 100
    assert (answer["total"], answer["hasMore"]) == (250, True)
    answer = await suggested(server, "many", "")
    assert len(answer["values"]) == 100
    assert answer["hasMore"]


@pytest.mark.behaviour("completion.errors")
async def test_what_is_not_there_is_refused() -> None:
    server = Server("s")

    @server.prompt
    def paint(color: Color) -> str:
        return "painted"

    asker = Asker(server)
    right: dict[str, Any] = {
        "ref": {"type": "ref/prompt", "name": "paint"},
        "argument": {"name": "color", "value": ""},
    }
    for wrong in (
        {"ref": {"type": "ref/prompt", "name": "draw"}},
        {"ref": {"type": "ref/resource", "uri": "a:b"}},
        {"ref": {"type": "ref/tool", "name": "paint"}},
        {"argument": {"name": "colour", "value": ""}},
        {"argument": {"name": "color", "value": 1}},
        {"context": {"arguments": {"a": 1}}},
    ):
        error = await asker.error("completion/complete", **{**right, **wrong})
        assert error["code"] == -32602


async def test_a_function_that_fails_leaks_nothing(caplog: pytest.LogCaptureFixture) -> None:
    server = Server("s")

    def crashes(typed: str) -> list[str]:
        raise LookupError("secret")

    def nonsense(typed: str) -> Any:
        return "secret"

    @server.prompt
    def paint(a: Annotated[str, Complete(crashes)], b: Annotated[str, Complete(nonsense)]) -> str:
        return "painted"

    for argument in "ab":
        error = await Asker(server).error(
            "completion/complete",
            ref={"type": "ref/prompt", "name": "paint"},
            argument={"name": argument, "value": ""},
        )
        assert error["code"] == -32603
        assert "secret" not in error["message"]
    assert "crashes()" in caplog.text


@pytest.mark.behaviour("completion.capability")
@pytest.mark.parametrize("revision", HANDSHAKE)
async def test_it_is_declared_where_something_completes_and_the_revision_has_it(
    revision: Revision,
) -> None:
    plain, completing = Server("s"), Server("s")
    plain.prompt(name="a")(lambda text="": text)

    @completing.prompt
    def paint(color: Color) -> str:
        return "painted"

    assert "completions" not in (await Asker(plain, revision).shake_hands())["capabilities"]
    declared = (await Asker(completing, revision).shake_hands())["capabilities"]
    assert ("completions" in declared) == (revision is not Revision.V2024_11_05)


@pytest.mark.parametrize("revision", RELEASED)
async def test_it_is_answered_at_every_revision(revision: Revision) -> None:
    server = Server("s")

    @server.prompt
    def paint(color: Color) -> str:
        return "painted"

    result = await Asker(server, revision).result(
        "completion/complete",
        ref={"type": "ref/prompt", "name": "paint", "title": "Paint"},
        argument={"name": "color", "value": "r"},
    )
    assert result["completion"] == whole("red")


def _of_three(a: str, b: str, c: str) -> list[str]:
    return [a, b, c]


def test_what_cannot_complete_is_refused_when_it_is_defined() -> None:
    server = Server("s")
    sources: list[Any] = [lambda: ["a"], "text", [1], _of_three]
    for source in sources:

        def paint(color: str) -> str:
            return color

        paint.__annotations__["color"] = Annotated[str, Complete(source)]
        with pytest.raises(ToolDefinitionError, match="Complete"):
            server.prompt(paint)
