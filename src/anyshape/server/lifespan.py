"""What a server opens before its first call and closes after its last: `Server(lifespan=…)`.

The author's context manager is entered when the first user comes and left when the last one goes: a
pipe, an HTTP application and a client in the same process are users. So it is open once per process
wherever there is one transport, and for as long as anybody is connected in a test. It is entered
and left in a task of its own, as the task groups inside it may require.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Any, TypeAlias

from anyshape.errors import TransportError

Opening: TypeAlias = Callable[[], AbstractAsyncContextManager[Any]]
"""Makes the author's context manager; what that yields is the state of every call."""


class Lifespan:
    """The author's context manager, open while there are users."""

    def __init__(self, opening: Opening | None) -> None:
        self._opening = opening
        self._inner: tuple[Opening, ...] = ()
        self._open: OpenLifespan | None = None
        self._last: OpenLifespan | None = None
        """What was opened last, which may be closing by now."""
        self._tasks: set[asyncio.Task[None]] = set()
        """Those that open, hold open or close."""

    def add(self, opening: Opening) -> None:
        """Have something of our own opened after the author's, and closed before it."""
        self._inner = (*self._inner, opening)

    @property
    def is_needed(self) -> bool:
        """Whether there is anything to open."""
        return self._opening is not None or bool(self._inner)

    @property
    def state(self) -> Any:
        """What the context manager has yielded; `None` if nothing is open."""
        return None if self._open is None else self._open.state

    @asynccontextmanager
    async def held(self) -> AsyncGenerator[None]:
        """Keep it open for the time of an `async with`."""
        held = await self.acquire()
        try:
            yield
        finally:
            await self.give_back(held)

    def refuse_itself(self) -> None:
        """Raise if this is called by what is being opened or closed: that would wait for itself."""
        if self._tasks and asyncio.current_task() in self._tasks:
            raise TransportError(
                "a lifespan cannot use its own server while it opens or closes: "
                "call the function that the tool is made from"
            )

    async def acquire(self) -> OpenLifespan | None:
        """Wait until it is open; it stays so until all who have acquired it give it back, once."""
        if not self.is_needed:
            return None
        self.refuse_itself()
        if self._open is None or self._open.is_of_another_loop:
            self._open = self._last = OpenLifespan(self._opening, self._inner, self._last)
            self._tasks.add(self._open.task)
            self._open.task.add_done_callback(self._tasks.discard)
        held = self._open
        held.users += 1
        try:
            # Shielded: whoever gives up waiting must not end what others wait for.
            await asyncio.shield(held.ready)
        except BaseException:
            await self.give_back(held)
            raise
        return held

    async def give_back(self, held: OpenLifespan | None) -> None:
        """Close what was acquired, if this was its last user; that one waits until it is closed."""
        if held is None:
            return
        held.users -= 1
        if held.users == 0:
            if self._open is held:
                self._open = None
            await held.close()


class OpenLifespan:
    """The task that holds the author's context manager."""

    def __init__(
        self, opening: Opening | None, inner: tuple[Opening, ...], before: OpenLifespan | None
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self.users = 0
        self.state: Any = None
        self.ready: asyncio.Future[None] = self._loop.create_future()
        self._last_left = asyncio.Event()
        closing = None if before is None or before.is_of_another_loop else before.task
        self.task = self._loop.create_task(self._hold(opening, inner, closing))

    @property
    def is_of_another_loop(self) -> bool:
        """Whether whoever asks runs on another event loop."""
        return self._loop is not asyncio.get_running_loop()

    async def _hold(
        self,
        opening: Opening | None,
        inner: tuple[Opening, ...],
        closing: asyncio.Task[None] | None,
    ) -> None:
        """Hold it open; who comes while the one before closes finds that closed first."""
        try:
            if closing is not None:
                await asyncio.wait([closing])
            async with AsyncExitStack() as stack:
                if opening is not None:
                    self.state = await stack.enter_async_context(opening())
                for each in inner:
                    await stack.enter_async_context(each())
                self.ready.set_result(None)
                await self._last_left.wait()
        except BaseException as error:
            if self.ready.done():
                raise
            self.ready.set_exception(error)

    async def close(self) -> None:
        """Have the context manager left, and wait until it is."""
        self._last_left.set()
        if not self.ready.done():
            self.task.cancel()  # Nobody waits for it to open any more.
            await asyncio.wait([self.task])
            self.ready.exception()
        elif self.ready.exception() is None:
            # Shielded: whoever gives up waiting must not cut short what is being closed.
            await asyncio.shield(self.task)


def check_lifespan(lifespan: Any) -> None:
    """Raise unless `lifespan` is a function that makes an async context manager, or `None`."""
    if lifespan is None:
        return
    if inspect.isasyncgenfunction(lifespan) or inspect.isgeneratorfunction(lifespan):
        raise TypeError(
            f"lifespan: {lifespan.__qualname__}() is a generator; write async def, and decorate it "
            "with @contextlib.asynccontextmanager"
        )
    if not callable(lifespan):
        raise TypeError(
            "lifespan has to be a function that takes the server and returns an async context "
            f"manager, got {type(lifespan).__name__}"
        )
