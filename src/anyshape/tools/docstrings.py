"""What a docstring says about a tool and its parameters, in Google, NumPy or reST style."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

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


@dataclass(frozen=True, slots=True)
class Documentation:
    """The text that describes a tool, and one text per parameter it describes."""

    description: str | None = None
    parameters: Mapping[str, str] = field(default_factory=dict[str, str])


def read_docstring(text: str | None) -> Documentation:
    """Split a docstring into the tool's description and its parameters' descriptions."""
    if not text or not text.strip():
        return Documentation()
    text = inspect.cleandoc(text)
    style = _style_of(text)
    if style is None:
        return Documentation(text)

    import docstring_parser

    parsed = docstring_parser.parse(text, style=docstring_parser.DocstringStyle[style])
    parameters = {
        name.strip().lstrip("*"): _flow(entry.description)
        for entry in parsed.params
        if entry.description and entry.args[:1] != ["attribute"]
        for name in entry.arg_name.split(",")
    }
    return Documentation(parsed.description or None, parameters)


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
