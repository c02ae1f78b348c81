"""What the tests of tools share: one call, taken apart for comparison."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest

from anyshape.protocol.result import ABSENT
from anyshape.tools import Context, Tool


@dataclass(frozen=True)
class Outcome:
    """A result, decoded: `value` is `ABSENT` where there is no structured content."""

    value: Any
    content: list[Any]
    is_error: bool
    meta: Any = None

    @property
    def text(self) -> str:
        """The text of all text blocks."""
        return "\n".join(block["text"] for block in self.content if block["type"] == "text")


@pytest.fixture
def call() -> Callable[..., Awaitable[Outcome]]:
    """Return a function that calls a tool, or makes one from a function and calls it."""

    async def call(
        target: Any, arguments: Any = None, *, context: Context | None = None, **options: Any
    ) -> Outcome:
        tool = target if isinstance(target, Tool) else Tool.from_function(target, **options)
        raw = arguments if isinstance(arguments, bytes) else None
        if raw is None and arguments is not None:
            raw = json.dumps(arguments).encode()
        result = await tool.call(raw, context)
        return Outcome(
            value=ABSENT if result.structured is None else json.loads(result.structured),
            content=[json.loads(block) for block in result.content],
            is_error=result.is_error,
            meta=None if result.meta is None else json.loads(result.meta),
        )

    return call
