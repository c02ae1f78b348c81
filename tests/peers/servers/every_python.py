"""One server in every generation of the Python SDK, `mcp` 1.6 to 2.3, and of FastMCP, 2 to 4.

    python every_python.py mcp|fastmcp [http|sse]

What stands behind the gateway in the matrix: values of every kind, errors, content blocks,
progress, work that is given up, questions, a prompt and a resource.
"""

# Annotations stay what they are: the oldest look at them without reading strings.
import asyncio
import importlib
import logging
import sys
import warnings
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import hosting
from pydantic import BaseModel

warnings.simplefilter("ignore")
logging.disable(logging.ERROR)
PACKAGE = sys.argv[1]


def first_of(*modules: str) -> Any:
    """Return the first of these modules that this generation has."""
    for name in modules:
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError:
            continue
    raise ModuleNotFoundError(f"expected one of {modules}")


# By name, since type checkers know only the newest generation.
types = first_of("mcp_types", "mcp.types")
if PACKAGE == "fastmcp":
    package = first_of("fastmcp")
    Failure = Exception
else:
    package = first_of("mcp.server.mcpserver", "mcp.server.fastmcp")
    Failure = importlib.import_module(f"{package.__name__}.exceptions").ToolError
if TYPE_CHECKING:
    Context: TypeAlias = Any
    Asking: TypeAlias = Any
else:
    Context = package.Context
    Asking = getattr(types, "InputRequiredResult", None)
make = getattr(package, "MCPServer", None) or package.FastMCP
server = make("peer")
patience = 60.0
ended: dict[str, asyncio.Event] = {}


class User(BaseModel):
    id: int
    name: str


class Answer(BaseModel):
    result: int


class Trip(BaseModel):
    city: str


@server.tool()
def find_user(id: int) -> User:
    return User.model_validate(hosting.find(id))


@server.tool()
def list_users() -> list[User]:
    return [User.model_validate(user) for user in hosting.USERS]


@server.tool()
def get_count() -> int:
    return 42


@server.tool()
def greet(name: str) -> str:
    return f"Hello, {name}"


@server.tool()
def maybe_user(id: int) -> User | None:
    found = hosting.find(id)
    return None if found is None else User.model_validate(found)


@server.tool()
def user_or_count(which: Literal["user", "count"]) -> User | int:
    return User.model_validate(hosting.USERS[0]) if which == "user" else 42


@server.tool()
def meant() -> Answer:
    """An object that its author meant, though it looks like an envelope."""
    return Answer(result=3)


@server.tool()
def fail(reason: str) -> str:
    raise Failure(reason)


@server.tool()
def blocks():  # What is annotated becomes structured content.
    image = types.ImageContent(type="image", data="AAE=", mimeType="image/png")
    return [types.TextContent(type="text", text="a picture"), image]


@server.tool()
async def count_to(number: int, context: Context) -> int:
    for done in range(1, number + 1):
        await context.report_progress(done, number)
    return number


@server.tool()
async def wait(key: str, context: Context) -> str:
    """Say that it has begun, then work until it is given up."""
    over = ended.setdefault(key, asyncio.Event())
    try:
        await context.report_progress(1, 2)
        await asyncio.sleep(patience)
    finally:
        over.set()
    return "nobody gave it up"


@server.tool()
async def was_given_up(key: str) -> bool:
    """Tell whether a call of `wait` has ended; there is a while for that."""
    try:
        await asyncio.wait_for(ended.setdefault(key, asyncio.Event()).wait(), patience / 2)
    except asyncio.TimeoutError:  # noqa: UP041 - this runs on every Python
        return False
    return True


if hasattr(types, "InputRequiredResult"):
    FORM: dict[str, Any] = {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
    }

    @server.tool()
    async def ask(context: Context) -> str | Asking:
        """Ask by a result where that is how, else by a request."""
        if context.request_context.protocol_version < "2026":
            trip: Any = await context.elicit("Where to?", Trip)
            return trip.data.city
        given: Any = context.input_responses
        if given:
            return given["trip"].content["city"]
        params = types.ElicitRequestFormParams(message="Where to?", requested_schema=FORM)
        asked = {"trip": types.ElicitRequest(params=params)}
        return types.InputRequiredResult(input_requests=asked)

elif hasattr(Context, "elicit"):

    @server.tool()
    async def ask(context: Context) -> str:
        trip: Any = await context.elicit("Where to?", Trip)
        return trip.data.city


@server.prompt()
def review(code: str) -> str:
    return f"Review: {code}"


@server.resource("demo://fixed", name="fixed", mime_type="text/plain")
def fixed() -> str:
    return "contents"


@server.resource("demo://users/{name}", name="user")
def user(name: str) -> str:
    return f"user {name}"


if __name__ == "__main__":
    if sys.argv[2:] == ["http"]:
        hosting.serve(server.streamable_http_app())
    elif sys.argv[2:] == ["sse"]:
        hosting.serve(
            server.http_app(transport="sse") if PACKAGE == "fastmcp" else server.sse_app()
        )
    elif PACKAGE == "fastmcp" and not package.__version__.startswith("2.5."):
        server.run("stdio", show_banner=False)
    else:
        server.run("stdio")
