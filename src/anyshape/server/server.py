"""`Server`: tools under a name, served to clients of every revision."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, Never, NoReturn, TypeVar, cast, overload

from anyshape._version import __version__
from anyshape.moved import SERVER_NAMES, SERVER_SETTINGS, refuse_brought
from anyshape.protocol.completed import Caching
from anyshape.protocol.content import Annotations
from anyshape.protocol.description import ToolAnnotations, ToolDescription
from anyshape.protocol.icons import Icon
from anyshape.protocol.identity import ServerIdentity
from anyshape.protocol.result import ABSENT
from anyshape.schema import Limits
from anyshape.server.connection import Connection
from anyshape.server.lifespan import check_lifespan
from anyshape.server.options import ServerOptions
from anyshape.server.service import Service
from anyshape.server.settings import check_transport, checked_icon, expect
from anyshape.server.tool_listing import ToolListing
from anyshape.tools.migration import refuse_settings
from anyshape.tools.outputs import GivenOutputSchema
from anyshape.tools.signature import name_of
from anyshape.tools.tool import Tool

if TYPE_CHECKING:
    from anyshape.server.http import HttpApplication
    from anyshape.server.http_options import HttpOptions
    from anyshape.server.log_routing import LogHandler
    from anyshape.server.middleware import Middleware
    from anyshape.server.tasks.options import TaskUse

Function = TypeVar("Function", bound=Callable[..., Any])
MiddlewareFunction = TypeVar("MiddlewareFunction", bound="Middleware")


class Server:
    """A set of tools, and the ways to serve them.

    `name`, `version` (ours by default), `title`, `instructions`, `description`, `website_url` and
    `icons` are what clients are told; `limits` bound the tools' schemas and every validation;
    `options` bound everything else. Making a server does no input or output.

    `lifespan` opens what tools need, such as a pool of connections, and closes it: a function that
    takes the server and returns an async context manager. It is entered once per process, before
    the first message, and left after the last; what it yields is the `state` of every `Context`.
    """

    def __init__(
        self,
        name: str = "anyshape",
        *unnamed: Never,
        version: str = __version__,
        title: str | None = None,
        instructions: str | None = None,
        description: str | None = None,
        website_url: str | None = None,
        icons: Sequence[Icon | Mapping[str, Any]] | None = None,
        lifespan: Callable[[Server], AbstractAsyncContextManager[Any]] | None = None,
        limits: Limits | None = None,
        options: ServerOptions | None = None,
        **brought: Never,
    ) -> None:
        if unnamed:
            raise TypeError("Server() takes only its name unnamed; write instructions=, title=, …")
        refuse_brought("Server", brought, SERVER_SETTINGS)
        check_lifespan(lifespan)
        expect("limits", limits, Limits)
        expect("options", options, ServerOptions)
        identity = ServerIdentity(
            name=name,
            version=version,
            title=title,
            description=description,
            website_url=website_url,
            icons=tuple(checked_icon(icon) for icon in icons or ()),
            instructions=instructions,
        )
        self._limits = limits or Limits()
        opening = None if lifespan is None else partial(lifespan, self)
        self._service = Service(identity, options or ServerOptions(), opening)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            advice = f"; {SERVER_NAMES[name]}" if name in SERVER_NAMES else ""
            raise AttributeError(f"Server has no {name!r}{advice}", name=name, obj=self)

    def __repr__(self) -> str:
        return f"Server({self.name!r}, {len(self._service.tools.roster.things)} tools)"

    @property
    def name(self) -> str:
        """The name clients are told."""
        return self._service.identity.name

    @property
    def version(self) -> str:
        """The version clients are told."""
        return self._service.identity.version

    @property
    def options(self) -> ServerOptions:
        """The bounds and habits of this server."""
        return self._service.options

    @property
    def limits(self) -> Limits:
        """The bounds on schemas and validation."""
        return self._limits

    @property
    def tools(self) -> Mapping[str, Tool]:
        """The tools by name, in the order they are listed; a copy."""
        # A copy first: other threads may add and remove while we look.
        offered = self._service.tools.roster.things.copy()
        return {name: each.tool for name, each in offered.items()}

    @overload
    def tool(self, function: Function, /) -> Function: ...

    @overload
    def tool(
        self,
        /,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        input_schema: Mapping[str, Any] | None = None,
        output_schema: GivenOutputSchema = ABSENT,
        annotations: ToolAnnotations | Mapping[str, Any] | None = None,
        meta: Mapping[str, Any] | None = None,
        icons: Sequence[Icon | Mapping[str, Any]] | None = None,
        timeout: float | None = None,
        inline: bool = False,
        requires: Mapping[str, Any] | None = None,
        task: TaskUse = False,
    ) -> Callable[[Function], Function]: ...

    def tool(
        self,
        function: Callable[..., Any] | None = None,
        /,
        *,
        requires: Mapping[str, Any] | None = None,
        task: TaskUse = False,
        **definition: Any,
    ) -> Callable[..., Any]:
        """Make a tool of a function, which stays what it was.

        Works with and without parentheses, on functions, coroutine functions and bound methods.
        What is left out is derived: the name from the function's, the description from its
        docstring, the schemas from its annotations. `requires` are the capabilities, in wire form,
        that a client of 2026-07-28 has to declare with a call: `{"sampling": {}}`. With `task`, a
        call becomes a task wherever the client has tasks; `"required"` refuses clients that have
        none.
        """

        def decorate(decorated: Callable[..., Any]) -> Callable[..., Any]:
            refuse_settings(definition, name_of(decorated))
            tool = Tool.from_function(decorated, limits=self._limits, **definition)
            self.add_tool(tool, requires=requires, task=task)
            return decorated

        return decorate if function is None else decorate(function)

    def add_tool(
        self, tool: Tool, *, requires: Mapping[str, Any] | None = None, task: TaskUse = False
    ) -> None:
        """Add a tool, and tell clients that listen; see `tool` for the rest."""
        if not isinstance(cast("object", tool), Tool):
            raise TypeError(
                f"add_tool takes a Tool, got {type(tool).__name__}; write server.tool(function)"
            )
        self._service.offer(tool, requires, task)

    def remove_tool(self, name: str) -> None:
        """Remove a tool, and tell clients that listen; `KeyError` if there is none of that name."""
        self._service.tools.roster.remove(name)

    def list_tools(self) -> Coroutine[Any, Any, list[ToolDescription]]:
        """Return the tools as they are listed, in their natural form, in the order of the list."""
        return ToolListing(self._list_tools())

    async def _list_tools(self) -> list[ToolDescription]:
        return [tool.listing for tool in self.tools.values()]

    @overload
    def prompt(self, function: Function, /) -> Function: ...

    @overload
    def prompt(
        self,
        /,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        meta: Mapping[str, Any] | None = None,
        icons: Sequence[Icon | Mapping[str, Any]] | None = None,
        timeout: float | None = None,
        inline: bool = False,
    ) -> Callable[[Function], Function]: ...

    def prompt(
        self, function: Callable[..., Any] | None = None, /, **definition: Any
    ) -> Callable[..., Any]:
        """Make a prompt of a function, which stays what it was.

        Its parameters are the prompt's arguments; it returns a string, a `Message`, content, or a
        list of them. What is left out is derived as for `tool`.
        """
        from anyshape.server.features.prompts import Prompts
        from anyshape.tools.prompt import Prompt

        def decorate(decorated: Callable[..., Any]) -> Callable[..., Any]:
            refuse_settings(definition, name_of(decorated), "prompt")
            prompt = Prompt(decorated, limits=self._limits, **definition)
            self._service.feature(Prompts).add(prompt)
            return decorated

        return decorate if function is None else decorate(function)

    def remove_prompt(self, name: str) -> None:
        """Remove a prompt, and tell clients that listen; `KeyError` if there is none so named."""
        from anyshape.server.features.prompts import Prompts

        prompts = self._service.find(Prompts)
        if prompts is None:
            raise KeyError(name)
        prompts.roster.remove(name)

    def resource(
        self,
        uri: str,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        mime_type: str | None = None,
        size: int | None = None,
        annotations: Annotations | Mapping[str, Any] | None = None,
        meta: Mapping[str, Any] | None = None,
        icons: Sequence[Icon | Mapping[str, Any]] | None = None,
        caching: Caching | None = None,
        timeout: float | None = None,
        inline: bool = False,
        **brought: Never,
    ) -> Callable[[Function], Function]:
        """Make a resource of a function, which stays what it was.

        `uri` is fixed, or a template by RFC 6570 whose variables are the function's parameters. A
        string is sent as text, bytes as they are, anything else as JSON; `Contents` says more.
        `caching` is how long clients may keep what they read: by default they may not.
        """
        from anyshape.server.features.resources import Resources
        from anyshape.tools.resource import Resource

        if callable(uri):
            raise TypeError('resource() takes a URI first; write @server.resource("notes://all")')

        def decorate(decorated: Function) -> Function:
            refuse_settings(brought, name_of(decorated), "resource")
            resource = Resource(
                uri,
                decorated,
                name=name,
                title=title,
                description=description,
                mime_type=mime_type,
                size=size,
                annotations=annotations,
                meta=meta,
                icons=icons,
                caching=caching,
                timeout=timeout,
                inline=inline,
                limits=self._limits,
                **brought,
            )
            self._service.feature(Resources).add(resource)
            return decorated

        return decorate

    def directory(
        self,
        prefix: str,
        path: str | PathLike[str],
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        hidden: bool = False,
        max_entries: int = 1000,
        max_bytes: int = 1024 * 1024,
        max_age: float = 1.0,
        caching: Caching | None = None,
    ) -> None:
        """Offer the files below a directory as resources, whose URIs are `prefix` and their path.

        Nothing outside of it can be read, and no symbolic link inside it is followed. Files whose
        names begin with a dot are left out, unless `hidden`; of a large tree `max_entries` are
        listed, and a file of more than `max_bytes` is not read. Listings are at most `max_age`
        seconds behind the disk.
        """
        from anyshape.server.features.directories import FileTree
        from anyshape.server.features.resources import Resources
        from anyshape.tools.resource import Resource

        tree = FileTree(
            prefix,
            path,
            hidden=hidden,
            max_entries=max_entries,
            max_bytes=max_bytes,
            max_age=max_age,
        )
        resource = Resource(
            f"{prefix}{{+path}}",
            tree.reader(),
            name=name or tree.root.name or prefix,
            title=title,
            description=description,
            caching=caching,
            limits=self._limits,
        )
        self._service.feature(Resources).add_directory(tree, resource)

    def remove_resource(self, uri: str) -> None:
        """Remove a resource or a template, and tell clients that listen; `KeyError` for none."""
        from anyshape.server.features.resources import Resources

        resources = self._service.find(Resources)
        if resources is None:
            raise KeyError(uri)
        resources.remove(uri)

    def resource_changed(self, uri: str) -> None:
        """Tell clients that have subscribed to a resource that it has changed; from any thread."""
        from anyshape.server.features.resources import updated

        self._service.listeners.notify(updated(uri))

    def middleware(self, function: MiddlewareFunction, /) -> MiddlewareFunction:
        """Have a function around every request: `async def f(request, proceed)`.

        It answers with what `await proceed(request)` returns, or by itself, or raises `ToolError`
        or `ProtocolError`. The one that was added first is outermost. Notifications pass it by.
        """
        self._service.wrap().add(function)
        return function

    def route_logging(self, *loggers: str) -> LogHandler:
        """Send what Python loggers of these names are told during a request to its client, too.

        Returns the handler that was added to them, for `removeHandler`. Name none if the handlers
        are set up elsewhere, as by `dictConfig`. Which messages a client wants is up to it; which a
        logger passes on is its level, as ever.
        """
        return self._service.route_logging(loggers)

    def connect(self, send: Callable[[bytes], None]) -> Connection:
        """Return a connection for one peer; `send` gets every message that is not an answer."""
        return Connection(self._service, send, opens=True)

    def asgi(self, options: HttpOptions | None = None) -> HttpApplication:
        """Return the HTTP service as an ASGI application, for any ASGI host.

        An application that mounts it takes its `lifespan`, to drain what is in flight at the end.
        """
        from anyshape.server.http import HttpApplication

        return HttpApplication(self._service, options)

    @overload
    def run(self, transport: Literal["stdio"] = "stdio") -> None: ...

    @overload
    def run(
        self,
        transport: Literal["http"],
        *,
        host: str = "127.0.0.1",
        port: int = 8000,
        options: HttpOptions | None = None,
        **settings: Any,
    ) -> None: ...

    def run(self, transport: Literal["stdio", "http"] = "stdio", **settings: Any) -> None:
        """Serve until told to stop: on stdio, or over HTTP at `/mcp` on `host` and `port`.

        `settings` go to `uvicorn.Config` as they are (`ssl_keyfile`, `log_level`, `uds`, …); for
        several worker processes see the guide to deploying.
        """
        check_transport(transport, settings)
        if transport == "stdio":
            from anyshape.server.stdio_host import run_stdio

            run_stdio(self._service)
        else:
            from anyshape.server.http_host import hosting, run_http

            run_http(**hosting(self._service, **settings))

    @overload
    async def run_async(self, transport: Literal["stdio"] = "stdio") -> None: ...

    @overload
    async def run_async(
        self,
        transport: Literal["http"],
        *,
        host: str = "127.0.0.1",
        port: int = 8000,
        options: HttpOptions | None = None,
        **settings: Any,
    ) -> None: ...

    async def run_async(
        self, transport: Literal["stdio", "http"] = "stdio", **settings: Any
    ) -> None:
        """Serve as `run` does, on an event loop that is running already."""
        check_transport(transport, settings)
        if transport == "stdio":
            from anyshape.server.stdio_host import serve_stdio

            await serve_stdio(self._service)
        else:
            from anyshape.server.http_host import hosting, serve_http

            await serve_http(**hosting(self._service, **settings))

    async def work(self, *, concurrency: int = 10) -> None:
        """Work on tasks in Valkey or Redis until cancelled, as `anyshape worker` does."""
        from anyshape.server.tasks.worker import work_on_tasks

        await work_on_tasks(self._service, concurrency)
