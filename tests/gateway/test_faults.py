"""Upstreams that are not there, go, come back, or change."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Annotated, Any

import pytest
from fastmcp import FastMCP
from patience import PATIENCE, PAUSE, turn_until
from tests.client.fickle import Fickle, FickleConnection

from anyshape import Client, Server
from anyshape.errors import ProtocolError, TransportError
from anyshape.gateway import Gateway, GatewayConfig, Upstream, adopt
from anyshape.gateway import catalogue as catalogue_module
from anyshape.gateway import suggestions as suggestions_module
from anyshape.gateway import upstream as upstream_module
from anyshape.gateway.foreign import ForeignServer
from anyshape.gateway.prompts import ForwardedPrompt
from anyshape.gateway.resources import ForwardedResource
from anyshape.gateway.tools import ForwardedTool
from anyshape.tools.completion import Complete, Completer

SERVER = """
import os
from anyshape import Server
server = Server("child")

@server.tool
def pid() -> int:
    return os.getpid()

@server.tool
def die() -> None:
    os._exit(1)

if __name__ == "__main__":
    server.run()
"""


async def turn() -> None:
    await asyncio.sleep(0)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upstream_module, "_FIRST_DELAY", 0.01)


@pytest.fixture
def child(tmp_path: Path) -> list[str]:
    file = tmp_path / "child.py"
    file.write_text(SERVER)
    return [sys.executable, str(file)]


@pytest.fixture
def steady() -> Server:
    server = Server("steady")

    @server.tool
    async def ping() -> str:
        return "pong"

    return server


async def test_an_upstream_that_is_not_there_costs_its_own_tools(steady: Server) -> None:
    gateway = Gateway({"gone": [sys.executable, "-c", "pass"], "steady": steady})
    async with Client(gateway) as client:
        assert [tool.name for tool in await client.list_tools()] == ["steady_ping"]
        assert (await client.call_tool("steady_ping")).value == "pong"
        assert gateway.upstreams["gone"].reason is not None
        assert not gateway.upstreams["gone"].is_up


async def test_an_upstream_that_dies_is_started_again(child: list[str], steady: Server) -> None:
    gateway = Gateway({"child": child, "steady": steady})
    async with Client(gateway) as client:
        first = (await client.call_tool("child_pid")).value
        link = gateway.upstreams["child"]
        died = await client.call_tool("child_die")
        assert died.is_error
        assert "upstream 'child'" in died.text
        assert (await client.call_tool("steady_ping")).value == "pong"
        await turn_until(lambda: not link.is_up)
        await turn_until(lambda: link.is_up)
        assert (await client.call_tool("child_pid")).value != first


@pytest.mark.parametrize("revision", ["2026-07-28", "2025-11-25"])
async def test_a_process_that_ends_is_noticed_though_nobody_asks_it_anything(
    child: list[str], revision: str
) -> None:
    gateway = Gateway({"child": Upstream(target=child, revision=revision)})
    async with Client(gateway) as client:
        link, first = gateway.upstreams["child"], (await client.call_tool("pid")).value
        os.kill(first, signal.SIGKILL)
        await turn_until(lambda: not link.is_up, PAUSE)
        assert gateway.health.upstreams[0].state == "down"
        assert "exit status -9" in str(gateway.health.upstreams[0].reason)
        await turn_until(lambda: link.is_up, PAUSE)
        assert (await client.call_tool("pid")).value != first


@pytest.mark.parametrize("revision", ["2026-07-28", "2025-11-25"])
async def test_a_server_over_http_that_ends_is_noticed_though_nobody_asks_it_anything(
    child: list[str], revision: str
) -> None:
    python, file = child
    words = [python, "-m", "anyshape", "serve", file, "--http", "--port", "0", "--json"]
    served = await asyncio.create_subprocess_exec(*words, stdout=asyncio.subprocess.PIPE)
    assert served.stdout is not None
    url = json.loads(await served.stdout.readline())["url"]
    gateway = Gateway({"remote": Upstream(target=url, revision=revision)})
    async with Client(gateway) as client:
        link = gateway.upstreams["remote"]
        await turn_until(lambda: link.is_up, PAUSE)
        await client.list_tools()
        served.kill()
        await served.wait()
        await turn_until(lambda: not link.is_up, PAUSE)
        assert gateway.health.upstreams[0].reason


async def test_attempts_to_connect_come_ever_more_rarely_until_a_connection_lasts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Mortal(Server):
        """Can be connected to at some attempts, and then breaks at once."""

        attempts = 0

        def connect(self, send: Any) -> Any:
            self.attempts += 1
            if self.attempts in (4, 8):
                return FickleConnection(super().connect(send), self)
            raise TransportError("it is not there")

        @property
        def is_there(self) -> bool:
            link = gateway.upstreams.get("up")
            return link is None or not link.is_up

    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        if len(pauses) == 6:
            monkeypatch.setattr(upstream_module, "_STEADY", 0.0)  # as if it had lasted
        pauses.append(seconds)
        await (turn() if len(pauses) < 12 else asyncio.Event().wait())

    monkeypatch.setattr(upstream_module, "_FIRST_DELAY", 1.0)
    monkeypatch.setattr(upstream_module, "_STEADY", float("inf"))
    monkeypatch.setattr(upstream_module, "_pause", pause)
    server = Mortal("mortal")
    server.tool(name="hello")(lambda: "hello")
    gateway = Gateway({"up": server, "steady": Server("steady")})
    async with Client(gateway, check_arguments=False) as client:
        async with asyncio.timeout(PATIENCE):
            while len(pauses) < 12:
                link = gateway.upstreams["up"]
                if link.is_up:
                    await client.call_tool("up_hello")
                await turn()
    assert pauses == [1, 2, 4, 8, 16, 30, 30, 1, 2, 4, 8, 16]


async def test_lists_that_cannot_be_read_again_stay_as_they_were(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Forgetful(Server):
        is_there = True

        def connect(self, send: Any) -> Any:
            return _Unlisting(super().connect(send), self)

    server = Forgetful("forgetful")
    server.tool(name="hello")(lambda: "hello")
    gateway = Gateway({"up": server})
    async with Client(gateway) as client:
        assert [tool.name for tool in await client.list_tools()] == ["hello"]
        server.is_there = False
        server.tool(name="more")(lambda: "more")
        await turn_until(lambda: "its last lists are kept" in caplog.text)
        assert gateway.upstreams["up"].is_up
        assert [tool.name for tool in await client.list_tools()] == ["hello"]
        assert (await client.call_tool("hello")).text == "hello"
        server.is_there = True
        server.remove_tool("hello")
        await turn_until(lambda: list(gateway.server.tools) == ["more"])


@pytest.mark.parametrize("feature", ["prompts", "resources", "templates"])
async def test_a_list_that_fails_costs_no_tools(
    feature: str, caplog: pytest.LogCaptureFixture
) -> None:
    server = Server("half")
    server.tool(name="hello")(lambda: "hello")
    server.prompt(name="greet")(lambda: "Greet.")
    server.resource("note://one", name="one")(lambda: "1")

    @server.middleware
    async def out_of_order(request: Any, proceed: Any) -> Any:
        if request.method in (f"{feature}/list", f"resources/{feature}/list"):
            raise ProtocolError("the database is down", code=-32603)
        return await proceed(request)

    async with Client(Gateway({"half": server})) as client:
        assert [tool.name for tool in await client.list_tools()] == ["hello"]
        prompts, resources = await client.list_prompts(), await client.list_resources()
        assert (len(prompts), len(resources)) == (feature != "prompts", feature != "resources")
    assert f"upstream half: its last {feature} are kept: the database is down" in caplog.text


@pytest.mark.parametrize(
    ("method", "kept"), [("tools/list", "lists"), ("resources/templates/list", "templates")]
)
async def test_what_is_kept_is_logged_once_per_reason(
    method: str, kept: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(upstream_module, "_SOONEST", 0.0)
    server = Server("half")
    server.tool(name="hello")(lambda: "hello")
    server.resource("note://one", name="one")(lambda: "1")
    why: str | None = None
    readings = 0

    @server.middleware
    async def out_of_order(request: Any, proceed: Any) -> Any:
        nonlocal readings
        if request.method == method:
            readings += 1
            if why is not None:
                raise ProtocolError(why, code=-32603)
        return await proceed(request)

    upstream = Upstream(target=server, refresh=PAUSE, revision="2025-11-25")
    async with Client(Gateway({"half": upstream})):
        for now in ("the disk is full", "the disk is gone", None, "the disk is gone"):
            why, before = now, readings
            await turn_until(lambda before=before: readings > before + 3)
    said = [line for line in caplog.messages if f"half: its last {kept} are kept: " in line]
    assert [line.rpartition(" ")[2] for line in said] == ["full", "gone", "gone"]


async def test_what_cannot_be_offered_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    careless, other = Server("careless"), Server("other")
    careless.resource("note://one", name="one")(lambda: "1")
    listed = {
        "tools/list": {"tools": [{"name": "odd", "inputSchema": {"type": "string"}}]},
        "resources/templates/list": {
            "resourceTemplates": [{"name": "search", "uriTemplate": "/search/{query}"}]
        },
    }

    @careless.middleware
    async def list_them(request: Any, proceed: Any) -> Any:
        if request.method in listed:
            return {"resultType": "complete", **listed[request.method]}
        return await proceed(request)

    gateway = Gateway({"careless": careless, "other": other})
    async with Client(gateway) as client:
        assert [each.uri for each in await client.list_resources()] == ["note://one"]
        for server in (careless, other):
            server.tool(name="new")(lambda: "new")
            server.resource("note://two", name="two")(lambda: "2")
            await turn_until(lambda: len(gateway.upstreams["careless"].offer.resources) == 2)
        await turn_until(lambda: "other_new" in gateway.server.tools)
    assert caplog.text.count("upstream careless: tool odd is not offered: ") == 1
    assert caplog.text.count("resource template /search/{query} is not offered: ") == 1


async def test_a_call_in_flight_when_the_file_is_read_again_is_answered(steady: Server) -> None:
    slow, started, go_on = Server("slow"), asyncio.Event(), asyncio.Event()

    @slow.tool
    async def wait() -> str:
        started.set()
        await go_on.wait()
        return "finished"

    gateway = Gateway({"slow": slow, "steady": steady})
    gateway.reload_with(lambda: GatewayConfig({"steady": Upstream(target=steady)}))
    async with Client(gateway) as client:
        call = asyncio.create_task(client.call_tool("slow_wait"))
        await started.wait()
        signal.raise_signal(signal.SIGHUP)
        await turn_until(lambda: set(gateway.upstreams) == {"steady"})
        go_on.set()
        assert (await call).value == "finished"
        await turn_until(lambda: list(gateway.server.tools) == ["ping"])
        assert (await client.call_tool("ping")).value == "pong"


@pytest.mark.parametrize("when_down", ["keep", "hide"])
async def test_what_a_lost_upstream_offered_is_listed_as_the_operator_says(when_down: Any) -> None:
    server = Fickle("fickle")

    @server.tool
    async def hello() -> str:
        return "hello"

    gateway = Gateway({"up": Upstream(target=server, when_down=when_down)})
    async with Client(gateway) as client:
        assert len(await client.list_tools()) == 1
        server.is_there = False
        assert (await client.call_tool("hello")).is_error
        await turn_until(lambda: not gateway.upstreams["up"].is_up)
        async with asyncio.timeout(PATIENCE):
            while len(await client.list_tools()) != (1 if when_down == "keep" else 0):
                await turn()  # the change is announced in a turn of its own
        if when_down == "keep":
            refused = await client.call_tool("hello")
            assert "cannot be reached now; try again later" in refused.text
        server.is_there = True
        await turn_until(lambda: gateway.upstreams["up"].is_up)
        assert (await client.call_tool("hello")).value == "hello"


async def test_who_asks_for_what_is_not_there_is_told_which_upstreams_are_missing(
    steady: Server,
) -> None:
    gone = Upstream(target=[sys.executable, "-c", "import time; time.sleep(600)"])
    gateway = Gateway({"steady": steady, "slow": gone}, patience=1)
    why = "perhaps of 'slow', which cannot be reached now"
    connection = gateway.server.connect(lambda _message: None)
    meta: dict[str, Any] = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    for method, params, said in (
        ("tools/call", {"name": "pid"}, f"Unknown tool: pid; {why}"),
        ("prompts/get", {"name": "review"}, f"there is no prompt 'review'; {why}"),
        ("resources/read", {"uri": "demo://users/Ada"}, f"Resource not found: {why}"),
    ):
        message = {"jsonrpc": "2.0", "id": 1, "method": method}
        frame = json.dumps({**message, "params": {**params, "_meta": meta}}).encode()
        answer = json.loads(await connection.handle(frame) or b"")
        assert answer["error"]["message"].endswith(said)
    await connection.close()


class _Unlisting(FickleConnection):
    """A connection that lists nothing any more as soon as its server is not there."""

    async def handle(self, frame: bytes) -> bytes | None:
        if not self.server.is_there and b'"tools/list"' in frame:
            id = json.loads(frame)["id"]
            error = {"code": -32603, "message": "the disk is full"}
            return json.dumps({"jsonrpc": "2.0", "id": id, "error": error}).encode()
        return await self.connection.handle(frame)


@pytest.mark.parametrize("revision", ["2026-07-28", "2025-11-25"])
async def test_a_change_upstream_is_announced_to_clients(steady: Server, revision: str) -> None:
    changed = asyncio.Event()
    gateway = Gateway({"steady": Upstream(target=steady, revision=revision)})
    async with Client(gateway, on_list_changed=lambda feature: changed.set()) as client:
        assert len(await client.list_tools()) == 1

        @steady.tool
        async def more() -> int:
            return 1

        async with asyncio.timeout(PATIENCE):
            await changed.wait()
        assert [tool.name for tool in await client.list_tools()] == ["ping", "more"]
        assert (await client.call_tool("more")).value == 1


async def test_other_upstreams_can_be_had_without_losing_a_call(steady: Server) -> None:
    slow = Server("slow")
    started, go_on = asyncio.Event(), asyncio.Event()

    @slow.tool
    async def wait() -> str:
        started.set()
        await go_on.wait()
        return "finished"

    gateway = Gateway({"slow": slow, "steady": steady})
    async with Client(gateway) as client:
        await client.list_tools()
        kept = gateway.upstreams["steady"]
        call = asyncio.create_task(client.call_tool("slow_wait"))
        await started.wait()
        changing = asyncio.create_task(
            gateway.reconfigure({"steady": steady, "third": Server("x")})
        )
        await turn_until(lambda: set(gateway.upstreams) == {"steady", "third"})
        assert gateway.upstreams["steady"] is kept
        go_on.set()
        assert (await call).value == "finished"
        await changing
        assert [tool.name for tool in await client.list_tools()] == ["steady_ping"]


async def test_a_server_object_of_another_sdk_whose_session_ends_is_given_another() -> None:
    end = asyncio.Event()

    server = FastMCP[Any]("ending")

    @server.tool
    def hello() -> str:
        return "hello"

    low_level: Any = server._mcp_server
    run = low_level.run

    async def run_until_told(*streams: Any) -> None:
        session = asyncio.ensure_future(run(*streams))
        ending = asyncio.ensure_future(end.wait())
        await asyncio.wait({session, ending}, return_when=asyncio.FIRST_COMPLETED)
        session.cancel()
        await asyncio.gather(session, return_exceptions=True)

    low_level.run = run_until_told
    gateway = adopt(server)
    async with Client(gateway) as client:
        link = gateway.upstreams["server"]
        await turn_until(lambda: link.is_up)
        assert (await client.call_tool("hello")).value == "hello"
        end.set()
        await turn()
        async with asyncio.timeout(PATIENCE):
            while not (await client.call_tool("hello")).is_error:
                await turn()
        end.clear()
        await turn_until(lambda: not link.is_up)
        await turn_until(lambda: link.is_up)
        assert (await client.call_tool("hello")).value == "hello"


@pytest.mark.parametrize("is_ended_by_us", [True, False])
async def test_what_a_server_object_loses_when_it_is_closed_is_no_failure_of_its(
    caplog: pytest.LogCaptureFixture, is_ended_by_us: bool
) -> None:
    server, fail = FastMCP[Any]("torn"), asyncio.Event()
    low_level: Any = server._mcp_server
    run = low_level.run

    async def run_and_break(*streams: Any) -> None:
        session = asyncio.ensure_future(run(*streams))
        try:
            await fail.wait()
        finally:
            session.cancel()
            await asyncio.gather(session, return_exceptions=True)
            raise RuntimeError("the streams are gone")

    low_level.run = run_and_break
    gateway = adopt(server)
    async with Client(gateway), asyncio.timeout(PATIENCE):
        await turn_until(lambda: gateway.upstreams["server"].is_up)
        if not is_ended_by_us:
            fail.set()
            await turn_until(lambda: "the streams are gone" in caplog.text)
    assert ("a server object of another SDK failed" in caplog.text) is not is_ended_by_us


async def test_a_gateway_stops_although_an_upstream_has_just_died(child: list[str]) -> None:
    # For every moment in which the connection is being given up while the gateway is stopped.
    for turns in range(0, 12, 3):
        async with asyncio.timeout(PATIENCE), Client(Gateway({"child": child})) as client:
            assert (await client.call_tool("die")).is_error
            for _ in range(turns):
                await asyncio.sleep(0)


async def test_an_upstream_that_announces_changes_all_the_time_is_asked_now_and_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    listed = 0

    class Restless(Server):
        def connect(self, send: Any) -> Any:
            return _Announcing(super().connect(send), send)

    class _Announcing:
        def __init__(self, connection: Any, send: Any) -> None:
            self._connection, self._send = connection, send

        async def handle(self, frame: bytes) -> bytes | None:
            nonlocal listed
            if b'"tools/list"' in frame:
                listed += 1
                self._send(b'{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}')
            return await self._connection.handle(frame)

        async def close(self) -> None:
            await self._connection.close()

    for name in ("_SOONEST", "_LATEST"):
        monkeypatch.setattr(upstream_module, name, PATIENCE)
    gateway = Gateway({"up": Restless("restless")})
    async with Client(gateway):
        await turn_until(lambda: listed == 2)
        for _ in range(50):
            await turn()
        assert listed == 2
        link = gateway.upstreams["up"]
        link.doubt(link.client)  # whether it is there at all is looked at once
        await turn_until(lambda: listed == 3)


class _Deaf:
    """A server object of another SDK that never reads what it is sent."""

    def create_initialization_options(self) -> None:
        return None

    async def run(self, incoming: Any, outgoing: Any, options: None) -> None:
        await asyncio.Event().wait()


async def test_calls_of_a_server_object_that_does_not_read_can_be_given_up() -> None:
    connection = ForeignServer(_Deaf()).connect(lambda _frame: None)
    ping = {"jsonrpc": "2.0", "method": "ping"}
    calls = [
        asyncio.create_task(connection.handle(json.dumps({**ping, "id": number}).encode()))
        for number in range(80)
    ]
    for _ in range(10):
        await turn()
    for call in calls:
        call.cancel()
    async with asyncio.timeout(PATIENCE):
        await asyncio.wait(calls)
        await connection.close()


class _Careless:
    """A server of a handshake that lists one good tool, and one that no client of HTTP takes."""

    def connect(self, send: Any, /) -> _Careless:
        return self

    async def handle(self, frame: bytes) -> bytes | None:
        message = json.loads(frame)
        bad = {"type": "object", "properties": {"a": {"type": "string", "x-mcp-header": "A B"}}}
        listed = {"good": {"type": "object"}, "bad": bad}
        results: dict[str, Any] = {
            "initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}},
            "tools/list": {
                "tools": [{"name": name, "inputSchema": listed[name]} for name in listed]
            },
        }
        if "id" not in message:
            return None
        result = results.get(message["method"], {})
        return json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode()

    async def close(self) -> None:
        pass


async def test_a_tool_that_cannot_be_offered_costs_nothing_but_itself(
    caplog: pytest.LogCaptureFixture,
) -> None:
    careless = Upstream(target=_Careless(), revision="2025-11-25")
    steady = Server("steady")
    steady.tool(name="hello")(lambda: "hello")
    async with Client(Gateway({"careless": careless, "steady": steady})) as client:
        assert [tool.name for tool in await client.list_tools()] == [
            "careless_good",
            "steady_hello",
        ]
    assert "upstream careless: tool careless_bad is not offered: x-mcp-header" in caplog.text


async def test_what_is_offered_is_made_off_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    made: dict[str, bool] = {}

    def recorded(kind: type) -> Any:
        def make(*given: Any) -> Any:
            thing = kind(*given)
            made[thing.listing.name] = threading.current_thread() is threading.main_thread()
            return thing

        return make

    for kind in (ForwardedTool, ForwardedPrompt, ForwardedResource):
        monkeypatch.setattr(catalogue_module, kind.__name__, recorded(kind))
    crowded, other = Server("crowded"), Server("other")
    crowded.tool(name="tool")(lambda: "tool")
    crowded.prompt(name="prompt")(lambda: "prompt")
    crowded.resource("note://one", name="one")(lambda: "1")
    other.tool(name="late")(lambda: "other")
    upstream = Upstream(target=crowded, prefix="")
    gateway = Gateway({"crowded": upstream})
    async with Client(gateway):
        crowded.resource("note://two", name="two")(lambda: "2")
        await turn_until(lambda: "two" in made)
        await gateway.reconfigure({"crowded": upstream, "other": other})
    assert made == dict.fromkeys(("tool", "prompt", "one", "two", "other_late"), False)


async def test_of_many_arguments_only_the_one_that_is_asked_for_gets_a_completer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[str] = []

    class Recorded(Complete):
        def completer(self, label: str) -> Completer:
            made.append(label)
            return super().completer(label)

    library = Server("library")

    @library.resource("book://{author}/{title}", name="book")
    async def book(author: str, title: Annotated[str, Complete(["one", "two"])]) -> str:
        return "a book"

    @library.prompt
    async def advise(a: Annotated[str, Complete(["red", "rose"])], b: str = "") -> str:
        return a

    monkeypatch.setattr(suggestions_module, "Complete", Recorded)
    async with Client(Gateway({"library": library})) as client:
        (template,) = await client.list_resource_templates()
        assert made == []
        found = await client.complete("a", "r", prompt="advise")
        assert found.values == ("red", "rose")
        assert (await client.complete("b", "r", prompt="advise")).values == ()
        assert made == ["upstream library"] * 2
        found = await client.complete("title", "o", resource=template.uri_template)
        assert found.values == ("one",)
        with pytest.raises(ProtocolError, match="no argument 'c'"):
            await client.complete("c", "r", prompt="advise")
    assert made == ["upstream library"] * 3
