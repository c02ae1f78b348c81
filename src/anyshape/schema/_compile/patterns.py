"""The regular expressions of a schema: what they are, what they cost, and what they may not do.

`pattern` and the keys of `patternProperties` are ECMA-262 expressions (JSON Schema 2020-12 Core,
section 6.4). The engine translates them for a matcher whose time is linear in the text; lookaround
and backreferences need one that backtracks, which only the operating system can stop: schemas with
such patterns are confined. Linear is not the same as cheap: the time per character grows with the
compiled size, so patterns are weighed.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import jsonschema_rs
import msgspec

from anyshape.documents.dialects import Dialect
from anyshape.documents.json import is_object
from anyshape.documents.library import Spot
from anyshape.documents.pointers import escape
from anyshape.errors import InvalidSchema, LimitExceeded
from anyshape.schema._compile.spelling import outside_classes, spell
from anyshape.schema._instance import shorten
from anyshape.schema._limits import Limits

_UNLIMITED: Final = 10**15
"""Steps back that no match gets to: it is stopped by the clock, and a verdict is a verdict."""
_CACHE: Final = 1 << 16
"""Bytes that a matcher may keep, in each direction, of what it worked out about one pattern.

Ordinary patterns need a few thousand. Texts are chosen by strangers, and so is how much is kept.
"""
_SIZES: Final = (1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216)
_LARGEST: Final = 1 << 26
"""Bytes within which any text of bounded length compiles that counts nothing."""
_COUNTS: Final = re.compile(r"(?<!\\[uxpP])\{\d+(?:,\d*)?\}")
_BACKTRACKING_GROUPS: Final = ("(?=", "(?!", "(?<=", "(?<!")


class Pattern(msgspec.Struct, frozen=True):
    """One regular expression: its text, whether it backtracks, and its compiled size at most."""

    text: str
    backtracks: bool
    size: int


class Patterns(msgspec.Struct, frozen=True):
    """The regular expressions of a schema, by their text."""

    all: dict[str, Pattern]

    @property
    def backtracking(self) -> bool:
        """Whether one of them needs a matcher that backtracks; then all are given to that one."""
        return any(pattern.backtracks for pattern in self.all.values())

    def options(self, limits: Limits) -> jsonschema_rs.PatternOptionsType:
        """Return how the engine is to compile them."""
        size = limits.pattern_bytes
        if self.backtracking:
            return jsonschema_rs.FancyRegexOptions(backtrack_limit=_UNLIMITED, size_limit=size)
        return jsonschema_rs.RegexOptions(size_limit=size, dfa_size_limit=_CACHE)


def check_patterns(spots: Iterable[Spot], limits: Limits) -> Patterns:
    """Compile each pattern; raise `InvalidSchema` or `LimitExceeded` for one that fails."""
    found: dict[str, Pattern] = {}
    seen: set[tuple[str, bool]] = set()
    total = 0
    for text, path, dialect in _patterns_in(spots):
        # Before 2019-09 the engine insists that patterns, as they are spelt for it, are ECMA-262;
        # there a boundary between ASCII letters can only be put with lookaround.
        boundaries = not dialect.reference_hides_siblings
        if (text, boundaries) in seen:
            continue
        seen.add((text, boundaries))
        if len(text) > limits.pattern_length:
            raise LimitExceeded(
                f"the pattern at {path} has {len(text)} characters, "
                f"more than {limits.pattern_length} (limit: pattern_length)",
                limit="pattern_length",
                allowed=limits.pattern_length,
                found=len(text),
                path=path,
            )
        pattern = _compile(text, limits.pattern_bytes, boundaries) if _is_expression(text) else None
        if pattern is None:
            if _is_expression(text) and _is_merely_large(text, boundaries):
                raise _too_large(path, limits, None)
            raise InvalidSchema(
                f"expected a regular expression (ECMA-262) at {path}, got {shorten(text)}"
                + _hint(text),
                path=path,
            )
        if text in found and not pattern.backtracks:
            continue
        found[text] = pattern
        total += pattern.size
        if total > limits.pattern_bytes:
            raise _too_large(path, limits, total)
    return Patterns(found)


def _hint(text: str) -> str:
    if text.startswith("(?") and ")" in text and text[2 : text.index(")")].isalpha():
        return "; write a group such as (?i:…) instead of a flag for the whole"
    return ""


def _too_large(path: str, limits: Limits, found: int | None) -> LimitExceeded:
    return LimitExceeded(
        f"with the pattern at {path} the compiled patterns take more than "
        f"{limits.pattern_bytes} bytes (limit: pattern_bytes)",
        limit="pattern_bytes",
        allowed=limits.pattern_bytes,
        found=found,
        path=path,
    )


def _patterns_in(spots: Iterable[Spot]) -> Iterator[tuple[str, str, Dialect]]:
    """Yield every pattern, a pointer to it, and the dialect it is written in."""
    for spot in spots:
        schema = spot.schema
        if isinstance(schema, bool):
            continue
        for text, place in patterns_of(schema):
            yield text, f"{spot.place}{place}", spot.dialect


def patterns_of(schema: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Yield every pattern directly in `schema`, and the pointer to it from there."""
    pattern, properties = schema.get("pattern"), schema.get("patternProperties")
    if isinstance(pattern, str):
        yield pattern, "/pattern"
    if is_object(properties):
        for key in properties:
            yield key, f"/patternProperties/{escape(key)}"


@functools.lru_cache(maxsize=1_024)
def _compile(text: str, most: int, boundaries: bool) -> Pattern | None:
    """Return the pattern, `None` if it takes more than `most` bytes."""
    backtracks = needs_backtracking(text, boundaries=boundaries)
    spelt = spell(text, backtracking=backtracks)
    sizes = [size for size in _SIZES if size < most]
    if sizes and _compiles(spelt, sizes[0], backtracks):
        return Pattern(text, backtracks, sizes[0])
    # What is too large takes long at any size, so this is asked before the sizes in between.
    if not _compiles(spelt, most, backtracks):
        return None
    size = next((size for size in sizes[1:] if _compiles(spelt, size, backtracks)), most)
    return Pattern(text, backtracks, size)


def _is_merely_large(text: str, boundaries: bool) -> bool:
    """Tell whether, with its repetitions not counted and with more room, it is a pattern."""
    backtracks = needs_backtracking(text, boundaries=boundaries)
    spelt = spell(_COUNTS.sub("+", text), backtracking=backtracks)
    return _compiles(spelt, _LARGEST, backtracks)


def _compiles(spelt: str, size: int, backtracks: bool) -> bool:
    make = jsonschema_rs.FancyRegexOptions if backtracks else jsonschema_rs.RegexOptions
    document = {"pattern": spelt}
    try:
        jsonschema_rs.Draft202012Validator(
            document, pattern_options=make(size_limit=size), offline=True
        )
    except ValueError:
        return False
    return True


@functools.lru_cache(maxsize=1_024)
def _is_expression(text: str) -> bool:
    return jsonschema_rs.is_valid({"format": "regex"}, text, validate_formats=True, offline=True)


def needs_backtracking(text: str, *, boundaries: bool) -> bool:
    """Tell whether an expression uses what no linear matcher offers, `boundaries` if that can.

    It offers `\\B`, but finds it between the bytes of one character.
    """
    beyond = set("123456789kB" if boundaries else "123456789kbB")
    return any(
        piece[1:] in beyond or text.startswith(_BACKTRACKING_GROUPS, position)
        for position, piece in outside_classes(text)
    )
