"""What a function brings from `mcp` or FastMCP that means nothing here, refused at definition.

See `anyshape.moved` for what to write instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, get_args, get_origin

from anyshape.errors import ToolDefinitionError
from anyshape.moved import (
    CONTEXT_NAMES,
    INJECTED,
    INJECTORS,
    PACKAGES,
    TOOL_SETTINGS,
    TYPES,
)
from anyshape.protocol.result import ToolResult
from anyshape.tools.bytecode import attributes_of


def refuse_types(annotation: Any, label: str, where: str) -> None:
    """Raise if another library's content, result or context stands in an annotation."""
    pending: list[Any] = [annotation]
    while pending:
        part = pending.pop()
        arguments = get_args(part)
        pending.extend(arguments)
        if get_origin(part) is Annotated and arguments[0] is ToolResult:
            described = getattr(arguments[1], "__name__", "…")
            raise ToolDefinitionError(
                f"{label}: {where} is Annotated[ToolResult, …]; write ToolResult[{described}]"
            )
        module, name = getattr(part, "__module__", None), getattr(part, "__name__", None)
        if not isinstance(module, str) or name not in TYPES:
            continue
        if module.partition(".")[0] in PACKAGES:
            raise ToolDefinitionError(f"{label}: {where} is {module}.{name}; {TYPES[name]}")


def refuse_injection(annotation: Any, default: Any, label: str, name: str) -> None:
    """Raise if another library would have filled a parameter that here is the caller's."""
    notes = get_args(annotation)[1:] if get_origin(annotation) is Annotated else ()
    for found in (default, *notes):
        ancestors = {
            (str(kind.__module__).partition(".")[0], kind.__name__) for kind in type(found).__mro__
        }
        if ancestors & INJECTORS:
            filler = type(found).__name__.removeprefix("_")
            raise ToolDefinitionError(
                f"{label}: {filler} would fill parameter '{name}', {INJECTED}"
            )


def refuse_uses(function: Any, context: tuple[str, ...], label: str) -> None:
    """Raise if a function asks its context for what another library's context has."""
    for parameter in context:
        for name in attributes_of(function, parameter, CONTEXT_NAMES):
            raise ToolDefinitionError(
                f"{label}: Context has no '{name}', as in {parameter}.{name}; {CONTEXT_NAMES[name]}"
            )


def refuse_settings(settings: Mapping[str, Any], label: str, what: str = "tool") -> None:
    """Raise if a tool, or `what` it is, is given what only another library's are given."""
    for name in settings:
        if name in TOOL_SETTINGS:
            raise ToolDefinitionError(f"{label}: a {what} takes no {name}=; {TOOL_SETTINGS[name]}")
