"""What is hidden in a tool that a stranger lists: findings, as data, for a person to judge.

>>> from anyshape.screening import screen_entry
>>> tool = {"name": "add", "description": "Adds.\\u202e", "inputSchema": {"type": "object"}}
>>> [(finding.code, str(finding.severity)) for finding in screen_entry(tool)]
[('bidirectional', 'high')]
"""

from __future__ import annotations

from anyshape.screening.entry import screen_entry, screen_schema
from anyshape.screening.finding import CODES, Finding, Severity
from anyshape.screening.lookalikes import find_imitations, skeleton

__all__ = [
    "CODES",
    "Finding",
    "Severity",
    "find_imitations",
    "screen_entry",
    "screen_schema",
    "skeleton",
]
