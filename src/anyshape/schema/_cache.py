"""A thread-safe cache that is bounded by what it holds and makes each thing once.

However many ask for the same thing at the same time, it is made by one of them.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Generic, TypeVar

T = TypeVar("T")


class Cache(Generic[T]):
    """Keep the things that were asked for last, up to `most` bytes; failures are not kept."""

    def __init__(self, *, most: int) -> None:
        self._most = most
        self._begin()
        if hasattr(os, "register_at_fork"):
            # What other threads hold or make at that moment is never let go or finished in a child.
            os.register_at_fork(after_in_child=self._begin)

    def _begin(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, tuple[Future[T], int]] = OrderedDict()
        self._size = 0

    def peek(self, key: Hashable) -> T | None:
        """Return what belongs to `key`, if it is there already."""
        with self._lock:
            future, _ = self._kept.get(key, (None, 0))
        if future is None or not future.done() or future.exception() is not None:
            return None
        return future.result()

    def get(self, key: Hashable, make: Callable[[], tuple[T, int]]) -> T:
        """Return what belongs to `key`; `make` returns it, and its size, if it is not there."""
        mine: Future[T] = Future()
        with self._lock:
            future, _ = self._kept.setdefault(key, (mine, 0))
            self._kept.move_to_end(key)
        if future is not mine:
            return future.result()
        try:
            made, size = make()
        except BaseException as error:
            with self._lock:
                self._drop(key, mine)
            mine.set_exception(error)
            raise
        mine.set_result(made)
        with self._lock:
            if self._kept.get(key, (None, 0))[0] is mine:
                self._kept[key] = (mine, size)
                self._size += size
                self._shrink()
        return made

    def _drop(self, key: Hashable, future: Future[T]) -> None:
        if self._kept.get(key, (None, 0))[0] is future:
            self._size -= self._kept.pop(key)[1]

    def _shrink(self) -> None:
        while self._size > self._most:
            key, (future, size) = self._kept.popitem(last=False)
            if future.done():
                self._size -= size
            else:  # it is being made, and has no size yet
                self._kept[key] = (future, size)
