"""A JSON object that is read only if somebody looks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

__all__ = ["LazyObject"]

_decode = msgspec.json.Decoder(dict[str, Any]).decode
_decode_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


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

    def __repr__(self) -> str:
        return repr(self._read())

    def _read(self) -> dict[str, Any]:
        value = self._value
        if value is None:
            raw = self._raw
            try:
                for key in self._path:
                    raw = _decode_members(raw).get(key, b"{}")
                value = _decode(raw)
            except msgspec.DecodeError:
                value = {}
            self._value = value
        return value
