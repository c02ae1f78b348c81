"""JSON text of strangers becomes Python values, in time that grows with its length alone.

msgspec reads nearly every fraction in some nanoseconds, but `1e308` and its like in 8 µs: seconds
for a message of four megabytes, in which nothing else runs. Without an exponent a number that takes
so long is long itself. So text that is short, or has few exponents, is left to msgspec, and of any
other text each fraction is read by Python, which takes a quarter of a microsecond for any of them.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isinf
from typing import Any, Final, TypeVar

import msgspec

ReadT = TypeVar("ReadT")

LONG: Final = 64_000
"""Bytes from which on a text may hold more such numbers than can be read in a tenth of a second."""
_MOST_EXPONENTS: Final = 8_000
"""What may be exponents in a long text for it to be left to msgspec."""


def decoder(kind: type[ReadT]) -> Callable[[bytes | str | msgspec.Raw], ReadT]:
    """Return what reads JSON text as a type, in which fractions stand where anything may."""
    at_once = msgspec.json.Decoder(kind).decode
    with_care = msgspec.json.Decoder(kind, float_hook=_read_fraction).decode

    def decode(text: bytes | str | msgspec.Raw) -> ReadT:
        if type(text) is bytes and len(text) <= LONG:
            return at_once(text)
        return with_care(text) if _has_many_exponents(text) else at_once(text)

    return decode


def _has_many_exponents(text: bytes | str | msgspec.Raw) -> bool:
    """Tell whether a text may hold so many numbers that take long to read that it matters."""
    if isinstance(text, str):
        return len(text) > LONG and text.count("e") + text.count("E") > _MOST_EXPONENTS
    if type(text) is not bytes:
        if memoryview(text).nbytes <= LONG:
            return False
        text = bytes(text)
    return len(text) > LONG and text.count(b"e") + text.count(b"E") > _MOST_EXPONENTS


def _read_fraction(text: str) -> float:
    value = float(text)
    if isinf(value):
        raise ValueError("Number out of range")
    return value


decode_json: Final[Callable[[bytes | str | msgspec.Raw], Any]] = decoder(Any)  # pyright: ignore[reportArgumentType]
"""Reads JSON text as what it is."""
