"""How each revision lists things: one entry each, with the fields it knows."""

from __future__ import annotations

from typing import Any, TypeAlias

from anyshape.protocol.description import (
    ArgumentDescription,
    PromptDescription,
    ResourceDescription,
    ToolDescription,
)
from anyshape.protocol.icons import published_icons
from anyshape.protocol.revision import Revision

_Described: TypeAlias = ToolDescription | PromptDescription | ResourceDescription


def prompt_entry(prompt: PromptDescription, revision: Revision) -> dict[str, Any]:
    """Return the `prompts/list` entry of a prompt."""
    entry: dict[str, Any] = {"name": prompt.name}
    add_words(entry, prompt, revision)
    if prompt.arguments:
        entry["arguments"] = [_argument(argument, revision) for argument in prompt.arguments]
    add_rest(entry, prompt, revision)
    return entry


def resource_entry(resource: ResourceDescription, revision: Revision) -> dict[str, Any]:
    """Return the entry of a resource in `resources/list`, of a template in its own listing."""
    member = "uriTemplate" if resource.is_template else "uri"
    entry: dict[str, Any] = {member: resource.uri, "name": resource.name}
    add_words(entry, resource, revision)
    if resource.mime_type is not None:
        entry["mimeType"] = resource.mime_type
    if resource.size is not None:
        entry["size"] = resource.size
    if resource.annotations is not None:
        annotations = dict(resource.annotations)
        if not revision.has_last_modified:
            annotations.pop("lastModified", None)
        entry["annotations"] = annotations
    add_rest(entry, resource, revision)
    return entry


def _argument(argument: ArgumentDescription, revision: Revision) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": argument.name}
    add_words(entry, argument, revision)
    entry["required"] = argument.required
    return entry


def add_words(
    entry: dict[str, Any], described: _Described | ArgumentDescription, revision: Revision
) -> None:
    """Add the title and the description of what is listed."""
    if described.title is not None and revision.has_titles:
        entry["title"] = described.title
    if described.description is not None:
        entry["description"] = described.description


def add_rest(entry: dict[str, Any], described: _Described, revision: Revision) -> None:
    """Add the icons and the metadata of what is listed."""
    if described.icons is not None and revision.has_icons:
        entry["icons"] = published_icons(described.icons)
    if described.meta is not None and revision.has_item_meta:
        entry["_meta"] = dict(described.meta)
