"""What keeps tasks and has them worked on: the seam between the protocol and where that happens.

A task belongs to whoever asked for it: every question about one names its owner, and to anybody
else it is not there.
"""

from __future__ import annotations

import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Final, Protocol

import msgspec

from anyshape.protocol.tasks import TaskSnapshot, TaskStatus
from anyshape.server.authorization import AccessToken

_ENTROPY = 24
_LONGEST = 500
_SHORTEST = 0.1


class TaskCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call that became a task, with all that is needed to make it, in this process or another.

    `arguments` are JSON text, `meta` that of the `_meta` of the request, `request_id` that of its
    id, `answers` those of what was asked before there was a task.
    """

    id: str
    tool: str
    arguments: bytes | None
    revision: str
    meta: bytes
    request_id: bytes
    access: AccessToken | None = None
    answers: Mapping[str, bytes] = msgspec.field(default_factory=dict[str, bytes])

    @property
    def owner(self) -> str | None:
        """Who may ask for the task: the subject of the access token, `None` without any."""
        return None if self.access is None else self.access.subject

    @property
    def size(self) -> int:
        """About how many bytes it takes to keep."""
        answers = sum(len(key) + len(answer) for key, answer in self.answers.items())
        return len(self.arguments or b"") + len(self.meta) + len(self.request_id) + answers + 500


class TaskOutcome(msgspec.Struct, frozen=True):
    """What the work on a task came to: a result or an error, as JSON text, unless cancelled."""

    status: TaskStatus
    text: bytes = b""
    message: str | None = None


CANCELLED: Final = TaskOutcome(TaskStatus.CANCELLED)


class TaskLink(Protocol):
    """All that the work on a task knows of the task: how to report, and to ask its client."""

    def report(self, progress: float, total: float | None, message: str | None) -> None:
        """Have the task say how far the work has come."""
        ...

    async def ask(self, key: str, question: bytes) -> bytes:
        """Put a request to the client, and wait for its result; both are JSON text.

        A key may be used once in the life of a task. An answer that was given to an earlier attempt
        at the same work is returned at once.
        """
        ...

    async def withdraw(self, key: str) -> None:
        """Know that nobody waits for the answer to a request any more."""
        ...


class TaskEngine(ABC):
    """Keeps the tasks of a server, and has them worked on."""

    on_change: Callable[[str, Callable[[], TaskSnapshot]], None] | None = None
    """Called, on the loop, when a task has another status: with its id, and a way to look at it."""

    @abstractmethod
    def opened(self) -> AbstractAsyncContextManager[None]:
        """Return what holds the engine open while the server is."""

    @abstractmethod
    async def begin(self, call: TaskCall) -> TaskSnapshot:
        """Accept a call, or raise; once this returns, the task is found by its id."""

    @abstractmethod
    async def find(self, id: str, owner: str | None) -> TaskSnapshot | None:
        """Return how a task of this owner stands, `None` if there is none of that id."""

    @abstractmethod
    async def cancel(self, id: str) -> None:
        """End a task that was found; one that has ended stays as it is."""

    @abstractmethod
    async def answer(self, id: str, answers: Mapping[str, bytes]) -> None:
        """Hand over answers to questions of a task that was found; unknown keys are ignored."""

    async def watch(self, id: str) -> None:
        """See to it that `on_change` is called for a task that was found."""
        return


def next_look(age: float, longest: float) -> float:
    """Return the seconds until a client shall look at a task again.

    A fifth of its age: what ends soon is seen soon, and long work is not asked after all the time.
    """
    return min(longest, max(_SHORTEST, age / 5))


def new_task_id() -> str:
    """Return an id that nobody can guess."""
    return secrets.token_urlsafe(_ENTROPY)


def describe_progress(progress: float, total: float | None, message: str | None) -> str:
    """Return a report of progress in words, which are all that a task has for it."""
    count = f"{progress:g}" if total is None else f"{progress:g} of {total:g}"
    text = count if message is None else f"{message} ({count})"
    return text[:_LONGEST].encode(errors="backslashreplace").decode()
