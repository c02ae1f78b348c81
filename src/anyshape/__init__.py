"""MCP tools that take and return any JSON shape, to every client, safely and fast.

    from anyshape import Server

    server = Server("weather")

    @server.tool
    def temperatures(city: str) -> list[float]:
        return [12.5, 14.0, 13.2]

    server.run()

Names load when they are first used, so importing this package is light.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from anyshape._version import __version__

if TYPE_CHECKING:
    from anyshape.client import CallResult, Client
    from anyshape.errors import (
        AnyshapeError,
        AskError,
        InvalidSchema,
        LimitExceeded,
        NotJson,
        OutputMismatch,
        Problem,
        ProtocolError,
        ResourceNotFound,
        SchemaError,
        ToolDefinitionError,
        ToolError,
        TransportError,
        UnresolvableReference,
        UnsupportedDialect,
        ValidationError,
    )
    from anyshape.protocol.content import Audio, EmbeddedResource, Image, ResourceLink, Text
    from anyshape.protocol.description import ToolAnnotations
    from anyshape.protocol.icons import Icon
    from anyshape.protocol.messages import Message
    from anyshape.protocol.resource_contents import Contents
    from anyshape.protocol.result import ABSENT, ToolResult
    from anyshape.schema import Limits
    from anyshape.server import Server
    from anyshape.tools import UNSTRUCTURED, Context, Tool
    from anyshape.tools.asked_parameters import Ask
    from anyshape.tools.completion import Complete
    from anyshape.tools.outcomes import Accepted, Cancelled, Declined, Elicited

__all__ = [
    "ABSENT",
    "UNSTRUCTURED",
    "Accepted",
    "AnyshapeError",
    "Ask",
    "AskError",
    "Audio",
    "CallResult",
    "Cancelled",
    "Client",
    "Complete",
    "Contents",
    "Context",
    "Declined",
    "Elicited",
    "EmbeddedResource",
    "Icon",
    "Image",
    "InvalidSchema",
    "LimitExceeded",
    "Limits",
    "Message",
    "NotJson",
    "OutputMismatch",
    "Problem",
    "ProtocolError",
    "ResourceLink",
    "ResourceNotFound",
    "SchemaError",
    "Server",
    "Text",
    "Tool",
    "ToolAnnotations",
    "ToolDefinitionError",
    "ToolError",
    "ToolResult",
    "TransportError",
    "UnresolvableReference",
    "UnsupportedDialect",
    "ValidationError",
    "__version__",
]

_HOMES = {
    "ABSENT": "anyshape.protocol.result",
    "Accepted": "anyshape.tools.outcomes",
    "Ask": "anyshape.tools.asked_parameters",
    "Audio": "anyshape.protocol.content",
    "CallResult": "anyshape.client",
    "Cancelled": "anyshape.tools.outcomes",
    "Client": "anyshape.client",
    "Complete": "anyshape.tools.completion",
    "Contents": "anyshape.protocol.resource_contents",
    "Context": "anyshape.tools",
    "Declined": "anyshape.tools.outcomes",
    "Elicited": "anyshape.tools.outcomes",
    "EmbeddedResource": "anyshape.protocol.content",
    "Icon": "anyshape.protocol.icons",
    "Image": "anyshape.protocol.content",
    "Limits": "anyshape.schema",
    "Message": "anyshape.protocol.messages",
    "ResourceLink": "anyshape.protocol.content",
    "Server": "anyshape.server",
    "Text": "anyshape.protocol.content",
    "Tool": "anyshape.tools",
    "ToolAnnotations": "anyshape.protocol.description",
    "ToolResult": "anyshape.protocol.result",
    "UNSTRUCTURED": "anyshape.tools",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        from anyshape.moved import FRONT_DOOR_NAMES

        if name in FRONT_DOOR_NAMES:
            # An AttributeError would lose its words on the way through `from anyshape import`.
            raise ImportError(f"anyshape has no {name!r}; {FRONT_DOOR_NAMES[name]}")
        raise AttributeError(f"module 'anyshape' has no attribute {name!r}")
    value: object = getattr(importlib.import_module(_HOMES.get(name, "anyshape.errors")), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
