"""Raw ends of the wire: a server process on a pipe, and one behind HTTP."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import queue
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Mapping
from pathlib import Path
from typing import Any

import pytest
from patience import PATIENCE, is_listening, until

from .redis_process import RedisProcess
from .visiting import META, MODERN

SCRIPT = Path(__file__).parent / "wire_server.py"
HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")


def modern_meta(**extra: Any) -> dict[str, Any]:
    """Return the `_meta` that every modern request needs."""
    info = {"name": "raw", "version": "0"}
    return {**META, "io.modelcontextprotocol/clientInfo": info, **extra}


def message(method: str, params: Mapping[str, Any] | None = None, id: Any = None) -> dict[str, Any]:
    """Return a request, or without an id a notification."""
    body: dict[str, Any] = {"jsonrpc": "2.0"}
    if id is not None:
        body["id"] = id
    body["method"] = method
    if params is not None:
        body["params"] = dict(params)
    return body


BUFFERED = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
"""Prints to a pipe stay in a buffer, as they do for most users."""


class Pipe:
    """A server on stdio, one line at a time."""

    def __init__(self, *command: str) -> None:
        self.process = subprocess.Popen(
            command or (sys.executable, str(SCRIPT)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=BUFFERED,
        )
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self.errors: list[bytes] = []
        threading.Thread(target=self._read, daemon=True).start()
        self._errors_reader = threading.Thread(target=self._read_errors, daemon=True)
        self._errors_reader.start()
        self.revision: str | None = None
        self._next = 1000

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.errors.append(line)

    def write(self, data: bytes) -> None:
        """Write bytes as they are."""
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, body: Any) -> None:
        """Write one message."""
        self.write(json.dumps(body).encode() + b"\n")

    def receive(self) -> Any:
        """Return the next message; fail if there is none in time."""
        line = self._lines.get(timeout=PATIENCE)
        assert line is not None, "the server has closed its output"
        return json.loads(line)

    def is_silent(self, moment: float = 0.2) -> bool:
        """Tell whether nothing comes for a moment."""
        try:
            line = self._lines.get(timeout=moment)
        except queue.Empty:
            return True
        raise AssertionError(f"unexpected: {line!r}")

    def has_ended(self) -> bool:
        """Tell whether nothing follows but the end of both streams."""
        line = self._lines.get(timeout=PATIENCE)
        assert line is None, f"unexpected: {line!r}"
        self._errors_reader.join(PATIENCE)
        return True

    def ask(self, method: str, params: Mapping[str, Any] | None = None, id: Any = None) -> Any:
        """Send a request and return the next message."""
        if id is None:
            self._next += 1
            id = self._next
        self.send(message(method, params, id))
        return self.receive()

    def initialize(self, revision: str) -> Any:
        """Go through the handshake."""
        answer = self.ask(
            "initialize",
            {
                "protocolVersion": revision,
                "capabilities": {},
                "clientInfo": {"name": "raw", "version": "0"},
            },
        )
        self.send(message("notifications/initialized"))
        self.revision = revision
        return answer

    def request(self, method: str, params: Mapping[str, Any] | None = None, id: Any = None) -> Any:
        """Ask as the revision of this pipe wants to be asked."""
        if self.revision == MODERN:
            params = {"_meta": modern_meta(), **(params or {})}
        return self.ask(method, params, id)

    def call(self, name: str, arguments: Mapping[str, Any] | None = None, id: Any = None) -> Any:
        """Call a tool and return the next message."""
        return self.request("tools/call", {"name": name, "arguments": dict(arguments or {})}, id)

    def start(self, name: str, arguments: Mapping[str, Any], id: Any, **meta: Any) -> None:
        """Call a tool without waiting for anything."""
        params: dict[str, Any] = {"name": name, "arguments": dict(arguments)}
        if self.revision == MODERN:
            params["_meta"] = modern_meta(**meta)
        elif meta:
            params["_meta"] = meta
        self.send(message("tools/call", params, id))

    def finish(self) -> int:
        """Close our end and return how the process ended."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(PATIENCE)

    def close(self) -> None:
        """End the process, whatever it does."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(PATIENCE)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None and not stream.closed:
                with contextlib.suppress(OSError):
                    stream.close()


class Answer:
    """One HTTP response: status, headers by lower-case name, body."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.body = response.read()

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)

    @property
    def events(self) -> list[Any]:
        """The messages of an event stream."""
        assert self.headers["content-type"].startswith("text/event-stream"), self.headers
        return [
            json.loads(line[5:]) for line in self.body.splitlines() if line.startswith(b"data:")
        ]


class Web:
    """A server behind HTTP."""

    def __init__(self, port: int) -> None:
        self.port = port

    def open(self) -> socket.socket:
        """Return a raw connection."""
        return socket.create_connection(("127.0.0.1", self.port), PATIENCE)

    def raw(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send one HTTP request as it is."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request(method, path, body=body, headers=dict(headers or {}))
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def post(self, body: Any, headers: Mapping[str, str | None] | None = None) -> Answer:
        """Post a message with the usual headers; a header given as `None` is left out."""
        usual: dict[str, str | None] = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            **(headers or {}),
        }
        sent = {name: value for name, value in usual.items() if value is not None}
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.raw("POST", "/mcp", data, sent)

    def request(
        self,
        revision: str | None,
        method: str,
        params: Mapping[str, Any] | None = None,
        id: Any = 1,
        headers: Mapping[str, str | None] | None = None,
    ) -> Answer:
        """Ask as the revision wants to be asked."""
        return self.post(
            message(method, with_meta(revision, params), id),
            {**headers_for(revision, method, params), **(headers or {})},
        )

    def call(
        self,
        revision: str | None,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        headers: Mapping[str, str | None] | None = None,
    ) -> Answer:
        """Call a tool."""
        params = {"name": name, "arguments": dict(arguments or {})}
        return self.request(revision, "tools/call", params, headers=headers)


def with_meta(revision: str | None, params: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return parameters as the revision wants them."""
    if revision != MODERN:
        return None if params is None else dict(params)
    own = dict(params or {})
    return {**own, "_meta": {**modern_meta(), **own.get("_meta", {})}}


def headers_for(
    revision: str | None, method: str, params: Mapping[str, Any] | None
) -> dict[str, str | None]:
    """Return the headers the revision wants."""
    headers: dict[str, str | None] = {}
    if revision is not None and revision not in ("2024-11-05", "2025-03-26"):
        headers["MCP-Protocol-Version"] = revision
    if revision == MODERN:
        headers["Mcp-Method"] = method
        if params and "name" in params:
            headers["Mcp-Name"] = str(params["name"])
    return headers


@pytest.fixture
def pipe() -> Generator[Pipe]:
    """A server process on stdio that has said nothing yet."""
    pipe = Pipe()
    yield pipe
    pipe.close()


@pytest.fixture
def start_pipe() -> Generator[Callable[..., Pipe]]:
    """Start server processes on stdio, of commands of the test's own if it has any."""
    pipes: list[Pipe] = []

    def start(*command: str) -> Pipe:
        pipes.append(Pipe(*command))
        return pipes[-1]

    yield start
    for pipe in pipes:
        pipe.close()


@pytest.fixture(params=[*HANDSHAKE, MODERN])
def fresh(request: pytest.FixtureRequest, pipe: Pipe) -> Pipe:
    """A server process of the test's own, at each revision, after any handshake."""
    return _speak(pipe, request.param)


@pytest.fixture(scope="session")
def shared_pipes() -> Generator[Callable[[str | None], Pipe]]:
    """Server processes that tests share, one per revision; `None` has had no handshake."""
    pipes: dict[str | None, Pipe] = {}

    def share(revision: str | None) -> Pipe:
        if revision not in pipes:
            pipes[revision] = _speak(Pipe(), revision)
        return pipes[revision]

    yield share
    for pipe in pipes.values():
        pipe.close()


@pytest.fixture(params=[*HANDSHAKE, MODERN])
def spoken(request: pytest.FixtureRequest, shared_pipes: Callable[[str | None], Pipe]) -> Pipe:
    """A server process at each revision, shared by tests that leave it as they found it."""
    return shared_pipes(request.param)


@pytest.fixture
def greeted(shared_pipes: Callable[[str | None], Pipe]) -> Pipe:
    """The shared server process at 2025-11-25."""
    return shared_pipes("2025-11-25")


@pytest.fixture
def ungreeted(shared_pipes: Callable[[str | None], Pipe]) -> Pipe:
    """The shared server process that has had no handshake."""
    return shared_pipes(None)


def _speak(pipe: Pipe, revision: str | None) -> Pipe:
    if revision is None or revision == MODERN:
        pipe.revision = revision
    else:
        pipe.initialize(revision)
    return pipe


@pytest.fixture(scope="session")
def web() -> Generator[Web]:
    """A server process behind HTTP."""
    with run_web(str(SCRIPT), "http") as web:
        yield web


@pytest.fixture
def start_web() -> Generator[Callable[..., run_web]]:
    """Start server processes of the test's own behind HTTP, of scripts of its own if it has any."""
    running: list[run_web] = []

    def start(*command: str) -> run_web:
        running.append(run_web(*(command or (str(SCRIPT), "http"))))
        running[-1].__enter__()
        return running[-1]

    yield start
    for each in running:
        each.__exit__()


@pytest.fixture(scope="module")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Generator[RedisProcess]:
    """Give a Redis that the tests of a module share."""
    with RedisProcess(tmp_path_factory.mktemp("redis")) as process:
        yield process


@pytest.fixture
def mortal_redis(tmp_path: Path) -> Generator[RedisProcess]:
    """Give one that a test may stop."""
    with RedisProcess(tmp_path) as process:
        yield process


class run_web:
    """Run a script, with a free port as its last argument, until the block ends."""

    def __init__(self, *command: str) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        self.process = subprocess.Popen(
            [sys.executable, *command, str(self.port)], stderr=subprocess.PIPE
        )
        self.errors: list[bytes] = []
        self._reader = threading.Thread(target=self._read_errors, daemon=True)
        self._reader.start()

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.errors.append(line)

    def __enter__(self) -> Web:
        until(lambda: is_listening(self.port) or self.process.poll() is not None)
        if self.process.poll() is not None:
            self._end()
            raise AssertionError(f"the server did not start: {self.errors}")
        self.web = Web(self.port)
        return self.web

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.terminate()
        self._end()

    def _end(self) -> None:
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        if self.process.stderr is not None:
            self.process.stderr.close()
