"""What a docstring says about a tool and its parameters, in Google, NumPy or reST style.

What is said of a parameter moves to that parameter. All the rest describes the tool, as its author
wrote it, sections about results, errors, notes and examples included.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping

import msgspec

_GOOGLE = re.compile(
    r"(Args|Arguments|Parameters|Params|Keyword Args|Keyword Arguments|Other Parameters)\s*:\s*$"
)
_NUMPY = re.compile(r"(Parameters|Other Parameters)\s*$")
_UNDERLINE = re.compile(r"-{3,}\s*$")
_REST = re.compile(r":(param|parameter|arg|argument|key|keyword|type)\b[^:]*:")


class Documentation(msgspec.Struct, frozen=True):
    """The text that describes a tool, and one text per parameter it describes."""

    description: str | None = None
    parameters: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])


def read_docstring(text: str | None) -> Documentation:
    """Split a docstring into the tool's description and its parameters' descriptions."""
    lines = inspect.cleandoc(text or "").split("\n")
    parameters: dict[str, str] = {}
    kept: list[str] = []
    done = 0
    for start, end, style in _parameter_sections(lines):
        found = _read_parameters(lines[start:end], style)
        if found is None:
            continue  # not understood, so it stays where it is
        parameters.update(found)
        kept += lines[done:start]
        while kept and not kept[-1].strip():
            kept.pop()
        kept.append("")
        done = end
    description = "\n".join([*kept, *lines[done:]]).strip()
    return Documentation(description or None, parameters)


def _parameter_sections(lines: list[str]) -> Iterator[tuple[int, int, str]]:
    """Yield where each section about parameters begins and ends, and its style."""
    start = 0
    while start < len(lines):
        end, style = start + 1, ""
        if _NUMPY.match(lines[start]) and _is_underlined(lines, start):
            end, style = start + 2, "NUMPYDOC"
            while end < len(lines) and not _is_underlined(lines, end):
                end += 1
        elif _GOOGLE.match(lines[start]) or _REST.match(lines[start]):
            style = "GOOGLE" if _GOOGLE.match(lines[start]) else "REST"
            while end < len(lines) and (not lines[end].strip() or lines[end][0].isspace()):
                end += 1
        if style:
            yield start, end, style
        start = end


def _is_underlined(lines: list[str], index: int) -> bool:
    return (
        bool(lines[index].strip())
        and index + 1 < len(lines)
        and _UNDERLINE.match(lines[index + 1]) is not None
    )


def _read_parameters(section: list[str], style: str) -> dict[str, str] | None:
    """Return the descriptions in a section by parameter; `None` if it cannot be read."""
    import docstring_parser

    if style == "GOOGLE":
        section = ["Args:", *section[1:]]
    elif style == "NUMPYDOC":
        section = ["Parameters", *section[1:]]
    # The parser takes a first line for the summary, whatever it is.
    text = "\n".join(["Summary.", "", *section])
    try:
        parsed = docstring_parser.parse(text, style=docstring_parser.DocstringStyle[style])
    except docstring_parser.ParseError:
        return None
    if not parsed.params and style != "REST":
        return None
    return {
        name.strip().lstrip("*"): _flow(entry.description)
        for entry in parsed.params
        if entry.description
        for name in entry.arg_name.split(",")
    }


def _flow(text: str) -> str:
    """Join the lines of each paragraph, which were broken only to fit into the docstring."""
    paragraphs = re.split(r"\n\s*\n", text.strip())
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
