"""A server that runs as several processes, which share keys and a store.

uvicorn replicas:application --port 8001 --http anyshape.server.http_protocol:HttpProtocol
"""

import os

from anyshape import Server
from anyshape.server import HttpOptions, RedisStore, ServerOptions, Sessions

SECRET = os.environ.get("NOTES_SECRET", "32 bytes that replicas share ...").encode()
STORE = os.environ.get("NOTES_STORE", "redis://127.0.0.1:6379/0")

server = Server("notes", options=ServerOptions(store=RedisStore(STORE), state_keys=(SECRET,)))


@server.resource("notes://today")
def today() -> str:
    """What is to be done today."""
    return "buy milk"  # From a database: replicas share no variables.


@server.tool
def finish_day() -> None:
    """Clear what was to be done today."""
    server.resource_changed("notes://today")  # Subscribers hear of it, whoever serves them.


application = server.asgi(HttpOptions(sessions=Sessions(keys=(SECRET,))))
