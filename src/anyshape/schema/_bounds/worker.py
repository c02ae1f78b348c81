"""The confined process: takes jobs from standard input and answers on standard output.

Started by `confinement`, it does one job at a time until its input ends. Before each job it asks
the kernel to end it when the job has used up its processor time; memory is limited from the start.
Neither can be caught here, so there is nothing for a hostile schema to get around.
"""

from __future__ import annotations

import marshal
import os
import pickle
import signal
import sys
from collections import OrderedDict
from contextlib import suppress
from typing import Any, Final

import msgspec

from anyshape.errors import AnyshapeError
from anyshape.schema._bounds.confinement import HELLO, Job, Reply
from anyshape.schema._compile import Core, Sources, build

_DETAILS: Final = ("path", "limit", "allowed", "found", "uri", "dialect", "supported")
_MOST_KEPT: Final = 64
_encode: Final = msgspec.msgpack.Encoder().encode


def main() -> None:
    """Do jobs until there are no more."""
    # Whoever sent it has decided how long an integer may be; the engine takes longer ones for zero.
    sys.set_int_max_str_digits(0)
    jobs, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever the engine prints is no answer
    kept: OrderedDict[bytes, Core] = OrderedDict()
    _forget_signals()
    limited = 0
    answers.write(HELLO)
    answers.flush()
    while len(size := jobs.read(8)) == 8:
        job: Job = pickle.loads(jobs.read(int.from_bytes(size, "little")))  # noqa: S301 - our own parent
        if limited != job.limits.memory:
            limited = job.limits.memory
            _limit_memory(limited)
        _limit_time(job.limits.seconds)
        answer = _encode(_answer(job, kept))
        _limit_time(0)
        answers.write(len(answer).to_bytes(8, "little") + answer)
        answers.flush()


def _answer(job: Job, kept: OrderedDict[bytes, Core]) -> Reply:
    try:
        core = kept.get(job.key)
        if core is None:
            if job.sources is None:
                raise LookupError(job.key.hex())
            packed = job.sources
            sources: Sources = pickle.loads(packed) if isinstance(packed, bytes) else packed  # noqa: S301
            core = kept[job.key] = build(sources, job.limits, job.formats)
            if len(kept) > _MOST_KEPT:
                kept.popitem(last=False)
            if job.verb:
                # Compiling was paid for when the schema was made; this worker is a new one.
                _limit_time(job.limits.seconds)
        kept.move_to_end(job.key)
        value = marshal.loads(job.value) if isinstance(job.value, bytes) else job.value  # noqa: S302 - our own parent
        if job.verb == "accepts":
            return Reply(verdict=core.accepts(value))
        if job.verb == "problems":
            return Reply(problems=core.problems(value, job.limit))
        return Reply()
    except AnyshapeError as error:
        details: dict[str, Any] = {
            name: getattr(error, name) for name in _DETAILS if hasattr(error, name)
        }
        return Reply(error=type(error).__name__, message=str(error), details=details)
    except BaseException as error:
        # Panics of the engine are no Exceptions.
        return Reply(error=type(error).__name__, message=str(error)[:200])


def _forget_signals() -> None:
    """Leave it to the parent to be interrupted; the clock ends the process, whatever runs."""
    with suppress(ValueError, AttributeError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        # What the thread that started this process had blocked is blocked here too.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGPROF,))


def _limit_time(seconds: float) -> None:
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)


def _limit_memory(most: int) -> None:
    """Let the process grow by `most` bytes and no more, where the system can be told so."""
    try:
        import resource
    except ImportError:
        return
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with open("/proc/self/statm", "rb") as statistics:
            used = int(statistics.read().split()[0]) * resource.getpagesize()
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (used + most, hard))
