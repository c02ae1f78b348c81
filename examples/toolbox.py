"""Tools as a model's provider wants them: definitions, calls, and what a wrong call is told."""

from __future__ import annotations

import asyncio

from weather import server

from anyshape import Client


async def main() -> None:
    async with Client(server) as client:
        tools = await client.toolbox("openai-strict")
        print(tools)
        for definition in tools.definitions:
            print(definition)

        # What a model sends: its arguments are JSON text, and null stands for what it leaves out.
        for arguments in ('{"city": "Paris", "days": null}', '{"city": "Paris", "days": 9}'):
            call = {"id": "call_1", "function": {"name": "temperatures", "arguments": arguments}}
            print((await tools.call(call))["content"])


asyncio.run(main())
