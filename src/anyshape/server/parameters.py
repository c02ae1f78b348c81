"""The parameters of every request we answer, as one typed decode each.

What a handler does not look at stays raw: a call's arguments belong to the tool. The keys of
`_meta` are those of "General fields" in the base page of revision 2026-07-28.
"""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec import UNSET, Raw, UnsetType

from anyshape.decoding import decode_json
from anyshape.protocol.jsonrpc import request_key
from anyshape.protocol.log_levels import LogLevel
from anyshape.protocol.meta import (
    CLIENT_CAPABILITIES,
    CLIENT_INFO,
    LOG_LEVEL,
    PROGRESS_KEY,
    PROTOCOL_VERSION,
)
from anyshape.protocol.methods import TOOLS_CALL


class AnyObject(msgspec.Struct, gc=False, frozen=True):
    """An object whose members nobody has asked for."""


class Meta(msgspec.Struct, gc=False, frozen=True):
    """The keys of a request's `_meta` that the protocol itself reads."""

    protocol_version: str | UnsetType = msgspec.field(default=UNSET, name=PROTOCOL_VERSION)
    client_capabilities: AnyObject | UnsetType = msgspec.field(
        default=UNSET, name=CLIENT_CAPABILITIES
    )
    client_info: Raw | UnsetType = msgspec.field(default=UNSET, name=CLIENT_INFO)
    log_level: LogLevel | UnsetType = msgspec.field(default=UNSET, name=LOG_LEVEL)
    progress_token: str | int | UnsetType = msgspec.field(default=UNSET, name=PROGRESS_KEY)
    traceparent: Raw | UnsetType = UNSET
    tracestate: Raw | UnsetType = UNSET
    baggage: Raw | UnsetType = UNSET


NO_META: Final = Meta()


class BareParameters(msgspec.Struct, gc=False, frozen=True, kw_only=True):
    """Metadata, which all have, and nothing else: `server/discover`, `ping`, unknown methods."""

    meta: Meta = msgspec.field(default=NO_META, name="_meta")


class RoundParameters(BareParameters, gc=False, frozen=True, kw_only=True):
    """What a request brings whose first answer was that the server wants input."""

    input_responses: Raw | UnsetType = msgspec.field(default=UNSET, name="inputResponses")
    request_state: str | UnsetType = msgspec.field(default=UNSET, name="requestState")

    @property
    def identity(self) -> tuple[object, ...]:
        """What it has to have in common with the request that it repeats."""
        raise NotImplementedError


class ListParameters(BareParameters, gc=False, frozen=True, kw_only=True):
    """`tools/list` and the like: the page wanted, the first without a cursor."""

    cursor: str | None = None


class CallParameters(RoundParameters, gc=False, frozen=True, kw_only=True):
    """`tools/call`: the tool wanted and its arguments, unread."""

    name: str
    arguments: Raw | UnsetType = UNSET

    @property
    def identity(self) -> tuple[object, ...]:
        """Which tool is called, with which arguments."""
        if self.arguments is UNSET:
            return (TOOLS_CALL, self.name, {})
        try:
            return (TOOLS_CALL, self.name, decode_json(self.arguments) or {})
        except msgspec.DecodeError:  # A number that is too large, say: for the tool to refuse.
            return (TOOLS_CALL, self.name, bytes(self.arguments))


class InitializeParameters(BareParameters, gc=False, frozen=True, kw_only=True):
    """`initialize`: the revision asked for and what the client says of itself."""

    protocol_version: str = msgspec.field(name="protocolVersion")
    capabilities: Raw | UnsetType = UNSET
    client_info: Raw | UnsetType = msgspec.field(default=UNSET, name="clientInfo")


class ListenParameters(BareParameters, gc=False, frozen=True, kw_only=True):
    """`subscriptions/listen`: what to be told of; each feature reads the members it knows."""

    notifications: dict[str, Raw]


class TaskParameters(BareParameters, gc=False, frozen=True, kw_only=True):
    """`tasks/get` and `tasks/cancel`: the task meant."""

    task_id: str = msgspec.field(name="taskId")


class TaskUpdateParameters(BareParameters, gc=False, frozen=True, kw_only=True):
    """`tasks/update`: answers to questions of a task, unread."""

    task_id: str = msgspec.field(name="taskId")
    input_responses: dict[str, Raw] = msgspec.field(name="inputResponses")


class CancelledParameters(msgspec.Struct, gc=False, frozen=True):
    """`notifications/cancelled`: the id of the request that is no longer wanted, raw."""

    request_id: Raw = msgspec.field(name="requestId")
    reason: str | None = None


_decode_cancelled: Final = msgspec.json.Decoder(CancelledParameters).decode


def read_cancellation(raw: Raw | None) -> tuple[bytes, str] | None:
    """Return the key of the request that is no longer wanted, and why; `None` if unreadable."""
    try:
        parameters = _decode_cancelled(raw or b"")
        return request_key(bytes(parameters.request_id)), parameters.reason or ""
    except (msgspec.DecodeError, ValueError):
        return None
