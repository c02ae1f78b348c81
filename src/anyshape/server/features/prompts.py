"""Prompts: `prompts/list`, and `prompts/get` from texts for arguments to messages.

https://modelcontextprotocol.io/specification/2026-07-28/server/prompts
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from anyshape.errors import ToolDefinitionError
from anyshape.protocol.clients import Needs
from anyshape.protocol.messages import encode_prompt
from anyshape.protocol.methods import PROMPTS_CHANGED, PROMPTS_GET, PROMPTS_LIST
from anyshape.protocol.revision import Revision
from anyshape.protocol.shapes.entries import prompt_entry
from anyshape.server.failures import invalid_params, unknown_prompt
from anyshape.server.features.announcements import Topic
from anyshape.server.features.calls import (
    check_room,
    end_reports,
    expect_context,
    make_context,
)
from anyshape.server.features.completion import Completion
from anyshape.server.features.feature import Feature, Method, completers_of
from anyshape.server.features.roster import Listed, Roster
from anyshape.server.parameters import ListParameters, RoundParameters
from anyshape.server.request import OpenRequest
from anyshape.server.service import Service
from anyshape.server.telemetry import Traced, traced_if_wanted
from anyshape.tools.completion import Completer
from anyshape.tools.prompt import Prompt
from anyshape.tools.types import ArgumentsError

_SHOWN: Final = 128
_MANY: Final = 1_000
"""Arguments of one prompt that take too long to write on an event loop."""


class GetPromptParameters(RoundParameters, gc=False, frozen=True, kw_only=True):
    """`prompts/get`: the prompt wanted, and texts for its arguments."""

    name: str
    arguments: dict[str, Any] | None = None

    @property
    def identity(self) -> tuple[object, ...]:
        """Which prompt is wanted, with which arguments."""
        return (PROMPTS_GET, self.name, self.arguments or {})


class OfferedPrompt(Listed):
    """A prompt that a server offers."""

    def __init__(self, prompt: Prompt) -> None:
        super().__init__(prompt.name)
        self.prompt = prompt

    def describe(self, revision: Revision, needs: Needs) -> Mapping[str, Any]:
        """Return the `prompts/list` entry."""
        return prompt_entry(self.prompt.listing, revision)

    @property
    def is_large(self) -> bool:
        """Whether it has very many arguments."""
        return len(self.prompt.listing.arguments) > _MANY


class Prompts(Feature):
    """The prompts of a server."""

    changes: ClassVar[Mapping[str, Topic]] = {"promptsListChanged": Topic(PROMPTS_CHANGED)}

    def __init__(self, service: Service) -> None:
        self._service = service
        self.roster: Roster[OfferedPrompt] = Roster(
            service, "prompts", self.changes["promptsListChanged"]
        )
        self.methods = {
            PROMPTS_LIST: Method(ListParameters, self.roster.list),
            PROMPTS_GET: Method(GetPromptParameters, self.get, named="name"),
        }

    def capabilities(self, revision: Revision, *, tells_changes: bool) -> Mapping[str, Any]:
        """Return the `prompts` capability, which every revision has."""
        return {"prompts": {"listChanged": tells_changes}}

    def completers(self, kind: str, name: str) -> Mapping[str, Completer | None] | None:
        """Return what completes the arguments of a prompt."""
        offered = self.roster.things.get(name) if kind == "ref/prompt" else None
        if offered is None:
            return None
        prompt = offered.prompt
        names = (each.name for each in prompt.listing.arguments)
        return completers_of(names, prompt.completers)

    def add(self, prompt: Prompt) -> None:
        """Offer a prompt under a name that is free."""
        if not self.roster.add(OfferedPrompt(prompt)):
            raise ToolDefinitionError(
                f"a prompt named {prompt.name!r} is already there; "
                "give this one another name, or remove that one first"
            )
        expect_context(self._service, prompt, *prompt.completers.values())
        if prompt.completers:
            self._service.feature(Completion)

    async def get(self, parameters: GetPromptParameters, request: OpenRequest) -> bytes:
        """Answer a request for a prompt's messages."""
        service = self._service
        offered = self.roster.things.get(parameters.name)
        if offered is None:
            raise unknown_prompt(parameters.name, service.absence)
        prompt = offered.prompt
        check_room(service)
        try:
            values = await prompt.read(_texts(parameters.arguments))
        except ArgumentsError as error:
            raise invalid_params(f"arguments of prompt {prompt.name!r}: {error}") from None
        context = (
            make_context(parameters.meta, request, parameters) if prompt.takes_context else None
        )
        saying = prompt.messages(values, context, service.options.call_timeout)
        about = Traced.prompt(prompt.name)
        messages = await traced_if_wanted(about, parameters.meta, request, saying)
        if context is not None:
            end_reports(request)
        description, info = prompt.listing.description, request.server_info
        return encode_prompt(request.revision, messages, description, info)


def _texts(arguments: dict[str, Any] | None) -> dict[str, str]:
    """Return arguments that are texts, as every revision has it, or raise."""
    for name, value in (arguments or {}).items():
        if not isinstance(value, str):
            raise invalid_params(
                f"argument {name[:_SHOWN]!r} has to be a string, got {type(value).__name__}"
            )
    return arguments or {}
