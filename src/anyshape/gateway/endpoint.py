"""One server that clients see, with what it offers: of all upstreams, or of a single one.

What is offered is put together, and resources are watched, only while somebody uses the server.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Literal

from anyshape.gateway.audit import AuditLog
from anyshape.gateway.catalogue import Catalogue
from anyshape.gateway.disclosure import DisclosedTools
from anyshape.gateway.fleet import Fleet
from anyshape.gateway.metrics import GatewayMetrics
from anyshape.gateway.telemetry import ServerDurations
from anyshape.gateway.upstream import Offer, UpstreamLink
from anyshape.gateway.watching import Watching
from anyshape.schema import Limits
from anyshape.server.authorization import Authorization
from anyshape.server.options import ServerOptions
from anyshape.server.server import Server


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointTerms:
    """What the endpoints of a gateway have in common."""

    name: str
    version: str
    instructions: str | None
    limits: Limits
    options: ServerOptions
    disclosure: Literal["all", "search"]
    audit: AuditLog | None
    metrics: GatewayMetrics | None

    def within(self, upstream: str) -> EndpointTerms:
        """Return the terms of the endpoint of one upstream, whose replicas are its alone."""
        store = self.options.store
        inner = None if store is None else store.within(upstream)
        options = replace(self.options, store=inner)
        return replace(self, name=f"{self.name}/{upstream}", options=options)


class Endpoint:
    """A server in front of a fleet, or of the one `upstream` of it, whose names have no prefix."""

    def __init__(self, terms: EndpointTerms, fleet: Fleet, upstream: str | None = None) -> None:
        self._fleet = fleet
        self._upstream = upstream
        self._is_open = False
        terms = terms if upstream is None else terms.within(upstream)
        self.server = Server(
            terms.name,
            version=terms.version,
            instructions=terms.instructions,
            lifespan=self._lifespan,
            limits=terms.limits,
            options=terms.options,
        )
        """The server that clients see."""
        self._disclosed = DisclosedTools(terms.limits) if terms.disclosure == "search" else None
        if self._disclosed is not None:
            self.server.add_tool(self._disclosed.find)
            self.server.add_tool(self._disclosed.call)
        self.catalogue = Catalogue(self.server._service, self._disclosed)
        self.rename()
        durations = ServerDurations.find()
        if terms.audit is not None or terms.metrics is not None or durations is not None:
            self.server.middleware(
                Watching(
                    self.catalogue.upstream_of,
                    audit=terms.audit,
                    metrics=terms.metrics,
                    durations=durations,
                    own=upstream,
                )
            )

    def require(self, authorization: Authorization | None) -> None:
        """Have tools that are found by search need what callers over HTTP need for them."""
        if self._disclosed is not None:
            self._disclosed.authorization = authorization

    def rename(self) -> None:
        """Name things as the operator wants them named now, the next time that they are adopted."""
        upstreams, own = self._fleet.upstreams, self._upstream
        if own is not None:
            upstreams = {own: replace(upstreams[own], prefix="")}
        self.catalogue.name_for(upstreams)

    def prepare(self, link: UpstreamLink, offer: Offer) -> None:
        """Make what adopting that offer takes; runs in a thread."""
        if self._is_open and self._upstream in (None, link.name):
            self.catalogue.prepare(link, offer)

    def _prepare_all(self) -> None:
        for link in self._links().values():
            self.prepare(link, link.offer)

    def adopt(self) -> None:
        """Offer what the upstreams offer now."""
        if self._is_open:
            self.catalogue.adopt(self._links(), self._fleet.imitating)

    def resource_changed(self, uri: str) -> None:
        """Tell those who listen for changes to a resource."""
        if self._is_open:
            self.catalogue.resource_changed(uri)

    @asynccontextmanager
    async def _lifespan(self, _server: Server) -> AsyncGenerator[Mapping[str, UpstreamLink]]:
        async with self._fleet.running.held():
            self._is_open = True
            try:
                await asyncio.to_thread(self._prepare_all)
                self.adopt()
                with self.catalogue.heeding_interest():
                    yield self._links()
            finally:
                self._is_open = False

    def _links(self) -> Mapping[str, UpstreamLink]:
        links, own = self._fleet.links, self._upstream
        if own is None:
            return links
        return {own: links[own]} if own in links else {}
