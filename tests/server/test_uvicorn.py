"""What is relied on beyond uvicorn's documentation, and that every process is set up alike.

`HttpProtocol` extends uvicorn's protocol on httptools, whose names are not promised to anybody. If
a test here fails with another uvicorn, read `anyshape.server.http_protocol` again with that one
beside it, then move the bound in pyproject.toml. `anyshape.server.whole_messages` does what uvicorn
does, and only with versions that it names: read it again, too, then add that one to `VERSIONS`.
"""

from __future__ import annotations

import asyncio
import inspect
import re
import tomllib
from importlib.metadata import version
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import uvicorn
from patience import PATIENCE
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from anyshape import Server
from anyshape.server.http_host import run_http, run_workers
from anyshape.server.http_protocol import HttpProtocol
from anyshape.server.whole_messages import VERSIONS, UvicornRecords

ROOT = Path(__file__).parent.parent.parent
EXTENDED = (
    "connection_made",
    "connection_lost",
    "data_received",
    "_should_upgrade",
    "handle_websocket_upgrade",
    "on_body",
    "on_headers_complete",
    "on_message_begin",
    "on_message_complete",
    "on_response_complete",
    "pause_writing",
    "resume_writing",
    "shutdown",
)


def test_the_uvicorn_that_is_here_is_one_that_is_allowed_and_the_next_is_not() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (bounds,) = (each for each in project["dependencies"] if each.startswith("uvicorn"))
    found = re.fullmatch(r"uvicorn>=0\.(\d+),<0\.(\d+)", bounds)
    assert found is not None
    minor = int(version("uvicorn").split(".")[1])
    assert int(found[1]) <= minor == int(found[2]) - 1


@pytest.mark.parametrize("name", EXTENDED)
def test_what_is_extended_is_there_and_called_the_same_way(name: str) -> None:
    theirs = inspect.signature(getattr(HttpToolsProtocol, name))
    ours = inspect.signature(getattr(HttpProtocol, name))
    assert list(theirs.parameters) == list(ours.parameters)


def test_what_is_extended_is_all_that_a_connection_overrides() -> None:
    ours = {name for name, value in vars(HttpProtocol).items() if inspect.isfunction(value)}
    assert ours & set(dir(HttpToolsProtocol)) - {"__init__"} == set(EXTENDED)


async def test_a_connection_has_the_state_that_is_looked_at() -> None:
    config = uvicorn.Config(Server("any").asgi(), log_config=None, ws="none")
    connection = HttpProtocol(config, ServerState(), {}, asyncio.get_running_loop())
    assert (connection.cycle, connection.scope, connection.transport) == (None, None, None)
    assert list(connection.pipeline) == []
    assert connection.tasks is connection.server_state.tasks
    assert connection.connections is connection.server_state.connections
    assert connection.app_state == {}


def test_a_request_has_the_state_that_is_looked_at_and_changed() -> None:
    looked_at = {"scope", "transport", "flow", "access_log", "default_headers", "keep_alive"}
    changed = {
        *("message_event", "on_response", "disconnected", "waiting_for_100_continue"),
        *("body", "more_body", "response_started", "response_complete"),
    }
    known = set(RequestResponseCycle.__init__.__code__.co_names)
    assert looked_at | changed | {"chunked_encoding", "expected_content_length"} >= known - {
        *("logger", "access_logger", "bytearray")
    }
    assert looked_at | changed <= known


def test_the_events_of_the_uvicorn_that_is_here_can_be_gone_past() -> None:
    assert ".".join(version("uvicorn").split(".")[:2]) in VERSIONS
    assert UvicornRecords().own(RequestResponseCycle.__new__(RequestResponseCycle).send) is not None


FORWARDED = [(b"x-forwarded-for", b"203.0.113.7"), (b"X-Forwarded-Proto", b"https")]


async def _see(headers: list[tuple[bytes, bytes]], **settings: Any) -> dict[str, Any]:
    """Return the scope in which an application is called for a request with these headers."""
    seen: list[dict[str, Any]] = []
    called = asyncio.Event()

    async def application(scope: Any, _receive: Any, send: Any) -> None:
        seen.append({name: scope[name] for name in ("client", "scheme", "headers", "path")})
        await send({"type": "http.response.start", "status": 204})
        await send({"type": "http.response.body"})
        called.set()

    config = uvicorn.Config(application, log_config=None, ws="none", lifespan="off", **settings)
    transport = Mock(spec=asyncio.Transport)
    transport.get_extra_info = {"peername": ("127.0.0.1", 5), "socket": None}.get
    transport.is_closing.return_value = False
    connection = HttpProtocol(config, ServerState(), {}, asyncio.get_running_loop())
    connection.connection_made(transport)
    fields = b"".join(b"%b: %b\r\n" % field for field in [(b"Host", b"any"), *headers])
    connection.data_received(b"GET /any HTTP/1.1\r\n%b\r\n" % fields)
    async with asyncio.timeout(PATIENCE):
        await called.wait()
    connection.connection_lost(None)
    return seen[0]


async def test_an_application_sees_who_stands_before_a_trusted_proxy() -> None:
    seen = await _see(FORWARDED)
    assert (seen["client"][0], seen["scheme"]) == ("203.0.113.7", "https")
    for settings in ({"forwarded_allow_ips": "10.0.0.1"}, {"proxy_headers": False}):
        seen = await _see(FORWARDED, **settings)
        assert (seen["client"], seen["scheme"]) == (("127.0.0.1", 5), "http")


async def test_an_application_sees_its_peer_where_no_proxy_says_anything() -> None:
    others = [(b"Forwarded", b"for=203.0.113.7"), (b"X-Forwarded-Host", b"x"), (b"X-Real-IP", b"y")]
    for headers in ([], others):
        seen = await _see(headers)
        assert seen == await _see(headers, proxy_headers=False)
        assert (seen["client"], seen["scheme"]) == (("127.0.0.1", 5), "http")


async def test_uvicorn_s_reader_of_proxies_changes_nothing_without_their_headers() -> None:
    names = [b"host", b"forwarded", b"x-forwarded-host", b"x-forwarded-port", b"x-real-ip", b"via"]
    scope: dict[str, Any] = {
        "type": "http",
        "client": ("127.0.0.1", 5),
        "scheme": "http",
        "headers": [(name, b"203.0.113.7") for name in names],
    }
    given, arguments = dict(scope), (object(), object())
    called: list[tuple[Any, ...]] = []

    async def application(*args: Any) -> None:
        called.append(args)

    await ProxyHeadersMiddleware(application, "*")(scope, *arguments)  # pyright: ignore
    assert called == [(scope, *arguments)]
    assert called[0][0] is scope
    assert scope == given


def test_every_process_is_set_up_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[dict[str, Any]] = []

    class Config:
        def __init__(self, _application: object, **settings: Any) -> None:
            seen.append(settings)

        def get_loop_factory(self) -> None:
            pass

    class Runner:
        def __init__(self, config: Config) -> None:
            self.config = config

        async def serve(self, _sockets: object) -> None:
            pass

    monkeypatch.setattr(uvicorn, "Config", Config)
    monkeypatch.setattr(uvicorn, "Server", Runner)
    monkeypatch.setattr(uvicorn, "run", lambda _factory, **settings: seen.append(settings))  # pyright: ignore
    application = Server("any").asgi()
    grace = application.service.options.grace
    address: dict[str, Any] = {"host": "127.0.0.1", "port": 1}
    run_http(application, **address, settings={"log_level": "warning"})
    run_workers("a:b", **address, grace=grace, settings={"log_level": "warning", "workers": 2})
    one, several = seen
    assert several == {**one, "factory": True, "workers": 2}
