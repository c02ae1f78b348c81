"""Tools disclosed by search: two definitions stand for all, however many there are.

`find_tools` gives the definitions of those that a few words are about, `call_tool` calls one. The
two never change with the tools behind them, so a prompt cache holds however often those change.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from anyshape.agents.budget import compact, estimate_tokens
from anyshape.agents.formats import FORMATS, Definition
from anyshape.agents.offering import ToolboxTool
from anyshape.agents.ranking import CALL, FIND, Ranking, terms_of_tool
from anyshape.providers import Lowered, Profile, lower

_MOST: Final = 5
_NAMES: Final = 50
_FIND_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "description": "What you want to do, in a few words."}
    },
    "required": ["query"],
    "additionalProperties": False,
}
_CALL_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": f"The name of a tool that {FIND} returned."},
        "arguments": {
            "type": "object",
            "description": "The arguments of that tool, as its parameters say.",
        },
    },
    "required": ["name", "arguments"],
    "additionalProperties": False,
}


class Disclosure:
    """The two tools that stand for all others, for one profile."""

    def __init__(self, labels: Iterable[str], profile: Profile) -> None:
        whose = ", ".join(sorted(filter(None, labels)))
        self.find: Lowered = lower(_FIND_SCHEMA, profile)
        self.call: Lowered = lower(_CALL_SCHEMA, profile)
        self.definitions: tuple[Definition, ...] = (
            Definition(
                CALL,
                f"Call a tool that {FIND} returned.",
                self.call.document,
                profile,
            ),
            Definition(
                FIND,
                f"Search the tools{f' of {whose}' if whose else ''} for those that do what you "
                f"need. Returns their names and parameters, to call them with {CALL}.",
                self.find.document,
                profile,
            ),
        )


class Index:
    """Tools to be found by words."""

    def __init__(self, tools: Sequence[ToolboxTool]) -> None:
        self._tools = tools
        self._ranking = Ranking(
            terms_of_tool(it.name, it.tool.title, it.tool.description, it.tool.input_schema)
            for it in tools
        )

    def find(self, query: str, tokens: int | None) -> str:
        """Return the definitions of the tools that a query is about, the best ones that fit."""
        best = [self._tools[index] for index, _ in self._ranking.search(query)[:_MOST]]
        lines: list[str] = []
        spent = 0
        for tool in best:
            line = compact(FORMATS["plain"].define(tool.definition))
            spent += estimate_tokens(line)
            if lines and tokens is not None and spent > tokens:
                break
            lines.append(line)
        return "\n".join(lines) or self._nothing(query)

    def _nothing(self, query: str) -> str:
        names = [tool.name for tool in self._tools]
        more = f" and {len(names) - _NAMES} more" if len(names) > _NAMES else ""
        known = ", ".join(names[:_NAMES]) or "none"
        return f"No tool is about {query[:200]!r}; try other words. The tools are: {known}{more}."
