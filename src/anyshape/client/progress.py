"""Progress reports on their way to the caller.

https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

import msgspec

from anyshape.protocol.meta import PROGRESS_KEY


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a call has come, in whatever unit the tool counts."""

    progress: float
    total: float | None = None
    message: str | None = None


OnProgress: TypeAlias = Callable[[Progress], Awaitable[None] | None]
"""Called with each report, in order; may be async, and then holds nothing else up."""


class _Report(msgspec.Struct):
    token: int | str = msgspec.field(name=PROGRESS_KEY)
    progress: int | float
    total: int | float | None = None
    message: str | None = None


_decode = msgspec.json.Decoder(_Report).decode


def read_progress(params: msgspec.Raw | None) -> tuple[int | str, Progress] | None:
    """Return the token and the report of a notification, or `None` if it is malformed."""
    if params is None:
        return None
    try:
        report = _decode(params)
    except (msgspec.DecodeError, RecursionError):
        return None
    return report.token, Progress(report.progress, report.total, report.message)
