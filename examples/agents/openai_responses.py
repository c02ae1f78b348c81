"""OpenAI's Responses, with tools of any MCP server."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

from openai import AsyncOpenAI
from stand_in import RESPONSES, stand_in

from anyshape import Client

SERVER = [sys.executable, str(Path(__file__).parents[1] / "weather.py")]


async def main(base_url: str, profile: str = "openai-strict", server: Any = SERVER) -> None:
    openai = AsyncOpenAI(base_url=base_url, api_key="none", max_retries=0)
    async with Client(server) as client:
        tools = await client.toolbox(profile, format="openai-responses")
        items: list[Any] = [{"role": "user", "content": "How warm will it be?"}]
        while True:
            reply = await openai.responses.create(
                model="gpt-5", input=items, tools=tools.definitions
            )
            items += reply.output
            results = await tools.call_all(reply.output)
            if not results:
                break
            items += results
        print(reply.output_text)


if __name__ == "__main__":
    with stand_in(RESPONSES) as (url, _):
        asyncio.run(main(f"{url}/v1"))
