"""Lines of a child's output, read piece by piece; of one that is too long, only its ends are kept.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["KEPT", "LineReader", "LongLine"]

KEPT = 4096
"""How much of each end of a long line is kept: enough to see whose answer it was."""


@dataclass(frozen=True, slots=True)
class LongLine:
    """What is known of a line over the limit: its first bytes, and its last once it has ended."""

    head: bytes
    tail: bytes | None = None


class LineReader:
    """Turns chunks of output into lines."""

    def __init__(self, max_line_bytes: int) -> None:
        self._max_line_bytes = max_line_bytes
        self._partial: list[bytes] = []
        self._partial_size = 0
        self._dropped: LongLine | None = None

    @property
    def unfinished(self) -> bytes:
        """The beginning of a line that has not ended."""
        if self._dropped is not None:
            return self._dropped.head
        return b"".join(self._partial)[:KEPT]

    def feed(self, chunk: bytes) -> list[bytes | LongLine]:
        """Return the lines that this chunk completes; one that gets too long is told of twice."""
        *lines, rest = chunk.split(b"\n")
        read: list[bytes | LongLine] = [self._end(line) for line in lines]
        if self._dropped is not None:
            self._drop(rest)
        elif rest:
            self._partial.append(rest)
            self._partial_size += len(rest)
            if self._partial_size > self._max_line_bytes:
                text = self._take_partial()
                self._dropped = LongLine(text[:KEPT], text[-KEPT:])
                read.append(LongLine(text[:KEPT]))
        return read

    def _end(self, line: bytes) -> bytes | LongLine:
        if self._dropped is not None:
            self._drop(line)
            dropped, self._dropped = self._dropped, None
            return dropped
        if self._partial:
            self._partial.append(line)
            line = self._take_partial()
        if len(line) > self._max_line_bytes:
            return LongLine(line[:KEPT], line[-KEPT:])
        return line

    def _drop(self, text: bytes) -> None:
        if self._dropped is not None and self._dropped.tail is not None:
            tail = (self._dropped.tail + text[-KEPT:])[-KEPT:]
            self._dropped = LongLine(self._dropped.head, tail)

    def _take_partial(self) -> bytes:
        text = b"".join(self._partial)
        self._partial.clear()
        self._partial_size = 0
        return text
