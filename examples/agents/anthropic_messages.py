"""Anthropic's Messages, with tools of any MCP server."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

from anthropic import AsyncAnthropic
from stand_in import ANTHROPIC, stand_in

from anyshape import Client

SERVER = [sys.executable, str(Path(__file__).parents[1] / "weather.py")]


async def main(base_url: str, profile: str = "anthropic", server: Any = SERVER) -> None:
    anthropic = AsyncAnthropic(base_url=base_url, api_key="none", max_retries=0)
    async with Client(server) as client:
        tools = await client.toolbox(profile)
        messages: list[Any] = [{"role": "user", "content": "How warm will it be?"}]
        while True:
            reply = await anthropic.messages.create(
                model="claude-sonnet-4-6",
                max_tokens=1024,
                messages=messages,
                tools=tools.definitions,
            )
            messages.append({"role": "assistant", "content": reply.content})
            results = await tools.call_all(reply.content)
            if not results:
                break
            messages.append({"role": "user", "content": results})
        print("".join(block.text for block in reply.content if block.type == "text"))


if __name__ == "__main__":
    with stand_in(ANTHROPIC) as (url, _):
        asyncio.run(main(url))
