"""Names that people bring from `mcp` and FastMCP, and what to write instead.

A name that means the same works here as it does there. One that does not is refused where it is
written, at import or at definition, and the error ends with an entry of these tables. They are read
only when something is refused. The moving guides tell the whole story.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

PACKAGES: Final = frozenset(("mcp", "mcp_types", "fastmcp"))
"""The packages whose names these are."""

_NO_COMPOSITION: Final = "give each function to the one server, or serve several beside each other"
_BY_A_CLIENT: Final = "write async with Client(server) as client, and ask it inside"
_PROMPT: Final = "write @server.prompt above a function to make a prompt"
_RESOURCE: Final = "write @server.resource(uri) above a function to make a resource"
_STATELESS: Final = "leave it out: HTTP is stateless, and an answer is JSON wherever it can be"
_NO_SESSION: Final = "no session is kept between calls"
_BY_HAND: Final = "write server.add_tool(Tool(name=…, handler=…, input_schema=…)) for each tool"
_EACH_PROMPT: Final = "write server.prompt(function) for each"
_EACH_RESOURCE: Final = "write server.resource(uri)(function) for each"
_COMPLETE: Final = "write Annotated[str, Complete(function)] where the parameter is"
_ANSWERED: Final = "leave it out: the server answers that itself"
_WATCHED: Final = "leave it out, and write server.resource_changed(uri) when one changes"
_PROTECTION: Final = "write options=HttpOptions(allowed_hosts=(…), allowed_origins=(…))"

_STREAMS: Final = "write options=HttpOptions(streams=Streams(…))"
_QUESTION: Final = "write Context, and await its elicit(…), sample(…) or roots() where you need it"
_MESSAGES: Final = "write Message(content, role) for each message"
_CONTENTS: Final = "write Contents(data, mime_type)"
_ACCESS: Final = "write Context, and look at its access for what the caller's token proves"

FRONT_DOOR_NAMES: Final = {
    "AcceptedElicitation": "write Accepted",
    "AssistantMessage": 'write Message(content, role="assistant")',
    "AudioContent": "write Audio(data, mime_type), which takes bytes, not base64",
    "BlobResourceContents": "write EmbeddedResource(uri, blob=…), or Contents(data) in a resource, "
    "both with bytes, not base64",
    "CallToolResult": "write ToolResult(structured=…, content=[…], is_error=…)",
    "CancelledElicitation": "write Cancelled",
    "ClientSession": "write Client(target), where target is a URL, a command or a Server",
    "CacheHint": "write Caching(…), from anyshape.server",
    **dict.fromkeys(
        (
            *("Completion", "CompletionArgument", "CompletionContext", "PromptReference"),
            "ResourceTemplateReference",
        ),
        _COMPLETE,
    ),
    **dict.fromkeys(("CurrentAccessToken", "CurrentHeaders", "CurrentRequest"), _ACCESS),
    "CurrentContext": "write Context as the annotation of a parameter",
    "DeclinedElicitation": "write Declined",
    "Depends": "write Server(lifespan=…), and Context.state for what it yields",
    "Elicit": "write Annotated[T, Ask(message)] where the parameter is",
    "ElicitationResult": "write Elicited",
    "File": "write EmbeddedResource(uri, blob=…, mime_type=…)",
    "FastMCP": "write Server(name)",
    **dict.fromkeys(("GetPromptResult", "PromptMessage", "PromptResult"), _MESSAGES),
    "ImageContent": "write Image(data, mime_type), which takes bytes, not base64",
    **dict.fromkeys(("InputRequiredResult", "ListRoots", "Sample"), _QUESTION),
    "MCPError": "write ProtocolError, or ToolError for what the model should read",
    "MCPServer": "write Server(name)",
    "McpError": "write ProtocolError, or ToolError for what the model should read",
    "Progress": "write Context, and call its progress(done, total, message)",
    **dict.fromkeys(("PromptError", "ResourceError"), "write ToolError"),
    "RequestStateSecurity": "write ServerOptions(state_keys=(…)), from anyshape.server",
    "Resolve": "write Annotated[T, Ask(message)] to ask the user; else call the function yourself",
    **dict.fromkeys(("ReadResourceContents", "ResourceContent", "ResourceResult"), _CONTENTS),
    "ResourceNotFoundError": "write ResourceNotFound",
    "ResourceSecurity": "write Server.directory(uri, path) for files, which cannot be left",
    "SamplingMessage": "write Message(content, role)",
    "StdioServerParameters": "write Client([command, argument, …])",
    "TextContent": "write Text(text)",
    "TextResourceContents": "write EmbeddedResource(uri, text=…), or Contents(text) in a resource",
    "TokenClaim": _ACCESS,
    "UrlElicitationRequiredError": "write Context, and await its elicit_url(…)",
    "UserMessage": "write Message(content)",
    "create_proxy": "write Gateway({name: target}), from anyshape.gateway",
}
"""What somebody may want to import from `anyshape`."""

TYPES: Final = {
    **FRONT_DOOR_NAMES,
    "Audio": "write anyshape.Audio",
    "Context": "write anyshape.Context",
    "EmbeddedResource": "write anyshape.EmbeddedResource",
    "Image": "write anyshape.Image",
    "Message": "write anyshape.Message",
    "ResourceLink": "write anyshape.ResourceLink",
    "ToolResult": "write anyshape.ToolResult",
}
"""Types of those packages that a tool may be annotated with."""

INJECTORS: Final = frozenset(
    {
        *(("docket", "Dependency"), ("uncalled_for", "Dependency")),
        *(("fastapi", "Depends"), ("mcp", "Resolve")),
    }
)
"""Classes, by package and name, of what fills a parameter that it is the default or a note of."""

INJECTED: Final = (
    "here the caller would; call it in the function, take Context.state or Context.access, "
    "or write Annotated[T, Ask(message)] for what the user is to be asked"
)
"""What to do about a parameter that is filled by one of those."""

SERVER_NAMES: Final = {
    **dict.fromkeys(
        ("add_provider", "add_transform", "as_proxy", "import_server", "mount"), _NO_COMPOSITION
    ),
    **dict.fromkeys(
        ("get_prompt", "list_prompts", "render_prompt"), f"{_PROMPT}; to see it, {_BY_A_CLIENT}"
    ),
    **dict.fromkeys(
        ("list_resource_templates", "list_resources", "read_resource"),
        f"{_RESOURCE}; to see it, {_BY_A_CLIENT}",
    ),
    **dict.fromkeys(("add_resource", "add_template"), "write server.resource(uri)(function)"),
    "add_prompt": "write server.prompt(function)",
    **dict.fromkeys(("add_completion_handler", "completion"), _COMPLETE),
    **dict.fromkeys(
        (
            *("add_notification_handler", "add_request_handler", "get_notification_handler"),
            *("get_request_handler", "notification_handlers", "request_handlers"),
        ),
        "write @server.middleware above async def f(request, proceed)",
    ),
    **dict.fromkeys(
        ("create_initialization_options", "get_capabilities"),
        "leave it out: run() and run_async() declare what there is",
    ),
    **dict.fromkeys(("from_fastapi", "from_openapi"), "write a function for each operation"),
    **dict.fromkeys(("progress_notification", "set_logging_level"), _ANSWERED),
    **dict.fromkeys(("subscribe_resource", "unsubscribe_resource"), _WATCHED),
    "add_middleware": "write @server.middleware above async def f(request, proceed)",
    **dict.fromkeys(("disable", "enable"), "write remove_tool(name) and add_tool(tool)"),
    **dict.fromkeys(("get_tool", "get_tools"), "write tools, a mapping, or await list_tools()"),
    **dict.fromkeys(("http_app", "streamable_http_app"), "write asgi()"),
    **dict.fromkeys(
        ("run_http_async", "run_streamable_http_async"), 'write await run_async("http", …)'
    ),
    **dict.fromkeys(
        ("run_sse_async", "sse_app"), 'write asgi() or run("http"); SSE alone is deprecated'
    ),
    "_tool_manager": "write input_schema= and output_schema= where the tool is made",
    "call_tool": "write @server.tool above a function to make a tool; to call one, write "
    "async with Client(server) as client, and client.call_tool(…) inside",
    "custom_route": "write a route of the application that mounts asgi()",
    "get_context": "write a parameter annotated Context",
    "run_stdio_async": "write await run_async()",
    "session_manager": "write asgi() and its lifespan",
    "settings": "write options, limits, or a setting of run()",
}
"""Attributes of a server."""

LIST_TOOLS: Final = f"write @server.tool above each function, or {_BY_HAND.removeprefix('write ')}"
"""What to write in place of `@server.list_tools()`; here it is awaited, and lists."""

SERVER_SETTINGS: Final = {
    **dict.fromkeys(
        ("auth", "auth_server_provider", "token_verifier"),
        "write HttpOptions(authorization=Authorization(…)) where it is run",
    ),
    **dict.fromkeys(
        ("cache_hints", "cache_scope", "cache_ttl"),
        "write options=ServerOptions(caching=Caching(…))",
    ),
    **dict.fromkeys(("debug", "log_level"), "write logging.basicConfig(level=…)"),
    **dict.fromkeys(("host", "port"), 'write run("http", host=…, port=…)'),
    **dict.fromkeys(("json_response", "stateless_http"), _STATELESS),
    **dict.fromkeys(("providers", "transforms"), _NO_COMPOSITION),
    **dict.fromkeys(("on_get_prompt", "on_list_prompts", "prompts"), _EACH_PROMPT),
    **dict.fromkeys(
        ("on_list_resource_templates", "on_list_resources", "on_read_resource", "resources"),
        _EACH_RESOURCE,
    ),
    **dict.fromkeys(("get_tool_input_schema", "on_call_tool", "on_list_tools"), _BY_HAND),
    **dict.fromkeys(
        ("on_subscribe_resource", "on_subscriptions_listen", "on_unsubscribe_resource"), _WATCHED
    ),
    **dict.fromkeys(
        ("on_ping", "on_progress", "on_roots_list_changed", "on_set_logging_level"), _ANSWERED
    ),
    "on_completion": _COMPLETE,
    **dict.fromkeys(
        (
            *("on_duplicate", "on_duplicate_tools", "warn_on_duplicate_prompts"),
            *("warn_on_duplicate_resources", "warn_on_duplicate_tools"),
        ),
        "leave it out: a second one of the same name is refused",
    ),
    **dict.fromkeys(
        ("experimental_capabilities", "extensions"),
        "leave it out: what the tools need is declared",
    ),
    "client_log_level": "leave it out: clients say what they want to be told",
    "dependencies": "leave it out: a server runs in an environment that has what it needs",
    "dereference_schemas": "leave it out: references are published as they are written",
    "list_page_size": "write options=ServerOptions(page_size=…)",
    "mask_error_details": "leave it out: the model reads a ToolError, and nothing of other errors",
    "middleware": "write @server.middleware above async def f(request, proceed)",
    "request_state_security": "write options=ServerOptions(state_keys=(…))",
    "resource_security": "write server.directory(uri, path) for files, which cannot be left",
    "session_state_store": f"write lifespan=, and Context.state for what it yields; {_NO_SESSION}",
    **dict.fromkeys(
        ("message_path", "mount_path", "sse_path", "streamable_http_path"),
        "write HttpOptions(path=…) where it is run",
    ),
    "strict_input_validation": "leave it out: arguments are checked as the schema says",
    "subscriptions": "leave it out: whoever subscribes is served",
    "tasks": "write task=True where a tool is made",
    "tools": "write server.tool(function), or server.add_tool(tool), for each",
    "transport_security": "write HttpOptions(allowed_hosts=…, allowed_origins=…) where it is run",
}
"""What a server is made with."""

TOOL_SETTINGS: Final = {
    "app": 'write meta={"ui": …}',
    "auth": "write Authorization(tool_scopes={name: (scope, …)})",
    "enabled": "write server.remove_tool(name) and server.add_tool(tool)",
    "exclude_args": "write functools.partial(function, argument=value)",
    "run_in_thread": "write inline=True for a function that never waits",
    "security": "write server.directory(uri, path) for files, which cannot be left",
    "serializer": "return ToolResult(structured=…, content=[…])",
    "structured_output": "write output_schema=UNSTRUCTURED for text alone, else leave it out",
    "tags": 'write meta={"example.com/tags": […]}',
    "version": 'write meta={"example.com/version": …}',
}
"""What a tool is made with."""

CONTENT_SETTINGS: Final = {
    "_meta": "write meta=",
    "isError": "write is_error=",
    "mimeType": "write mime_type=",
    "path": "write data=pathlib.Path(…).read_bytes(), format=…",
    "structured_content": "write structured=",
    "structuredContent": "write structured=",
}
"""What results, images and sounds are made with."""

RUN_SETTINGS: Final = {
    **dict.fromkeys(("json_response", "stateless", "stateless_http"), _STATELESS),
    **dict.fromkeys(
        ("allowed_hosts", "allowed_origins", "host_origin_protection", "transport_security"),
        _PROTECTION,
    ),
    **dict.fromkeys(
        ("mount_path", "path", "streamable_http_path"), "write options=HttpOptions(path=…)"
    ),
    **dict.fromkeys(("event_store", "max_sessions", "retry_interval"), _STREAMS),
    "max_request_body_size": "write Server(options=ServerOptions(max_message_bytes=…))",
    "middleware": "wrap the ASGI application, asgi()",
    "session_idle_timeout": _STREAMS,
    "show_banner": "leave it out: there is no banner",
    "sockets": "write fd=…, or serve asgi() with a host of your own",
    "uvicorn_config": 'write its entries themselves, as in run("http", ssl_keyfile=…)',
}
"""What a server is run with."""

TRANSPORTS: Final = {"sse": 'write "http"', "streamable-http": 'write "http"'}
"""How a server is run."""

CONTEXT_NAMES: Final = {
    **dict.fromkeys(("fastmcp", "mcp_server", "server"), "write the Server itself"),
    **dict.fromkeys(
        ("get_prompt", "list_prompts", "list_resources", "read_resource"),
        "call the function that it is made from",
    ),
    **dict.fromkeys(
        ("delete_state", "get_state", "set_state"),
        f"write state, which the lifespan yields; {_NO_SESSION}",
    ),
    **dict.fromkeys(("session", "session_id"), f"write client or access; {_NO_SESSION}"),
    **dict.fromkeys(
        ("input_responses", "request_state"),
        "await elicit(…), sample(…) or roots() where the answer is needed; what was asked is kept",
    ),
    **dict.fromkeys(
        ("disable_components", "enable_components", "reset_visibility"),
        "write server.remove_tool and server.add_tool, or Authorization(tool_scopes=…)",
    ),
    **dict.fromkeys(
        ("client_extension_settings", "client_supports_extension"), "write capabilities"
    ),
    **dict.fromkeys(
        ("is_background_task", "task_id"), "leave it out: a task runs as any other call does"
    ),
    **dict.fromkeys(("close_sse_stream", "close_standalone_sse_stream"), "write hang_up()"),
    "client_capabilities": "write capabilities",
    "client_id": "write client for what the caller says of itself, access for what is proved",
    "headers": "write access, for what the caller's token proves",
    "lifespan_context": "write state",
    "list_roots": "write roots",
    "notify_prompts_changed": "leave it out: prompt and remove_prompt tell clients",
    "notify_resource_updated": "write server.resource_changed(uri)",
    "notify_resources_changed": "leave it out: resource and remove_resource tell clients",
    "notify_tools_changed": "leave it out: add_tool and remove_tool tell clients",
    "origin_request_id": "write request_id",
    "protocol_version": "write capabilities for what the client can be asked; shapes are seen to",
    "request_context": "write state for what the lifespan yields, meta for the request's _meta",
    "send_notification": "write progress",
    "transport": "leave it out: a function is called alike, whatever carries the request",
}
"""Attributes of a context."""

_WORDS_OF_A_FORM: Final = "write the type as Annotated[T, Field(title=…, description=…)]"

CONTEXT_SETTINGS: Final = {
    "elicitation_id": "write id=",
    "extra": "write info(…, extra=…), or put it into data",
    "logger_name": "write logger=",
    "model_preferences": "write preferences=",
    **dict.fromkeys(("response_description", "response_title"), _WORDS_OF_A_FORM),
    "response_type": "write schema=",
    "result_type": "leave it out, and read the text that comes",
}
"""What methods of a context are called with."""


def refuse_brought(taker: str, given: Mapping[str, Any], table: Mapping[str, str]) -> None:
    """Raise `TypeError` for the first keyword; `table` says what to write for those of others."""
    for name in given:
        advice = f"; {table[name]}" if name in table else ""
        raise TypeError(f"{taker}() takes no {name}={advice}")
