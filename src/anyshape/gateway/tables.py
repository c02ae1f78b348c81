"""What the tables of a configuration hold: checked, and named by its keys where it is wrong."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from dataclasses import fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, TypeVar, cast

from anyshape.errors import AnyshapeError

Options = TypeVar("Options")
_SECRET: Final = re.compile(r"\$\{([^}]*)\}")
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


class SettingError(AnyshapeError):
    """A table holds what it may not: the keys that lead there, and why."""

    def __init__(self, message: str, *keys: str) -> None:
        super().__init__(message)
        self.keys = keys


def read_table(value: object, *keys: str) -> dict[str, Any]:
    """Return a table."""
    if not isinstance(value, dict):
        raise SettingError(f"expected a table, got {type(value).__name__}", *keys)
    return cast("dict[str, Any]", value)


def read_text(value: object, *keys: str) -> str:
    """Return a string."""
    if not isinstance(value, str):
        raise SettingError(f"expected a string, got {type(value).__name__}", *keys)
    return value


def read_texts(value: object, *keys: str) -> list[str]:
    """Return a list of strings."""
    if not isinstance(value, list):
        raise SettingError(f"expected a list of strings, got {type(value).__name__}", *keys)
    return [read_text(each, *keys) for each in cast("list[object]", value)]


def read_flag(value: object, *keys: str) -> bool:
    """Return a boolean."""
    if not isinstance(value, bool):
        raise SettingError(f"expected true or false, got {value!r:.40}", *keys)
    return value


def expect_known(table: Collection[str], known: Collection[str], *keys: str) -> None:
    """Refuse a key that nobody knows, with the one that may have been meant."""
    for key in table:
        if key not in known:
            close = get_close_matches(key, known, n=1)
            every = ", ".join(sorted(known))
            hint = f"did you mean {close[0]!r}?" if close else f"known are {every}"
            raise SettingError(f"this key is not known; {hint}", *keys, key)


def fill(kind: type[Options], table: Mapping[str, Any], *keys: str) -> Options:
    """Return options made of a table, whose keys and values are like those that there are."""
    known = {each.name: each for each in fields(cast("Any", kind))}
    expect_known(table, known, *keys)
    for key, value in table.items():
        if not _fits(value, known[key].default):
            raise SettingError(f"this cannot be {value!r:.40}", *keys, key)
    return made(kind, table, *keys)


def made(kind: type[Options], values: Mapping[str, Any], *keys: str) -> Options:
    """Return options that check themselves, and begin what they say with the option's name."""
    try:
        return kind(**values)
    except ValueError as error:
        key, _, rest = str(error).partition("=")
        if key in values and rest:
            raise SettingError(rest, *keys, key) from None
        raise SettingError(str(error), *keys) from None


def _fits(value: object, usual: object) -> bool:
    """Tell whether a value is of the type that an option usually has."""
    if isinstance(value, bool) or isinstance(usual, bool):
        return isinstance(value, bool) and isinstance(usual, bool)
    if isinstance(usual, float):
        return isinstance(value, int | float)
    return isinstance(value, str | bytes) if usual is None else isinstance(value, type(usual))


def check_name(name: str, *keys: str) -> None:
    """Refuse what no upstream can be called."""
    if _NAME.fullmatch(name) is None:
        raise SettingError(
            "expected a name of letters, digits, dots, dashes and underscores, 64 at most", *keys
        )


def read_file(name: str, folder: Path, *keys: str) -> str:
    """Return the text of a file that is named from a folder."""
    try:
        return (folder / name).read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "no text"
        raise SettingError(f"the file {name!r} cannot be read: {reason}", *keys) from None


def with_secrets(
    text: str, folder: Path, *keys: str, words: Mapping[str, str] | None = None
) -> str:
    """Return a text with what it names put in.

    `${TOKEN}`, `${env:TOKEN}` and `${TOKEN:-default}` are variables of the environment,
    `${file:PATH}` is what a file has, and `words` are others.
    """

    def find(found: re.Match[str]) -> str:
        named = found[1]
        if words is not None and named in words:
            return words[named]
        if named.startswith("file:"):
            return read_file(named.removeprefix("file:"), folder, *keys).strip()
        name, has_default, default = named.removeprefix("env:").partition(":-")
        if name in set(os.environ):  # Asked itself, it raises for what no name can be.
            return os.environ[name]
        if not has_default:
            raise SettingError(f"the environment has no variable {name!r}", *keys)
        return default

    return _SECRET.sub(find, text)
