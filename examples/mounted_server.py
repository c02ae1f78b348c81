"""Tools beside the routes of a Starlette application: the MCP endpoint is /tools/mcp.

uvicorn examples.mounted_server:application --timeout-graceful-shutdown 5
"""

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route

from anyshape import Server

server = Server("shop")


@server.tool
def count_orders(customer: str) -> int:
    """Count the orders of a customer."""
    return len(customer)


def home(request: Request) -> PlainTextResponse:
    return PlainTextResponse("The shop is open.")


tools = server.asgi()
application = Starlette(
    routes=[Route("/", home), Mount("/tools", app=tools)], lifespan=tools.lifespan
)
