"""For agents: the tools of any server in the words of the model's provider, and its calls back.

from anyshape import Client

async with Client("https://example.com/mcp") as client:
    tools = await client.toolbox("openai-strict")
"""

from __future__ import annotations

from anyshape.agents.budget import estimate_tokens
from anyshape.agents.calls import ToolCall
from anyshape.agents.formats import FormatName
from anyshape.agents.offering import Note, ToolboxTool
from anyshape.agents.sources import ToolSource
from anyshape.agents.toolbox import Toolbox, toolbox

__all__ = [
    "FormatName",
    "Note",
    "ToolCall",
    "ToolSource",
    "Toolbox",
    "ToolboxTool",
    "estimate_tokens",
    "toolbox",
]
