"""MCP as data: revisions, JSON-RPC frames, content, headers, and the shape of every message.

Nothing here knows of Python functions, transports or validation. Questions about the revision of
a peer are asked in this package only.
"""
