"""Completion: `completion/complete`, for the arguments of whatever feature has some.

https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from anyshape.protocol.completed import encode_result
from anyshape.protocol.encoding import encode_data
from anyshape.protocol.methods import COMPLETE
from anyshape.protocol.revision import Revision
from anyshape.server.failures import invalid_params
from anyshape.server.features.calls import check_room, end_reports, make_context
from anyshape.server.features.feature import Feature, Method
from anyshape.server.parameters import BareParameters
from anyshape.server.request import OpenRequest

if TYPE_CHECKING:
    from anyshape.server.service import Service
    from anyshape.tools.completion import Completer

_MOST_VALUES: Final = 100
_SHOWN: Final = 128


class _Reference(msgspec.Struct, gc=False, frozen=True):
    type: Literal["ref/prompt", "ref/resource"]
    name: str = ""
    uri: str = ""


class _Argument(msgspec.Struct, gc=False, frozen=True):
    name: str
    value: str


class _Given(msgspec.Struct, gc=False, frozen=True):
    arguments: dict[str, str] = msgspec.field(default_factory=dict[str, str])


class CompleteParameters(BareParameters, gc=False, frozen=True, kw_only=True):
    """`completion/complete`: what is completed, what was typed, and the arguments there are."""

    ref: _Reference
    argument: _Argument
    context: _Given = msgspec.field(default_factory=_Given)


class Completion(Feature):
    """Suggestions for arguments; a server has it from the first argument on that can have some."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self.methods = {COMPLETE: Method(CompleteParameters, self.complete)}

    def capabilities(self, revision: Revision, *, tells_changes: bool) -> Mapping[str, Any]:
        """Return the `completions` capability, where the revision has it."""
        return {"completions": {}} if revision.has_completions else {}

    async def complete(self, parameters: CompleteParameters, request: OpenRequest) -> bytes:
        """Answer a request for suggestions."""
        service = self._service
        completer = self._find(parameters.ref, parameters.argument.name)
        found: Sequence[str] = ()
        if completer is not None:
            check_room(service)
            given = parameters.context.arguments
            context = make_context(parameters.meta, request) if completer.takes_context else None
            timeout = service.options.call_timeout
            found = await completer.suggest(parameters.argument.value, given, context, timeout)
            if context is not None:
                end_reports(request)
        values = {
            "values": found[:_MOST_VALUES],
            "total": len(found),
            "hasMore": len(found) > _MOST_VALUES,
        }
        completion = b'"completion":%b' % encode_data(values)
        return encode_result(request.revision, completion, request.server_info)

    def _find(self, reference: _Reference, argument: str) -> Completer | None:
        """Return what completes an argument, `None` if nothing does; raise if it is not there."""
        name = reference.name if reference.type == "ref/prompt" else reference.uri
        for feature in self._service.features:
            completers = feature.completers(reference.type, name)
            if completers is not None:
                if argument not in completers:
                    raise invalid_params(f"{name[:_SHOWN]!r} has no argument {argument[:_SHOWN]!r}")
                return completers[argument]
        raise invalid_params(f"there is no {reference.type} {name[:_SHOWN]!r}")
