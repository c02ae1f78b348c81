"""What an author says about a tool beside its schemas: name, title, description, hints, icons.

Every entry of a listing travels with the others, so a word that no client can read is refused when
the tool is defined. What is kept is a copy.
https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, cast

import msgspec

from anyshape.errors import NotJson, ToolDefinitionError
from anyshape.protocol.description import ToolAnnotations
from anyshape.protocol.icons import Icon, icon_flaw, wire_icon
from anyshape.protocol.names import name_flaw
from anyshape.tools.serialization import encode_json

__all__ = ["Words"]

_HINTS = {name: str if name == "title" else bool for name in ToolAnnotations.__annotations__}
_SPELLINGS = {
    "".join("_" + letter.lower() if letter.isupper() else letter for letter in name): name
    for name in _HINTS
    if name != "title"
}


class Words(msgspec.Struct, frozen=True):
    """What an author says about a tool; what was not said is `None`."""

    name: str | None = None
    title: str | None = None
    description: str | None = None
    annotations: ToolAnnotations | Mapping[str, Any] | None = None
    meta: Mapping[str, Any] | None = None
    icons: Sequence[Icon | Mapping[str, Any]] | None = None

    def checked(self, label: str) -> Words:
        """Return a copy that every client can read, or raise `ToolDefinitionError`."""
        return Words(
            name=self._checked_name(label),
            title=_text(self.title, "title", label),
            description=_text(self.description, "description", label),
            annotations=_hints(self.annotations, label),
            meta=_object(self.meta, "meta", label),
            icons=_icons(self.icons, label),
        )

    def _checked_name(self, label: str) -> str:
        name = self.name
        if name is None:
            flaw = "it is missing"
        elif not isinstance(cast("object", name), str):
            flaw = f"it is no string but {_kind(name)}"
        else:
            flaw = name_flaw(name)
            if flaw is None:
                return name
        raise ToolDefinitionError(f"{label}: the tool's name cannot be used: {flaw}; pass name=")


def _text(value: object, word: str, label: str) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        _refuse(label, word, "a string", value)
    return cast("str", _copy(value, word, label))


def _object(value: object, word: str, label: str) -> dict[str, Any] | None:
    if value is None:
        return None
    if not isinstance(value, Mapping):
        _refuse(label, word, "an object", value)
    return cast("dict[str, Any]", _copy(cast("object", value), word, label))


def _hints(value: object, label: str) -> dict[str, Any] | None:
    hints = _object(value, "annotations", label)
    for name, hint in (hints or {}).items():
        spelt = _SPELLINGS.get(name)
        if spelt is not None:
            raise ToolDefinitionError(f"{label}: annotations has {name!r}; write {spelt!r}")
        kind = _HINTS.get(name)
        if kind is not None and type(hint) is not kind:
            expected = "a string" if kind is str else "true or false"
            _refuse(label, f"{name} in annotations", expected, hint)
    return hints


def _icons(value: object, label: str) -> list[dict[str, Any]] | None:
    if value is None:
        return None
    if not isinstance(value, list | tuple):
        _refuse(label, "icons", "a list", value)
    icons = [_icon(icon, label) for icon in cast("Sequence[object]", value)]
    return cast("list[dict[str, Any]]", _copy(icons, "icons", label))


def _icon(value: object, label: str) -> dict[str, Any]:
    if not isinstance(value, Icon | Mapping):
        _refuse(label, "each of icons", "an Icon, or its JSON form", value)
    icon = wire_icon(cast("Icon | Mapping[str, Any]", value))
    flaw = icon_flaw(icon)
    if flaw is not None:
        raise ToolDefinitionError(f"{label}: icons: {flaw}")
    return icon


def _copy(value: object, word: str, label: str) -> Any:
    try:
        return msgspec.json.decode(encode_json(value))
    except NotJson as error:
        raise ToolDefinitionError(f"{label}: {word} is not JSON: {error}") from error


def _refuse(label: str, word: str, expected: str, got: object) -> NoReturn:
    raise ToolDefinitionError(f"{label}: {word} has to be {expected}, got {_kind(got)}")


def _kind(value: object) -> str:
    return type(value).__name__
