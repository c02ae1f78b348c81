"""What an upstream asks while it works, asked of the client that waits for it.

An upstream of a handshake asks in the middle of a call, and a client of 2026-07-28 is asked by the
result of its request, which it then sends again. So the call to the upstream is held here from one
round to the next: the key of each question names the call that it belongs to, and travels in the
state that only this gateway can read, bound to its caller.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Coroutine
from contextvars import ContextVar, Token
from typing import Any, Final, TypeVar, cast

from anyshape.client.elicitation import ElicitAnswer, Elicitation
from anyshape.client.logs import LogMessage
from anyshape.client.sampling import SamplingRequest
from anyshape.errors import AskError, ProtocolError, TransportError
from anyshape.gateway.refusal import UpstreamRefusal
from anyshape.gateway.room import Room
from anyshape.protocol.jsonrpc import INVALID_REQUEST
from anyshape.protocol.messages import Message
from anyshape.protocol.roots import Root
from anyshape.protocol.sampling import Sampled
from anyshape.tools.context import Context, Unanswered
from anyshape.tools.outcomes import Accepted

Answered = TypeVar("Answered")
Ask = Callable[[Context, str], Awaitable[Any]]
"""Asks the client of a context, under a key."""

_KEY: Final = "upstream:"
_MOST_HELD: Final = 1_000
_GIVEN_UP: Final = 2.0
_LONGEST_HELD: Final = 600.0
_current: ContextVar[HeldCall | None] = ContextVar("anyshape_gateway_call", default=None)


class HeldCall:
    """One call to an upstream, and what it waits to be told.

    A call that may be asked about outlives the request that began it: `hold` gives what is left of
    it a task of its own. Most calls have nothing left when their first answer has come.
    """

    __slots__ = (
        "_asked",
        "_id",
        "_open",
        "_stirred",
        "_token",
        "context",
        "is_kept",
        "task",
        "timer",
    )

    def __init__(self, context: Context | None = None) -> None:
        self._asked = 0
        self._id = ""
        self._open: dict[str, tuple[Ask, asyncio.Future[Any]]] = {}
        self._stirred: asyncio.Future[None] | None = None
        """Done as soon as something is asked, or the call has ended."""
        self.context = context
        """Of the request that waits for it now."""
        self.is_kept = False
        """Whether it waits for its client to come back, without a place in its upstream's room."""
        self.timer: asyncio.TimerHandle | None = None
        self.task: asyncio.Task[Any] | None = None
        self._token: Token[HeldCall | None] | None = None

    @property
    def id(self) -> str:
        """What tells it from others, to this gateway alone; most calls never need it."""
        if not self._id:
            self._id = secrets.token_urlsafe(12)
        return self._id

    @property
    def is_running(self) -> bool:
        """Whether something is left of it."""
        return self.task is not None and not self.task.done()

    @property
    def has_asked(self) -> bool:
        """Whether anything was asked on its behalf."""
        return self._asked > 0

    def enter(self) -> None:
        """Have what runs here known to run for this call, until `exit`."""
        self._token = _current.set(self)

    def exit(self) -> None:
        """Have what runs here run for whatever it ran for before."""
        if self._token is not None:
            _current.reset(self._token)
            self._token = None
        self.context = None

    def hold(self, call: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Run a call, or what is left of it, in a task of its own."""
        loop = asyncio.get_running_loop()
        self._stirred = loop.create_future()
        self.task = loop.create_task(self._run(call))

        def end(task: asyncio.Task[Any]) -> None:
            call.close()  # One that is cancelled before it began has never looked at it.
            if not task.cancelled():
                task.exception()  # Nobody may come back to hear of it; the log has it already.

        self.task.add_done_callback(end)
        return self.task

    async def _run(self, call: Coroutine[Any, Any, Any]) -> Any:
        _current.set(self)
        try:
            return await call
        finally:
            self._stir()

    def _stir(self) -> None:
        if self._stirred is not None and not self._stirred.done():
            self._stirred.set_result(None)

    async def post(self, ask: Ask) -> Any:
        """Have something asked of whoever waits for the call; return the answer."""
        self._asked += 1
        answer = asyncio.get_running_loop().create_future()
        key = f"{_KEY}{self.id}:{self._asked}"
        self._open[key] = (ask, answer)
        self._stir()
        try:
            return await answer
        finally:
            self._open.pop(key, None)

    async def wait(self, context: Context | None) -> Any:
        """Return what comes of the call; raise `Unanswered` if the client has to be asked first."""
        self.context = context
        try:
            while self._stirred is not None and self.task is not None:
                await asyncio.shield(self._stirred)
                if not self._open or self.task.done():
                    return await self.task
                self._stirred = asyncio.get_running_loop().create_future()
                await self._ask_all(context)
        finally:
            self.context = None

    def give_up(self) -> None:
        """Stop what is left of it; nobody waits for that, and nobody is there to be asked."""
        if self.timer is not None:
            self.timer.cancel()
        for _, answer in self._open.values():
            if not answer.done():
                answer.set_exception(ProtocolError("the call is over", code=INVALID_REQUEST))
        if self.task is not None:
            self.task.cancel()
            self.task = None  # The task knows this call: together they would be left to the GC.

    async def _ask_all(self, context: Context | None) -> None:
        """Ask what is open; in rounds, all that has no answer is asked for together."""
        unanswered: Unanswered | None = None
        for key, (ask, answer) in list(self._open.items()):
            try:
                if context is None:
                    raise AskError("nobody is there to be asked")
                given = await ask(context, key)
            except Unanswered as waiting:
                unanswered = waiting
            except AskError as error:
                if not answer.done():
                    refused = ProtocolError(str(error), code=INVALID_REQUEST)
                    refused.__cause__ = error
                    answer.set_exception(refused)
            else:
                if not answer.done():
                    answer.set_result(given)
        if unanswered is not None:
            self._stir()
            raise unanswered


class HeldCalls:
    """The calls to upstreams whose clients have been asked something and have yet to come back."""

    def __init__(self, upstream: str, room: Room) -> None:
        self._upstream = upstream
        self._room = room
        self._held: OrderedDict[str, HeldCall] = OrderedDict()

    async def run(
        self, call: Callable[[], Coroutine[Any, Any, Answered]], context: Context | None
    ) -> Answered:
        """Return what comes of a call, begun now or in an earlier round of the same request."""
        held = self.take(context)
        if held is None:
            held = HeldCall(context)
            held.hold(call())
        return cast("Answered", await self.wait(held, context))

    async def wait(self, held: HeldCall, context: Context | None) -> Any:
        """Return what comes of a call; keep one that its client has to be asked about."""
        try:
            return await held.wait(context)
        except Unanswered:
            self._keep(held)
            raise
        finally:
            if not held.is_kept:
                held.give_up()

    def take(self, context: Context | None) -> HeldCall | None:
        """Return the call that an earlier round of this request began, `None` if none did.

        Raises `UpstreamRefusal` if it is not here any more: to begin it anew might do its work
        twice, and would ask the same again.
        """
        for key in () if context is None else context.earlier_questions:
            id = key.removeprefix(_KEY).rpartition(":")[0]
            if key.startswith(_KEY):
                held = self._held.pop(id, None)
                if held is None:
                    raise UpstreamRefusal(
                        f"upstream {self._upstream!r} waits for this answer no more: the call was "
                        "given up, or another replica of the gateway has it; call again",
                        upstream=self._upstream,
                        limit="held",
                    )
                held.is_kept = False
                if held.is_running:
                    self._room.enter_again()
                if held.timer is not None:
                    held.timer.cancel()
                return held
        return None

    def _keep(self, held: HeldCall) -> None:
        held.is_kept = True
        if held.is_running:
            self._room.leave()  # People take their time, and others can have the place.
        self._held[held.id] = held
        loop = asyncio.get_running_loop()
        held.timer = loop.call_later(_LONGEST_HELD, self._drop, held.id)
        while len(self._held) > _MOST_HELD:
            self._drop(next(iter(self._held)))

    async def end(self) -> None:
        """Give up all that are held, and wait a moment until that is done: the gateway closes."""
        tasks = [held.task for held in self._held.values() if held.task is not None]
        for id in tuple(self._held):
            self._drop(id)
        if tasks:
            await asyncio.wait(tasks, timeout=_GIVEN_UP)

    def _drop(self, id: str) -> None:
        held = self._held.pop(id, None)
        if held is not None:
            held.give_up()


class QuestionRelay:
    """The callbacks of a client of an upstream: each asks the client that waits for the call."""

    def __init__(self, on_question: Callable[[], object]) -> None:
        self._on_question = on_question
        self._calls: set[object] = set()
        """What is in flight: calls that can be asked, and marks for requests that cannot."""

    async def elicit(self, question: Elicitation) -> ElicitAnswer:
        """Ask the user."""

        async def ask(context: Context, key: str) -> ElicitAnswer:
            if question.url is not None:
                visit = await context.elicit_url(
                    question.message, question.url, id=question.id, key=key
                )
                return visit.action
            outcome = await context.elicit(question.message, dict(question.schema or {}), key=key)
            return outcome.data if isinstance(outcome, Accepted) else outcome.action

        return await self._waiting().post(ask)

    async def sample(self, question: SamplingRequest) -> Sampled:
        """Ask the model."""

        async def ask(context: Context, key: str) -> Sampled:
            try:
                return await context.sample(
                    [Message(said.content, said.role) for said in question.messages],
                    max_tokens=question.max_tokens,
                    system_prompt=question.system_prompt,
                    temperature=question.temperature,
                    stop_sequences=question.stop_sequences,
                    tools=question.tools,
                    tool_choice=question.tool_choice if "toolChoice" in question.raw else None,
                    preferences=question.preferences or None,
                    meta=question.raw.get("metadata"),
                    key=key,
                )
            except ValueError as error:  # The upstream asks what no model can be asked.
                raise AskError(str(error)) from None

        return await self._waiting().post(ask)

    async def roots(self) -> list[Root]:
        """Ask for the roots."""

        async def ask(context: Context, key: str) -> list[Root]:
            return await context.roots(key=key)

        return await self._waiting().post(ask)

    def start_over(self) -> None:
        """Forget the calls that were given up: another connection knows nothing of them."""
        self._calls = {call for call in self._calls if isinstance(call, HeldCall)}

    def log(self, message: LogMessage) -> None:
        """Tell the client, if it wants to know; what cannot be told whose it is, nobody is told."""
        held = self._find()
        if held is not None and held.context is not None:
            held.context.log(message.level, message.data, message.logger)

    def begin(self, call: HeldCall | None) -> object:
        """Know that a call is in flight at the upstream; return what it is known by."""
        known = call or _current.get() or object()
        self._calls.add(known)
        return known

    def end(self, known: object, error: BaseException | None) -> None:
        """Know that a call is over.

        One that was given up counts for a moment longer: until it has heard of that, an upstream
        may ask and log on its behalf, which must not reach the next caller.
        """
        self._calls.discard(known)
        if isinstance(error, asyncio.CancelledError | TransportError):
            mark = object()
            self._calls.add(mark)
            asyncio.get_running_loop().call_later(_GIVEN_UP, self._calls.discard, mark)

    def _waiting(self) -> HeldCall:
        """Return the call on whose behalf something is asked, and never another's."""
        self._on_question()
        held = self._find()
        if held is None:
            raise ProtocolError(
                f"cannot tell which of {len(self._calls)} calls this is asked for",
                code=INVALID_REQUEST,
            )
        return held

    def _find(self) -> HeldCall | None:
        """Return the call that the upstream works for now, if that can be told."""
        held = _current.get()
        if held is None and len(self._calls) == 1:
            (only,) = self._calls
            held = only if isinstance(only, HeldCall) else None
        return held
