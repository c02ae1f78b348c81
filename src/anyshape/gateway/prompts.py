"""The prompts of an upstream, as prompts of the gateway's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anyshape.client.prompts import ListedPrompt
from anyshape.gateway.requests import ask_upstream
from anyshape.gateway.suggestions import ForwardedCompleters
from anyshape.gateway.upstream import UpstreamLink
from anyshape.protocol.description import ArgumentDescription, PromptDescription
from anyshape.protocol.encoding import encode_data
from anyshape.protocol.messages import EncodedMessage
from anyshape.server.telemetry import Traced
from anyshape.tools.context import Context
from anyshape.tools.prompt import Prompt
from anyshape.tools.types import ArgumentsError


class ForwardedPrompt(Prompt):
    """A prompt that an upstream has."""

    _link: UpstreamLink
    _listed: ListedPrompt

    def __init__(self, name: str, listed: ListedPrompt, link: UpstreamLink) -> None:
        self._set(
            function=self.messages,
            timeout=None,
            _context=("context",),
            name=name,
            listing=PromptDescription(
                name=name,
                arguments=tuple(
                    ArgumentDescription(each.name, each.title, each.description, each.required)
                    for each in listed.arguments
                ),
                title=listed.title,
                description=listed.description,
                meta=listed.meta or None,
                icons=listed.icons or None,
            ),
            completers=ForwardedCompleters(
                link, [each.name for each in listed.arguments], prompt=listed.name
            ),
            _link=link,
            _listed=listed,
        )

    @property
    def upstream(self) -> str:
        """The name of the upstream that has it."""
        return self._link.name

    async def read(self, arguments: Mapping[str, str]) -> dict[str, Any]:
        """Return the arguments; raises `ArgumentsError` if one is missing."""
        for each in self._listed.arguments:
            if each.required and each.name not in arguments:
                raise ArgumentsError.at("", f"expected the argument {each.name!r}, got none")
        return dict(arguments)

    async def messages(
        self, values: dict[str, Any], context: Context | None, timeout: float | None
    ) -> tuple[EncodedMessage, ...]:
        """Return the messages that the upstream gives."""
        name = self._listed.name
        result = await ask_upstream(
            self._link,
            context,
            Traced.prompt(name),
            lambda client, meta: client.get_prompt(name, values, meta=meta),
        )
        return tuple(
            EncodedMessage(message["role"], encode_data(message["content"]))
            for message in result.raw["messages"]
        )
