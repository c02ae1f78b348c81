"""The stdio transport: a client that launched us talks to us through our standard streams.

Messages are lines. Each is handled by a runner, a task that takes one message after another: a call
that never waits costs no task of its own, and when one does wait, another runner takes over the
messages behind it (leader and followers). Answers leave as they are ready. See the stdio page of
revision 2026-07-28.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from typing import cast

from anyshape.protocol.lines import Line, LineSplitter
from anyshape.server.connection import Connection
from anyshape.server.pipes import PipeReader, PipeWriter
from anyshape.server.request import Answer
from anyshape.server.service import Service

_IDLE_RUNNERS = 64
_LINGER = 1
"""Milliseconds that a runner with nothing to do holds the loop up, waiting for the next line."""
_LONGEST_TURN = 16
"""Lines it may take that way before the loop gets its turn."""


class StdioSession:
    """One client, who writes to the descriptor `source` and reads from `sink`."""

    def __init__(self, service: Service, source: int, sink: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._lifespan = service.lifespan
        self._grace = service.options.grace
        self._splitter = LineSplitter(service.options.max_message_bytes)
        self._lines: deque[Line] = deque()
        self._runners: set[asyncio.Task[None]] = set()
        self._idle: list[asyncio.Future[None]] = []
        self._leading = False
        self._term = 0
        self._ended: asyncio.Future[None] = self._loop.create_future()
        self._quiet: asyncio.Future[None] | None = None
        self._opening: asyncio.Timeout | None = None
        self._deserted = False
        self._writer = PipeWriter(sink, self._congested, self._desert)
        self._reader = PipeReader(source, self._received)
        self._connection = Connection(service, self._writer.write, on_wait=self._step_back)

    async def serve(self) -> None:
        """Serve until the client closes its end; what is in flight then has the grace time.

        A client that cannot be written to any more is gone, and nothing in flight is waited for.
        """
        async with contextlib.AsyncExitStack() as stack:
            try:
                if await self._open(stack):
                    self._reader.start()
                    await self._ended
                    if not self._deserted:
                        await self._let_finish()
            finally:
                await self._close()

    async def _open(self, stack: contextlib.AsyncExitStack) -> bool:
        """Open the lifespan; return whether nobody has stopped us before that was done."""
        try:
            async with asyncio.timeout(None) as opening:
                self._opening = opening
                await stack.enter_async_context(self._lifespan.held())
        except TimeoutError:
            if not self._ended.done():
                raise
        finally:
            self._opening = None
        return not self._ended.done()

    def stop(self) -> None:
        """End as if the client had closed its end; if it has, wait for nothing any longer."""
        self._reader.close()
        if self._opening is not None:
            self._opening.reschedule(self._loop.time())
        if not self._ended.done():
            self._ended.set_result(None)
        elif self._quiet is not None and not self._quiet.done():
            self._quiet.set_result(None)

    def _desert(self) -> None:
        self._deserted = True
        self.stop()

    async def _let_finish(self) -> None:
        """Give what is in flight the grace time; subscriptions end at once."""
        self._connection.end_subscriptions()
        if self._is_busy():
            self._quiet = self._loop.create_future()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._grace):
                    await self._quiet

    async def _close(self) -> None:
        """Cancel what is left and write what was answered."""
        self._reader.close()
        await self._connection.close()
        self._lines.clear()
        for runner in self._runners:
            runner.cancel()
        if self._runners:
            await asyncio.wait(self._runners, timeout=self._grace)
        # Whoever has read nothing for all of the grace time is not given it again.
        patience = max(0.0, self._grace - self._writer.stalled)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(patience):
                await self._writer.drain()
        self._writer.close()

    def _congested(self, full: bool) -> None:
        self._connection.mark_congested(full)
        if full:
            self._reader.pause()
        else:
            self._reader.resume()
            self._lead_on()

    def _received(self, chunk: bytes | None) -> None:
        if chunk is None:
            self._lines.extend(self._splitter.end())
            self.stop()
        else:
            self._lines.extend(self._splitter.feed(chunk))
        self._lead_on()

    def _lead_on(self) -> None:
        """Have a runner take the lines that wait, if none does: an idle one, else a new one.

        None does while the client reads too slowly, as the answers would pile up.
        """
        if self._leading or not self._lines or self._writer.is_full or self._deserted:
            return
        self._leading = True
        while self._idle:
            wake = self._idle.pop()
            if not wake.done():  # Its runner is there: nobody has cancelled it.
                wake.set_result(None)
                return
        runner = self._loop.create_task(self._run())
        self._runners.add(runner)
        runner.add_done_callback(self._runners.discard)

    def _step_back(self) -> None:
        """Let another runner lead: the request of the one that leads has to wait."""
        self._writer.flush()
        self._term += 1
        self._leading = False
        self._lead_on()

    async def _run(self) -> None:
        """Handle lines while there are any to handle; then be idle until there are more."""
        lines = self._lines
        receive = self._connection.receive
        writer = self._writer
        queue, flush = writer.queue, writer.flush
        is_cancelled = cast("asyncio.Task[None]", asyncio.current_task()).cancelling
        while True:
            term = self._term
            turn = 0
            try:
                while lines and not writer.is_full:
                    line = lines.popleft()
                    if isinstance(line, bytes):
                        given = receive(line)
                        answer = (given if isinstance(given, Answer) else await given).message
                    elif line.tail is None:  # It gets too long; who waits for it shows at its end.
                        answer = None
                    else:
                        answer = self._connection.oversized(line.head, line.tail)
                    if term != self._term or is_cancelled():
                        if answer is not None:
                            # Others may end in the same turn of the loop.
                            writer.write(answer)
                        break
                    if answer is not None:
                        queue(answer)
                    if not lines:
                        flush()
                        if self._linger():
                            turn += 1
                            if turn % _LONGEST_TURN == 0:
                                await asyncio.sleep(0)
                else:
                    self._leading = False
            except BaseException:
                if term == self._term:
                    self._step_back()  # A tool has ended its task, which is no end of the others.
                raise
            if is_cancelled() and term == self._term:
                self._step_back()  # A tool has cancelled its task: nobody else's shall run there.
            if self._quiet is not None and not self._is_busy() and not self._quiet.done():
                self._quiet.set_result(None)
            if is_cancelled() or len(self._idle) >= _IDLE_RUNNERS:
                return
            wake: asyncio.Future[None] = self._loop.create_future()
            self._idle.append(wake)
            await wake

    def _linger(self) -> bool:
        """Wait a moment for the next line, if no other request could mind.

        A client that sends one request at a time sends the next as soon as it has its answer; going
        through the event loop to find that out would cost more than most calls do.
        """
        if self._connection.in_flight or self._writer.is_behind or self._ended.done():
            return False
        chunk = self._reader.linger(_LINGER)
        if chunk is None:
            return False
        self._lines.extend(self._splitter.feed(chunk))
        return bool(self._lines)

    def _is_busy(self) -> bool:
        return bool(self._lines) or self._leading or self._connection.in_flight > 0
