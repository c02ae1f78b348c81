"""A server whose tools ask for this and that, and that lists another tool when it is told to."""

from __future__ import annotations

import asyncio

from anyshape import Context, Server

server = Server("talking", version="1")


@server.tool
async def ask_model(context: Context) -> str:
    """Have a model say something."""
    said = await context.sample("Write of <b>sheep</b>", system_prompt="Be brief.", max_tokens=50)
    return f"{said.model} says {said.text}"


@server.tool
async def ask_roots(context: Context) -> list[str]:
    """Ask for directories."""
    return [root.uri for root in await context.roots()]


@server.tool
async def wait(seconds: float) -> str:
    """Wait so long."""
    await asyncio.sleep(seconds)
    return f"waited {seconds:g} s"


@server.tool(
    input_schema={
        "type": "object",
        "properties": {"card": {"type": "string"}, "zip": {"type": "string"}},
        "dependentRequired": {"card": ["zip"]},
    }
)
async def pay(arguments: dict[str, str]) -> str:
    """Pay with a card, or not at all."""
    return " ".join(arguments)


@server.tool
async def grow(name: str) -> str:
    """List one tool more."""
    server.tool(name=name)(_nothing)
    return "grown"


@server.resource("files:///{+path}", name="files")
def files(path: str) -> str:
    """Return a path."""
    return f"contents of {path}"


def _nothing() -> str:
    return "nothing"


if __name__ == "__main__":
    server.run()
