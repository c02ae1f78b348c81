"""A bounded, thread-safe cache that makes each thing once, however many ask at the same time."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Generic, TypeVar

__all__ = ["Cache"]

T = TypeVar("T")


class Cache(Generic[T]):
    """Keep the `most` things that were asked for last; failures are not kept."""

    def __init__(self, *, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, Future[T]] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what belongs to `key`, made by `make` if it is not there."""
        with self._lock:
            future = self._kept.get(key)
            mine = future is None
            if future is None:
                future = self._kept[key] = Future()
                if len(self._kept) > self._most:
                    self._kept.popitem(last=False)
            else:
                self._kept.move_to_end(key)
        if mine:
            try:
                future.set_result(make())
            except BaseException as error:
                with self._lock:
                    if self._kept.get(key) is future:
                        del self._kept[key]
                future.set_exception(error)
                raise
        return future.result()

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._kept.clear()

    def __len__(self) -> int:
        """Return how many things are kept."""
        return len(self._kept)
