"""What a toolbox needs of whoever has the tools: to list them, and to call them.

A `Client` is one. This room knows no more of it than stands here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from anyshape.errors import AnyshapeError
from anyshape.protocol.content import Content
from anyshape.schema import Schema


class SourceTool(Protocol):
    """One tool as it was listed."""

    @property
    def name(self) -> str:
        """What the server calls it."""
        ...

    @property
    def title(self) -> str | None:
        """What people call it."""
        ...

    @property
    def description(self) -> str | None:
        """What it is for."""
        ...

    @property
    def input_schema(self) -> Mapping[str, Any]:
        """The author's schema of its arguments."""
        ...

    @property
    def input(self) -> Schema:
        """The same, compiled."""
        ...


class SourceResult(Protocol):
    """What a call came to."""

    @property
    def has_value(self) -> bool:
        """Whether there is a structured value."""
        ...

    @property
    def value(self) -> Any:
        """The natural value."""
        ...

    @property
    def is_error(self) -> bool:
        """Whether the tool failed."""
        ...

    @property
    def content(self) -> Sequence[Content]:
        """The content blocks."""
        ...

    @property
    def raw(self) -> Mapping[str, Any]:
        """The result as it stands on the wire."""
        ...


class Named(Protocol):
    """What a server says of itself."""

    @property
    def name(self) -> str | None:
        """What it is called, if it says so."""
        ...


class ToolSource(Protocol):
    """A server's tools."""

    @property
    def server(self) -> Named:
        """Who it is, to tell it from others."""
        ...

    @property
    def rejected(self) -> Mapping[str, AnyshapeError]:
        """The listed tools that cannot be used, and why."""
        ...

    @property
    def listed(self) -> Mapping[str, SourceTool] | None:
        """The tools of the last listing while it holds, or `None`."""
        ...

    async def list_tools(self) -> Sequence[SourceTool]:
        """Return every usable tool."""
        ...

    async def call_tool(
        self, name: str, arguments: dict[str, Any], *, timeout: float | None, check_arguments: bool
    ) -> SourceResult:
        """Check arguments against the tool's schema, and call it."""
        ...
