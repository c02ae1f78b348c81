"""What the upstreams offer, put together under the names that it has here.

The rosters of the server hold it; what did not change when an upstream comes, goes, or lists
something else stays as it is, with all that was prepared of it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, TypeVar, cast

from anyshape.client.quoting import shorten
from anyshape.errors import AnyshapeError
from anyshape.gateway.disclosure import DisclosedTools
from anyshape.gateway.naming import Collision, Naming, is_offered, without_collisions
from anyshape.gateway.options import Upstream
from anyshape.gateway.prompts import ForwardedPrompt
from anyshape.gateway.resources import ForwardedResource
from anyshape.gateway.subscriptions import UpstreamSubscriptions, WatchedResources
from anyshape.gateway.tools import ForwardedTool
from anyshape.gateway.upstream import Offer, UpstreamLink
from anyshape.protocol.methods import TOOLS_CALL
from anyshape.protocol.revision import Revision
from anyshape.server.features.announcements import Topic
from anyshape.server.features.completion import Completion
from anyshape.server.features.log_messages import LogMessages
from anyshape.server.features.prompts import OfferedPrompt, Prompts
from anyshape.server.features.resources import OfferedResource, Resources, updated, updated_uri
from anyshape.server.features.roster import Listed, Roster
from anyshape.server.features.tools import OfferedTool
from anyshape.server.service import Service
from anyshape.tools.tool import Tool

_MOST_NAMED: Final = 3
_NOUNS: Final = ("tool", "prompt", "resource", "resource template")

_log = logging.getLogger("anyshape.gateway")

Thing = TypeVar("Thing", bound=Listed)
Source = TypeVar("Source")
_Place: TypeAlias = tuple[str, str]
"""What something is, in a word, and the name that it has here."""


@dataclass(frozen=True, slots=True)
class _Mark:
    """What something offered was made of; equal marks make equal things."""

    source: object
    link: UpstreamLink
    revision: Revision

    @classmethod
    def of(cls, source: object, link: UpstreamLink) -> _Mark:
        return cls(source, link, link.revision)


class Catalogue:
    """All that a gateway offers; with `disclosed`, the two tools that find and call the others."""

    def __init__(self, service: Service, disclosed: DisclosedTools | None) -> None:
        self._service = service
        self._disclosed = disclosed
        # What an upstream will offer is not known when clients ask what there is.
        service.knows_names = False
        self._prompts = service.feature(Prompts)
        self._resources = service.feature(Resources)
        service.feature(Completion)
        service.feature(LogMessages)
        self._watched = WatchedResources(
            self._subscriptions, lambda uri: service.listeners.has(updated(uri))
        )
        self._resources.watch = self._watched.watch
        self._behind: Roster[OfferedTool] = Roster(service, "tools", Topic("tools behind search"))
        self._links: Mapping[str, UpstreamLink] = {}
        self.namings: dict[str, Naming] = {}
        """What the things of each upstream are called."""
        self._collisions: dict[str, dict[Collision, None]] = {}
        self._prepared: dict[UpstreamLink, dict[_Place, tuple[_Mark, Listed | str]]] = {}
        """What was made ahead of its adoption, or why it could not be."""
        self._offered: dict[_Place, tuple[_Mark, Listed]] = {}
        self._refused: dict[_Place, tuple[_Mark, str]] = {}

    @property
    def collisions(self) -> tuple[Collision, ...]:
        """What is not offered because another upstream has something of that name."""
        return tuple(each for found in self._collisions.values() for each in found)

    @property
    def rejected(self) -> dict[str, str]:
        """The tools that cannot be offered, by the names that they would have, and why."""
        unusable = {
            self.namings[link.name].here(name): why
            for link in self._links.values()
            for name, why in link.rejected.items()
            if link.is_listed and is_offered(link.upstream, name)
        }
        refused = {name: why for (noun, name), (_, why) in self._refused.items() if noun == "tool"}
        return unusable | refused

    def name_for(self, upstreams: Mapping[str, Upstream]) -> None:
        """Have other upstreams, and their names, the next time that something is adopted."""
        alone = len(upstreams) == 1
        self.namings = {name: Naming(each, name, alone=alone) for name, each in upstreams.items()}

    def prepare(self, link: UpstreamLink, offer: Offer) -> None:
        """Make what adopting that offer of an upstream takes; runs in a thread.

        A stranger may list so much that the event loop would be held for minutes.
        """
        if link.name not in self.namings:  # on its way out
            return
        prepared: dict[_Place, tuple[_Mark, Listed | str]] = {}
        for noun, things in self._named(link, offer).items():
            for name, source in things:
                mark, known = _Mark.of(source, link), self._offered.get((noun, name))
                if known is None or known[0] != mark:
                    prepared[noun, name] = (mark, self._make(noun, name, source, link))
        self._prepared[link] = prepared

    def adopt(
        self, links: Mapping[str, UpstreamLink], imitating: Collection[tuple[str, str]] = ()
    ) -> None:
        """Have the server offer what the upstreams offer now.

        Not the tools that are `imitating` others by their names: which, by upstream and name.
        """
        self._links = links
        away = [link.name for link in links.values() if not link.is_up]
        self._service.absence = _told_away(away)
        offers: dict[str, dict[str, list[tuple[str, Any]]]] = {noun: {} for noun in _NOUNS}
        for link in links.values():
            if link.is_listed:
                for noun, things in self._named(link, link.offer).items():
                    offers[noun][link.name] = things
        if imitating:
            offers["tool"] = {
                upstream: [each for each in tools if (upstream, each[1].name) not in imitating]
                for upstream, tools in offers["tool"].items()
            }
        self._replace("tool", self._tools, offers["tool"])
        if self._disclosed is not None:
            tools = self._tools.things.items()
            self._disclosed.replace(
                {name: cast("ForwardedTool", each.tool) for name, each in tools}
            )
        self._replace("prompt", self._prompts.roster, offers["prompt"])
        self._replace("resource", self._resources.roster, offers["resource"])
        self._replace("resource template", self._resources.templates, offers["resource template"])
        for link in self._prepared.keys() - links.values():
            del self._prepared[link]
        self._watched.move()

    @property
    def _tools(self) -> Roster[OfferedTool]:
        return self._service.tools.roster if self._disclosed is None else self._behind

    @contextmanager
    def heeding_interest(self) -> Generator[None]:
        """Watch the resources that somebody listens for, on the current event loop."""
        listeners, loop = self._service.listeners, asyncio.get_running_loop()

        def heed(topic: Topic) -> None:
            uri = updated_uri(topic)
            if uri is not None and not loop.is_closed():
                loop.call_soon_threadsafe(self._watched.look_at, uri)

        listeners.on_interest = heed
        try:
            yield
        finally:
            listeners.on_interest = None
            self._watched.stop()

    def resource_changed(self, uri: str) -> None:
        """Tell those who listen for changes to a resource."""
        self._service.listeners.notify(updated(uri))

    def _subscriptions(self, uri: str) -> UpstreamSubscriptions | None:
        resource = self._resources.find(uri)
        return resource.subscriptions if isinstance(resource, ForwardedResource) else None

    @property
    def tools(self) -> list[Tool]:
        """The tools of all upstreams, listed or found by search."""
        return [each.tool for each in self._tools.things.values()]

    def upstream_of(self, method: str, name: str) -> str:
        """Return the upstream that has what a request asks for; nothing if none has."""
        if method == TOOLS_CALL:
            disclosed = None if self._disclosed is None else self._disclosed.get(name)
            tool = disclosed or getattr(self._service.tools.roster.things.get(name), "tool", None)
            return getattr(tool, "upstream", "")
        offered: Any = self._prompts.roster.things.get(name)
        if offered is not None:
            return getattr(offered.prompt, "upstream", "")
        offered = self._resources.roster.things.get(name)
        return "" if offered is None else getattr(offered.resource, "upstream", "")

    def _named(self, link: UpstreamLink, offer: Offer) -> dict[str, list[tuple[str, Any]]]:
        """Return what an upstream offers, of each kind, with what it is called here."""
        here, upstream = self.namings[link.name].here, link.upstream
        return {
            "tool": _allowed(upstream, ((each.name, each) for each in offer.tools), here),
            "prompt": _allowed(upstream, ((each.name, each) for each in offer.prompts), here),
            "resource": _allowed(upstream, ((each.uri, each) for each in offer.resources)),
            "resource template": _allowed(
                upstream, ((each.uri_template, each) for each in offer.templates)
            ),
        }

    def _make(self, noun: str, name: str, source: Any, link: UpstreamLink) -> Listed | str:
        """Return something as it is offered here, or why it cannot be, which costs only itself."""
        try:
            if noun == "tool":
                return OfferedTool(ForwardedTool(name, source, link), None, self._service)
            if noun == "prompt":
                return OfferedPrompt(ForwardedPrompt(name, source, link))
            return OfferedResource(ForwardedResource(source, link))
        except (AnyshapeError, ValueError) as error:
            return shorten(str(error), 300)

    def _replace(
        self, noun: str, roster: Roster[Thing], offers: Mapping[str, Iterable[tuple[str, Any]]]
    ) -> None:
        """Have a roster hold what is offered; what did not change stays as it is."""
        holders, collisions = without_collisions(noun, offers)
        told = self._collisions.get(noun, {})
        for collision in collisions:
            if collision not in told:
                _log.warning("%s", collision)
        self._collisions[noun] = dict.fromkeys(collisions)
        before = dict(roster.things)
        after: dict[str, Thing] = {}
        for name, (upstream, source) in holders.items():
            link = self._links[upstream]
            known = self._offered.get((noun, name))
            mark = _Mark.of(source, link)
            if known is not None and known[0] == mark and name in before:
                after[name] = cast("Thing", known[1])
                continue
            if (noun, name) in self._refused and self._refused[noun, name][0] == mark:
                continue
            prepared = self._prepared.get(link, {}).pop((noun, name), None)
            if prepared is None or prepared[0] != mark:
                prepared = (mark, self._make(noun, name, source, link))
            made = prepared[1]
            if isinstance(made, str):
                self._refused[noun, name] = (mark, made)
                _log.warning(
                    "upstream %s: %s %s is not offered: %s",
                    *(upstream, noun, shorten(name, 100), made),
                )
                continue
            after[name] = cast("Thing", made)
            self._offered[noun, name] = (mark, made)
        for name in before.keys() - after.keys():
            self._offered.pop((noun, name), None)
        for kind, name in [*self._refused]:
            if kind == noun and (name not in holders or name in after):
                del self._refused[kind, name]
        if before != after:
            roster.swap(after)


def _told_away(names: Sequence[str]) -> str:
    """Return what is said to those who ask for something that one of these may offer."""
    if not names:
        return ""
    shown = ", ".join(map(repr, names[:_MOST_NAMED])) + (" and others" * (len(names) > _MOST_NAMED))
    return f"perhaps of {shown}, which cannot be reached now"


def _allowed(
    upstream: Upstream,
    found: Iterable[tuple[str, Source]],
    here: Callable[[str], str] = lambda name: name,
) -> list[tuple[str, Source]]:
    """Return what is offered, with what it is called here, of what an upstream calls so."""
    return [(here(name), source) for name, source in found if is_offered(upstream, name)]
