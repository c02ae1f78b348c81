"""How much a schema, and the values checked against it, may cost.

docs/concepts/limits.md says for each limit what it bounds and why its default is what it is.
"""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bound what compiling a schema and validating with it may cost.

    document_bytes:  size of a schema document as JSON text, `resources` it reaches included
    depth:           how deeply arrays and objects may be nested in a schema document
    subschemas:      how many subschemas a document may hold, `resources` it reaches included
    pattern_length:  characters of one regular expression
    pattern_bytes:   memory of all compiled regular expressions of a document together
    instance_depth:  how deeply arrays and objects may be nested in a value
    seconds:         processor time of one compilation, validation or explanation that is confined
    memory:          bytes that a confined one may take
    """

    document_bytes: int = 1_000_000
    depth: int = 128
    subschemas: int = 10_000
    pattern_length: int = 4_096
    pattern_bytes: int = 32_000_000
    instance_depth: int = 200
    seconds: float = 1.0
    memory: int = 256_000_000

    def __post_init__(self) -> None:
        for field in fields(self):
            value: object = getattr(self, field.name)
            kinds = (int, float) if field.name == "seconds" else int
            if not isinstance(value, kinds) or isinstance(value, bool) or not value > 0:
                noun = "number" if field.name == "seconds" else "integer"
                raise ValueError(f"Limits.{field.name} must be a positive {noun}, got {value!r}")
            least, most, reason = _RANGES.get(field.name, (1, float("inf"), ""))
            if not least <= value <= most:
                bound = f"at least {least}" if value < least else f"{most} at most"
                raise ValueError(f"Limits.{field.name} can be {bound}, got {value}: {reason}")


_STACK = "beyond that the native stack is not safe"
_RANGES: dict[str, tuple[float, float, str]] = {
    "depth": (1, 250, _STACK),
    "instance_depth": (1, 250, _STACK),
    "seconds": (0.01, 60, "less is no time to start, more keeps callers waiting"),
    "memory": (16_000_000, float("inf"), "less is no room for the engine"),
}
