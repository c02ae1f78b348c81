"""Characters that are not shown, that reorder text, or that steer a terminal.

Many of them have honest uses: emoji are joined with U+200D and coloured by U+FE0F, Persian and the
scripts of India need joiners inside words, Thai and Khmer mark where lines may break, Arabic and
Hebrew text carries direction marks. So none is forbidden; each is judged by what stands beside it.
https://www.unicode.org/reports/tr36/ and https://trojansource.codes tell what the others are for.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cached_property
from typing import Final, NamedTuple

from anyshape.screening.finding import Finding, Severity, excerpt, visible

_TAGS: Final = "\U000e0000-\U000e007f"
_SELECTORS: Final = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_DIRECTING: Final = "\u202a-\u202e\u2066-\u2069"
_MARKS: Final = "\u061c\u200e\u200f"
_UNSHOWN: Final = (
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2060-\u2065\u206a-\u206f"
    "\u3164\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0080-\U000e00ff\U000e01f0-\U000e0fff"
)
_CONTROLS: Final = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff"
_RUNS: Final = re.compile(
    f"(?P<tags>[{_TAGS}]+)|(?P<selectors>[{_SELECTORS}]+)|(?P<directing>[{_DIRECTING}]+)"
    f"|(?P<marks>[{_MARKS}]+)|(?P<unshown>[{_UNSHOWN}]+)|(?P<controls>[{_CONTROLS}]+|\r(?!\n))"
)
_ESCAPE: Final = re.compile("\x1b[@-_]|[\x90\x9b\x9d-\x9f]")
_BLANKS: Final = re.compile(r"\s{40,}")
_MANY: Final = 4
"""Unseen characters in a row that are no slip any more."""


class _ScreenedText:
    """A text, and what may be asked of the whole of it for each of its runs; found out once."""

    def __init__(self, whole: str) -> None:
        self.whole = whole

    @cached_property
    def reads_leftwards(self) -> bool:
        return any(unicodedata.bidirectional(each) in ("R", "AL") for each in self.whole)

    @cached_property
    def is_balanced(self) -> bool:
        return _is_balanced(self.whole)


class _Run(NamedTuple):
    """Some suspects in a row, and what stands around them."""

    text: _ScreenedText
    characters: str
    start: int

    @property
    def before(self) -> str:
        return self.text.whole[self.start - 1 : self.start]

    @property
    def after(self) -> str:
        end = self.start + len(self.characters)
        return self.text.whole[end : end + 1]


def screen_characters(text: str, where: str) -> Iterator[Finding]:
    """Yield what is wrong with the characters of a text, at most one finding of each code."""
    for blank in _BLANKS.finditer(text):
        length = blank.end() - blank.start()
        if blank.end() < len(text) and (length >= 200 or blank[0].count("\n") >= 40):
            behind = excerpt(text[blank.end() :])
            message = f"after {length} characters of white space: {behind}"
            yield Finding("far-away-text", Severity.MEDIUM, where, behind, message)
            break
    if text.isascii() and text.isprintable():
        return
    seen: dict[str, tuple[Severity, _Run, int]] = {}
    screened = _ScreenedText(text)
    for match in _RUNS.finditer(text):
        run = _Run(screened, match[0], match.start())
        verdict = _JUDGES[match.lastgroup or ""](run)
        if verdict is not None:
            code, severity = verdict
            worst, first, count = seen.get(code, (severity, run, 0))
            seen[code] = max(worst, severity), first, count + len(match[0])
    if "terminal-escape" in seen:
        seen.pop("control-character", None)  # such as the bell that ends a sequence
    for code, (severity, run, count) in seen.items():
        yield Finding(code, severity, where, *_describe(code, run, count))


def _describe(code: str, run: _Run, count: int) -> tuple[str, str]:
    if code in ("tag-characters", "variation-selectors"):
        hidden = excerpt((_tagged if code == "tag-characters" else _selected)(run.characters))
        if hidden:
            return hidden, f"{count} of them, which spell: {hidden}"
    first = run.characters[0]
    name = unicodedata.name(first, "") or ("ESCAPE" if first == "\x1b" else "a control character")
    others = f" and {count - 1} more" if count > 1 else ""
    shown = excerpt(run.text.whole, run.start)
    return shown, f"U+{ord(first):04X} {name}{others} in: {shown}"


def _judge_tags(run: _Run) -> tuple[str, Severity] | None:
    # The flags of England, Scotland and Wales: a black flag, a region in tags, and an end.
    if run.before == "\U0001f3f4" and re.fullmatch(
        "[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f", run.characters
    ):
        return None
    return "tag-characters", Severity.HIGH


def _judge_selectors(run: _Run) -> tuple[str, Severity] | None:
    if len(run.characters) > 1:
        return "variation-selectors", Severity.HIGH
    base = run.before
    if not base or base.isspace() or (base.isascii() and base.isalpha()):
        return "variation-selectors", Severity.LOW
    # Those of the supplement choose between forms of an ideograph, and of nothing else.
    if run.characters >= "\U000e0100" and unicodedata.category(base) != "Lo":
        return "variation-selectors", Severity.LOW
    return None


def _judge_directing(run: _Run) -> tuple[str, Severity] | None:
    if any(character in "\u202d\u202e" for character in run.characters):
        return "bidirectional", Severity.HIGH
    if run.text.reads_leftwards and run.text.is_balanced:
        return None
    return "bidirectional", Severity.MEDIUM


def _judge_marks(run: _Run) -> tuple[str, Severity] | None:
    if len(run.characters) <= 2 and run.text.reads_leftwards:
        return None
    return "invisible", Severity.HIGH if len(run.characters) >= _MANY else Severity.LOW


def _judge_unshown(run: _Run) -> tuple[str, Severity] | None:
    if len(run.characters) == 1 and _is_needed(run):
        return None
    if len(run.characters) >= _MANY:
        return "invisible", Severity.HIGH
    inside = run.before.isalnum() and run.after.isalnum()
    return "invisible", Severity.MEDIUM if inside else Severity.LOW


def _judge_controls(run: _Run) -> tuple[str, Severity] | None:
    if _ESCAPE.match(run.text.whole, run.start) or _ESCAPE.search(run.characters):
        return "terminal-escape", Severity.HIGH
    # A form feed is where an old text breaks its pages; a lone carriage return, where a line ends.
    harmless = set(run.characters) <= {"\x0c", "\r"}
    return "control-character", Severity.LOW if harmless else Severity.MEDIUM


_JUDGES: Final = {
    "tags": _judge_tags,
    "selectors": _judge_selectors,
    "directing": _judge_directing,
    "marks": _judge_marks,
    "unshown": _judge_unshown,
    "controls": _judge_controls,
}

_JOINED: Final = re.compile(
    "[\u0590-\u109f\u1780-\u18af\u1900-\u1cff\ua800-\uab2f\uabc0-\uabff\ufb1d-\ufdff\ufe70-\ufefc"
    "\U00010a00-\U00010eff\U00011000-\U00011fff\U0001e900-\U0001eeff]"
)
"""Letters of scripts in which joiners change how words look: those of Arabic, India and around."""
_UNSPACED: Final = re.compile(
    "[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u1950-\u19ff\u1a20-\u1aaf\u3000-\u30ff\u3400-\u9fff"
    "\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]"
)
"""Letters of scripts that put no spaces between words."""
_JAMO: Final = re.compile("[\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff]")


def _is_needed(run: _Run) -> bool:
    """Tell whether a character that is not shown does what it is there for."""
    before, after = run.before, run.after
    match run.characters:
        case "\u200d" if _is_emoji(before) and _is_emoji(after):
            return True
        case "\u200c" | "\u200d" | "\u034f":
            return bool(_JOINED.match(before))
        case "\u200b":
            return bool(_UNSPACED.match(before) or _UNSPACED.match(after))
        case "\u00ad":
            return before.isalpha() and after.isalpha()
        case "\u180b" | "\u180c" | "\u180d" | "\u180e" | "\u180f":
            return "\u1800" <= before <= "\u18af"
        case "\u115f" | "\u1160":
            return bool(_JAMO.match(before) or _JAMO.match(after))
        case "\u2060":
            return bool(before and after and not (before.isalnum() and after.isalnum()))
        case _:
            return False


def _is_emoji(character: str) -> bool:
    # Skin tones are modifiers (Sk), U+FE0F asks for colour; all others are symbols.
    return character == "\ufe0f" or (
        bool(character) and unicodedata.category(character) in ("So", "Sk", "Sm", "Cn")
    )


def _is_balanced(text: str) -> bool:
    """Tell whether each line closes what it opens, so that nothing outside is reordered."""
    for line in text.splitlines():
        opened: list[str] = []
        for character in line:
            if character in "\u202a\u202b\u2066\u2067\u2068":
                opened.append("\u202c" if character in "\u202a\u202b" else "\u2069")
            elif character in "\u202c\u2069" and (not opened or opened.pop() != character):
                return False
        if opened:
            return False
    return True


def _tagged(characters: str) -> str:
    """Return the text that tag characters stand for."""
    return "".join(
        chr(ord(character) - 0xE0000) for character in characters if ord(character) & 0x7F >= 0x20
    ).rstrip("\x7f")


def _selected(characters: str) -> str:
    """Return the text whose bytes variation selectors stand for, or nothing."""
    numbers = [
        ord(character) - (0xFE00 if character < "\U000e0100" else 0xE00F0)
        for character in characters[:4096]
    ]
    text = bytes(numbers).decode("utf-8", "replace")
    return visible(text) if text.isprintable() and "\ufffd" not in text else ""
