"""What a function that asks its client would do again in every round."""

from __future__ import annotations

import asyncio
import re
from typing import Annotated, Any

import pytest

from anyshape import Accepted, Ask, Context
from anyshape.tools.repeats import repeated_effects


class Database:
    rows = 0

    async def insert(self, row: str) -> int:
        raise NotImplementedError

    def fetch(self) -> list[str]:
        raise NotImplementedError


db = Database()
counts: dict[str, int] = {}


async def inserts_first(context: Context) -> None:
    await db.insert("a")
    await context.elicit("Sure?")


async def inserts_between(context: Context) -> None:
    await context.elicit("Sure?")
    await db.insert("a")
    await context.sample("Sum up")


async def counts_first(name: str, ctx: Context) -> None:
    counts[name] = 1
    db.rows += 1
    await asyncio.gather(ctx.elicit("A?"), ctx.roots())


async def inserts_in_a_branch(name: str, ctx: Context) -> str:
    if name:
        await db.insert(name)
    answer = await ctx.elicit("Sure?")
    return answer.action


async def inserts_in_a_loop(ctx: Context) -> None:
    for row in db.fetch():
        answer = await ctx.elicit(f"Insert {row}?", bool)
        if isinstance(answer, Accepted) and answer.data:
            await db.insert(row)


async def inserts_and_goes_on(ctx: Context) -> None:
    for row in db.fetch():
        if row:
            await db.insert(row)
            continue
    await ctx.elicit("Sure?")


async def inserts_and_breaks_off(ctx: Context) -> None:
    while True:
        await db.insert("a")
        break
    await ctx.elicit("Sure?")


async def inserts_while_trying(ctx: Context) -> None:
    try:
        async with asyncio.timeout(1):
            await db.insert("a")
    except TimeoutError:
        raise
    else:
        await ctx.elicit("Sure?")


@pytest.mark.parametrize(
    ("function", "found"),
    [
        (inserts_first, ["await db.insert('a')"]),
        (inserts_between, ["await db.insert('a')"]),
        (counts_first, ["counts[name] = 1", "db.rows += 1"]),
        (inserts_in_a_branch, ["await db.insert(name)"]),
        (inserts_in_a_loop, ["await db.insert(row)"]),
        (inserts_and_goes_on, ["await db.insert(row)"]),
        (inserts_and_breaks_off, ["await db.insert('a')"]),
        (inserts_while_trying, ["await db.insert('a')"]),
    ],
)
def test_an_effect_before_a_question_is_found(function: Any, found: list[str]) -> None:
    lines = repeated_effects(function)
    assert len(lines) == len(found)
    for line, statement in zip(lines, found, strict=True):
        assert re.match(r"line \d+, ", line)
        assert statement in line


def test_lines_are_those_of_the_file() -> None:
    [line] = repeated_effects(inserts_first)
    first = inserts_first.__code__.co_firstlineno
    assert line.startswith(f"line {first + 1}, ")
    assert f"line {first + 2} asks" in line


async def asks_first(context: Context) -> None:
    await context.elicit("Sure?")
    await db.insert("a")


async def inserts_on_another_way(name: str, context: Context) -> str:
    if not name:
        await db.insert("nobody")
        return "nobody"
    match name:
        case "a":
            await db.insert("a")
            return "a"
        case _:
            pass
    return (await context.elicit("Sure?")).action


async def reads_and_tells(context: Context) -> None:
    rows = db.fetch()
    talk: list[str] = []
    talk.append("hello")
    seen = {"a": 1}
    seen["b"] = 2
    context.progress(1)
    await context.info("asking")
    await asyncio.sleep(0)
    print(rows)
    await context.elicit("Sure?")


async def has_it_asked_for(sure: Annotated[bool, Ask("Sure?")], context: Context) -> None:
    await db.insert("a")
    await context.progress(1)


async def defines_what_inserts(context: Context) -> None:
    async def later() -> None:
        await db.insert("a")

    await context.elicit("Sure?")
    await later()


def is_not_async(context: Context) -> None:
    counts["a"] = 1


@pytest.mark.parametrize(
    "function",
    [
        asks_first,
        inserts_on_another_way,
        reads_and_tells,
        has_it_asked_for,
        defines_what_inserts,
        is_not_async,
        len,
        eval("lambda context: context"),
    ],
)
def test_what_is_done_once_or_may_be_done_again_is_left_alone(function: Any) -> None:
    assert repeated_effects(function) == []
