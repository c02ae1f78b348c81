"""A server with one of everything, whose functions return at once."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel

from anyshape import Context, Server, ToolError, ToolResult
from anyshape.server import ServerOptions

__all__ = ["make_server"]


class Filter(BaseModel):
    """What is looked for."""

    name: str
    limit: int = 10
    tags: list[str] = []


class Answer(BaseModel):
    """What a user is asked for."""

    sure: bool
    why: str = ""


def make_server() -> Server:
    """Return it."""
    server = Server(
        "sample", options=ServerOptions(max_message_bytes=20_000, page_size=3, grace=0.0)
    )

    @server.tool(inline=True)
    def add(a: int, b: float = 0) -> float:
        return a + b

    @server.tool
    async def search(filter: Filter, order: Literal["up", "down"] = "up") -> list[Filter]:
        return [filter]

    @server.tool
    async def echo(value: Any = None) -> Any:
        return value

    @server.tool
    async def fail(words: str) -> None:
        raise ToolError(words)

    @server.tool
    async def raw(structured: dict[str, Any]) -> ToolResult[Any]:
        return ToolResult(structured=structured)

    @server.tool
    async def ask(context: Context) -> str:
        answer = await context.elicit("Sure?", Answer)
        said = await context.sample("Greet")
        return f"{answer.action} {said.text} {len(await context.roots())}"

    @server.tool
    async def report(context: Context, steps: int) -> int:
        for step in range(min(steps, 3)):
            await context.progress(step, steps)
            await context.info(f"step {step}")
        return steps

    @server.prompt
    async def greet(name: str, mood: Literal["glad", "sad"] = "glad") -> str:
        return f"{name} is {mood}"

    @server.resource("notes://{id}")
    async def note(id: str) -> str:
        return id

    @server.resource("notes://all")
    async def notes() -> list[str]:
        return ["1"]

    return server
