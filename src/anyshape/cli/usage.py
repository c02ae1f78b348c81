"""How a command describes itself: a usage line as one would type it, then options, then examples.

A command whose words depend on `--` takes them as one list, which says nothing about their order;
its usage line is written out instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

import typer
from typer.core import TyperCommand

if TYPE_CHECKING:
    from typer._click import Context, HelpFormatter

USAGE: Final = {
    "check": "TARGET|FILE... [OPTIONS]",
    "gateway": "FILE | [NAME=]TARGET... [OPTIONS]",
    "call": "TARGET TOOL [ARGUMENT]... [OPTIONS]",
    "demo": "[OPTIONS]",
    "logout": "URL [OPTIONS]",
    "pin": "TARGET [OPTIONS]",
    "inspect": "TARGET [OPTIONS]",
    "prompt": "TARGET PROMPT [ARGUMENT]... [OPTIONS]",
    "prompts": "TARGET [OPTIONS]",
    "read": "TARGET URI [OPTIONS]",
    "resources": "TARGET [OPTIONS]",
    "serve": "MODULE[:NAME] [OPTIONS]",
    "shapes": "TARGET TOOL [ARGUMENT]... [OPTIONS]",
    "tools": "TARGET [TOOL]... [OPTIONS]",
    "worker": "MODULE[:NAME] [OPTIONS]",
}

TargetWords: TypeAlias = Annotated[list[str] | None, typer.Argument(hidden=True)]
"""A target, and what follows it; see `split_target`."""


class Command(TyperCommand):
    """A command whose usage line is written out."""

    def format_usage(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Write the usage line."""
        formatter.write_usage(ctx.command_path, USAGE[str(self.name)])
