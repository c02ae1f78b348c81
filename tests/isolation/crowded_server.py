"""What the crowd calls, as a program: `server PORT [STORE]`, or `gateway PORT URL REVISION`.

Everything that a call is answered, told or asked carries the secret that it came with.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from anyshape import Context, Server, ToolError
from anyshape.gateway import Gateway, Upstream
from anyshape.server import HttpOptions, RedisStore, ServerOptions, Sessions

KEY = b"k" * 32
WHO = {"type": "object", "properties": {"who": {"type": "string"}}, "required": ["who"]}


def make_server(store: str | None = None) -> Server:
    """Return the server; with a `store` it is one of several replicas."""
    shared = None if store is None else RedisStore(store)
    server = Server("crowded", options=ServerOptions(store=shared, state_keys=(KEY,)))

    @server.tool
    async def work(secret: str, steps: int, context: Context) -> dict[str, str]:
        for step in range(steps):
            context.progress(step + 1, message=secret)
            context.log("warning", {"working for": secret})
            await asyncio.sleep(0.001)
        return {"secret": secret}

    @server.tool
    async def ask(secret: str, context: Context) -> list[str]:
        answers = [secret]
        for question in ("first", "second"):
            answer = await context.elicit(f"The {question} of {secret}?", WHO)
            answers.append(str(answer.data["who"]) if answer.action == "accept" else answer.action)
        return answers

    @server.tool
    async def fail(secret: str) -> None:
        await asyncio.sleep(0)
        raise ToolError(f"no, {secret}")

    @server.tool
    async def crash(secret: str) -> None:
        raise RuntimeError(f"this is for the log alone: {secret}")

    @server.tool
    async def wait(secret: str, context: Context) -> str:
        context.progress(1, message=secret)
        await asyncio.Event().wait()
        return secret

    @server.resource("note:{secret}")
    async def note(secret: str) -> str:
        await asyncio.sleep(0)
        return f"the note of {secret}"

    @server.tool
    def touch(secret: str) -> str:
        server.resource_changed(f"note:{secret}")
        return secret

    return server


def main(role: str, port: str, *words: str) -> None:
    """Serve over HTTP until told to stop."""
    served: Any
    if role == "gateway":
        url, revision = words
        served = Gateway({"up": Upstream(target=url, revision=revision)})
    else:
        served = make_server(*words)
    options = HttpOptions(sessions=Sessions(keys=(KEY,)))
    served.run("http", port=int(port), options=options, log_level="critical")


if __name__ == "__main__":
    main(*sys.argv[1:])
