"""Upstreams under a path each, such as `/github/mcp`, beside the endpoint of all or instead of it.

Each path is an HTTP application of its own, with its listings, sessions and streams. Scopes are
said once, of the names that things have at the endpoint of all, and hold at the paths as well.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from anyshape.gateway.endpoint import Endpoint
from anyshape.gateway.naming import Naming
from anyshape.server.authorization import Authorization
from anyshape.server.bodies import Receive
from anyshape.server.http import HttpApplication
from anyshape.server.http_options import HttpOptions
from anyshape.server.response import Scope, Send
from anyshape.server.service import Service

_SEGMENT: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_SHOWN: Final = 10
"""Paths that an answer names."""


def check_segment(upstream: str) -> None:
    """Raise `ValueError` for an upstream whose name cannot be part of a path."""
    if _SEGMENT.fullmatch(upstream) is None:
        raise ValueError(
            f"upstream {upstream!r:.80}: expected letters, digits, dots, dashes and underscores, "
            "since its name is part of a path"
        )


class PathApplication(HttpApplication):
    """The HTTP service of a gateway whose upstreams have paths.

    `service` is what is served at the path of the options, or only its pages are, unless
    `serves_all`. `endpoint_of` gives the endpoint of an upstream, and `namings` are the names that
    things have at that of all.
    """

    def __init__(
        self,
        service: Service,
        options: HttpOptions,
        namings: Mapping[str, Naming],
        endpoint_of: Callable[[str], Endpoint],
        *,
        serves_all: bool,
        is_local: bool = False,
    ) -> None:
        super().__init__(service, options, is_local=is_local)
        self._endpoint_of = endpoint_of
        self._serves_all = serves_all
        self._is_local = is_local
        self._is_held = False
        self._inner: dict[str, HttpApplication] = {}
        self._left: list[HttpApplication] = []
        """Applications that others have taken the place of; what is in flight there goes on."""
        self._routes: dict[str, HttpApplication] = {}
        self._leases: dict[HttpApplication, AsyncExitStack] = {}
        self._arrange(namings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection, at the path of an upstream or as ever."""
        inner = self._route(scope) if scope["type"] == "http" else None
        if inner is None:
            await super().__call__(scope, receive, send)
            return
        inner.takes_turns = self.takes_turns
        await inner(scope, receive, send)

    async def follow(self, namings: Mapping[str, Naming]) -> None:
        """Have paths for other upstreams, or for the same with other names in them."""
        self._arrange(namings)
        if self._is_held:
            for application in self._inner.values():
                await self._hold(application)

    async def forget(self) -> None:
        """End what was served at paths that are no more, as soon as nothing is in flight there."""
        left, self._left = self._left, []
        await asyncio.gather(*(each.drain() for each in left))
        for application in left:
            lease = self._leases.pop(application, None)
            if lease is not None:
                await lease.aclose()

    @asynccontextmanager
    async def lifespan(self, _application: object = None) -> AsyncGenerator[None]:
        """Keep the lifespans of all paths open, and drain them together."""
        async with AsyncExitStack() as stack:
            if self._serves_all:
                await stack.enter_async_context(super().lifespan())
            self._is_unopened = False
            self._draining = None
            self._is_held = True
            try:
                for application in self._inner.values():
                    await self._hold(application)
                yield
            finally:
                self._is_held = False
                await self.drain()
                leases, self._leases = self._leases, {}
                await asyncio.gather(*(lease.aclose() for lease in leases.values()))
                self._is_unopened = True

    async def _hold(self, application: HttpApplication) -> None:
        if application not in self._leases:
            self._leases[application] = stack = AsyncExitStack()
            await stack.enter_async_context(application.lifespan())

    async def _drain(self) -> None:
        inner = [*self._inner.values(), *self._left]
        await asyncio.gather(super()._drain(), *(each.drain() for each in inner))

    def _arrange(self, namings: Mapping[str, Naming]) -> None:
        """Have an application for each upstream; one whose options did not change stays."""
        before, self._inner, self._routes = self._inner, {}, {}
        for name, naming in namings.items():
            options = _options_at(name, naming, self.options)
            known = before.get(name)
            if known is not None and known.options == options:
                self._inner[name] = application = known
            else:
                endpoint = self._endpoint_of(name)
                endpoint.require(options.authorization)
                self._inner[name] = application = HttpApplication(
                    endpoint.server._service, options, is_local=self._is_local
                )
            self._routes[options.path.rstrip("/")] = application
            if options.authorization is not None:
                metadata = urlsplit(options.authorization.metadata_url).path
                self._routes[metadata] = application
        self._left += [each for name, each in before.items() if self._inner.get(name) is not each]

    def _route(self, scope: Scope) -> HttpApplication | None:
        path: str = scope["path"]
        found = self._routes.get(path)
        if found is None:
            found = self._routes.get(path.removeprefix(scope.get("root_path", "")).rstrip("/"))
        return found

    def _is_endpoint(self, scope: Scope) -> bool:
        return self._serves_all and super()._is_endpoint(scope)

    def _directions(self) -> str:
        """Name the paths; who needs a token to see the upstreams is not told what they are."""
        paths = [each.options.path for each in self._inner.values()]
        if self.options.authorization is not None:
            known = [f"/NAME{self.options.path} with the name of an upstream"]
        else:
            known = [*paths[:_SHOWN], *(["…"] if len(paths) > _SHOWN else [])]
        every = [self.options.path] if self._serves_all else []
        return f"the MCP endpoints are {', '.join([*every, *known])}"


def _options_at(upstream: str, naming: Naming, options: HttpOptions) -> HttpOptions:
    """Return the options of the path of an upstream."""
    authorization = options.authorization
    if authorization is not None:
        authorization = _authorization_at(upstream, naming, authorization, options.path)
    path = f"/{upstream}{options.path}"
    return replace(options, path=path, authorization=authorization, pages={})


def _authorization_at(
    upstream: str, naming: Naming, given: Authorization, path: str
) -> Authorization:
    """Return what the path of an upstream asks of callers: tokens that are meant for that path."""
    parts = urlsplit(given.resource)
    place = parts.path.rstrip("/")
    ending = path.rstrip("/")
    before = place.removesuffix(ending)
    after = ending if place.endswith(ending) else ""
    return replace(
        given,
        resource=urlunsplit(parts._replace(path=f"{before}/{upstream}{after}")),
        tool_scopes=_scopes_at(naming, given.tool_scopes),
        prompt_scopes=_scopes_at(naming, given.prompt_scopes),
    )


def _scopes_at(naming: Naming, scopes: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Return what things need by the names that they have at the path of their upstream."""
    found = ((naming.at_path(name), needed) for name, needed in scopes.items())
    return {name: needed for name, needed in found if name is not None}
