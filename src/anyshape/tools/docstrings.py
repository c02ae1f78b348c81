"""What a docstring says about a tool and its parameters, in Google, NumPy or reST style."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping

import msgspec

__all__ = ["Documentation", "read_docstring"]

_GOOGLE = re.compile(
    r"^(Args|Arguments|Parameters|Params|Attributes|Keyword Args|Keyword Arguments|Other Parameters"
    r"|Raises|Returns?|Yields?|Examples?):\s*$",
    re.MULTILINE,
)
_NUMPY = re.compile(
    r"^(Parameters|Other Parameters|Returns|Yields|Raises|Examples?)\n-{3,}\s*$", re.MULTILINE
)
_REST = re.compile(
    r"^:(param|parameter|arg|argument|key|keyword|type|returns?|rtype|raises?)\b[^:\n]*:",
    re.MULTILINE,
)

_SUMMARY = "\x00"


class Documentation(msgspec.Struct, frozen=True):
    """The text that describes a tool, and one text per parameter it describes."""

    description: str | None = None
    parameters: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])


def read_docstring(text: str | None) -> Documentation:
    """Split a docstring into the tool's description and its parameters' descriptions."""
    if not text or not text.strip():
        return Documentation()
    text = inspect.cleandoc(text)
    style = _style_of(text)
    if style is None:
        return Documentation(text)

    import docstring_parser

    # The parser takes a first line for the summary, whatever it is; so there always is one.
    before = text if _starts_with_text(text) else f"{_SUMMARY}\n\n{text}"
    try:
        parsed = docstring_parser.parse(before, style=docstring_parser.DocstringStyle[style])
    except docstring_parser.ParseError:
        return Documentation(text)  # a heading with nothing under it is just text
    parameters = {
        name.strip().lstrip("*"): _flow(entry.description)
        for entry in parsed.params
        if entry.description and entry.args[:1] != ["attribute"]
        for name in entry.arg_name.split(",")
    }
    description = (parsed.description or "").removeprefix(_SUMMARY).strip()
    return Documentation(description or None, parameters)


def _starts_with_text(text: str) -> bool:
    return not any(pattern.match(text) for pattern in (_GOOGLE, _NUMPY, _REST))


def _style_of(text: str) -> str | None:
    if _NUMPY.search(text):
        return "NUMPYDOC"
    if _GOOGLE.search(text):
        return "GOOGLE"
    return "REST" if _REST.search(text) else None


def _flow(text: str) -> str:
    """Join the lines of each paragraph: their breaks are the docstring's, not the author's."""
    paragraphs = re.split(r"\n\s*\n", text.strip())
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
