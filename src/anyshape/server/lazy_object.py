"""A JSON object that is read only if somebody looks."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, Mapping
from typing import Any, Final

import msgspec

from anyshape.decoding import decoder

_decode = decoder(dict[str, Any])
_decode_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


class _Parameters(msgspec.Struct):
    meta: dict[str, Any] = msgspec.field(default_factory=dict[str, Any], name="_meta")


class _Message(msgspec.Struct):
    params: _Parameters = msgspec.field(default_factory=_Parameters)


_META: Final = ("params", "_meta")
"""The path that leads to the metadata of a whole message, read in one go."""

_decode_message = decoder(_Message)


class LazyObject(Mapping[str, Any]):
    """The object that raw JSON stands for, or the one it holds at the end of `path`."""

    __slots__ = ("_path", "_raw", "_value")

    def __init__(self, raw: bytes | msgspec.Raw, *path: str) -> None:
        self._raw = raw
        self._path = path
        self._value: dict[str, Any] | None = None

    def __getitem__(self, key: str) -> Any:
        return self._read()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())

    # What `Mapping` has for these calls `__getitem__` for each key, and catches what it raises.

    def __contains__(self, key: object) -> bool:
        return key in self._read()

    def get(self, key: str, default: Any = None, /) -> Any:
        """Return a member, or the default if there is none of that name."""
        return self._read().get(key, default)

    def items(self) -> ItemsView[str, Any]:
        """Return the members."""
        return self._read().items()

    def __repr__(self) -> str:
        return repr(self._read())

    def _read(self) -> dict[str, Any]:
        value = self._value
        if value is None:
            raw = self._raw
            try:
                if self._path == _META:
                    value = _decode_message(raw).params.meta
                else:
                    for key in self._path:
                        raw = _decode_members(raw).get(key, b"{}")
                    value = _decode(raw)
            except msgspec.DecodeError:
                value = {}
            self._value = value
        return value
