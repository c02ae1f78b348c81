"""Many tools disclosed by search: two are listed, one that finds and one that calls what it found.

The two never change with the tools behind them. The schema of the tool that is called, and the
scopes that it needs, are enforced as if it had been listed.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any, Final

import msgspec

from anyshape.agents.ranking import CALL, FIND, Ranking, terms_of_tool
from anyshape.gateway.tools import ForwardedTool
from anyshape.protocol.description import ToolDescription
from anyshape.protocol.headers import header_plan
from anyshape.protocol.result import EncodedResult
from anyshape.schema import Limits
from anyshape.server.authorization import AccessToken, Authorization
from anyshape.tools import failures
from anyshape.tools.context import Context
from anyshape.tools.tool import Tool

_MOST: Final = 20
_FEW: Final = 5

_FIND_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "description": "What you want to do, in a few words."},
        "limit": {"type": "integer", "minimum": 1, "maximum": _MOST, "default": _FEW},
    },
    "required": ["query"],
    "additionalProperties": False,
}
_CALL_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": f"The name of a tool that {FIND} returned."},
        "arguments": {"type": "object", "description": "Its arguments, as its inputSchema says."},
    },
    "required": ["name"],
    "additionalProperties": False,
}
_FOUND_SCHEMA: Final[dict[str, Any]] = {"type": "array", "items": {"type": "object"}}


class _CallParts(msgspec.Struct, frozen=True):
    name: str
    arguments: msgspec.Raw = msgspec.Raw(b"{}")


_decode_parts: Final = msgspec.json.Decoder(_CallParts).decode


class DisclosedTools:
    """The tools behind the two that are listed."""

    def __init__(self, limits: Limits) -> None:
        self.authorization: Authorization | None = None
        """What callers over HTTP need for which tool."""
        self._tools: dict[str, ForwardedTool] = {}
        self._ranking: Ranking | None = None
        self.find: Tool = Tool(
            name=FIND,
            handler=self._find,
            input_schema=_FIND_SCHEMA,
            output_schema=_FOUND_SCHEMA,
            description="Search the tools for those that do what you need. Returns their names, "
            f"descriptions and schemas, the best first, to call them with {CALL}.",
            annotations={"readOnlyHint": True},
            inline=True,
            limits=limits,
        )
        self.call: Tool = _CallFound(self, limits)

    def replace(self, tools: Mapping[str, ForwardedTool]) -> None:
        """Have these tools instead of those that there were."""
        self._tools = dict(tools)
        self._ranking = None

    def get(self, name: str) -> ForwardedTool | None:
        """Return the tool of a name."""
        return self._tools.get(name)

    def lacking(self, name: str, context: Context | None) -> tuple[str, ...]:
        """Return the scopes that a tool needs, if the caller has not all of them."""
        access: AccessToken | None = None if context is None else context.access
        if access is None or self.authorization is None:
            return ()
        needed = self.authorization.tool_scopes.get(name, ())
        return () if access.scopes.issuperset(needed) else needed

    def _find(self, arguments: dict[str, Any], context: Context) -> list[dict[str, Any]]:
        if self._ranking is None:
            self._ranking = Ranking(
                terms_of_tool(
                    tool.name,
                    tool.listing.title,
                    tool.listing.description,
                    tool.listing.input_schema,
                )
                for tool in self._tools.values()
            )
        tools = list(self._tools.values())
        found = (tools[index] for index, _ in self._ranking.search(arguments["query"]))
        if self.authorization is not None and not self.authorization.list_everything:
            found = (tool for tool in found if not self.lacking(tool.name, context))
        return [_described(tool.listing) for tool in islice(found, arguments.get("limit", _FEW))]


def _described(listing: ToolDescription) -> dict[str, Any]:
    described: dict[str, Any] = {"name": listing.name, "inputSchema": listing.input_schema}
    if listing.title is not None:
        described["title"] = listing.title
    if listing.description is not None:
        described["description"] = listing.description
    if isinstance(listing.output_schema, dict):
        described["outputSchema"] = listing.output_schema
    return described


class _CallFound(Tool):
    """Calls a tool by its name; what that returns is what this returns, whatever it is."""

    _disclosed: DisclosedTools

    def __init__(self, disclosed: DisclosedTools, limits: Limits) -> None:
        super().__init__(
            name=CALL,
            handler=_never,
            input_schema=_CALL_SCHEMA,
            description=f"Call a tool that {FIND} returned.",
            limits=limits,
        )
        self._set(_disclosed=disclosed, _context=("context",), headers=header_plan(None))

    async def call(
        self, arguments: bytes | None = None, context: Context | None = None
    ) -> EncodedResult:
        """Call the tool that the arguments name, with the arguments that they hold."""
        try:
            parts = _decode_parts(arguments or b"{}")
        except msgspec.DecodeError as error:
            return failures.failed(f"expected name and arguments of a tool: {error}")
        tool = self._disclosed.get(parts.name)
        if tool is None:
            return failures.failed(
                f"there is no tool {parts.name[:128]!r}; {FIND} tells which there are"
            )
        if lacking := self._disclosed.lacking(parts.name, context):
            return failures.failed(f"{parts.name} needs the scopes {' '.join(lacking)}")
        given = bytes(parts.arguments)
        if not given.startswith(b"{"):
            return failures.failed("arguments: expected an object")
        return await tool.call(given, context)


def _never(arguments: dict[str, Any]) -> None:
    raise AssertionError(f"{CALL} is answered without it: {arguments}")
