"""What a call came to, read from the wire."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anyshape.protocol.content import Content, Text
from anyshape.protocol.result import ABSENT
from anyshape.protocol.shapes.result_reader import ReadResult


class CallResult:
    """The outcome of one call.

    `value` is natural: the same whatever the server's age, or what came with `unwrap=False`. It is
    `None` both for the value null and for no value; `has_value` tells them apart.
    """

    __slots__ = ("_content", "_raw", "_read", "has_value", "is_error", "value")

    def __init__(self, read: ReadResult) -> None:
        value = read.value
        self.has_value: bool = value is not ABSENT
        self.value: Any = value if self.has_value else None
        self.is_error: bool = read.is_error
        self._read = read
        self._raw: Mapping[str, Any] | None = None
        self._content: tuple[Content, ...] | None = None

    @property
    def raw(self) -> Mapping[str, Any]:
        """The result as it stands on the wire."""
        if self._raw is None:
            self._raw = self._read.wire
        return self._raw

    @property
    def content(self) -> tuple[Content, ...]:
        """The content blocks; one of an unknown kind is an `UnknownContent`."""
        if self._content is None:
            self._content = self._read.content
        return self._content

    @property
    def text(self) -> str:
        """The text blocks, one after another, each on its own line."""
        return "\n".join(block.text for block in self.content if isinstance(block, Text))

    @property
    def meta(self) -> Mapping[str, Any]:
        """The metadata that the server attached."""
        return self._read.meta

    def __repr__(self) -> str:
        shown = repr(self.value) if self.has_value else repr(self.text)
        kind = "value" if self.has_value else "text"
        failed = ", is_error=True" if self.is_error else ""
        return f"CallResult({kind}={shown[:200]}{failed})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CallResult) or self.raw != other.raw:
            return False
        return (self.has_value, self.value) == (other.has_value, other.value)

    __hash__ = None  # pyright: ignore[reportAssignmentType]  # holds values that have none
