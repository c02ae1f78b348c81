"""File descriptors on the event loop: read in large pieces, written once per turn of the loop.

Pipes, sockets and terminals are read and written by the loop itself. What a loop cannot wait for
(regular files, and everything on Windows) is read and written by a thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import queue
import select
import stat
import threading
from collections.abc import Callable
from time import monotonic

_READ_SIZE = 64 * 1024
"""Bytes asked for at once. From 128 KiB on the allocator maps and unmaps the room for each read,
which takes ten times as long as reading a line does."""
_HIGH_WATER = 1024 * 1024
_LONGEST_WAIT = 0.002
"""Seconds after a flush in which messages wait for others, to leave with them."""
_MOST_PENDING = 1024
"""Messages that wait for the end of a turn of the loop, which a busy tool may put off for long."""


class PipeReader:
    """Hand every piece that arrives at a descriptor to `received`, and `None` at its end."""

    def __init__(self, descriptor: int, received: Callable[[bytes | None], None]) -> None:
        self._descriptor = descriptor
        self._received = received
        self._loop = asyncio.get_running_loop()
        self._resumed = threading.Event()
        self._resumed.set()
        self._open = True
        self._on_loop = False

    def start(self) -> None:
        """Begin reading."""
        add = self._loop.add_reader
        self._on_loop = _is_waited_for(
            self._descriptor, lambda: add(self._descriptor, self._readable)
        )
        if self._on_loop:
            poll = select.poll()
            poll.register(self._descriptor, select.POLLIN)
            self._poll = poll.poll
        else:
            threading.Thread(
                target=self._read_in_thread, name="anyshape-stdin", daemon=True
            ).start()

    def pause(self) -> None:
        """Stop reading until `resume`; what arrives waits in the pipe."""
        self._resumed.clear()
        if self._on_loop and self._open:
            self._loop.remove_reader(self._descriptor)

    def resume(self) -> None:
        """Go on reading after `pause`."""
        if not self._open or self._resumed.is_set():
            return
        self._resumed.set()
        if self._on_loop:
            self._loop.add_reader(self._descriptor, self._readable)

    def linger(self, milliseconds: int) -> bytes | None:
        """Wait right here for what comes next, holding the loop up; `None` if nothing does."""
        if not (self._on_loop and self._open and self._resumed.is_set()):
            return None
        try:
            if not self._poll(milliseconds):
                return None
            # The end of the stream is left for the loop to find.
            return os.read(self._descriptor, _READ_SIZE) or None
        except (OSError, ValueError):
            return None

    def close(self) -> None:
        """Stop reading for good."""
        if not self._open:
            return
        self._open = False
        self._resumed.set()
        if self._on_loop:
            self._loop.remove_reader(self._descriptor)
            with contextlib.suppress(OSError):
                os.set_blocking(self._descriptor, True)

    def _readable(self) -> None:
        try:
            chunk = os.read(self._descriptor, _READ_SIZE)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            chunk = b""
        if chunk:
            self._received(chunk)
        else:
            self.close()
            self._received(None)

    def _read_in_thread(self) -> None:
        while self._open:
            self._resumed.wait()
            try:
                chunk = os.read(self._descriptor, _READ_SIZE)
            except OSError:
                chunk = b""
            try:
                self._loop.call_soon_threadsafe(self._deliver, chunk)
            except RuntimeError:  # The loop is closed: nobody is left to read for.
                return
            if not chunk:
                return

    def _deliver(self, chunk: bytes) -> None:
        if not self._open:
            return
        if not chunk:
            self._open = False
        self._received(chunk or None)


class PipeWriter:
    """Collect what is written during one turn of the loop, to move it in few system calls.

    `congested` is called with `True` when the reader at the other end has fallen far behind, and
    with `False` when it has caught up. When the other end turns out to be gone `broken` is called,
    and writes are dropped.
    """

    def __init__(
        self,
        descriptor: int,
        congested: Callable[[bool], None],
        broken: Callable[[], None],
    ) -> None:
        self._descriptor = descriptor
        self._congested = congested
        self._tell_broken = broken
        self._loop = asyncio.get_running_loop()
        self._pending: list[bytes] = []
        self._due = 0.0
        # Taken off at its front in place; a bytes object would be copied for every piece that the
        # pipe takes, and a long answer in thousands of them.
        self._backlog = bytearray()
        self._read = 0.0
        """When the other end was last seen to read, while something waits for it."""
        self._scheduled = False
        self._waiting = False
        self.is_full = False
        """Whether the reader at the other end has fallen far behind."""
        self._broken = False
        self._drained: asyncio.Future[None] | None = None
        add, remove = self._loop.add_writer, self._loop.remove_writer
        is_waited_for = _is_waited_for(descriptor, lambda: add(descriptor, self._writable))
        self._thread = None if is_waited_for else _WriterThread(descriptor, self)
        if is_waited_for:
            remove(descriptor)  # Until there is something to wait with.

    @property
    def is_behind(self) -> bool:
        """Whether something waits for the other end to read."""
        return bool(self._backlog)

    @property
    def stalled(self) -> float:
        """For how many seconds the other end has read nothing of what waits for it."""
        return self._loop.time() - self._read if self._backlog else 0.0

    def write(self, message: bytes) -> None:
        """Queue one message, and its newline, for the end of the loop's turn at the latest."""
        self.queue(message)
        if self._pending and not self._scheduled:
            self._scheduled = True
            self._loop.call_soon(self.flush)

    def queue(self, message: bytes) -> None:
        """Queue one message, and its newline, for the next flush, which may be due now."""
        self._pending.append(message)
        if len(self._pending) >= _MOST_PENDING or monotonic() > self._due:
            self.flush()

    def flush(self) -> None:
        """Write what is queued now."""
        self._scheduled = False
        self._due = monotonic() + _LONGEST_WAIT
        pending = self._pending
        if not pending or self._broken:
            pending.clear()
            return
        pending.append(b"")
        data = b"\n".join(pending)
        pending.clear()
        if self._thread is not None:
            self._thread.put(data)
            return
        if self._backlog:
            self._backlog += data
        else:
            written = self._put(data)
            if written == len(data) or self._broken:
                return
            self._backlog += memoryview(data)[written:]
            self._read = self._loop.time()
            self._waiting = True
            self._loop.add_writer(self._descriptor, self._writable)
        self._mark_full()

    async def drain(self) -> None:
        """Wait until everything written so far has left, or cannot."""
        self.flush()
        if self._thread is not None:
            await self._loop.run_in_executor(None, self._thread.join)
            return
        if self._backlog and not self._broken:
            self._drained = self._loop.create_future()
            await self._drained

    def close(self) -> None:
        """Give up what is still queued and leave the descriptor as it was found."""
        if self._thread is not None:
            self._thread.stop()
            return
        self._stop_waiting()
        with contextlib.suppress(OSError):
            os.set_blocking(self._descriptor, True)

    def _put(self, data: bytes | bytearray) -> int:
        """Write as much as the pipe takes now, and return how much that was."""
        try:
            return os.write(self._descriptor, data)
        except (BlockingIOError, InterruptedError):
            return 0
        except OSError:
            self.give_up()
            return 0

    def _stop_waiting(self) -> None:
        if self._waiting:
            self._loop.remove_writer(self._descriptor)
            self._waiting = False

    def _writable(self) -> None:
        written = self._put(self._backlog)
        if written:
            self._read = self._loop.time()
        del self._backlog[:written]
        if not self._backlog and not self._broken:
            self._stop_waiting()
            self._mark_empty()

    def _mark_full(self) -> None:
        if not self.is_full and len(self._backlog) > _HIGH_WATER:
            self.is_full = True
            self._congested(True)

    def _mark_empty(self) -> None:
        if self.is_full:
            self.is_full = False
            self._congested(False)
        if self._drained is not None and not self._drained.done():
            self._drained.set_result(None)

    def give_up(self) -> None:
        """Write nothing more: there is nobody to read it."""
        self._broken = True
        self._backlog.clear()
        self._stop_waiting()
        self._tell_broken()
        self._mark_empty()


class _WriterThread:
    """Write in a thread what the loop cannot wait for."""

    def __init__(self, descriptor: int, writer: PipeWriter) -> None:
        self._descriptor = descriptor
        self._writer = writer
        self._loop = asyncio.get_running_loop()
        self._queue: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="anyshape-stdout", daemon=True)
        self._thread.start()

    def put(self, data: bytes) -> None:
        self._queue.put(data)

    def stop(self) -> None:
        self._queue.put(None)

    def join(self) -> None:
        self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (data := self._queue.get()) is not None:
            view = memoryview(data)
            while view:
                try:
                    view = view[os.write(self._descriptor, view) :]
                except InterruptedError:
                    continue
                except OSError:
                    with contextlib.suppress(RuntimeError):  # The loop is closed.
                        self._loop.call_soon_threadsafe(self._writer.give_up)
                    return


def _is_waited_for(descriptor: int, add: Callable[[], None]) -> bool:
    """Have an event loop wait for a descriptor by `add`; tell whether it can."""
    if os.name == "nt":
        return False
    mode = os.fstat(descriptor).st_mode
    if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or stat.S_ISCHR(mode)):
        return False
    try:
        os.set_blocking(descriptor, False)
        add()
    except (NotImplementedError, PermissionError, OSError):
        with contextlib.suppress(OSError):
            os.set_blocking(descriptor, True)
        return False
    return True
