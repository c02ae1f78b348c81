"""Markup that a page or a chat window does not show, while a model reads it.

Hosts that show descriptions render them as Markdown, which may hold HTML. Every expression here is
linear in the text: none repeats what could be split in two ways.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Final

from anyshape.screening.finding import Finding, Severity, excerpt

_STYLE: Final = re.compile(
    r"<[a-z][a-z0-9]{0,20}\s[^<>]{0,400}?(?:\bhidden\b(?!\s*=\s*[\"']?(?:false|until))"
    r"|display\s{0,3}:\s{0,3}none|visibility\s{0,3}:\s{0,3}hidden"
    r"|font-size\s{0,3}:\s{0,3}0(?![.\d]|\s{0,3}\.)|opacity\s{0,3}:\s{0,3}0(?![.\d])"
    r"|(?<![\w-])color\s{0,3}:\s{0,3}(?:transparent|white\b|#fff(?:fff)?\b))[^<>]{0,400}>",
    re.IGNORECASE,
)
_DEFINED: Final = re.compile(
    r"^[ ]{0,3}\[(?://|comment|hidden|_|-)\]:[ \t]{0,8}(?:#|<>)[ \t]{0,8}"
    r"[\"'(](?P<hidden>.{1,400})",
    re.IGNORECASE | re.MULTILINE,
)
_EMPTY_LINK: Final = re.compile(
    r"(?<!\w)\[[\s\u200b-\u200d\u2060\ufeff]{0,40}\]\((?P<to>(?:https?|ftp|data|javascript):[^)\s]{1,400})",
    re.IGNORECASE,
)
_LINK: Final = re.compile(
    r"\[(?P<shown>https?://[^\]]{1,400})\]\((?P<to>https?://[^\s)]{1,400})",
    re.IGNORECASE,
)
_BASE64: Final = re.compile(r"(?<![\w+/=%-])[A-Za-z0-9+/]{80,}={0,2}(?![\w+/])")


def screen_markup(text: str, where: str) -> Iterator[Finding]:
    """Yield what a rendered text would not show, at most one finding of each code."""
    if (comment := _commented(text)) is not None:
        message = f"hidden from whoever sees it rendered: {comment}"
        yield Finding("html-comment", Severity.MEDIUM, where, comment, message)
    if "<" in text and (match := _STYLE.search(text)) is not None:
        shown = excerpt(text[match.start() :])
        message = f"styled not to be seen: {shown}"
        yield Finding("hidden-style", Severity.MEDIUM, where, shown, message)
    if "](" in text or "]:" in text:
        yield from _screen_links(text, where)
    if len(text) >= 80 and (hidden := _decoded(text)) is not None:
        message = f"base64 that reads: {hidden}"
        yield Finding("encoded-text", Severity.MEDIUM, where, hidden, message)


def _commented(text: str) -> str | None:
    """Return the beginning of the first HTML comment that says something."""
    start = text.find("<!--")
    while start >= 0:
        end = text.find("-->", start + 4)
        hidden = text[start + 4 : end if end >= 0 else len(text)]
        if any(map(str.isalnum, hidden)):
            return excerpt(hidden.strip())
        start = text.find("<!--", end) if end >= 0 else -1
    return None


def _screen_links(text: str, where: str) -> Iterator[Finding]:
    if (match := _DEFINED.search(text)) is not None:
        hidden = excerpt(match["hidden"])
        message = f"hidden from whoever sees it rendered: {hidden}"
        yield Finding("markdown-comment", Severity.MEDIUM, where, hidden, message)
    if (match := _EMPTY_LINK.search(text)) is not None:
        to = excerpt(match["to"])
        message = f"a link or an image without a text, to {to}"
        yield Finding("empty-link", Severity.LOW, where, to, message)
    for match in _LINK.finditer(text):
        shown, to = (_host(match[part]) for part in ("shown", "to"))
        if shown != to:
            message = f"it shows {excerpt(shown)} and leads to {excerpt(to)}"
            yield Finding("deceptive-link", Severity.MEDIUM, where, excerpt(match[0]), message)
            break


def _host(address: str) -> str:
    host = re.split(r"[/?#\s]", address.lower().partition("://")[2], maxsplit=1)[0]
    return host.rpartition("@")[2].removeprefix("www.")


def _decoded(text: str) -> str | None:
    """Return the beginning of a text that is written in base64; images and keys are none."""
    for match in _BASE64.finditer(text):
        digits = match[0].rstrip("=")[:4000]
        try:
            plain = base64.b64decode(digits[: len(digits) // 4 * 4]).decode()
        except (binascii.Error, UnicodeDecodeError):
            continue
        words = [word for word in plain.split() if word.strip(".,:;!?'\"()").isalpha()]
        if len(words) >= 5:
            return excerpt(plain)
    return None
