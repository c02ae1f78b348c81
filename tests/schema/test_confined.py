"""Confined schemas: the answer, or `LimitExceeded`; and nothing else happens to this process."""

from __future__ import annotations

import asyncio
import enum
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest
from patience import PATIENCE, until

from anyshape.errors import AnyshapeError, LimitExceeded, ValidationError
from anyshape.schema import (
    InvalidSchema,
    Limits,
    Schema,
    UnresolvableReference,
    UnsupportedDialect,
    WouldWait,
    aside,
    compile,
    compile_async,
    compile_here,
    text_size,
)
from anyshape.schema import _pipeline as compiling
from anyshape.schema._bounds import confinement as confined
from anyshape.schema._compile import intake as admission
from anyshape.schema._instance import is_light

needs_posix = pytest.mark.skipif(sys.platform == "win32", reason="limits processes as POSIX does")

BRIEF = Limits(seconds=0.2)
STRING = {"type": "string"}
CONFINED: dict[str, Any] = {"$dynamicRef": "#x", "$defs": {"x": {"$dynamicAnchor": "x"}}}
"""Goes to a worker and judges nothing."""


def doubling(levels: int, **beside: object) -> dict[str, Any]:
    """Return a document that asks about any value that is no string 2^levels times."""
    steps = {f"l{n}": {"anyOf": [{"$ref": f"#/$defs/l{n + 1}"}] * 2} for n in range(levels)}
    return {"$ref": "#/$defs/l0", "$defs": {**steps, f"l{levels}": STRING}, **beside}


BURNING = doubling(60)
SPREADING = doubling(60, unevaluatedProperties=False)
"""Takes memory while it is compiled: what is unevaluated is compiled once for each way to it."""


@pytest.fixture(autouse=True)
def _fresh_workers() -> Iterator[None]:
    """Begin each test without workers or known schemas, and leave no worker to the next."""
    compiling._cache._begin()
    confined._end()
    yield
    confined._end()


def workers() -> list[int]:
    """Return the processes that this one has started to confine schemas in."""
    return [
        child.pid
        for child in psutil.Process().children()
        if child.is_running() and "anyshape.schema._bounds.worker" in " ".join(child.cmdline())
    ]


def refusal(act: Callable[[], object]) -> LimitExceeded:
    with pytest.raises(LimitExceeded) as raised:
        act()
    assert "\n" not in str(raised.value)
    assert f"(limit: {raised.value.limit})" in str(raised.value)
    return raised.value


class TestWorkers:
    def test_one_worker_answers_one_caller_again_and_again(self) -> None:
        schema = compile({**CONFINED, "type": "integer"})
        (first,) = workers()

        assert [schema.accepts(value) for value in (1, "x", 2)] == [True, False, True]
        assert [problem.keyword for problem in schema.problems("x")] == ["type"]
        with pytest.raises(ValidationError):
            schema.validate("x")
        assert workers() == [first]

    def test_nothing_is_started_for_schemas_that_are_cheap(self) -> None:
        schema = compile({"type": "object", "properties": {"a": STRING}, "title": "no worker"})

        assert schema.accepts({"a": "x" * 1_000})
        assert schema.problems({"a": 1})
        assert workers() == []

    def test_one_that_was_stopped_is_replaced(self) -> None:
        schema = compile(BURNING, limits=BRIEF)
        (first,) = workers()
        assert schema.accepts("x")
        refusal(lambda: schema.accepts(1))

        assert workers() == []
        assert schema.accepts("x")
        (second,) = workers()
        assert second != first

    @needs_posix
    def test_one_that_somebody_killed_while_idle_costs_nobody_an_answer(self) -> None:
        schema = compile({**CONFINED, "type": "integer", "title": "killed"})
        (pid,) = workers()
        os.kill(pid, signal.SIGKILL)
        until(lambda: psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)

        assert schema.accepts(1)
        assert not schema.accepts("x")

    def test_a_worker_that_has_forgotten_a_schema_is_told_it_again(self) -> None:
        schemas = [compile({**CONFINED, "const": f"{n}"}) for n in range(confined._MOST_KNOWN + 6)]

        for number, schema in enumerate(schemas):
            assert schema.accepts(f"{number}")
            assert not schema.accepts(f"{number + 1}")
        assert len(workers()) == 1

    def test_more_callers_than_workers_wait_for_their_turn(self) -> None:
        schema = compile({**CONFINED, "type": "integer", "minimum": 0})
        found: dict[int, list[bool]] = {}
        start = threading.Barrier(12, timeout=PATIENCE)

        def ask(number: int) -> None:
            start.wait()
            found[number] = [schema.accepts(value) for value in (number, -1, "x", number)]

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)

        assert found == {number: [True, False, False, True] for number in range(12)}
        assert 1 <= len(workers()) <= confined._MOST_WORKERS

    def test_threads_that_burn_do_not_spoil_the_answers_of_others(self) -> None:
        burning = compile(BURNING, limits=BRIEF)
        honest = compile({**CONFINED, "type": "integer", "title": "honest"})
        burnt: list[LimitExceeded] = []
        answers: list[bool] = []

        def burn() -> None:
            burnt.append(refusal(lambda: burning.accepts(1)))

        def ask() -> None:
            answers.extend(honest.accepts(value) for value in (1, "x") * 10)

        threads = [threading.Thread(target=act) for act in (burn, ask, burn, ask, burn)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)

        # On a busy machine one may not have had its turn in time.
        assert [error.limit in ("seconds", "waiting") for error in burnt] == [True] * 3
        assert answers.count(True) == answers.count(False) == 20

    def test_whoever_is_interrupted_leaves_no_answer_to_the_next(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        schema = compile({**CONFINED, "type": "integer", "title": "interrupted"})
        with monkeypatch.context() as patched:
            patched.setattr(confined, "_decode", _interrupt)
            with pytest.raises(KeyboardInterrupt):
                schema.accepts("x")

        assert schema.accepts(1)
        assert not schema.accepts("x")

    @pytest.mark.parametrize("executable", ["/nowhere/python", "", None, "/", "/bin/true"])
    def test_where_no_process_can_be_started_that_is_said(
        self, executable: str | None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sys, "executable", executable)
        error = refusal(lambda: compile({**CONFINED, "title": "nowhere"}))

        assert error.limit == "processes"
        assert "sys.executable" in str(error)

    def test_where_no_thread_can_be_started_that_is_said(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        schema = compile({**CONFINED, "title": "no thread"})

        def start(thread: threading.Thread) -> None:
            raise RuntimeError("can't start new thread")

        with monkeypatch.context() as patched:
            patched.setattr(threading.Thread, "start", start)
            for _ in range(2):  # with a worker, and without
                error = refusal(lambda: schema.accepts("x"))
                assert error.limit == "processes"
                assert "can't start new thread" in str(error)
        assert schema.accepts("x")

    async def test_where_no_thread_can_be_started_that_is_said_aside_too(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        schema = compile({**CONFINED, "title": "no thread aside"})

        def start(thread: threading.Thread) -> None:
            raise RuntimeError("can't start new thread")

        with monkeypatch.context() as patched, ThreadPoolExecutor(1) as threads:
            patched.setattr(threading.Thread, "start", start)
            patched.setattr(confined._lines, "threads", threads)
            with pytest.raises(LimitExceeded, match="can't start new thread") as raised:
                await aside(schema.accepts, "x")
        assert raised.value.limit == "processes"
        assert await aside(schema.accepts, "x")

    @needs_posix
    def test_what_the_thread_has_blocked_that_starts_a_worker_does_not_keep_it_running(
        self,
    ) -> None:
        before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        try:
            schema = compile(BURNING, limits=BRIEF)
            assert refusal(lambda: schema.accepts(1)).limit == "seconds"
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def test_what_is_no_text_on_the_path_is_passed_over_as_python_does(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sys, "path", [Path(__file__).parent, *sys.path])

        assert compile({**CONFINED, "title": "a path of paths"}).accepts("x")

    @needs_posix
    @pytest.mark.parametrize("says", ["nothing, and stays", "something else, again and again"])
    def test_a_program_that_never_says_that_it_is_ready_is_ended(
        self, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        program = tmp_path / "embedding"
        act = "sleep 1000" if says.startswith("nothing") else "yes"
        program.write_text(f"#!/bin/sh\nexec {act}\n")
        program.chmod(0o700)
        monkeypatch.setattr(sys, "executable", str(program))
        monkeypatch.setattr(confined, "_PATIENCE", 0.5)
        others = psutil.Process().children()

        error = refusal(lambda: compile({**CONFINED, "title": says}))
        assert error.limit == "processes"
        assert str(program) in str(error)
        assert [child for child in psutil.Process().children() if child not in others] == []

    @pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="reads /proc")
    def test_a_worker_knows_no_secrets_of_the_environment(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("ANYSHAPE_TEST_TOKEN", "LANGSMITH_API_KEY", "PYTHON_TOKEN", "TZ_TOKEN"):
            monkeypatch.setenv(name, "secret")
        monkeypatch.setenv("PYTHONHASHSEED", "7")
        assert compile({**CONFINED, "title": "secrets"}).accepts(1)
        (pid,) = workers()
        environment = Path(f"/proc/{pid}/environ").read_bytes()

        assert b"PYTHONHASHSEED=7" in environment
        assert b"secret" not in environment
        assert b"PATH=" not in environment.replace(b"PYTHONPATH=", b"").replace(
            b"LD_LIBRARY_PATH=", b""
        )


class TestLines:
    """Schemas of strangers that burn keep nobody waiting but each other."""

    def burners(self, count: int) -> tuple[list[threading.Thread], list[str]]:
        """Start threads that ask schemas which were stopped before; return what is refused."""
        schemas = [compile({**BURNING, "minLength": n}, limits=BRIEF) for n in range(count)]
        for schema in schemas:
            refusal(lambda schema=schema: schema.accepts(1))
        ended: list[str] = []

        def burn(schema: Schema) -> None:
            ended.append(refusal(lambda: schema.accepts(1)).limit)

        threads = [threading.Thread(target=burn, args=(schema,)) for schema in schemas]
        for thread in threads:
            thread.start()
        return threads, ended

    def test_callers_of_other_schemas_have_their_answers_before_ten_have_burnt(self) -> None:
        long = compile({"items": {"type": "integer"}, "uniqueItems": True, "title": "long"})
        honest = compile({**CONFINED, "type": "array", "title": "honest"})
        many = [f"{n}" for n in range(2_000)]
        assert long.waits(text_size(many))
        assert honest.accepts(many)
        threads, ended = self.burners(10)
        answers = [schema.accepts(many) for schema in (honest, long) * 5]
        burnt = len(ended)
        for thread in threads:
            thread.join(PATIENCE)

        assert answers == [True, False] * 5
        assert burnt < 10
        assert set(ended) <= {"seconds", "waiting"}
        assert ended.count("seconds") >= 1

    def test_a_long_value_does_not_wait_behind_schemas_that_nobody_knows_yet(self) -> None:
        long = compile({"items": {"type": "string"}, "uniqueItems": True, "title": "unknown"})
        many = [f"{n}" for n in range(2_000)]
        assert long.accepts(many)
        unknown = [compile({**BURNING, "maxLength": n}, limits=BRIEF) for n in range(12)]
        ended: list[str] = []

        def burn(schema: Schema) -> None:
            ended.append(refusal(lambda: schema.accepts(1)).limit)

        threads = [threading.Thread(target=burn, args=(schema,)) for schema in unknown]
        for thread in threads:
            thread.start()
        answers = [long.accepts(many) for _ in range(5)]
        burnt = len(ended)
        for thread in threads:
            thread.join(PATIENCE)

        assert answers == [True] * 5
        assert burnt < 12

    def test_whoever_gets_no_turn_is_told_so(self, monkeypatch: pytest.MonkeyPatch) -> None:
        schema = compile({**CONFINED, "title": "no turn"})
        monkeypatch.setattr(confined, "_TURN", 0.05)
        line = confined._lines.ordinary
        for _ in range(confined._MOST_WORKERS):
            assert line._turns.acquire(timeout=PATIENCE)
        error = refusal(lambda: schema.accepts(1))
        for _ in range(confined._MOST_WORKERS):
            line._turns.release()

        assert (error.limit, error.allowed) == ("waiting", 0.05)
        assert "ask again later" in str(error)
        assert schema.accepts(1)


def _interrupt(_: bytes) -> confined.Reply:
    raise KeyboardInterrupt


class TestLimits:
    @pytest.mark.parametrize("verb", ["accepts", "problems", "validate"])
    def test_time_ends_every_verb(self, verb: str) -> None:
        error = refusal(lambda: getattr(compile(BURNING, limits=BRIEF), verb)(1))

        assert (error.limit, error.allowed) == ("seconds", 0.2)

    def test_a_verdict_outlives_an_explanation_that_time_ends(self) -> None:
        numbers = [number + 0.5 for number in range(20_000)]
        schema = compile({"items": {"enum": numbers}}, limits=Limits(seconds=0.5))
        wrong = [0.25] * 500
        assert not schema.accepts(wrong)

        (problem,) = schema.problems(wrong)

        assert problem.path == ""
        assert problem.message.startswith(
            "does not satisfy the schema; explaining the value took more than 0.5 seconds"
        )
        with pytest.raises(ValidationError, match="explaining the value took"):
            schema.validate(wrong)

    def test_time_ends_compiling(self) -> None:
        names = {f"name {n:05}": {"type": "string"} for n in range(3_000)}
        patterns = {f"^{name}": schema for name, schema in names.items()}
        document = {
            "properties": names,
            "patternProperties": patterns,
            "additionalProperties": False,
        }
        error = refusal(lambda: compile(document, limits=Limits(seconds=0.05)))

        assert error.limit == "seconds"
        assert "compiling" in str(error)

    @needs_posix
    def test_memory_ends_compiling(self) -> None:
        limits = Limits(memory=32_000_000, seconds=20)
        error = refusal(lambda: compile(SPREADING, limits=limits))

        assert (error.limit, error.allowed) == ("memory", 32_000_000)

    @needs_posix
    def test_memory_that_other_schemas_hold_does_not_count(self) -> None:
        limits = Limits(memory=48_000_000, seconds=20)

        def large(number: int) -> dict[str, Any]:
            names = {f"{number}-{n}": {"$ref": f"#/$defs/d{n}"} for n in range(1_500)}
            return {
                **CONFINED,
                "properties": names,
                "$defs": {**CONFINED["$defs"], **{f"d{n}": STRING for n in range(1_500)}},
            }

        for number in range(12):
            schema = compile(large(number), limits=limits)
            assert not schema.accepts({f"{number}-1": 1})

    @needs_posix
    def test_a_stack_that_overflows_is_a_limit(self) -> None:
        # With the stack that processes have by default the engine survives all that is admitted.
        program = """
import resource
from anyshape.schema import LimitExceeded, compile

steps = {f"l{n}": {"not": {"not": {"$ref": f"#/$defs/l{n + 1}"}}} for n in range(40)}
steps["l40"] = {"items": {"$ref": "#/$defs/l0"}}
value = []
for _ in range(190):
    value = [value]
resource.setrlimit(resource.RLIMIT_STACK, (300_000, resource.getrlimit(resource.RLIMIT_STACK)[1]))
schema = compile({"$ref": "#/$defs/l0", "$defs": steps})
assert schema.cost.confined
assert schema.accepts([[]])
for verb in (schema.accepts, schema.problems):
    try:
        verb(value)
    except LimitExceeded as error:
        print(error.limit)
"""
        assert run(program) == "memory\nmemory\n"

    def test_a_verdict_costs_its_own_time_only(self) -> None:
        # Nineteen levels take some hundredths of a second each time, and less than the limit.
        schema = compile(doubling(19), limits=Limits(seconds=0.5))

        assert [schema.accepts(1) for _ in range(12)] == [False] * 12
        assert len(workers()) == 1


WRONG: dict[str, tuple[Any, type[AnyshapeError]]] = {
    "a type that is none": ({"properties": {"a": {"type": "text"}}}, InvalidSchema),
    "a circle": ({"$ref": "#/$defs/c", "$defs": {"c": {"$ref": "#/$defs/c"}}}, InvalidSchema),
    "a pattern": ({"items": {"pattern": "(unclosed"}}, InvalidSchema),
    "a reference": ({"not": {"$ref": "https://example.com/a"}}, UnresolvableReference),
    "an anchor": ({"items": {"$ref": "#nowhere"}}, UnresolvableReference),
    "a pattern that is too long": ({"pattern": "a" * 5_000}, LimitExceeded),
    "a pattern that is too large": ({"pattern": "((a{100}){100}){100}"}, LimitExceeded),
    "a chain that is too long": (
        {
            "$ref": "#/$defs/l0",
            "$defs": {
                **{f"l{n}": {"$ref": f"#/$defs/l{n + 1}"} for n in range(200)},
                "l200": {},
            },
        },
        LimitExceeded,
    ),
    "a dialect inside": (
        {"$defs": {"a": {"$id": "urn:a", "$schema": "https://example.com/dialect"}}},
        UnsupportedDialect,
    ),
}


class TestErrors:
    """What is wrong with a schema is said in the same words wherever it is found."""

    @pytest.mark.parametrize(("document", "kind"), WRONG.values(), ids=WRONG.keys())
    def test_an_error_travels_with_its_type_words_and_attributes(
        self, document: dict[str, Any], kind: type[AnyshapeError]
    ) -> None:
        with pytest.raises(kind) as here:
            compile(document)
        defs = {**document.get("$defs", {}), **CONFINED["$defs"]}
        with pytest.raises(kind) as there:
            compile({**document, "$defs": defs})

        assert type(there.value) is type(here.value)
        assert str(there.value) == str(here.value)
        assert vars(there.value) == vars(here.value)
        assert len(workers()) <= 1

    def test_problems_travel_whole(self) -> None:
        document = {
            "properties": {
                "a/b": {"anyOf": [{"type": "integer"}, {"items": {"pattern": "^ü\\n"}}]},
                "c": {"anyOf": [{"required": ["x"]}, {"properties": {"z": STRING}}]},
            },
            "required": ["d"],
        }
        value = {"a/b": [1, "\n"], "c": {"z": None}}
        here = compile(document)
        there = compile({**document, **CONFINED})

        assert not here.cost.confined
        assert there.cost.confined
        assert there.problems(value) == here.problems(value)
        assert any(problem.causes for problem in here.problems(value))

    def test_what_the_engine_cannot_judge_is_said_there_as_here(self) -> None:
        limits = Limits(instance_depth=250)
        value: Any = []
        for _ in range(248):
            value = [value]
        for document in ({"uniqueItems": True}, {**CONFINED, "uniqueItems": True}):
            schema = compile(document, limits=limits)
            assert not schema.accepts([value, value])
            assert [problem.keyword for problem in schema.problems([value, value])] == [
                "uniqueItems"
            ]


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    LOW = 1


class Text(str):
    __slots__ = ()


class Record(dict[str, object]):
    pass


def local() -> enum.Enum:
    class Local(enum.Enum):
        ONE = "one"

    return Local.ONE


class TestValues:
    """What the caller's types stand for is judged, though a worker has never heard of them."""

    @pytest.mark.parametrize(
        ("value", "same"),
        [
            (Colour.RED, "red"),
            (Level.LOW, 1),
            (Text("red"), "red"),
            (Record(a=Level.LOW), {"a": 1}),
            (local(), "one"),
            ((1, [2]), [1, [2]]),
            (frozenset(("a",)), ["a"]),
            ({"a": [Colour.RED, Decimal("1.5")]}, {"a": ["red", 1.5]}),
        ],
        ids=str,
    )
    def test_a_value_is_what_it_stands_for(self, value: object, same: object) -> None:
        schema = compile({**CONFINED, "const": same})
        other = compile({**CONFINED, "not": {"const": same}})

        assert schema.accepts(value)
        assert schema.problems(value) == []
        assert not other.accepts(value)
        assert len(workers()) == 1

    @pytest.mark.parametrize(
        "number",
        [
            Decimal("0.1") + Decimal("0.2"),
            Decimal("1E+400"),
            Decimal("1.00000000000000000000000001"),
            2**64 + 1,
            -(10**4_299),
            5e-324,
            1.7976931348623157e308,
        ],
        ids=lambda number: str(number)[:30],
    )
    def test_numbers_arrive_as_they_are(self, number: int | float | Decimal) -> None:
        exact = {**CONFINED, "maximum": 1, "items": {"type": "number"}, "uniqueItems": True}
        schema = compile(exact)

        assert schema.accepts(number) is (number <= 1)
        assert schema.accepts([number, 1])
        assert not schema.accepts([number, number])

    def test_large_values_go_there_and_come_back_judged(self) -> None:
        schema = compile({"items": {"type": "integer"}, "uniqueItems": True})
        many = [2**53 + n for n in range(3_000)]

        assert schema.waits(schema.cost.free_bytes + 1)
        assert schema.accepts(many)
        assert not schema.accepts([*many, 2**53])
        assert not schema.accepts([*many, "x"])
        assert [problem.path for problem in schema.problems([*many, "x"])] == ["/3000"]


@needs_posix
class TestProcesses:
    def test_no_worker_outlives_its_process(self) -> None:
        pid = int(run(f"{ASK}print(pid)"))

        until(lambda: not psutil.pid_exists(pid))

    @pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
    def test_no_worker_outlives_a_process_that_is_killed(self, number: signal.Signals) -> None:
        # In naps: a signal that comes just before a sleep begins is seen only when that has ended.
        program = f"""{ASK}
import time
print(pid, flush=True)
for _ in range({int(PATIENCE)} * 50):
    time.sleep(0.02)
"""
        with started(program) as process:
            assert process.stdout is not None
            pid = int(process.stdout.readline())
            process.send_signal(number)
            process.wait(PATIENCE)

        until(lambda: not psutil.pid_exists(pid))

    def test_no_worker_burns_on_for_a_process_that_is_killed(self) -> None:
        program = f"""{ASK}
import threading
steps = {{f"l{{n}}": {{"anyOf": [{{"$ref": f"#/$defs/l{{n + 1}}"}}] * 2}} for n in range(60)}}
steps["l60"] = {{"type": "string"}}
burning = compile({{"$ref": "#/$defs/l0", "$defs": steps}})
threading.Thread(target=burning.accepts, args=(1,)).start()
print(pid, flush=True)
"""
        with started(program) as process:
            assert process.stdout is not None
            pid = int(process.stdout.readline())
            process.kill()
            process.wait(PATIENCE)

        until(lambda: not psutil.pid_exists(pid))

    def test_a_child_that_was_forked_has_workers_of_its_own(self) -> None:
        program = f"""{ASK}
import os
child = os.fork()
if child == 0:
    answers = [schema.accepts(value) for value in (1, "x")]
    own = [p.pid for p in psutil.Process().children()]
    os._exit(0 if answers == [True, False] and own and pid not in own else 1)
code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
print(code, [schema.accepts(value) for value in (1, "x")], psutil.pid_exists(pid))
"""
        assert run(program) == "0 [True, False] True\n"

    def test_a_fork_while_threads_wait_for_workers_is_safe(self) -> None:
        program = f"""{ASK}
import os, threading
from anyshape.errors import LimitExceeded
def ask():
    for n in range(300):
        try:
            schema.accepts(n)
        except LimitExceeded as error:  # On a busy machine the others may take too long.
            assert error.limit == "waiting"
busy = [threading.Thread(target=ask) for _ in range(4)]
for thread in busy:
    thread.start()
codes = []
for _ in range(5):
    child = os.fork()
    if child == 0:
        os._exit(0 if schema.accepts(1) and not schema.accepts("x") else 1)
    codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
for thread in busy:
    thread.join()
print(codes, schema.accepts(1))
"""
        assert run(program) == "[0, 0, 0, 0, 0] True\n"

    def test_a_child_does_not_wait_for_what_a_thread_of_its_parent_was_making(self) -> None:
        program = """
import os, signal, threading
from anyshape.schema._cache import Cache
cache = Cache(most=100)
begun, forked = threading.Event(), threading.Event()
def make():
    begun.set()
    forked.wait()
    return "the parent's", 1
thread = threading.Thread(target=cache.get, args=("key", make))
thread.start()
begun.wait()
child = os.fork()
if child == 0:
    signal.alarm(10)
    os._exit(0 if cache.get("key", lambda: ("its own", 1)) == "its own" else 1)
forked.set()
thread.join()
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), cache.peek("key"))
"""
        assert run(program) == "0 the parent's\n"


ASK = """
import psutil
from anyshape.schema import compile
schema = compile({"$dynamicRef": "#x", "$defs": {"x": {"$dynamicAnchor": "x", "type": "integer"}}})
assert schema.accepts(1)
(pid,) = [child.pid for child in psutil.Process().children()]
"""


def started(program: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)


def run(program: str) -> str:
    """Return what a Python program of its own printed.

    From 3.12 on Python warns whoever forks beside threads; that it is safe here is what is tested.
    """
    quiet = "ignore:This process:DeprecationWarning"
    done = subprocess.run(
        [sys.executable, "-W", quiet, "-c", program],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


class TestEventLoop:
    """Nothing that is asked with `compile_async` or `aside` keeps an event loop from turning."""

    async def ticks_during(self, act: Callable[[], Any]) -> int:
        """Return how often the loop turned until `act()` was refused for its time."""
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                await asyncio.sleep(0.005)
                ticks += 1

        ticking = asyncio.create_task(tick())
        with pytest.raises(LimitExceeded):
            await act()
        ticking.cancel()
        return ticks

    async def test_the_loop_turns_while_a_schema_burns(self) -> None:
        schema = await compile_async(BURNING, limits=Limits(seconds=0.5))
        verbs: list[Callable[[object], object]] = [
            schema.accepts,
            schema.problems,
            schema.validate,
        ]
        for verb in verbs:
            assert await self.ticks_during(lambda verb=verb: aside(verb, 1)) > 20

    async def test_the_loop_turns_while_a_schema_is_compiled(self) -> None:
        limits = Limits(memory=100_000_000)
        assert await self.ticks_during(lambda: compile_async(SPREADING, limits=limits)) > 20

    async def test_others_are_answered_while_some_burn(self) -> None:
        burning = await compile_async(BURNING, limits=Limits(seconds=0.5))
        cheap = await compile_async({"type": "integer", "title": "others"})
        waiting = [asyncio.create_task(aside(burning.accepts, 1)) for _ in range(6)]
        await asyncio.sleep(0)
        answers = [cheap.accepts(1), cheap.accepts("x")]

        assert not any(task.done() for task in waiting)
        assert answers == [True, False]
        outcomes = await asyncio.gather(*waiting, return_exceptions=True)
        assert [type(outcome) for outcome in outcomes] == [LimitExceeded] * 6

    async def test_what_is_cheap_is_compiled_at_once(self) -> None:
        coroutine = compile_async({"type": "integer", "title": "at once"})

        with pytest.raises(StopIteration) as finished:
            coroutine.send(None)
        assert finished.value.value.accepts(1)

    async def test_what_was_compiled_before_is_there_at_once(self) -> None:
        document = {**CONFINED, "title": "known", "minimum": 5}
        with pytest.raises(WouldWait):
            compile_here(document)
        await compile_async(document)

        assert not await aside(compile_here(document).accepts, 1)

    @pytest.mark.parametrize(
        "document",
        [
            {"enum": ["x" * 100_000]},
            {"enum": [f"{n}" for n in range(20_000)]},
            {"properties": {f"{n}": {"type": "string"} for n in range(2_000)}},
            {"enum": tuple(f"{n}" for n in range(20_000))},
        ],
        ids=["a long text", "many texts", "many schemas", "a tuple"],
    )
    async def test_large_documents_are_left_to_a_thread(
        self, document: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        copied: list[int] = []
        encode = admission.canonical.encode

        def count(value: object) -> bytes:
            copied.append(1)
            return encode(value)

        with monkeypatch.context() as patched:
            patched.setattr(admission, "canonical", SimpleNamespace(encode=count))
            with pytest.raises(WouldWait):
                compile_here(document)

        assert copied == []  # not even a copy was made
        assert not (await compile_async(document)).accepts(["y"]) or "properties" in document

    @pytest.mark.parametrize("recursive", [False, True])
    async def test_very_long_integers_are_judged_elsewhere_whatever_the_text_is_said_to_have(
        self, recursive: bool
    ) -> None:
        items = {"minimum": 0, "anyOf": [{"type": "integer"}, {"$ref": "#"}]}
        schema = compile({"items": items} if recursive else {"items": {"minimum": 0}})
        value = [10**4_299 - n for n in range(schema.cost.free_bytes // 5_000)]
        size = 4_301 * len(value)

        assert not schema.waits(size)
        for verb in (schema.accepts_parsed, schema.accepts):
            with pytest.raises(WouldWait):
                verb(value, size)
            assert await aside(verb, value, size)
            assert not await aside(verb, [*value, -1], size)
        assert schema.waits(text_size(value))
        assert schema.accepts([10**100] * 2, 204)

    async def test_what_is_long_and_too_deep_at_its_end_is_read_elsewhere(self) -> None:
        schema = compile({"type": "object", "properties": {"a": {"type": "array"}}})
        deep: Any = []
        for _ in range(Limits().instance_depth + 1):
            deep = [deep]

        for small, waits in ((10, False), (40_000, True)):
            value = [[1]] * small + deep
            size = text_size(value)
            assert not schema.waits(size)
            for verb in (schema.accepts, schema.validate, partial(schema.problems, limit=1)):
                with pytest.raises(WouldWait if waits else LimitExceeded):
                    verb(value, size=size)
                with pytest.raises(LimitExceeded, match="nested more than 200 levels"):
                    await aside(verb, value, size=size)

    def test_where_no_loop_runs_waiting_is_fine(self) -> None:
        assert compile_here({**CONFINED, "minimum": 7}).accepts(8)

    async def test_compile_async_refuses_what_compile_refuses(self) -> None:
        for document, kind in WRONG.values():
            with pytest.raises(kind):
                await compile_async(document)
        with pytest.raises(InvalidSchema):
            await compile_async({"type": "array"}, role="input")

    async def test_a_task_that_is_cancelled_waits_no_longer(self) -> None:
        schema = await compile_async(BURNING, limits=Limits(seconds=0.5))
        started = time.monotonic()
        task = asyncio.create_task(aside(schema.accepts, 1))
        await asyncio.sleep(0)
        task.cancel()

        with pytest.raises(asyncio.CancelledError):
            await task
        assert time.monotonic() - started < PATIENCE
        assert await aside(schema.accepts, "x")


# ── what is asked of schemas, wherever they are judged ───────────────────────────────────────────


@pytest.mark.parametrize(
    "document",
    [
        {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
        {"type": "array", "items": {"$ref": "#"}},
        {"uniqueItems": True},
        {"items": {"multipleOf": 0.5}},
        {**CONFINED, "type": "array", "maxItems": 10},
        True,
        False,
    ],
    ids=str,
)
def test_what_was_parsed_has_the_same_verdict(document: Any) -> None:
    schema = compile(document)
    values: list[Any] = [{"a": 1}, {"a": "x"}, {}, [], [[], []], [1] * 9_000, [0.25], "x", None, 1]

    for value in values:
        verdict = schema.accepts(value)
        assert schema.accepts_parsed(value) is verdict
        for size in (2, 5_000, 10_000_000):
            assert schema.accepts(value, size) is verdict
            assert schema.accepts_parsed(value, size) is verdict


def test_a_value_that_is_said_to_be_long_is_judged_elsewhere() -> None:
    schema = compile({"items": {"multipleOf": 0.5}, "title": "elsewhere"})
    assert schema.accepts_parsed([1], 3)
    assert workers() == []
    assert schema.waits(schema.cost.free_bytes + 1)
    assert not schema.waits(schema.cost.free_bytes)

    assert schema.accepts_parsed([1] * 9_000, schema.cost.free_bytes + 1)
    assert len(workers()) == 1


def test_a_long_text_is_judged_elsewhere_if_it_is_read_there() -> None:
    schema = compile({"pattern": "^x*$", "title": "read elsewhere"})
    text = "x" * (schema.cost.free_bytes + 1)
    assert is_light(text, schema.cost.free_bytes)

    assert schema.accepts(text, len(text) + 2)
    assert len(workers()) == 1


@pytest.mark.parametrize("value", [[2**70, "x"], [1e5] * 60 + ["x"], (2**70, "x"), {2**70}])
def test_a_value_that_is_said_to_be_short_is_judged_and_explained_here(value: Any) -> None:
    # An event loop asks `waits` with the size of the text, and must not wait after all.
    schema = compile({"type": ["array", "null"], "items": {"multipleOf": 0.5}, "maxItems": 1})
    size = 300
    assert not schema.waits(size)

    assert schema.accepts(value, size) is (len(value) == 1)
    assert schema.accepts_parsed(list(value), size) is (len(value) == 1)
    assert bool(schema.problems(value, size=size)) is (len(value) > 1)
    assert workers() == []
