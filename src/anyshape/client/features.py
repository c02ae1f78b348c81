"""The part of a client beside tools: prompts, resources, suggestions, and the level of logs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, cast

import msgspec

from anyshape.client.answers import as_object, make_of, read_value
from anyshape.client.channel import Channel
from anyshape.client.completion import Suggestions, ask_completion, read_completion
from anyshape.client.connection import ServerConnection
from anyshape.client.listening import OnChange
from anyshape.client.negotiation import ServerInfo
from anyshape.client.options import Bounds
from anyshape.client.prompts import PROMPTS, ListedPrompt, PromptResult, ask_prompt, read_prompt
from anyshape.client.request import ClientRequest
from anyshape.client.resources import (
    RESOURCES,
    TEMPLATES,
    ListedResource,
    ListedTemplate,
    ReadResource,
    ask_resource,
    read_contents,
)
from anyshape.errors import AnyshapeError, ProtocolError
from anyshape.protocol.jsonrpc import METHOD_NOT_FOUND
from anyshape.protocol.log_levels import LogLevel, check_level
from anyshape.protocol.methods import PROMPTS_LIST, RESOURCES_LIST, SET_LOG_LEVEL, TEMPLATES_LIST


class ReadsFeatures:
    """Prompts, resources and the rest of one server; `Client` has tools as well."""

    _bounds: Bounds
    _channel: Channel
    _connection: ServerConnection
    _timeout: float | None

    @property
    def server(self) -> ServerInfo:
        """What the server says of itself."""
        return self._connection.agreement.server

    async def list_prompts(self, *, timeout: float | None = None) -> list[ListedPrompt]:
        """Return every usable prompt; `rejected_prompts` has the others."""
        return await self._connection.listing_of(PROMPTS).current(self._limit(timeout))

    async def get_prompt(
        self,
        name: str,
        arguments: Mapping[str, str] | None = None,
        *,
        timeout: float | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> PromptResult:
        """Return the messages of a prompt."""
        request = ask_prompt(name, arguments, meta)
        result = await self._connection.ask(request, self._limit(timeout), "prompt")
        return await make_of(result, partial(read_prompt, name))

    async def list_resources(self, *, timeout: float | None = None) -> list[ListedResource]:
        """Return every usable resource; `rejected_resources` has the others."""
        return await self._connection.listing_of(RESOURCES).current(self._limit(timeout))

    async def list_resource_templates(
        self, *, timeout: float | None = None
    ) -> list[ListedTemplate]:
        """Return every usable template of resources; `rejected_resources` has the others."""
        return await self._connection.listing_of(TEMPLATES).current(self._limit(timeout))

    async def read_resource(
        self, uri: str, *, timeout: float | None = None, meta: Mapping[str, Any] | None = None
    ) -> ReadResource:
        """Return the contents of a resource, which need not be listed."""
        request = ask_resource(uri, meta)
        result = await self._connection.ask(request, self._limit(timeout), "resource")
        return await make_of(result, partial(read_contents, uri))

    async def subscribe(
        self, uri: str, on_change: OnChange, *, timeout: float | None = None
    ) -> None:
        """Have `on_change` called with the URI whenever a resource changes.

        After the connection was lost and found again it is called once, because changes may have
        gone unheard. `ProtocolError` if the server does not tell of changes to this resource.
        """
        resources = as_object(self.server.capabilities.get("resources"))
        if resources.get("subscribe") is not True:
            place = self._channel.transport.place
            raise ProtocolError(
                f"{place} does not tell of changes to resources", code=METHOD_NOT_FOUND
            )
        await self._connection.listening.subscribe(uri, on_change, self._limit(timeout))

    async def unsubscribe(self, uri: str, *, timeout: float | None = None) -> None:
        """Have nobody called for a resource any more."""
        await self._connection.listening.unsubscribe(uri, self._limit(timeout))

    async def complete(
        self,
        argument: str,
        value: str = "",
        *,
        prompt: str | None = None,
        resource: str | None = None,
        context: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> Suggestions:
        """Return suggestions for an argument of a prompt, or of a template of resources.

        `value` is what was typed so far, `context` the other arguments.
        """
        request = ask_completion(argument, value, prompt, resource, context)
        raw = await self._channel.request(request, self._limit(timeout))
        found = await read_value(cast("msgspec.Raw", raw), self._bounds.max_depth)
        return read_completion(found)

    async def set_log_level(self, level: LogLevel, *, timeout: float | None = None) -> None:
        """Have the server log what is of this level or above; `on_log` is told of it.

        Up to 2025-11-25 the server is asked to; from 2026-07-28 on every request says so. Without
        a call of this, requests ask for `info`, and older servers decide for themselves.
        """
        lifecycle = self._channel.agreed()
        if not lifecycle.ask_for_logs(check_level(level)):
            request = ClientRequest(SET_LOG_LEVEL, b'"level":"%b"' % level.encode())
            await self._channel.request(request, self._limit(timeout))

    @property
    def rejected_prompts(self) -> Mapping[str, AnyshapeError]:
        """The prompts of the last listing that cannot be used, and why."""
        return self._connection.rejected(PROMPTS_LIST)

    @property
    def rejected_resources(self) -> Mapping[str, AnyshapeError]:
        """The resources and templates of the last listings that cannot be used, and why."""
        return self._connection.rejected(RESOURCES_LIST, TEMPLATES_LIST)

    def _limit(self, timeout: float | None) -> float | None:
        return self._timeout if timeout is None else timeout
