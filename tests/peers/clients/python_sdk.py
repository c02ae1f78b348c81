"""The official Python client, `mcp`; modes `auto` and `legacy`."""

from __future__ import annotations

from typing import Any

import report
from mcp import Client, StdioServerParameters


async def run(target: report.Json, plan: report.Json) -> report.Json:
    """Run the plan."""
    where: Any = target.get("url")
    if where is None:
        program, *arguments = target["command"]
        where = StdioServerParameters(command=program, args=arguments)
    async with Client(where, mode=plan["mode"], read_timeout_seconds=plan["patience"]) as client:

        async def call(tool: str, arguments: report.Json, told: Any) -> report.Json:
            return report.wire(await client.call_tool(tool, arguments, progress_callback=told))

        return {
            **report.connection(client.protocol_version, client.server_info, client.instructions),
            "tools": await report.tools(lambda cursor: client.list_tools(cursor=cursor)),
            "calls": await report.record(plan["calls"], call),
        }


if __name__ == "__main__":
    report.main(run)
