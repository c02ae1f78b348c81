"""Mistral's chat, with tools of any MCP server."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

from mistralai.client import Mistral
from stand_in import MISTRAL, stand_in

from anyshape import Client

SERVER = [sys.executable, str(Path(__file__).parents[1] / "weather.py")]


async def main(base_url: str, profile: str = "mistral", server: Any = SERVER) -> None:
    mistral = Mistral(api_key="none", server_url=base_url)
    async with Client(server) as client:
        tools = await client.toolbox(profile)
        messages: list[Any] = [{"role": "user", "content": "How warm will it be?"}]
        while True:
            reply = await mistral.chat.complete_async(
                model="mistral-large-latest", messages=messages, tools=tools.definitions
            )
            message = reply.choices[0].message
            messages.append(message)
            results = await tools.call_all(message.tool_calls)
            if not results:
                break
            messages += results
        print(message.content)


if __name__ == "__main__":
    with stand_in(MISTRAL) as (url, _):
        asyncio.run(main(url))
