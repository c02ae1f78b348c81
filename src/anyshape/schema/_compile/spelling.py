"""ECMA-262 regular expressions, spelt so that the engine means the same by them.

The engine translates most of the dialect itself. What it reads differently, or not at all, is
rewritten before it sees the document:

- `.` leaves out all four line terminators, not the line feed alone, but for where a group such as
  `(?s:…)` lets it match any character;
- a word boundary is one between ASCII letters (the engine: between Unicode letters);
- for the matcher that backtracks, digits, letters and white space are spelt out, because that one
  takes `\\d`, `\\w` and `\\s` for the classes of Unicode; where they are many for
  the other one, too, because the engine's time for them grows with the square of their number;
- `[]`, `[^]`, `[\\b]`, `\\0`, `\\cA`, surrogate pairs as two escapes, and `\\k<name>` are
  understood, and `\\<` and `\\>` are characters (the engine: the edges of a word);
- a hyphen that stands for itself in a class is escaped, as the engine may take it for a range.

ECMA-262, "RegExp (Regular Expression) Objects", with the flag `u` (JSON Schema Core, section 6.4).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from string import ascii_letters, digits
from typing import Final

_MANY_ESCAPES: Final = 32
_ANY: Final = r"[^\n\r\u2028\u2029]"
_NOTHING: Final = r"[^\s\S]"
_EVERYTHING: Final = r"[\s\S]"
_FLAGS: Final = re.compile(r"\(\?([a-z]*+)(?:-([a-z]*+))?:")
_PAIR: Final = re.compile(r"\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})")
_ESCAPE: Final = re.compile(r"(?s)\\(?:x\w\w|u\w{4}|[upP]\{[^}]*\}|.)", re.ASCII)
_WORD: Final = "A-Za-z0-9_"
_BOUNDARY: Final = f"(?<=[{_WORD}])(?![{_WORD}])|(?<![{_WORD}])(?=[{_WORD}])"
_NO_BOUNDARY: Final = f"(?<=[{_WORD}])(?=[{_WORD}])|(?<![{_WORD}])(?![{_WORD}])"
_CLASSES: Final = {
    "d": "0-9",
    "w": _WORD,
    "s": r"\t-\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff",
}
_COMPLEMENTS: Final = {
    "D": r"\x00-/:-\u{10FFFF}",
    "W": r"\x00-/:-@\x5b-\x5e\x60\x7b-\u{10FFFF}",
    "Wi": r"\x00-/:-@\x5b-\x5e\x60\x7b-\u017e\u0180-\u2129\u212b-\u{10FFFF}",
    "S": r"\x00-\x08\x0e-\x1f!-\u009f\u00a1-\u167f\u1681-\u1fff\u200b-\u2027\u202a-\u202e"
    r"\u2030-\u205e\u2060-\u2fff\u3001-\ufefe\uff00-\u{10FFFF}",
}
_NAMED_GROUP: Final = re.compile(r"\(\?<([^=!>][^>]*)>")
_NAMED_REFERENCE: Final = re.compile(r"\\k<([^>]+)>")


def spell(text: str, *, backtracking: bool) -> str:
    """Return `text` as the engine has to be told it; `backtracking` says for which matcher."""
    if not any(mark in text for mark in (".", "[]", "[^]", "\\")):
        return text
    names = _group_numbers(text) if "\\k<" in text else {}
    classes = backtracking or text.count("\\") > _MANY_ESCAPES
    pieces: list[str] = []
    position = 0
    in_class = False
    begun = 0  # of a range within a class: 1 with what it may begin with, 2 with the hyphen
    flags = [frozenset[str]()]  # in each group that is open
    while position < len(text):
        character = text[position]
        if character == "\\":
            piece, position = _spell_escape(
                text, position, in_class, names, flags[-1], backtracking, classes=classes
            )
            begun = 1 if begun < 2 else 0
        elif in_class and character == "-" and begun == 1:
            piece, position, begun = character, position + 1, 2
        elif in_class:
            in_class = character != "]"
            piece, position = r"\-" if character == "-" else character, position + 1
            begun = 1 if begun < 2 else 0
        elif character == "[":
            piece, position = _open_class(text, position)
            in_class, begun = piece in ("[", "[^"), 0
        elif character == ".":
            piece, position = "." if "s" in flags[-1] else _ANY, position + 1
        else:
            piece, end = character, position + 1
            if character == "(":
                flags.append(_flags_within(text, position, flags[-1]))
                if names and (named := _NAMED_GROUP.match(text, position)) is not None:
                    end = named.end()
            elif character == ")" and len(flags) > 1:
                flags.pop()
            position = end
        pieces.append(piece)
    return "".join(pieces)


def _flags_within(text: str, position: int, around: frozenset[str]) -> frozenset[str]:
    """Return the flags of the group that opens at `position`."""
    flags = _FLAGS.match(text, position)
    return around if flags is None else (around | set(flags[1])) - set(flags[2] or "")


def _open_class(text: str, position: int) -> tuple[str, int]:
    if text.startswith("[]", position):
        return _NOTHING, position + 2
    if text.startswith("[^]", position):
        return _EVERYTHING, position + 3
    if text.startswith("[^", position):
        return "[^", position + 2
    return "[", position + 1


def _spell_escape(
    text: str,
    position: int,
    in_class: bool,
    names: dict[str, int],
    flags: frozenset[str],
    backtracking: bool,
    *,
    classes: bool,
) -> tuple[str, int]:
    following = text[position + 1 : position + 2]
    if following in ("<", ">"):
        return following, position + 2
    if following == "b" and in_class:
        return r"\x08", position + 2
    if following in ("b", "B") and not in_class:
        if not backtracking:
            return r"(?-u:\b)", position + 2
        return f"(?:{_BOUNDARY if following == 'b' else _NO_BOUNDARY})", position + 2
    if classes and following in _CLASSES:
        return _CLASSES[following] if in_class else f"[{_CLASSES[following]}]", position + 2
    if classes and following in _COMPLEMENTS:
        within = _COMPLEMENTS["Wi" if following == "W" and "i" in flags else following]
        return within if in_class else f"[{within}]", position + 2
    if following == "0" and text[position + 2 : position + 3] not in set(digits):
        return r"\x00", position + 2
    if following == "c" and (letter := text[position + 2 : position + 3]) in set(ascii_letters):
        return rf"\x{ord(letter) % 32:02x}", position + 3
    if following == "u":
        pair = _PAIR.match(text, position)
        if pair is not None:
            high, low = (int(half, 16) for half in pair.groups())
            point = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)
            return rf"\u{{{point:X}}}", pair.end()
    if following == "k" and not in_class:
        reference = _NAMED_REFERENCE.match(text, position)
        if reference is not None and reference[1] in names:
            return rf"(?:\{names[reference[1]]})", reference.end()
    escape = _ESCAPE.match(text, position)
    return (escape[0], escape.end()) if escape is not None else (text[position:], len(text))


def _group_numbers(text: str) -> dict[str, int]:
    """Return the number of each named group: groups are counted by their opening parentheses."""
    names: dict[str, int] = {}
    count = 0
    for position, piece in outside_classes(text):
        if piece == "(":
            named = _NAMED_GROUP.match(text, position)
            if named is not None:
                count += 1
                names[named[1]] = count
            elif not text.startswith("(?", position):
                count += 1
    return names


def outside_classes(text: str) -> Iterator[tuple[int, str]]:
    """Yield the position of each character or escape that stands in no class, and itself."""
    position = 0
    in_class = False
    while position < len(text):
        piece = text[position : position + (2 if text[position] == "\\" else 1)]
        if not in_class:
            yield position, piece
        in_class = piece != "]" if in_class else piece == "["
        position += len(piece)
