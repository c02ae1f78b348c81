"""Serve tools to clients of every protocol revision, on stdio and over HTTP."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from anyshape.protocol.clients import KNOWN_CLIENTS, KnownClient, Need
from anyshape.protocol.completed import Caching
from anyshape.protocol.shapes import ShapeOptions
from anyshape.server.connection import Connection
from anyshape.server.options import ServerOptions
from anyshape.server.server import Server

if TYPE_CHECKING:
    from anyshape.server.authorization import AccessToken, Authorization, TokenVerifier
    from anyshape.server.http_options import HttpOptions, Streams
    from anyshape.server.log_routing import LogHandler
    from anyshape.server.middleware import Middleware, MiddlewareAnswer, MiddlewareRequest, Proceed
    from anyshape.server.rate_limit import RateLimit
    from anyshape.server.sessions import Sessions
    from anyshape.server.stores.redis_store import RedisStore
    from anyshape.server.tasks.options import TaskOptions
    from anyshape.server.tasks.redis_tasks import RedisTasks
    from anyshape.server.tokens.introspection import Introspection
    from anyshape.server.tokens.jwt_verifier import JwtVerifier

__all__ = [
    "KNOWN_CLIENTS",
    "AccessToken",
    "Authorization",
    "Caching",
    "Connection",
    "HttpOptions",
    "Introspection",
    "JwtVerifier",
    "KnownClient",
    "LogHandler",
    "Middleware",
    "MiddlewareAnswer",
    "MiddlewareRequest",
    "Need",
    "Proceed",
    "RateLimit",
    "RedisStore",
    "RedisTasks",
    "Server",
    "ServerOptions",
    "Sessions",
    "ShapeOptions",
    "Streams",
    "TaskOptions",
    "TokenVerifier",
]

_HOMES = {
    "AccessToken": "anyshape.server.authorization",
    "Authorization": "anyshape.server.authorization",
    "HttpOptions": "anyshape.server.http_options",
    "Introspection": "anyshape.server.tokens.introspection",
    "JwtVerifier": "anyshape.server.tokens.jwt_verifier",
    "LogHandler": "anyshape.server.log_routing",
    "Middleware": "anyshape.server.middleware",
    "MiddlewareAnswer": "anyshape.server.middleware",
    "MiddlewareRequest": "anyshape.server.middleware",
    "Proceed": "anyshape.server.middleware",
    "RateLimit": "anyshape.server.rate_limit",
    "RedisStore": "anyshape.server.stores.redis_store",
    "RedisTasks": "anyshape.server.tasks.redis_tasks",
    "Sessions": "anyshape.server.sessions",
    "Streams": "anyshape.server.http_options",
    "TaskOptions": "anyshape.server.tasks.options",
    "TokenVerifier": "anyshape.server.authorization",
}
"""What is loaded when somebody asks for it: most servers have no need of it."""


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'anyshape.server' has no attribute {name!r}")
    value: object = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
