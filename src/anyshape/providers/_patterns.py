"""Regular expressions that a provider or engine reads as JSON Schema means them.

Engines differ most here: all but one apply `pattern` to raw JSON text, where a quote or a newline
is two characters. For them an expression is kept only if it is written in terms that cannot tell:
anchored at both ends, of literal characters, plain classes, groups and repetitions.
"""

from __future__ import annotations

import functools
import re
from typing import Final

from anyshape.providers.profile import PatternSupport

_TIME: Final = (
    "([01][0-9]|2[0-3]):[0-5][0-9]:([0-5][0-9]|60)([.][0-9]+)?"
    "([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])"
)
FORMAT_PATTERNS: Final = {
    "time": f"^{_TIME}$",
    "date-time": f"^[0-9]{{4}}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])[Tt]{_TIME}$",
    "uuid": "^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$",
}
"""Formats as expressions, for engines that read them more narrowly than RFC 3339 and 9562 do."""

_IRREGULAR: Final = re.compile(r"\(\?<?[=!]|\(\?<[A-Za-z_]|\(\?[A-Za-z]|\\[1-9kbBpPuxc]|\\[ZzAG]")
_CLASSES: Final = {"d": "0-9", "w": "A-Za-z0-9_"}
_PLAIN: Final = frozenset(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 _-:;,@#%&=!<>~'/"
)
_LITERAL: Final = frozenset(".+*?()[]{}|^$")
_REPEAT: Final = re.compile(r"\{[0-9]{1,3}(?:,(?:[0-9]{1,3})?)?\}|[*+?]")
_CHARACTERS: Final = frozenset(map(chr, range(32, 127)))
_FEW: Final = 8
_LONGEST: Final = 2_000
"""Characters that an expression may stand for when its repetitions are written out."""


def written_pattern(pattern: str, rule: PatternSupport) -> str | None:
    """Return `pattern` as it may be written for a target, or `None` if it may not."""
    if rule is PatternSupport.ALL:
        return pattern
    if rule is PatternSupport.REGULAR:
        # An escaped backslash before a letter is none of these; rather lose one than be refused.
        return None if _IRREGULAR.search(pattern) else pattern
    return _literal(pattern)


def _literal(pattern: str) -> str | None:
    if not pattern.startswith("^") or not pattern.endswith("$") or pattern.endswith("\\$"):
        return None
    body = pattern[1:-1]
    written: list[str] = []
    depth = 0
    position = 0
    while position < len(body):
        character = body[position]
        step = 1
        if character == "(":
            if body.startswith("(?:", position):
                step = 3
            elif body.startswith("(?", position):
                return None
            depth += 1
            written.append("(")
        elif character == ")":
            depth -= 1
            written.append(")")
        elif character == "|":
            if depth == 0:
                return None
            written.append("|")
        elif character == "[":
            found = _class(body, position)
            if found is None:
                return None
            text, step = found
            written.append(text)
        elif character == "\\":
            text = _escape(body[position + 1 : position + 2])
            if text is None:
                return None
            written.append(text)
            step = 2
        elif repeat := _REPEAT.match(body, position):
            step = len(repeat.group())
            if not written or body[position + step : position + step + 1] in ("?", "+"):
                return None  # lazy and possessive repetitions
            written.append(repeat.group())
        elif character in _PLAIN:
            written.append(character)
        else:
            return None
        position += step
    return f"^{''.join(written)}$" if depth == 0 and not _is_large(written) else None


def _is_large(pieces: list[str]) -> bool:
    """Tell whether engines that write repetitions out would have much to write.

    Where something is repeated without end and then counted (`[ab]*a[ab]{30}`), they have to count
    from every character on at once.
    """
    groups: list[list[int]] = [[]]
    atom = _CHARACTERS
    endless: frozenset[str] = frozenset()
    for piece in pieces:
        sizes = groups[-1]
        if piece == "(":
            groups.append([])
        elif piece == ")":
            inner = sum(groups.pop())
            if not groups:
                return True
            groups[-1].append(inner)
            atom = _CHARACTERS
        elif piece[0] in "{*+?" and sizes:
            count = _most(piece)
            if count is None:
                endless = atom
            elif count > _FEW and endless & atom:
                return True
            else:
                sizes[-1] *= count
        elif piece != "|":
            atom = _admitted(piece)
            endless &= atom
            sizes.append(1)
    return sum(groups[0]) > _LONGEST


def _most(repeat: str) -> int | None:
    """Return how often something is repeated at most; `None` if there is no end to it."""
    if repeat in ("*", "+") or repeat.endswith(",}"):
        return None
    return 1 if repeat == "?" else int(repeat.strip("{}").rpartition(",")[2])


@functools.lru_cache(maxsize=512)
def _admitted(piece: str) -> frozenset[str]:
    """Return the characters that a literal or a class stands for."""
    return frozenset(character for character in _CHARACTERS if re.fullmatch(piece, character))


def _escape(character: str) -> str | None:
    """Return what an escape means, written without a backslash."""
    if character in _CLASSES and character:
        return f"[{_CLASSES[character]}]"
    if character in ("-", "/", "_", ":", "@", "#"):
        return character
    return f"[{character}]" if character and character in ".+*?()|{}$" else None


def _class(body: str, start: int) -> tuple[str, int] | None:
    """Return the class that begins at `start`, without backslashes, and its length."""
    written: list[str] = []
    dash = ""
    position = start + 1
    while position < len(body) and body[position] != "]":
        character = body[position]
        if character == "\\":
            position += 1
            escaped = body[position : position + 1]
            if escaped in _CLASSES and escaped:
                if written and written[-1] == "-":
                    return None
                written.append(_CLASSES[escaped])
            elif escaped == "-":
                dash = "-"
            elif escaped and escaped in ".+*?()|{}$/_:@":
                written.append(escaped)
            else:
                return None
        elif character in _PLAIN or (character in _LITERAL and character not in "[]^"):
            written.append(character)
        else:
            return None  # a negated class, a quote, a control character, anything not ASCII
        position += 1
    if position >= len(body) or not (written or dash):
        return None
    return f"[{''.join(written)}{dash}]", position + 1 - start
