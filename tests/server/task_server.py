"""A server whose tasks are in the store that the environment names, and leave marks in a folder."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from anyshape import Context, Server, ToolError
from anyshape.server import RedisStore, RedisTasks, ServerOptions, TaskOptions

HERE = Path(os.environ.get("TASK_MARKS", "."))
STORE = RedisTasks(
    os.environ.get("TASK_STORE", "redis://127.0.0.1:1"),
    os.environ.get("TASK_STORE_NAME", "anyshape"),
    redelivery=1,
    attempts=2,
)


def make_server(options: TaskOptions | None = None) -> Server:
    """Return a server, and mark in a file each time that work on a task begins."""
    options = options or TaskOptions(store=STORE, keep=float(os.environ.get("TASK_KEEP", "900")))
    store = options.store
    assert isinstance(store, RedisTasks)
    shared = RedisStore(store.url, namespace=store.name)
    server = Server("marks", options=ServerOptions(tasks=options, store=shared, grace=0.2))

    @server.resource("marks://all")
    def marks() -> str:
        """Something that a task changes."""
        return "marks"

    @server.tool(task=True)
    async def change() -> int:
        """Tell those who watch the resource, wherever they are connected."""
        server.resource_changed("marks://all")
        return 1

    def mark(name: str) -> None:
        with (HERE / name).open("a") as marks:
            marks.write(f"{os.getpid()}\n")

    @server.tool(task=True)
    async def wait(name: str, ctx: Context) -> int:
        """Begin, and return the process that did the work once the test says so."""
        mark(f"{name}.begun")
        await ctx.progress(1, 2, "begun")
        try:
            while not (HERE / f"{name}.may_end").exists():  # noqa: ASYNC110 - files have no events
                await asyncio.sleep(0.01)
        except asyncio.CancelledError:
            mark(f"{name}.cancelled")
            raise
        return os.getpid()

    @server.tool(task=True)
    def double(number: int) -> int:
        """Work on a thread."""
        return number * 2

    @server.tool(task=True)
    async def failing() -> int:
        """Fail in words."""
        raise ToolError("the disk is full")

    @server.tool(task=True)
    async def deadly(name: str) -> int:
        """Take the whole process down."""
        mark(f"{name}.begun")
        os._exit(9)

    @server.tool(task=True)
    async def who(ctx: Context) -> list[object]:
        """Return what is known of the caller."""
        return [ctx.access.subject, sorted(ctx.access.scopes), ctx.meta["a.example/x"]]

    @server.tool(task=True)
    async def confirm(name: str, ctx: Context) -> list[object]:
        """Ask two questions, and return the answers and who got them."""
        mark(f"{name}.begun")
        first = await ctx.elicit("First?", str)
        mark(f"{name}.answered")
        second = await ctx.elicit("Second?", str)
        return [str(first), str(second), os.getpid()]

    return server


server = make_server()
