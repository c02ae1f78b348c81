"""Calling tools: connect to any server, list its tools, get natural values back."""

from __future__ import annotations

from anyshape.client.client import Client, Target
from anyshape.client.negotiation import ServerInfo
from anyshape.client.options import Auth, Bounds, Http, Identity, Process
from anyshape.client.progress import OnProgress, Progress
from anyshape.client.result import CallResult
from anyshape.client.tools import ListedTool

__all__ = [
    "Auth",
    "Bounds",
    "CallResult",
    "Client",
    "Http",
    "Identity",
    "ListedTool",
    "OnProgress",
    "Process",
    "Progress",
    "ServerInfo",
    "Target",
]
