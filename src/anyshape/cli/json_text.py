"""JSON for reading: what fits on a line stays on one, and nothing in it steers a terminal."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sized
from typing import TYPE_CHECKING, Final, TypeAlias, TypeGuard, cast

from anyshape.cli import terminal

if TYPE_CHECKING:
    from rich.text import Text

_Token: TypeAlias = tuple[str, str]

_Container: TypeAlias = Mapping[str, object] | list[object]

_STYLES: Final = {"key": "cyan", "string": "green", "number": "yellow", "word": "magenta", "": ""}


def compact(value: object) -> str:
    """Return a value as JSON text on one line, for programs."""
    return _escaped(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def plain(value: object, columns: int) -> str:
    """Return a value as JSON text laid out for so many columns."""
    return "".join(text for text, _ in _tokens(value, columns))


def lay_out(value: object, columns: int, most: int | None = None) -> Text:
    """Return a value as coloured JSON text laid out for so many columns.

    Behind `most` characters a line says that there is more.
    """
    from rich.text import Text

    text = Text(overflow="fold")
    for token, kind in _tokens(value, columns):
        room = None if most is None else most - len(text)
        text.append(token[:room], _STYLES[kind])
        if room is not None and len(token) > room:
            return text.append("…\nand more; --json shows it", "dim")
    return text


def write_json(value: object) -> None:
    """Write a value to stdout: laid out, in colour on a terminal."""
    columns = terminal.width()
    if terminal.is_colourful(terminal.data_stream()):
        text = lay_out(value, columns)
        text.no_wrap, text.overflow = True, "ignore"
        terminal.write(terminal.render(text, colourful=True))
    else:
        terminal.write(plain(value, columns))


def _escaped(text: str) -> str:
    # JSON itself escapes only what is below U+0020; a terminal obeys, or hides, some more.
    return terminal.UNSAFE.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    # What is beyond four digits is a pair in JSON.
    return f"\\u{code:04x}" if code <= 0xFFFF else json.dumps(found[0])[1:-1]


def _string(text: str) -> str:
    return _escaped(json.dumps(text, ensure_ascii=False))


def _tokens(
    value: object, columns: int, indent: int = 0, used: int = 0, after: int = 0
) -> Iterator[_Token]:
    """Yield a value inside `indent` columns of others, its first line starting at column `used`.

    `after` columns follow on the last line: a comma, or nothing.
    """
    if _has_entries(value):
        room = columns - used - after
        if _length(value, room) <= room:
            yield from _on_one_line(value)
        else:
            yield from _on_many_lines(value, columns, indent)
    else:
        yield _scalar(value)


def _has_entries(value: object) -> TypeGuard[_Container]:
    return isinstance(value, Mapping | list) and bool(cast("Sized", value))


def _scalar(value: object) -> _Token:
    if isinstance(value, str):
        return _string(value), "string"
    if isinstance(value, Mapping | list):
        return ("{}" if isinstance(value, Mapping) else "[]"), ""
    kind = "word" if value is None or isinstance(value, bool) else "number"
    return json.dumps(value), kind


def _entries(value: _Container) -> Iterator[tuple[str | None, object]]:
    if isinstance(value, list):
        return ((None, each) for each in value)
    return iter(value.items())


def _brackets(value: object) -> tuple[str, str]:
    return ("[", "]") if isinstance(value, list) else ("{", "}")


def _on_one_line(value: _Container) -> Iterator[_Token]:
    opening, closing = _brackets(value)
    yield opening, ""
    for index, (key, each) in enumerate(_entries(value)):
        if index:
            yield ", ", ""
        if key is not None:
            yield _string(key), "key"
            yield ": ", ""
        if _has_entries(each):
            yield from _on_one_line(each)
        else:
            yield _scalar(each)
    yield closing, ""


def _on_many_lines(value: _Container, columns: int, indent: int) -> Iterator[_Token]:
    opening, closing = _brackets(value)
    inner = indent + 2
    yield opening, ""
    for index, (key, each) in enumerate(_entries(value)):
        yield f"{',' if index else ''}\n{' ' * inner}", ""
        used = inner
        if key is not None:
            name = _string(key)
            yield name, "key"
            yield ": ", ""
            used += len(name) + 2
        yield from _tokens(each, columns, inner, used, after=int(index < len(value) - 1))
    yield f"\n{' ' * indent}{closing}", ""


def _length(value: object, most: int) -> int:
    """Return the length of a value on one line; above `most` only that it is above."""
    if not _has_entries(value):
        return len(_scalar(value)[0])
    length = 2 * len(value)  # brackets, and what separates
    for key, each in _entries(value):
        if length > most:
            break
        length += _length(each, most - length)
        if key is not None:
            length += len(_string(key)) + 2
    return length
