"""The FastMCP client; modes `auto` and `legacy`.

Beside what every client shows, it makes Python objects of structured content: `data`.
"""

from __future__ import annotations

from typing import Any

import report
from fastmcp import Client
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from mcp_types import LoggingMessageNotificationParams
from pydantic_core import to_jsonable_python


async def run(target: report.Json, plan: report.Json) -> report.Json:
    """Run the plan."""
    if "url" in target:
        transport = StreamableHttpTransport(target["url"])
    else:
        program, *arguments = target["command"]
        transport = StdioTransport(program, arguments, keep_alive=False)
    logs: list[report.Json] = []

    async def hear(params: LoggingMessageNotificationParams) -> None:
        logs.append(report.wire(params))

    async def answer(*_asked: Any) -> Any:
        return plan["answer"]

    async with Client(
        transport,
        mode=plan["mode"],
        timeout=plan["patience"],
        log_handler=hear,
        elicitation_handler=answer,
    ) as client:

        async def call(tool: str, arguments: report.Json, told: Any) -> report.Json:
            shown = await client.call_tool(
                tool, arguments, progress_handler=told, raise_on_error=False
            )
            return {
                "content": [report.wire(block) for block in shown.content],
                "structuredContent": shown.structured_content,
                "isError": shown.is_error,
                "_meta": shown.meta,
                "data": to_jsonable_python(shown.data),
            }

        return {
            **report.connection(
                client.session.protocol_version or "",
                client.session.server_info,
                client.session.instructions,
            ),
            "tools": await report.tools(lambda cursor: client.list_tools_mcp(cursor=cursor)),
            "calls": await report.record(plan["calls"], call),
            "features": await report.features(plan.get("features"), client),
            "logs": logs,
        }


if __name__ == "__main__":
    report.main(run)
