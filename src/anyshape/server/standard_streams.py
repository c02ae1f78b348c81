"""The standard streams of this process, taken for the protocol and given back afterwards.

"The server MUST NOT write anything to its `stdout` that is not a valid MCP message" (the stdio page
of revision 2026-07-28): whatever tools, the libraries they use or the processes they start print
has to end up elsewhere, and that includes what is still in a buffer when the protocol ends.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import TextIO

_INPUT, _OUTPUT, _ERROR = 0, 1, 2


@contextmanager
def taken_streams() -> Generator[tuple[int, int]]:
    """Take standard input and output for the protocol, and give back what was there afterwards.

    Meanwhile descriptor 1 and `sys.stdout` lead to standard error, and descriptor 0 to nothing: a
    tool that prints, reads, or starts a process that does, cannot touch the protocol. A stream that
    was closed when we were started is an empty one.
    """
    while (nothing := os.open(os.devnull, os.O_RDWR)) <= _ERROR:
        pass  # It has taken the place of a stream that was closed.
    source, sink = os.dup(_INPUT), os.dup(_OUTPUT)
    # None where Python was started without one.
    printed: TextIO | None = sys.stdout
    os.dup2(nothing, _INPUT)
    os.dup2(_ERROR, _OUTPUT)
    os.close(nothing)
    _flush(printed)
    sys.stdout = sys.stderr
    try:
        yield source, sink
    finally:
        _flush(printed)
        _flush(sys.stderr)
        _flush_native()
        sys.stdout = printed
        os.dup2(source, _INPUT)
        os.dup2(sink, _OUTPUT)
        os.close(source)
        os.close(sink)


def _flush(printed: TextIO | None) -> None:
    """Send what was printed by way of Python to where its descriptor leads now."""
    for stream in (printed, sys.__stdout__):
        if stream is not None:
            with contextlib.suppress(ValueError):
                try:
                    stream.flush()
                except OSError:
                    _discard(stream)


def _discard(stream: TextIO) -> None:
    """Forget what cannot be written: Python would try again at the end, and wherever that leads."""
    with contextlib.suppress(OSError):
        descriptor = stream.fileno()
        kept = os.dup(descriptor)
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, descriptor)
        try:
            stream.flush()
        finally:
            os.dup2(kept, descriptor)
            os.close(kept)
            os.close(nothing)


def _flush_native() -> None:
    """Do the same for what native code has printed, which is in a buffer of the C library."""
    with contextlib.suppress(ImportError, OSError, AttributeError):
        import ctypes

        ctypes.CDLL("ucrtbase" if os.name == "nt" else None).fflush(None)
