"""Tasks in Valkey or Redis, as an operator names the place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from anyshape.server.stores.redis_store import check_store_url

if TYPE_CHECKING:
    from anyshape.server.service import Service
    from anyshape.server.tasks.engine import TaskEngine
    from anyshape.server.tasks.options import TaskOptions


@dataclass(frozen=True, slots=True)
class RedisTasks:
    """Keep tasks in Valkey or Redis, and have `anyshape worker` work on them, on any machine.

    `url` is where it is (`redis://`, `rediss://`, `unix://`); servers and workers of the same
    `name` there belong together. A worker that was silent for `redelivery` seconds is taken for
    dead, and another one does its work from the start, at most `attempts` times in all. Needs the
    extra `anyshape[tasks]`.
    """

    url: str = field(repr=False)
    name: str = "anyshape"
    redelivery: float = 30.0
    attempts: int = 5

    def __post_init__(self) -> None:
        check_store_url(self.url)
        if not 0.1 <= self.redelivery < float("inf"):
            raise ValueError(f"redelivery has to be 0.1 or more, got {self.redelivery}")
        if self.attempts < 1:
            raise ValueError(f"attempts has to be 1 or more, got {self.attempts}")

    @property
    def engine(self) -> Callable[[Service, TaskOptions], TaskEngine]:
        """What makes the engine that keeps the tasks of a server there."""
        try:
            from anyshape.server.tasks.redis_engine import RedisEngine
        except ImportError as error:
            raise ImportError(
                f"RedisTasks needs {error.name}; install it with: pip install 'anyshape[tasks]'"
            ) from error
        return partial(RedisEngine, self)
