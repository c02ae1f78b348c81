"""What an author says about a tool, a prompt or a resource: name, title, description, hints, icons.

Every entry of a listing travels with the others, so a word that no client can read is refused when
it is defined. What is kept is a copy.
https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, cast

import msgspec
from msgspec.structs import replace

from anyshape.errors import NotJson, ToolDefinitionError
from anyshape.protocol.description import ToolAnnotations
from anyshape.protocol.icons import Icon, icon_flaw, wire_icon
from anyshape.protocol.names import display_name_flaw, name_flaw
from anyshape.tools.serialization import encode_json

_HINTS = {name: str if name == "title" else bool for name in ToolAnnotations.__annotations__}
_SPELLINGS = {name.casefold(): name for name in _HINTS}


class Words(msgspec.Struct, frozen=True):
    """What an author says about a tool; what was not said is `None`."""

    name: str | None = None
    title: str | None = None
    description: str | None = None
    annotations: ToolAnnotations | Mapping[str, Any] | None = None
    meta: Mapping[str, Any] | None = None
    icons: Sequence[Icon | Mapping[str, Any]] | None = None

    def or_else(self, name: str, description: str | None) -> Words:
        """Return these words, with this name and description where the author gave none."""
        return replace(
            self,
            name=name if self.name is None else self.name,
            description=description if self.description is None else self.description,
        )

    def checked(self, label: str, what: str = "tool") -> Words:
        """Return a copy that every client can read, or raise `ToolDefinitionError`.

        `what` it is decides what a name may be, and which annotations it has.
        """
        check_hints = _tool_hints if what == "tool" else _content_hints
        return Words(
            name=self._checked_name(label, what),
            title=_text(self.title, "title", label),
            description=_text(self.description, "description", label),
            annotations=check_hints(_object(self.annotations, "annotations", label), label),
            meta=_object(self.meta, "meta", label),
            icons=_icons(self.icons, label),
        )

    def _checked_name(self, label: str, what: str) -> str:
        name = self.name
        if name is None:
            flaw = "it is missing"
        elif not isinstance(cast("object", name), str):
            flaw = f"it is no string but {_kind(name)}"
        else:
            flaw = name_flaw(name) if what == "tool" else display_name_flaw(name)
            if flaw is None:
                return name
        raise ToolDefinitionError(f"{label}: the {what}'s name cannot be used: {flaw}; pass name=")


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


def _tool_hints(hints: dict[str, Any] | None, label: str) -> dict[str, Any] | None:
    for name, hint in (hints or {}).items():
        spelt = _SPELLINGS.get(name.replace("_", "").casefold(), name)
        if spelt != name:
            raise ToolDefinitionError(f"{label}: annotations has {name!r}; write {spelt!r}")
        kind = _HINTS.get(name)
        if kind is not None and type(hint) is not kind:
            expected = "a string" if kind is str else "true or false"
            _refuse(label, f"{name} in annotations", expected, hint)
    return hints


def _content_hints(hints: dict[str, Any] | None, label: str) -> dict[str, Any] | None:
    """Return the annotations that a resource or a content block may have."""
    if hints is None:
        return None
    if "last_modified" in hints:
        raise ToolDefinitionError(f"{label}: annotations has 'last_modified'; write 'lastModified'")
    audience: object = hints.get("audience", [])
    readers = cast("list[object]", audience) if isinstance(audience, list) else None
    if readers is None or any(reader not in ("user", "assistant") for reader in readers):
        raise ToolDefinitionError(
            f"{label}: audience in annotations has to be a list of 'user' and 'assistant'"
        )
    priority = hints.get("priority", 0)
    if type(priority) not in (int, float) or not 0 <= priority <= 1:
        raise ToolDefinitionError(
            f"{label}: priority in annotations has to be a number from 0 to 1, got {priority!r:.40}"
        )
    if not isinstance(hints.get("lastModified", ""), str):
        _refuse(label, "lastModified in annotations", "a string", hints["lastModified"])
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
