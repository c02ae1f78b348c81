"""Messages of a conversation with a model, as servers send them: in prompts, and for sampling."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

from anyshape.client.answers import as_object
from anyshape.client.quoting import show
from anyshape.protocol.content import Content, Text, read_content


@dataclass(frozen=True, slots=True)
class ReceivedMessage:
    """One message: who speaks, and the content blocks.

    A block of a kind that has no class here, such as a `tool_use`, is an `UnknownContent`.
    """

    role: Literal["user", "assistant"]
    content: tuple[Content, ...]

    @property
    def text(self) -> str:
        """The text blocks, one after another, each on its own line."""
        return "\n".join(block.text for block in self.content if isinstance(block, Text))


def read_messages(found: object) -> tuple[ReceivedMessage, ...]:
    """Return the messages that an array holds; `ValueError` if they are none."""
    if not isinstance(found, list):
        raise ValueError("expected an array of messages")
    entries = cast("list[object]", found)
    return tuple(_read_message(as_object(entry)) for entry in entries)


def _read_message(entry: Mapping[str, Any]) -> ReceivedMessage:
    role, content = entry.get("role"), entry.get("content")
    if role not in ("user", "assistant"):
        got = show(role, 60)
        raise ValueError(f"expected the role user or assistant, got {got}")
    blocks = cast("list[object]", content) if isinstance(content, list) else [content]
    if not all(isinstance(block, dict) for block in blocks):
        raise ValueError("expected content blocks")
    return ReceivedMessage(role, tuple(map(read_content, blocks)))
