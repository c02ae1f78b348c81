"""Strings, numbers, booleans and listed values, as a profile lets them be written."""

from __future__ import annotations

from typing import Any, Final

from anyshape.documents.json import identity
from anyshape.providers._cases import Case
from anyshape.providers._codecs import AsIs, AsListed
from anyshape.providers._forms import LoweredForm
from anyshape.providers._losses import Losses, Said, compact
from anyshape.providers._patterns import FORMAT_PATTERNS, written_pattern
from anyshape.providers._values import whole
from anyshape.providers.profile import PatternSupport, Profile

_INCLUSIVE: Final = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}
_COMMON_FORMATS: Final = frozenset(
    (
        *("date-time", "date", "time", "duration", "email", "idn-email", "hostname"),
        *("idn-hostname", "ipv4", "ipv6", "uri", "uri-reference", "iri", "iri-reference", "uuid"),
        *("uri-template", "json-pointer", "relative-json-pointer", "regex"),
    )
)
"""The formats that are enforced; any other is a hint."""


class Notebook:
    """Takes down what a form does not say: as losses of the schema and as notes of the form."""

    def __init__(self, losses: Losses) -> None:
        self._losses = losses
        self.notes: list[str] = []

    def lose(self, *lost: Said) -> None:
        """Take down lost assertions."""
        for said in lost:
            self._losses.assertion(said)
            self.notes.append(said.words)

    def remark(self, words: str) -> None:
        """Take down what the model should know and nothing enforces."""
        self.notes.append(words)


def scalar(case: Case, profile: Profile, losses: Losses) -> LoweredForm:
    """Return the form of a case of a scalar type."""
    if case.values is not None:
        return enumeration(case, profile, losses)
    notebook = Notebook(losses)
    node: dict[str, Any] = {"type": case.kind}
    if case.kind == "string":
        _text(case, node, profile, notebook)
    elif case.kind in ("integer", "number"):
        _number(case, node, profile, notebook)
    for hint in case.hints:
        notebook.remark(hint)
    notebook.lose(*case.more)
    schema = node if node.keys() - {"type"} else None
    codec = AsIs(frozenset((case.kind,)), schema)
    return LoweredForm(node, codec, notebook.notes, null=case.kind == "null")


def enumeration(case: Case, profile: Profile, losses: Losses) -> LoweredForm:
    """Return the form of listed values, all of one type."""
    assert case.values is not None
    notebook = Notebook(losses)
    values = list(case.values)
    node: dict[str, Any] = {"type": case.kind}
    listed = frozenset(identity(value) for value in values)
    codec: AsIs | AsListed = AsIs(frozenset((case.kind,)), None, listed)
    if case.kind == "null" or (case.kind == "boolean" and len(values) == 2):
        codec = AsIs(frozenset((case.kind,)))
    elif case.kind in profile.enum_kinds and (profile.empty_enum_strings or "" not in values):
        node["enum"] = values
    elif case.kind in ("array", "object"):
        texts = {compact(value): identity(value) for value in values}
        node = {"type": "string", "enum": list(texts)}
        codec = AsListed(tuple((known, text, text) for text, known in texts.items()))
        notebook.remark(f"JSON text: {case.kind}")
        if "string" not in profile.enum_kinds:
            del node["enum"]
    else:
        codec = AsIs(frozenset((case.kind,)))
        notebook.lose(Said("enum", values, case.place))
    notebook.lose(*case.said.values(), *case.more)
    if case.shaped:
        losses.add(case.place, "enum", "values that what stands beside them may rule out")
    return LoweredForm(node, codec, notebook.notes, null=case.kind == "null")


def _text(case: Case, node: dict[str, Any], profile: Profile, notebook: Notebook) -> None:
    said = dict(case.said)
    if "pattern" in said:
        entry = said.pop("pattern")
        text = written_pattern(entry.value, profile.patterns)
        if text is None or "pattern" not in profile.keywords:
            notebook.lose(entry)
        else:
            node["pattern"] = text
    if "format" in said:
        _format(said.pop("format"), node, profile, notebook)
    alone = profile.lengths_beside_pattern or not node.keys() & {"pattern", "format"}
    for keyword, entry in said.items():
        if (
            keyword in profile.keywords
            and alone
            and (profile.largest_count is None or entry.value <= profile.largest_count)
        ):
            node[keyword] = entry.value
        else:
            notebook.lose(entry)


def _format(entry: Said, node: dict[str, Any], profile: Profile, notebook: Notebook) -> None:
    known = "format" in profile.keywords and (
        profile.formats is None or entry.value in profile.formats
    )
    if known and (profile.lengths_beside_pattern or "pattern" not in node):
        node["format"] = entry.value
    elif entry.value in _COMMON_FORMATS:
        literal = "pattern" in profile.keywords and profile.patterns is PatternSupport.LITERAL
        if literal and "pattern" not in node and entry.value in FORMAT_PATTERNS:
            node["pattern"] = FORMAT_PATTERNS[entry.value]
        notebook.lose(entry)
    else:
        notebook.remark(entry.words)


def _number(case: Case, node: dict[str, Any], profile: Profile, notebook: Notebook) -> None:
    for keyword, entry in case.said.items():
        if keyword == "multipleOf":
            if keyword in profile.keywords:
                node[keyword] = entry.value
            else:
                notebook.lose(entry)
        else:
            _bound(case.kind, entry, node, profile, notebook)


def _bound(
    kind: str, entry: Said, node: dict[str, Any], profile: Profile, notebook: Notebook
) -> None:
    """Write a bound: of integers inclusive and whole, of numbers as near as the profile has it."""
    keyword, value = entry.keyword, entry.value
    exact = True
    if kind == "integer":
        keyword, value = whole(keyword, value)
    elif keyword in _INCLUSIVE and keyword not in profile.keywords:
        keyword, exact = _INCLUSIVE[keyword], False
    too_large = profile.largest_bound is not None and abs(value) > profile.largest_bound
    if keyword not in profile.keywords or too_large:
        notebook.lose(entry)
        return
    node[keyword] = value
    if not exact:
        notebook.lose(entry)
