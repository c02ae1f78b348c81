"""What a tool may know of the call it serves, and what it may say and ask before it answers.

https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress
A parameter annotated `Context` receives it; it is never published.
"""

from __future__ import annotations

import asyncio
import logging
import math
import threading
from collections.abc import Awaitable, Callable, Coroutine, Generator, Mapping, Sequence
from types import MappingProxyType
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    Generic,
    Literal,
    Never,
    NoReturn,
    TypeAlias,
    TypeVar,
    cast,
    overload,
)

from anyshape.errors import AskError
from anyshape.moved import CONTEXT_NAMES, CONTEXT_SETTINGS, refuse_brought
from anyshape.protocol.log_levels import SEVERITY, LogLevel, check_level
from anyshape.tools.deadline import Deadline

if TYPE_CHECKING:
    import typing_extensions

    from anyshape.protocol.roots import Root
    from anyshape.protocol.sampling import Sampled, SampleMessages
    from anyshape.tools.asking import Asker
    from anyshape.tools.deadline import Interruptible
    from anyshape.tools.outcomes import Elicited
    from anyshape.tools.tool import Tool

    State = typing_extensions.TypeVar("State", default=Any)
else:
    State = TypeVar("State")

FindAsker: TypeAlias = "Callable[[Interruptible], Asker]"
"""Gives what asks the client of a call, whose time stands while the client is waited for."""

Wanted = TypeVar("Wanted")

_log = logging.getLogger("anyshape.tools.context")
_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


class Unanswered(BaseException):
    """A question has no answer yet: the call ends, and is made again with the answer."""


class _LoopTurn(Awaitable[None]):
    """An awaitable that gives the event loop one turn."""

    __slots__ = ()

    def __await__(self) -> Generator[None, None, None]:
        yield


_TURN: Final = _LoopTurn()


class Context(Generic[State]):
    """One call: who asked, with which metadata, whether it still matters; progress and log.

    `request_id` is the JSON-RPC id; `meta` the request's `_meta`; `client` the caller's
    `Implementation` (name, version, …) if it introduced itself; `access` what the server's token
    verifier returned, if it has one; `state` what the server's lifespan has yielded, `None` without
    one. Annotate `Context[Database]` to have `state` typed. Everything but questions works from
    worker threads too.

    It asks the client that sent the request, in the way of its revision. At 2026-07-28 the function
    runs again from its start when the answers have come; those that it has got before are given at
    once. `key` names a question among those of the function; without it, questions are told apart
    by their order. Nothing that asking needs is imported before something is asked.
    """

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
        self._asker: Asker | None = None
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

    def log(
        self, level: LogLevel, data: Any, logger: str | None = None, **brought: Never
    ) -> Awaitable[None]:
        """Tell the client, if it wants messages of that level; `data` is any JSON value.

        A server sends only so many in a second and shortens long ones. There is nothing to wait
        for, and awaiting is harmless, as it is for `progress`. Say nothing here that the client
        must not know: what the operator is to read goes to `info` and the like.
        """
        if brought:
            refuse_brought("Context.log", brought, CONTEXT_SETTINGS)
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

    @property
    def capabilities(self) -> Mapping[str, Any]:
        """What the client can be asked for, as it has declared it: `"sampling" in …`."""
        return _NOTHING if self._find_asker is None else self._found_asker().capabilities

    @overload
    def elicit(
        self, message: str, schema: None = None, *, key: str | None = None
    ) -> Coroutine[Any, Any, Elicited[None]]: ...

    @overload
    def elicit(
        self, message: str, schema: type[Wanted], *, key: str | None = None
    ) -> Coroutine[Any, Any, Elicited[Wanted]]: ...

    @overload
    def elicit(
        self, message: str, schema: Mapping[str, Any], *, key: str | None = None
    ) -> Coroutine[Any, Any, Elicited[dict[str, Any]]]: ...

    @overload
    def elicit(
        self, message: str, schema: object, *, key: str | None = None
    ) -> Coroutine[Any, Any, Elicited[Any]]: ...

    def elicit(
        self, message: str, schema: object = None, *, key: str | None = None, **brought: Never
    ) -> Coroutine[Any, Any, Elicited[Any]]:
        """Ask the user to fill in a form, and return `Accepted`, `Declined` or `Cancelled`.

        `schema` is a flat type (a model, dataclass, TypedDict or struct; or one value, such as
        `bool` or a `Literal`), a JSON Schema, or `None` where the user has only to agree. Never ask
        for a secret in this way: `elicit_url` is for that.
        """
        from anyshape.tools.asking import elicit
        from anyshape.tools.forms import form_of

        refuse_brought("Context.elicit", brought, CONTEXT_SETTINGS)
        name = getattr(schema, "__name__", None) or str(schema)[:60]
        form = form_of(schema, f"elicit({name})")
        return elicit(self.ready_asker(), message, form, key)

    def elicit_url(
        self,
        message: str,
        url: str,
        *,
        id: str | None = None,
        key: str | None = None,
        **brought: Never,
    ) -> Coroutine[Any, Any, Elicited[None]]:
        """Ask the user to visit an address, for what the client must not see.

        `Accepted` says that the user agreed to go there, not that anything was done there. `id` is
        what clients up to 2025-11-25 know the visit by.
        """
        from anyshape.tools.asking import elicit_visit

        refuse_brought("Context.elicit_url", brought, CONTEXT_SETTINGS)
        return elicit_visit(self.ready_asker(), message, url, id, key)

    def sample(
        self,
        messages: SampleMessages,
        *,
        max_tokens: int = 1_000,
        system_prompt: str | None = None,
        temperature: float | None = None,
        stop_sequences: Sequence[str] = (),
        tools: Sequence[Tool | Mapping[str, Any]] = (),
        tool_choice: Literal["auto", "required", "none"] | None = None,
        preferences: Mapping[str, Any] | None = None,
        meta: Mapping[str, Any] | None = None,
        key: str | None = None,
        **brought: Never,
    ) -> Coroutine[Any, Any, Sampled]:
        """Ask the client's model, and return what it says.

        With `tools`, where the client can, the model may answer with `tool_uses`: it is for you to
        run them, and to ask again with their results.
        """
        from anyshape.protocol.sampling import SampleRequest
        from anyshape.tools.asking import sample

        refuse_brought("Context.sample", brought, CONTEXT_SETTINGS)
        listed = [tool if isinstance(tool, Mapping) else tool.listing for tool in tools]
        asked = SampleRequest(
            messages=messages,
            max_tokens=max_tokens,
            system_prompt=system_prompt,
            temperature=temperature,
            stop_sequences=stop_sequences,
            tools=cast("Any", listed),
            tool_choice=tool_choice,
            preferences=preferences,
            meta=meta,
        )
        return sample(self.ready_asker(), asked, key)

    def roots(self, *, key: str | None = None) -> Coroutine[Any, Any, list[Root]]:
        """Return the directories and files that the client works on."""
        from anyshape.tools.asking import list_roots

        return list_roots(self.ready_asker(), key)

    def ready_asker(self) -> Asker:
        """Return what asks the client, where a function may."""
        if self._loop is not None and threading.get_ident() != self._thread:
            raise RuntimeError(
                "only an async function can ask the client; make this one async, or take a "
                "parameter that is asked for: Annotated[…, Ask('…')]"
            )
        if self._ended:
            raise AskError("the client cannot be asked: the call has ended")
        return self._found_asker()

    def _found_asker(self) -> Asker:
        if self._asker is None:
            if self._find_asker is None:
                raise AskError(
                    "there is no client to ask: only tools, prompts and resources of a server ask"
                )
            self._asker = self._find_asker(self)
        return self._asker

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
