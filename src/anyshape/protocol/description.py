"""Tools, prompts and resources as their authors described them: listing entries in natural form.

https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool
https://modelcontextprotocol.io/specification/2026-07-28/server/prompts#prompt
https://modelcontextprotocol.io/specification/2026-07-28/server/resources#resource
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

import msgspec

from anyshape.protocol.content import Annotations
from anyshape.protocol.icons import Icon
from anyshape.protocol.result import ABSENT, Absent


class ToolAnnotations(TypedDict, total=False):
    """Hints about what a tool does, as they stand on the wire."""

    title: str
    readOnlyHint: bool
    destructiveHint: bool
    idempotentHint: bool
    openWorldHint: bool


class ToolDescription(msgspec.Struct, frozen=True):
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


class ArgumentDescription(msgspec.Struct, frozen=True):
    """One argument of a prompt; on the wire it is a string."""

    name: str
    title: str | None = None
    description: str | None = None
    required: bool = False


class PromptDescription(msgspec.Struct, frozen=True):
    """The listing entry of one prompt in its natural form."""

    name: str
    arguments: tuple[ArgumentDescription, ...] = ()
    title: str | None = None
    description: str | None = None
    meta: Mapping[str, Any] | None = None
    icons: Sequence[Icon | Mapping[str, Any]] | None = None


class ResourceDescription(msgspec.Struct, frozen=True):
    """The listing entry of one resource, or of those of a template, in its natural form.

    `uri` is the template where it `is_template`; only a resource has a `size`, in bytes.
    """

    uri: str
    name: str
    is_template: bool = False
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size: int | None = None
    annotations: Annotations | Mapping[str, Any] | None = None
    meta: Mapping[str, Any] | None = None
    icons: Sequence[Icon | Mapping[str, Any]] | None = None
