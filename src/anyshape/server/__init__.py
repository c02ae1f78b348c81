"""Serve tools to clients of every protocol revision, on stdio and over HTTP."""

from anyshape.protocol.clients import KNOWN_CLIENTS, KnownClient, Need
from anyshape.protocol.completed import Caching
from anyshape.protocol.shapes import ShapeOptions
from anyshape.server.authorization import AccessToken, Authorization, TokenVerifier
from anyshape.server.connection import Connection
from anyshape.server.options import HttpOptions, ServerOptions
from anyshape.server.server import Server
from anyshape.server.sessions import Sessions

__all__ = [
    "KNOWN_CLIENTS",
    "AccessToken",
    "Authorization",
    "Caching",
    "Connection",
    "HttpOptions",
    "KnownClient",
    "Need",
    "Server",
    "ServerOptions",
    "Sessions",
    "ShapeOptions",
    "TokenVerifier",
]
