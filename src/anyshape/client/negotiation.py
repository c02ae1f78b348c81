"""Finding the revision that both sides speak.

Modern first: `server/discover` is asked, and only a server that does not know how to answer it is
opened with the older `initialize` handshake. A server that others use too is asked `ping` before
that, which tells the same without harm; and what a server was found to be is remembered.
https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

from anyshape.client import eras
from anyshape.client.answers import as_object, as_string, read_value
from anyshape.client.channel import Channel
from anyshape.client.lifecycle import ClientIntroduction, Lifecycle, Stateful, Stateless
from anyshape.client.quoting import shorten, show
from anyshape.client.request import ClientRequest
from anyshape.client.transports.transport import ConnectionLost, HttpStatus
from anyshape.errors import ProtocolError
from anyshape.protocol.encoding import encode_data
from anyshape.protocol.jsonrpc import (
    HEADER_MISMATCH,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    UNSUPPORTED_PROTOCOL_VERSION,
    encode_notification,
)
from anyshape.protocol.meta import SERVER_INFO, TASKS_EXTENSION
from anyshape.protocol.methods import DISCOVER, INITIALIZE, INITIALIZED, PING
from anyshape.protocol.revision import HANDSHAKE, LATEST, LATEST_HANDSHAKE, MODERN, Revision

_DISCOVER: Final = ClientRequest(DISCOVER, repeatable=True)
_PING: Final = ClientRequest(PING, repeatable=True)
_NOTHING: Final = frozenset({"_meta"})
_MOMENT: Final = 2.0
_REFUSALS: Final = frozenset({401, 403, 407})


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """What a server says of itself; none of it is verified."""

    name: str | None = None
    version: str | None = None
    title: str | None = None
    instructions: str | None = None
    capabilities: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Agreement:
    """What a client and a server settled on."""

    lifecycle: Lifecycle
    server: ServerInfo
    has_declared: bool = True
    """Whether the server said what it offers."""

    def offers(self, capability: str) -> bool:
        """Return whether there is something to ask for; a server that does not say may have it."""
        return not self.has_declared or self.server.capabilities.get(capability) is not None

    @property
    def has_old_tasks(self) -> bool:
        """Whether the server runs calls as tasks in the way of 2025-11-25, which we do not have."""
        if not self.lifecycle.stateful:
            return False
        capabilities = self.server.capabilities
        requests = as_object(as_object(capabilities.get("tasks")).get("requests"))
        calls = as_object(requests.get("tools")).get("call")
        extensions = as_object(capabilities.get("extensions"))
        return calls is not None or extensions.get(TASKS_EXTENSION) is not None


@dataclass(frozen=True, slots=True)
class _Older:
    """A server that wants a handshake: how that showed, and which revision to offer it."""

    reason: str
    offered: Revision = LATEST_HANDSHAKE


class Negotiator:
    """Finds out which revision to speak with the server at the other end of a channel."""

    def __init__(
        self, channel: Channel, introduction: ClientIntroduction, timeout: float | None
    ) -> None:
        self._channel = channel
        self._introduction = introduction
        self._timeout = timeout

    async def agree(self, wanted: Revision | None, *, or_older: bool = False) -> Agreement:
        """Return the agreement with a server.

        `wanted` is the only revision to accept, if given; the newest, if an older one will do.
        """
        if wanted is None:
            return await self._find_out(MODERN)
        if or_older and wanted in MODERN:
            return await self._find_out(MODERN[: MODERN.index(wanted) + 1])
        if wanted in HANDSHAKE:
            accepted = HANDSHAKE[: HANDSHAKE.index(wanted) + 1] if or_older else (wanted,)
            return await self.handshake(wanted, accepted)
        try:
            with self._channel.deadlines.limit(self._timeout):
                found = await self._discover((wanted,))
        except TimeoutError:
            found = _Older(str(self._channel.silence(_DISCOVER, self._timeout)))
        if isinstance(found, Agreement):
            return found
        raise ProtocolError(
            f"{self._channel.transport.place} does not speak {wanted}: {found.reason}"
        )

    async def _find_out(self, modern: Sequence[Revision]) -> Agreement:
        """Return the agreement with a server of any age, asking in an order that harms none.

        `modern` are the revisions without a handshake that will do, the best last.
        """
        if self._channel.transport.has_handshake:
            return await self.handshake(LATEST_HANDSHAKE, HANDSHAKE)
        server = self._channel.transport.key
        known = eras.recall(server)
        agreement = None
        if known == "older" or (known is None and await self._seems_older()):
            try:
                agreement = await self.handshake(LATEST_HANDSHAKE, HANDSHAKE)
            except (ProtocolError, HttpStatus) as error:
                if _is_final(error):
                    raise
                # It is another server than it was, or than it seemed.
        if agreement is None:
            agreement = await self._probe(modern)
        eras.remember(server, "older" if agreement.lifecycle.stateful else "modern")
        return agreement

    async def _seems_older(self) -> bool:
        """Return whether a server that others use too is better not asked `server/discover`.

        Stateless servers of `mcp` 1.8 break over a method that they do not know: for everybody,
        until somebody starts them again. Every older server knows `ping`, and no modern one does.
        """
        if not self._channel.transport.is_shared:
            return False
        self._channel.transport.set_era(stateful=False)
        try:
            patience = _shorter(self._timeout, self._channel.bounds.probe_timeout)
            with self._channel.deadlines.limit(patience):
                raw = await self._channel.ask(
                    Stateless(LATEST, self._introduction), _PING, cancellable=False
                )
            result: object = await read_value(raw, self._channel.bounds.max_depth)
            return isinstance(result, dict) and cast("dict[str, object]", result).keys() <= _NOTHING
        except TimeoutError:
            return True
        except (HttpStatus, ConnectionLost) as error:
            if _is_final(error):
                raise
        except ProtocolError:
            pass
        return False

    async def _probe(self, modern: Sequence[Revision]) -> Agreement:
        """Ask `server/discover`; after another answer, or none for a while, open the handshake."""

        def open_handshake(offered: Revision) -> Coroutine[Any, Any, Agreement]:
            return self.handshake(offered, HANDSHAKE)

        patience = _shorter(self._timeout, self._channel.bounds.probe_timeout)
        attempts = [discovery := asyncio.ensure_future(self._discover(modern))]
        opening: asyncio.Future[Agreement] | None = None
        try:
            await self._wait_for(discovery, min(patience, _MOMENT))
            if not discovery.done() and patience > _MOMENT:
                if not self._channel.transport.is_shared:
                    # Those of `mcp` 1.2 to 1.8 that read the question are dead, and end when they
                    # are asked again; to all others it is the same question.
                    attempts.append(asyncio.ensure_future(self._discover(modern)))
                await self._wait_for(discovery, patience - _MOMENT)
            if not discovery.done():
                opening = asyncio.ensure_future(open_handshake(LATEST_HANDSHAKE))
                await asyncio.wait({discovery, opening}, return_when=asyncio.FIRST_COMPLETED)
                if not discovery.done() and isinstance(opening.exception(), ProtocolError):
                    # Refused, as modern servers do: this one may only be slow to say what it is.
                    await self._wait_for(discovery, patience)
            offered = LATEST_HANDSHAKE
            if discovery.done():
                found = discovery.result()
                if isinstance(found, Agreement):
                    # However late: a server that takes long to start answers all it was asked.
                    self._channel.transport.set_era(stateful=False)
                    return found
                offered = found.offered
            try:
                return await (opening or open_handshake(offered))
            except ConnectionLost:
                if not await self._channel.transport.revive():
                    raise
                return await open_handshake(offered)
        finally:
            begun = (*attempts, *filter(None, [opening]))
            for attempt in begun:
                attempt.cancel()
            await asyncio.gather(*begun, return_exceptions=True)

    async def _wait_for(self, attempt: asyncio.Future[Any], seconds: float) -> None:
        with contextlib.suppress(TimeoutError), self._channel.deadlines.limit(seconds):
            await asyncio.wait({attempt})

    async def _discover(self, modern: Sequence[Revision]) -> Agreement | _Older:
        """Return the agreement with a modern server, or what is known of an older one."""
        if self._channel.transport.has_handshake:
            return _Older("it was to be reached in a way that begins with a handshake")
        self._channel.transport.set_era(stateful=False)
        revision = modern[-1]
        for _ in range(2):
            lifecycle = Stateless(revision, self._introduction)
            try:
                # An older server need not hear of a question that it did not understand.
                raw = await self._channel.ask(lifecycle, _DISCOVER, cancellable=False)
                result = as_object(await read_value(raw, self._channel.bounds.max_depth))
            except ProtocolError as error:
                if error.code in (HEADER_MISMATCH, MISSING_REQUIRED_CLIENT_CAPABILITY):
                    raise
                supported = _supported_by(error)
                if error.code != UNSUPPORTED_PROTOCOL_VERSION or supported is None:
                    return _Older(f"it answered server/discover with {error.code}: {error.message}")
                choice = _choose(supported, modern)
                if choice is None:
                    return _older_of(self._channel, supported)
                revision = choice
                continue
            except (HttpStatus, ConnectionLost) as error:
                if _is_final(error):
                    raise
                return _Older(str(error))
            versions: object = result.get("supportedVersions")
            if not isinstance(versions, list):
                return _Older("it answered server/discover with something else")
            kind = result.get("resultType", "complete")
            if kind != "complete":
                raise ProtocolError(
                    f"{self._channel.transport.place} answered server/discover with a result of "
                    f"the unknown type {show(kind, 60)}"
                )
            supported = _strings_of(cast("list[object]", versions))
            choice = _choose(supported, modern)
            if choice is None:
                return _older_of(self._channel, supported)
            return _agreement(Stateless(choice, self._introduction), result)
        raise ProtocolError(
            f"{self._channel.transport.place} says that it supports {revision}, and refuses it",
            code=UNSUPPORTED_PROTOCOL_VERSION,
        )

    async def handshake(self, offered: Revision, accepted: Sequence[Revision]) -> Agreement:
        """Open the conversation with `initialize`, offering one revision and accepting some."""
        try:
            result = await self._initialize(offered)
        except ProtocolError as error:
            # Servers should answer with a revision of theirs; some refuse, and say which they have.
            choice = _choose(_supported_by(error) or (), accepted)
            if choice is None or choice is offered:
                raise ProtocolError(
                    f"{self._channel.transport.place} refused initialize: {error.message}",
                    code=error.code,
                    data=error.data,
                ) from error
            result = await self._initialize(choice)
        answered: object = result.get("protocolVersion")
        revision = Revision.parse(answered) if isinstance(answered, str) else None
        if revision is None or revision not in accepted:
            raise ProtocolError(
                f"{self._channel.transport.place} answered initialize with protocol version "
                f"{show(answered, 60)}; this client accepts "
                + ", ".join(str(entry) for entry in accepted)
            )
        lifecycle = Stateful(revision, as_object(result.get("capabilities")))
        await self._channel.transport.notify(
            encode_notification(INITIALIZED),
            lifecycle.headers(INITIALIZED),
        )
        return _agreement(lifecycle, result)

    async def _initialize(self, offered: Revision) -> dict[str, Any]:
        self._channel.transport.set_era(stateful=True)
        members = encode_data(
            {
                "protocolVersion": offered.value,
                "capabilities": self._introduction.capabilities,
                "clientInfo": self._introduction.identity.wire(),
            }
        )[1:-1]
        request = ClientRequest(INITIALIZE, members)
        try:
            with self._channel.deadlines.limit(self._timeout):
                raw = await self._channel.ask(_Opening(offered), request, cancellable=False)
        except TimeoutError as error:
            raise self._channel.silence(request, self._timeout) from error
        return as_object(await read_value(raw, self._channel.bounds.max_depth))


class _Opening(Stateful):
    """The first request of a handshake, which no revision covers yet."""

    def headers(
        self, method: str, name: str | None = None, parameters: Mapping[str, str] | None = None
    ) -> dict[str, str]:
        """Return nothing: the revision is what is being asked."""
        return {}


def _is_final(error: Exception) -> bool:
    """Return whether no question would be heard: credentials are wanted, or nobody is there."""
    if isinstance(error, HttpStatus):
        return error.status in _REFUSALS
    return isinstance(error, ConnectionLost) and not error.sent


def _supported_by(error: ProtocolError) -> list[str] | None:
    """Return the revisions that a refusal names, or `None` if it names none."""
    named: object = as_object(error.data).get("supported")
    return _strings_of(cast("list[object]", named)) if isinstance(named, list) else None


def _strings_of(entries: Sequence[object]) -> list[str]:
    return [entry for entry in entries if isinstance(entry, str)]


def _choose(supported: Sequence[str], ours: Sequence[Revision]) -> Revision | None:
    return next((revision for revision in reversed(ours) if revision.value in supported), None)


def _older_of(channel: Channel, supported: Sequence[str]) -> _Older:
    """Return how to open a server that supports no modern revision of ours; raise if it cannot."""
    listed = shorten(", ".join(supported[:20]), 200) or "none"
    offered = _choose(supported, HANDSHAKE)
    if offered is None:
        ours = ", ".join(str(revision) for revision in (*MODERN, *HANDSHAKE))
        raise ProtocolError(
            f"{channel.transport.place} supports {listed}; this client speaks {ours}",
            code=UNSUPPORTED_PROTOCOL_VERSION,
        )
    return _Older(f"it supports only {listed}", offered)


def _agreement(lifecycle: Lifecycle, result: Mapping[str, Any]) -> Agreement:
    meta = as_object(result.get("_meta"))
    info = as_object(meta.get(SERVER_INFO)) or as_object(result.get("serverInfo"))
    server = ServerInfo(
        name=as_string(info.get("name")),
        version=as_string(info.get("version")),
        title=as_string(info.get("title")),
        instructions=as_string(result.get("instructions")),
        capabilities=as_object(result.get("capabilities")),
    )
    return Agreement(lifecycle, server, isinstance(result.get("capabilities"), dict))


def _shorter(one: float | None, other: float) -> float:
    return other if one is None else min(one, other)
