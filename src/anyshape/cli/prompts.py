"""`anyshape prompts` and `anyshape prompt`: what a server offers to say, and saying it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from anyshape.cli import json_text, terminal
from anyshape.cli.arguments import parse_arguments
from anyshape.cli.asked import Asked, about_server
from anyshape.cli.call import name_content
from anyshape.cli.failure import Exit, UsageError
from anyshape.cli.target import NamedTarget, connect
from anyshape.cli.tools import describe_server, show_rejected

if TYPE_CHECKING:
    from rich.console import RenderableType

    from anyshape.client import ListedPrompt, PromptResult

EXAMPLES: Final = """\b
Examples:
  anyshape prompts http://127.0.0.1:8000/mcp
  anyshape prompts -- npx some-server
"""
PROMPT_EXAMPLES: Final = """\b
Examples:
  anyshape prompt http://127.0.0.1:8000/mcp review style=dry
  anyshape prompt review '{"style": "dry"}' -- npx some-server
"""


@about_server()
def prompts(asked: Asked) -> int:
    """List a server's prompts with their arguments."""
    asked.expect_no_more("`anyshape prompt` gets a prompt")
    return asyncio.run(_list(asked, asked.target()))


async def _list(asked: Asked, target: NamedTarget) -> int:
    async with connect(target, asked.revision) as client:
        listed = await client.list_prompts()
        rejected = {name: str(error) for name, error in client.rejected_prompts.items()}
        if asked.json:
            data = {
                **describe_server(client),
                "prompts": [prompt.entry for prompt in listed],
                "rejected": rejected,
            }
            terminal.write(json_text.compact(data))
        else:
            parts = [part for prompt in listed for part in _describe(prompt)]
            terminal.emit(*[*parts, *show_rejected(rejected)] or ["no prompts"])
    return Exit.OK


def _describe(prompt: ListedPrompt) -> list[RenderableType]:
    from rich.text import Text

    heading = terminal.heading(prompt.name)
    if prompt.title:
        heading.append(f"  {terminal.line(prompt.title)}", "dim")
    lines = [terminal.prose(prompt.description)] if prompt.description else []
    for argument in prompt.arguments:
        said = f": {terminal.paragraph(argument.description)}" if argument.description else ""
        lines.append(f"{terminal.line(argument.name)}{'' if argument.required else '?'}{said}")
    return [heading, *(terminal.indented(Text(line, "dim")) for line in lines)]


@about_server()
def prompt(asked: Asked) -> int:
    """Get a prompt: its messages on stdout."""
    if not asked.rest:
        raise UsageError("a PROMPT is missing", hint="`anyshape prompts TARGET` lists them")
    return asyncio.run(_get(asked, asked.target(), *asked.rest))


async def _get(asked: Asked, target: NamedTarget, name: str, *words: str) -> int:
    arguments = parse_arguments(words, {})
    async with connect(target, asked.revision, asks=True) as client:
        found = await client.get_prompt(name, arguments or None)
        if asked.json:
            data: dict[str, Any] = {"revision": str(client.revision), **found.raw}
            terminal.write(json_text.compact(data))
        else:
            _show(found)
    return Exit.OK


def _show(found: PromptResult) -> None:
    from anyshape.protocol.content import Text

    for message in found.messages:
        for block in message.content:
            if isinstance(block, Text):
                terminal.write(terminal.paragraph(f"{message.role}: {block.text}"))
            else:
                terminal.write(terminal.line(f"{message.role}: {name_content(block)}"))
