"""A client of an ASGI application in this process, request by request, streams included."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from patience import turn_until

LATEST = "2025-11-25"


class Event:
    """One server-sent event: its id, what to wait before coming back, and its message."""

    def __init__(self, text: str) -> None:
        self.fields = dict(line.split(": ", 1) for line in text.split("\n"))

    @property
    def id(self) -> str | None:
        return self.fields.get("id")

    @property
    def message(self) -> Any:
        """What it carries, `None` if that is nothing."""
        return json.loads(self.fields["data"]) if self.fields.get("data") else None


class Response:
    """What an application sends back, as it comes."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.body = b""
        self.ended = False
        self._gone = asyncio.Event()
        self.task: asyncio.Task[None] | None = None
        self.reading = asyncio.Event()
        self.reading.set()

    async def take(self, message: Mapping[str, Any]) -> None:
        await self.reading.wait()
        if self._gone.is_set():
            return
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {name.decode(): value.decode() for name, value in message["headers"]}
        else:
            self.body += message.get("body", b"")
            self.ended = not message.get("more_body", False)

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def events(self) -> list[Event]:
        texts = self.body.decode().split("\n\n")[:-1]
        return [Event(text) for text in texts if not text.startswith(":")]

    @property
    def messages(self) -> list[Any]:
        return [event.message for event in self.events if event.message is not None]

    @property
    def last_id(self) -> str:
        ids = [event.id for event in self.events if event.id is not None]
        return ids[-1]

    async def heard(self, count: int = 1) -> list[Any]:
        """Return the messages once there are so many."""
        await turn_until(lambda: len(self.messages) >= count)
        return self.messages

    async def begun(self) -> Response:
        """Return it once it has begun."""
        await turn_until(lambda: self.status and (self.body or self.ended))
        return self

    async def over(self) -> Response:
        """Return it once it has ended."""
        await turn_until(lambda: self.ended)
        return self

    async def hang_up(self) -> None:
        """Close the connection, and wait until the application has noticed, if it looks."""
        self._gone.set()


class Browser:
    """Sends requests of one session to an application; `token` is sent as an access token."""

    def __init__(
        self,
        application: Any,
        revision: str = LATEST,
        token: str | None = None,
        capabilities: Mapping[str, Any] | None = None,
    ) -> None:
        self.application = application
        self.revision = revision
        self.session: str | None = None
        self.greeting: Any = None
        self._token = token
        self._capabilities = dict(capabilities or {})
        self._id = 0
        self._open: list[Response] = []

    async def __aenter__(self) -> Browser:
        params: dict[str, Any] = {
            "protocolVersion": self.revision,
            "capabilities": self._capabilities,
            "clientInfo": {},
        }
        answer = await self.ask("initialize", **params)
        self.session = answer.headers.get("mcp-session-id")
        self.greeting = answer.json["result"]
        return self

    async def __aexit__(self, *_: object) -> None:
        for response in self._open:
            await response.hang_up()
        tasks = [response.task for response in self._open if response.task is not None]
        await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def start(self, http_method: str, body: Any = None, **headers: str | None) -> Response:
        """Begin a request; what comes back is filled in meanwhile."""
        given: dict[str, str | None] = {
            "host": "mcp.example.com",
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": self.revision if self.session else None,
            "mcp-session-id": self.session,
            "authorization": self._token and f"Bearer {self._token}",
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        scope = {
            "type": "http",
            "method": http_method,
            "path": "/mcp",
            "headers": [(k.encode(), v.encode()) for k, v in given.items() if v is not None],
            "server": ("10.0.0.1", 80),
        }
        response = Response()
        pending = [b"" if body is None else json.dumps(body).encode()]

        async def receive() -> dict[str, Any]:
            if pending:
                return {"type": "http.request", "body": pending.pop(), "more_body": False}
            await response._gone.wait()
            return {"type": "http.disconnect"}

        handling = self.application(scope, receive, response.take)
        response.task = asyncio.get_running_loop().create_task(handling)
        self._open.append(response)
        return response

    def post(self, method: str, *, id: int | None = None, **params: Any) -> Response:
        """Begin to ask something."""
        self._id += 1
        body = {"jsonrpc": "2.0", "id": id or self._id, "method": method, "params": params}
        return self.start("POST", body)

    async def ask(self, method: str, **params: Any) -> Response:
        """Return the whole answer to a request."""
        return await self.post(method, **params).over()

    async def listen(self, **headers: str | None) -> Response:
        """Open the stream of the session."""
        return await self.start("GET", **headers).begun()

    async def end(self) -> Response:
        """End the session."""
        return await self.start("DELETE").over()
