"""Several upstreams behind one server.

What every upstream offers is put together under the names that it has here, whenever one of them
comes, goes, or changes; clients that listen are told.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import threading
from collections.abc import AsyncGenerator, Callable, Collection, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Literal

from anyshape._version import __version__
from anyshape.client.target import Target
from anyshape.errors import AnyshapeError
from anyshape.gateway.audit import AuditLog
from anyshape.gateway.catalogue import Catalogue
from anyshape.gateway.disclosure import DisclosedTools
from anyshape.gateway.health import GatewayHealth
from anyshape.gateway.metrics import GatewayMetrics
from anyshape.gateway.naming import Collision
from anyshape.gateway.options import Upstream
from anyshape.gateway.probes import probe_pages
from anyshape.gateway.upstream import UpstreamLink
from anyshape.gateway.vetting import Vetting
from anyshape.gateway.watching import Watching
from anyshape.schema import Limits
from anyshape.server.connection import Connection
from anyshape.server.http import HttpApplication
from anyshape.server.options import HttpOptions, ServerOptions
from anyshape.server.server import Server

if TYPE_CHECKING:
    from anyshape.gateway.config import GatewayConfig

__all__ = ["Gateway", "adopt"]

_log = logging.getLogger("anyshape.gateway")
_PATIENCE: Final = 10.0


class Gateway:
    """Servers of any age at one endpoint, for clients of any age.

    `upstreams` maps a name to a URL, a command, a server in this process, or an `Upstream` that
    says more. One upstream keeps its names; of several, `nums` of upstream `any` is `any_nums`.
    With `disclosure="search"` two tools are listed, which find and call the others. `vetting` says
    what is withheld by pins and screening; `audit` and `metrics` are where requests are written
    down; without the upstreams that are `required` the gateway is not ready.
    """

    def __init__(
        self,
        upstreams: Mapping[str, Upstream | Target],
        *,
        name: str = "anyshape-gateway",
        version: str = __version__,
        instructions: str | None = None,
        patience: float = _PATIENCE,
        disclosure: Literal["all", "search"] = "all",
        vetting: Vetting | None = None,
        audit: AuditLog | None = None,
        metrics: GatewayMetrics | None = None,
        required: Collection[str] = (),
        limits: Limits | None = None,
        options: ServerOptions | None = None,
    ) -> None:
        self._limits = limits or Limits()
        self._patience = patience
        self._upstreams = _as_upstreams(upstreams)
        self._links: dict[str, UpstreamLink] = {}
        self._holding: dict[UpstreamLink, asyncio.Task[None]] = {}
        self._reloading: asyncio.Task[None] | None = None
        self.server = Server(
            name,
            version=version,
            instructions=instructions,
            lifespan=self._lifespan,
            limits=self._limits,
            options=options,
        )
        """The server that clients see."""
        if disclosure not in ("all", "search"):
            raise ValueError(f"disclosure={disclosure!r}: expected 'all' or 'search'")
        disclosed = DisclosedTools(self._limits) if disclosure == "search" else None
        self._disclosed = disclosed
        if disclosed is not None:
            self.server.add_tool(disclosed.find)
            self.server.add_tool(disclosed.call)
        self._catalogue = Catalogue(self.server._service, disclosed, vetting)
        self._catalogue.name_for(self._upstreams)
        self._required = frozenset(required)
        self._metrics = metrics
        self._audit = audit
        self._is_stopping = False
        if audit is not None or metrics is not None:
            watching = Watching(self._catalogue.upstream_of, audit=audit, metrics=metrics)
            self.server.middleware(watching)
        if metrics is not None:
            metrics.watch(lambda: self.health, None if audit is None else lambda: audit.dropped)
        self._load: Callable[[], GatewayConfig] | None = None

    def reload_with(self, load: Callable[[], GatewayConfig]) -> None:
        """Have the upstreams, pins and terms of another configuration whenever SIGHUP comes.

        `load` runs in a thread. The rest of a configuration holds for as long as the process runs.
        """
        self._load = load

    def vet_with(self, vetting: Vetting | None) -> None:
        """Withhold by other pins and terms, as soon as the lists have been read again."""
        self._catalogue.vetting = vetting
        for link in self._links.values():
            link.vet_with(None if vetting is None else self._catalogue.vet)

    @property
    def upstreams(self) -> Mapping[str, UpstreamLink]:
        """The upstreams by name, while the gateway runs."""
        return dict(self._links)

    @property
    def collisions(self) -> tuple[Collision, ...]:
        """What is not offered because another upstream has something of that name."""
        return self._catalogue.collisions

    @property
    def withheld(self) -> Mapping[str, str]:
        """What is not offered because of pins or screening, and why; `upstream/name` says what."""
        return {} if self._catalogue.vetting is None else self._catalogue.vetting.withheld

    @property
    def health(self) -> GatewayHealth:
        """How the gateway and its upstreams are now."""
        return GatewayHealth(
            upstreams=[link.health for link in self._links.values()],
            required=self._required,
            is_stopping=self._is_stopping,
        )

    def connect(self, send: Callable[[bytes], None]) -> Connection:
        """Return a connection for one peer, as a server does; a `Client` takes a gateway so."""
        return self.server.connect(send)

    def asgi(self, options: HttpOptions | None = None) -> HttpApplication:
        """Return the HTTP service as an ASGI application."""
        return self.server.asgi(self.http_options(options))

    def http_options(self, options: HttpOptions | None = None) -> HttpOptions:
        """Return options with the probes at `/health` and `/ready`, and `/metrics` if counted."""
        given = options or HttpOptions()
        if self._disclosed is not None:
            self._disclosed.authorization = given.authorization
        pages = probe_pages(lambda: self.health, self._metrics)
        return replace(given, pages={**pages, **given.pages})

    def run(self, transport: Literal["stdio", "http"] = "stdio", **settings: Any) -> None:
        """Serve until told to stop, as a server does."""
        run: Callable[..., None] = self.server.run
        run(transport, **self._settings(transport, settings))

    async def run_async(
        self, transport: Literal["stdio", "http"] = "stdio", **settings: Any
    ) -> None:
        """Serve as `run` does, on an event loop that is running already."""
        run: Callable[..., Any] = self.server.run_async
        await run(transport, **self._settings(transport, settings))

    def _settings(self, transport: str, settings: dict[str, Any]) -> dict[str, Any]:
        if transport != "http":
            return settings
        return {**settings, "options": self.http_options(settings.get("options"))}

    @asynccontextmanager
    async def _lifespan(self, _server: Server) -> AsyncGenerator[Mapping[str, UpstreamLink]]:
        """Hold the connections to all upstreams; wait a while until they are there."""
        self._links = {name: self._hold(name) for name in self._upstreams}
        settling = [asyncio.create_task(link.settled.wait()) for link in self._links.values()]
        try:
            await asyncio.wait(settling, timeout=self._patience)
            with self._heeding_signals(), self._catalogue.heeding_interest():
                yield self._links
        finally:
            self._is_stopping = True
            holding: list[asyncio.Task[Any]] = [*self._holding.values(), *settling]
            for task in holding:
                task.cancel()
            await asyncio.gather(*holding, return_exceptions=True)
            self._links, self._holding = {}, {}

    async def reconfigure(self, upstreams: Mapping[str, Upstream | Target]) -> None:
        """Have other upstreams from now on; those that did not change stay connected.

        What is in flight to one that goes is answered before its connection ends.
        """
        wanted = _as_upstreams(upstreams)
        before, self._upstreams = self._upstreams, wanted
        self._catalogue.name_for(wanted)
        if not self._holding:
            return
        gone = [link for name, link in self._links.items() if wanted.get(name) != before[name]]
        kept = {link.name: link for link in self._links.values() if link not in gone}
        self._links = {name: kept.get(name) or self._hold(name) for name in wanted}
        new = [link for name, link in self._links.items() if name not in kept]
        settling = [asyncio.create_task(link.settled.wait()) for link in new]
        if settling:
            await asyncio.wait(settling, timeout=self._patience)
        self._adopt(None)
        await asyncio.gather(*(self._release(link) for link in gone))

    @contextmanager
    def _heeding_signals(self) -> Generator[None]:
        loop = asyncio.get_running_loop()
        is_idle = self._load is None and self._audit is None
        if is_idle or threading.current_thread() is not threading.main_thread():
            yield
            return
        loop.add_signal_handler(signal.SIGHUP, self._start_reload)
        try:
            yield
        finally:
            loop.remove_signal_handler(signal.SIGHUP)

    def _start_reload(self) -> None:
        if self._reloading is None or self._reloading.done():
            self._reloading = asyncio.get_running_loop().create_task(self._reload())

    async def _reload(self) -> None:
        """Read the configuration again; one that cannot be used changes nothing."""
        if self._audit is not None:
            self._audit.reopen()
        if self._load is None:
            return
        try:
            config = await asyncio.to_thread(self._load)
            vetting = await asyncio.to_thread(config.settings.vetting)
            await self.reconfigure(config.upstreams)
            self.vet_with(vetting)
            _log.info("the configuration was read again")
        except AnyshapeError as error:
            _log.error("the configuration was not changed: %s", error)
        except Exception:
            _log.exception("the configuration was not changed")

    def _hold(self, name: str) -> UpstreamLink:
        vet = None if self._catalogue.vetting is None else self._catalogue.vet
        link = UpstreamLink(
            name,
            self._upstreams[name],
            self._limits,
            on_offer=self._adopt,
            on_learnt=self._catalogue.renew,
            on_change=self._catalogue.resource_changed,
            vet=vet,
        )
        self._holding[link] = asyncio.create_task(link.run())
        return link

    async def _release(self, link: UpstreamLink) -> None:
        """End the connection to an upstream as soon as nothing is in flight there."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(link.upstream.timeout):
                await link.unused()
        task = self._holding.pop(link, None)
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    def _adopt(self, changed: UpstreamLink | None) -> None:
        """Have the server offer what the upstreams offer now."""
        if changed is None or changed in self._links.values():  # others are on their way out
            self._catalogue.adopt(self._links)


def _as_upstreams(upstreams: Mapping[str, Upstream | Target]) -> dict[str, Upstream]:
    if not upstreams:
        raise ValueError("Gateway({}): expected at least one upstream")
    return {
        name: given if isinstance(given, Upstream) else Upstream(target=given)
        for name, given in upstreams.items()
    }


def adopt(server: Any, *, name: str | None = None, **options: Any) -> Gateway:
    """Return a gateway in front of one server object: ours, or one of `mcp` or FastMCP.

    What it serves gets natural shapes, every revision, and all checks; nothing of it changes.
    """
    given = name or getattr(server, "name", None) or "server"
    return Gateway({"server": Upstream(target=server, **options)}, name=str(given))
