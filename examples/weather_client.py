"""Call the weather server, and get what its author meant."""

import asyncio

from anyshape import Client


async def main() -> None:
    async with Client(["python", "weather.py"]) as client:
        coming = await client.call("temperatures", {"city": "Paris"}, returns=list[float])
        print(f"{max(coming)} degrees at the most")


if __name__ == "__main__":
    asyncio.run(main())
