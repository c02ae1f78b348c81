"""The result of a call as nearly all are: members that the specification names, of ordinary depth.

https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-result

It is read in one typed pass that leaves nothing to check. A result with other members, with members
of other types, with integers of more than 64 bits, or nested deeper than `DEPTH`, does not decode
as one; it is read member by member instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from anyshape.protocol.result import ABSENT

DEPTH: Final = 7
"""How deeply an ordinary result may nest; the result itself is one level."""
ORDINARY_BYTES: Final = 60_000
"""How long the frame of an ordinary result may be; its value, no larger, need not be measured."""

if TYPE_CHECKING:
    _Value: TypeAlias = Any
    _Block: TypeAlias = Any
    _Metadata: TypeAlias = Any
else:

    def _nested(levels: int) -> Any:
        """Return the type of JSON values in which arrays and objects nest at most so deep."""
        # To bound depth while decoding costs nothing, unlike counting brackets or walking values.
        # Each level doubles the decoder, though: it has one branch for arrays, one for objects.
        integer = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
        value = scalar = str | integer | float | bool | None
        for _ in range(levels):
            value = scalar | list[value] | dict[str, value]
        return value

    _Value = _nested(DEPTH - 1)
    _Block = _nested(DEPTH - 3)
    _Metadata = _nested(DEPTH - 3)


class OrdinaryResult(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """The `result` member of an answer to `tools/call`."""

    result_type: Literal["complete"] | UnsetType = UNSET
    content: list[_Block] | UnsetType = UNSET
    structured_content: _Value = ABSENT
    is_error: bool | UnsetType = UNSET
    meta: _Metadata = msgspec.field(name="_meta", default=UNSET)

    def wire(self) -> dict[str, Any]:
        """Return the members as they came."""
        wire: dict[str, Any] = {}
        if self.result_type is not UNSET:
            wire["resultType"] = self.result_type
        if self.content is not UNSET:
            wire["content"] = self.content
        if self.structured_content is not ABSENT:
            wire["structuredContent"] = self.structured_content
        if self.is_error is not UNSET:
            wire["isError"] = self.is_error
        if self.meta is not UNSET:
            wire["_meta"] = self.meta
        return wire
