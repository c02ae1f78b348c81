"""What every framework's script does alike: read the target and the calls, print what was seen.

A script is started in the framework's own environment, as `python SCRIPT TARGET CALLS`, both JSON.
It prints one line of JSON: the names of the tools that the framework has made of the server's, and
for each call the texts that it gives back.
"""

from __future__ import annotations

import asyncio
import importlib.metadata
import inspect
import json
import sys
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

Json = dict[str, Any]
Call = Callable[[str, Json], Any]
"""From the name of a tool and its arguments to what the framework gives back."""


class Visit:
    """One visit: `target` says where, and `make` makes the calls of the plan."""

    def __init__(self, target: Json, calls: list[Json]) -> None:
        self.target = target
        self.calls = calls
        self.offered: dict[str, str] = {}
        self.shown: dict[str, list[str]] = {}

    @property
    def url(self) -> str | None:
        """Return the address of the server, if it is one to be reached over HTTP."""
        return self.target.get("url")

    @property
    def command(self) -> tuple[str, list[str]]:
        """Return the program and the arguments that start the server."""
        program, *arguments = self.target["command"]
        return program, arguments

    async def make(self, offered: Iterable[str], call: Call) -> None:
        """Make the calls for which there is a tool, under the name that the framework gives it."""
        names = {name.replace("-", "_"): name for name in offered}
        for planned in self.calls:
            name = names.get(planned["tool"].replace("-", "_"))
            if name is not None:
                self.offered[planned["tool"]] = name
                self.shown[planned["id"]] = await _outcome(call, name, planned["arguments"])


async def _outcome(call: Call, name: str, arguments: Json) -> list[str]:
    try:
        given = call(name, arguments)
        return texts_of(await given if inspect.isawaitable(given) else given)
    except Exception as error:
        return [f"raised {type(error).__name__}: {error}"]


def texts_of(given: Any) -> list[str]:
    """Return what a framework gives back as texts: blocks one by one, values as JSON."""
    if isinstance(given, str):
        return [given]
    if isinstance(given, list) and given and all(_is_text(block) for block in given):
        return [block["text"] for block in given]
    if _is_text(given):
        return [given["text"]]
    return [json.dumps(given, default=str)]


def _is_text(block: Any) -> bool:
    return isinstance(block, dict) and isinstance(block.get("text"), str)


def run(package: str, visit: Callable[[Visit], Awaitable[None]]) -> None:
    """Visit the target with a framework, and print the report."""
    seen = Visit(json.loads(sys.argv[1]), json.loads(sys.argv[2]))
    failure: str | None = None
    try:
        asyncio.run(visit(seen))
    except Exception as error:
        failure = f"{type(error).__name__}: {error}"
    report = {
        "version": importlib.metadata.version(package),
        "offered": seen.offered,
        "shown": seen.shown,
        **({"failure": failure} if failure else {}),
    }
    print("REPORT", json.dumps(report), flush=True)
