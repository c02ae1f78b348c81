"""Amazon Bedrock's Converse, with tools of any MCP server."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import boto3
from stand_in import BEDROCK, stand_in

from anyshape import Client

SERVER = [sys.executable, str(Path(__file__).parents[1] / "weather.py")]


async def main(base_url: str, profile: str = "bedrock", server: Any = SERVER) -> None:
    bedrock = boto3.client(
        "bedrock-runtime",
        endpoint_url=base_url,
        region_name="eu-west-1",
        aws_access_key_id="none",
        aws_secret_access_key="none",  # noqa: S106 - nobody's
    )
    async with Client(server) as client:
        tools = await client.toolbox(profile)
        messages: list[Any] = [{"role": "user", "content": [{"text": "How warm will it be?"}]}]
        while True:
            reply = await asyncio.to_thread(
                bedrock.converse,
                modelId="anthropic.claude-sonnet-4-6",
                messages=messages,
                toolConfig={"tools": tools.definitions},
            )
            message = reply["output"]["message"]
            messages.append(message)
            results = await tools.call_all(message["content"])
            if not results:
                break
            messages.append({"role": "user", "content": results})
        print(message["content"][0]["text"])


if __name__ == "__main__":
    with stand_in(BEDROCK) as (url, _):
        asyncio.run(main(url))
