"""Messages of a conversation with a model, as a server writes them.

https://modelcontextprotocol.io/specification/2026-07-28/server/prompts#promptmessage
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from anyshape.protocol.completed import encode_result
from anyshape.protocol.content import Content, content_blocks, encode_content
from anyshape.protocol.encoding import encode_data
from anyshape.protocol.revision import Revision
from anyshape.protocol.shapes.blocks import block_adapter


@dataclass(frozen=True, slots=True)
class Message:
    """Something said in a conversation: a string or content block, or several of them.

    In a prompt, where a message on the wire has one block, several blocks are as many messages.
    """

    content: Sequence[Content | str] | Content
    role: Literal["user", "assistant"] = "user"

    def __post_init__(self) -> None:
        """Freeze the content, so that what was built is what is sent; refuse what cannot be."""
        if self.role not in ("user", "assistant"):
            raise ValueError(f"role has to be 'user' or 'assistant', got {self.role!r:.40}")
        object.__setattr__(self, "content", content_blocks(self.content))

    @property
    def blocks(self) -> tuple[Content, ...]:
        """The content, with every string already a `Text`."""
        return self.content  # pyright: ignore[reportReturnType]  # made so in __post_init__


class EncodedMessage(msgspec.Struct, frozen=True, gc=False):
    """A message of a prompt, with its one block as `encode_content` writes it."""

    role: str
    block: bytes


def encode_messages(messages: Iterable[Message]) -> tuple[EncodedMessage, ...]:
    """Serialize messages, one for each block; raises `NotJson` for what is no JSON."""
    return tuple(
        EncodedMessage(message.role, encode_content(block))
        for message in messages
        for block in message.blocks
    )


def encode_prompt(
    revision: Revision,
    messages: Iterable[EncodedMessage],
    description: str | None,
    server_info: bytes | None = None,
) -> bytes:
    """Return the `result` of `prompts/get`, with the blocks that the revision knows."""
    adapt = block_adapter(revision)
    members: list[bytes] = []
    if description is not None:
        members.append(b'"description":%b' % encode_data(description))
    members.append(
        b'"messages":[%b]'
        % b",".join(
            b'{"role":%b,"content":%b}'
            % (
                encode_data(message.role),
                message.block if adapt is None else adapt(message.block),
            )
            for message in messages
        )
    )
    return encode_result(revision, b",".join(members), server_info)
