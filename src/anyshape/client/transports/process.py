"""A server as a child process: one JSON-RPC message per line on its standard streams.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio

What the child writes is split into lines as it comes, each bounded. Of many lines at once some are
taken at each turn of the loop, and the child has to wait. The child gets its own process group, so
that its children go when it goes.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from anyshape.client.options import Bounds, Process
from anyshape.client.quoting import last_words, name_program, shorten
from anyshape.client.request import Outgoing
from anyshape.client.transports.conversation import Conversation
from anyshape.client.transports.transport import (
    ConnectionLost,
    OnMessage,
    Transport,
    cancellation,
)
from anyshape.errors import TransportError
from anyshape.protocol.jsonrpc import Response
from anyshape.protocol.lines import Line, LineSplitter, LongLine

_MOMENT = 0.5
_LINES_AT_ONCE = 200
"""A pipe holds tens of thousands of short lines, which would keep the loop for half a second."""
_ERRORS_KEPT = 16 * 1024
"""Of what a child writes to its standard error; errors of Node are long."""
_KILL = getattr(signal, "SIGKILL", signal.SIGTERM)


class ProcessTransport(Transport):
    """Starts a command and talks to it over pipes; starts it again when asked to after it died."""

    def __init__(self, command: Sequence[str], process: Process, bounds: Bounds) -> None:
        self._command = [str(part) for part in command]
        self._process = process
        self._bounds = bounds
        self._child: _Child | None = None
        self._listener: OnMessage | None = None
        self._ended: Callable[[], object] | None = None
        self.attempts = process.restarts
        settings = tuple(sorted(process.environment.items()))
        self.key = (*self._command, settings, str(process.directory))
        self.place = f"the server process {name_program(self._command)!r}"

    @property
    def is_alive(self) -> bool:
        """Whether the child runs and its output is open."""
        return self._child is not None and self._child.lost is None

    def tell_end(self, ended: Callable[[], object]) -> None:
        """Have a function called when a child has ended, or closed its output, by itself."""
        self._ended = ended

    async def open(self, listener: OnMessage) -> None:
        """Start the child."""
        self._listener = listener
        loop = asyncio.get_running_loop()
        child = _Child(self.place, self._process, self._bounds, listener, self._ended)
        stderr = {"keep": asyncio.subprocess.PIPE, "inherit": None}.get(
            self._process.stderr, asyncio.subprocess.DEVNULL
        )
        try:
            await loop.subprocess_exec(
                lambda: child,
                *self._command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=stderr,
                env=self._process.variables(),
                cwd=self._process.directory,
                **_own_group(),
            )
        except (OSError, ValueError) as error:
            # The text of an `OSError` quotes the command; why it failed is all there is to say.
            reason = error.strerror if isinstance(error, OSError) else error
            raise TransportError(f"cannot start {self.place}: {reason}") from error
        if self._listener is None:
            await child.stop()
            raise TransportError(f"{self.place} was closed while it started")
        self._child = child

    async def request(self, outgoing: Outgoing) -> Response:
        """Write the request and wait for the line that answers it."""
        child = self._child
        if child is None or child.lost is not None:
            reason = child.lost if child is not None else f"{self.place} is not running"
            raise ConnectionLost(str(reason), sent=False)
        return await child.request(outgoing)

    async def notify(self, frame: bytes, headers: Mapping[str, str]) -> None:
        """Write a line."""
        if self._child is not None and self._child.lost is None:
            await self._child.write(frame)

    def explain_silence(self) -> str:
        """Return what the child wrote instead of answers, for an error message."""
        return self._child.explain_silence() if self._child is not None else ""

    async def revive(self) -> bool:
        """Start the child again if it died; one that was closed stays so."""
        listener = self._listener
        if self.is_alive or listener is None:
            return False
        await self._stop()
        if self._listener is None:
            return False
        await self.open(listener)
        return True

    async def close(self) -> None:
        """Close its input, wait, terminate, kill; then nothing of its group is left."""
        self._listener = None
        await self._stop()

    async def _stop(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            await child.stop()


def _own_group() -> dict[str, Any]:
    if os.name == "nt":  # pragma: no cover - the group is ended by its first process there
        return {"creationflags": 0x00000200}
    return {"start_new_session": True}


class _Child(asyncio.SubprocessProtocol):
    """One run of the command."""

    def __init__(
        self,
        place: str,
        process: Process,
        bounds: Bounds,
        listener: OnMessage,
        ended: Callable[[], object] | None,
    ) -> None:
        self.lost: TransportError | None = None
        self._tell_end = ended
        self._place = place
        self._process = process
        self._conversation = Conversation(place, bounds, listener, self._reply)
        self._lines = LineSplitter(bounds.max_answer_bytes)
        self._untaken: deque[Line] = deque()
        self._is_paused = False
        self._errors = bytearray()
        self._writable = asyncio.Event()
        self._writable.set()
        self._exited = asyncio.Event()
        self._gone = asyncio.Event()
        self._transport: asyncio.SubprocessTransport | None = None
        self._input: asyncio.WriteTransport | None = None
        self._group: int | None = None

    # What asyncio tells us.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.SubprocessTransport", transport)
        self._input = cast("asyncio.WriteTransport", self._transport.get_pipe_transport(0))
        self._group = self._transport.get_pid()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 2:
            self._errors += data
            del self._errors[:-_ERRORS_KEPT]
            return
        if self.lost is not None:
            return
        self._conversation.count(len(data))
        self._untaken.extend(self._lines.feed(data))
        if not self._is_paused:
            self._take_lines()
        if self._conversation.is_endless:
            most = self._conversation.most_unanswered
            self._lose(f"wrote more than {most} bytes without an answer and was ended")
            self._signal(_KILL)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == 1:
            # The exit status and the last words may follow in a moment.
            asyncio.get_running_loop().call_later(
                _MOMENT, self._lose_when_read, "closed its output"
            )
        elif fd == 0:
            self._writable.set()

    def process_exited(self) -> None:
        self._exited.set()
        # Now, while the number of the group cannot have been given to another.
        self._signal(_KILL)
        self._group = None
        asyncio.get_running_loop().call_later(_MOMENT, self._lose_when_read, "ended")

    def connection_lost(self, exc: Exception | None) -> None:
        self._lose_when_read("ended")
        self._gone.set()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    # What the transport asks.

    async def request(self, outgoing: Outgoing) -> Response:
        answer = self._conversation.begin(outgoing)
        try:
            await self.write(outgoing.frame)
            try:
                return await answer
            except asyncio.CancelledError:
                # Whoever cancels this call cancels the future that it waits for.
                if outgoing.cancellable and answer.cancelled():
                    self._write_now(cancellation(outgoing.id))
                raise
        finally:
            self._conversation.end(outgoing)

    async def write(self, frame: bytes) -> None:
        if not self._writable.is_set():
            await self._writable.wait()
        self._write_now(frame)

    def explain_silence(self) -> str:
        said = self._words() + self._conversation.explain_silence("lines of its output")
        if self._lines.unfinished:
            said += f"; its last line has not ended: {shorten(self._lines.unfinished)!r}"
        return said

    async def stop(self) -> None:
        self._tell_end = None
        self._lose("was stopped")
        if self._input is not None:
            self._input.close()
        try:
            for end in (None, signal.SIGTERM, _KILL):
                if end is not None:
                    self._signal(end)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(self._process.stop_timeout):
                        await self._exited.wait()
                    break
        finally:
            self._signal(_KILL)
            if self._transport is not None:
                self._transport.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_MOMENT):
                await self._gone.wait()

    # Lines.

    def _take_lines(self) -> None:
        try:
            for _ in range(min(len(self._untaken), _LINES_AT_ONCE)):
                line = self._untaken.popleft()
                if isinstance(line, LongLine):
                    self._conversation.refuse(line)
                else:
                    self._conversation.take(line)
        finally:  # a callback of the caller that raises costs no answer behind it
            if self._untaken:
                self._pause(is_paused=True)
                asyncio.get_running_loop().call_soon(self._take_lines)
            elif self._is_paused:
                self._pause(is_paused=False)

    def _pause(self, *, is_paused: bool) -> None:
        """Have the child wait until what it wrote is taken, or write again."""
        if self._is_paused == is_paused or self._transport is None:
            return
        self._is_paused = is_paused
        output = cast("asyncio.ReadTransport", self._transport.get_pipe_transport(1))
        if is_paused:
            output.pause_reading()
        else:
            output.resume_reading()

    def _reply(self, frame: bytes) -> None:
        # A server that asks and does not read gets no answers, or they would pile up here.
        if self._writable.is_set():
            self._write_now(frame)

    # Ends.

    def _write_now(self, frame: bytes) -> None:
        if self._input is not None and self.lost is None and not self._input.is_closing():
            self._input.write(frame + b"\n")

    def _lose_when_read(self, how: str) -> None:
        """Lose the child once all of its lines were taken: one may be an answer."""
        if self._untaken and self.lost is None:
            asyncio.get_running_loop().call_soon(self._lose_when_read, how)
        else:
            self._lose(how)

    def _lose(self, how: str) -> None:
        if self.lost is not None:
            return
        self._untaken.clear()
        code = self._transport.get_returncode() if self._transport is not None else None
        status = "" if code is None else f" with exit status {code}"
        self.lost = ConnectionLost(f"{self._place} {how}{status}{self._words()}", sent=True)
        self._writable.set()
        reason = str(self.lost)
        self._conversation.fail(lambda: ConnectionLost(reason, sent=True))
        if self._tell_end is not None:
            self._tell_end()

    def _words(self) -> str:
        said = last_words(bytes(self._errors))
        return f"; its last words: {said!r}" if said else ""

    def _signal(self, number: int) -> None:
        if self._transport is None or self._group is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if os.name == "nt":  # pragma: no cover
                if number == signal.SIGTERM:
                    self._transport.terminate()
                else:
                    self._transport.kill()
            else:
                os.killpg(self._group, number)
