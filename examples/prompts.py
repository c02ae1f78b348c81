"""A prompt with typed arguments that complete while they are typed."""

import asyncio
from typing import Annotated, Literal

from anyshape import Client, Complete, Message, ProtocolError, Server

server = Server("reviews")

FILES = {"python": ["app.py", "models.py"], "rust": ["main.rs"]}


def files(typed: str, given: dict[str, str]) -> list[str]:
    """Suggest files of the language that was chosen already."""
    return [name for name in FILES.get(given.get("language", ""), []) if name.startswith(typed)]


@server.prompt(title="Code review")
def review(
    language: Literal["python", "rust"],
    file: Annotated[str, Complete(files)],
    most: int = 3,
) -> list[Message]:
    """Ask for a review of one file.

    Args:
        language: What the file is written in
        file: Which file
        most: How many remarks there may be
    """
    return [
        Message(f"Review {file}, which is {language}. Make at most {most} remarks."),
        Message("I will begin with the worst.", role="assistant"),
    ]


async def main() -> None:
    async with Client(server) as client:
        arguments = {"language": "python", "file": "app.py", "most": "2"}
        print((await client.get_prompt("review", arguments)).text)
        found = await client.complete("file", "m", prompt="review", context={"language": "rust"})
        print(found.values)
        try:
            await client.get_prompt("review", {"language": "cobol", "file": "x"})
        except ProtocolError as error:
            print(error)


if __name__ == "__main__":
    asyncio.run(main())
