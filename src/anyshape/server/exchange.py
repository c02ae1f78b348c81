"""One request being answered, seen from the transport that carries it.

Dispatch knows an exchange only by what is here: which revision to assume, how to send what precedes
the answer, and what to set up if the answer has to wait. Each transport adds its own side.
"""

from __future__ import annotations

import asyncio
import enum
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextvars import Context as Variables
from typing import TYPE_CHECKING, Any

import msgspec

from anyshape.protocol.jsonrpc import encode_notification
from anyshape.protocol.revision import Revision

if TYPE_CHECKING:
    from anyshape.server.authorization import AccessToken
    from anyshape.server.headers import RequestHeaders
    from anyshape.server.parameters import InitializeParameters
    from anyshape.server.service import Service

__all__ = ["Abandoned", "Exchange", "Interruption"]

_encode = msgspec.json.Encoder().encode


class Interruption(enum.Enum):
    """Why a request that waits was stopped."""

    CANCELLED = "cancelled"
    TIMED_OUT = "timed out"


class Abandoned(Exception):  # noqa: N818 - nothing failed: nobody wants the answer any more
    """Nobody waits for the answer: none is sent."""


class Exchange(ABC):
    """One request, from its arrival to its answer."""

    __slots__ = (
        "_task",
        "_timer",
        "access",
        "batched",
        "failure",
        "headers",
        "interruption",
        "revision",
        "service",
        "subscription",
        "timeout",
    )

    transport = "pipe"
    """The `network.transport` of telemetry."""

    tells_changes = False
    """Whether a handshake peer is told of changes to the list of tools."""

    announces_closing = False
    """Whether the end of a subscription is announced by a cancellation, too."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.revision: Revision | None = None
        self.access: AccessToken | None = None
        self.headers: RequestHeaders | None = None
        self.batched = False
        self.failure: int | None = None
        self.timeout: float | None = None
        self.interruption: Interruption | None = None
        self.subscription: asyncio.Future[None] | None = None
        self._task: asyncio.Task[Any] | None = None
        self._timer: asyncio.TimerHandle | None = None

    @abstractmethod
    def assumed(self, method: str) -> Revision:
        """Return the revision of a request that does not name its own, or raise."""

    @abstractmethod
    def send(self, message: bytes) -> None:
        """Send a message that precedes the answer."""

    @property
    def client(self) -> Mapping[str, Any] | None:
        """What the client said of itself in a handshake, if there was one."""
        return None

    def greet(self, revision: Revision, parameters: InitializeParameters) -> None:
        """Remember what a handshake has settled, where there is a place to remember it."""
        return

    def variables(self) -> Variables | None:
        """Return the context variables to run the call in; `None` for those of the task."""
        return None

    def suspended(self) -> None:
        """Set up what only a request that waits needs: a way to stop it, and its time-out."""
        if self.subscription is None:
            self.service.waiting += 1
        self._task = asyncio.current_task()
        if self.timeout is not None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self.timeout, self.interrupt, Interruption.TIMED_OUT)

    def settled(self) -> None:
        """Take down what `suspended` set up, if it did."""
        if self._task is None:
            return
        if self.subscription is None:
            self.service.waiting -= 1
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self.interruption is not None:
            self._task.uncancel()
        self._task = None

    def interrupt(self, why: Interruption) -> None:
        """Stop the request if it waits."""
        if self._task is not None and self.interruption is None:
            self.interruption = why
            self._task.cancel()

    def report(
        self, token: str | int, progress: float, total: float | None, message: str | None
    ) -> None:
        """Send a progress notification."""
        if self.interruption is not None:
            return
        parameters: dict[str, object] = {"progressToken": token, "progress": progress}
        if total is not None:
            parameters["total"] = total
        if message is not None and (self.revision is None or self.revision.has_progress_messages):
            parameters["message"] = message
        self.send(encode_notification("notifications/progress", _encode(parameters)))
