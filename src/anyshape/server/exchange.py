"""One request being answered, seen from the transport that carries it.

Dispatch knows an exchange only by what is here: which revision to assume, how to send what precedes
the answer, and what to set up if the answer has to wait. Each transport adds its own side.
"""

from __future__ import annotations

import asyncio
import enum
from abc import ABC, abstractmethod
from collections.abc import Mapping
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import UNSET

from anyshape.protocol.clients import NOTHING, Needs
from anyshape.protocol.jsonrpc import encode_notification
from anyshape.protocol.methods import PROGRESS
from anyshape.protocol.revision import MODERN, Revision
from anyshape.server.raw_object import RawObject

if TYPE_CHECKING:
    from anyshape.server.authorization import AccessToken
    from anyshape.server.headers import RequestHeaders
    from anyshape.server.parameters import InitializeParameters, Meta
    from anyshape.server.service import Service

__all__ = ["Abandoned", "Exchange", "Interruption"]

_encode = msgspec.json.Encoder().encode

_WINDOW: Final = 1.0
_MOST_REPORTS: Final = 50
"""Notifications of progress for one request within so many seconds; nobody can follow more."""


class Interruption(enum.Enum):
    """Why a request that waits was stopped."""

    CANCELLED = "cancelled"
    TIMED_OUT = "timed out"
    STOPPED = "stopped"
    """The server ends, and somebody still waits for the answer."""


class Abandoned(Exception):
    """Nobody waits for the answer: none is sent."""


class Exchange(ABC):
    """One request, from its arrival to its answer.

    What most exchanges never change is set on the class, to make one cheaply.
    """

    transport = "pipe"
    """The `network.transport` of telemetry."""

    tells_changes = False
    """Whether a handshake peer is told of changes to what is listed."""

    takes_stream = True
    """Whether anything can be said before the answer."""

    announces_closing = False
    """Whether the end of a subscription is announced by a cancellation, too."""

    revision: Revision = MODERN[-1]
    """What the request is answered at; the newest as long as that is not settled."""

    access: AccessToken | None = None
    """What its access token proved."""

    headers: RequestHeaders | None = None
    """The HTTP headers it came with."""

    shares_task = False
    """Whether other requests are answered in the same task, so that a call needs context variables
    of its own."""

    batched = False
    """Whether it came with others in an array."""

    failure: int | None = None
    """The code of the error it was answered with."""

    timeout: float | None = None
    """Seconds it may wait."""

    interruption: Interruption | None = None
    """Why it was stopped."""

    subscription: asyncio.Future[None] | None = None
    """What ends it, if it is a subscription."""

    service: Service
    id: bytes
    """The id of the request, as JSON text."""

    _raw: bytes | msgspec.Raw | None = None
    _path: tuple[str, ...] = ("params", "_meta")
    """What `_meta` is inside of, the whole message or its parameters, and the keys that lead to it.
    """

    _reports = 0
    _window = 0.0
    """How many notifications of progress there were until when."""

    _held: dict[str, object] | None = None
    _due: asyncio.TimerHandle | None = None
    """The notification that waits, and what sends it."""

    _task: asyncio.Task[Any] | None = None
    _timer: asyncio.TimerHandle | None = None

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

    @property
    def meta(self) -> Mapping[str, Any]:
        """The `_meta` of the request, read when somebody looks."""
        return {} if self._raw is None else RawObject(self._raw, *self._path)

    @property
    def needs(self) -> Needs:
        """What the client of a handshake is known to need."""
        return NOTHING

    def needs_in(self, meta: Meta) -> Needs:
        """What the client is known to need that sent this metadata."""
        info = meta.client_info
        return self.needs if info is UNSET else self.service.clients.needs_of(bytes(info))

    def greet(self, revision: Revision, parameters: InitializeParameters) -> None:
        """Remember what a handshake has settled, where there is a place to remember it."""
        return

    def suspended(self) -> None:
        """Set up what only a request that waits needs: a way to stop it, and its time-out."""
        if self.subscription is None:
            self.service.waiting += 1
        self._task = asyncio.current_task()
        if self.timeout is not None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self.timeout, self.interrupt, Interruption.TIMED_OUT)

    def settled(self) -> None:
        """Take down what `suspended` set up, and what waits to be reported."""
        self._drop_reports()
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

    @property
    def waits(self) -> bool:
        """Whether the request has had to wait and is not over."""
        return self._task is not None

    def interrupt(self, why: Interruption) -> None:
        """Stop the request if it waits."""
        if self._task is not None and self.interruption is None:
            self.interruption = why
            self._task.cancel()

    @property
    def is_pressed(self) -> bool:
        """Whether the peer is too far behind for anything that will be overtaken."""
        return False

    def report(
        self, token: str | int, progress: float, total: float | None, message: str | None
    ) -> None:
        """Send a progress notification, now or, if there were many of late, when it is due.

        One that waits is overtaken by the next; the last one is sent before the answer.
        """
        if self.interruption is not None:
            return
        now = monotonic()
        if now >= self._window:
            self._window = now + _WINDOW
            self._reports = 0
        self._reports += 1
        parameters: dict[str, object] = {"progressToken": token, "progress": progress}
        if total is not None:
            parameters["total"] = total
        if message is not None and self.revision.has_progress_messages:
            parameters["message"] = message
        self._held = parameters
        if self._reports <= _MOST_REPORTS and not self.is_pressed:
            self.report_last()
        elif self._due is None:
            loop = asyncio.get_running_loop()
            self._due = loop.call_later(self._window - now, self._report_due)

    def report_last(self) -> None:
        """Send the notification that waits, if one does."""
        held = self._held
        self._drop_reports()
        if held is not None and self.interruption is None:
            self.send(encode_notification(PROGRESS, _encode(held)))

    def _report_due(self) -> None:
        self._due = None
        if not self.is_pressed:
            self.report_last()

    def _drop_reports(self) -> None:
        self._held = None
        if self._due is not None:
            self._due.cancel()
            self._due = None
