"""Tools that ask: for a parameter before they run, and for more while they do."""

import asyncio
from dataclasses import dataclass
from typing import Annotated, Literal

from anyshape import Accepted, Ask, Client, Context, Server
from anyshape.client import ElicitAnswer, Elicitation, Sampled, SamplingRequest

server = Server("mail")

MAILS = {"1": "Lunch on Friday?", "2": "You have won a prize."}


def really(id: str) -> str:
    """Say what the user agrees to."""
    return f"Delete {MAILS[id]!r} for good?"


@server.tool
def delete(id: str, sure: Annotated[bool, Ask(really)]) -> str:
    """Delete a mail, if its owner agrees."""
    return f"deleted {MAILS.pop(id)!r}" if sure else "kept"


@dataclass
class Reply:
    """What the user decides about a reply."""

    tone: Literal["warm", "short"] = "short"
    sign: str = "Ada"


@server.tool
async def reply(id: str, context: Context) -> str:
    """Write a reply with the client's model, as the user wants it."""
    answer = await context.elicit("How shall the reply be?", Reply)
    if not isinstance(answer, Accepted):
        return "no reply"
    wanted = answer.data
    said = await context.sample(f"A {wanted.tone} reply to: {MAILS[id]}", max_tokens=100)
    return f"{said.text} {wanted.sign}"


async def main() -> None:
    def on_elicit(asked: Elicitation) -> ElicitAnswer:
        print(asked.message)
        return {"value": True} if "Delete" in asked.message else {"tone": "warm"}

    def on_sample(asked: SamplingRequest) -> Sampled:
        return Sampled("Gladly!", model="small")

    for revision in ("2025-11-25", "2026-07-28"):
        async with Client(
            server, revision=revision, on_elicit=on_elicit, on_sample=on_sample
        ) as client:
            print((await client.call_tool("reply", {"id": "1"})).value)
    async with Client(server, on_elicit=on_elicit) as client:
        print((await client.call_tool("delete", {"id": "2"})).value)


if __name__ == "__main__":
    asyncio.run(main())
