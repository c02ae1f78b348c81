"""What a server asks of the client's model.

https://modelcontextprotocol.io/specification/2026-07-28/client/sampling
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from anyshape.client.answers import as_list, as_object, as_string
from anyshape.client.messages import ReceivedMessage, read_messages
from anyshape.errors import ProtocolError
from anyshape.protocol.content import Content, Text
from anyshape.protocol.jsonrpc import INVALID_PARAMS
from anyshape.protocol.methods import SAMPLE
from anyshape.protocol.sampling import Sampled, find_tool_flaw

_DECLINED: Final = -1
_MOST_MESSAGES: Final = 1_000
_MOST_TOOLS: Final = 1_000


@dataclass(frozen=True, slots=True)
class SamplingRequest:
    """One question of a server to a model; all but `max_tokens` is advice."""

    messages: tuple[ReceivedMessage, ...]
    max_tokens: int
    server: str
    """Which server asks, for the user to see."""
    system_prompt: str | None = None
    temperature: float | None = None
    stop_sequences: tuple[str, ...] = ()
    tools: tuple[Mapping[str, Any], ...] = ()
    """Tools that the model may use, as they would be listed; the server runs them."""
    tool_choice: Literal["auto", "required", "none"] = "auto"
    preferences: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Hints and priorities for choosing a model."""
    raw: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)
    """The parameters as they stand on the wire."""


OnSample: TypeAlias = Callable[[SamplingRequest], Sampled | Awaitable[Sampled | None] | None]
"""Asks a model, after the user agreed; `None` says that the user declined."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """A callback for sampling, and what it can do beyond plain messages."""

    callback: OnSample
    tools: bool = False
    """Whether the model may be given tools."""


def read_sampling(params: Mapping[str, Any], server: str, *, tools: bool) -> SamplingRequest:
    """Return what is asked; `ProtocolError` if it is nothing to put before a model."""
    try:
        messages = read_messages(params.get("messages"))
    except ValueError as error:
        raise _unfit(str(error)) from None
    most = params.get("maxTokens")
    if not messages or len(messages) > _MOST_MESSAGES:
        raise _unfit(f"messages: expected 1 to {_MOST_MESSAGES}, got {len(messages)}")
    if type(most) is not int or most < 1:
        raise _unfit("maxTokens: expected a whole number from 1 on")
    offered = tuple(map(as_object, as_list(params.get("tools"))))
    choice = as_object(params.get("toolChoice")).get("mode", "auto")
    if not tools and any(params.get(member) is not None for member in ("tools", "toolChoice")):
        raise _unfit("tools: this client did not offer to use any")
    if len(offered) > _MOST_TOOLS or not all(isinstance(each.get("name"), str) for each in offered):
        raise _unfit(f"tools: expected at most {_MOST_TOOLS}, each with a name")
    if choice not in ("auto", "required", "none"):
        raise _unfit("toolChoice: expected auto, required or none")
    flaw = find_tool_flaw((message.role, message.content) for message in messages)
    if flaw is not None:
        raise _unfit(f"messages: {flaw}")
    temperature = params.get("temperature")
    return SamplingRequest(
        messages,
        most,
        server,
        system_prompt=as_string(params.get("systemPrompt")),
        temperature=temperature if isinstance(temperature, int | float) else None,
        stop_sequences=tuple(filter(None, map(as_string, as_list(params.get("stopSequences"))))),
        tools=offered,
        tool_choice=choice,
        preferences=as_object(params.get("modelPreferences")),
        raw=params,
    )


def write_sampled(sampled: object) -> dict[str, Any]:
    """Return the result of a question to a model."""
    if sampled is None:
        raise ProtocolError("User rejected sampling request", code=_DECLINED)
    if not isinstance(sampled, Sampled):
        raise TypeError(f"on_sample: expected Sampled or None, got {type(sampled).__name__}")
    content = sampled.content
    wire: object
    if isinstance(content, Sequence) and not isinstance(content, str):
        wire = [_write_block(block) for block in content]
    else:
        wire = _write_block(content)
    result: dict[str, Any] = {"role": "assistant", "content": wire, "model": sampled.model}
    if sampled.stop_reason is not None:
        result["stopReason"] = sampled.stop_reason
    return result


def _write_block(block: str | Content | Mapping[str, Any]) -> object:
    if isinstance(block, str):
        return Text(block).wire()
    return dict(block) if isinstance(block, Mapping) else block.wire()


def _unfit(reason: str) -> ProtocolError:
    return ProtocolError(f"{SAMPLE}: {reason}", code=INVALID_PARAMS)
