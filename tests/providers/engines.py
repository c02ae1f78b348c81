"""The grammar engines that run here: does a schema compile, does the matcher take a text.

Both get a vocabulary of single bytes, so that what is matched is the JSON text itself.
"""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, cast

llguidance: Any = importlib.import_module("llguidance")  # neither says its types
outlines_core: Any = importlib.import_module("outlines_core")

EOS = 256


class _Bytes:
    """A tokenizer whose tokens are bytes."""

    eos_token_id = EOS
    bos_token_id = None
    tokens = tuple([bytes([number]) for number in range(256)] + [b"<eos>"])
    special_token_ids = (EOS,)

    def __call__(self, text: bytes) -> list[int]:
        return list(text)


_TOKENIZER = llguidance.LLTokenizer(llguidance.TokenizerWrapper(_Bytes()))
_VOCABULARY = outlines_core.Vocabulary(EOS, {bytes([number]): [number] for number in range(256)})


class LlGuidance:
    """llguidance, which is exact or refuses."""

    def __init__(self, document: dict[str, Any]) -> None:
        grammar = llguidance.LLMatcher.grammar_from_json_schema(json.dumps(document))
        self._matcher: Any = llguidance.LLMatcher(_TOKENIZER, grammar)
        if self._matcher.is_error():
            raise ValueError(self._matcher.get_error())

    def matches(self, text: str) -> bool:
        """Tell whether the engine could generate `text`."""
        matcher = self._matcher.deep_copy()
        tokens = list(text.encode())
        return bool(matcher.try_consume_tokens(tokens) == len(tokens) and matcher.is_accepting())


class Outlines:
    """outlines-core, which makes a regular expression of the schema."""

    def __init__(self, document: dict[str, Any]) -> None:
        expression = outlines_core.json_schema.build_regex_from_schema(json.dumps(document))
        self._index: Any = outlines_core.Index(expression, _VOCABULARY)

    def matches(self, text: str) -> bool:
        """Tell whether the engine could generate `text`."""
        state: Any = self._index.get_initial_state()
        for byte in text.encode():
            state = self._index.get_next_state(state, byte)
            if state is None:
                return False
        return bool(self._index.is_final_state(state))


def spellings(value: Any, document: dict[str, Any]) -> Iterator[str]:
    """Yield the texts of `value` that engines generate: members in the order of the schema.

    Engines write numbers in one way only and differ in which; none is counted as refused that is
    merely spelt otherwise.
    """
    digits = max(map(len, _MULTIPLE.findall(json.dumps(document))), default=0)
    for required_first in (False, True):  # as llama.cpp and Claude have it
        ordered = _ordered(value, document, document, required_first)
        for separators in ((",", ":"), (", ", ": ")):
            for ascii_only in (False, True):
                text = json.dumps(ordered, separators=separators, ensure_ascii=ascii_only)
                yield text
                yield _LONG_NUMBER.sub(_with_exponent, text)
                yield _FRACTION.sub(lambda found: found[0].ljust(digits, "0"), _escaped(text))


_MULTIPLE = re.compile(r'"multipleOf": \d+(\.\d+)')
_FRACTION = re.compile(r"(?<=\d)\.\d+(?=[,}\]])")
"""llguidance writes a multiple of 0.25 with two digits: 0.50."""


def _escaped(text: str) -> str:
    """Return JSON text with the last control character of ASCII escaped, as llguidance wants it."""
    return text.replace("\x7f", "\\u007f")


_LONG_NUMBER = re.compile(r"(?<=[:\[, ])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?=[,}\]])")


def _with_exponent(found: re.Match[str]) -> str:
    """Return a number with an exponent, and no zeros or plus in it, where it is very large."""
    return f"{Decimal(found[0]).normalize()}".replace("E+", "e").replace("E", "e")


def _ordered(value: Any, node: Any, root: dict[str, Any], required_first: bool) -> Any:
    nodes = list(_alternatives(node, root))
    if isinstance(value, list):
        return [
            _ordered(item, {"anyOf": [_item(node, index) for node in nodes]}, root, required_first)
            for index, item in enumerate(cast("list[Any]", value))
        ]
    if not isinstance(value, dict):
        return int(value) if isinstance(value, float) and value.is_integer() else value
    members = cast("dict[str, Any]", value)
    best = max(nodes, key=lambda node: len(node.get("properties", {}).keys() & members.keys()))
    names = [name for name in best.get("properties", {}) if name in members]
    if required_first:
        names.sort(key=lambda name: name not in best.get("required", ()))
    names += [name for name in members if name not in names]
    return {
        name: _ordered(
            members[name],
            {"anyOf": [node.get("properties", {}).get(name, _rest(node)) for node in nodes]},
            root,
            required_first,
        )
        for name in names
    }


def _alternatives(node: Any, root: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if not isinstance(node, dict):
        return
    schema = cast("dict[str, Any]", node)
    if "$ref" in schema:
        yield from _alternatives(root["$defs"][schema["$ref"].removeprefix("#/$defs/")], root)
    for inner in schema.get("anyOf", ()):
        yield from _alternatives(inner, root)
    yield schema


def _item(node: dict[str, Any], index: int) -> Any:
    prefix = node.get("prefixItems", ())
    return prefix[index] if index < len(prefix) else node.get("items", {})


def _rest(node: dict[str, Any]) -> Any:
    return node.get("additionalProperties", {})
