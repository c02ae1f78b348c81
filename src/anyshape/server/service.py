"""What all connections of one server share, whatever carries them."""

from __future__ import annotations

import asyncio

from anyshape.protocol.clients import KnownClients
from anyshape.protocol.identity import Identity
from anyshape.server.catalog import Catalog
from anyshape.server.lifespan import Lifespan, Opening
from anyshape.server.listeners import Listeners
from anyshape.server.options import ServerOptions

__all__ = ["Service"]


class Service:
    """The tools, the bounds, and a count of what is going on."""

    def __init__(
        self, identity: Identity, options: ServerOptions, opening: Opening | None = None
    ) -> None:
        self.options = options
        self.lifespan = Lifespan(opening)
        self.catalog = Catalog(identity, options)
        self.clients = KnownClients(options.shape.known_clients)
        self.listeners = Listeners()
        self.waiting = 0
        """Calls that have begun and wait for something."""
        self.most_waiting = options.max_concurrent_calls
        self.subscriptions: set[asyncio.Future[None]] = set()
        """Open subscriptions; resolving one ends it gracefully."""

    def tools_changed(self) -> None:
        """Tell everyone who listens that the list of tools is another."""
        self.listeners.notify()

    def end_subscriptions(self) -> None:
        """End every subscription gracefully, so that their responses can finish."""
        for subscription in tuple(self.subscriptions):
            if not subscription.done():
                subscription.set_result(None)
