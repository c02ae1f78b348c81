"""Two replicas of a gateway that share Redis: to clients, and to whoever pins, they are one."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import AsyncGenerator, Callable, Generator
from pathlib import Path
from typing import Any

import pytest
from patience import PAUSE, turn_until
from tests.server.browsing import Browser
from tests.server.redis_process import RedisProcess
from tests.server.visiting import call

from anyshape import Client, Context, Server
from anyshape.errors import PinError
from anyshape.gateway import ConfigError, Gateway, Pins, Upstream, load
from anyshape.gateway import upstream as upstream_module
from anyshape.gateway.settings import GatewaySettings, ReplicaSettings
from anyshape.server import RedisStore

KEY = b"k" * 32
NOTES = "notes://all"


@pytest.fixture
def redis(tmp_path: Path) -> Generator[RedisProcess]:
    process = RedisProcess(tmp_path)
    process.start()
    yield process
    process.stop()


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upstream_module, "_FIRST_DELAY", 0.01)


@pytest.fixture
def up() -> Server:
    server = Server("up")

    @server.tool
    async def add(a: int, b: int) -> int:
        return a + b

    @server.tool
    async def ask(context: Context) -> str:
        return (await context.elicit("Sure?", bool)).action

    @server.resource(NOTES)
    async def notes() -> str:
        return "notes"

    return server


class Replica:
    """One process of a gateway, as far as anybody can tell."""

    def __init__(self, server: Server, settings: GatewaySettings, **options: Any) -> None:
        assert settings.replicas is not None
        self.gateway = Gateway(
            {"up": Upstream(target=server, **options)},
            vetting=settings.vetting(),
            shared_pins=settings.shared_pins("anyshape-gateway"),
            options=settings.replicas.server_options(),
        )
        self.application = self.gateway.asgi(settings.replicas.http_options())

    @property
    def tools(self) -> list[str]:
        return list(self.gateway.server.tools)


def settings_of(redis: RedisProcess, **more: Any) -> GatewaySettings:
    replicas = ReplicaSettings(store=RedisStore(redis.url), keys=(KEY,))
    return GatewaySettings(replicas=replicas, **more)


@contextlib.asynccontextmanager
async def running(
    server: Server, settings: GatewaySettings, **options: Any
) -> AsyncGenerator[tuple[Replica, Replica]]:
    one, two = Replica(server, settings, **options), Replica(server, settings, **options)
    async with one.application.lifespan(), two.application.lifespan():
        yield one, two


@contextlib.asynccontextmanager
async def session(
    one: Replica, two: Replica, **settings: Any
) -> AsyncGenerator[tuple[Browser, Browser]]:
    """Give a session, seen from where each replica serves it."""
    async with Browser(one.application, **settings) as here:
        there = Browser(two.application, **settings)
        there.session = here.session
        try:
            yield here, there
        finally:
            await there.__aexit__()


async def pins_of(server: Server) -> Pins:
    async with Client(server) as client:
        return Pins().pin(
            "up",
            {
                "tools": [tool.entry for tool in await client.list_tools()],
                "resources": [each.entry for each in await client.list_resources()],
            },
        )


async def test_a_session_goes_on_at_the_other_replica(redis: RedisProcess, up: Server) -> None:
    async with (
        running(up, settings_of(redis)) as (one, two),
        session(one, two) as (_, there),
    ):
        answer = await there.ask("tools/call", name="add", arguments={"a": 1, "b": 2})
        assert answer.json["result"]["structuredContent"] == {"result": 3}


async def test_changes_upstream_reach_a_session_whose_stream_is_at_the_other_replica(
    redis: RedisProcess, up: Server
) -> None:
    async with (
        running(up, settings_of(redis)) as (one, two),
        session(one, two) as (here, there),
    ):
        stream = await there.listen()
        assert (await here.ask("resources/subscribe", uri=NOTES)).json["result"] == {}

        def told(method: str) -> Callable[[], bool]:
            return lambda: any(each["method"] == method for each in stream.messages)

        watched = two.gateway.upstreams["up"].subscriptions
        await turn_until(lambda: watched.count_owners(NOTES), PAUSE)
        up.resource_changed(NOTES)
        await turn_until(told("notifications/resources/updated"), PAUSE)
        up.remove_tool("add")
        await turn_until(told("notifications/tools/list_changed"), PAUSE)
        await turn_until(lambda: one.tools == two.tools == ["ask"], PAUSE)


async def test_an_answer_reaches_the_replica_whose_upstream_asked(
    redis: RedisProcess, up: Server
) -> None:
    async with (
        running(up, settings_of(redis)) as (one, two),
        session(one, two, capabilities={"elicitation": {}}) as (here, there),
    ):
        asked = here.post("tools/call", name="ask", arguments={})
        (question,) = await asked.heard()
        result = {"action": "decline"}
        answer = {"jsonrpc": "2.0", "id": question["id"], "result": result}
        assert (await there.start("POST", answer).over()).status == 202
        await asked.over()
        assert asked.messages[-1]["result"]["structuredContent"] == {"result": "decline"}


async def test_a_round_that_another_replica_holds_is_refused_and_runs_nothing_twice(
    redis: RedisProcess, up: Server
) -> None:
    begun: list[str] = []

    @up.tool
    async def once(context: Context) -> str:
        begun.append("once")
        return (await context.elicit("Sure?", bool)).action

    capable: dict[str, Any] = {
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}}
    }
    async with running(up, settings_of(redis), revision="2025-11-25") as (one, two):
        first = (await call("once", meta=capable).to(one.application)).json["result"]
        assert first["resultType"] == "input_required"
        (key,) = first["inputRequests"]
        given = {"inputResponses": {key: {"action": "decline"}}}
        again = call("once", meta=capable, params={**given, "requestState": first["requestState"]})
        refused = (await again.to(two.application)).json["result"]
        assert "another replica" in refused["content"][0]["text"]
        assert begun == ["once"]


async def test_published_pins_are_in_force_at_every_replica_at_once(
    redis: RedisProcess, up: Server
) -> None:
    settings = settings_of(redis, shares_pins=True)
    shared = settings.shared_pins("anyshape-gateway")
    assert shared is not None
    async with running(up, settings) as (one, two):
        assert (one.tools, two.tools) == ([], [])
        assert "is not pinned" in one.gateway.withheld["up/add"]
        await shared.publish(await pins_of(up))
        await turn_until(lambda: one.tools == two.tools == ["add", "ask"], PAUSE)
        one.gateway.vet_with(settings.vetting())  # as when a file is read again
        up.remove_tool("add")

        @up.tool(name="add")
        async def add_more(a: int, password: str) -> str:
            return f"{a}{password}"

        await turn_until(lambda: one.tools == two.tools == ["ask"], PAUSE)
        await shared.publish(await pins_of(up))
        await turn_until(lambda: one.tools == two.tools == ["ask", "add"], PAUSE)
    async with running(up, settings) as (one, two):  # those that start later have them, too
        assert (one.tools, two.tools) == (["ask", "add"], ["ask", "add"])


async def test_without_the_store_the_file_is_gone_by_until_it_is_back(
    redis: RedisProcess, up: Server, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "pins.json"
    (await pins_of(up)).save(file)
    settings = settings_of(redis, shares_pins=True, pins_file=file)
    shared = settings.shared_pins("anyshape-gateway")
    assert shared is not None
    redis.stop()
    with pytest.raises(PinError, match="cannot publish pins to redis://"):
        await shared.publish(Pins())
    async with running(up, settings) as (one, two):
        assert one.tools == two.tools == ["add", "ask"]
        assert "is away" in caplog.text
        redis.start()
        await shared.publish(Pins())
        await turn_until(lambda: one.tools == two.tools == [], PAUSE)


async def test_pins_in_the_store_that_cannot_be_read_change_nothing(
    redis: RedisProcess, up: Server, caplog: pytest.LogCaptureFixture
) -> None:
    settings = settings_of(redis, shares_pins=True)
    shared = settings.shared_pins("anyshape-gateway")
    assert shared is not None
    await shared.publish(await pins_of(up))
    caplog.set_level(logging.ERROR)
    async with running(up, settings) as (one, _):
        client = RedisStore(redis.url).connect()
        await client.xadd("anyshape:anyshape-gateway:pins", {b"pins": b"{}"})
        await client.aclose()
        await turn_until(lambda: "pins stay as they are" in caplog.text, PAUSE)
        assert one.tools == ["add", "ask"]


def write(folder: Path, text: str) -> Path:
    path = folder / "fleet.toml"
    path.write_text('[upstreams.a]\nurl = "http://127.0.0.1:1/mcp"\n' + text)
    return path


def test_a_file_says_what_replicas_share(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLEET_KEY", "k" * 32)
    monkeypatch.setenv("FLEET_STORE", "redis://:secret@127.0.0.1:1/0")
    settings = load(
        write(
            tmp_path,
            '[replicas]\nstore = "${FLEET_STORE}"\nkeys = ["${FLEET_KEY}"]\n'
            '[pins]\nshared = true\nunknown = "admit"\n',
        )
    ).settings
    assert settings.replicas is not None
    assert settings.replicas.server_options().state_keys == (KEY,)
    assert "secret" not in repr(settings)
    assert "kkk" not in repr(settings)
    assert settings.shared_pins("x") is not None
    assert settings.pins.unknown == "admit"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[replicas]\nkeys = ["k"]\n', "expected store ="),
        ('[replicas]\nstore = "redis://x"\n', "expected a secret that all replicas have"),
        ('[replicas]\nstore = "redis://x"\nkeys = ["short"]\n', "16"),
        ('[replicas]\nstore = "ftp://x"\nkeys = ["kkkkkkkkkkkkkkkk"]\n', "redis://"),
        ('[replicas]\nstor = "redis://x"\n', "did you mean 'store'?"),
        ("[pins]\nshared = true\n", "pins are shared by [replicas]"),
    ],
)
def test_what_replicas_cannot_share_is_told_with_its_line(
    tmp_path: Path, text: str, said: str
) -> None:
    with pytest.raises(ConfigError) as raised:
        load(write(tmp_path, text))
    assert said in str(raised.value)
    assert ", line " in str(raised.value)
