"""One finding as data, how bad it is, and strangers' text written so that all of it is seen."""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

_SHOWN: Final = 80


class Severity(enum.IntEnum):
    """How bad a finding is; they have an order, so `>=` works.

    LOW     a heuristic, or a slip that honest authors make
    MEDIUM  text that a person who reviews the tool does not see as a model does
    HIGH    something that no honest tool needs
    """

    LOW = 1
    MEDIUM = 2
    HIGH = 3

    def __str__(self) -> str:
        return self.name.lower()


CODES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "tag-characters": "text in tag characters, which nothing shows and models read",
        "variation-selectors": "variation selectors that select nothing, which can carry text",
        "invisible": "characters that are not shown, where no script and no emoji needs them",
        "bidirectional": "characters that make text read in another order than it is written",
        "terminal-escape": "escape sequences that a terminal obeys",
        "control-character": "control characters other than tabs and line breaks",
        "far-away-text": "text behind so much white space that nobody scrolls there",
        "html-comment": "an HTML comment, which a page does not show",
        "hidden-style": "HTML that is styled not to be seen",
        "markdown-comment": "a link definition that is used as a comment, which is not shown",
        "empty-link": "a link or an image without a text to see",
        "deceptive-link": "a link that shows one address and leads to another",
        "encoded-text": "sentences written in base64",
        "mixed-alphabets": "a name with letters of another alphabet that look like Latin ones",
        "imitation": "a name that looks like that of another upstream's tool",
        "default-mismatch": "a default that its own schema does not admit",
        "default-secret": "a default that leads to credentials",
        "default-address": "a default that leads into a private network",
        "default-command": "a default with a command in it that a shell would run",
        "default-long": "a default too long to be looked at",
        "instruction-override": "words that tell a model to drop its instructions (heuristic)",
        "instruction-secrecy": "words that ask to keep something from the user (heuristic)",
        "instruction-secret": "words that lead a model to credentials (heuristic)",
        "instruction-context": "words that ask for a conversation or a prompt (heuristic)",
        "instruction-mark": "markup that makes a description look like an order (heuristic)",
    }
)
"""What there is to be found, and what it means."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing in a listed entry that an operator should know of before a model reads it."""

    code: str
    """One of `CODES`."""
    severity: Severity
    where: str
    """A JSON Pointer into the entry."""
    found: str
    """What was found, with everything that is not shown written as an escape."""
    message: str
    """The same as one line, with what to do about it where that is not plain."""

    def __str__(self) -> str:
        return (
            f"{self.severity} {self.code} at {excerpt(self.where, 0, 120) or '/'}: {self.message}"
        )


UNSEEN: Final = re.compile(
    "[\x00-\x1f\x7f-\xa0\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202f\u2060-\u206f\u2800\u3164\ud800-\udfff\ue000-\uf8ff\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    "\U000f0000-\U0010ffff]"
)
"""One character that is not shown, or that steers what shows it."""


def visible(text: str) -> str:
    """Return text with everything that is not shown, or that steers what shows it, as escapes."""
    text = UNSEEN.sub(lambda found: f"\\u{{{ord(found[0]):x}}}", text)
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else f"\\u{{{ord(each):x}}}" for each in text)


def excerpt(text: str, at: int = 0, width: int = _SHOWN) -> str:
    """Return about `width` characters of `text` from a little before `at`, made visible."""
    start = max(0, at - width // 4)
    end = start + width
    before, after = ("…" if start else ""), ("…" if end < len(text) else "")
    return f"{before}{visible(text[start:end])}{after}"
