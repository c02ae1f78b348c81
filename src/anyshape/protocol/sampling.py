"""What a server asks a client's model, and what the model says.

https://modelcontextprotocol.io/specification/2026-07-28/client/sampling
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, cast

import msgspec

from anyshape.errors import AskError
from anyshape.protocol.clients import NOTHING
from anyshape.protocol.content import (
    CONTENT_TYPES,
    Content,
    EmbeddedResource,
    ResourceLink,
    Text,
    UnknownContent,
    content_blocks,
    encode_content,
    read_content,
)
from anyshape.protocol.description import ToolDescription
from anyshape.protocol.messages import Message
from anyshape.protocol.revision import Revision
from anyshape.protocol.shapes import ShapeOptions, shape
from anyshape.protocol.shapes.blocks import block_adapter

_SHAPE: Final = ShapeOptions()


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool that a model wants run, and the arguments it gives."""

    id: str
    name: str
    input: Mapping[str, Any]

    def result(self, content: str | Content | Sequence[Content], is_error: bool = False) -> Content:
        """Return the block that answers this, for a `Message` with nothing but such blocks."""
        wire: dict[str, Any] = {"type": "tool_result", "toolUseId": self.id}
        wire["content"] = [block.wire() for block in content_blocks(content)]
        if is_error:
            wire["isError"] = True
        return UnknownContent(wire)


@dataclass(frozen=True, slots=True)
class Sampled:
    """What a model said: text, a content block, or several; blocks may be given as JSON."""

    content: str | Content | Mapping[str, Any] | Sequence[Content | Mapping[str, Any]]
    model: str
    stop_reason: str | None = None
    """`endTurn`, `stopSequence`, `maxTokens`, `toolUse` or a word of the provider."""

    @property
    def blocks(self) -> tuple[Content, ...]:
        """The content, each block read."""
        content = self.content
        if isinstance(content, str | Mapping) or not isinstance(content, Sequence):
            return (_read_block(content),)
        return tuple(map(_read_block, content))

    @property
    def text(self) -> str:
        """The text blocks, one after another, each on its own line."""
        return "\n".join(block.text for block in self.blocks if isinstance(block, Text))

    @property
    def tool_uses(self) -> tuple[ToolUse, ...]:
        """The tools that the model wants run."""
        return tuple(_tool_uses(self.blocks))


SampleMessages: TypeAlias = str | Message | Sampled | Sequence[str | Message | Sampled]
"""What a model is to go on from: strings are the user's, what was sampled the assistant's."""

_Turn: TypeAlias = tuple[str, Sequence[Content]]
"""Who speaks, and the content blocks."""


class SampleRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A question to a client's model; all but `max_tokens` is advice."""

    messages: SampleMessages
    max_tokens: int
    system_prompt: str | None = None
    temperature: float | None = None
    stop_sequences: Sequence[str] = ()
    tools: Sequence[ToolDescription | Mapping[str, Any]] = ()
    tool_choice: Literal["auto", "required", "none"] | None = None
    preferences: Mapping[str, Any] | None = None
    meta: Mapping[str, Any] | None = None
    """What goes to the provider as it is (`metadata`)."""


def write_sample(revision: Revision, asked: SampleRequest) -> dict[str, Any]:
    """Return the parameters of `sampling/createMessage`; `AskError` for what has no place there."""
    if type(asked.max_tokens) is not int or asked.max_tokens < 1:
        raise ValueError(f"max_tokens has to be a whole number from 1 on, got {asked.max_tokens!r}")
    given = asked.messages
    several = [given] if isinstance(given, str | Message | Sampled) else list(given)
    turns = [_turn(each) for each in several]
    flaw = find_tool_flaw(turns)
    if flaw is not None:
        raise ValueError(f"messages: {flaw}")
    uses_tools = asked.tools or asked.tool_choice or any(map(_has_tools, turns))
    if uses_tools and not revision.has_sampling_tools:
        raise AskError(f"at revision {revision} a model that is sampled can use no tools")
    params: dict[str, Any] = {
        "messages": [wire for turn in turns for wire in _write_turn(revision, *turn)],
        "maxTokens": asked.max_tokens,
    }
    if not params["messages"]:
        raise ValueError("messages has to have at least one message")
    optional = {
        "systemPrompt": asked.system_prompt,
        "temperature": asked.temperature,
        "stopSequences": list(asked.stop_sequences) or None,
        "modelPreferences": asked.preferences,
        "metadata": asked.meta,
        "tools": [_write_tool(revision, tool) for tool in asked.tools] or None,
        "toolChoice": None if asked.tool_choice is None else {"mode": asked.tool_choice},
    }
    return params | {name: value for name, value in optional.items() if value is not None}


def read_sampled(wire: Mapping[str, Any]) -> Sampled:
    """Return what a client's model said; raises `ValueError` for what is no such answer."""
    content, model, reason = wire.get("content"), wire.get("model"), wire.get("stopReason")
    if wire.get("role") not in ("assistant", "user"):
        raise ValueError("role: expected assistant")
    blocks = cast("list[object]", content) if isinstance(content, list) else [content]
    if not all(isinstance(block, dict) for block in blocks):
        raise ValueError("content: expected a content block, or an array of them")
    if not isinstance(model, str) or not isinstance(reason, str | None):
        raise ValueError("model: expected a string, and so stopReason if it is there")
    read = tuple(map(read_content, blocks))
    return Sampled(read if isinstance(content, list) else read[0], model, reason)


def find_tool_flaw(turns: Iterable[_Turn]) -> str | None:
    """Return what is wrong with the tools in a conversation, `None` if nothing is.

    Each use has its result in the next message, which is the user's and has nothing but results.
    """
    used: set[str] = set()
    for role, blocks in turns:
        results = _ids(blocks, "tool_result", "toolUseId")
        if results and len(results) != len(blocks):
            return "tool results mixed with other content"
        if used.difference(results if role == "user" else ()):
            break
        used = set(_ids(blocks, "tool_use", "id")) if role == "assistant" else set()
    return "tool result missing in request" if used else None


def _ids(blocks: Sequence[Content], kind: str, member: str) -> list[str]:
    wires = [block.json for block in blocks if isinstance(block, UnknownContent)]
    uses = [cast("dict[str, Any]", wire) for wire in wires if isinstance(wire, dict)]
    return [str(use.get(member)) for use in uses if use.get("type") == kind]


def _has_tools(turn: _Turn) -> bool:
    _, blocks = turn
    return bool(_ids(blocks, "tool_use", "id") or _ids(blocks, "tool_result", "toolUseId"))


def _turn(said: str | Message | Sampled) -> _Turn:
    if isinstance(said, Sampled):
        return "assistant", said.blocks
    message = Message(said) if isinstance(said, str) else said
    return message.role, message.blocks


def _write_turn(
    revision: Revision, role: str, blocks: Sequence[Content]
) -> Iterator[dict[str, Any]]:
    if any(isinstance(block, EmbeddedResource | ResourceLink) for block in blocks):
        raise ValueError("messages: a model is sampled with no resources; give what is in them")
    adapt = block_adapter(revision)
    texts = [encode_content(block) for block in blocks]
    written = [msgspec.Raw(text if adapt is None else adapt(text)) for text in texts]
    if len(written) > 1 and revision.has_sampling_tools:
        yield {"role": role, "content": written}
    else:
        for block in written:
            yield {"role": role, "content": block}


def _write_tool(revision: Revision, tool: ToolDescription | Mapping[str, Any]) -> Any:
    if isinstance(tool, ToolDescription):
        return shape(revision).entry(tool, _SHAPE, NOTHING)
    return tool


def _read_block(block: object) -> Content:
    if isinstance(block, str):
        return Text(block)
    return block if isinstance(block, CONTENT_TYPES) else read_content(block)


def _tool_uses(blocks: Sequence[Content]) -> Iterator[ToolUse]:
    for block in blocks:
        wire = block.json if isinstance(block, UnknownContent) else None
        if isinstance(wire, dict):
            use = cast("dict[str, Any]", wire)
            id, name, given = use.get("id"), use.get("name"), use.get("input", {})
            if use.get("type") == "tool_use" and isinstance(id, str) and isinstance(name, str):
                yield ToolUse(
                    id, name, cast("dict[str, Any]", given) if isinstance(given, dict) else {}
                )
