"""Upstreams behind one server, or behind several: one of all of them, and one of each.

What every upstream offers is put together under the names that it has here, whenever one of them
comes, goes, or changes; clients that listen are told.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import threading
from collections.abc import AsyncGenerator, Callable, Collection, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias
from weakref import WeakKeyDictionary

from anyshape._version import __version__
from anyshape.client.target import Target
from anyshape.errors import AnyshapeError
from anyshape.gateway.adoption import unrecovered
from anyshape.gateway.audit import AuditLog
from anyshape.gateway.collection import relaxed_collector
from anyshape.gateway.disclosure import DisclosedTools
from anyshape.gateway.endpoint import Endpoint, EndpointTerms
from anyshape.gateway.fleet import Fleet
from anyshape.gateway.health import GatewayHealth
from anyshape.gateway.metrics import CONTENT_TYPE, GatewayMetrics
from anyshape.gateway.naming import Collision
from anyshape.gateway.options import Upstream
from anyshape.gateway.upstream import Offer, UpstreamLink
from anyshape.gateway.vetting import Vetting
from anyshape.protocol.clients import NOTHING
from anyshape.protocol.encoding import encode_data
from anyshape.protocol.revision import LATEST
from anyshape.protocol.shapes import shape
from anyshape.schema import Limits
from anyshape.server.connection import Connection
from anyshape.server.guard import is_local
from anyshape.server.http import HttpApplication
from anyshape.server.http_options import HttpOptions, ServePage
from anyshape.server.options import ServerOptions
from anyshape.server.server import Server
from anyshape.server.settings import check_transport

if TYPE_CHECKING:
    from anyshape.gateway.config import GatewayConfig
    from anyshape.gateway.paths import PathApplication
    from anyshape.gateway.shared_pins import SharedPins

Endpoints: TypeAlias = Literal["one", "each", "both"]
"""Where upstreams are over HTTP: at one endpoint together, under a path each, or both."""

_log = logging.getLogger("anyshape.gateway")
_PATIENCE: Final = 10.0
_JSON: Final = "application/json"


class Gateway:
    """Servers of any age at one endpoint, for clients of any age.

    `upstreams` maps a name to a URL, a command, a server in this process, or an `Upstream` that
    says more. One upstream keeps its names; of several, `nums` of upstream `any` is `any_nums`.
    Over HTTP, `endpoints="each"` has that upstream at `/any/mcp` instead, where `nums` is `nums`,
    and `"both"` has it at both. With `disclosure="search"` two tools are listed, which find and
    call the others. `vetting` says what is withheld by pins and screening, `shared_pins` where the
    pins are that all replicas go by; `audit` and `metrics`
    are where requests are written down; without the upstreams that are `required` the gateway is
    not ready.
    """

    def __init__(
        self,
        upstreams: Mapping[str, Upstream | Target],
        *,
        name: str = "anyshape-gateway",
        version: str = __version__,
        instructions: str | None = None,
        patience: float = _PATIENCE,
        endpoints: Endpoints = "one",
        disclosure: Literal["all", "search"] = "all",
        vetting: Vetting | None = None,
        shared_pins: SharedPins | None = None,
        audit: AuditLog | None = None,
        metrics: GatewayMetrics | None = None,
        required: Collection[str] = (),
        limits: Limits | None = None,
        options: ServerOptions | None = None,
    ) -> None:
        if disclosure not in ("all", "search"):
            raise ValueError(f"disclosure={disclosure!r}: expected 'all' or 'search'")
        if endpoints not in ("one", "each", "both"):
            raise ValueError(f"endpoints={endpoints!r}: expected 'one', 'each' or 'both'")
        self._endpoints: Endpoints = endpoints
        self._check_names(upstreams)
        limits = limits or Limits()
        self._fleet = Fleet(
            upstreams,
            limits=limits,
            patience=patience,
            vetting=vetting,
            shared_pins=shared_pins,
            on_offer=self._adopt,
            on_change=self._tell_change,
            prepare=self._prepare,
        )
        self._fleet.running.add(self._heeding_signals)
        self._terms = EndpointTerms(
            name=name,
            version=version,
            instructions=instructions,
            limits=limits,
            options=options or ServerOptions(),
            disclosure=disclosure,
            audit=audit,
            metrics=metrics,
        )
        self._all = Endpoint(self._terms, self._fleet)
        self._own: dict[str, Endpoint] = {}
        self.server = self._all.server
        """The server that clients see, with all upstreams."""
        self._applications: list[PathApplication] = []
        self._path: str | None = None
        self._required = frozenset(required)
        if metrics is not None:
            metrics.watch(lambda: self.health, None if audit is None else lambda: audit.dropped)
        self._load: Callable[[], GatewayConfig] | None = None
        self._reloading: asyncio.Task[None] | None = None
        self._is_outdated = False
        """Whether a signal has come since the configuration was read."""

    @classmethod
    def configured(cls, config: GatewayConfig, **others: Any) -> Gateway:
        """Return the gateway that a file describes, whose pins are read now.

        It writes nothing down, and has no other replicas: `others` are the options that say more.
        """
        settings = config.settings
        said: dict[str, Any] = {
            "name": config.name,
            "instructions": config.instructions,
            "endpoints": config.endpoints,
            "disclosure": settings.disclosure,
            "vetting": settings.vetting(),
            "shared_pins": settings.shared_pins(config.name),
            "required": settings.required,
        }
        return cls(config.upstreams, **{**said, **others})

    def reload_with(self, load: Callable[[], GatewayConfig]) -> None:
        """Have the upstreams, pins and terms of another configuration whenever SIGHUP comes.

        `load` runs in a thread. The rest of a configuration holds for as long as the process runs.
        """
        self._load = load

    def vet_with(self, vetting: Vetting | None) -> None:
        """Withhold by other pins and terms, as soon as the lists have been read again."""
        self._fleet.vet_with(vetting)

    @property
    def upstreams(self) -> Mapping[str, UpstreamLink]:
        """The upstreams by name, while the gateway runs."""
        return dict(self._fleet.links)

    @property
    def collisions(self) -> tuple[Collision, ...]:
        """What is not offered because another upstream has something of that name."""
        return self._all.catalogue.collisions

    @property
    def rejected(self) -> Mapping[str, str]:
        """The tools that no client could use, by the names that they would have here, and why."""
        return self._all.catalogue.rejected

    @property
    def withheld(self) -> Mapping[str, str]:
        """What is not offered because of pins or screening, and why; `upstream/name` says what."""
        return {} if self._fleet.vetting is None else self._fleet.vetting.withheld

    @property
    def unrecovered(self) -> tuple[str, ...]:
        """What cannot be given back of the servers behind it, one line each, while it runs."""
        return tuple(
            f"upstream {link.name}: {line}"
            for link in self._fleet.links.values()
            if link.is_up
            for line in unrecovered(link)
        )

    def listings(self) -> dict[str, list[Mapping[str, Any]]]:
        """Return what a client is listed of tools, while it runs: all of them, or by search."""
        disclosed = DisclosedTools(self._terms.limits)
        ways = {"all": self._all.catalogue.tools, "search": [disclosed.find, disclosed.call]}
        form, options = shape(LATEST), self._terms.options.shape
        return {
            way: [form.entry(tool.listing, options, NOTHING) for tool in tools]
            for way, tools in ways.items()
        }

    @property
    def health(self) -> GatewayHealth:
        """How the gateway and its upstreams are now."""
        found = [link.health for link in self._fleet.links.values()]
        if self._endpoints != "one" and self._path is not None:
            found = [replace(each, path=f"/{each.name}{self._path}") for each in found]
        return GatewayHealth(
            upstreams=found, required=self._required, is_stopping=self._fleet.is_stopping
        )

    def at(self, upstream: str) -> Server:
        """Return the server that clients see at the path of one upstream; `KeyError` for none."""
        return self._endpoint_of(upstream).server

    def urls(self, url: str) -> dict[str, str] | None:
        """Return the URL of each endpoint by its name, if that of all is `url` or would be.

        Returns `None` if there is but that one.
        """
        if self._endpoints == "one":
            return None
        root, slash, last = url.rpartition("/")
        every = {self.server.name: url} if self._endpoints == "both" else {}
        return {**every, **{name: f"{root}/{name}{slash}{last}" for name in self._fleet.upstreams}}

    def connect(self, send: Callable[[bytes], None]) -> Connection:
        """Return a connection for one peer, as a server does; a `Client` takes a gateway so."""
        return self.server.connect(send)

    def asgi(self, options: HttpOptions | None = None) -> HttpApplication:
        """Return the HTTP service as an ASGI application."""
        return self._application(self.http_options(options))

    def http_options(self, options: HttpOptions | None = None) -> HttpOptions:
        """Return options with the probes at `/health` and `/ready`, and `/metrics` if counted."""
        given = options or HttpOptions()
        self._path = given.path
        self._all.require(given.authorization)
        metrics = self._terms.metrics
        pages: dict[str, ServePage] = {
            "/health": lambda: (200, _JSON, b'{"alive":true}'),
            "/ready": self._tell_ready,
        }
        if metrics is not None:
            pages["/metrics"] = lambda: (200, CONTENT_TYPE, metrics.registry.text().encode())
        return replace(given, pages={**pages, **given.pages})

    def _tell_ready(self) -> tuple[int, str, bytes]:
        health = self.health
        return health.status, _JSON, encode_data(health.public())

    def run(self, transport: Literal["stdio", "http"] = "stdio", **settings: Any) -> None:
        """Serve until told to stop, as a server does."""
        self._fleet.running.add(relaxed_collector)
        if transport != "http":
            self.server.run(transport, **settings)
            return
        from anyshape.server.http_host import run_http

        run_http(**self._hosting(**settings))

    async def run_async(
        self, transport: Literal["stdio", "http"] = "stdio", **settings: Any
    ) -> None:
        """Serve as `run` does, on an event loop that is running already."""
        if transport != "http":
            await self.server.run_async(transport, **settings)
            return
        from anyshape.server.http_host import serve_http

        await serve_http(**self._hosting(**settings))

    async def reconfigure(self, upstreams: Mapping[str, Upstream | Target]) -> None:
        """Have other upstreams from now on; those that did not change stay connected.

        What is in flight to one that goes is answered before its connection ends.
        """
        self._check_names(upstreams)
        gone = await self._fleet.reconfigure(upstreams, self._rename)
        for application in self._applications:
            await application.follow(self._all.catalogue.namings)
        await asyncio.gather(*(self._fleet.release(link) for link in gone))
        for application in self._applications:
            await application.forget()

    def _hosting(
        self,
        *,
        host: str = "127.0.0.1",
        port: int = 8000,
        options: HttpOptions | None = None,
        **settings: Any,
    ) -> dict[str, Any]:
        check_transport("http", settings)
        application = self._application(self.http_options(options), is_local=is_local(host))
        return {"application": application, "host": host, "port": port, "settings": settings}

    def _application(self, options: HttpOptions, *, is_local: bool = False) -> HttpApplication:
        service = self.server._service
        if self._endpoints == "one":
            return HttpApplication(service, options, is_local=is_local)
        from anyshape.gateway.paths import PathApplication

        application = PathApplication(
            service,
            options,
            self._all.catalogue.namings,
            self._endpoint_of,
            serves_all=self._endpoints == "both",
            is_local=is_local,
        )
        self._applications.append(application)
        return application

    def _endpoint_of(self, upstream: str) -> Endpoint:
        if upstream not in self._own:
            self._own[upstream] = Endpoint(self._terms, self._fleet, upstream)
        return self._own[upstream]

    def _rename(self) -> None:
        """Name things as the upstreams now want them named."""
        upstreams = self._fleet.upstreams
        self._all.rename()
        self._own = {name: each for name, each in self._own.items() if name in upstreams}
        for endpoint in self._own.values():
            endpoint.rename()

    def _check_names(self, names: Iterable[str]) -> None:
        if self._endpoints != "one":
            from anyshape.gateway.paths import check_segment

            for name in names:
                check_segment(name)

    @asynccontextmanager
    async def _heeding_signals(self) -> AsyncGenerator[None]:
        loop = asyncio.get_running_loop()
        is_idle = self._load is None and self._terms.audit is None
        if is_idle or threading.current_thread() is not threading.main_thread():
            yield
            return
        loop.add_signal_handler(signal.SIGHUP, self._start_reload)
        try:
            yield
        finally:
            loop.remove_signal_handler(signal.SIGHUP)

    def _start_reload(self) -> None:
        if self._terms.audit is not None:
            self._terms.audit.reopen()
        if self._load is None:
            return
        self._is_outdated = True
        if self._reloading is None or self._reloading.done():
            self._reloading = asyncio.get_running_loop().create_task(self._reload(self._load))

    async def _reload(self, load: Callable[[], GatewayConfig]) -> None:
        """Read the configuration again, and once more if a signal comes meanwhile."""
        while self._is_outdated:
            self._is_outdated = False
            await self._take_configuration(load)

    async def _take_configuration(self, load: Callable[[], GatewayConfig]) -> None:
        """Go by the configuration as it is now; one that cannot be used changes nothing."""
        try:
            config = await asyncio.to_thread(load)
            vetting = await asyncio.to_thread(config.settings.vetting)
            self.vet_with(vetting)  # before anything new is offered
            await self.reconfigure(config.upstreams)
            _log.info("the configuration was read again")
        except AnyshapeError as error:
            _log.error("the configuration was not changed: %s", error)
        except Exception:
            _log.exception("the configuration was not changed")

    def _adopt(self) -> None:
        for endpoint in (self._all, *self._own.values()):
            endpoint.adopt()

    def _prepare(self, link: UpstreamLink, offer: Offer) -> None:
        for endpoint in (self._all, *self._own.copy().values()):
            endpoint.prepare(link, offer)

    def _tell_change(self, uri: str) -> None:
        for endpoint in (self._all, *self._own.values()):
            endpoint.resource_changed(uri)


_adopted: Final[WeakKeyDictionary[Server, Gateway]] = WeakKeyDictionary()


def gateway_of(server: Server) -> Gateway | None:
    """Return the gateway that `adopt` has made of a server object, by the server it serves."""
    return _adopted.get(server)


def adopt(server: Any, *, name: str | None = None, **options: Any) -> Gateway:
    """Return a gateway in front of one server object: ours, or one of `mcp` or FastMCP.

    What it serves gets natural shapes, every revision, and all checks; nothing of it changes.
    """
    given = name or getattr(server, "name", None) or "server"
    gateway = Gateway({"server": Upstream(target=server, **options)}, name=str(given))
    _adopted[gateway.server] = gateway
    return gateway
