"""The upstreams of a gateway: connected to once, however many endpoints offer what they have."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Collection, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from anyshape.client.target import Target
from anyshape.gateway.options import Upstream
from anyshape.gateway.upstream import Offer, UpstreamLink
from anyshape.gateway.vetting import Vetting
from anyshape.schema import Limits
from anyshape.server.lifespan import Lifespan

if TYPE_CHECKING:
    from anyshape.gateway.pins import Pins
    from anyshape.gateway.shared_pins import SharedPins


class Fleet:
    """The links to all upstreams, held while somebody uses `running`.

    `on_offer` is called when there is something else to offer, `on_change` when a resource has
    changed; `prepare`, in a thread, before an upstream offers something else.
    """

    def __init__(
        self,
        upstreams: Mapping[str, Upstream | Target],
        *,
        limits: Limits,
        patience: float,
        vetting: Vetting | None,
        shared_pins: SharedPins | None,
        on_offer: Callable[[], None],
        on_change: Callable[[str], None],
        prepare: Callable[[UpstreamLink, Offer], None],
    ) -> None:
        self.upstreams = _as_upstreams(upstreams)
        self.vetting = vetting
        self.links: Mapping[str, UpstreamLink] = {}
        self.is_stopping = False
        self.imitating: Collection[tuple[str, str]] = ()
        """Tools that are withheld because of their names, by upstream and name."""
        self.running = Lifespan(self._run)
        self._limits = limits
        self._patience = patience
        self._shared_pins = shared_pins
        self._taken: Pins | None = None
        self._on_offer = on_offer
        self._on_change = on_change
        self._prepare = prepare
        self._holding: dict[UpstreamLink, asyncio.Task[None]] = {}

    def vet_with(self, vetting: Vetting | None) -> None:
        """Withhold by other pins and terms, as soon as the lists have been read again.

        Pins that replicas share stay in force.
        """
        if self._taken is not None:
            given = vetting or Vetting()
            vetting = Vetting(self._taken, given.pin_terms, given.screening)
        self.vetting = vetting
        for link in self.links.values():
            link.vet_with(None if vetting is None else self._vet)

    async def reconfigure(
        self, upstreams: Mapping[str, Upstream | Target], rename: Callable[[], None]
    ) -> list[UpstreamLink]:
        """Have other upstreams from now on; those that did not change stay connected.

        `rename` is called as soon as they are known. Returns the links that are no longer used for
        anything new, to be released.
        """
        wanted = _as_upstreams(upstreams)
        before, self.upstreams = self.upstreams, wanted
        rename()
        if not self._holding:
            return []
        gone = [link for name, link in self.links.items() if wanted.get(name) != before[name]]
        kept = {link.name: link for link in self.links.values() if link not in gone}
        self.links = {name: kept.get(name) or self._hold(name) for name in wanted}
        new = [link for name, link in self.links.items() if name not in kept]
        await self._settle(new)
        self._adopt(None)
        return gone

    async def release(self, link: UpstreamLink) -> None:
        """End the connection to an upstream as soon as nothing is in flight there."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(link.upstream.timeout):
                await link.unused()
        await link.held.end()
        task = self._holding.pop(link, None)
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    @asynccontextmanager
    async def _run(self) -> AsyncGenerator[None]:
        """Hold the connections to all upstreams, and go by the pins that replicas share."""
        pins = self._shared_pins
        async with contextlib.nullcontext() if pins is None else pins.followed(self._take_pins):
            self.is_stopping = False
            self.links = {name: self._hold(name) for name in self.upstreams}
            try:
                await self._settle(self.links.values())
                self._adopt(None)
                yield
            finally:
                self.is_stopping = True
                # While there is a connection, an upstream can be told that nobody waits any more.
                await asyncio.gather(*(link.held.end() for link in self._holding))
                holding = list(self._holding.values())
                for task in holding:
                    task.cancel()
                await asyncio.gather(*holding, return_exceptions=True)
                self.links, self._holding = {}, {}

    def _take_pins(self, pins: Pins) -> None:
        self._taken = pins
        self.vet_with(self.vetting)

    async def _settle(self, links: Iterable[UpstreamLink]) -> None:
        """Wait a while until it is known of each link whether it is there."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._patience):
                for link in links:
                    await link.settled.wait()

    def _hold(self, name: str) -> UpstreamLink:
        link = UpstreamLink(
            name,
            self.upstreams[name],
            self._limits,
            on_offer=self._adopt,
            on_change=self._on_change,
            prepare=self._prepare,
            vet=None if self.vetting is None else self._vet,
        )
        self._holding[link] = asyncio.create_task(link.run())
        return link

    def _adopt(self, changed: UpstreamLink | None) -> None:
        if changed is None or changed in self.links.values():  # others are on their way out
            self.imitating = self._find_imitations()
            self._on_offer()

    def _find_imitations(self) -> Collection[tuple[str, str]]:
        listed = {name: link for name, link in self.links.items() if link.is_listed}
        if self.vetting is None or len(listed) < 2:
            return ()
        names = {name: [tool.name for tool in link.offer.tools] for name, link in listed.items()}
        return self.vetting.imitating(names)

    def _vet(self, upstream: str, offer: Offer) -> Offer:
        """Return what of an offer is not withheld; runs in a thread."""
        vetting = self.vetting
        if vetting is None:
            return offer
        return Offer(
            tools=vetting.admitted(upstream, offer.tools),
            prompts=vetting.admitted(upstream, offer.prompts, "prompts"),
            resources=vetting.admitted(upstream, offer.resources, "resources"),
            templates=vetting.admitted(upstream, offer.templates, "templates"),
        )


def _as_upstreams(upstreams: Mapping[str, Upstream | Target]) -> dict[str, Upstream]:
    if not upstreams:
        raise ValueError("Gateway({}): expected at least one upstream")
    return {
        name: given if isinstance(given, Upstream) else Upstream(target=given)
        for name, given in upstreams.items()
    }
