"""What a message may show of a server: what it sent, in one short printable line, and its name."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

__all__ = ["conceal", "name_program", "shorten", "without_secrets"]


def name_program(command: Sequence[str]) -> str:
    """Return what a message may call a command: the program, and never what it is given.

    Arguments may be secrets, those of `env` often are, and so is a setting in the program's place.
    """
    name = os.path.basename(command[0])
    return "…" if "=" in name else shorten(name, 60)


def shorten(text: str | bytes, limit: int = 120) -> str:
    """Return what a message may quote of something a server sent: one short printable line."""
    if isinstance(text, bytes):
        text = text[: limit * 4].decode("utf-8", "replace")
    line = "".join(letter if letter.isprintable() else " " for letter in text[: limit * 4])
    line = " ".join(line.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


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
    except ValueError:
        return "a malformed URL"
    host = parts.netloc.rpartition("@")[2]
    return shorten(f"{parts.scheme}://{host}{parts.path}", 100)
