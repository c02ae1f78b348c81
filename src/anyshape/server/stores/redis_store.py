"""Valkey or Redis as the place that replicas share: where it is, and how it is spoken to."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from redis.asyncio import Redis

_SCHEMES: Final = ("redis", "rediss", "unix")
_PATIENCE: Final = 5.0
"""Seconds for a connection, and for an answer."""


def check_store_url(url: str) -> None:
    """Raise unless a URL says where Valkey or Redis could be."""
    if urlsplit(url).scheme not in _SCHEMES:
        raise ValueError(f"url has to begin with {'://, '.join(_SCHEMES)}://, got {url!r:.20}")


class RedisStore:
    """What the replicas of a server share, in Valkey or Redis (version 6.2 or newer).

    `url` is `redis://`, `rediss://` (TLS) or `unix://`, with user, password and database as usual.
    Keys begin with `namespace`, by default `anyshape:` and the server's name: replicas share it,
    and different servers must not. Of the news `max_news` are kept, and as many signals between
    replicas. Making a store connects to nothing.
    """

    def __init__(self, url: str, *, namespace: str | None = None, max_news: int = 4096) -> None:
        check_store_url(url)
        if namespace == "":
            raise ValueError("namespace has to have a character or more; leave it out for our own")
        if max_news < 1:
            raise ValueError(f"max_news has to be 1 or more, got {max_news}")
        if importlib.util.find_spec("redis") is None:
            raise ImportError(
                "RedisStore needs the package redis; install anyshape[redis]", name="redis"
            )
        self._url = url
        self.namespace = namespace
        self.max_news = max_news

    def within(self, part: str) -> RedisStore:
        """Return a store at the same place for a part of this server, with keys of its own."""
        namespace = None if self.namespace is None else f"{self.namespace}:{part}"
        return RedisStore(self._url, namespace=namespace, max_news=self.max_news)

    def __repr__(self) -> str:
        return f"RedisStore({self.place!r})"

    @property
    def place(self) -> str:
        """Where it is, without what must not be read in a log."""
        parts = urlsplit(self._url)
        port = f":{parts.port}" if parts.port else ""
        return f"{parts.scheme}://{parts.hostname or ''}{port}{parts.path}"

    def connect(self, wait: float = 0.0) -> Redis:
        """Return a client; `wait` is how long it may be asked to wait for something to happen."""
        from redis.asyncio import Redis
        from redis.asyncio.retry import Retry
        from redis.backoff import NoBackoff

        settings: dict[str, Any] = {
            "socket_timeout": _PATIENCE + wait,
            "socket_connect_timeout": _PATIENCE,
            "protocol": 2,
            "retry": Retry(NoBackoff(), 0),
            "health_check_interval": 0,
        }
        return cast("Any", Redis).from_url(self._url, **settings)
