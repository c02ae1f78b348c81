"""Upstreams under a path each: `/github/mcp`, beside the endpoint of all or instead of it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from patience import PATIENCE, turn_until
from tests.server.visiting import Visit, call

from anyshape import Client, Server
from anyshape.gateway import AuditLog, Gateway, GatewayMetrics, Upstream, subscriptions
from anyshape.server import AccessToken, Authorization, HttpOptions

NOTES = "notes://all"


def made(name: str) -> Server:
    server = Server(name)

    @server.tool(name="who")
    async def who() -> str:
        return name

    @server.tool(name="erase")
    async def erase() -> str:
        return f"{name} erased"

    @server.prompt(name="greet")
    async def greet() -> str:
        return f"hello from {name}"

    @server.resource(NOTES)
    async def notes() -> str:
        return f"notes of {name}"

    return server


@pytest.fixture
def fleet() -> dict[str, Upstream]:
    return {
        "one": Upstream(target=made("one"), deny=("erase",)),
        "two": Upstream(target=made("two"), prefix="second.", rename={"erase": "wipe"}),
    }


async def tools(server: Server | Gateway) -> list[str]:
    async with Client(server) as client:
        return [tool.name for tool in await client.list_tools()]


async def test_names_need_no_prefix_under_a_path(fleet: dict[str, Upstream]) -> None:
    gateway = Gateway(fleet, endpoints="both")
    assert await tools(gateway) == ["one_who", "second.who", "wipe"]
    assert await tools(gateway.at("one")) == ["who"]
    assert await tools(gateway.at("two")) == ["who", "wipe"]
    async with Client(gateway.at("two")) as client:
        assert await client.call("wipe") == "two erased"
        assert (await client.get_prompt("greet")).text == "hello from two"
        assert (await client.read_resource(NOTES)).text == "notes of two"


@pytest.mark.parametrize("endpoints", ["each", "both"])
async def test_every_upstream_answers_at_its_path(
    fleet: dict[str, Upstream], endpoints: Any
) -> None:
    application = Gateway(fleet, endpoints=endpoints).asgi()
    async with application.lifespan():
        for name in fleet:
            for path in (f"/{name}/mcp", f"/{name}/mcp/"):
                reply = await call("who", path=path).to(application)
                assert reply.json["result"]["structuredContent"] == name
        reply = await call("one_who").to(application)
    assert reply.status == (200 if endpoints == "both" else 404)


async def test_a_path_that_nobody_has_is_404_and_says_which_there_are(
    fleet: dict[str, Upstream],
) -> None:
    for endpoints, known in (("each", ""), ("both", "/mcp, ")):
        application = Gateway(fleet, endpoints=endpoints).asgi()  # pyright: ignore[reportArgumentType]
        async with application.lifespan():
            reply = await call("who", path="/three/mcp").to(application)
        assert reply.status == 404
        assert f"endpoints are {known}/one/mcp, /two/mcp" in reply.body.decode()


async def test_a_resource_that_two_have_is_said_to_need_paths(
    fleet: dict[str, Upstream], caplog: pytest.LogCaptureFixture
) -> None:
    gateway = Gateway(fleet)
    async with Client(gateway):
        (collision,) = gateway.collisions
        assert (collision.noun, collision.name) == ("resource", NOTES)
    assert 'endpoints="each" gives every upstream a path' in caplog.text


async def test_probes_are_served_beside_the_paths(fleet: dict[str, Upstream]) -> None:
    gateway = Gateway(fleet, endpoints="each")
    application = gateway.asgi(HttpOptions(path="/v1/mcp"))
    async with application.lifespan():
        reply = await Visit(method="GET", path="/ready").to(application)
        assert reply.json == {"ready": True}
        paths = [each["path"] for each in gateway.health.as_data()["upstreams"]]
    assert paths == ["/one/v1/mcp", "/two/v1/mcp"]


def test_a_name_that_cannot_be_part_of_a_path_is_refused() -> None:
    with pytest.raises(ValueError, match="part of a path"):
        Gateway({"a/b": made("a")}, endpoints="each")


class Ear:
    """Counts what it hears of."""

    def __init__(self) -> None:
        self.heard: asyncio.Queue[str] = asyncio.Queue()

    def __call__(self, what: str) -> None:
        self.heard.put_nowait(what)

    async def next(self) -> str:
        async with asyncio.timeout(PATIENCE):
            return await self.heard.get()


async def test_only_the_path_whose_list_changed_tells_its_clients(
    fleet: dict[str, Upstream],
) -> None:
    gateway, ears = Gateway(fleet, endpoints="both"), [Ear(), Ear(), Ear()]
    async with (
        Client(gateway, on_list_changed=ears[0]) as everything,
        Client(gateway.at("one"), on_list_changed=ears[1]) as first,
        Client(gateway.at("two"), on_list_changed=ears[2]) as second,
    ):
        for client in (everything, first, second):
            await client.list_tools()
        changed: Any = fleet["two"].target
        changed.remove_tool("who")
        assert [await ears[0].next(), await ears[2].next()] == ["tools", "tools"]
        assert [tool.name for tool in await second.list_tools()] == ["wipe"]
        assert [tool.name for tool in await first.list_tools()] == ["who"]
        assert ears[1].heard.empty()


@pytest.mark.parametrize("revision", ["2026-07-28", "2025-11-25"])
async def test_a_resource_is_watched_upstream_while_any_endpoint_has_somebody_watching(
    fleet: dict[str, Upstream], revision: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    gateway, changed = Gateway(fleet, endpoints="both"), fleet["one"].target
    assert isinstance(changed, Server)
    here, there = Ear(), Ear()
    async with Client(gateway, revision=revision) as everything:
        await everything.subscribe(NOTES, here)
        async with Client(gateway.at("one"), revision=revision) as own:
            await own.subscribe(NOTES, there)
            changed.resource_changed(NOTES)
            assert [await here.next(), await there.next()] == [NOTES, NOTES]
            monkeypatch.setattr(subscriptions, "_LINGER", 0.01)
            await everything.unsubscribe(NOTES)
            watched = gateway.upstreams["one"].subscriptions
            await turn_until(lambda: watched.count_owners(NOTES) == 1)
            changed.resource_changed(NOTES)
            assert await there.next() == NOTES
        await turn_until(lambda: watched.count_owners(NOTES) == 0)
    assert here.heard.empty()


async def test_what_is_asked_at_a_path_is_written_down_with_it(
    fleet: dict[str, Upstream], tmp_path: Path
) -> None:
    audit, metrics = AuditLog(tmp_path / "audit.log"), GatewayMetrics()
    application = Gateway(fleet, endpoints="both", audit=audit, metrics=metrics).asgi()
    async with application.lifespan():
        await call("who", path="/one/mcp").to(application)
        await call("nothing", path="/one/mcp").to(application)
        await call("one_who").to(application)
    audit.close()
    lines = [json.loads(line) for line in (tmp_path / "audit.log").read_text().splitlines()]
    assert [(line.get("path"), line["upstream"], line["verdict"]) for line in lines] == [
        ("/one", "one", "ok"),
        ("/one", "one", "refused"),
        (None, "one", "ok"),
    ]
    assert 'upstream="one",method="tools/call",verdict="ok"} 2\n' in metrics.registry.text()


async def test_paths_come_and_go_with_the_configuration(fleet: dict[str, Upstream]) -> None:
    gateway = Gateway(fleet, endpoints="each")
    application = gateway.asgi()

    async def status(name: str) -> int:
        return (await call("who", path=f"/{name}/mcp").to(application)).status

    async with application.lifespan():
        await gateway.reconfigure({"two": fleet["two"], "three": made("three")})
        assert [await status(name) for name in ("one", "two", "three")] == [404, 200, 200]
        await gateway.reconfigure({"one": fleet["one"]})
        assert [await status(name) for name in ("one", "two", "three")] == [200, 404, 404]


async def test_a_call_at_a_path_that_goes_is_answered(fleet: dict[str, Upstream]) -> None:
    started, go_on = asyncio.Event(), asyncio.Event()
    server = made("slow")

    @server.tool
    async def wait() -> str:
        started.set()
        await go_on.wait()
        return "done"

    gateway = Gateway({"slow": server, **fleet}, endpoints="each")
    application = gateway.asgi()
    async with application.lifespan():
        waiting = asyncio.create_task(call("wait", path="/slow/mcp").to(application))
        await started.wait()
        going = asyncio.create_task(gateway.reconfigure(fleet))
        await turn_until(lambda: "slow" not in gateway.upstreams)
        go_on.set()
        assert (await waiting).json["result"]["structuredContent"] == "done"
        await going


class Letters:
    """Tokens that spell the path they are for, and their scopes."""

    async def verify(self, token: str) -> AccessToken:
        path, *scopes = token.split(":")
        audience = (f"https://mcp.example.com{path}",)
        return AccessToken("ada", scopes=frozenset(scopes), audience=audience)


async def test_scopes_hold_at_a_path_and_tokens_are_for_one(fleet: dict[str, Upstream]) -> None:
    authorization = Authorization(
        Letters(),
        "https://mcp.example.com/mcp",
        ("https://auth.example.com",),
        tool_scopes={"wipe": ("write",), "second.who": ("read",)},
    )
    gateway = Gateway(fleet, endpoints="both")
    application = gateway.asgi(HttpOptions(authorization=authorization))

    async def ask(tool: str, token: str, path: str = "/two/mcp") -> int:
        headers = {"authorization": f"Bearer {token}"}
        return (await call(tool, path=path, headers=headers).to(application)).status

    async with application.lifespan():
        assert await ask("wipe", "/two/mcp:write") == 200
        assert await ask("wipe", "/two/mcp:read") == 403
        assert await ask("who", "/two/mcp:read") == 200
        assert await ask("who", "/two/mcp:write") == 403
        assert await ask("who", "/mcp:read") == 401
        assert await ask("second.who", "/mcp:read", "/mcp") == 200
        place = "/.well-known/oauth-protected-resource/two/mcp"
        reply = await Visit(method="GET", path=place).to(application)
        assert reply.json["resource"] == "https://mcp.example.com/two/mcp"
        unknown = await call("who", path="/three/mcp").to(application)
    assert (unknown.status, b"one/mcp" in unknown.body) == (404, False)
