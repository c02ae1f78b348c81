"""A Python function becomes a tool; a Python value becomes a result."""

from anyshape.tools.context import Context
from anyshape.tools.outputs import UNSTRUCTURED
from anyshape.tools.tool import Tool

__all__ = ["UNSTRUCTURED", "Context", "Tool"]
