"""How much a schema, and the values checked against it, may cost.

docs/concepts/limits.md says for each limit what it bounds and why its default is what it is.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

__all__ = ["Limits"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bound what compiling a schema and validating with it may cost.

    document_bytes:  size of a schema document as JSON text, `resources` it reaches included
    depth:  how deeply arrays and objects may be nested in a schema document
    subschemas:      how many subschemas a document may hold, `resources` it reaches included
    pattern_length:  characters of one regular expression
    pattern_bytes:   memory of all compiled regular expressions of a document together
    backtracks:      steps back that one match of a pattern with lookaround or backreferences takes
    instance_depth:  how deeply arrays and objects may be nested in a value
    work:            evaluations of a subschema at a place in the value, for one validation
    """

    document_bytes: int = 1_000_000
    depth: int = 128
    subschemas: int = 10_000
    pattern_length: int = 4_096
    pattern_bytes: int = 32_000_000
    backtracks: int = 100_000
    instance_depth: int = 200
    work: int = 10_000_000

    def __post_init__(self) -> None:
        for field in fields(self):
            value: object = getattr(self, field.name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise ValueError(f"Limits.{field.name} must be a positive integer, got {value!r}")
            ceiling = CEILINGS.get(field.name)
            if ceiling is not None and value > ceiling:
                raise ValueError(
                    f"Limits.{field.name} can be {ceiling} at most, got {value}: "
                    "beyond that the native stack is not safe"
                )


CEILINGS = {"depth": 250, "instance_depth": 250}
"""The engine itself copies nothing that is nested deeper than 255 levels."""
