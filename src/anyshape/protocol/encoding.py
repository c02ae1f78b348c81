"""The JSON text of data: of values that consist of JSON types, or of structs."""

from __future__ import annotations

from typing import Final

import msgspec

encode_data: Final = msgspec.json.Encoder().encode
"""Returns the text; raises `TypeError`, `ValueError`, `OverflowError` or `RecursionError`."""
