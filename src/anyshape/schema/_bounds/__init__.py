"""How much work a schema may make: proved to be little beforehand, or stopped when it is not.

classifier   which schemas are cheap in the engine for every value, and up to what size
confinement  all others, asked in a process that the operating system stops
worker       the program that such a process runs
"""

from __future__ import annotations

from anyshape.schema._bounds.classifier import (
    PATTERN_BYTES,
    SUBSCHEMAS,
    Cost,
    NotCheap,
    classify,
    is_official,
    screen,
)
from anyshape.schema._bounds.confinement import Job, WouldWait, aside, ask, leave_loop

__all__ = [
    "PATTERN_BYTES",
    "SUBSCHEMAS",
    "Cost",
    "Job",
    "NotCheap",
    "WouldWait",
    "aside",
    "ask",
    "classify",
    "is_official",
    "leave_loop",
    "screen",
]
