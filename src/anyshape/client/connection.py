"""The connection to one server: opened, agreed on, listened to, opened again, closed."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, cast

import msgspec

from anyshape.client.answers import as_object
from anyshape.client.channel import Channel, not_open
from anyshape.client.lifecycle import ClientIntroduction
from anyshape.client.listening import LISTS, Listening, OnListChanged
from anyshape.client.listing import EntryT, ListedFeature, Listing
from anyshape.client.logs import OnLog, read_log
from anyshape.client.negotiation import Agreement, Negotiator
from anyshape.client.quoting import shorten
from anyshape.client.relay import Relay
from anyshape.client.request import ClientRequest
from anyshape.client.rounds import complete_result
from anyshape.errors import AnyshapeError, ProtocolError
from anyshape.protocol.methods import DISCOVER, LOG_MESSAGE, PING
from anyshape.protocol.revision import Revision


class ServerConnection:
    """What a client holds of one server while it is open."""

    def __init__(
        self,
        channel: Channel,
        introduction: ClientIntroduction,
        timeout: float | None,
        *,
        listen: bool,
        on_log: OnLog | None,
        on_list_changed: OnListChanged | None,
        on_lost: Callable[[], object] | None,
    ) -> None:
        self.listening = Listening(channel, on_list_changed, on_lost)
        if on_lost is not None:
            channel.transport.tell_end(on_lost)
        self._channel = channel
        self._negotiator = Negotiator(channel, introduction, timeout)
        self._listen = listen
        self._listings: dict[str, Listing[Any]] = {}
        """What the server lists, each by its method, from the first time that it is asked for."""
        self._agreement: Agreement | None = None
        self._logs = None if on_log is None else Relay(on_log, "log")
        channel.on(LOG_MESSAGE, self._hear_log)
        for capability, changed in LISTS.items():
            channel.on(changed, partial(self._outdate, capability))

    @property
    def agreement(self) -> Agreement:
        """What was agreed on."""
        if self._agreement is None:
            raise not_open()
        return self._agreement

    async def open(self, wanted: Revision | None, *, or_older: bool) -> Agreement:
        """Connect, and agree on a revision; nothing is left behind if that fails."""
        channel = self._channel
        try:
            await channel.open()
            agreement = await self._negotiator.agree(wanted, or_older=or_older)
            self._agreement = agreement
            self._listings = {}
            channel.lifecycle = agreement.lifecycle
            channel.reopen = self._reopen
            if self._logs is not None:
                agreement.lifecycle.ask_for_logs("info")
            if channel.answering.capabilities:
                await self.listening.overhear()
        except BaseException:
            await self.close()
            raise
        return agreement

    async def close(self) -> None:
        """Stop listening, end what is in flight, and close."""
        try:
            await self._channel.end_partings()
            self._channel.lifecycle = None
            await self._channel.give_up_recovery()
            await self.listening.stop()
        finally:  # Whoever is cancelled here still leaves no process and no connection behind.
            self._channel.lifecycle = None
            if self._logs is not None:
                self._logs.abandon()
            await self._channel.close()

    def listing_of(self, feature: ListedFeature[EntryT]) -> Listing[EntryT]:
        """Return what the server lists of a feature."""
        listing = self._listings.get(feature.method)
        if listing is None:
            agreement = self.agreement
            capabilities = as_object(agreement.server.capabilities.get(feature.capability))
            is_told = self._listen and capabilities.get("listChanged") is True
            listing = self._listings[feature.method] = Listing(
                self._channel,
                feature,
                offered=agreement.offers(feature.capability),
                listening=self.listening if is_told else None,
            )
        return listing

    def rejected(self, *methods: str) -> Mapping[str, AnyshapeError]:
        """Return what those methods listed and nobody can use, and why."""
        asked = [self._listings[method] for method in methods if method in self._listings]
        return {key: reason for listing in asked for key, reason in listing.rejected.items()}

    async def ask(self, request: ClientRequest, timeout: float | None, noun: str) -> dict[str, Any]:
        """Return the result of a request that may take several rounds."""
        begun = self._channel.begin(request, timeout)
        what = f"{noun} {shorten(request.name or '', 100)!r}"
        result = await complete_result(self._channel, what, request, timeout, begun)
        return cast("dict[str, Any]", result)

    async def ping(self, timeout: float | None) -> None:
        """Ask what every server answers; one that answers with an error is there, too."""
        method = PING if self._channel.agreed().stateful else DISCOVER
        with contextlib.suppress(ProtocolError):
            await self._channel.request(ClientRequest(method, repeatable=True), timeout)

    def _outdate(self, capability: str, _params: msgspec.Raw | None) -> None:
        """Take for outdated what the server lists under a capability: it said that this changed."""
        for listing in self._listings.values():
            if listing.feature.capability == capability:
                listing.invalidate()

    def _hear_log(self, params: msgspec.Raw | None) -> None:
        if self._logs is not None:
            message = read_log(params, self._channel.bounds.max_depth)
            if message is not None:
                self._logs.take(message)

    async def _reopen(self) -> None:
        lifecycle = self._channel.agreed()
        for listing in self._listings.values():
            listing.invalidate()
        if lifecycle.stateful:
            revision = lifecycle.revision
            agreement = await self._negotiator.handshake(revision, (revision,))
            self._channel.lifecycle = agreement.lifecycle
        await self.listening.renew()
