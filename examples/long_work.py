"""Work that outlives its request: waited for, held by a handle, and asking on its way."""

import asyncio
from typing import Annotated

from pydantic import BaseModel

from anyshape import Ask, Client, Context, Server

server = Server("reports")


class Report(BaseModel):
    """What was found."""

    topic: str
    pages: int


@server.tool(task=True)
async def write_report(topic: str, pages: int, ctx: Context) -> Report:
    """Write a report, page by page."""
    for page in range(1, pages + 1):
        await asyncio.sleep(0.05)
        await ctx.progress(page, pages, "writing")
    return Report(topic=topic, pages=pages)


@server.tool(task="required")
async def archive(title: str, years: Annotated[int, Ask("For how many years?")]) -> str:
    """Put a report away; the user is asked before there is a task."""
    return f"{title} is kept for {years} years"


async def main() -> None:
    async with Client(server, on_elicit=lambda question: {"value": 7}) as client:
        # Nothing to do: the call is followed to its end.
        print(await client.call("write_report", {"topic": "tides", "pages": 2}, returns=Report))

        # With a handle, other things can be done meanwhile.
        task = await client.begin_call("write_report", {"topic": "moons", "pages": 3})
        print(task.status.value)
        print((await task.result()).value)

        # Or the work is given up.
        task = await client.begin_call("write_report", {"topic": "seas", "pages": 9999})
        await task.cancel()
        print((await task.refresh()).value)

        print(await client.call("archive", {"title": "tides"}))


if __name__ == "__main__":
    asyncio.run(main())
