"""How each revision lists prompts, resources and templates: one entry, with the fields it knows."""

from __future__ import annotations

from typing import Any

from anyshape.protocol.description import (
    ArgumentDescription,
    PromptDescription,
    ResourceDescription,
)
from anyshape.protocol.icons import published_icons
from anyshape.protocol.revision import Revision

__all__ = ["prompt_entry", "resource_entry"]


def prompt_entry(prompt: PromptDescription, revision: Revision) -> dict[str, Any]:
    """Return the `prompts/list` entry of a prompt."""
    entry: dict[str, Any] = {"name": prompt.name}
    _add_words(entry, prompt, revision)
    if prompt.arguments:
        entry["arguments"] = [_argument(argument, revision) for argument in prompt.arguments]
    _add_rest(entry, prompt, revision)
    return entry


def resource_entry(resource: ResourceDescription, revision: Revision) -> dict[str, Any]:
    """Return the entry of a resource in `resources/list`, of a template in its own listing."""
    member = "uriTemplate" if resource.is_template else "uri"
    entry: dict[str, Any] = {member: resource.uri, "name": resource.name}
    _add_words(entry, resource, revision)
    if resource.mime_type is not None:
        entry["mimeType"] = resource.mime_type
    if resource.size is not None:
        entry["size"] = resource.size
    if resource.annotations is not None:
        annotations = dict(resource.annotations)
        if not revision.has_last_modified:
            annotations.pop("lastModified", None)
        entry["annotations"] = annotations
    _add_rest(entry, resource, revision)
    return entry


def _argument(argument: ArgumentDescription, revision: Revision) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": argument.name}
    _add_words(entry, argument, revision)
    entry["required"] = argument.required
    return entry


def _add_words(
    entry: dict[str, Any],
    described: ArgumentDescription | PromptDescription | ResourceDescription,
    revision: Revision,
) -> None:
    if described.title is not None and revision.has_titles:
        entry["title"] = described.title
    if described.description is not None:
        entry["description"] = described.description


def _add_rest(
    entry: dict[str, Any], described: PromptDescription | ResourceDescription, revision: Revision
) -> None:
    if described.icons is not None and revision.has_icons:
        entry["icons"] = published_icons(described.icons)
    if described.meta is not None and revision.has_item_meta:
        entry["_meta"] = dict(described.meta)
