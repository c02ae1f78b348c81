"""What a tool may be called, and what a prompt or a resource may.

https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-names: 1 to 128 of the
characters A-Z, a-z, 0-9, underscore, hyphen and dot. The specification says SHOULD; hosts that
turn names into functions of a model refuse the rest, so the tools we make follow it strictly, and
tools that others made are used under whatever name they have. Names of prompts and resources are
read by people alone, and by menus of one line.
"""

from __future__ import annotations

import re
from typing import Final

LONGEST_NAME: Final = 128
_LONGEST_DISPLAY_NAME: Final = 256
_SHOWN: Final = 40
_FORBIDDEN: Final = re.compile(r"[^A-Za-z0-9_.-]")


def name_flaw(name: str) -> str | None:
    """Return what is wrong with a tool name, in a few words, or `None`."""
    if not name:
        return "it is empty"
    if len(name) > LONGEST_NAME:
        return f"it has {len(name)} characters, more than {LONGEST_NAME}"
    forbidden = _FORBIDDEN.search(name)
    if forbidden is not None:
        return (
            f"{forbidden.group()!r} at position {forbidden.start()} of {name[:_SHOWN]!r} is none "
            "of A-Z, a-z, 0-9, '_', '-' and '.'"
        )
    return None


def display_name_flaw(name: str) -> str | None:
    """Return what is wrong with the name of a prompt or a resource, in a few words, or `None`."""
    if not name.strip():
        return "it is empty"
    if len(name) > _LONGEST_DISPLAY_NAME:
        return f"it has {len(name)} characters, more than {_LONGEST_DISPLAY_NAME}"
    if name == "<lambda>":
        return "a lambda has none"
    if not name.isprintable():
        return f"{name[:_SHOWN]!r} is not one line of text"
    return None
