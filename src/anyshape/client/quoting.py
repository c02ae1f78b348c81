"""What a message may show of a server: what it sent, in one short printable line, and its name."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from typing import Final
from urllib.parse import urlsplit

_COLOUR: Final = re.compile(r"\x1b\[[\d;]*m")
_TELLING_LINE: Final = re.compile(r"(?!Node\.js v\d)(?=.*[^\W\d_])\S")
_NAMED_ERROR: Final = re.compile(r"\b\w*(?:Error|Exception)\b(?: \[\w+\])?:")
_NEAR: Final = 3


def name_program(command: Sequence[str]) -> str:
    """Return what a message may call a command: the program, and never what it is given.

    Arguments may be secrets, those of `env` often are, and so is a setting in the program's place.
    Whoever writes the whole line in that place has them there, too.
    """
    program, *rest = re.split(r"\s+-", command[0], maxsplit=1)
    name = os.path.basename(program)
    return "…" if "=" in name else shorten(name, 60) + (" …" if rest else "")


def shorten(text: str | bytes, limit: int = 120) -> str:
    """Return what a message may quote of something a server sent: one short printable line."""
    if isinstance(text, bytes):
        text = text[: limit * 4].decode("utf-8", "replace")
    line = "".join(letter if letter.isprintable() else " " for letter in text[: limit * 4])
    line = " ".join(line.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def show(value: object, limit: int) -> str:
    """Return what a message may quote of a value that a server sent, however large it is."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "an array"
    return shorten(repr(value), limit)


def last_words(said: bytes) -> str:
    """Return the line in which a program that writes errors says what went wrong; empty if none.

    Python says it last. Node says it first: places follow, indented, then members of the error,
    a brace, and the version of Node.
    """
    text = _COLOUR.sub("", said.decode("utf-8", "replace"))
    telling = [line for line in text.splitlines() if _TELLING_LINE.match(line)]
    named = [line for line in telling[-_NEAR:] if _NAMED_ERROR.search(line)]
    return shorten((named or telling or [""])[-1])


_TELLING = 6


def conceal(text: str, secrets: Iterable[str | None]) -> str:
    """Return a text without the secrets that its author was sent, whole or cut off."""
    known = [secret for secret in secrets if secret]
    for secret in known:
        text = text.replace(secret, "…")
    for secret in known:
        for length in range(min(len(secret), len(text)), _TELLING - 1, -1):
            text = text.replace(secret[:length], "…")
    return text


def without_secrets(url: str) -> str:
    """Return what a message may show of a URL: no user, no password, no query."""
    try:
        parts = urlsplit(url)
        _ = parts.port  # A password with a slash in it ends up there, and in the path.
    except ValueError:
        return "a malformed URL"
    host = parts.netloc.rpartition("@")[2]
    return shorten(f"{parts.scheme}://{host}{parts.path}", 100)
