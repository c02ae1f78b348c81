"""One HTTP connection under uvicorn, which joins its writes with those of others."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from anyshape.server.joining import JoiningTransport

__all__ = ["HttpProtocol"]


class HttpProtocol(HttpToolsProtocol):
    """uvicorn's protocol on httptools."""

    _joining: JoiningTransport

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Write to the connection through a transport that joins."""
        self._joining = JoiningTransport(transport, self.tasks, self.loop)
        super().connection_made(self._joining)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget what waits to be written: nobody will read it."""
        self._joining.discard()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self) -> None:
        """Hand the bare transport on: there is no more to join on this connection."""
        self.transport = self._joining.release()
        super().handle_websocket_upgrade()
