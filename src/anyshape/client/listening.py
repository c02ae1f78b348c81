"""Being told of changes, for as long as a server tells; lifetimes of lists cover the rest.

A stateless server is asked with `subscriptions/listen`
(https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions), on one
stream for everything: when more is wanted, a stream for all of it takes the place of the last. One
with a handshake tells of its lists by itself, and of resources that were subscribed to; over HTTP
it does so on a stream that has to be opened.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final, TypeAlias

import msgspec

from anyshape.client.answers import as_list, as_object, decode_object
from anyshape.client.channel import Channel, pause_after
from anyshape.client.quoting import shorten
from anyshape.client.relay import Relay
from anyshape.client.request import ClientRequest
from anyshape.client.transports.transport import ConnectionLost
from anyshape.errors import AnyshapeError, ProtocolError, TransportError
from anyshape.protocol.encoding import encode_data
from anyshape.protocol.meta import SUBSCRIPTION_ID
from anyshape.protocol.methods import (
    LISTEN,
    LISTENING,
    PROMPTS_CHANGED,
    RESOURCE_UPDATED,
    RESOURCES_CHANGED,
    RESOURCES_SUBSCRIBE,
    RESOURCES_UNSUBSCRIBE,
    TOOLS_CHANGED,
)

logger = logging.getLogger(__name__)

OnChange: TypeAlias = Callable[[str], Awaitable[None] | None]
"""Called with the URI of a resource that changed; may be async, and then holds nothing else up."""

OnListChanged: TypeAlias = Callable[[str], Awaitable[None] | None]
"""Called with `tools`, `prompts` or `resources` when the server may list others than before."""

LISTS: Final = {
    "tools": TOOLS_CHANGED,
    "prompts": PROMPTS_CHANGED,
    "resources": RESOURCES_CHANGED,
}
"""The capabilities under which servers list things, and what they send when a list changed."""
_ATTEMPTS: Final = 8
_LONGEST_DELAY: Final = 30.0
_MOMENT: Final = 2.0


class Listening:
    """The stream on which one server tells of changes, and who wants to hear of them."""

    def __init__(
        self,
        channel: Channel,
        on_list_changed: OnListChanged | None = None,
        on_lost: Callable[[], object] | None = None,
    ) -> None:
        self._channel = channel
        self._on_lost = on_lost
        self._changes = None if on_list_changed is None else Relay(on_list_changed, "list")
        for feature, notification in LISTS.items():
            channel.on(notification, partial(self._tell_of_list, feature))
        self._lists: dict[str, bool] = {}
        self._resources: dict[str, Relay[str]] = {}
        self._told: set[str] = set()
        """The resources among them that the server has agreed to tell of."""
        self._stream: _Stream | None = None
        channel.on(LISTENING, self._acknowledge)
        channel.on(RESOURCE_UPDATED, self._tell)

    async def start(self, wanted: str) -> None:
        """Ask to be told of one kind of list; `wanted` is a member of the filter.

        This comes before the list is asked for, so that no change goes unheard in between.
        """
        if self._stream is None or wanted not in self._lists:
            self._lists[wanted] = True
            await self._open()

    async def overhear(self) -> None:
        """Hear what a server with a handshake asks on its own, before anything makes it ask."""
        if self._channel.agreed().stateful:
            await (await self._open()).wait()

    async def subscribe(self, uri: str, on_change: OnChange, timeout: float | None) -> None:
        """Have a callback told of every change to a resource."""
        before = self._resources.get(uri)
        if before is not None:
            before.abandon()
        relay = self._resources[uri] = Relay(on_change, "resource")
        if uri in self._told:
            return
        # Others may ask for the same at the same time: what becomes of one is not theirs.
        try:
            await self._subscribe(uri, timeout)
        except BaseException:
            if self._resources.get(uri) is relay:
                del self._resources[uri]
            raise
        if self._resources.get(uri) is relay:
            self._told.add(uri)

    async def _subscribe(self, uri: str, timeout: float | None) -> None:
        request = _about(RESOURCES_SUBSCRIBE, uri)
        stream = await self._open(is_awaited=True)
        if self._channel.agreed().stateful:
            await stream.wait()
            await self._channel.request(request, timeout)
            return
        try:
            with self._channel.deadlines.limit(timeout):
                heard = await asyncio.shield(stream.acknowledged)
        except TimeoutError as error:
            raise self._channel.silence(request, timeout) from error
        if uri not in as_list(heard.get("resourceSubscriptions")):
            place = self._channel.transport.place
            raise ProtocolError(f"{place} does not tell of changes to {shorten(uri, 100)!r}")

    async def unsubscribe(self, uri: str, timeout: float | None) -> None:
        """Hear no more of a resource."""
        relay = self._resources.pop(uri, None)
        if relay is None:
            return
        relay.abandon()
        self._told.discard(uri)
        if self._channel.agreed().stateful:
            await self._channel.request(_about(RESOURCES_UNSUBSCRIBE, uri), timeout)
        elif self._stream is not None:
            await self._open(is_awaited=True)

    async def renew(self) -> None:
        """Say again what is wanted to a server that started anew, and knows nothing of it."""
        lifecycle = self._channel.agreed()
        stream, self._stream = self._stream, None
        if stream is not None:
            await stream.end()
        if not self._is_needed():  # until the next listing asks
            return
        await self._open()
        if lifecycle.stateful:
            await asyncio.gather(*(self._subscribe_again(uri) for uri in self._resources))
        self._tell_all()

    async def _subscribe_again(self, uri: str) -> None:
        """Ask a server that started anew; what it refuses costs no call, and is asked no more."""
        try:
            with self._channel.deadlines.limit(_LONGEST_DELAY):
                await self._channel.ask(self._channel.agreed(), _about(RESOURCES_SUBSCRIBE, uri))
        except (AnyshapeError, TimeoutError) as error:
            self._told.discard(uri)
            place, reason = self._channel.transport.place, shorten(str(error) or "no answer", 300)
            logger.warning(
                "%s no longer tells of changes to %s: %s", place, shorten(uri, 100), reason
            )

    async def stop(self) -> None:
        """Hear no more."""
        stream, self._stream = self._stream, None
        if self._changes is not None:
            self._changes.abandon()
        for relay in self._resources.values():
            relay.abandon()
        self._resources.clear()
        self._told.clear()
        if stream is not None:
            await stream.end()

    # The stream.

    async def _open(self, *, is_awaited: bool = False) -> _Stream:
        """Return the stream that tells of everything that is wanted by now.

        `is_awaited` says that nothing goes by it before it is acknowledged.
        """
        stateful = self._channel.agreed().stateful
        before = self._stream
        if before is None or not stateful:
            stream = self._stream = _Stream(self._channel.next_id(), before, is_awaited)
            stream.task = self._channel.spawn(self._hear(stream))
            await asyncio.sleep(0)
            return stream
        return before

    async def _hear(self, stream: _Stream) -> None:
        """Follow a stream; open it again, if it was lost, as long as something depends on it."""
        clock = asyncio.get_running_loop().time
        attempt = 0
        while attempt < _ATTEMPTS:
            if attempt:
                await asyncio.sleep(min(pause_after(attempt), _LONGEST_DELAY))
                stream.id = self._channel.next_id()
            started = clock()
            if not await self._follow(stream, is_again=attempt > 0):
                return
            if self._on_lost is not None and self._stream is stream:
                self._on_lost()
            if not self._is_needed() or self._stream is not stream:
                break
            attempt = 1 if clock() - started > _LONGEST_DELAY else attempt + 1
        # The next listing asks again; a server that refused is not asked twice.
        if self._stream is stream:
            place = self._channel.transport.place
            stream.fail(TransportError(f"{place} ends every stream on which it should tell"))
            self._stream = stream.step_back()

    async def _follow(self, stream: _Stream, *, is_again: bool) -> bool:
        """Return whether a stream ended and another may be asked for."""
        lifecycle = self._channel.lifecycle
        if lifecycle is None:
            return False
        try:
            if lifecycle.stateful:
                transport = self._channel.transport
                if is_again and transport.attempts:
                    await self._channel.recover()  # where the stream is the session, too
                return await transport.overhear(lifecycle.headers(""), stream.opened.set)
            members = b'"notifications":%b' % encode_data(self._wanted())
            request = ClientRequest(LISTEN, members, repeatable=True)
            await self._channel.ask(lifecycle, request, endless=True, id=stream.id)
        except ConnectionLost:
            pass
        except Exception as error:
            if not isinstance(error, AnyshapeError):
                logger.exception("could not listen for changes")
            if self._stream is stream:  # else the answer to the one after it is awaited
                stream.fail(error)
                self._stream = stream.step_back() or stream
            return False
        return True

    def _is_needed(self) -> bool:
        """Return whether more depends on the stream than lists, which expire by themselves."""
        lifecycle = self._channel.lifecycle
        is_asked = lifecycle is not None and lifecycle.stateful
        is_wanted = bool(self._resources) or (self._changes is not None and bool(self._lists))
        return is_wanted or (is_asked and bool(self._channel.answering.capabilities))

    def _wanted(self) -> dict[str, Any]:
        wanted: dict[str, Any] = dict(self._lists)
        return (
            {**wanted, "resourceSubscriptions": list(self._resources)}
            if self._resources
            else wanted
        )

    def _acknowledge(self, params: msgspec.Raw | None) -> None:
        said = self._read(params)
        stream = self._stream
        if stream is None or as_object(said.get("_meta")).get(SUBSCRIPTION_ID) != stream.id:
            return
        if stream.acknowledged.done():
            self._tell_all()
        else:
            stream.acknowledged.set_result(as_object(said.get("notifications")))
        stream.replace()

    # What was heard.

    def _tell(self, params: msgspec.Raw | None) -> None:
        uri = self._read(params).get("uri")
        if isinstance(uri, str):
            # It may be a part of what was subscribed to.
            for wanted, relay in list(self._resources.items()):
                if uri == wanted or uri.startswith(wanted.rstrip("/") + "/"):
                    relay.take(uri)

    def _tell_all(self) -> None:
        """Tell of everything: what changed while nobody listened is not known."""
        for uri, relay in list(self._resources.items()):
            relay.take(uri)
        for feature in LISTS:
            self._tell_of_list(feature, None)

    def _tell_of_list(self, feature: str, _params: msgspec.Raw | None) -> None:
        if self._changes is not None:
            self._changes.take(feature)

    def _read(self, params: msgspec.Raw | None) -> dict[str, Any]:
        try:
            return decode_object(params, self._channel.bounds.max_depth)
        except AnyshapeError:
            return {}


class _Stream:
    """One request to listen, and the one before it, which is ended when this one is heard.

    Whoever awaits the one before awaits this one: it asks for all of that and more. One that is
    only awaited so far is ended at once. Else many subscriptions at a time would take every
    connection, and the last stream, for which the others end, would get none.
    """

    def __init__(self, id: int, before: _Stream | None, is_awaited: bool) -> None:
        self.id = id
        self.task: asyncio.Task[None] | None = None
        self.opened = asyncio.Event()
        self._is_awaited = is_awaited
        self._before = before
        self.acknowledged: asyncio.Future[dict[str, Any]]
        if before is None or before.acknowledged.done():
            self.acknowledged = asyncio.get_running_loop().create_future()
            return
        self.acknowledged = before.acknowledged
        if before._is_awaited:
            self._before, before._before = before._before, None
            if before.task is not None:
                before.task.cancel()

    async def wait(self) -> None:
        """Wait a moment until everything is heard, or it is clear that nothing will be."""
        waiting = asyncio.ensure_future(self.opened.wait())
        try:
            over = () if self.task is None else (self.task,)
            await asyncio.wait(
                {waiting, *over}, timeout=_MOMENT, return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            waiting.cancel()

    def fail(self, error: Exception) -> None:
        """Tell who waits for it that there is no stream."""
        if not self.acknowledged.done():
            self.acknowledged.set_exception(error)
            self.acknowledged.exception()  # nobody has to wait for it

    def step_back(self) -> _Stream | None:
        """Return the last stream before this one that goes on, to take its place, if any does."""
        before, self._before = self._before, None
        while before is not None and (before.task is None or before.task.done()):
            before = before._before
        return before

    def replace(self) -> None:
        """End the stream before this one."""
        before, self._before = self._before, None
        if before is not None:
            before.replace()
            if before.task is not None:
                before.task.cancel()

    async def end(self) -> None:
        """End this stream and the one before it."""
        self.fail(TransportError("the connection was closed before the server agreed to tell"))
        self.replace()
        if self.task is not None:
            self.task.cancel()
            await asyncio.gather(self.task, return_exceptions=True)


def _about(method: str, uri: str) -> ClientRequest:
    return ClientRequest(method, b'"uri":%b' % encode_data(uri), repeatable=True)
