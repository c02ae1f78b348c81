"""Newline-delimited messages: bytes in, lines out, and a bound on how long a line may get.

See "stdio" under the transports of revision 2026-07-28: one message per line, no newline inside.
"""

from __future__ import annotations

from typing import Final, NamedTuple, TypeAlias

from anyshape.protocol.salvage import WINDOW

KEPT: Final = WINDOW
"""Bytes of each end of a line that is too long: enough to see whose answer it is."""


class LongLine(NamedTuple):
    """The start of a line that is too long; and its end, which is `None` until it has come."""

    head: bytes
    tail: bytes | None = None


Line: TypeAlias = bytes | LongLine


class LineSplitter:
    """Cut a stream of chunks into lines; a line over `limit` bytes is dropped as it arrives.

    The first and the last `kept` bytes of such a line remain.
    """

    __slots__ = ("_dropped", "_kept", "_limit", "_parts", "_size")

    def __init__(self, limit: int, kept: int = KEPT) -> None:
        self._limit = limit
        self._kept = kept
        self._parts: list[bytes] = []
        self._size = 0
        self._dropped: tuple[bytes, bytes] | None = None

    @property
    def unfinished(self) -> bytes:
        """The start of the line that has not ended yet."""
        return b"".join(self._parts)[: self._kept] if self._dropped is None else self._dropped[0]

    def feed(self, chunk: bytes) -> list[Line]:
        """Return the lines the chunk completes, without their newlines and without blank ones.

        A line that gets too long is returned twice: at once, without its end, and again when it
        has ended. Its bytes are dropped, and what follows its newline is read as usual.
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
                lines.append(LongLine(*self._drop(self._dropped, first)))
                self._dropped = None
            elif self._parts:
                self._parts.append(first)
                self._take(b"".join(self._parts), lines)
                self._parts.clear()
                self._size = 0
            else:
                self._take(first, lines)
            if len(chunk) <= self._limit:  # None of them is too long.
                lines += [piece for piece in pieces[1:] if piece and not piece.isspace()]
            else:
                for piece in pieces[1:]:
                    self._take(piece, lines)
        if rest and self._dropped is not None:
            self._dropped = self._drop(self._dropped, rest)
        elif rest:
            self._parts.append(rest)
            self._size += len(rest)
            if self._size > self._limit:
                self._dropped = self._cut(b"".join(self._parts))
                lines.append(LongLine(self._dropped[0]))
                self._parts.clear()
                self._size = 0
        return lines

    def end(self) -> list[Line]:
        """Return what was left without a newline when the stream ended."""
        lines: list[Line] = []
        if self._dropped is not None:
            lines.append(LongLine(*self._dropped))
        elif self._parts:
            self._take(b"".join(self._parts), lines)
        self._parts.clear()
        self._size = 0
        self._dropped = None
        return lines

    def _drop(self, dropped: tuple[bytes, bytes], more: bytes) -> tuple[bytes, bytes]:
        head, tail = dropped
        return head, (tail + more[-self._kept :])[-self._kept :]

    def _cut(self, line: bytes) -> tuple[bytes, bytes]:
        return line[: self._kept], line[-self._kept :]

    def _take(self, line: bytes, lines: list[Line]) -> None:
        if len(line) > self._limit:
            lines.append(LongLine(*self._cut(line)))
        elif not line.isspace() and line:
            lines.append(line)
