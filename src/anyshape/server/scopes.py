"""Which scopes a message needs: those of the tools, prompts and resources that it could reach.

They decide, too, which of those a caller is told of.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final

import msgspec

from anyshape.decoding import decoder
from anyshape.protocol.jsonrpc import Batch, Request
from anyshape.protocol.methods import (
    COMPLETE,
    LISTEN,
    PROMPTS_GET,
    RESOURCES_READ,
    RESOURCES_SUBSCRIBE,
    TOOLS_CALL,
)
from anyshape.protocol.uri_templates import UriTemplate, spellings
from anyshape.server.features.completion import CompleteParameters
from anyshape.server.features.prompts import GetPromptParameters, Prompts
from anyshape.server.features.resources import ResourceParameters
from anyshape.server.incoming import Call
from anyshape.server.parameters import CallParameters, ListenParameters

if TYPE_CHECKING:
    from anyshape.server.authorization import AccessToken, Authorization, Refusal
    from anyshape.server.incoming import Incoming
    from anyshape.server.service import Service

_log = logging.getLogger("anyshape.server")


_decode_uris: Final = msgspec.json.Decoder(list[str]).decode
_READERS: Final = {
    method: decoder(kind)
    for method, kind in {
        TOOLS_CALL: CallParameters,
        PROMPTS_GET: GetPromptParameters,
        RESOURCES_READ: ResourceParameters,
        RESOURCES_SUBSCRIBE: ResourceParameters,
        LISTEN: ListenParameters,
        COMPLETE: CompleteParameters,
    }.items()
}
"""Parameters, read as whoever answers reads them: what cannot be read here is not answered."""


class ScopeRules:
    """What single tools, prompts and resources need, beside what every request does."""

    def __init__(self, authorization: Authorization, most_watched: int) -> None:
        """Ask for what `authorization` says; nobody watches more than so many resources at once."""
        self._authorization = authorization
        self._most_watched = most_watched
        self._tools = authorization.tool_scopes
        self._prompts = authorization.prompt_scopes
        self._resources = authorization.resource_scopes
        self._by_uri: dict[str, tuple[str, ...]] = {}
        for uri, scopes in self._resources.items():
            for spelling in spellings(uri):
                self._by_uri[spelling] = (*self._by_uri.get(spelling, ()), *scopes)
        self._templates = tuple(
            (UriTemplate(uri), scopes) for uri, scopes in self._resources.items() if "{" in uri
        )
        rules = (self._tools, self._prompts, self._resources)
        self._deciding = frozenset(
            scope for rule in rules for scopes in rule.values() for scope in scopes
        )
        self.hides = bool(self._deciding) and not authorization.list_everything
        """Whether some things are not listed to some callers."""
        self._needed_to_list: Mapping[str, Callable[[str], tuple[str, ...]]] = {
            "tools": lambda name: self._tools.get(name, ()),
            "prompts": lambda name: self._prompts.get(name, ()),
            "resources": self._of_uri,
            "resourceTemplates": self._of_uri,
        }

    def warn_of_unknown(self, service: Service) -> None:
        """Log the rules for tools and prompts that the server does not have.

        One with a misspelt name protects nothing. It is no error: things may be added later.
        """
        prompts: Collection[str] = ()
        if self._prompts:
            offered = service.find(Prompts)
            prompts = () if offered is None else offered.roster.things
        for kind, rules, known in (
            ("tool", self._tools, service.tools.roster.things),
            ("prompt", self._prompts, prompts),
        ):
            for name in rules.keys() - set(known):
                close = get_close_matches(name, known, n=1)
                hint = f"; did you mean {close[0]!r}?" if close else ""
                _log.warning(
                    "%s_scopes is for %r, which is no %s that the server has at its start%s",
                    *(kind, name, kind, hint),
                )

    def held(self, access: AccessToken) -> frozenset[str]:
        """Return those scopes of a token on which it depends what is listed."""
        return access.scopes & self._deciding

    def may_list(self, access: AccessToken, member: str, name: str) -> bool:
        """Tell whether a token has all the scopes that a thing in a listing needs."""
        needed = self._needed_to_list.get(member)
        return needed is None or access.scopes.issuperset(needed(name))

    def refusal(self, message: Incoming, access: AccessToken) -> Refusal | None:
        """Return the refusal of a message whose token lacks a scope that it needs."""
        return self._authorization.missing(access, self.needed(message))

    def needed(self, message: Incoming) -> tuple[str, ...]:
        """Return the scopes that a message needs, with all that is in it."""
        if isinstance(message, Call):
            return self._tools.get(message.params.name, ())
        if isinstance(message, Batch):
            return tuple(scope for each in message.messages for scope in self.needed(each))
        if not isinstance(message, Request) or message.method not in _READERS:
            return ()
        try:
            parameters = _READERS[message.method](message.params or b"{}")
            return self._needed_by(message.method, parameters)
        except msgspec.DecodeError:
            return ()

    def _needed_by(self, method: str, parameters: Any) -> tuple[str, ...]:
        if method == TOOLS_CALL:
            return self._tools.get(parameters.name, ())
        if method == PROMPTS_GET:
            return self._prompts.get(parameters.name, ())
        if method == LISTEN:
            uris = _decode_uris(parameters.notifications.get("resourceSubscriptions", b"[]"))
            if len(uris) > self._most_watched:
                return ()  # Whoever would answer refuses it.
            return tuple(scope for uri in uris for scope in self._of_uri(uri))
        if method == COMPLETE:
            what = parameters.ref
            by_prompt = what.type == "ref/prompt"
            return self._prompts.get(what.name, ()) if by_prompt else self._of_uri(what.uri)
        return self._of_uri(parameters.uri)

    def _of_uri(self, uri: str) -> tuple[str, ...]:
        """Return what every rule asks for that a URI could fall under, however it is spelt."""
        needed: tuple[str, ...] = ()
        for spelling in spellings(uri) if self._resources else ():
            needed = (*needed, *self._by_uri.get(spelling, ()))
            for template, scopes in self._templates:
                if template.match(spelling) is not None:
                    needed = (*needed, *scopes)
        return tuple(dict.fromkeys(needed))
