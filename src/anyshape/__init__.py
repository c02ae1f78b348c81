"""MCP tools that take and return any JSON shape, to every client, safely and fast."""

from anyshape._version import __version__

__all__ = ["__version__"]
