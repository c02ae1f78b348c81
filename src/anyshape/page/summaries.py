"""What the page shows of each thing that a server lists, as data."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from anyshape.client import Client, ListedTool
from anyshape.client.review import count_tokens
from anyshape.errors import AnyshapeError, Problem
from anyshape.protocol.encoding import encode_data
from anyshape.protocol.shapes.envelope import ENVELOPE_PLACE
from anyshape.protocol.shapes.result_reader import is_envelope
from anyshape.schema import aside
from anyshape.schema.notation import signature

ListedT = TypeVar("ListedT")


async def summarize_listing(client: Client) -> dict[str, Any]:
    """Return the server, and everything that it lists or lists in vain."""
    server = client.server
    tools = await client.list_tools()
    capabilities = server.capabilities
    found: dict[str, Any] = {
        "server": {
            "name": server.name,
            "title": server.title,
            "version": server.version,
            "instructions": server.instructions,
        },
        "revision": str(client.revision),
        "capabilities": capabilities,
        "tools": await aside(_summarize_tools, client, tools),
        "rejected": _reasons(client.rejected),
        "prompts": [],
        "resources": [],
        "templates": [],
        "gaps": [],
    }
    if "prompts" in capabilities:
        prompts = await _listed(client.list_prompts, found["gaps"])
        found["prompts"] = [prompt.entry for prompt in prompts]
        found["rejected"] |= _reasons(client.rejected_prompts)
    if "resources" in capabilities:
        resources = await _listed(client.list_resources, found["gaps"])
        templates = await _listed(client.list_resource_templates, found["gaps"])
        found["resources"] = [resource.entry for resource in resources]
        found["templates"] = [template.entry for template in templates]
        found["rejected"] |= _reasons(client.rejected_resources)
    return found


async def _listed(
    list_them: Callable[[], Awaitable[list[ListedT]]], gaps: list[str]
) -> list[ListedT]:
    """Return what a server lists; if it fails to, the rest is shown all the same."""
    try:
        return await list_them()
    except AnyshapeError as error:
        gaps.append(str(error))
        return []


def _reasons(rejected: Any) -> dict[str, str]:
    return {name: str(error) for name, error in rejected.items()}


def _summarize_tools(client: Client, tools: Sequence[ListedTool]) -> list[dict[str, Any]]:
    return [_summarize_tool(client, tool) for tool in tools]


def _summarize_tool(client: Client, tool: ListedTool) -> dict[str, Any]:
    wrapped = is_envelope(tool.output_schema, client.revision)
    place = ENVELOPE_PLACE if wrapped else "#"
    costs = [tool.input.cost, *([] if tool.output is None else [tool.output.cost])]
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "type": signature(tool.input_schema, tool.output_schema, output_place=place),
        "annotations": tool.annotations,
        "cost": "confined" if any(cost.confined for cost in costs) else "cheap",
        "bytes": len(encode_data(tool.entry)),
        "tokens": count_tokens([tool.entry]),
    }


def summarize_problem(problem: Problem) -> dict[str, Any]:
    """Return a problem with the causes below it."""
    return {
        "path": problem.path,
        "keyword": problem.keyword,
        "message": problem.message,
        "schemaPath": problem.schema_path,
        "causes": [summarize_problem(cause) for cause in problem.causes],
    }
