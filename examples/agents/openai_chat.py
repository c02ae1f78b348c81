"""OpenAI's Chat Completions, with tools of any MCP server."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

from openai import AsyncOpenAI
from stand_in import CHAT, stand_in

from anyshape import Client

SERVER = [sys.executable, str(Path(__file__).parents[1] / "weather.py")]


async def main(base_url: str, profile: str = "openai-strict", server: Any = SERVER) -> None:
    openai = AsyncOpenAI(base_url=base_url, api_key="none", max_retries=0)
    async with Client(server) as client:
        tools = await client.toolbox(profile)
        messages: list[Any] = [{"role": "user", "content": "How warm will it be?"}]
        while True:
            reply = await openai.chat.completions.create(
                model="gpt-5", messages=messages, tools=tools.definitions
            )
            message = reply.choices[0].message
            messages.append(message)
            results = await tools.call_all(message.tool_calls)
            if not results:
                break
            messages += results
        print(message.content)


if __name__ == "__main__":
    with stand_in(CHAT) as (url, _):
        asyncio.run(main(f"{url}/v1"))
