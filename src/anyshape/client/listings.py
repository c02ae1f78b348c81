"""Everything that one server lists, each feature from the first time that it is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anyshape.client.answers import as_object
from anyshape.client.channel import Channel
from anyshape.client.listening import Listening
from anyshape.client.listing import EntryT, ListedFeature, Listing
from anyshape.client.negotiation import Agreement
from anyshape.errors import AnyshapeError

__all__ = ["Listings"]


class Listings:
    """The listings of one server, each invalid as soon as the server announces a change."""

    def __init__(self, channel: Channel, agreement: Agreement, listening: Listening | None) -> None:
        self._channel = channel
        self._agreement = agreement
        self._listening = listening
        self._by_method: dict[str, Listing[Any]] = {}

    def of(self, feature: ListedFeature[EntryT]) -> Listing[EntryT]:
        """Return the listing of a feature."""
        listing = self._by_method.get(feature.method)
        if listing is None:
            listing = self._by_method[feature.method] = self._make(feature)
        return listing

    def rejected(self, *methods: str) -> Mapping[str, AnyshapeError]:
        """Return what those methods listed and nobody can use, and why."""
        asked = [self._by_method[method] for method in methods if method in self._by_method]
        return {key: reason for listing in asked for key, reason in listing.rejected.items()}

    def invalidate(self) -> None:
        """Take every list for outdated."""
        for listing in self._by_method.values():
            listing.invalidate()

    def _make(self, feature: ListedFeature[EntryT]) -> Listing[EntryT]:
        capabilities = as_object(self._agreement.server.capabilities.get(feature.capability))
        listing = Listing(
            self._channel,
            feature,
            offered=self._agreement.offers(feature.capability),
            listening=self._listening if capabilities.get("listChanged") is True else None,
        )
        self._channel.on(feature.changed, lambda _: listing.invalidate())
        return listing
