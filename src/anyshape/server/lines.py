"""Newline-delimited messages: bytes in, lines out, and a bound on how long a line may get.

See "stdio" under the transports of revision 2026-07-28: one message per line, no newline inside.
"""

from __future__ import annotations

__all__ = ["OVERSIZED", "LineSplitter"]

OVERSIZED = b""
"""What stands in for a line that was longer than allowed (no message is an empty line)."""


class LineSplitter:
    """Cut a stream of chunks into lines; a line over `limit` bytes is dropped as it arrives."""

    __slots__ = ("_discarding", "_limit", "_parts", "_size")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0
        self._discarding = False

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the lines the chunk completes, without their newlines and without blank ones.

        Once a line is too long its bytes are let go, what follows the next newline is read as
        usual, and `OVERSIZED` stands in its place.
        """
        pieces = chunk.split(b"\n")
        rest = pieces.pop()
        lines: list[bytes] = []
        if len(pieces) == 1 and not (rest or self._parts or self._discarding):
            self._take(pieces[0], lines)
            return lines
        if pieces:
            first = pieces[0]
            if self._discarding:
                self._discarding = False
                lines.append(OVERSIZED)
            elif self._parts:
                self._parts.append(first)
                self._take(b"".join(self._parts), lines)
                self._parts.clear()
                self._size = 0
            else:
                self._take(first, lines)
            for piece in pieces[1:]:
                self._take(piece, lines)
        if rest and not self._discarding:
            self._parts.append(rest)
            self._size += len(rest)
            if self._size > self._limit:
                self._parts.clear()
                self._size = 0
                self._discarding = True
        return lines

    def end(self) -> list[bytes]:
        """Return what was left without a newline when the stream ended."""
        lines: list[bytes] = []
        if self._discarding:
            lines.append(OVERSIZED)
        elif self._parts:
            self._take(b"".join(self._parts), lines)
        self._parts.clear()
        self._size = 0
        self._discarding = False
        return lines

    def _take(self, line: bytes, lines: list[bytes]) -> None:
        if len(line) > self._limit:
            lines.append(OVERSIZED)
        elif not line.isspace() and line:
            lines.append(line)
