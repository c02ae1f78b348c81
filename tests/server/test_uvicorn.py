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

import pytest
import uvicorn
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
    "handle_websocket_upgrade",
    "on_body",
    "on_headers_complete",
    "on_message_complete",
    "pause_writing",
    "resume_writing",
    "shutdown",
    "timeout_keep_alive_handler",
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


def test_every_process_is_set_up_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[dict[str, Any]] = []

    class Config:
        def __init__(self, _application: object, **settings: Any) -> None:
            seen.append(settings)

    class Runner:
        def __init__(self, _config: Config) -> None:
            pass

        def run(self, _sockets: object) -> None:
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
