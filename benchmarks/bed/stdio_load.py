"""Load over a pipe: one request at a time, or a window of them in flight.

Requests carry six-digit ids, so that every answer is as long as the first one, which is read and
checked; the rest are counted by their newlines and their total length.
"""

from __future__ import annotations

import os
import select
import time
from typing import Any

from bed import wire
from bed.http_load import Load
from bed.processes import ContenderFailed, Running, check_answer

FIRST_ID = 100_000
IDS = 50_000
ANSWER_TIMEOUT = 30.0


class Pipe:
    """The two ends of a running contender's standard streams, used without buffers."""

    def __init__(self, server: Running) -> None:
        assert server.process.stdin
        assert server.process.stdout
        self.name = server.name
        self._input = server.process.stdin.fileno()
        self._output = server.process.stdout.fileno()
        os.set_blocking(self._input, False)
        self._rest = b""

    def open(self, revision: str) -> None:
        """Say what the revision says first."""
        for message in wire.opening(revision):
            self.write(message + b"\n")
            if b'"id"' in message:
                self.read_line()

    def ask(self, message: bytes) -> bytes:
        """Send one message and return the line that answers it."""
        self.write(message + b"\n")
        return self.read_line()

    def read_line(self) -> bytes:
        """Return the next line."""
        while b"\n" not in self._rest:
            self._rest += self.read()
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def read(self) -> bytes:
        """Return what has arrived, waiting for something."""
        ready, _, _ = select.select([self._output], [], [], ANSWER_TIMEOUT)
        chunk = os.read(self._output, 1 << 16) if ready else b""
        if not chunk:
            raise ContenderFailed(f"{self.name} fell silent on its pipe")
        return chunk

    def write(self, data: bytes) -> None:
        """Write all of `data`; what cannot be written yet is written when the pipe has room."""
        pending = memoryview(data)
        while pending:
            try:
                pending = pending[os.write(self._input, pending) :]
            except BlockingIOError:
                # The server may be waiting for us to read: make room at its other end first.
                readable, _, _ = select.select([self._output], [self._input], [], ANSWER_TIMEOUT)
                if readable:
                    self._rest += self.read()

    def take(self) -> bytes:
        """Return what `write` had to read to make room, or else what arrives next."""
        if self._rest:
            chunk, self._rest = self._rest, b""
            return chunk
        return self.read()


def make_frames(revision: str, tool: str, arguments: dict[str, Any]) -> list[bytes]:
    """Return many calls that differ only in their ids."""
    sample = wire.call_frame(revision, tool, arguments, identifier=FIRST_ID)
    before, _, after = sample.partition(str(FIRST_ID).encode())
    return [b"%b%d%b\n" % (before, FIRST_ID + number, after) for number in range(IDS)]


def call_in_turn(pipe: Pipe, frames: list[bytes], expected: Any, seconds: float) -> Load:
    """Make one call after the other."""
    latencies: list[float] = []
    size = 0
    start = time.perf_counter()
    deadline = start + seconds
    number = 0
    now = start
    while now < deadline or not latencies:
        asked = time.perf_counter()
        answer = pipe.ask(frames[number % IDS][:-1])
        now = time.perf_counter()
        latencies.append(now - asked)
        if not size:
            check_answer(pipe.name, answer, expected)
            size = len(answer)
        elif len(answer) != size:
            raise ContenderFailed(f"{pipe.name} answered {answer[:200]!r}")
        number += 1
    return _load(latencies, now - start)


def call_at_once(
    pipe: Pipe, frames: list[bytes], expected: Any, seconds: float, window: int
) -> Load:
    """Keep `window` calls in flight."""
    first = pipe.ask(frames[0][:-1])
    check_answer(pipe.name, first, expected)
    size = len(first) + 1
    start = time.perf_counter()
    deadline = start + seconds
    sent = window
    answered = received = 0
    pipe.write(b"".join(frames[:window]))
    while answered < sent:
        chunk = pipe.take()
        finished = chunk.count(b"\n")
        answered += finished
        received += len(chunk)
        if finished and time.perf_counter() < deadline:
            place = sent % (IDS - window)
            pipe.write(b"".join(frames[place : place + finished]))
            sent += finished
    elapsed = time.perf_counter() - start
    if received != answered * size:
        raise ContenderFailed(f"{pipe.name} sent {received} bytes for {answered} answers of {size}")
    return Load(answered, elapsed, elapsed / answered * window, elapsed / answered * window)


def _load(latencies: list[float], elapsed: float) -> Load:
    ordered = sorted(latencies)
    return Load(
        len(ordered), elapsed, ordered[len(ordered) // 2], ordered[len(ordered) * 99 // 100]
    )
