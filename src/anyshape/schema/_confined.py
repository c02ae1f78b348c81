"""Schemas that are not known to be cheap, asked in a process that the operating system stops.

The engine cannot be interrupted: it holds the interpreter lock until it is done, it may take
exponential time and memory, and a stack overflow in it ends the process. So a schema that is not
cheap by proof (`_classifier`) is compiled, asked and explained in a *worker* (`_worker`), a child
that limits its own processor time and memory before each job. When a limit is hit the kernel ends
it, and what comes back to the caller is `LimitExceeded`; the next job gets a new worker.

A worker takes one job at a time. The few that there may be are shared by the whole process; who
finds none free waits in line. Calls here block: on an event loop use `aside`.
"""

from __future__ import annotations

import asyncio
import atexit
import marshal
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from typing import Any, Final, NoReturn, ParamSpec, TypeVar, cast

import msgspec

from anyshape import errors
from anyshape.errors import AnyshapeError, LimitExceeded, Problem
from anyshape.schema._instance import read_json
from anyshape.schema._limits import Limits
from anyshape.schema._sources import Sources

__all__ = ["Job", "Reply", "WouldWait", "aside", "ask", "leave_loop"]

P = ParamSpec("P")
T = TypeVar("T")

_MOST_WORKERS: Final = max(2, min(4, os.cpu_count() or 2))
_MOST_KNOWN: Final = 64
"""How many schemas a worker keeps compiled, the last ones asked about."""
_PATIENCE: Final = 20.0
"""Seconds that a worker may sit there, on a busy machine, beyond its processor time."""
_START: Final = (
    "import sys; sys.path[:] = {path!r}; from anyshape.schema._worker import main; main()"
)


class Job(msgspec.Struct, frozen=True, eq=False):
    """One schema to be asked about, or compiled only, if there is no `verb`.

    The value travels as bytes that `marshal` wrote, or as it is, in the types that JSON has.
    """

    key: bytes
    sources: Sources | None
    limits: Limits
    formats: bool
    verb: str = ""
    value: object = None
    limit: int = 0


class Reply(msgspec.Struct):
    """What came of a job: a verdict, problems, or an error by name and by what it was made of."""

    verdict: bool = True
    problems: list[Problem] = []
    error: str = ""
    message: str = ""
    details: dict[str, Any] = {}


_decode: Final = msgspec.msgpack.Decoder(Reply).decode


class _Worker:
    """One child process and what it has compiled."""

    def __init__(self) -> None:
        # A program of its own rather than a fork: forks of a process with threads are not safe,
        # and `multiprocessing` would run the author's script again.
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
            [sys.executable, "-c", _START.format(path=sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._known: dict[bytes, None] = {}
        self.alive = True

    @property
    def is_new(self) -> bool:
        """Whether all its memory is there for the job at hand."""
        return not self._known

    @property
    def is_running(self) -> bool:
        """Whether it is still there."""
        return self._process.poll() is None

    def do(self, job: Job) -> Reply:
        """Return what comes of a job; `LimitExceeded` if the worker did not live to tell."""
        known = job.key in self._known
        short = msgspec.structs.replace(job, sources=None) if known else job
        watch = threading.Timer(job.limits.seconds + _PATIENCE, self._process.kill)
        watch.daemon = True
        watch.start()
        try:
            reply = self._exchange(pickle.dumps(short, protocol=5))
            if reply.error == "LookupError":  # it has forgotten more than we thought
                reply = self._exchange(pickle.dumps(job, protocol=5))
        except (OSError, EOFError):
            self.end()
            _refuse(self._process.returncode, job)
        except BaseException:
            # Whoever waited is gone; what the worker still says belongs to nobody.
            self.end()
            raise
        finally:
            watch.cancel()
        if reply.error == "MemoryError":
            self.end()
            raise _spent(job, "memory", job.limits.memory, "bytes of memory")
        if not reply.error:
            self._known[job.key] = self._known.pop(job.key, None)
            if len(self._known) > _MOST_KNOWN:
                del self._known[next(iter(self._known))]
        return reply

    def _exchange(self, request: bytes) -> Reply:
        to_worker, from_worker = self._process.stdin, self._process.stdout
        if to_worker is None or from_worker is None:
            raise EOFError
        to_worker.write(len(request).to_bytes(8, "little"))
        to_worker.write(request)
        to_worker.flush()
        size = from_worker.read(8)
        answer = from_worker.read(int.from_bytes(size, "little")) if len(size) == 8 else b""
        if not answer:
            raise EOFError
        return _decode(answer)

    def end(self) -> None:
        """End the process and collect what is left of it."""
        self.alive = False
        self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        self._process.wait()


class _Workers:
    """The workers of this process: at most so many, made when they are needed."""

    def __init__(self) -> None:
        self._turns = threading.BoundedSemaphore(_MOST_WORKERS)
        self._lock = threading.Lock()
        self._idle: list[_Worker] = []

    def do(self, job: Job) -> Reply:
        with self._turns:
            worker = self._take(job)
            was_new = worker.is_new
            try:
                return worker.do(job)
            except LimitExceeded as error:
                if was_new or error.limit != "memory":
                    raise
            finally:
                if worker.alive:
                    with self._lock:
                        self._idle.append(worker)
            # What other schemas left behind must not count against this one.
            worker = self._start(job)
            try:
                return worker.do(job)
            finally:
                if worker.alive:
                    with self._lock:
                        self._idle.append(worker)

    def _take(self, job: Job) -> _Worker:
        while True:
            with self._lock:
                worker = self._idle.pop() if self._idle else None
            if worker is None:
                return self._start(job)
            if worker.is_running:
                return worker
            worker.end()  # somebody else ended it, such as a system that ran out of memory

    def _start(self, job: Job) -> _Worker:
        reason = "sys.executable names no Python interpreter"
        try:
            if sys.executable:  # empty or None where Python is embedded in another program
                return _Worker()
        except OSError as error:
            reason = error.strerror or str(error)
        raise LimitExceeded(
            f"no process could be started to confine the schema in: {reason}",
            limit="memory",
            allowed=job.limits.memory,
        )

    def end(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.end()


_workers = _Workers()
_threads = ThreadPoolExecutor(_MOST_WORKERS, thread_name_prefix="anyshape-schema")


def _forget() -> None:
    """Leave the parent's workers and threads to the parent."""
    global _workers, _threads  # noqa: PLW0603 - what a fork cannot share
    _workers = _Workers()
    _threads = ThreadPoolExecutor(_MOST_WORKERS, thread_name_prefix="anyshape-schema")


def _end() -> None:
    _workers.end()


atexit.register(_end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def ask(job: Job) -> Reply:
    """Have a worker do `job`; raise what it raised, or `LimitExceeded` if it had to be stopped."""
    reply = _workers.do(msgspec.structs.replace(job, value=_pack(job.value, job.limits)))
    if reply.error:
        raise _restore(reply, job)
    return reply


def _pack(value: object, limits: Limits) -> object:
    """Return `value` as it travels: nothing of the caller's own types, which a worker lacks."""
    try:
        return marshal.dumps(cast("Any", value))
    except ValueError:  # decimals, enumerations, subclasses
        return read_json(value, depth=limits.instance_depth, most=limits.memory // 64)


class WouldWait(Exception):
    """What was asked may wait for a worker, and an event loop would wait with it; see `aside`."""


def leave_loop() -> None:
    """Raise `WouldWait` if an event loop runs on this thread; call before what may wait."""
    with suppress(RuntimeError):
        asyncio.get_running_loop()
        raise WouldWait


async def aside(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call a function that may wait for a worker on a thread, so that the event loop goes on."""
    call = partial(copy_context().run, function, *args, **kwargs)
    return await asyncio.get_running_loop().run_in_executor(_threads, call)


def _restore(reply: Reply, job: Job) -> AnyshapeError:
    kind: type[AnyshapeError] | None = getattr(errors, reply.error, None)
    if kind is None:
        return LimitExceeded(
            f"the schema is beyond the engine ({reply.error})", limit="subschemas", allowed=0
        )
    details = reply.details
    if "supported" in details:
        details["supported"] = tuple(details["supported"])
    return kind(reply.message, **details)


def _refuse(code: int | None, job: Job) -> NoReturn:
    """Raise what it means that a worker ended with exit code `code`."""
    if code in (-getattr(signal, "SIGPROF", 27), -getattr(signal, "SIGKILL", 9)):
        raise _spent(job, "seconds", job.limits.seconds, "seconds of processor time")
    raise _spent(job, "memory", job.limits.memory, "bytes of memory or stack")


def _spent(job: Job, limit: str, allowed: float, unit: str) -> LimitExceeded:
    what = {"accepts": "judging", "problems": "explaining"}.get(job.verb, "compiling the schema")
    whom = " the value" if job.verb else ""
    return LimitExceeded(
        f"{what}{whom} took more than {allowed} {unit} (limit: {limit})",
        limit=limit,
        allowed=allowed,
    )
