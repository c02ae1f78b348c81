"""Connect to any server: call tools, get prompts, read resources, answer what it asks."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from anyshape.client.client import Client
from anyshape.client.completion import Suggestions
from anyshape.client.elicitation import ElicitAnswer, Elicitation, OnElicit
from anyshape.client.listening import OnChange
from anyshape.client.logs import LogMessage, OnLog
from anyshape.client.messages import ReceivedMessage
from anyshape.client.negotiation import ServerInfo
from anyshape.client.options import Auth, Bounds, Http, Identity, Process
from anyshape.client.progress import OnProgress, Progress
from anyshape.client.prompts import ListedPrompt, PromptArgument, PromptResult
from anyshape.client.resources import ListedResource, ListedTemplate, ReadResource
from anyshape.client.result import CallResult
from anyshape.client.roots import Roots
from anyshape.client.sampling import OnSample, Sampling, SamplingRequest
from anyshape.client.target import Target
from anyshape.client.tools import ListedTool
from anyshape.client.transports.observed import Frame, OnFrame
from anyshape.protocol.log_levels import LogLevel
from anyshape.protocol.roots import Root
from anyshape.protocol.sampling import Sampled

if TYPE_CHECKING:
    from anyshape.client.tasks import RemoteTask
    from anyshape.protocol.tasks import TaskStatus

__all__ = [
    "Auth",
    "Bounds",
    "CallResult",
    "Client",
    "ElicitAnswer",
    "Elicitation",
    "Frame",
    "Http",
    "Identity",
    "ListedPrompt",
    "ListedResource",
    "ListedTemplate",
    "ListedTool",
    "LogLevel",
    "LogMessage",
    "OnChange",
    "OnElicit",
    "OnFrame",
    "OnLog",
    "OnProgress",
    "OnSample",
    "Process",
    "Progress",
    "PromptArgument",
    "PromptResult",
    "ReadResource",
    "ReceivedMessage",
    "RemoteTask",
    "Root",
    "Roots",
    "Sampled",
    "Sampling",
    "SamplingRequest",
    "ServerInfo",
    "Suggestions",
    "Target",
    "TaskStatus",
]

_HOMES = {"RemoteTask": "anyshape.client.tasks", "TaskStatus": "anyshape.protocol.tasks"}
"""What is loaded when somebody asks for it: most clients have no need of it."""


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'anyshape.client' has no attribute {name!r}")
    value: object = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
