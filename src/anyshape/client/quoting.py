"""Quoting what a server sent, in one short printable line."""

from __future__ import annotations

__all__ = ["shorten"]


def shorten(text: str | bytes, limit: int = 120) -> str:
    """Return what a message may quote of something a server sent: one short printable line."""
    if isinstance(text, bytes):
        text = text[: limit * 4].decode("utf-8", "replace")
    line = "".join(letter if letter.isprintable() else " " for letter in text[: limit * 4])
    line = " ".join(line.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
