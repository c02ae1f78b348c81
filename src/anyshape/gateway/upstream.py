"""The connection to one upstream: opened, watched, opened again; and what the upstream offers.

One task holds the connection for as long as the gateway runs. While there is none, calls are
refused at once with the reason; what was offered stays known.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Any, Final, TypeVar

from anyshape.client.channel import NoAnswer
from anyshape.client.client import Client
from anyshape.client.options import Http, Identity, Process
from anyshape.client.prompts import ListedPrompt
from anyshape.client.quoting import shorten
from anyshape.client.resources import ListedResource, ListedTemplate
from anyshape.client.sampling import Sampling
from anyshape.client.tools import ListedTool
from anyshape.errors import AnyshapeError, AskError, ProtocolError, TransportError
from anyshape.gateway.breaker import Breaker, Permit
from anyshape.gateway.foreign import as_target
from anyshape.gateway.health import UpstreamHealth
from anyshape.gateway.options import Upstream
from anyshape.gateway.questions import HeldCall, HeldCalls, QuestionRelay
from anyshape.gateway.refusal import UpstreamDown
from anyshape.gateway.room import CallerRooms, Room
from anyshape.gateway.subscriptions import UpstreamSubscriptions
from anyshape.gateway.telemetry import UpstreamTelemetry
from anyshape.protocol.jsonrpc import INTERNAL_ERROR
from anyshape.protocol.revision import LATEST
from anyshape.schema import Limits
from anyshape.server.failures import OF_THE_CONNECTION

_log = logging.getLogger("anyshape.gateway")
_FIRST_DELAY: Final = 0.25
_LONGEST_DELAY: Final = 30.0
_STEADY: Final = 5.0
"""Seconds of a connection after which the next one is not put off any longer than the first."""
_SOONEST, _LATEST = 0.1, 5.0
"""Seconds from one reading of the lists to the next, however often changes are announced."""
_pause: Final = asyncio.sleep
Entry = TypeVar("Entry")
Answer = TypeVar("Answer")
IDENTITY: Final = Identity("anyshape-gateway")
"""How a gateway introduces itself to upstreams, and `anyshape pin`, to be listed the same."""


@dataclass(frozen=True, slots=True)
class Offer:
    """What an upstream listed, at one moment."""

    tools: tuple[ListedTool, ...] = ()
    prompts: tuple[ListedPrompt, ...] = ()
    resources: tuple[ListedResource, ...] = ()
    templates: tuple[ListedTemplate, ...] = ()


class UpstreamLink:
    """One upstream, connected or not."""

    def __init__(
        self,
        name: str,
        upstream: Upstream,
        limits: Limits,
        on_offer: Callable[[UpstreamLink], None],
        on_change: Callable[[str], None],
        prepare: Callable[[UpstreamLink, Offer], None],
        vet: Callable[[str, Offer], Offer] | None = None,
    ) -> None:
        self.name = name
        self.upstream = upstream
        self.offer = Offer()
        self.reason: str | None = "it was not connected to yet"
        """Why there is no connection, `None` while there is one."""
        self.settled = asyncio.Event()
        """Set as soon as the first attempt to connect has succeeded or failed."""
        self.revision = LATEST
        """The revision that was agreed on last."""
        self.asks_in_results = True
        """Whether it asks by its answers alone, and never before it has answered."""
        self.breaker = Breaker(name, upstream.breaker)
        self.room = Room(name, upstream.room)
        self.callers = (
            None if upstream.caller_room is None else CallerRooms(name, upstream.caller_room)
        )
        """A room for each caller, if each has one."""
        self._vet = vet
        self._prepare = prepare
        self._since = time.monotonic()
        self.telemetry = UpstreamTelemetry(name, upstream.target)
        self.held = HeldCalls(name, self.room)
        self.relay = QuestionRelay(self.breaker.hear)
        self.repeated = 0
        """How often a call was made again."""
        self.rejected: dict[str, str] = {}
        """Why tools of the last list cannot be used, as the log was told."""
        self.subscriptions = UpstreamSubscriptions(name, on_change)
        self._limits = limits
        self._on_offer = on_offer
        self._kept: dict[str, str] = {}
        """Why lists are kept that were read before, as the log was told."""
        self._client: Client | None = None
        self._wake = asyncio.Event()
        self._doubted = asyncio.Event()
        self._was_up = False
        self._in_use = 0
        self._unused = asyncio.Event()

    @property
    def is_up(self) -> bool:
        """Whether there is a connection."""
        return self._client is not None

    @property
    def is_listed(self) -> bool:
        """Whether what it offers is listed now."""
        return self.is_up or self.upstream.when_down == "keep"

    @property
    def client(self) -> Client:
        """The connection, or `UpstreamDown`."""
        if self._client is None:
            raise UpstreamDown(
                f"upstream {self.name!r} cannot be reached now; try again later",
                why=self.reason or "it is not connected to",
            )
        return self._client

    def using(self, caller: str = "", call: HeldCall | None = None) -> Visit:
        """Give the connection to one request; if that fails, see whether another one is needed.

        `async with link.using() as client:` raises an `UpstreamError` if the request cannot be made
        now. `call` is on whose behalf the upstream may ask.
        """
        return Visit(self, caller, call)

    def enter(self) -> None:
        """Count a request that uses the connection."""
        self._in_use += 1

    def leave(self) -> None:
        """Count one less."""
        self._in_use -= 1
        if self._in_use == 0:
            self._unused.set()

    async def unused(self) -> None:
        """Wait until no request uses the connection."""
        while self._in_use:
            self._unused.clear()
            await self._unused.wait()

    async def run(self) -> None:
        """Hold the connection until cancelled."""
        delay, clock = _FIRST_DELAY, time.monotonic
        while True:
            was_up, started = False, clock()
            try:
                self.relay.start_over()
                async with self._connect() as client:
                    await self._ask_for_logs(client)
                    self.revision = client.revision
                    self.asks_in_results = client.revision.asks_in_results
                    await self._read_offer(client)
                    self._client, self.reason = client, None
                    self._doubted.clear()
                    was_up = True
                    self._tell()
                    try:
                        async with self._keeping(client):
                            await self._watch(client)
                    except AnyshapeError as error:
                        self.reason = shorten(str(error), 300)
                        raise
                    finally:
                        self._client = None  # before it closes: nobody is to use it then
            except AnyshapeError as error:
                self.reason = shorten(str(error), 300)
            except Exception as error:
                _log.exception("upstream %s failed", self.name)
                self.reason = f"an error inside the gateway, {type(error).__name__}"
            if was_up or not self.settled.is_set():
                _log.warning("upstream %s is down: %s", self.name, self.reason)
                self._tell()
            if was_up and clock() - started > _STEADY:
                delay = _FIRST_DELAY
            await _pause(delay)
            delay = min(delay * 2, _LONGEST_DELAY)

    def vet_with(self, vet: Callable[[str, Offer], Offer] | None) -> None:
        """Have something else decide what is offered, as soon as the lists have been read again."""
        self._vet = vet
        self._wake.set()

    @property
    def health(self) -> UpstreamHealth:
        """How it is now."""
        state = "up" if self.is_up else "down" if self.settled.is_set() else "connecting"
        return UpstreamHealth(
            name=self.name,
            state=state,
            seconds=time.monotonic() - self._since,
            reason=self.reason,
            tools=len(self.offer.tools),
            in_flight=self.room.in_flight,
            waiting=self.room.waiting,
            breaker=self.breaker.state,
            repeated=self.repeated,
        )

    def _tell(self) -> None:
        if not self.settled.is_set() or self.is_up is not self._was_up:
            self._since, self._was_up = time.monotonic(), self.is_up
        self.settled.set()
        self._on_offer(self)

    def _connect(self) -> Client:
        upstream = self.upstream
        return Client(
            as_target(upstream.target),
            revision=upstream.revision,
            timeout=upstream.timeout,
            auth=upstream.auth,
            check_arguments=False,
            check_results=upstream.check == "enforce",
            limits=self._limits,
            http=Http(transport=upstream.type, headers=upstream.headers),
            process=Process(environment=upstream.env, directory=upstream.cwd, restarts=0),
            identity=IDENTITY,
            on_elicit=self.relay.elicit,
            on_sample=Sampling(self.relay.sample, tools=True),
            roots=self.relay.roots,
            on_list_changed=lambda _feature: self._wake.set(),
            on_lost=lambda: self.doubt(self._client),  # nobody may have asked it anything
            on_log=self.relay.log,
        )

    async def _ask_for_logs(self, client: Client) -> None:
        if "logging" not in client.server.capabilities:
            return
        try:
            await client.set_log_level(self.upstream.log_level)
        except ProtocolError as error:
            _log.info("upstream %s logs what it likes: %s", self.name, shorten(str(error), 300))

    def doubt(self, client: Client | None) -> None:
        """Have the connection looked at: others may be in the middle of calls that it serves."""
        if client is not None and self._client is client:
            self._doubted.set()
            self._wake.set()

    @contextlib.asynccontextmanager
    async def _keeping(self, client: Client) -> AsyncGenerator[None]:
        """Watch the resources that somebody wants watched, beside everything else."""
        keeping = asyncio.create_task(self.subscriptions.keep(client))
        try:
            yield
        finally:
            keeping.cancel()
            await asyncio.gather(keeping, return_exceptions=True)

    async def _watch(self, client: Client) -> None:
        """Read the lists again whenever they may have changed, until the connection is lost."""
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self.upstream.refresh):
                    await self._wake.wait()
            self._wake.clear()
            if self._doubted.is_set():
                self._doubted.clear()
                await client.ping()
            before, started = self.offer, time.monotonic()
            try:
                await self._read_offer(client)
                self._kept.pop("lists", None)
            except TransportError:
                raise
            except AnyshapeError as error:
                self._keep("lists", error)
            if self.offer != before:
                self._tell()
            # One that announces changes all the time takes about half of it.
            rest = min(max(time.monotonic() - started, _SOONEST), _LATEST)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(rest):
                    await self._doubted.wait()

    async def _read_offer(self, client: Client) -> None:
        last = self.offer
        offer = Offer(
            tools=tuple(await client.list_tools()),
            prompts=await self._listed("prompts", client.list_prompts, last.prompts),
            resources=await self._listed("resources", client.list_resources, last.resources),
            templates=await self._listed(
                "templates", client.list_resource_templates, last.templates
            ),
        )
        self.offer = await asyncio.to_thread(self._make_ready, offer)
        told = self.rejected
        self.rejected = {name: str(why) for name, why in client.rejected.items()}
        for name, why in self.rejected.items() - told.items():
            _log.warning(
                "upstream %s: tool %s is not offered: %s", self.name, shorten(name, 100), why
            )

    def _make_ready(self, offer: Offer) -> Offer:
        """Return what of an offer is not withheld, ready to be adopted; runs in a thread."""
        if self._vet is not None:
            offer = self._vet(self.name, offer)
        self._prepare(self, offer)
        return offer

    async def _listed(
        self, what: str, listing: Callable[[], Awaitable[list[Entry]]], last: tuple[Entry, ...]
    ) -> tuple[Entry, ...]:
        """Return what an upstream has beside its tools; where it cannot say, they are not lost."""
        try:
            listed = tuple(await listing())
        except TransportError:
            raise
        except AnyshapeError as error:
            self._keep(what, error)
            return last
        self._kept.pop(what, None)
        return listed

    def _keep(self, what: str, error: AnyshapeError) -> None:
        """Have the log say that something stays as it was, once per reason."""
        why = shorten(str(error), 300)
        if self._kept.get(what) != why:
            self._kept[what] = why
            _log.warning("upstream %s: its last %s are kept: %s", self.name, what, why)


class Visit:
    """The use of a connection by one request: its places, its permit, and how it ends."""

    __slots__ = ("_call", "_caller", "_client", "_is_kept", "_known", "_link", "_permit", "_rooms")

    def __init__(self, link: UpstreamLink, caller: str, call: HeldCall | None) -> None:
        self._link = link
        self._caller = caller
        self._call = call
        self._client: Client | None = None
        self._permit: Permit | None = None
        self._known: object = None
        self._rooms: tuple[Room, ...] = ()
        self._is_kept = False

    async def __aenter__(self) -> Client:
        """Take a place, or wait for one."""
        link, call = self._link, self._call
        client = link.client  # nobody waits for one that is down
        link.enter()
        try:
            callers = link.callers
            for room in (link.room,) if callers is None else (callers.of(self._caller), link.room):
                if not room.enter_now():
                    await room.wait()
                self._rooms = (room, *self._rooms)
            client = link.client  # there may be another one by now, or none
            self._permit = link.breaker.admit()
        except BaseException:
            self._leave()
            raise
        self._client = client
        self._known = link.relay.begin(call)
        if call is not None:
            call.enter()
        return client

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Give the place back; raise `UpstreamDown` if there was no answer."""
        if self._call is not None:
            self._call.exit()
        if not self._is_kept:
            self._end(error)

    def keep(self, rest: Coroutine[Any, Any, Answer], held: HeldCall) -> None:
        """Have what is left of the request go on in a task of its own, and use what this holds."""
        self._is_kept = True
        held.hold(self._finish(rest)).add_done_callback(partial(self._give_up, rest))

    async def _finish(self, rest: Coroutine[Any, Any, Answer]) -> Answer:
        try:
            answer = await rest
        except BaseException as error:
            self._end(error)
            raise
        self._end(None)
        return answer

    def _give_up(self, rest: Coroutine[Any, Any, object], _task: object) -> None:
        """End what is left of a request; a task that was cancelled too early never began it."""
        rest.close()
        if self._permit is not None:
            self._end(asyncio.CancelledError())

    def _end(self, error: BaseException | None) -> None:
        link, permit = self._link, self._permit
        if permit is not None:
            self._permit = None
            link.relay.end(self._known, error)
            permit.end(error)
            self._leave()
        if isinstance(error, TransportError):
            link.doubt(self._client)
            has_asked = self._call is not None and self._call.has_asked
            is_late, why = isinstance(error, NoAnswer), shorten(str(error), 300)
            _log.warning("upstream %s did not answer: %s", link.name, why)
            raise UpstreamDown(
                f"upstream {link.name!r} did not answer{' in time' if is_late else ''}; the "
                "gateway's log says more",
                why=why,
                is_final=has_asked or is_late,
            ) from error
        if error is not None and isinstance(error.__cause__, AskError) and error.__cause__.refusal:
            raise error.__cause__.refusal  # The upstream has no answer: its client cannot be asked.
        if isinstance(error, ProtocolError) and error.code in OF_THE_CONNECTION:
            # A client would take it for a word on its own connection, and end that.
            raise ProtocolError(error.message, code=INTERNAL_ERROR, data=error.data) from error

    def _leave(self) -> None:
        has_left = isinstance(self._known, HeldCall) and self._known.is_kept
        for room in self._rooms:
            if not has_left or room is not self._link.room:
                room.leave()
        self._link.leave()
