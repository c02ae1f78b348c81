"""Hearing of changes to resources: subscribed to in the way of each era, and again after a loss."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from patience import PATIENCE, turn_until

from anyshape import Client, Server
from anyshape.client import listening
from anyshape.errors import ProtocolError, TransportError

if TYPE_CHECKING:
    from .conftest import Refusal, Scripted

Json = dict[str, Any]
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
OFFERED = {"resources": {"subscribe": True, "listChanged": True}, "prompts": {"listChanged": True}}


class Telling:
    """A modern server in memory that acknowledges what it is asked to tell of."""

    def __init__(self, scripted: type[Scripted], honours: Callable[[str], bool] = bool) -> None:
        self.honours = honours
        self.streams: dict[int, Json] = {}
        self.ended: list[int] = []
        self.script = scripted(
            server__discover=lambda params: {
                "supportedVersions": ["2026-07-28"],
                "capabilities": OFFERED,
            },
            prompts__list=lambda params: {"prompts": []},
            resources__list=lambda params: {"resources": []},
        )

    def connect(self, send: Any, /) -> Telling:
        self.script.connect(send)
        return self

    async def handle(self, frame: bytes) -> bytes | None:
        message = json.loads(frame)
        if message["method"] != "subscriptions/listen":
            return await self.script.handle(frame)
        id, wanted = message["id"], message["params"]["notifications"]
        if "resourceSubscriptions" in wanted:
            honoured = [uri for uri in wanted["resourceSubscriptions"] if self.honours(uri)]
            wanted = {**wanted, "resourceSubscriptions": honoured}
        self.streams[id] = wanted
        meta = {SUBSCRIPTION: id}
        self.script.say(
            "notifications/subscriptions/acknowledged", _meta=meta, notifications=wanted
        )
        try:
            await asyncio.Event().wait()
        finally:
            del self.streams[id]
            self.ended.append(id)
        return None

    async def close(self) -> None:
        pass

    def updated(self, uri: str) -> None:
        self.script.say("notifications/resources/updated", uri=uri)


async def test_a_modern_server_tells_of_what_was_subscribed_to(scripted: type[Scripted]) -> None:
    heard: list[str] = []
    server = Telling(scripted)
    async with Client(server) as client:
        await client.subscribe("demo://a", heard.append)
        assert list(server.streams.values()) == [{"resourceSubscriptions": ["demo://a"]}]
        server.updated("demo://a")
        server.updated("demo://a/part")
        server.updated("demo://ab")
        server.updated("demo://other")
    assert heard == ["demo://a", "demo://a/part"]
    assert server.streams == {}


async def test_one_stream_tells_of_everything_and_the_last_one_ends(
    scripted: type[Scripted],
) -> None:
    server = Telling(scripted)
    async with Client(server) as client:
        await client.list_prompts()
        await client.subscribe("demo://a", print)
        await client.list_resources()
        await client.subscribe("demo://b", print)
        await turn_until(lambda: len(server.streams) == 1)
        (wanted,) = server.streams.values()
        assert wanted == {
            "promptsListChanged": True,
            "resourcesListChanged": True,
            "resourceSubscriptions": ["demo://a", "demo://b"],
        }
        await client.unsubscribe("demo://a")
        await turn_until(
            lambda: (
                [each.get("resourceSubscriptions") for each in server.streams.values()]
                == [["demo://b"]]
            )
        )


async def test_many_subscriptions_at_a_time_share_a_stream(scripted: type[Scripted]) -> None:
    server = Telling(scripted)
    uris = [f"demo://{n}" for n in range(12)]
    async with Client(server) as client:
        await client.list_prompts()
        await asyncio.gather(*(client.subscribe(uri, print) for uri in uris))
        await turn_until(lambda: len(server.streams) == 1)
        (wanted,) = server.streams.values()
        assert wanted == {"promptsListChanged": True, "resourceSubscriptions": uris}


async def test_many_subscriptions_at_a_time_do_not_wait_for_each_other_s_connections(
    url: str, server: Server
) -> None:
    uris = [f"demo://{n}" for n in range(12)]
    for uri in uris:
        server.resource(uri, name=uri)(lambda: "text")
    heard: list[str] = []
    async with Client(url, timeout=PATIENCE) as client:
        await asyncio.gather(*(client.subscribe(uri, heard.append) for uri in uris))
        for uri in uris:
            server.resource_changed(uri)
        await turn_until(lambda: len(heard) == len(uris), 0.01)
    assert sorted(heard) == sorted(uris)


def _silent(scripted: type[Scripted]) -> Scripted:
    """A server that never acknowledges that somebody listens."""

    async def silence(params: Json) -> None:
        await asyncio.Event().wait()

    server = Telling(scripted).script
    server.answers["subscriptions/listen"] = silence
    return server


async def test_who_waits_for_a_subscription_when_the_client_closes_is_not_cancelled(
    scripted: type[Scripted],
) -> None:
    server = _silent(scripted)
    async with Client(server) as client:
        subscribing = asyncio.create_task(client.subscribe("demo://a", print))
        await turn_until(lambda: server.asked("subscriptions/listen"))
    with pytest.raises(TransportError, match="closed before"):
        await subscribing


async def test_what_the_server_does_not_agree_to_is_an_error(scripted: type[Scripted]) -> None:
    heard: list[str] = []
    server = Telling(scripted, honours=lambda uri: uri != "demo://secret")
    async with Client(server) as client:
        with pytest.raises(ProtocolError, match="does not tell of changes"):
            await client.subscribe("demo://secret", heard.append)
        await client.subscribe("demo://a", heard.append)
        server.updated("demo://secret")
        server.updated("demo://a")
    assert heard == ["demo://a"]


async def test_a_server_that_never_acknowledges_is_waited_for_only_so_long(
    scripted: type[Scripted],
) -> None:
    server = _silent(scripted)
    async with Client(server) as client:
        with pytest.raises(TransportError, match="gave no answer"):
            await client.subscribe("demo://a", print, timeout=0.05)


async def test_a_server_that_refuses_to_listen_says_so(scripted: type[Scripted]) -> None:
    server = Telling(scripted).script
    async with Client(server) as client:
        with pytest.raises(ProtocolError, match="Method not found"):
            await client.subscribe("demo://a", print)


@pytest.mark.parametrize("capability", [None, {}, {"subscribe": False}])
async def test_a_server_that_does_not_offer_it_is_not_asked(
    scripted: type[Scripted], capability: Any
) -> None:
    server = scripted(
        server__discover=lambda params: {
            "supportedVersions": ["2026-07-28"],
            "capabilities": {"resources": capability},
        }
    )
    async with Client(server) as client:
        with pytest.raises(ProtocolError, match="does not tell of changes") as raised:
            await client.subscribe("demo://a", print)
    assert raised.value.code == -32601
    assert server.asked("subscriptions/listen") == []


async def test_an_older_server_is_asked_for_each_resource(scripted: type[Scripted]) -> None:
    heard: list[str] = []
    server = scripted(
        initialize=lambda params: {
            "protocolVersion": "2025-11-25",
            "capabilities": OFFERED,
            "serverInfo": {"name": "scripted", "version": "1"},
        },
        resources__subscribe=lambda params: {},
        resources__unsubscribe=lambda params: {},
    )
    async with Client(server, revision="2025-11-25") as client:
        await client.subscribe("demo://a", heard.append)
        server.say("notifications/resources/updated", uri="demo://a")
        await client.unsubscribe("demo://a")
        await client.unsubscribe("demo://never")
        server.say("notifications/resources/updated", uri="demo://a")
        server.say("notifications/resources/updated", uri=5)
        server.say("notifications/resources/updated")
    assert heard == ["demo://a"]
    assert server.asked("resources/subscribe") == [{"uri": "demo://a"}]
    assert server.asked("resources/unsubscribe") == [{"uri": "demo://a"}]


async def test_a_second_callback_takes_the_place_of_the_first(scripted: type[Scripted]) -> None:
    first: list[str] = []
    second: list[str] = []
    server = Telling(scripted)
    async with Client(server) as client:
        await client.subscribe("demo://a", first.append)
        await client.subscribe("demo://a", second.append)
        server.updated("demo://a")
    assert (first, second) == ([], ["demo://a"])


MORTAL = """
import json, os, sys
for line in sys.stdin:
    message = json.loads(line)
    method, params = message["method"], message.get("params", {})
    def send(**members):
        print(json.dumps({"jsonrpc": "2.0", **members}), flush=True)
    if method == "server/discover":
        capabilities = {"tools": {}, "resources": {"subscribe": True}}
        result = {"supportedVersions": ["2026-07-28"], "capabilities": capabilities}
        send(id=message["id"], result=result)
    elif method == "initialize":
        capabilities = {"tools": {}, "resources": {"subscribe": True}}
        send(id=message["id"], result={"protocolVersion": params["protocolVersion"],
             "capabilities": capabilities, "serverInfo": {"name": "mortal", "version": "1"}})
    elif method == "subscriptions/listen":
        meta = {"io.modelcontextprotocol/subscriptionId": message["id"]}
        send(method="notifications/subscriptions/acknowledged",
             params={"_meta": meta, "notifications": params["notifications"]})
    elif method == "resources/subscribe" and any(map(os.path.exists, sys.argv[1:])):
        send(id=message["id"], error={"code": -32002, "message": "not here"})
    elif method == "resources/subscribe":
        send(id=message["id"], result={})
    elif method == "tools/list":
        tools = [{"name": name, "inputSchema": {"type": "object"}} for name in ("die", "live")]
        send(id=message["id"], result={"tools": tools})
    elif method == "tools/call" and params["name"] == "die":
        os._exit(1)
    elif method == "tools/call":
        send(id=message["id"], result={"content": []})
        send(method="notifications/resources/updated", params={"uri": "demo://a"})
"""


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
async def test_a_server_that_was_started_again_is_told_what_is_wanted(revision: str) -> None:
    heard: asyncio.Queue[str] = asyncio.Queue()
    command = [sys.executable, "-c", MORTAL]
    async with Client(command, revision=revision, timeout=PATIENCE) as client:
        await client.subscribe("demo://a", heard.put_nowait)
        with pytest.raises(TransportError):
            await client.call_tool("die")
        await client.call_tool("live")
        # Once because changes may have gone unheard, once because it changed.
        for _ in range(2):
            assert await asyncio.wait_for(heard.get(), PATIENCE) == "demo://a"


async def test_subscriptions_around_a_listing_all_end_when_the_last_stream_is_heard(
    scripted: type[Scripted],
) -> None:
    server = Telling(scripted)
    async with Client(server, timeout=PATIENCE) as client, asyncio.timeout(PATIENCE / 2):
        await asyncio.gather(
            client.subscribe("demo://a", print),
            client.list_prompts(),
            client.subscribe("demo://b", print),
        )
        await turn_until(lambda: len(server.streams) == 1)
        (wanted,) = server.streams.values()
        assert wanted == {
            "promptsListChanged": True,
            "resourceSubscriptions": ["demo://a", "demo://b"],
        }


def _older(scripted: type[Scripted], **answers: Any) -> Scripted:
    return scripted(
        initialize=lambda params: {"protocolVersion": "2025-11-25", "capabilities": OFFERED},
        **answers,
    )


async def test_one_who_gives_up_a_subscription_does_not_take_that_of_another_along(
    scripted: type[Scripted],
) -> None:
    may_answer = asyncio.Event()

    async def subscribe(params: Json) -> Json:
        await may_answer.wait()
        return {}

    heard: list[str] = []
    server = _older(scripted, resources__subscribe=subscribe)
    async with Client(server, revision="2025-11-25") as client, asyncio.timeout(PATIENCE):
        first = asyncio.create_task(client.subscribe("demo://a", print))
        await turn_until(lambda: server.asked("resources/subscribe"))
        second = asyncio.create_task(client.subscribe("demo://a", heard.append))
        await asyncio.sleep(0)
        first.cancel()
        await asyncio.wait([first])
        may_answer.set()
        await second
        server.say("notifications/resources/updated", uri="demo://a")
    assert heard == ["demo://a"]


async def test_a_subscription_that_is_pending_is_no_answer_to_another(
    scripted: type[Scripted], refusal: type[Refusal]
) -> None:
    may_answer = asyncio.Event()

    async def subscribe(params: Json) -> Json:
        await may_answer.wait()
        raise refusal(-32002, "no such resource")

    server = _older(scripted, resources__subscribe=subscribe)
    async with Client(server, revision="2025-11-25") as client, asyncio.timeout(PATIENCE):
        both = [asyncio.create_task(client.subscribe("demo://a", print)) for _ in range(2)]
        await turn_until(lambda: server.asked("resources/subscribe"))
        may_answer.set()
        outcomes = await asyncio.gather(*both, return_exceptions=True)
    assert [type(each) for each in outcomes] == [ProtocolError] * 2


class Mean:
    """A modern server that has one stream at a time, and ends it when the test says so."""

    def __init__(self, scripted: type[Scripted], refusal: type[Refusal]) -> None:
        self.refusal = refusal
        self.wanted: list[Json] = []
        self.may_end, self.may_refuse = asyncio.Event(), asyncio.Event()
        self.is_open = False
        self.script = scripted(
            server__discover=lambda params: {
                "supportedVersions": ["2026-07-28"],
                "capabilities": OFFERED,
            },
            subscriptions__listen=self.listen,
            prompts__list=lambda params: {"prompts": []},
        )

    async def listen(self, params: Json) -> Json:
        if self.is_open:
            await self.may_refuse.wait()
            raise self.refusal(-32603, "one stream is enough")
        self.is_open = True
        wanted = params["notifications"]
        self.wanted.append(wanted)
        meta = {SUBSCRIPTION: self.script.seen[-1]["id"]}
        self.script.say(
            "notifications/subscriptions/acknowledged", _meta=meta, notifications=wanted
        )
        await self.may_end.wait()
        self.is_open = False
        return {}


@pytest.mark.parametrize(("is_after_another", "asked"), [(False, 2), (True, 3)])
async def test_a_refused_subscription_costs_none_of_those_that_were_agreed_to(
    scripted: type[Scripted], refusal: type[Refusal], is_after_another: bool, asked: int
) -> None:
    server = Mean(scripted, refusal)
    async with Client(server.script) as client, asyncio.timeout(PATIENCE):
        await client.subscribe("demo://a", print)
        if is_after_another:
            await client.list_prompts()
        refused = asyncio.create_task(client.subscribe("demo://b", print))
        await turn_until(lambda: len(server.script.asked("subscriptions/listen")) == asked)
        server.may_refuse.set()
        with pytest.raises(ProtocolError, match="one stream"):
            await refused
        server.may_end.set()
        await turn_until(lambda: len(server.wanted) == 2, 0.01)
    assert [each["resourceSubscriptions"] for each in server.wanted] == [["demo://a"]] * 2


async def test_who_waits_for_a_stream_that_ends_every_time_is_told(
    scripted: type[Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listening, "_ATTEMPTS", 2)
    server = Telling(scripted).script
    server.answers["subscriptions/listen"] = lambda params: {}
    async with Client(server, timeout=None) as client, asyncio.timeout(PATIENCE):
        with pytest.raises(TransportError, match="ends every stream"):
            await client.subscribe("demo://a", print)


async def test_a_server_started_again_that_refuses_a_subscription_answers_calls(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    heard: asyncio.Queue[str] = asyncio.Queue()
    mark = tmp_path / "refuse"
    command = [sys.executable, "-c", MORTAL, str(mark)]
    async with Client(command, revision="2025-11-25", timeout=PATIENCE) as client:
        await client.subscribe("demo://a", heard.put_nowait)
        mark.touch()
        with pytest.raises(TransportError):
            await client.call_tool("die")
        await client.call_tool("live")
        assert await asyncio.wait_for(heard.get(), PATIENCE) == "demo://a"
        with pytest.raises(ProtocolError, match="not here"):
            await client.subscribe("demo://a", heard.put_nowait)
    assert "no longer tells of changes to demo://a: not here" in caplog.text
