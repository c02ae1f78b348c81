"""Halves of surrogate pairs in JSON text: allowed by its grammar, and no characters.

JavaScript writes one for an emoji that was cut in two (`"\\ud83d"`), and no decoder can make text
of it (RFC 8259, section 8.2).
"""

from __future__ import annotations

import re
from typing import Final

_MOST_ESCAPES: Final = 200_000
"""Escapes that are looked at: each takes time of its own."""
_SURROGATE: Final = re.compile(rb"\\u[dD][89a-fA-F]")
_ESCAPE: Final = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)


def replace_lone_surrogates(text: bytes, replacement: bytes) -> bytes:
    """Return JSON text with another escape for each half of a pair; the same text if none is there.

    Text with very many escapes is returned as it is.
    """
    if not _SURROGATE.search(text) or text.count(b"\\") > _MOST_ESCAPES:
        return text
    return _ESCAPE.sub(lambda escape: replacement if escape[1] else escape[0], text)
