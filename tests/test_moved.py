"""Names that people bring from `mcp` and FastMCP work, or the error says what to write."""

from __future__ import annotations

import asyncio
import base64
import inspect
import logging
from dataclasses import dataclass
from typing import Annotated, Any

import fastapi
import fastmcp
import fastmcp.dependencies
import fastmcp.prompts
import fastmcp.tools
import fastmcp.utilities.types
import mcp_types
import pytest
from mcp.server import lowlevel, mcpserver

from anyshape import (
    Audio,
    Client,
    Context,
    Image,
    Server,
    Tool,
    ToolDefinitionError,
    ToolResult,
)
from anyshape.client import Progress
from anyshape.moved import (
    CONTENT_SETTINGS,
    CONTEXT_NAMES,
    CONTEXT_SETTINGS,
    FRONT_DOOR_NAMES,
    RUN_SETTINGS,
    SERVER_NAMES,
    SERVER_SETTINGS,
    TOOL_SETTINGS,
)


@dataclass
class Weather:
    temperature: float


@pytest.mark.parametrize("name", FRONT_DOOR_NAMES)
def test_a_name_imported_from_us_by_habit_is_told_apart(name: str) -> None:
    with pytest.raises(ImportError, match=f"anyshape has no '{name}'; write [A-Z]"):
        exec(f"from anyshape import {name}")


@pytest.mark.parametrize("name", SERVER_NAMES)
def test_a_method_of_other_servers_is_told_apart(name: str) -> None:
    with pytest.raises(AttributeError, match=f"Server has no '{name}'; ") as raised:
        getattr(Server(), name)
    assert SERVER_NAMES[name] in str(raised.value)
    assert not hasattr(Server, name)


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("call_tool", "@server.tool"),
        ("list_tools", "@server.tool"),
        ("list_prompts", "@server.prompt"),
        ("get_prompt", "@server.prompt"),
        ("list_resources", "@server.resource(uri)"),
        ("list_resource_templates", "@server.resource(uri)"),
        ("read_resource", "@server.resource(uri)"),
    ],
)
def test_a_decorator_of_the_low_level_server_is_told_what_to_write(name: str, ours: str) -> None:
    async def listed() -> list[Any]:
        return []

    with pytest.raises((AttributeError, TypeError)) as raised:
        getattr(Server(), name)()(listed)
    assert f"write {ours} above" in str(raised.value)
    assert "\n" not in str(raised.value)


def test_tools_are_listed_in_every_way_that_a_coroutine_is_run() -> None:
    server = Server()
    server.tool(name="one")(lambda: 1)

    async def awaited() -> list[str]:
        task = asyncio.create_task(server.list_tools())
        listed = [*await server.list_tools(), *await task]
        return [tool.name for tool in listed]

    assert asyncio.run(awaited()) == ["one", "one"]
    assert [tool.name for tool in asyncio.run(server.list_tools())] == ["one"]


def test_a_misspelt_method_is_an_ordinary_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"Server has no 'tol'$"):
        getattr(Server(), "tol")  # noqa: B009 - the linter would have it fail type checks


@pytest.mark.parametrize("name", SERVER_SETTINGS)
def test_a_setting_of_other_servers_is_told_apart(name: str) -> None:
    make: Any = Server
    with pytest.raises(TypeError, match=rf"Server\(\) takes no {name}=; ") as raised:
        make("s", **{name: 1})
    assert SERVER_SETTINGS[name] in str(raised.value)


@pytest.mark.parametrize("theirs", [mcpserver.MCPServer, lowlevel.Server, fastmcp.FastMCP])
def test_every_setting_of_other_servers_works_or_is_told_apart(theirs: type) -> None:
    ours = inspect.signature(Server).parameters.keys()
    settings = inspect.signature(theirs).parameters.keys() - {"kwargs"}
    assert settings <= ours | SERVER_SETTINGS.keys()


def test_an_unnamed_argument_of_other_servers_is_told_apart() -> None:
    make: Any = Server
    with pytest.raises(TypeError, match="write instructions="):
        make("s", "Ask about the weather.")


@pytest.mark.parametrize("make", [ToolResult, Image, Audio])
@pytest.mark.parametrize("name", CONTENT_SETTINGS)
def test_a_keyword_of_other_results_and_content_is_told_apart(make: Any, name: str) -> None:
    with pytest.raises(TypeError, match=rf"{make.__name__}\(\) takes no {name}=; write "):
        make(**{name: "x"})
    assert name not in inspect.signature(make).parameters


def test_a_result_annotated_as_mcp_has_it_is_told_apart() -> None:
    def weather() -> Any:
        raise AssertionError("never called")

    bare: Any = ToolResult
    weather.__annotations__["return"] = Annotated[bare, Weather]
    with pytest.raises(ToolDefinitionError, match=r"write ToolResult\[Weather\]"):
        Tool.from_function(weather)


@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize("name", RUN_SETTINGS)
async def test_a_setting_of_other_runs_is_told_apart(name: str, transport: Any) -> None:
    settings: dict[str, Any] = {name: 1}
    with pytest.raises(TypeError, match=rf"run\(\) takes no {name}=; "):
        Server().run(transport, **settings)
    with pytest.raises(TypeError, match=rf"run\(\) takes no {name}=; "):
        await Server().run_async(transport, **settings)


def test_settings_of_http_are_refused_on_stdio() -> None:
    run: Any = Server().run
    with pytest.raises(TypeError, match="host, port: on stdio there is nothing to set"):
        run(host="127.0.0.1", port=1)


@pytest.mark.parametrize("transport", ["sse", "streamable-http"])
def test_a_transport_by_another_name_is_told_apart(transport: Any) -> None:
    with pytest.raises(ValueError, match=f"got '{transport}'; write \"http\""):
        Server().run(transport)


@pytest.mark.parametrize("name", TOOL_SETTINGS)
def test_a_setting_of_other_tools_is_told_apart(name: str) -> None:
    server: Any = Server()

    def add(a: int) -> int:
        return a

    with pytest.raises(
        ToolDefinitionError, match=rf"^add\(\): a tool takes no {name}=; "
    ) as raised:
        server.tool(**{name: 1})(add)
    assert TOOL_SETTINGS[name] in str(raised.value)


def test_what_another_library_has_under_the_same_name_is_not_in_the_tables() -> None:
    ours = Server()
    assert not [name for name in SERVER_NAMES if name in dir(ours)]
    assert not [name for name in CONTEXT_NAMES if hasattr(Context, name)]
    assert not inspect.signature(Server).parameters.keys() & SERVER_SETTINGS.keys()
    assert not inspect.signature(Tool.from_function).parameters.keys() & TOOL_SETTINGS.keys()


def public(cls: type) -> set[str]:
    return {name for name in vars(cls) if not name.startswith("_")}


def test_every_method_of_other_contexts_works_or_is_told_apart() -> None:
    theirs = public(fastmcp.Context) | public(mcpserver.Context)
    unknown = {"model_config", "model_post_init"}
    assert {
        name for name in theirs if not hasattr(Context(), name)
    } <= CONTEXT_NAMES.keys() | unknown


CALLS = {"elicit": ("q",), "elicit_url": ("q", "x:"), "log": ("info", "x"), "sample": ("q",)}


@pytest.mark.parametrize("name", CONTEXT_SETTINGS)
@pytest.mark.parametrize("method", CALLS)
def test_a_keyword_of_a_method_of_other_contexts_is_told_apart(method: str, name: str) -> None:
    with pytest.raises(TypeError, match=rf"Context\.{method}\(\) takes no {name}=; ") as raised:
        getattr(Context(), method)(*CALLS[method], **{name: 1})
    assert CONTEXT_SETTINGS[name] in str(raised.value)


@pytest.mark.parametrize("theirs", [fastmcp.Context, mcpserver.Context])
@pytest.mark.parametrize("method", CALLS)
def test_every_keyword_of_a_method_of_other_contexts_works_or_is_told_apart(
    method: str, theirs: Any
) -> None:
    if hasattr(theirs, method):
        keywords = inspect.signature(getattr(theirs, method)).parameters.keys()
        ours = inspect.signature(getattr(Context, method)).parameters.keys()
        # FastMCP names what a log says, which comes second here, and unnamed nearly always.
        assert keywords - {"message"} <= ours | CONTEXT_SETTINGS.keys()


@pytest.mark.parametrize(
    ("annotation", "advice"),
    [
        (fastmcp.Context, r"fastmcp\.\S*Context; write anyshape.Context"),
        (mcpserver.Context, r"mcp\.\S*Context; write anyshape.Context"),
        (fastmcp.Context | None, "write anyshape.Context"),
    ],
    ids=str,
)
def test_a_context_of_another_library_is_refused(annotation: Any, advice: str) -> None:
    async def tool(context: Any) -> None: ...

    tool.__annotations__["context"] = annotation
    with pytest.raises(ToolDefinitionError, match=rf"^tool\(\): parameter 'context' is .*{advice}"):
        Server().tool(tool)


@pytest.mark.parametrize(
    ("annotation", "advice"),
    [
        (mcp_types.TextContent, r"write Text\(text\)"),
        (list[mcp_types.ImageContent], "which takes bytes, not base64"),
        (list[mcp_types.TextContent | mcp_types.ImageContent], "write"),
        (mcp_types.CallToolResult, r"write ToolResult\(structured="),
        (fastmcp.tools.ToolResult, "write anyshape.ToolResult"),
        (fastmcp.utilities.types.Image, "write anyshape.Image"),
        (fastmcp.utilities.types.File, "write EmbeddedResource"),
    ],
    ids=str,
)
def test_results_of_another_library_are_refused(annotation: Any, advice: str) -> None:
    async def tool() -> Any: ...

    tool.__annotations__["return"] = annotation
    with pytest.raises(
        ToolDefinitionError, match=rf"^tool\(\): its return annotation is .*{advice}"
    ):
        Server().tool(tool)


@pytest.mark.parametrize(
    ("annotation", "advice"),
    [
        (list[mcpserver.UserMessage], r"write Message\(content\)"),
        (list[mcpserver.Message], "write anyshape.Message"),
        (mcp_types.GetPromptResult, r"write Message\(content, role\)"),
        (str | mcp_types.InputRequiredResult, r"await its elicit\("),
        (fastmcp.prompts.PromptResult, r"write Message\(content, role\)"),
    ],
    ids=str,
)
def test_messages_of_another_library_are_refused(annotation: Any, advice: str) -> None:
    async def prompt() -> Any: ...

    prompt.__annotations__["return"] = annotation
    with pytest.raises(
        ToolDefinitionError, match=rf"^prompt\(\): its return annotation is .*{advice}"
    ):
        Server().prompt(prompt)


NOTHING: Any = inspect.Parameter.empty
FILLERS: dict[str, tuple[Any, Any]] = {
    "fastmcp Depends": (int, fastmcp.dependencies.Depends(dict[str, str])),
    "fastmcp TokenClaim": (str, fastmcp.dependencies.TokenClaim("sub")),
    "mcp Resolve": (Annotated[int, mcpserver.Resolve(int)], NOTHING),
    "fastapi note": (Annotated[int, fastapi.Depends(int)], NOTHING),
    "fastapi default": (int, fastapi.Depends(int)),
}


@pytest.mark.parametrize(("annotation", "default"), FILLERS.values(), ids=FILLERS)
def test_what_another_library_would_fill_is_never_left_to_the_caller(
    annotation: Any, default: Any
) -> None:
    def tool(amount: Any) -> None: ...

    tool.__annotations__["amount"] = annotation
    if default is not NOTHING:
        tool.__defaults__ = (default,)
    for make in (Server().tool, Server().prompt, Server().resource("x://{amount}")):
        with pytest.raises(ToolDefinitionError, match="would fill parameter 'amount', here the"):
            make(tool)


def test_what_a_tool_asks_of_its_context_is_refused_at_definition() -> None:
    async def looks_around(ctx: Any) -> None:
        print(await ctx.list_roots())

    def looks_up(key: str, ctx: Any = None) -> Any:
        return ctx.request_context.lifespan_context[key]

    async def inside(ctx: Any) -> list[Any]:
        async def read(uri: str) -> Any:
            return await ctx.read_resource(uri)

        return [await read("a")]

    for function, name in (
        (looks_around, "list_roots"),
        (looks_up, "request_context"),
        (inside, "read_resource"),
    ):
        function.__annotations__["ctx"] = Context
        told = rf"^{function.__name__}\(\): Context has no '{name}', as in ctx.{name}; "
        with pytest.raises(ToolDefinitionError, match=told):
            Server().tool(function)


def test_the_same_names_on_other_things_are_nobodys_business() -> None:
    async def tool(ctx: Context, session: Any, population: list[int]) -> Any:
        await ctx.info("sampling")
        return session.server.sample(population), session.log

    tool.__annotations__["session"] = int
    Server().tool(tool)


def test_a_context_says_so_itself_where_nobody_could_see_it_coming() -> None:
    with pytest.raises(AttributeError, match="Context has no 'session_id'; write client or access"):
        getattr(Context(), "session_id")  # noqa: B009 - the linter would have it fail type checks


async def test_progress_and_log_of_a_context_work_as_they_do_elsewhere(
    caplog: pytest.LogCaptureFixture,
) -> None:
    server = Server()

    @server.tool
    async def work(ctx: Context) -> str:
        await ctx.info("begun")
        await ctx.report_progress(1, 2)
        await ctx.report_progress(progress=2, total=2, message="done")
        await ctx.warning("odd", logger_name="mine", extra={"step": 2})
        return "done"

    @server.tool
    def work_on_a_thread(ctx: Context) -> str:
        ctx.debug("begun")
        ctx.report_progress(1, 2)
        ctx.error("100 % wrong")
        return "done"

    seen: list[float] = []

    def see(told: Progress) -> None:
        seen.append(told.progress)

    with caplog.at_level(logging.DEBUG):
        async with Client(server) as client:
            for name in server.tools:
                await client.call_tool(name, on_progress=see)
                await asyncio.sleep(0)
    said = [
        (record.name, record.levelname, record.getMessage(), record.funcName)
        for record in caplog.records
        if record.name in ("anyshape.tools.context", "mine")
    ]
    assert said == [
        ("anyshape.tools.context", "INFO", "begun", "work"),
        ("mine", "WARNING", "odd", "work"),
        ("anyshape.tools.context", "DEBUG", "begun", "work_on_a_thread"),
        ("anyshape.tools.context", "ERROR", "100 % wrong", "work_on_a_thread"),
    ]
    assert seen == [1, 2, 1]
    assert (work.__name__, work_on_a_thread.__name__) == tuple(server.tools)


@pytest.mark.parametrize(
    ("block", "mime_type"),
    [
        (Image(data=b"x", format="png"), "image/png"),
        (Image(data=b"x", format="JPG"), "image/jpeg"),
        (Image(data=b"x", format="svg"), "image/svg+xml"),
        (Image(b"x", "image/webp"), "image/webp"),
        (Audio(data=b"x", format="mp3"), "audio/mpeg"),
        (Audio(data=b"x", format="wav"), "audio/wav"),
    ],
    ids=str,
)
def test_a_format_stands_for_a_media_type(block: Image | Audio, mime_type: str) -> None:
    assert block.wire() == {
        "type": type(block).__name__.lower(),
        "data": base64.b64encode(b"x").decode(),
        "mimeType": mime_type,
    }


@pytest.mark.parametrize("kind", [Image, Audio])
def test_a_block_of_no_media_type_is_refused(kind: Any) -> None:
    with pytest.raises(TypeError, match=r"needs a mime_type, .* or a format="):
        kind(b"x")


async def test_a_server_without_a_name_has_one_and_lists_its_tools() -> None:
    server = Server()

    @server.tool(title="Add up")
    def add(a: int, b: int) -> int:
        """Add."""
        return a + b

    assert (server.name, add(1, 2)) == ("anyshape", 3)
    [listed] = await server.list_tools()
    assert (listed.name, listed.title, listed.description) == ("add", "Add up", "Add.")
    assert listed.input_schema["required"] == ["a", "b"]
    assert listed.output_schema == {"type": "integer"}


def test_a_function_is_no_tool_to_add() -> None:
    server: Any = Server()
    with pytest.raises(TypeError, match=r"got function; write server.tool\(function\)"):
        server.add_tool(test_a_function_is_no_tool_to_add)
