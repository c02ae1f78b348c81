"""Why a call has no answer of its upstream: it was not passed on, or nothing came back."""

from __future__ import annotations

from typing import ClassVar

from anyshape.errors import AnyshapeError


class UpstreamError(AnyshapeError):
    """A call has no answer; the message is for its caller, and `why` for the operator alone."""

    verdict: ClassVar[str]
    """What is written down of the call."""

    def __init__(self, message: str, *, why: str) -> None:
        super().__init__(message)
        self.why = why


class UpstreamRefusal(UpstreamError):
    """A call was not passed on, so it did nothing.

    `limit` is the name of the setting that says no, and `retry_after` the seconds after which it
    may say yes, where that is known.
    """

    verdict = "busy"

    def __init__(
        self, message: str, *, upstream: str, limit: str, retry_after: float | None = None
    ) -> None:
        super().__init__(message, why=message)
        self.upstream = upstream
        self.limit = limit
        self.retry_after = retry_after


class UpstreamDown(UpstreamError):
    """There is no connection to an upstream now, or it broke before the answer came.

    `why` may name what is inside a network, or quote the last words of a process, which may be
    about another caller. One that `is_final` would be no other at another attempt, or somebody
    would be asked twice.
    """

    verdict = "down"

    def __init__(self, message: str, *, why: str, is_final: bool = False) -> None:
        super().__init__(message, why=why)
        self.is_final = is_final
