"""What an operator can decide about tasks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from anyshape.server.tasks.redis_tasks import RedisTasks

TaskUse: TypeAlias = bool | Literal["optional", "required"]
"""Whether calls of a tool become tasks: not, where the client has tasks, or always."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskOptions:
    """Bounds and habits of the tasks of a server.

    `timeout` seconds end the work on a call of a tool that sets no time-out itself (`None`: never);
    a task is kept while it is worked on, and `keep` seconds after its end; clients are asked to
    look every `poll_interval` seconds, and sooner while a task is young. At most `max_tasks` are
    kept, at most `max_tasks_per_caller` of them for one authenticated caller, and their arguments,
    the answers given before them and their results take no more than `max_bytes`: further ones are
    told that the server is busy. `store` is where they are kept: without one, in the memory of this
    process, where they end with it.
    """

    timeout: float | None = 3600.0
    keep: float = 900.0
    poll_interval: float = 5.0
    max_tasks: int = 1000
    max_tasks_per_caller: int = 100
    max_bytes: int = 64 * 1024 * 1024
    store: RedisTasks | None = None

    def __post_init__(self) -> None:
        for name in ("keep", "poll_interval", "max_tasks", "max_tasks_per_caller", "max_bytes"):
            if not 0 < getattr(self, name) < float("inf"):
                raise ValueError(f"{name} has to be above 0, got {getattr(self, name)}")
        if self.timeout is not None and not 0 < self.timeout < float("inf"):
            raise ValueError(f"timeout has to be above 0 or None, got {self.timeout}")
