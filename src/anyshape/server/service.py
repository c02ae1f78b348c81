"""What all connections of one server share, whatever carries them."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Iterable, Mapping, Sized
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

from anyshape.protocol.clients import KnownClients
from anyshape.protocol.encoding import encode_data
from anyshape.protocol.identity import ServerIdentity
from anyshape.protocol.revision import Revision
from anyshape.server.failures import busy
from anyshape.server.features.announcements import Listeners, Topic
from anyshape.server.features.feature import Feature, Method
from anyshape.server.features.tools import Tools
from anyshape.server.keys import process_key
from anyshape.server.lifespan import Lifespan, Opening
from anyshape.server.methods import METHODS
from anyshape.server.options import ServerOptions

if TYPE_CHECKING:
    from anyshape.server.asking.exchange import AnswerExchange
    from anyshape.server.asking.state import RequestStates
    from anyshape.server.features.log_messages import LogMessages
    from anyshape.server.log_routing import LogHandler
    from anyshape.server.middleware import Layers
    from anyshape.server.stores.link import StoreLink
    from anyshape.server.tasks.options import TaskUse
    from anyshape.tools.tool import Tool

SomeFeature = TypeVar("SomeFeature", bound=Feature)


class Service:
    """The features of a server, its bounds, and a count of what is going on."""

    def __init__(
        self, identity: ServerIdentity, options: ServerOptions, opening: Opening | None = None
    ) -> None:
        self.options = options
        self.lifespan = Lifespan(opening)
        self.link: StoreLink | None = None
        """The link to other replicas, once it is made."""
        if options.store is not None:
            from anyshape.server.stores.link import open_link

            self.lifespan.add(partial(open_link, self, options.store))
        self.identity = identity
        self._infos: dict[Revision, bytes] = {}
        self.clients = KnownClients(options.shape.known_clients)
        self.listeners = Listeners()
        self.waiting = 0
        """Calls that have begun and wait for something."""
        self.most_waiting = options.max_concurrent_calls
        self.batched_bytes = 0
        """What answers take that wait for others of their batches."""
        self.subscriptions: set[asyncio.Future[None]] = set()
        """Open subscriptions; resolving one ends it gracefully."""
        self.layers: Layers | None = None
        """What is around every request, once something is."""
        self.log_messages: LogMessages | None = None
        """What the server logs for its clients, once something of it can."""
        self._routes_logging = False
        self.absence = ""
        """Why something that is asked for may be missing; said at the end of such errors."""
        self.knows_names = True
        """Whether all that is offered is known at the start; what is behind a gateway is not."""
        self.features: tuple[Feature, ...] = ()
        self.methods: dict[str, Method] = dict(METHODS)
        """Every request that is answered, by its method."""
        self._changing = threading.Lock()
        self._states: RequestStates | None = None
        self.tools = self.feature(Tools)

    def feature(self, kind: type[SomeFeature]) -> SomeFeature:
        """Return the server's feature of a kind; it is added when it is first asked for."""
        with self._changing:
            known = self.find(kind)
            if known is not None:
                return known
            feature = kind(self)
            self.features = (*self.features, feature)
            self.methods = {**self.methods, **feature.methods}
        return feature

    def find(self, kind: type[SomeFeature]) -> SomeFeature | None:
        """Return the server's feature of a kind if it has one; asking does not add it."""
        for feature in self.features:
            if type(feature) is kind:
                return cast("SomeFeature", feature)
        return None

    def request_states(self) -> RequestStates:
        """Return what seals the state of calls that ask their client something."""
        if self._states is None:
            from anyshape.server.asking.state import RequestStates

            options = self.options
            keys = options.state_keys or (process_key(),)
            self._states = RequestStates(keys, options.state_lifetime, options.max_state_bytes)
        return self._states

    def wrap(self) -> Layers:
        """Return what is around every request; from now on, something may be."""
        from anyshape.server.middleware import Layers

        if self.layers is None:
            self.layers = Layers(self)
        return self.layers

    def route_logging(self, loggers: Iterable[str]) -> LogHandler:
        """Have Python's loggers of those names reach clients."""
        from anyshape.server.log_routing import LogHandler, carrier

        if not self._routes_logging:
            self._routes_logging = True
            self.wrap().enclose(carrier(self))
        handler = LogHandler()
        for name in loggers:
            logging.getLogger(name).addHandler(handler)
        return handler

    def offer(self, tool: Tool, requires: Mapping[str, Any] | None, task: TaskUse) -> None:
        """Add a tool; what runs calls as tasks comes with the first one that may be run so."""
        rule = None
        if task is not False:
            from anyshape.server.features.tasks import task_rule

            rule = task_rule(self, tool, task)
        self.tools.add(tool, requires, rule)

    def find_exchange(self) -> AnswerExchange | None:
        """Return where answers reach the replica that asked, `None` if there is no store."""
        if self.link is None:
            return None
        from anyshape.server.stores.exchange import StoreExchange

        return StoreExchange(self)

    def list_topics(self) -> list[Topic]:
        """Return the lists whose changes every peer of a handshake is told of."""
        return [topic for feature in self.features for topic in feature.changes.values()]

    def check_subscriptions(self) -> None:
        """Raise if there are as many subscriptions as may be."""
        allowed = self.options.max_subscriptions
        if len(self.subscriptions) >= allowed:
            raise busy(allowed, "subscriptions")

    def check_topics(self, told: Sized) -> None:
        """Raise if somebody who is told of these topics may not be told of another one."""
        allowed = self.options.max_resource_subscriptions
        if len(told) >= allowed:
            raise busy(allowed, "subscriptions")

    def end_subscriptions(self) -> None:
        """End every subscription gracefully, so that their responses can finish."""
        for subscription in tuple(self.subscriptions):
            if not subscription.done():
                subscription.set_result(None)

    def server_info(self, revision: Revision) -> bytes:
        """Return the `Implementation` of the server, as a revision words it, as JSON text."""
        info = self._infos.get(revision)
        if info is None:
            info = self._infos[revision] = encode_data(self.identity.implementation(revision))
        return info

    def capabilities(self, revision: Revision, *, tells_changes: bool) -> dict[str, Any]:
        """Return what the server can do; `tells_changes` as for a feature."""
        capabilities: dict[str, Any] = {}
        for feature in self.features:
            capabilities.update(feature.capabilities(revision, tells_changes=tells_changes))
        return capabilities
