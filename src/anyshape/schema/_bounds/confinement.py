"""Schemas that are not known to be cheap, asked in a process that the operating system stops.

The engine cannot be interrupted: it holds the interpreter lock until it is done, it may take
exponential time and memory, and a stack overflow in it ends the process. So a schema that is not
cheap by proof (`classifier`) is compiled, asked and explained in a *worker* (`worker`), a child
that limits its own processor time and memory before each job. When a limit is hit the kernel ends
it, and what comes back to the caller is `LimitExceeded`; the next job gets a new worker.

A worker takes one job at a time. The few that there may be are shared by the whole process, and who
finds none free waits in line, for some seconds and no longer. There are three lines, so that those
who burn keep nobody waiting but each other: one for schemas that had to be stopped before, one for
values that are merely long under schemas that are cheap by proof, and one for all others. Calls
here block: on an event loop use `aside`.
"""

from __future__ import annotations

import asyncio
import atexit
import marshal
import os
import re
import signal
import subprocess
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import copy_context
from functools import partial
from typing import Any, Final, NoReturn, ParamSpec, TypeVar, cast

import msgspec

from anyshape import errors
from anyshape.errors import AnyshapeError, LimitExceeded, Problem
from anyshape.schema._compile import Sources
from anyshape.schema._instance import read_json
from anyshape.schema._limits import Limits

P = ParamSpec("P")
T = TypeVar("T")

_MOST_WORKERS: Final = max(2, min(4, os.cpu_count() or 2))
_MOST_THREADS: Final = 256
"""How many callers of `aside` may wait at a time: so many that those who burn are not all."""
_MOST_KNOWN: Final = 64
"""How many schemas a worker keeps compiled, the last ones asked about."""
_MOST_STOPPED: Final = 1_024
_PATIENCE: Final = 20.0
"""Seconds that a worker may sit there, on a busy machine, beyond its processor time."""
_TURN: Final = 5.0
"""Seconds that a caller waits for a worker to be free."""
HELLO: Final = b"anyshape\n"
"""What a worker says when it is ready for jobs."""
_ENVIRONMENT: Final = "PYTHON[A-Z0-9]*|LANG|LC_[A-Z]+|LD_LIBRARY_PATH|DYLD_[A-Z_]+|SYSTEMROOT|TZ"
"""The names of variables that an interpreter needs to start; all others are kept from it."""
_START: Final = (
    "import sys; sys.path[:] = {path!r}; from anyshape.schema._bounds.worker import main; main()"
)


class Job(msgspec.Struct, frozen=True, eq=False):
    """One schema to be asked about, or compiled only, if there is no `verb`.

    The value travels as bytes that `marshal` wrote, or as it is, in the types that JSON has; the
    sources as they are, or packed if there is no other use for them here.
    """

    key: bytes
    sources: Sources | bytes | None
    limits: Limits
    formats: bool
    verb: str = ""
    value: object = None
    limit: int = 0
    is_cheap: bool = False
    """Whether a bound is known, so that nothing but the length of the value takes time."""


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
        # What is no text in `sys.path` is none to Python either.
        path = [entry for entry in cast("list[object]", sys.path) if isinstance(entry, str)]
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
            [sys.executable, "-c", _START.format(path=path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env={k: v for k, v in os.environ.items() if re.fullmatch(_ENVIRONMENT, k.upper())},
        )
        self._known: dict[bytes, None] = {}
        self.alive = True
        with self._watched(_PATIENCE):
            hello = self._process.stdout.read(len(HELLO)) if self._process.stdout else b""
            if hello != HELLO:
                self.end()
                raise ChildProcessError(f"{sys.executable} does not run anyshape.schema")

    @contextmanager
    def _watched(self, seconds: float) -> Generator[None]:
        """End the process if what is done meanwhile takes longer, or is given up."""
        watch = threading.Timer(seconds, self._process.kill)
        watch.daemon = True
        try:
            watch.start()
            yield
        except BaseException:
            # Whoever waited is gone; what the worker still says belongs to nobody.
            self.end()
            raise
        finally:
            watch.cancel()

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
        import pickle  # With what it imports, dearer than most of this package; few need a worker.

        known = job.key in self._known
        short = msgspec.structs.replace(job, sources=None) if known else job
        try:
            with self._watched(job.limits.seconds + _PATIENCE):
                reply = self._exchange(pickle.dumps(short, protocol=5))
                if reply.error == "LookupError":  # it has forgotten more than we thought
                    reply = self._exchange(pickle.dumps(job, protocol=5))
        except (OSError, EOFError):
            _refuse(self._process.returncode, job)
        except RuntimeError as error:  # there may be no more threads
            raise _no_process(str(error)) from None
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
    """The workers of one line: at most so many, made when they are needed."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._turns = threading.BoundedSemaphore(most)
        self._lock = threading.Lock()
        self._idle: list[_Worker] = []

    def do(self, job: Job) -> Reply:
        """Wait for a turn, and have a worker do the job."""
        if not self._turns.acquire(timeout=_TURN):
            raise LimitExceeded(
                f"no process was free to judge the schema in for {_TURN:g} seconds, because other "
                f"schemas kept {self._most} of them busy; ask again later, or have schemas stopped "
                "sooner with a smaller Limits.seconds (limit: waiting)",
                limit="waiting",
                allowed=_TURN,
            )
        try:
            worker = self._take()
            was_new = worker.is_new
            try:
                return self._ask(worker, job)
            except LimitExceeded as error:
                if was_new or error.limit != "memory":
                    raise
            # What other schemas left behind must not count against this one.
            return self._ask(_start(), job)
        finally:
            self._turns.release()

    def _ask(self, worker: _Worker, job: Job) -> Reply:
        try:
            return worker.do(job)
        finally:
            if worker.alive:
                with self._lock:
                    self._idle.append(worker)

    def _take(self) -> _Worker:
        while True:
            with self._lock:
                worker = self._idle.pop() if self._idle else None
            if worker is None:
                return _start()
            if worker.is_running:
                return worker
            worker.end()  # somebody else ended it, such as a system that ran out of memory

    def end(self) -> None:
        """End the workers that have nothing to do."""
        with self._lock:
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.end()


def _start() -> _Worker:
    if not sys.executable:  # as where Python is embedded in another program
        raise _no_process("sys.executable is not set")
    try:
        return _Worker()
    except (OSError, RuntimeError) as error:
        raise _no_process(getattr(error, "strerror", None) or str(error)) from None


def _no_process(reason: str) -> LimitExceeded:
    return LimitExceeded(
        f"no process could be started to judge the schema in: {reason}; set sys.executable to the "
        "Python interpreter that anyshape is installed for, and allow for one more process and its "
        "memory (limit: processes)",
        limit="processes",
        allowed=0,
    )


class _Lines:
    """Where callers wait: each line has workers of its own."""

    def __init__(self) -> None:
        self.ordinary = _Workers(_MOST_WORKERS)
        self.long = _Workers(_MOST_WORKERS // 2)
        self.stopped = _Workers(1)
        self.threads = ThreadPoolExecutor(_MOST_THREADS, thread_name_prefix="anyshape-schema")
        self._lock = threading.Lock()
        self._stopped: OrderedDict[bytes, None] = OrderedDict()

    def do(self, job: Job) -> Reply:
        """Wait in the right line, and have a worker do the job."""
        line = self.long if job.is_cheap else self.ordinary
        with self._lock:
            if job.key in self._stopped:
                line = self.stopped
        try:
            return line.do(job)
        except LimitExceeded as error:
            if error.limit in ("seconds", "memory"):
                with self._lock:
                    self._stopped[job.key] = None
                    self._stopped.move_to_end(job.key)
                    if len(self._stopped) > _MOST_STOPPED:
                        self._stopped.popitem(last=False)
            raise

    def end(self) -> None:
        """End the workers that have nothing to do."""
        for line in (self.ordinary, self.long, self.stopped):
            line.end()


_lines = _Lines()


def _forget() -> None:
    """Leave the parent's workers and threads to the parent."""
    global _lines  # noqa: PLW0603 - what a fork cannot share
    _lines = _Lines()


def _end() -> None:
    _lines.end()


atexit.register(_end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def ask(job: Job) -> Reply:
    """Have a worker do `job`; raise what it raised, or `LimitExceeded` if it had to be stopped."""
    reply = _lines.do(msgspec.structs.replace(job, value=_pack(job.value, job.limits)))
    if reply.error:
        raise _restore(reply)
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
    loop = asyncio.get_running_loop()
    try:
        answer: asyncio.Future[T] = loop.run_in_executor(_lines.threads, call)
    except RuntimeError as error:  # there may be no more threads
        raise _no_process(str(error)) from None
    return await answer


def _restore(reply: Reply) -> AnyshapeError:
    kind: type[AnyshapeError] | None = getattr(errors, reply.error, None)
    if kind is None:
        return LimitExceeded(
            f"the schema is beyond the engine ({reply.error})", limit="subschemas", allowed=0
        )
    if "supported" in (details := reply.details):
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
