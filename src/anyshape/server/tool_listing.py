"""What `server.list_tools()` returns: to be awaited, and no decorator, which it is in `mcp`."""

from __future__ import annotations

from collections.abc import Coroutine, Generator
from typing import Any, NoReturn

from anyshape.moved import LIST_TOOLS
from anyshape.protocol.description import ToolDescription


class ToolListing(Coroutine[Any, Any, list[ToolDescription]]):
    """The coroutine that lists the tools; who decorates with it is told what to write instead."""

    def __init__(self, listing: Coroutine[Any, Any, list[ToolDescription]]) -> None:
        self._listing = listing

    def __await__(self) -> Generator[Any, Any, list[ToolDescription]]:
        return self._listing.__await__()

    def __call__(self, *_: object) -> NoReturn:
        """Refuse to decorate."""
        self.close()
        raise TypeError(f"Server.list_tools() is no decorator; {LIST_TOOLS}")

    def send(self, value: Any) -> Any:
        """Go on with the coroutine."""
        return self._listing.send(value)

    def throw(self, *error: Any) -> Any:
        """Raise something inside the coroutine."""
        return self._listing.throw(*error)

    def close(self) -> None:
        """Do without the coroutine."""
        self._listing.close()
