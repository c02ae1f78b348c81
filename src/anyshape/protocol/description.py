"""A tool as its author described it: the natural form of a `tools/list` entry.

https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from anyshape.protocol.icons import Icon
from anyshape.protocol.result import ABSENT, Absent

__all__ = ["ToolAnnotations", "ToolDescription"]


class ToolAnnotations(TypedDict, total=False):
    """Hints about what a tool does, as they stand on the wire."""

    title: str
    readOnlyHint: bool
    destructiveHint: bool
    idempotentHint: bool
    openWorldHint: bool


@dataclass(frozen=True, slots=True)
class ToolDescription:
    """The listing entry of one tool in its natural form, before any revision has shaped it.

    Schemas are the documents exactly as published; `output_schema` may be `True` or `False`, and
    is `ABSENT` for a tool that publishes none.
    """

    name: str
    input_schema: dict[str, Any]
    title: str | None = None
    description: str | None = None
    output_schema: dict[str, Any] | bool | Absent = ABSENT
    annotations: ToolAnnotations | Mapping[str, Any] | None = None
    meta: Mapping[str, Any] | None = None
    icons: Sequence[Icon | Mapping[str, Any]] | None = None
