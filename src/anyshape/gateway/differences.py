"""What changed between two JSON values, as lines that a person reads before trusting the new one.

Everything in them is made visible: a change that cannot be seen is the one to look for.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from anyshape.documents.json import is_array, is_object
from anyshape.documents.pointers import pointer
from anyshape.screening.finding import visible

_WIDTH: Final = 400
"""Characters of a line that are shown."""
_LINES: Final = 60
"""Lines that are shown of one change."""
_COMPARED: Final = 200
"""Lines of a text that are compared one by one."""
_CONTEXT: Final = 30


@dataclass(frozen=True, slots=True)
class Change:
    """One place at which two values differ; `lines` begin with `-` or `+`."""

    where: str
    """A JSON Pointer."""
    lines: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join([visible(self.where) or "/", *(f"  {line}" for line in self.lines)])


def differences(before: object, after: object, where: str = "") -> Iterator[Change]:
    """Yield the places at which two values differ, in the order of their names."""
    if is_object(before) and is_object(after):
        for key in sorted(before.keys() | after.keys()):
            place = where + pointer([key])
            if key not in after:
                yield Change(place, (_line("-", _text(before[key])),))
            elif key not in before:
                yield Change(place, (_line("+", _text(after[key])),))
            else:
                yield from differences(before[key], after[key], place)
    elif is_array(before) and is_array(after):
        yield from _array_differences(before, after, where)
    elif isinstance(before, str) and isinstance(after, str):
        if before != after:
            yield Change(where, _text_difference(before, after))
    elif type(before) is not type(after) or before != after:
        lines = _line("-", _text(before)), _line("+", _text(after))
        # 1 and 1.0 are the same number.
        if lines[0][1:] != lines[1][1:]:
            yield Change(where, lines)


def _array_differences(before: list[object], after: list[object], where: str) -> Iterator[Change]:
    if len(before) == len(after) and any(is_object(each) for each in before):
        for index, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from differences(one, other, where + pointer([index]))
        return
    texts = [_text(each) for each in before], [_text(each) for each in after]
    if texts[0] != texts[1]:
        yield Change(where, _lines_difference(*texts))


def _text_difference(before: str, after: str) -> tuple[str, ...]:
    if "\n" in before or "\n" in after:
        return _lines_difference(before.splitlines(), after.splitlines())
    return _trimmed(before, after)


def _lines_difference(before: list[str], after: list[str]) -> tuple[str, ...]:
    """Return the lines that went and came."""
    if max(len(before), len(after)) > _COMPARED:
        return _trimmed("\n".join(before), "\n".join(after))
    lines: list[str] = []
    for tag, *span in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag != "equal":
            lines += (_line("-", line) for line in before[span[0] : span[1]])
            lines += (_line("+", line) for line in after[span[2] : span[3]])
    if len(lines) > _LINES:
        lines[_LINES:] = [f"… and {len(lines) - _LINES} lines more"]
    return tuple(lines) or _trimmed("\n".join(before), "\n".join(after))


def _trimmed(before: str, after: str) -> tuple[str, ...]:
    """Return two texts from a little before the place where they part."""
    most = min(len(before), len(after))
    start = next((at for at in range(most) if before[at] != after[at]), most)
    start = max(0, start - _CONTEXT)
    mark = "…" if start else ""
    return _line("-", mark + before[start:]), _line("+", mark + after[start:])


def _line(sign: str, text: str) -> str:
    shown = visible(text[:_WIDTH])
    rest = f"… ({len(text) - _WIDTH} characters more)" if len(text) > _WIDTH else ""
    return f"{sign} {shown}{rest}"


def _text(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
