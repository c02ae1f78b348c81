"""Session ids over HTTP: they say what the handshake settled, to whoever has the key."""

from __future__ import annotations

import json
import multiprocessing
import re
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import pytest
from patience import PATIENCE

from anyshape import Context, Server
from anyshape.errors import ProtocolError
from anyshape.protocol.clients import NOTHING, KnownClients, Need
from anyshape.protocol.revision import HANDSHAKE, Revision
from anyshape.server import HttpOptions, Sessions
from anyshape.server.sessions import SessionIds

from .visiting import META

KEY, OTHER_KEY = b"k" * 32, b"o" * 32
GEMINI = {"name": "gemini-cli-mcp-client", "version": "0.61.0"}


class Answer:
    def __init__(self, events: list[Any]) -> None:
        start, *rest = events
        self.status: int = start["status"]
        self.headers: dict[bytes, bytes] = dict(start["headers"])
        self.body = b"".join(event.get("body", b"") for event in rest)

    @property
    def json(self) -> Any:
        return json.loads(self.body.removeprefix(b"data: "))


class Replica:
    """One process of a server behind HTTP, as far as a client can tell."""

    def __init__(self, sessions: Sessions | None = None, *, off: bool = False) -> None:
        server = Server("s")

        @server.tool
        async def count() -> int:
            return 42

        @server.tool
        async def whoami(context: Context) -> dict[str, Any]:
            return dict(context.client or {})

        @server.tool
        async def greet(name: str, title: str = "Dr") -> str:
            return f"{title} {name}"

        chosen = None if off else sessions or Sessions()
        self._application = server.asgi(HttpOptions(sessions=chosen))

    async def send(
        self, body: Any, headers: Mapping[str, str | None] | None = None, method: str = "POST"
    ) -> Answer:
        given = {"content-type": "application/json", "host": "x.example", **(headers or {})}
        scope = {
            "type": "http",
            "method": method,
            "path": "/mcp",
            "headers": [(k.lower().encode(), v.encode()) for k, v in given.items() if v],
            "server": ("10.0.0.1", 80),
        }
        events: list[Any] = []

        async def receive() -> Any:
            return {"type": "http.request", "body": json.dumps(body).encode()}

        async def send(event: Any) -> None:
            events.append(event)

        await self._application(scope, receive, send)
        return Answer(events)

    async def ask(self, method: str, params: Any = None, **headers: str | None) -> Answer:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        message: dict[str, Any] = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": method,
            "params": params or {},
        }
        return await self.send(message, named)

    async def call(self, name: str, arguments: Any = None, **headers: str | None) -> Answer:
        return await self.ask("tools/call", {"name": name, "arguments": arguments or {}}, **headers)

    async def open(
        self, revision: str, client: Any = None, accept: str | None = None
    ) -> str | None:
        params: dict[str, Any] = {"protocolVersion": revision, "capabilities": {}}
        if client is not None:
            params["clientInfo"] = client
        answer = await self.ask("initialize", params, accept=accept)
        assert answer.json["result"]["protocolVersion"] == revision
        id = answer.headers.get(b"mcp-session-id")
        return None if id is None else id.decode()


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
async def test_a_client_that_forgets_its_revision_is_served_at_what_was_negotiated(
    accept: str,
) -> None:
    replica = Replica()
    id = await replica.open("2025-06-18", GEMINI, accept)
    result = (await replica.call("count", mcp_session_id=id)).json["result"]
    assert result["structuredContent"] == {"result": 42}
    assert "structuredContent" not in (await replica.call("count")).json["result"]


async def test_what_a_request_says_of_itself_counts_more_than_its_session() -> None:
    replica = Replica()
    id = await replica.open("2025-03-26")
    told = {"mcp_session_id": id, "mcp_protocol_version": "2025-11-25"}
    result = (await replica.call("count", **told)).json["result"]
    assert result["structuredContent"] == {"result": 42}


async def test_any_replica_with_the_key_can_answer() -> None:
    id = await Replica(Sessions((KEY,))).open("2025-06-18", GEMINI)
    answer = await Replica(Sessions((OTHER_KEY, KEY))).call("whoami", mcp_session_id=id)
    assert answer.json["result"]["structuredContent"] == GEMINI


async def test_what_a_known_client_needs_is_remembered() -> None:
    replica = Replica()
    id = await replica.open("2025-11-25", {"name": "mcp-use", "version": "1.7.1"})
    arguments = {"name": "Who", "title": None}
    for headers in ({}, {"mcp_protocol_version": "2025-11-25"}):
        told = await replica.call("greet", arguments, mcp_session_id=id, **headers)
        assert told.json["result"]["structuredContent"] == {"result": "Dr Who"}
    assert (await replica.call("greet", arguments)).json["result"]["isError"] is True


@pytest.mark.parametrize(
    "id", ["whatever", "x" * 9000, "A" * 64, "é", "9f1c7b6e-5b8e-4a52-8d52-0e2f7b3c7a10"]
)
async def test_with_shared_keys_an_id_that_none_of_them_signed_is_not_found(id: str) -> None:
    replica = Replica(Sessions((KEY,)))
    answer = await replica.call("count", mcp_session_id=id, mcp_protocol_version="2025-11-25")
    assert (answer.status, answer.json["error"]["code"]) == (404, 404)
    assert answer.json["id"] == 1
    note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert (await replica.send(note, {"mcp-session-id": id})).status == 404
    assert (await replica.send([note], {"mcp-session-id": id})).status == 404


async def test_a_changed_or_foreign_id_is_not_found() -> None:
    replica = Replica(Sessions((KEY,)))
    id = await replica.open("2025-06-18", GEMINI)
    assert id is not None
    foreign = await Replica(Sessions((OTHER_KEY,))).open("2025-06-18", GEMINI)
    for wrong in (id[:-3] + "AAA", "AAA" + id[3:], foreign, id + "AAAA"):
        assert (await replica.call("count", mcp_session_id=wrong)).status == 404
    assert (await replica.call("count", mcp_session_id=id)).status == 200


async def test_a_new_handshake_does_not_depend_on_an_old_one() -> None:
    replica = Replica(Sessions((KEY,)))
    params: dict[str, Any] = {"protocolVersion": "2025-11-25", "capabilities": {}}
    answer = await replica.ask("initialize", params, mcp_session_id="over")
    assert answer.status == 200
    assert b"mcp-session-id" in answer.headers


async def test_without_keys_an_id_of_somebody_else_is_passed_over() -> None:
    replica = Replica()
    told = {"mcp_session_id": "whatever", "mcp_protocol_version": "2025-06-18"}
    answer = await replica.call("count", **told)
    assert answer.json["result"]["structuredContent"] == {"result": 42}


async def test_modern_requests_have_no_session() -> None:
    replica = Replica(Sessions((KEY,)))
    answer = await replica.ask(
        "tools/call", {"name": "count", "_meta": META}, mcp_session_id="over",
        mcp_protocol_version="2026-07-28", mcp_method="tools/call", mcp_name="count",
    )  # fmt: skip
    assert answer.json["result"]["structuredContent"] == 42
    assert b"mcp-session-id" not in answer.headers


async def test_batches_are_known_by_the_session_too() -> None:
    replica = Replica()
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "count"}}
    older = await replica.open("2025-03-26")
    assert (await replica.send([call], {"mcp-session-id": older})).json[0]["id"] == 1
    newer = await replica.open("2025-06-18")
    assert (await replica.send([call], {"mcp-session-id": newer})).status == 400


async def test_a_session_that_was_ended_is_over() -> None:
    replica = Replica()
    id, other = await replica.open("2025-11-25"), await replica.open("2025-11-25")
    assert (await replica.send(None, {"mcp-session-id": id}, "DELETE")).status == 204
    assert (await replica.call("count", mcp_session_id=id)).status == 404
    assert (await replica.call("count", mcp_session_id=other)).status == 200


async def test_the_operator_may_do_without() -> None:
    replica = Replica(off=True)
    assert await replica.open("2025-06-18", GEMINI) is None
    told = {"mcp_session_id": "whatever", "mcp_protocol_version": "2025-06-18"}
    assert (await replica.call("count", **told)).status == 200


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def ids(clock: Clock | None = None, *keys: bytes, lifetime: float = 60.0) -> SessionIds:
    return SessionIds(Sessions(keys, lifetime), KnownClients(), clock or Clock())


@pytest.mark.parametrize("keys", [(), (KEY,)], ids=["own", "shared"])
def test_an_id_that_is_over_is_not_found_whoever_has_signed_it(keys: tuple[bytes, ...]) -> None:
    clock = Clock()
    issuer = ids(clock, *keys)
    id = issuer.issue(Revision.V2025_06_18, None)
    clock.now += 59
    session = issuer.find(id)
    assert session is not None
    assert (session.revision, session.client, session.needs) == ("2025-06-18", None, NOTHING)
    clock.now += 1
    for reader in (issuer, ids(clock, *keys)):
        with pytest.raises(ProtocolError):
            reader.find(id)


@pytest.mark.parametrize(
    "client",
    [
        None,
        b'{"name":"claude-code","version":"2.1.325","title":"Claude Code","icons":[]}',
        b'{"name":"\\u0000\\u0001","version":"1"}',
        b'{"name":"' + b"x" * 100_000 + b'"}',
        b'{"name":"' + "ü".encode() * 90 + b'","version":"1"}',
        b'{"name":7}',
        b"[]",
        b"\xff",
    ],
)
def test_an_id_is_short_and_visible_whatever_the_client_says_of_itself(
    client: bytes | None,
) -> None:
    issuer = ids()
    for revision in HANDSHAKE:
        id = issuer.issue(revision, client)
        assert len(id) <= 428
        assert re.fullmatch(rb"[\x21-\x7e]+", id)
        session = issuer.find(id)
        assert session is not None
        assert session.revision is revision
        known = client is not None and b"claude" in client
        assert session.needs == ({Need.FOLDED_ROOT} if known else NOTHING)


def test_no_two_ids_are_the_same() -> None:
    issuer = ids()
    assert len({issuer.issue(Revision.V2025_11_25, None) for _ in range(100)}) == 100


def test_an_id_has_one_spelling() -> None:
    ids = SessionIds(Sessions(keys=(KEY,)), KnownClients())
    # The text is padded until the last character of the id stands for less than six bits.
    issued = next(
        id
        for length in range(3)
        if len(id := ids.issue(HANDSHAKE[0], b'{"name":"%b"}' % (b"n" * length))) % 4
    )
    letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    spelt = issued[:-1] + letters[letters.index(issued[-1:]) + 1 :][:1]
    assert ids.find(issued) is not None
    with pytest.raises(ProtocolError):
        ids.find(spelt)


def test_the_first_key_signs_and_all_verify() -> None:
    id = ids(None, KEY, OTHER_KEY).issue(Revision.V2025_11_25, None)
    assert ids(None, OTHER_KEY, KEY).find(id) is not None
    with pytest.raises(ProtocolError):
        ids(None, OTHER_KEY).find(id)


def test_many_ids_are_not_all_remembered() -> None:
    issuer = ids()
    for _ in range(1500):
        issuer.find(issuer.issue(Revision.V2025_11_25, None))
    assert len(issuer._sessions) <= 1024


def test_worker_processes_share_a_key_by_themselves() -> None:
    issuer = SessionIds(Sessions(), KnownClients())
    spawning = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawning) as workers:
        id = workers.submit(issuer.issue, Revision.V2025_06_18, None).result(PATIENCE)
    assert issuer.find(id) is not None


@pytest.mark.parametrize(
    "wrong",
    [
        {"keys": (b"short",)},
        {"keys": b"k" * 32},
        {"keys": ("k" * 32,)},
        {"lifetime": 0},
        {"lifetime": float("nan")},
    ],
    ids=str,
)
def test_settings_that_cannot_work_are_refused(wrong: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        Sessions(**wrong)


def test_keys_are_not_shown() -> None:
    assert "kkk" not in repr(HttpOptions(sessions=Sessions((KEY,))))
