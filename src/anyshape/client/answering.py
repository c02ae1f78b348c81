"""What this client answers when a server asks: the user, a model, or for roots.

Up to 2025-11-25 a server sends requests of its own, from 2026-07-28 on it puts them into a result
(https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr); either way each of
them comes to `Answering.answer`. Only what the caller gave a callback for is declared.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

from anyshape.client.answers import make_of
from anyshape.client.elicitation import OnElicit, read_elicitation, write_elicited
from anyshape.client.quoting import shorten
from anyshape.client.roots import Roots, check_roots, list_roots
from anyshape.client.sampling import OnSample, Sampling, read_sampling, write_sampled
from anyshape.errors import ProtocolError
from anyshape.protocol.jsonrpc import METHOD_NOT_FOUND
from anyshape.protocol.methods import ELICIT, ROOTS_LIST, SAMPLE
from anyshape.schema import Limits, aside


class Answering:
    """The callbacks that a caller gave, as the methods that a server may use."""

    def __init__(
        self,
        server: str,
        limits: Limits,
        *,
        on_elicit: OnElicit | None = None,
        on_sample: OnSample | Sampling | None = None,
        roots: Roots | None = None,
    ) -> None:
        self.capabilities: dict[str, Any] = {}
        """What to declare."""
        self._server = server
        self._limits = limits
        self._methods: dict[str, Callable[[Mapping[str, Any]], Awaitable[dict[str, Any]]]] = {}
        if on_elicit is not None:
            self._on_elicit = on_elicit
            self.capabilities["elicitation"] = {"form": {}, "url": {}}
            self._methods[ELICIT] = self._elicit
        if on_sample is not None:
            self._sampling = on_sample if isinstance(on_sample, Sampling) else Sampling(on_sample)
            self.capabilities["sampling"] = {"tools": {}} if self._sampling.tools else {}
            self._methods[SAMPLE] = self._sample
        if roots is not None:
            self._roots = check_roots(roots)
            self.capabilities["roots"] = {}
            self._methods[ROOTS_LIST] = self._list_roots

    def knows(self, method: object) -> bool:
        """Return whether there is a callback for what is asked."""
        return isinstance(method, str) and method in self._methods

    async def answer(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the result of what is asked; `ProtocolError` says why there is none."""
        known = self._methods.get(method)
        if known is None:
            raise ProtocolError(f"{shorten(method, 60)} is not offered", code=METHOD_NOT_FOUND)
        return await known(params)

    async def _elicit(self, params: Mapping[str, Any]) -> dict[str, Any]:
        asked = read_elicitation(params, self._server)
        answer = self._on_elicit(asked)
        if inspect.isawaitable(answer):
            answer = await answer
        return await aside(write_elicited, asked, answer, self._limits)

    async def _sample(self, params: Mapping[str, Any]) -> dict[str, Any]:
        tools = self._sampling.tools
        asked = await make_of(params, partial(read_sampling, server=self._server, tools=tools))
        sampled = self._sampling.callback(asked)
        return write_sampled(await sampled if inspect.isawaitable(sampled) else sampled)

    async def _list_roots(self, params: Mapping[str, Any]) -> dict[str, Any]:
        return await list_roots(self._roots)
