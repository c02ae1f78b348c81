"""How a call runs, and how it fails."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import signal
import sys
import threading
from typing import Any

import pytest
from patience import PATIENCE

from anyshape.errors import LimitExceeded, RemoteToolError, ToolDefinitionError, ToolError
from anyshape.protocol.result import ABSENT
from anyshape.tools import Context, Tool

GENERIC = "The tool failed because of an error inside it; the server's log says which."


async def test_an_asynchronous_function_runs_in_the_callers_task(call: Any) -> None:
    async def tool() -> bool:
        return asyncio.current_task() is task

    task = asyncio.current_task()
    assert (await call(tool)).value is True
    assert (await call(tool, timeout=PATIENCE)).value is True


async def test_a_synchronous_function_runs_off_the_loop_with_the_context_variables(
    call: Any,
) -> None:
    variable = contextvars.ContextVar("variable", default=0)
    variable.set(7)

    def tool() -> list[int]:
        seen = variable.get()
        variable.set(9)
        return [threading.get_ident(), seen]

    thread, seen = (await call(tool)).value
    assert thread != threading.get_ident()
    assert (seen, variable.get()) == (7, 7)


async def test_the_loop_goes_on_while_a_synchronous_function_works(call: Any) -> None:
    release = threading.Event()

    def tool() -> bool:
        return release.wait(PATIENCE)

    calling = asyncio.ensure_future(call(tool))
    await asyncio.sleep(0)
    release.set()
    assert (await asyncio.wait_for(calling, PATIENCE)).value is True


async def test_an_inline_function_runs_on_the_loop(call: Any) -> None:
    def tool() -> int:
        return threading.get_ident()

    assert (await call(tool, inline=True)).value == threading.get_ident()


async def test_synchronous_calls_run_at_the_same_time(call: Any) -> None:
    barrier = threading.Barrier(8)

    def tool() -> int:
        return barrier.wait(PATIENCE)

    made = Tool.from_function(tool)
    outcomes = await asyncio.gather(*(call(made) for _ in range(8)))
    assert sorted(outcome.value for outcome in outcomes) == list(range(8))


@pytest.mark.parametrize("message", ["No such user: 7", "two\nlines", "lone \ud800 surrogate", ""])
async def test_a_tool_error_is_told_to_the_model(call: Any, message: str) -> None:
    async def tool() -> int:
        raise ToolError(message)

    def tool_in_thread() -> int:
        raise ToolError(message)

    for function in (tool, tool_in_thread):
        outcome = await call(function)
        assert outcome.is_error
        assert outcome.value is ABSENT
        expected = message.encode(errors="backslashreplace").decode() or "The tool failed."
        assert outcome.text == expected


@pytest.mark.parametrize(
    "error",
    [
        ValueError("s3cret"),
        KeyError("s3cret"),
        RecursionError("s3cret"),
        RemoteToolError("s3cret"),
        SystemExit("s3cret"),
        KeyboardInterrupt("s3cret"),
        BaseException("s3cret"),
    ],
    ids=repr,
)
async def test_any_other_exception_is_a_generic_line_and_a_traceback_in_the_log(
    call: Any, error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    async def later() -> int:
        raise error

    def in_thread() -> int:
        raise error

    def inline() -> int:
        raise error

    for function, options in ((later, {}), (in_thread, {}), (inline, {"inline": True})):
        caplog.clear()
        with caplog.at_level(logging.ERROR, "anyshape.tools"):
            outcome = await call(function, **options)
        assert (outcome.is_error, outcome.text) == (True, GENERIC)
        (record,) = caplog.records
        assert record.name == "anyshape.tools"
        assert record.exc_info is not None
        assert record.exc_info[1] is error


@pytest.mark.parametrize("error", [StopIteration, GeneratorExit])
async def test_what_ends_iteration_is_an_error_like_any_other_on_a_thread(
    call: Any, error: type[BaseException]
) -> None:
    def tool() -> int:
        raise error

    outcome = await asyncio.wait_for(call(tool), PATIENCE)
    assert (outcome.is_error, outcome.text) == (True, GENERIC)


async def test_tool_errors_out_of_a_task_group_are_told(call: Any) -> None:
    async def fail(message: str) -> None:
        raise ToolError(message)

    async def tool() -> int:
        async with asyncio.TaskGroup() as group:
            group.create_task(fail("one"))
            group.create_task(fail("two"))
        return 1

    outcome = await call(tool)
    assert (outcome.is_error, outcome.text) == (True, "one\ntwo")


async def test_a_group_with_other_errors_is_generic(call: Any) -> None:
    async def tool() -> int:
        raise ExceptionGroup("s3cret", [ToolError("one"), ValueError("s3cret")])

    outcome = await call(tool)
    assert (outcome.is_error, outcome.text) == (True, GENERIC)


async def test_a_limit_that_the_tool_itself_ran_into_is_its_own_business(call: Any) -> None:
    async def tool() -> int:
        raise LimitExceeded("s3cret", limit="seconds", allowed=1)

    outcome = await call(tool)
    assert (outcome.is_error, outcome.text) == (True, GENERIC)


async def test_arguments_are_refused_when_saying_why_takes_too_long(
    call: Any, caplog: pytest.LogCaptureFixture
) -> None:
    # Confined, with a verdict at once; looking for all 500 problems takes some 16 seconds.
    halves = {"items": {"enum": [number + 0.5 for number in range(20_000)]}}
    written = {"type": "object", "properties": {"a": halves}, "required": ["a"]}

    def tool(a: list[float]) -> int:
        raise AssertionError(a)

    outcome = await call(tool, {"a": [0.25] * 500}, input_schema=written)

    assert outcome.is_error
    assert "explaining the value took more than" in outcome.text
    assert not caplog.records


async def test_words_of_another_tool_are_handed_on_if_the_author_says_so(call: Any) -> None:
    async def tool() -> int:
        try:
            raise RemoteToolError("no such user")
        except ToolError as error:
            raise ToolError(str(error)) from error

    outcome = await call(tool)
    assert (outcome.is_error, outcome.text) == (True, "no such user")


async def test_a_group_with_words_of_another_tool_is_generic(call: Any) -> None:
    async def tool() -> int:
        raise ExceptionGroup("s3cret", [ToolError("one"), RemoteToolError("s3cret")])

    outcome = await call(tool)
    assert (outcome.is_error, outcome.text) == (True, GENERIC)


def test_a_keyboard_interrupt_that_may_be_a_real_one_is_not_kept() -> None:
    async def tool() -> int:
        raise KeyboardInterrupt

    made = Tool.from_function(tool)
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            made.call().send(None)
    finally:
        signal.signal(signal.SIGINT, handler)


async def test_an_asynchronous_function_is_stopped_when_its_time_is_up(call: Any) -> None:
    stopped = asyncio.Event()

    async def tool(context: Context) -> int:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()
        return 1

    context = Context()
    outcome = await asyncio.wait_for(call(tool, timeout=0.01, context=context), PATIENCE)
    assert (outcome.is_error, outcome.text) == (
        True,
        "The tool did not finish within 0.01 seconds.",
    )
    assert stopped.is_set()
    assert context.cancelled


async def test_a_synchronous_function_is_left_behind_when_its_time_is_up(call: Any) -> None:
    started = threading.Event()
    noticed = threading.Event()
    release = threading.Event()

    def tool(context: Context) -> int:
        started.set()
        release.wait(PATIENCE)
        if context.cancelled:
            noticed.set()
        return 1

    # A call whose time is up before it has a thread is never started.
    while not started.is_set():
        outcome = await asyncio.wait_for(call(tool, timeout=0.1, context=Context()), PATIENCE)
        assert outcome.is_error
        assert "within 0.1 seconds" in outcome.text
    release.set()
    assert await asyncio.to_thread(noticed.wait, PATIENCE)


async def test_a_timeout_error_of_the_functions_own_is_not_the_tools_time(call: Any) -> None:
    async def tool() -> int:
        raise TimeoutError("s3cret")

    async def tool_waiting() -> int:
        await asyncio.sleep(0)
        raise TimeoutError("s3cret")

    for function in (tool, tool_waiting):
        outcome = await call(function, timeout=PATIENCE)
        assert (outcome.is_error, outcome.text) == (True, GENERIC)


@pytest.mark.parametrize("timeout", [None, PATIENCE])
async def test_cancelling_the_task_reaches_the_function_and_passes_through(
    timeout: float | None,
) -> None:
    started = asyncio.Event()
    cleaned = asyncio.Event()

    async def tool(context: Context) -> int:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            cleaned.set()
        return 1

    context = Context()
    made = Tool.from_function(tool, timeout=timeout)
    task = asyncio.ensure_future(made.call(None, context))
    await asyncio.wait_for(started.wait(), PATIENCE)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, PATIENCE)
    assert cleaned.is_set()
    assert context.cancelled


async def test_cancelling_a_synchronous_call_returns_at_once_and_lets_it_notice() -> None:
    started = threading.Event()
    release = threading.Event()
    noticed: list[bool] = []
    finished = threading.Event()

    def tool(context: Context) -> int:
        started.set()
        release.wait(PATIENCE)
        noticed.append(context.cancelled)
        finished.set()
        return 1

    task = asyncio.ensure_future(Tool.from_function(tool).call(None, Context()))
    assert await asyncio.to_thread(started.wait, PATIENCE)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, PATIENCE)
    release.set()
    assert await asyncio.to_thread(finished.wait, PATIENCE)
    assert noticed == [True]


async def test_a_cancellation_nobody_asked_for_is_the_tools_own_failure(call: Any) -> None:
    async def tool() -> int:
        future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        future.cancel()
        return await future

    outcome = await call(tool)
    assert (outcome.is_error, outcome.text) == (True, GENERIC)


@pytest.mark.parametrize("timeout", [0, -1, float("inf"), float("nan")])
def test_a_time_that_is_none_is_refused(timeout: float) -> None:
    async def tool() -> int:
        return 1

    with pytest.raises(ToolDefinitionError, match="timeout"):
        Tool.from_function(tool, timeout=timeout)


def test_an_inline_function_cannot_have_a_time_limit() -> None:
    def tool() -> int:
        return 1

    with pytest.raises(ToolDefinitionError, match="inline"):
        Tool.from_function(tool, timeout=1, inline=True)


async def test_progress_reaches_the_caller_in_order_and_stops_with_the_call(call: Any) -> None:
    reports: list[tuple[float, float | None, str | None]] = []
    kept: list[Context] = []

    async def tool(context: Context) -> int:
        kept.append(context)
        context.progress(1, 3, "one")
        context.progress(1)
        context.progress(0.5)
        context.progress(2)
        return 1

    def report(progress: float, total: float | None, message: str | None) -> None:
        reports.append((progress, total, message))

    context = Context(report=report)
    await call(tool, context=context)
    kept[0].progress(3)
    assert reports == [(1, 3, "one"), (2, None, None)]


async def test_progress_may_be_awaited_which_gives_others_a_turn(call: Any) -> None:
    turns: list[str] = []

    async def other() -> None:
        turns.append("other")

    async def tool(context: Context) -> None:
        running = asyncio.create_task(other())
        context.progress(1)
        turns.append("tool")
        await context.progress(2)
        turns.append("tool")
        await running

    assert not (await call(tool, context=Context())).is_error
    assert turns == ["tool", "other", "tool"]


async def test_progress_from_a_thread_is_sent_on_the_loop_before_the_answer(call: Any) -> None:
    threads: list[int] = []

    def tool(context: Context) -> int:
        context.progress(1)
        context.progress(2)
        return 1

    def report(progress: float, total: float | None, message: str | None) -> None:
        threads.append(threading.get_ident())

    await call(tool, context=Context(report=report))
    assert threads == [threading.get_ident()] * 2


async def test_progress_without_anyone_who_asked_is_silent_and_still_checked() -> None:
    context = Context()
    context.progress(1)
    with pytest.raises(ValueError, match="finite"):
        context.progress(float("nan"))


async def test_a_context_tells_who_asked() -> None:
    context = Context(request_id=3, meta={"a": 1}, client={"name": "x"}, access="token")
    assert (context.request_id, context.meta, context.client, context.access) == (
        3,
        {"a": 1},
        {"name": "x"},
        "token",
    )
    assert (Context().request_id, Context().meta, Context().client) == (None, {}, None)


async def test_defining_and_calling_plain_tools_loads_no_pydantic() -> None:
    program = """
import asyncio, sys
from typing import Literal, TypedDict
from anyshape.tools import Tool

class Row(TypedDict):
    count: int

async def tool(a: int, b: list[str] | None = None, c: Literal["x"] = "x") -> list[Row]:
    '''Do.

    Args:
        a: it
    '''
    return [{"count": a}]

result = asyncio.run(Tool.from_function(tool).call(b'{"a": 1}'))
assert result.structured == b'[{"count":1}]', result
assert "pydantic" not in sys.modules
"""
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", program)
    assert await asyncio.wait_for(process.wait(), PATIENCE) == 0
