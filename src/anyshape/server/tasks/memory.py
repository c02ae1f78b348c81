"""Tasks in the memory of this process: worked on here, and gone when it ends."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import Counter, deque
from collections.abc import AsyncGenerator, Callable, Mapping
from functools import partial

from anyshape.protocol.tasks import TaskSnapshot, TaskStatus
from anyshape.server.failures import busy
from anyshape.server.service import Service
from anyshape.server.tasks.engine import (
    CANCELLED,
    TaskCall,
    TaskEngine,
    TaskOutcome,
    describe_progress,
    next_look,
)
from anyshape.server.tasks.options import TaskOptions
from anyshape.server.tasks.performing import failed_outcome, perform


class _KeptTask:
    """One task; it is its own link to the work."""

    def __init__(self, call: TaskCall, engine: MemoryTasks) -> None:
        self.id = call.id
        self.owner = call.owner
        self.size = call.size
        self.status = TaskStatus.WORKING
        self.created = self.updated = time.time()
        self.message: str | None = None
        self.outcome: bytes | None = None
        self.kept_until = 0.0
        self.loop = asyncio.get_running_loop()
        self.work: asyncio.Task[None] | None = None
        self._engine = engine
        self._questions: dict[str, bytes] = {}
        self._answers: dict[str, asyncio.Future[bytes]] = {}

    def snapshot(self) -> TaskSnapshot:
        options = self._engine.options
        now = time.time()
        return TaskSnapshot(
            id=self.id,
            status=self.status,
            created=self.created,
            updated=self.updated,
            # While it is worked on, what is left of its life begins anew at every look.
            kept_until=self.kept_until if self.status.is_final else now + options.keep,
            poll_interval=next_look(now - self.created, options.poll_interval),
            message=self.message,
            outcome=self.outcome,
            questions=dict(self._questions),
        )

    def report(self, progress: float, total: float | None, message: str | None) -> None:
        if not self.status.is_final:
            self.message = describe_progress(progress, total, message)
            self.updated = time.time()

    async def ask(self, key: str, question: bytes) -> bytes:
        answer = self._answers[key] = self.loop.create_future()
        self._questions[key] = question
        self.enter(TaskStatus.INPUT_REQUIRED)
        try:
            return await answer
        finally:
            self._forget(key)

    async def withdraw(self, key: str) -> None:
        self._forget(key)

    def take_answers(self, answers: Mapping[str, bytes]) -> None:
        """Hand over those that somebody waits for; on the loop of the work."""
        for key, text in answers.items():
            waiting = self._answers.get(key)
            if waiting is not None and not waiting.done():
                waiting.set_result(text)
                self._forget(key)

    def enter(self, status: TaskStatus) -> None:
        if self.status.is_final or self.status is status:
            return
        self.status = status
        self.updated = time.time()
        on_change = self._engine.on_change
        if on_change is not None:
            on_change(self.id, self.snapshot)

    def end(self, outcome: TaskOutcome) -> None:
        self.kept_until = time.time() + self._engine.options.keep
        self.outcome = outcome.text or None
        self.message = outcome.message
        self._questions.clear()
        self.enter(outcome.status)

    def _forget(self, key: str) -> None:
        self._answers.pop(key, None)
        if self._questions.pop(key, None) is not None and not self._questions:
            self.enter(TaskStatus.WORKING)


class MemoryTasks(TaskEngine):
    """Tasks by id, in the order they were accepted."""

    def __init__(self, service: Service, options: TaskOptions) -> None:
        self.options = options
        self._service = service
        self._tasks: dict[str, _KeptTask] = {}
        self._ended: deque[_KeptTask] = deque()
        """Those that only wait to be forgotten, in the order in which that is due."""
        self._owned: Counter[str] = Counter()
        self._bytes = 0

    @contextlib.asynccontextmanager
    async def opened(self) -> AsyncGenerator[None]:
        """Stop the work when the server ends: nobody could ask for it any more."""
        try:
            yield
        finally:
            here = asyncio.get_running_loop()
            left = {
                task.work
                for task in self._tasks.values()
                if task.loop is here and task.work is not None
            }
            for work in left:
                work.cancel()
            if left:
                await asyncio.wait(left, timeout=self._service.options.grace)

    async def begin(self, call: TaskCall) -> TaskSnapshot:
        """Keep the task, and begin the work in the next turn of the loop."""
        self._forget_old()
        options = self.options
        if len(self._tasks) >= options.max_tasks:
            raise busy(options.max_tasks, "tasks")
        if call.owner is not None and self._owned[call.owner] >= options.max_tasks_per_caller:
            raise busy(options.max_tasks_per_caller, "tasks of one caller")
        if self._bytes + call.size > options.max_bytes:
            raise busy(options.max_bytes, "bytes of tasks")
        task = self._tasks[call.id] = _KeptTask(call, self)
        if call.owner is not None:
            self._owned[call.owner] += 1
        self._bytes += task.size
        task.work = task.loop.create_task(self._work(task, call), name=f"task {call.tool}")
        return task.snapshot()

    async def find(self, id: str, owner: str | None) -> TaskSnapshot | None:
        """Return how a task stands."""
        self._forget_old()
        task = self._tasks.get(id)
        return None if task is None or task.owner != owner else task.snapshot()

    async def cancel(self, id: str) -> None:
        """End a task; the work on it is cancelled as a call is."""
        task = self._tasks.get(id)
        if task is None or task.status.is_final:
            return
        self._end(task, CANCELLED)
        if task.work is not None:
            self._on_loop_of(task, task.work.cancel)

    async def answer(self, id: str, answers: Mapping[str, bytes]) -> None:
        """Hand over answers to those who wait for them."""
        task = self._tasks.get(id)
        if task is not None:
            self._on_loop_of(task, partial(task.take_answers, answers))

    async def _work(self, task: _KeptTask, call: TaskCall) -> None:
        outcome = CANCELLED
        try:
            with contextlib.suppress(asyncio.CancelledError):
                outcome = await perform(self._service, call, task, self.options.timeout)
            self._end(task, outcome)
        finally:
            task.work = None

    def _end(self, task: _KeptTask, outcome: TaskOutcome) -> None:
        if task.status.is_final:
            return
        if outcome.text and self._bytes + len(outcome.text) > self.options.max_bytes:
            outcome = failed_outcome(busy(self.options.max_bytes, "bytes of tasks"))
        task.size += len(outcome.text)
        self._bytes += len(outcome.text)
        task.end(outcome)
        self._ended.append(task)

    def _forget_old(self) -> None:
        now = time.time()
        while self._ended and self._ended[0].kept_until <= now:
            task = self._ended.popleft()
            del self._tasks[task.id]
            self._bytes -= task.size
            if task.owner is not None:
                self._owned[task.owner] -= 1
                if not self._owned[task.owner]:
                    del self._owned[task.owner]

    @staticmethod
    def _on_loop_of(task: _KeptTask, act: Callable[[], object]) -> None:
        if task.loop is asyncio.get_running_loop():
            act()
        elif not task.loop.is_closed():
            task.loop.call_soon_threadsafe(act)
