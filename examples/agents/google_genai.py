"""Gemini's generateContent, with tools of any MCP server."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

from google import genai
from stand_in import GEMINI, stand_in

from anyshape import Client

SERVER = [sys.executable, str(Path(__file__).parents[1] / "weather.py")]


async def main(base_url: str, profile: str = "gemini-json", server: Any = SERVER) -> None:
    gemini = genai.Client(api_key="none", http_options={"base_url": base_url})
    async with Client(server) as client:
        tools = await client.toolbox(profile)
        contents: list[Any] = [{"role": "user", "parts": [{"text": "How warm will it be?"}]}]
        while True:
            reply = await gemini.aio.models.generate_content(
                model="gemini-2.5-flash", contents=contents, config={"tools": tools.definitions}
            )
            content = reply.candidates[0].content
            contents.append(content)
            results = await tools.call_all(content.parts)
            if not results:
                break
            contents.append({"role": "user", "parts": results})
        print(reply.text)


if __name__ == "__main__":
    with stand_in(GEMINI) as (url, _):
        asyncio.run(main(url))
