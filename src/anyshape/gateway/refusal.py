"""The one error with which a gateway refuses a call before it leaves: why, and what to do."""

from __future__ import annotations

from typing import Final

from anyshape.errors import AnyshapeError

__all__ = ["UpstreamRefusal"]


class UpstreamRefusal(AnyshapeError):
    """A call was not passed on, so it did nothing; the message is for its caller.

    `limit` is the name of the setting that says no, and `retry_after` the seconds after which it
    may say yes, where that is known.
    """

    verdict: Final = "busy"
    """What is written down of the call."""

    def __init__(
        self, message: str, *, upstream: str, limit: str, retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.why = message
        """The same, for what is written down."""
        self.upstream = upstream
        self.limit = limit
        self.retry_after = retry_after
