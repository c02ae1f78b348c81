"""Whether a hand-written input schema and the parameters of a function go together.

Two questions about a name are asked of a document: might some arguments that it accepts contain
the name, and must all of them contain it. Both are answered by what can be proved from the
keywords that apply to the arguments object itself, through compositions, conditions and local
references; what cannot be proved is left to each call.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from anyshape.documents.outline import Outline
from anyshape.errors import ToolDefinitionError

_COMPOSED = ("allOf", "anyOf", "oneOf")
_CONDITIONS = ("if", "then", "else")
_TEXT = "[A-Za-z0-9_ -]*"
_UNNAMED = "\x00 a name that no schema mentions"


def check_names(
    document: dict[str, Any],
    label: str,
    *,
    takes: Mapping[str, bool],
    takes_any: bool = False,
) -> None:
    """Refuse a document and parameters that cannot go together.

    `takes` maps each name the function takes to whether it is required; `takes_any` says that it
    takes every other name too.
    """
    names = _Names(document)
    known = ", ".join(takes) or "nothing"
    if not takes_any:
        for name in names.mentioned():
            if name not in takes and names.may_admit(name):
                raise ToolDefinitionError(
                    f"{label}: input_schema admits '{name}', which the function cannot take (it "
                    f"takes {known}); add the parameter, or take one dict under a name that "
                    "no argument has"
                )
    for name, required in takes.items():
        if not names.may_admit(name):
            raise ToolDefinitionError(
                f"{label}: parameter '{name}' can never be given, because input_schema does not "
                f"admit it; add it to properties, or remove the parameter"
            )
        if required and not names.requires(name):
            raise ToolDefinitionError(
                f"{label}: parameter '{name}' has no default, but input_schema accepts arguments "
                f"without it; give it a default, or add it to required"
            )
    inviting = None if takes_any else names.invites_others()
    if inviting is not None:
        raise ToolDefinitionError(
            f"{label}: input_schema admits names of any kind through {inviting}, and the "
            f"function takes only {known}; take one dict, or '**' for the others"
        )


def mentions(document: dict[str, Any], name: str) -> bool:
    """Tell whether a document speaks of `name` as one of the arguments."""
    return name in _Names(document).mentioned()


class _Names:
    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document
        self._references = Outline(document)
        self._places = {id(spot.schema): place for place, spot in self._references.schemas.items()}
        self._in_place = list(self._collect())

    def mentioned(self) -> list[str]:
        """Return the names that properties or requirements speak of, in document order."""
        found: dict[str, None] = {}
        for schema in self._in_place:
            for name, value in _mapping(schema.get("properties")).items():
                if value is not False:
                    found[name] = None
            for pattern, value in _mapping(schema.get("patternProperties")).items():
                name = _only_match(pattern)
                if value is not False and name is not None:
                    found[name] = None
            for name in _strings(schema.get("required")):
                found[name] = None
            for names in _mapping(schema.get("dependentRequired")).values():
                found.update(dict.fromkeys(_strings(names)))
        return list(found)

    def invites_others(self) -> str | None:
        """Return the keyword that admits names which are not spelled out, if there is one."""
        for schema in self._in_place:
            for keyword in ("additionalProperties", "unevaluatedProperties"):
                described = schema.get(keyword)
                if isinstance(described, dict) and described and self.may_admit(_UNNAMED):
                    return keyword
            for pattern in _mapping(schema.get("patternProperties")):
                witness = _witness(pattern)
                if witness is not None and self.may_admit(witness):
                    return "patternProperties"
        return None

    def may_admit(self, name: str) -> bool:
        """Tell whether arguments with `name` could be accepted; false only if that is proved."""
        return self._may(self._document, name, frozenset(), given=True)

    def requires(self, name: str) -> bool:
        """Tell whether accepted arguments always have `name`; true only if that is proved."""
        return not self._may(self._document, name, frozenset(), given=False)

    def _may(self, schema: Any, name: str, seen: frozenset[int], *, given: bool) -> bool:
        """Tell whether a schema could accept arguments with `name`, or without if not `given`."""
        if isinstance(schema, bool):
            return schema
        if not isinstance(schema, Mapping) or id(cast("Any", schema)) in seen:
            return True
        keywords = cast("Mapping[str, Any]", schema)
        seen |= {id(keywords)}

        def may(part: Any) -> bool:
            return self._may(part, name, seen, given=given)

        target = self._target(keywords)
        if target is not None and not may(target):
            return False
        if self._is_replaced(keywords):
            return True
        if given and not self._may_stand(name, keywords):
            return False
        if not given and name in _strings(keywords.get("required")):
            return False
        if not all(
            map(may, [*_list(keywords.get("allOf")), *_dependent(keywords, name, given=given)])
        ):
            return False
        for keyword in ("anyOf", "oneOf"):
            parts = _list(keywords.get(keyword))
            if parts and not any(map(may, parts)):
                return False
        if "if" not in keywords:
            return True
        matched = may(keywords["if"]) and may(keywords.get("then", True))
        return matched or may(keywords.get("else", True))

    def _may_stand(self, name: str, schema: Mapping[str, Any]) -> bool:
        """Tell whether the keywords of `schema` that speak of properties could accept `name`."""
        properties = _mapping(schema.get("properties"))
        patterns = _mapping(schema.get("patternProperties"))
        matching = [value for pattern, value in patterns.items() if _may_match(pattern, name)]
        if properties.get(name) is False or schema.get("maxProperties") == 0:
            return False
        certain = [value for pattern, value in patterns.items() if _must_match(pattern, name)]
        if any(value is False for value in certain):
            return False
        if name not in properties and not matching:
            if schema.get("additionalProperties") is False:
                return False
            if schema.get("unevaluatedProperties") is False and not self._evaluates(name):
                return False
        forbidden = schema.get("not")
        if isinstance(forbidden, Mapping):
            words = cast("Mapping[str, Any]", forbidden)
            if _strings(words.get("required")) == [name] and words.keys() <= {"required", "type"}:
                return False
        allowed = _mapping(schema.get("propertyNames"))
        if "const" in allowed and allowed["const"] != name:
            return False
        return not ("enum" in allowed and name not in allowed["enum"])

    def _evaluates(self, name: str) -> bool:
        """Tell whether any keyword in place might evaluate `name`."""
        return any(
            name in _mapping(schema.get("properties"))
            or schema.get("additionalProperties", False) is not False
            or any(_may_match(p, name) for p in _mapping(schema.get("patternProperties")))
            for schema in self._in_place
        )

    def _collect(self) -> Iterator[Mapping[str, Any]]:
        """Yield every schema that may apply to the arguments object itself."""
        seen: set[int] = set()
        pending: list[Any] = [self._document]
        while pending:
            schema = pending.pop(0)
            if not isinstance(schema, Mapping) or id(cast("Any", schema)) in seen:
                continue
            keywords = cast("Mapping[str, Any]", schema)
            seen.add(id(keywords))
            pending.append(self._target(keywords))
            if self._is_replaced(keywords):
                continue
            yield keywords
            for keyword in _COMPOSED:
                pending.extend(_list(keywords.get(keyword)))
            pending.extend(keywords.get(keyword) for keyword in _CONDITIONS)
            pending.extend(_mapping(keywords.get("dependentSchemas")).values())
            pending.extend(_mapping(keywords.get("dependencies")).values())

    def _is_replaced(self, schema: Mapping[str, Any]) -> bool:
        """Tell whether `$ref` hides the keywords beside it, as it does up to draft-07."""
        hides = self._references.dialect.reference_hides_siblings
        return hides and isinstance(schema.get("$ref"), str)

    def _target(self, schema: Mapping[str, Any]) -> Any:
        """Return what a `$ref` points at, or `None` where it leaves the document."""
        reference = schema.get("$ref")
        if not isinstance(reference, str):
            return None
        place = self._references.resolve(self._places.get(id(schema), ()), reference)
        return None if place is None else self._references.at(place)


def _dependent(schema: Mapping[str, Any], name: str, *, given: bool) -> list[Any]:
    """Return what applies because `name` is given."""
    words = ("dependentSchemas", "dependencies") if given else ()
    found = [_mapping(schema.get(word)).get(name) for word in words]
    return [part for part in found if part is not None]


def _may_match(pattern: str, name: str) -> bool:
    """Tell whether a pattern could match; one that is not plain text is taken to, and never run."""
    plain = _plain(pattern)
    return plain is None or plain.search(name) is not None


def _must_match(pattern: str, name: str) -> bool:
    plain = _plain(pattern)
    return plain is not None and plain.search(name) is not None


def _plain(pattern: str) -> re.Pattern[str] | None:
    """Return a pattern of plain text and anchors, which is safe to run; `None` for any other."""
    if re.fullmatch(rf"\^?({_TEXT}|\.[*+])\$?", pattern) is None:
        return None
    # Python's $ matches before a line break, too.
    return re.compile(pattern[:-1] + r"\Z" if pattern.endswith("$") else pattern, re.DOTALL)


def _only_match(pattern: str) -> str | None:
    """Return the name that a pattern such as `^name$` is about, else `None`."""
    match = re.fullmatch(rf"\^({_TEXT})\$", pattern)
    return None if match is None else match[1]


def _witness(pattern: str) -> str | None:
    """Return a name that a pattern is sure to match and that no schema mentions, else `None`."""
    body = pattern.removeprefix("^").removesuffix("$")
    names = (body + _UNNAMED, _UNNAMED + body, _UNNAMED)
    return next((name for name in names if _must_match(pattern, name)), None)


def _mapping(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def _strings(value: Any) -> list[str]:
    return [item for item in _list(value) if isinstance(item, str)]
