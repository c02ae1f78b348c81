"""Newline-delimited messages: bytes in, lines out, and a bound on how long a line may get.

See "stdio" under the transports of revision 2026-07-28: one message per line, no newline inside.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

__all__ = ["Line", "LineSplitter", "Oversized"]


class Oversized(NamedTuple):
    """What is kept of a line that was longer than allowed."""

    start: bytes
    end: bytes


Line: TypeAlias = bytes | Oversized


class LineSplitter:
    """Cut a stream of chunks into lines; a line over `limit` bytes is dropped as it arrives.

    The first and the last `kept` bytes of such a line remain.
    """

    __slots__ = ("_dropped", "_kept", "_limit", "_parts", "_size")

    def __init__(self, limit: int, kept: int) -> None:
        self._limit = limit
        self._kept = kept
        self._parts: list[bytes] = []
        self._size = 0
        self._dropped: Oversized | None = None

    def feed(self, chunk: bytes) -> list[Line]:
        """Return the lines the chunk completes, without their newlines and without blank ones.

        Once a line is too long its bytes are let go, what follows the next newline is read as
        usual, and an `Oversized` stands in its place.
        """
        pieces = chunk.split(b"\n")
        rest = pieces.pop()
        lines: list[Line] = []
        if len(pieces) == 1 and not (rest or self._parts or self._dropped):
            self._take(pieces[0], lines)
            return lines
        if pieces:
            first = pieces[0]
            if self._dropped is not None:
                lines.append(self._drop(self._dropped, first))
                self._dropped = None
            elif self._parts:
                self._parts.append(first)
                self._take(b"".join(self._parts), lines)
                self._parts.clear()
                self._size = 0
            else:
                self._take(first, lines)
            for piece in pieces[1:]:
                self._take(piece, lines)
        if rest and self._dropped is not None:
            self._dropped = self._drop(self._dropped, rest)
        elif rest:
            self._parts.append(rest)
            self._size += len(rest)
            if self._size > self._limit:
                self._dropped = self._cut(b"".join(self._parts))
                self._parts.clear()
                self._size = 0
        return lines

    def end(self) -> list[Line]:
        """Return what was left without a newline when the stream ended."""
        lines: list[Line] = []
        if self._dropped is not None:
            lines.append(self._dropped)
        elif self._parts:
            self._take(b"".join(self._parts), lines)
        self._parts.clear()
        self._size = 0
        self._dropped = None
        return lines

    def _drop(self, dropped: Oversized, more: bytes) -> Oversized:
        return Oversized(dropped.start, (dropped.end + more[-self._kept :])[-self._kept :])

    def _cut(self, line: bytes) -> Oversized:
        return Oversized(line[: self._kept], line[-self._kept :])

    def _take(self, line: bytes, lines: list[Line]) -> None:
        if len(line) > self._limit:
            lines.append(self._cut(line))
        elif not line.isspace() and line:
            lines.append(line)
