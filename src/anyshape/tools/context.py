"""What a tool may know of the call it serves, and what it may say before it answers.

https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress
A parameter annotated `Context` receives it; it is never published.
"""

from __future__ import annotations

import asyncio
import logging
import math
import threading
from collections.abc import Awaitable, Callable, Generator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Generic, NoReturn, TypeVar

from anyshape.protocol.log_levels import SEVERITY, LogLevel, check_level
from anyshape.tools.deadline import Deadline
from anyshape.tools.questions import AsksClient, FindAsker

if TYPE_CHECKING:
    import typing_extensions

    State = typing_extensions.TypeVar("State", default=Any)
else:
    State = TypeVar("State")

_log = logging.getLogger("anyshape.tools.context")
_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


class _LoopTurn(Awaitable[None]):
    """An awaitable that gives the event loop one turn."""

    __slots__ = ()

    def __await__(self) -> Generator[None, None, None]:
        yield


_TURN: Final = _LoopTurn()


class Context(AsksClient, Generic[State]):
    """One call: who asked, with which metadata, whether it still matters; progress and log.

    `request_id` is the JSON-RPC id; `meta` the request's `_meta`; `client` the caller's
    `Implementation` (name, version, …) if it introduced itself; `access` what the server's token
    verifier returned, if it has one; `state` what the server's lifespan has yielded, `None` without
    one. Annotate `Context[Database]` to have `state` typed. Everything works from worker threads
    too.
    """

    __slots__ = (
        "_asker",
        "_cancelled",
        "_ended",
        "_find_asker",
        "_hang_up",
        "_last",
        "_log",
        "_loop",
        "_report",
        "_thread",
        "access",
        "client",
        "deadline",
        "earlier_questions",
        "meta",
        "request_id",
        "state",
    )

    def __init__(
        self,
        *,
        request_id: str | int | float | None = None,
        meta: Mapping[str, Any] = _NOTHING,
        client: Mapping[str, Any] | None = None,
        access: Any = None,
        state: State = None,
        report: Callable[[float, float | None, str | None], object] | None = None,
        log: Callable[[LogLevel, Any, str | None], object] | None = None,
        find_asker: FindAsker | None = None,
        hang_up: Callable[[], object] | None = None,
        earlier_questions: tuple[str, ...] = (),
    ) -> None:
        """Make the context of one call.

        `report(progress, total, message)` and `hang_up()` run on the loop, and
        `log(level, data, logger)` anywhere; `find_asker` is called when something is first asked of
        the client.
        """
        self.request_id = request_id
        self.meta = meta
        self.client = client
        self.access = access
        self.state = state
        self._report = report
        self._find_asker = find_asker
        self._asker = None
        self.deadline: Deadline | None = None
        self._log = log
        self._hang_up = hang_up
        self.earlier_questions = earlier_questions
        """The keys of what was asked of the client in earlier rounds of the same call."""
        self._cancelled = False
        self._ended = False
        self._last = -math.inf
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = 0

    @property
    def cancelled(self) -> bool:
        """Whether nobody waits for the answer any more: cancelled, timed out or disconnected.

        A function on a worker thread cannot be interrupted; one that takes long should look here
        between its steps and return when it is true.
        """
        return self._cancelled

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            from anyshape.moved import CONTEXT_NAMES

            advice = f"; {CONTEXT_NAMES[name]}" if name in CONTEXT_NAMES else ""
            raise AttributeError(f"Context has no {name!r}{advice}", name=name, obj=self)

    def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> Awaitable[None]:
        """Tell the caller how far the call has come, if it asked to be told.

        `progress` has to grow from report to report: one that does not, or that comes after the
        call has ended, is not sent. A server sends only so many in a second: of more, it sends the
        newest, and always the last. There is nothing to wait for; an `async` tool that
        does much between its reports may await this, so that they leave meanwhile.
        """
        if not math.isfinite(progress) or (total is not None and not math.isfinite(total)):
            raise ValueError(f"progress has to be a finite number, got {progress} of {total}")
        if self._report is None or self._ended or progress <= self._last:
            return _TURN
        self._last = progress
        if self._loop is None or threading.get_ident() == self._thread:
            self._report(progress, total, message)
        else:
            self._loop.call_soon_threadsafe(self._send_late, progress, total, message)
        return _TURN

    report_progress = progress
    """What `mcp` and FastMCP call `progress`."""

    def log(self, level: LogLevel, data: Any, logger: str | None = None) -> Awaitable[None]:
        """Tell the client, if it wants messages of that level; `data` is any JSON value.

        A server sends only so many in a second and shortens long ones. There is nothing to wait
        for, and awaiting is harmless, as it is for `progress`. Say nothing here that the client
        must not know: what the operator is to read goes to `info` and the like.
        """
        if level not in SEVERITY:
            check_level(level)
        if self._log is not None and not self._ended:
            self._log(level, data, logger)
        return _TURN

    def hang_up(self) -> None:
        """Close the connection to a client that can come back for the answer, which is kept for it.

        A call that takes minutes need not hold a connection all the time. Clients of 2025-11-25
        over HTTP come back (the specification calls it polling); for others this does nothing.
        """
        if self._hang_up is None or self._ended:
            return
        if self._loop is None or threading.get_ident() == self._thread:
            self._hang_up()
        else:
            self._loop.call_soon_threadsafe(self._hang_up)

    def debug(self, message: str, **details: Any) -> Awaitable[None]:
        """Log what helps to find a mistake: see `info`."""
        return self._write(logging.DEBUG, message, **details)

    def info(self, message: str, **details: Any) -> Awaitable[None]:
        """Log what happens, to Python's `logging`; the client is not told, as it is by `log`.

        The logger is `anyshape.tools.context`, or `logger_name=`; `extra=` is for its handlers.
        Control characters are made visible and lines below the first indented, so that no argument
        of a call can write a line of its own.
        There is nothing to wait for, and awaiting is harmless, as it is for `progress`.
        """
        return self._write(logging.INFO, message, **details)

    def warning(self, message: str, **details: Any) -> Awaitable[None]:
        """Log what is odd: see `info`."""
        return self._write(logging.WARNING, message, **details)

    def error(self, message: str, **details: Any) -> Awaitable[None]:
        """Log what went wrong: see `info`. To tell the model, raise `ToolError`."""
        return self._write(logging.ERROR, message, **details)

    def _write(
        self,
        level: int,
        message: str,
        *,
        logger_name: str | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> Awaitable[None]:
        log = logging.getLogger(logger_name) if logger_name else _log
        log.log(level, "%s", _within_one_record(message), extra=extra, stacklevel=3)
        return _TURN

    def cancel(self) -> None:
        """Let the tool notice that nobody waits for its answer, and stop its reports."""
        self._cancelled = True
        self._ended = True

    def end(self) -> None:
        """Stop the reports: the call has its answer.

        Unless it was given up, or a question that it asked has none: `Unanswered` says so.
        """
        self._ended = True
        if self._asker is not None and not self._cancelled:
            self._asker.check()

    def attach(self, loop: asyncio.AbstractEventLoop) -> None:
        """Remember the loop that reports from worker threads have to reach."""
        self._loop = loop
        self._thread = threading.get_ident()

    def _send_late(self, progress: float, total: float | None, message: str | None) -> None:
        if not self._ended and self._report is not None:
            self._report(progress, total, message)


def _within_one_record(message: object) -> str:
    """Return a message, which may quote a caller, so that it forges no line of a log."""
    text = str(message)
    if text.isprintable():
        return text
    lines = ("".join(map(_visible, line)) for line in text.split("\n"))
    return "\n  ".join(lines)


def _visible(character: str) -> str:
    return character if character.isprintable() or character == "\t" else ascii(character)[1:-1]
