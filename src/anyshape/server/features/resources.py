"""Resources: listed, read by their URI or that of a template, and subscribed to.

https://modelcontextprotocol.io/specification/2026-07-28/server/resources
"""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final

import msgspec

from anyshape.errors import ResourceNotFound, ToolDefinitionError
from anyshape.protocol.clients import Needs
from anyshape.protocol.description import ResourceDescription
from anyshape.protocol.encoding import encode_data
from anyshape.protocol.methods import (
    RESOURCE_UPDATED,
    RESOURCES_CHANGED,
    RESOURCES_LIST,
    RESOURCES_READ,
    RESOURCES_SUBSCRIBE,
    RESOURCES_UNSUBSCRIBE,
    TEMPLATES_LIST,
)
from anyshape.protocol.resource_contents import encode_contents
from anyshape.protocol.revision import Revision
from anyshape.protocol.shapes.entries import resource_entry
from anyshape.server.failures import invalid_params, resource_not_found
from anyshape.server.features.announcements import Topic
from anyshape.server.features.calls import (
    check_room,
    end_reports,
    expect_context,
    make_context,
)
from anyshape.server.features.completion import Completion
from anyshape.server.features.feature import (
    Feature,
    Grant,
    Method,
    completers_of,
    read_member,
)
from anyshape.server.features.roster import Listed, Roster
from anyshape.server.parameters import ListParameters, RoundParameters
from anyshape.server.request import OpenRequest
from anyshape.server.telemetry import Traced, traced_if_wanted
from anyshape.tools.completion import Completer
from anyshape.tools.deadline import OvertimeError, within
from anyshape.tools.resource import Resource
from anyshape.tools.routine import RoutineError
from anyshape.tools.types import ArgumentsError
from anyshape.tools.workers import WORKERS

if TYPE_CHECKING:
    from anyshape.protocol.resource_contents import EncodedContents
    from anyshape.server.features.directories import FileTree
    from anyshape.server.service import Service
    from anyshape.tools.context import Context

_decode_uris: Final = msgspec.json.Decoder(list[str]).decode
_decode_uri: Final = msgspec.json.Decoder(str).decode
_URI: Final = b'"uri":'
_FILTER: Final = "resourceSubscriptions"
_LONGEST_WATCHED: Final = 1_024
"""Characters of a URI that is remembered for as long as somebody watches it."""


class ResourceParameters(RoundParameters, gc=False, frozen=True, kw_only=True):
    """`resources/read` and the like: the URI of the resource wanted."""

    uri: str

    @property
    def identity(self) -> tuple[object, ...]:
        """Which resource is read."""
        return (RESOURCES_READ, self.uri)


class OfferedResource(Listed):
    """A resource, or a template of some, that a server offers.

    With a `listing` it is one of those that the template stands for.
    """

    def __init__(self, resource: Resource, listing: ResourceDescription | None = None) -> None:
        self.listing = listing or resource.listing
        super().__init__(self.listing.uri)
        self.resource = resource

    def describe(self, revision: Revision, needs: Needs) -> Mapping[str, Any]:
        """Return the entry of its listing."""
        return resource_entry(self.listing, revision)


class _Directory:
    """A file tree that a server offers, and what was listed of it."""

    def __init__(self, tree: FileTree, resource: Resource) -> None:
        self.tree = tree
        self.resource = resource
        self.listed: dict[str, OfferedResource] = {}
        self._updating = threading.Lock()

    def update(self, roster: Roster[OfferedResource]) -> None:
        """List the files that are there now; called on a worker thread."""
        with self._updating:
            found = {each.uri: each for each in self.tree.entries().values()}
            before = self.listed
            if found != {uri: offered.listing for uri, offered in before.items()}:
                self.listed = {uri: OfferedResource(self.resource, found[uri]) for uri in found}
                roster.replace(before, self.listed)


def updated(uri: str) -> Topic:
    """Return the topic of changes to one resource."""
    return Topic(RESOURCE_UPDATED, _URI + encode_data(uri))


def updated_uri(topic: Topic) -> str | None:
    """Return the resource whose changes a topic is about, if it is about one."""
    if topic.notification != RESOURCE_UPDATED:
        return None
    return _decode_uri(topic.members.removeprefix(_URI))


class Resources(Feature):
    """The resources of a server, and the templates of others."""

    changes: ClassVar[Mapping[str, Topic]] = {"resourcesListChanged": Topic(RESOURCES_CHANGED)}

    def __init__(self, service: Service) -> None:
        self._service = service
        topic = self.changes["resourcesListChanged"]
        self.roster: Roster[OfferedResource] = Roster(service, "resources", topic)
        self.templates: Roster[OfferedResource] = Roster(service, "resourceTemplates", topic)
        self._directories: tuple[_Directory, ...] = ()
        self.watch: Callable[[str], Awaitable[bool]] | None = None
        """Set where resources are kept elsewhere: asks there to be told of changes to a URI, and
        returns whether we will be."""
        self.methods = {
            RESOURCES_LIST: Method(ListParameters, self.list),
            TEMPLATES_LIST: Method(ListParameters, self.templates.list),
            RESOURCES_READ: Method(ResourceParameters, self.read, named="uri"),
            RESOURCES_SUBSCRIBE: Method(ResourceParameters, handshake=self.subscribe),
            RESOURCES_UNSUBSCRIBE: Method(ResourceParameters, handshake=self.unsubscribe),
        }

    def capabilities(self, revision: Revision, *, tells_changes: bool) -> Mapping[str, Any]:
        """Return the `resources` capability, which every revision has."""
        return {"resources": {"subscribe": tells_changes, "listChanged": tells_changes}}

    def completers(self, kind: str, name: str) -> Mapping[str, Completer | None] | None:
        """Return what completes the variables of a template; a plain URI has none."""
        if kind != "ref/resource":
            return None
        offered = self.templates.things.get(name)
        template = None if offered is None else offered.resource.template
        if offered is None or template is None:
            return {} if name in self.roster.things else None
        return completers_of(template.names, offered.resource.completers)

    def add(self, resource: Resource) -> None:
        """Offer a resource, or a template, whose URI is free."""
        roster = self.roster if resource.template is None else self.templates
        if not roster.add(OfferedResource(resource)):
            raise ToolDefinitionError(
                f"a resource with the uri {resource.uri!r:.80} is already there; remove it first"
            )
        expect_context(self._service, resource, *resource.completers.values())
        if resource.completers:
            self._service.feature(Completion)

    def add_directory(self, tree: FileTree, resource: Resource) -> None:
        """Offer the files of a tree, which the resource reads."""
        self.add(resource)
        self._directories += (_Directory(tree, resource),)

    def remove(self, uri: str) -> None:
        """Take a resource, a template or a directory away; `KeyError` if there is none."""
        if uri not in self.templates.things:
            self.roster.remove(uri)
            return
        gone = self.templates.remove(uri).resource
        left: list[_Directory] = []
        for directory in self._directories:
            if directory.resource is gone:
                self.roster.replace(directory.listed, {})
            else:
                left.append(directory)
        self._directories = tuple(left)

    async def list(self, parameters: ListParameters, request: OpenRequest) -> bytes:
        """Answer a request for a page of the resources; the first looks at directories again."""
        if parameters.cursor is None and self._directories:
            check_room(self._service)
            for directory in self._directories:
                await self._look_at(directory)
        return await self.roster.list(parameters, request)

    async def read(self, parameters: ResourceParameters, request: OpenRequest) -> bytes:
        """Answer a request for the contents of a resource."""
        uri = parameters.uri
        check_room(self._service)
        resource, values = await self._find(uri, request.revision)
        context = (
            make_context(parameters.meta, request, parameters) if resource.takes_context else None
        )
        reading = self._read(resource, uri, values, context, request.revision)
        about = Traced.resource(uri)
        contents = await traced_if_wanted(about, parameters.meta, request, reading)
        if context is not None:
            end_reports(request)
        return encode_contents(request.revision, contents, resource.caching, request.server_info)

    async def subscribe(self, parameters: ResourceParameters, request: OpenRequest) -> bytes:
        """Have a peer of a handshake told of changes to a resource."""
        if not await self._can_be_watched(parameters.uri):
            raise resource_not_found(request.revision, parameters.uri, self._service.absence)
        await request.peer.subscribe(updated(parameters.uri))
        return b"{}"

    async def unsubscribe(self, parameters: ResourceParameters, request: OpenRequest) -> bytes:
        """Tell a peer no more of a resource."""
        await request.peer.unsubscribe(updated(parameters.uri))
        return b"{}"

    async def grants(
        self, asked: Mapping[str, msgspec.Raw], request: OpenRequest
    ) -> Iterable[Grant]:
        """Grant changes to the list, and to the resources that are there."""
        grants = [*await super().grants(asked, request)]
        uris: list[str] = read_member(asked, _FILTER, _decode_uris) or []
        allowed = self._service.options.max_resource_subscriptions
        if len(uris) > allowed:
            raise invalid_params(f"{_FILTER} may name {allowed} resources, got {len(uris)}")
        known = [uri for uri in dict.fromkeys(uris) if await self._can_be_watched(uri)]
        if known:
            grants.append(Grant(_FILTER, known, tuple(map(updated, known))))
        return grants

    async def _look_at(self, directory: _Directory) -> None:
        """Have the listing tell what is in a directory now."""
        looking = WORKERS.run(partial(directory.update, self.roster))
        seconds = self._service.options.call_timeout
        try:
            await (looking if seconds is None else within(seconds, looking))
        except OvertimeError:
            name = directory.resource.listing.name
            raise RoutineError(f"{name} could not be listed within {seconds:g} seconds") from None

    async def _read(
        self,
        resource: Resource,
        uri: str,
        values: dict[str, Any],
        context: Context | None,
        revision: Revision,
    ) -> list[EncodedContents]:
        try:
            return await resource.read(uri, values, context, self._service.options.call_timeout)
        except ResourceNotFound as error:
            raise resource_not_found(revision, uri, str(error)) from None

    async def _find(self, uri: str, revision: Revision) -> tuple[Resource, dict[str, Any]]:
        """Return the resource that a URI stands for, with its values for that one."""
        offered = self.roster.things.get(uri)
        if offered is not None and offered.resource.template is None:
            return offered.resource, {}
        reason = self._service.absence
        for template in tuple(self.templates.things.values()):
            variables = template.resource.match(uri)
            if variables is not None:
                try:
                    return template.resource, await template.resource.bind(variables)
                except ArgumentsError as error:
                    reason = reason or str(error)  # Another template may stand for it.
        raise resource_not_found(revision, uri, reason)

    async def _can_be_watched(self, uri: str) -> bool:
        if len(uri) > _LONGEST_WATCHED or self.find(uri) is None:
            return False
        return self.watch is None or await self.watch(uri)

    def find(self, uri: str) -> Resource | None:
        """Return the resource of a URI, or the first template that it may be one of."""
        offered = self.roster.things.get(uri)
        if offered is not None:
            return offered.resource
        for each in tuple(self.templates.things.values()):
            if each.resource.match(uri) is not None:
                return each.resource
        return None
