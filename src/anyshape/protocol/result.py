"""What a tool call comes to, before any revision has shaped it.

"No structured content" and "structured content null" are different things: the first is `ABSENT`
(or, once serialized, `None`), the second is the JSON value null.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar, cast

import msgspec

from anyshape.protocol.content import Content, RefusesMovedKeywords, content_blocks


class Absent(enum.Enum):
    """The type of `ABSENT`, which stands for a JSON value that is not there."""

    ABSENT = "absent"

    def __repr__(self) -> str:
        return "ABSENT"

    def __bool__(self) -> bool:
        return False


ABSENT: Final = Absent.ABSENT
"""No value, as opposed to the value null."""

Value = TypeVar("Value")


# Without slots: typing sets __orig_class__ on ToolResult[int](3), and a frozen slotted class raises
# TypeError there, where typing expects AttributeError.
@dataclass(frozen=True)
class ToolResult(RefusesMovedKeywords, Generic[Value]):
    """Say more than a return value can: structured value, own content, failure, metadata.

    `structured` is natural (never in an envelope); leave it out for none, pass `None` for null.
    `content` is a list of blocks, or one; strings become `Text`.
    """

    structured: Value | Absent = ABSENT
    content: Sequence[Content | str] | Content = ()
    is_error: bool = False
    meta: Mapping[str, object] | None = None

    def __post_init__(self) -> None:
        """Freeze the content, so that what was built is what is sent; refuse what cannot be."""
        if self.meta is not None and not isinstance(cast("object", self.meta), Mapping):
            raise TypeError(f"meta has to be an object, got {type(self.meta).__name__}")
        object.__setattr__(self, "content", content_blocks(self.content))

    @property
    def blocks(self) -> tuple[Content, ...]:
        """The content, with every string already a `Text`."""
        return self.content  # pyright: ignore[reportReturnType]  # made so in __post_init__


class EncodedResult(msgspec.Struct, frozen=True, gc=False):
    """A natural result, serialized once: every part is JSON text.

    `structured` is the value, or `None` when there is none; `content` holds each block the tool
    wrote itself, as `encode_content` writes it; `meta` is an object. With `has_mirror`, one of the
    blocks says what the value says, and no mirror is added.
    """

    structured: bytes | None = None
    content: tuple[bytes, ...] = ()
    is_error: bool = False
    meta: bytes | None = None
    has_mirror: bool = False
