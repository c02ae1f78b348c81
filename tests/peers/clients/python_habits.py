"""What the official Python client does beside listing and calling.

The plan has a `tag`, and in seconds `patience` for answers and a `moment` for what the server may
never tell. The report is that of typescript_habits.mjs: `again`, `gave_up`, `changes`, `crowd`,
`long`, `routed` and `refused`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from typing import Any

import anyio
import report
from mcp import Client, MCPError, StdioServerParameters
from mcp_types import ToolListChangedNotification


class Habits:
    """The habits of one client on one target."""

    def __init__(self, target: report.Json, plan: report.Json) -> None:
        self.mode: str = plan["mode"]
        self.tag: str = plan["tag"]
        self.patience: float = plan["patience"]
        self.moment: float = plan["moment"]
        self.where: Any = target.get("url")
        if self.where is None:
            program, *arguments = target["command"]
            self.where = StdioServerParameters(command=program, args=arguments)
        self.told = asyncio.Event()

    def connect(self) -> Client:
        """Return a client that is not connected yet."""
        return Client(
            self.where,
            mode=self.mode,
            read_timeout_seconds=self.patience,
            message_handler=self.hear,
        )

    async def hear(self, message: Any) -> None:
        """Take what the server says unasked."""
        if isinstance(message, ToolListChangedNotification):
            self.told.set()

    async def run(self) -> report.Json:
        """Go through every habit."""
        async with self.connect() as client:
            first = await self.value(client, "zero")
        async with self.connect() as client:
            return {
                "again": [first, await self.value(client, "zero")],
                "gave_up": await self.give_up(client),
                "changes": await self.change(client),
                "crowd": await asyncio.gather(
                    *(self.value(client, "repeat", text=f"{n}", times=1) for n in range(25))
                ),
                "long": len(await self.value(client, "repeat", text="x" * 1000, times=1000)),
                "routed": [await self.value(client, "routed", **given) for given in self.routes()],
                "refused": await self.refusals(client),
            }

    async def value(self, client: Client, tool: str, **arguments: Any) -> Any:
        """Return a call's value, out of its envelope."""
        shown: Any = (await client.call_tool(tool, arguments)).structured_content
        match shown:
            case {"result": value}:
                return value
            case _:
                return shown

    def routes(self) -> list[report.Json]:
        """Return arguments that are hard to put into a header."""
        texts = ["plain", "Zürich ☃", " padded ", "=?base64?x?=", "two\nlines", ""]
        return [*({"region": text} for text in texts), {"limit": -3}, {}]

    async def give_up(self, client: Client) -> list[bool]:
        """Return whether the server knows of calls given up by time and by being left."""

        async def by_time(tag: str) -> None:
            with suppress(MCPError):
                await client.call_tool("wait", {"tag": tag}, read_timeout_seconds=0.3)

        async def by_leaving(tag: str) -> None:
            with anyio.move_on_after(0.3):
                await client.call_tool("wait", {"tag": tag})

        return [await self.is_known(client, how) for how in (by_time, by_leaving)]

    async def is_known(self, client: Client, give_up: Callable[[str], Awaitable[None]]) -> bool:
        """Tell whether the server soon knows that calls are given up, however often it takes."""
        tag = f"{self.tag} {give_up.__name__}"
        deadline = time.monotonic() + self.moment
        while time.monotonic() < deadline:
            await give_up(tag)
            if tag in await self.value(client, "given_up"):
                return True
        return False

    async def change(self, client: Client) -> list[bool]:
        """Return whether a tool was listed after we were told of a change, twice; `[]` untold."""
        async with AsyncExitStack() as stack:
            events = None
            if self.mode == "auto":
                listening = client.listen(tools_list_changed=True)
                events = aiter(await stack.enter_async_context(listening))
            seen: list[bool] = []
            for _ in range(2):
                self.told.clear()
                await client.call_tool("change", {"name": self.tag})
                try:
                    told = anext(events) if events is not None else self.told.wait()
                    await asyncio.wait_for(told, self.moment)
                except TimeoutError:
                    return seen
                listing = await client.list_tools()
                seen.append(self.tag in [tool.name for tool in listing.tools])
            return seen

    async def refusals(self, client: Client) -> report.Json:
        """Return the error codes of what the server does not do."""
        codes: report.Json = {}
        asked = {"prompts": client.list_prompts, "resources": client.list_resources}
        for name, ask in asked.items():
            try:
                await ask()
            except MCPError as error:
                codes[name] = error.code
        return codes


if __name__ == "__main__":
    report.main(lambda target, plan: Habits(target, plan).run())
