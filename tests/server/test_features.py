"""A feature is a file of its own: what it registers is listed, answered, declared and announced."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any, ClassVar

import msgspec
import pytest
from patience import turn_until

from anyshape import Client, Server
from anyshape.protocol.clients import Needs
from anyshape.protocol.completed import encode_result
from anyshape.protocol.revision import HANDSHAKE, Revision
from anyshape.server import Connection, ServerOptions
from anyshape.server.features.announcements import Topic
from anyshape.server.features.feature import Feature, Method
from anyshape.server.features.roster import Listed, Roster
from anyshape.server.parameters import ListParameters, Meta
from anyshape.server.request import OpenRequest
from anyshape.server.service import Service

from .visiting import META

CHANGED = "notifications/proverbs/list_changed"


class Saying(msgspec.Struct, frozen=True):
    name: str
    meta: Meta = msgspec.field(default_factory=Meta, name="_meta")


class Proverb(Listed):
    def describe(self, revision: Revision, needs: Needs) -> Mapping[str, Any]:
        return {"name": self.name}


class Proverbs(Feature):
    """As small as a feature can be, and complete."""

    changes: ClassVar[Mapping[str, Topic]] = {"proverbsListChanged": Topic(CHANGED)}

    def __init__(self, service: Service) -> None:
        self.roster: Roster[Proverb] = Roster(
            service, "proverbs", self.changes["proverbsListChanged"]
        )
        self.methods = {
            "proverbs/list": Method(ListParameters, self.roster.list),
            "proverbs/say": Method(Saying, self.say, named="name"),
        }

    def capabilities(self, revision: Revision, *, tells_changes: bool) -> Mapping[str, Any]:
        return {"proverbs": {"listChanged": tells_changes}} if revision.has_titles else {}

    async def say(self, parameters: Saying, request: OpenRequest) -> bytes:
        await asyncio.sleep(0)
        text = json.dumps(self.roster.things[parameters.name].name).encode()
        return encode_result(request.revision, b'"said":' + text)


class Wise:
    """A server with proverbs beside its tools, and one peer of it."""

    def __init__(self, server: Server | None = None) -> None:
        self.server = server or Server("wise", options=ServerOptions(page_size=2))
        if server is None:
            self.proverbs = self.server._service.feature(Proverbs)
        self.sent: list[Any] = []
        self.connection: Connection = self.server.connect(
            lambda message: self.sent.append(json.loads(message))
        )

    async def ask(self, method: str, id: int | None = 1, **params: Any) -> Any:
        body: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
        if id is not None:
            body["id"] = id
        answer = await self.connection.handle(json.dumps(body).encode())
        return None if answer is None else json.loads(answer)

    async def shake_hands(self, revision: str) -> dict[str, Any]:
        greeting = await self.ask("initialize", protocolVersion=revision, capabilities={})
        await self.ask("notifications/initialized", id=None)
        return greeting["result"]


async def test_its_entries_are_listed_in_pages_beside_the_tools() -> None:
    wise = Wise()
    for name in ("a", "b", "c"):
        assert wise.proverbs.roster.add(Proverb(name))
    assert not wise.proverbs.roster.add(Proverb("a"))
    first = (await wise.ask("proverbs/list", _meta=META))["result"]
    second = (await wise.ask("proverbs/list", _meta=META, cursor=first["nextCursor"]))["result"]
    assert [first["proverbs"], second["proverbs"]] == [
        [{"name": "a"}, {"name": "b"}],
        [{"name": "c"}],
    ]
    assert (await wise.ask("tools/list", _meta=META))["result"]["tools"] == []


async def test_its_methods_may_wait() -> None:
    wise = Wise()
    wise.proverbs.roster.add(Proverb("haste makes waste"))
    answer = await wise.ask("proverbs/say", _meta=META, name="haste makes waste")
    assert answer["result"] == {"resultType": "complete", "said": "haste makes waste"}


@pytest.mark.parametrize("revision", HANDSHAKE)
async def test_it_declares_its_capability_where_the_revision_has_it(revision: Revision) -> None:
    tools = {"tools": {"listChanged": True}}
    declared = (await Wise().shake_hands(revision.value))["capabilities"]
    assert declared == (
        tools | {"proverbs": {"listChanged": True}} if revision.has_titles else tools
    )


async def test_it_is_discovered_even_when_it_comes_late() -> None:
    wise = Wise(Server("late"))
    before = (await wise.ask("server/discover", _meta=META))["result"]["capabilities"]
    wise.server._service.feature(Proverbs)
    after = (await wise.ask("server/discover", _meta=META))["result"]["capabilities"]
    assert before == {"tools": {"listChanged": True}}
    assert after == before | {"proverbs": {"listChanged": True}}


async def test_a_server_has_one_of_each_kind() -> None:
    wise = Wise()
    assert wise.server._service.feature(Proverbs) is wise.proverbs


async def test_peers_of_a_handshake_are_told_of_each_list_that_changes() -> None:
    wise = Wise()
    await wise.shake_hands("2025-11-25")
    wise.proverbs.roster.add(Proverb("a"))
    wise.proverbs.roster.add(Proverb("b"))
    wise.server.tool(name="t", description="d")(len_of)
    await turn_until(lambda: len(wise.sent) == 2)
    assert wise.sent == [
        {"jsonrpc": "2.0", "method": CHANGED},
        {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"},
    ]


async def test_a_subscription_is_granted_what_the_features_have_and_told_that_alone() -> None:
    wise = Wise()
    wanted = {"proverbsListChanged": True, "toolsListChanged": False, "weatherChanged": True}
    listening = asyncio.create_task(
        wise.ask("subscriptions/listen", id=7, _meta=META, notifications=wanted)
    )
    await turn_until(lambda: len(wise.sent) == 1)
    assert wise.sent[0]["params"]["notifications"] == {"proverbsListChanged": True}
    wise.server.tool(name="t", description="d")(len_of)
    wise.proverbs.roster.add(Proverb("a"))
    await turn_until(lambda: len(wise.sent) == 2)
    assert wise.sent[1]["method"] == CHANGED
    assert wise.sent[1]["params"]["_meta"] == {"io.modelcontextprotocol/subscriptionId": 7}
    await wise.connection.close()
    assert await listening is None


async def test_a_filter_that_cannot_be_read_is_refused_with_its_place() -> None:
    answer = await Wise().ask(
        "subscriptions/listen", _meta=META, notifications={"proverbsListChanged": "yes"}
    )
    assert answer["error"]["code"] == -32602
    assert "$.notifications.proverbsListChanged" in answer["error"]["message"]


def len_of(text: str) -> int:
    return len(text)


async def test_removing_what_is_not_there_declares_nothing() -> None:
    server = Server("plain")
    with pytest.raises(KeyError, match="nobody"):
        server.remove_prompt("nobody")
    with pytest.raises(KeyError, match="demo://nothing"):
        server.remove_resource("demo://nothing")
    async with Client(server) as client:
        assert set(client.server.capabilities) == {"tools"}
