"""The ASGI application inside other applications, behind tokens, and at its end."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from patience import PATIENCE, turn_until

from anyshape import Context, Server
from anyshape.server import AccessToken, Authorization, HttpOptions, ServerOptions

from .visiting import META, MODERN, Visit, call

RESOURCE = "https://mcp.example.com/mcp"


def _ping(**options: Any) -> Visit:
    return Visit({"jsonrpc": "2.0", "id": 1, "method": "ping"}, **options)


@pytest.fixture
def server() -> Server:
    """A server with a few tools."""
    server = Server("here", options=ServerOptions(grace=0.2))

    @server.tool
    async def whoami(context: Context) -> str | None:
        access: AccessToken | None = context.access
        return None if access is None else access.subject

    @server.tool
    async def wait(seconds: float) -> str:
        await asyncio.sleep(seconds)
        return "waited"

    @server.tool
    async def erase() -> str:
        return "erased"

    assert list(server.tools) == [whoami.__name__, wait.__name__, erase.__name__]
    return server


class Book:
    """A verifier that knows its tokens by heart."""

    def __init__(self, **tokens: AccessToken) -> None:
        self._tokens = tokens

    async def verify(self, token: str) -> AccessToken | None:
        await asyncio.sleep(0)
        return self._tokens.get(token)


def _authorization(**options: Any) -> Authorization:
    known = Book(ada=AccessToken("ada", scopes=frozenset({"use"})))
    given: dict[str, Any] = {
        "verifier": known,
        "resource": RESOURCE,
        "authorization_servers": ("https://auth.example.com",),
        **options,
    }
    return Authorization(**given)


def _guarded(server: Server) -> Any:
    book = Book(
        ada=AccessToken("ada", scopes=frozenset({"use"}), audience=(RESOURCE,)),
        root=AccessToken("root", scopes=frozenset({"use", "erase"}), audience=(RESOURCE + "/",)),
        late=AccessToken("late", scopes=frozenset({"use"}), expires_at=time.time() - 1),
        lost=AccessToken("lost", scopes=frozenset({"use"}), audience=("https://other.example",)),
        weak=AccessToken("weak"),
    )
    authorization = _authorization(
        verifier=book,
        required_scopes=("use",),
        tool_scopes={"erase": ("erase",)},
        prompt_scopes={"plan": ("plan",)},
        resource_scopes={"notes://all": ("read",), "notes://{year}/{month}": ("read", "old")},
        resource_name="Here",
    )
    return server.asgi(HttpOptions(authorization=authorization))


METADATA = "https://mcp.example.com/.well-known/oauth-protected-resource/mcp"


@pytest.mark.behaviour("authorization.challenge")
@pytest.mark.parametrize(
    ("token", "status", "error"),
    [
        (None, 401, None),
        ("Basic YTpi", 401, None),
        ("Bearer ", 400, "invalid_request"),
        ("Bearer ada, Bearer ada", 400, "invalid_request"),
        ("Bearer ada Bearer ada", 400, "invalid_request"),
        ("Bearer nobody", 401, "invalid_token"),
        ("Bearer late", 401, "invalid_token"),
        ("Bearer lost", 401, "invalid_token"),
        ("Bearer weak", 403, "insufficient_scope"),
    ],
)
async def test_a_request_without_a_good_token_is_challenged(
    server: Server, token: str | None, status: int, error: str | None
) -> None:
    headers = {} if token is None else {"authorization": token}
    reply = await call("whoami", headers=headers).to(_guarded(server))
    assert reply.status == status
    challenge = reply.headers["www-authenticate"]
    assert challenge.startswith("Bearer ")
    assert f'resource_metadata="{METADATA}"' in challenge
    assert 'scope="use"' in challenge
    assert (f'error="{error}"' in challenge) if error else ("error=" not in challenge)
    assert "error" in reply.json


@pytest.mark.behaviour("authorization.accepted")
@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
async def test_a_good_token_is_known_to_the_tool(server: Server, scheme: str) -> None:
    visit = call("whoami", headers={"authorization": f"{scheme} ada"})
    reply = await visit.to(_guarded(server))
    assert reply.status == 200
    assert reply.json["result"]["structuredContent"] == "ada"


@pytest.mark.behaviour("authorization.scope")
async def test_a_tool_that_needs_more_is_refused_with_all_the_scopes_it_needs(
    server: Server,
) -> None:
    application = _guarded(server)
    reply = await call("erase", headers={"authorization": "Bearer ada"}).to(application)
    assert reply.status == 403
    assert 'error="insufficient_scope"' in reply.headers["www-authenticate"]
    assert 'scope="use erase"' in reply.headers["www-authenticate"]
    reply = await call("erase", headers={"authorization": "Bearer root"}).to(application)
    assert reply.status == 200


@pytest.mark.behaviour("authorization.scope")
async def test_a_batch_does_not_get_around_the_scopes_of_a_tool(server: Server) -> None:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "erase"}}
    visit = Visit([call], headers={"authorization": "Bearer ada"})
    assert (await visit.to(_guarded(server))).status == 403


@pytest.mark.behaviour("authorization.scope")
@pytest.mark.parametrize(
    ("method", "params", "scopes"),
    [
        ("prompts/get", {"name": "plan"}, "use plan"),
        ("prompts/get", {"name": "talk"}, None),
        ("resources/read", {"uri": "notes://all"}, "use read"),
        ("resources/read", {"uri": "notes://2026/07"}, "use read old"),
        ("resources/read", {"uri": "notes://2026"}, None),
        ("resources/read", {"uri": "notes://%61ll"}, "use read"),
        ("resources/read", {"uri": "notes://2026%2F07"}, "use read old"),
        ("resources/subscribe", {"uri": "notes://all"}, "use read"),
        (
            "completion/complete",
            {"ref": {"type": "ref/prompt", "name": "plan"}, "argument": {"name": "a", "value": ""}},
            "use plan",
        ),
        (
            "completion/complete",
            {
                "ref": {"type": "ref/resource", "uri": "notes://{year}/{month}"},
                "argument": {"name": "year", "value": "2"},
            },
            "use read old",
        ),
        (
            "subscriptions/listen",
            {"notifications": {"resourceSubscriptions": ["notes://none", "notes://all"]}},
            "use read",
        ),
        ("resources/read", {"uri": 7}, None),
        # Nobody may watch so many at once: that is said, and their scopes are not looked up.
        (
            "subscriptions/listen",
            {"notifications": {"resourceSubscriptions": ["notes://all"] * 251}},
            None,
        ),
    ],
)
async def test_prompts_and_resources_that_need_more_are_refused_in_the_same_way(
    server: Server, method: str, params: dict[str, Any], scopes: str | None
) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    headers = {"authorization": "Bearer ada", "mcp-protocol-version": "2025-11-25"}
    for sent in (body, [body]):
        reply = await Visit(sent, headers=headers).to(_guarded(server))
        if scopes is None:
            assert reply.status != 403
        else:
            assert reply.status == 403
            assert f'scope="{scopes}"' in reply.headers["www-authenticate"]


@pytest.mark.behaviour("authorization.scope")
async def test_no_spelling_of_a_uri_gets_around_the_scopes_of_what_it_reads(
    tmp_path: Path,
) -> None:
    for folder in ("open", "my secrets"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "plans.txt").write_text("world domination")
    server = Server("files")
    server.directory("files:///", tmp_path)

    @server.resource("any:///{+path}")
    @server.resource("bare:{+path}")
    def normal(path: str) -> str:
        return os.path.normpath(path)

    rules = {
        "files:///my%20secrets/{+path}": ("admin",),
        "any:///secret": ("admin",),
        "bare:secret": ("admin",),
    }
    authorization = _authorization(required_scopes=("use",), resource_scopes=rules)
    application = server.asgi(HttpOptions(authorization=authorization))

    async def read(uri: str) -> int:
        body = {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": uri}}
        headers = {"authorization": "Bearer ada", "mcp-protocol-version": "2025-11-25"}
        return (await Visit(body, headers=headers).to(application)).status

    assert await read("files:///open/plans.txt") == 200
    for uri in (
        "files:///my%20secrets/plans.txt",
        "files:///%6dy%20secrets/plans.txt",
        "files:///my%20secrets%2fplans.txt",
        "files:///my%20secret%73%2F%70lans.txt",
        "any:///secret",
        "any:///%73ecret",
        "bare:./secret",
        "bare:open/%2e./secret",
        "any:///open/../secret",
        "any:///open/%2e%2e/./secret",
        "any:///open%2F..%2Fsecret",
        "any:////secret",
        "any:///open//..//secret",
        "any:///./secret",
    ):
        assert await read(uri) == 403


@pytest.mark.behaviour("authorization.metadata")
@pytest.mark.parametrize("path", ["/api/.well-known/oauth-protected-resource/api/mcp", "/api/mcp"])
async def test_a_server_behind_a_prefix_knows_its_own_paths(server: Server, path: str) -> None:
    # uvicorn with `root_path` puts it before whatever path a proxy passes on.
    authorization = _authorization(resource="https://mcp.example.com/api/mcp")
    visit = Visit(method="GET" if "well-known" in path else "POST", path=path)
    visit.scope["root_path"] = "/api"
    reply = await visit.to(server.asgi(HttpOptions(authorization=authorization)))
    where = "https://mcp.example.com/.well-known/oauth-protected-resource/api/mcp"
    if reply.status == 200:
        assert reply.json["resource"] == "https://mcp.example.com/api/mcp"
    else:
        assert reply.status == 401
        assert f'resource_metadata="{where}"' in reply.headers["www-authenticate"]


@pytest.mark.parametrize(("path", "root_path"), [("/ready", ""), ("/api/ready", "/api")])
async def test_pages_beside_the_endpoint_are_found_behind_a_prefix_too(
    server: Server, path: str, root_path: str
) -> None:
    visit = Visit(method="GET", path=path)
    visit.scope["root_path"] = root_path
    reply = await visit.to(
        server.asgi(HttpOptions(pages={"/ready": lambda: (200, "text/plain", b"yes")}))
    )
    assert (reply.status, reply.body) == (200, b"yes")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"required_scopes": "read"}, "tuple"),
        ({"scopes_supported": ("read write",)}, "spaces"),
        ({"tool_scopes": {"erase": "admin"}}, r"tool_scopes\['erase'\]"),
        ({"prompt_scopes": {"plan": ('a"b',)}}, "quotes"),
        ({"resource_scopes": {"notes://all": ("",)}}, "each scope"),
        ({"resource": 'https://example.com/"'}, "resource"),
        ({"resource": "example.com"}, "resource"),
        ({"authorization_servers": ()}, "at least one"),
        ({"authorization_servers": "https://auth.example.com"}, "tuple"),
    ],
)
def test_what_could_guard_nothing_or_break_a_challenge_fails_at_definition(
    options: dict[str, Any], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        _authorization(**options)


@pytest.mark.behaviour("authorization.metadata")
@pytest.mark.parametrize(
    "path",
    ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"],
)
async def test_where_tokens_come_from_is_published(server: Server, path: str) -> None:
    reply = await Visit(method="GET", path=path).to(_guarded(server))
    assert reply.status == 200
    assert reply.json == {
        "resource": RESOURCE,
        "authorization_servers": ["https://auth.example.com"],
        "bearer_methods_supported": ["header"],
        "scopes_supported": ["use"],
        "resource_name": "Here",
    }
    assert (await Visit(method="POST", path=path).to(_guarded(server))).status == 405


@pytest.mark.parametrize("resource", ["mcp.example.com", "https://x/#part", "ftp://x/mcp", ""])
def test_a_resource_that_is_no_canonical_uri_is_refused(resource: str) -> None:
    with pytest.raises(ValueError, match="resource"):
        Authorization(Book(), resource, ("https://auth.example.com",))


def test_a_resource_needs_an_authorization_server() -> None:
    with pytest.raises(ValueError, match="authorization_servers"):
        Authorization(Book(), RESOURCE, ())


async def test_a_server_without_authorization_publishes_no_metadata(server: Server) -> None:
    visit = Visit(method="GET", path="/.well-known/oauth-protected-resource")
    assert (await visit.to(server.asgi())).status == 404


@pytest.mark.parametrize(
    ("options", "path", "status"),
    [
        (HttpOptions(), "/mcp", 200),
        (HttpOptions(), "/mcp/", 200),
        (HttpOptions(), "/other", 404),
        (HttpOptions(path="/"), "/", 200),
        (HttpOptions(path="/a/b"), "/a/b", 200),
        (HttpOptions(path="/a/b"), "/mcp", 404),
    ],
)
async def test_the_endpoint_is_where_it_is_put(
    server: Server, options: HttpOptions, path: str, status: int
) -> None:
    assert (await _ping(path=path).to(server.asgi(options))).status == status


async def test_it_can_be_mounted_in_starlette(server: Server) -> None:
    from starlette.applications import Starlette
    from starlette.routing import Mount

    application = Starlette(routes=[Mount("/tools", app=server.asgi())])
    assert (await _ping(path="/tools/mcp").to(application)).json["result"] == {}
    assert (await _ping(path="/mcp").to(application)).status == 404


async def test_it_can_be_mounted_in_fastapi(server: Server) -> None:
    from fastapi import FastAPI

    application = FastAPI()
    application.mount("/tools", server.asgi())
    assert (await _ping(path="/tools/mcp").to(application)).json["result"] == {}


def test_hosts_may_describe_their_address_as_a_list(server: Server) -> None:
    from starlette.testclient import TestClient

    with TestClient(server.asgi(), base_url="http://127.0.0.1:8000") as client:
        body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        for _ in range(2):
            assert client.post("/mcp", json=body).json()["result"] == {}
        refused = client.post("/mcp", json=body, headers={"Host": "evil.example.com"})
        assert refused.status_code == 403


@pytest.mark.parametrize("length", ["abc", "-5", "²" * 9, "1e9", ""])
async def test_a_length_that_is_no_number_is_left_to_the_host(server: Server, length: str) -> None:
    assert (await _ping(headers={"content-length": length}).to(server.asgi())).status == 200


@pytest.mark.behaviour("limits.body")
@pytest.mark.parametrize("length", ["4194305", "9" * 5000])
async def test_a_length_beyond_the_limit_is_refused(server: Server, length: str) -> None:
    assert (await _ping(headers={"content-length": length}).to(server.asgi())).status == 413


async def test_it_can_be_mounted_as_the_endpoint_itself(server: Server) -> None:
    from starlette.applications import Starlette
    from starlette.routing import Mount

    application = Starlette(routes=[Mount("/tools", app=server.asgi(HttpOptions(path="/")))])
    assert (await _ping(path="/tools/").to(application)).json["result"] == {}


async def _live(application: Any) -> tuple[asyncio.Queue[str], list[str], asyncio.Task[None]]:
    incoming: asyncio.Queue[str] = asyncio.Queue()
    outgoing: list[str] = []

    async def receive() -> dict[str, Any]:
        return {"type": await incoming.get()}

    async def send(message: Mapping[str, Any]) -> None:
        outgoing.append(message["type"])

    task = asyncio.create_task(application({"type": "lifespan"}, receive, send))
    return incoming, outgoing, task


@pytest.mark.behaviour("transport.http.drain")
async def test_at_shutdown_calls_finish_and_subscriptions_end_gracefully(server: Server) -> None:
    application = server.asgi()
    incoming, outgoing, living = await _live(application)
    incoming.put_nowait("lifespan.startup")
    listen = Visit(
        {
            "jsonrpc": "2.0",
            "id": 5,
            "method": "subscriptions/listen",
            "params": {
                "_meta": META,
                "notifications": {"toolsListChanged": True},
            },
        },
        headers={"mcp-protocol-version": MODERN, "mcp-method": "subscriptions/listen"},
    )
    quick, endless = call("wait", {"seconds": 0.05}), call("wait", {"seconds": 60})
    visits = [asyncio.create_task(visit.to(application)) for visit in (listen, quick, endless)]
    await asyncio.wait_for(listen.reply.begun.wait(), PATIENCE)
    incoming.put_nowait("lifespan.shutdown")
    await asyncio.wait_for(living, PATIENCE)
    await asyncio.gather(*visits)
    assert outgoing == ["lifespan.startup.complete", "lifespan.shutdown.complete"]
    assert b'"id":5,"result":{"resultType":"complete"' in listen.reply.body
    assert b"waited" in quick.reply.body
    assert (endless.reply.status, endless.reply.json["error"]["code"]) == (503, 503)
    assert endless.reply.headers["retry-after"] == "1"


class Dripping(Visit):
    """A visit whose body comes in two pieces, the second when the test says so."""

    def __init__(self, visit: Visit) -> None:
        self.scope, self.reply = visit.scope, visit.reply
        self._visit = visit
        self.has_begun = asyncio.Event()
        self.may_go_on = asyncio.Event()

    async def receive(self) -> dict[str, Any]:
        if not self.has_begun.is_set():
            self.has_begun.set()
            return {"type": "http.request", "body": b" ", "more_body": True}
        await self.may_go_on.wait()
        return await self._visit.receive()


@pytest.mark.behaviour("transport.http.drain")
@pytest.mark.parametrize(("arrives", "status"), [(False, 408), (True, 503)])
async def test_at_shutdown_a_body_has_the_grace_time_to_arrive_and_to_be_answered(
    server: Server, arrives: bool, status: int
) -> None:
    application = server.asgi()
    incoming, outgoing, living = await _live(application)
    incoming.put_nowait("lifespan.startup")
    visit = Dripping(call("wait", {"seconds": 60}))
    visiting = asyncio.create_task(visit.to(application))
    await asyncio.wait_for(visit.has_begun.wait(), PATIENCE)
    incoming.put_nowait("lifespan.shutdown")
    await turn_until(lambda: application._draining is not None)
    if arrives:
        visit.may_go_on.set()
    await asyncio.wait_for(living, PATIENCE)
    assert (await visiting).status == status
    assert outgoing == ["lifespan.startup.complete", "lifespan.shutdown.complete"]


@pytest.mark.behaviour("transport.http.drain")
async def test_the_lifespan_of_a_mounting_application_drains(server: Server) -> None:
    from starlette.applications import Starlette
    from starlette.routing import Mount

    tools = server.asgi()
    application = Starlette(routes=[Mount("/tools", app=tools)], lifespan=tools.lifespan)
    incoming, outgoing, living = await _live(application)
    incoming.put_nowait("lifespan.startup")
    endless = call("wait", {"seconds": 60}, path="/tools/mcp")
    visiting = asyncio.create_task(endless.to(application))
    await asyncio.sleep(0)
    incoming.put_nowait("lifespan.shutdown")
    await asyncio.wait_for(living, PATIENCE)
    assert outgoing == ["lifespan.startup.complete", "lifespan.shutdown.complete"]
    assert (await visiting).status == 503


async def test_a_host_that_cannot_send_any_more_is_asked_no_more(server: Server) -> None:
    @server.tool
    async def steps(context: Context) -> str:
        for step in range(5):
            context.progress(step)
            await asyncio.sleep(0)
        return "done"

    assert "steps" in server.tools
    application = server.asgi(HttpOptions(keep_alive=0.01))
    attempts: list[str] = []

    async def send(message: Mapping[str, Any]) -> None:
        attempts.append(message["type"])
        raise OSError("the client is gone")

    visit = call("steps", meta={"progressToken": 1})
    async with asyncio.timeout(PATIENCE):
        await application(visit.scope, visit.receive, send)
        await asyncio.sleep(0.05)
    assert attempts == ["http.response.start"]


@pytest.mark.behaviour("transport.http.keep-alive")
async def test_a_stream_that_has_ended_is_silent(server: Server) -> None:
    application = server.asgi(HttpOptions(keep_alive=0.01))
    reply = await call("wait", {"seconds": 0.3}).to(application)
    assert reply.body.count(b": keep-alive") >= 2
    assert reply.body.endswith(b"}\n\n")
    sent = reply.body
    await asyncio.sleep(0.05)
    assert reply.body == sent


async def test_a_host_that_gives_a_request_up_is_sent_nothing_more(server: Server) -> None:
    application = server.asgi(HttpOptions(keep_alive=0.01))
    visit = call("wait", {"seconds": 60})
    visiting = asyncio.create_task(visit.to(application))
    await asyncio.wait_for(visit.reply.begun.wait(), PATIENCE)
    visiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await visiting
    sent = visit.reply.body
    await asyncio.sleep(0.05)
    assert visit.reply.body == sent


async def test_a_verifier_that_breaks_is_the_servers_fault_and_tells_nothing(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken:
        async def verify(self, token: str) -> AccessToken | None:
            raise ConnectionError("keys.internal does not answer")

    authorization = Authorization(Broken(), RESOURCE, ("https://auth.example.com",))
    application = server.asgi(HttpOptions(authorization=authorization))
    reply = await call("whoami", headers={"authorization": "Bearer x"}).to(application)
    assert (reply.status, reply.json["error"]["code"]) == (500, -32603)
    assert b"internal" not in reply.body.replace(b"Internal error", b"")
    assert "keys.internal" in caplog.text


@pytest.mark.behaviour("cancellation.disconnect")
async def test_a_client_that_hangs_up_gets_nothing_and_frees_the_server(server: Server) -> None:
    application = server.asgi()
    visit = call("wait", {"seconds": 60})
    visiting = asyncio.create_task(visit.to(application))
    await asyncio.sleep(0)
    visit.hang_up()
    await asyncio.wait_for(visiting, PATIENCE)
    assert (visit.reply.status, visit.reply.body) == (499, b"")


async def test_a_client_that_hangs_up_does_not_upset_middleware(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    from starlette.applications import Starlette
    from starlette.middleware import Middleware
    from starlette.middleware.base import BaseHTTPMiddleware
    from starlette.routing import Mount

    seen: list[int] = []

    async def look(request: Any, proceed: Any) -> Any:
        response = await proceed(request)
        seen.append(response.status_code)
        return response

    application = Starlette(
        routes=[Mount("/", app=server.asgi())],
        middleware=[Middleware(BaseHTTPMiddleware, dispatch=look)],
    )
    visit = call("wait", {"seconds": 60})
    visiting = asyncio.create_task(visit.to(application))
    await asyncio.sleep(0.01)
    visit.hang_up()
    await asyncio.wait_for(visiting, PATIENCE)
    assert seen == [499]
    assert caplog.records == []


async def test_a_websocket_is_closed(server: Server) -> None:
    sent: list[str] = []

    async def receive() -> dict[str, Any]:
        return {"type": "websocket.connect"}

    async def send(message: Mapping[str, Any]) -> None:
        sent.append(message["type"])

    await server.asgi()({"type": "websocket"}, receive, send)
    assert sent == ["websocket.close"]


async def test_what_admits_a_request_is_not_remembered_without_bound(server: Server) -> None:
    application = server.asgi()
    for number in range(700):
        await _ping(headers={"host": f"host{number}"}).to(application)
    assert len(application._admitted) <= 512


async def test_a_refused_host_is_refused_again(server: Server) -> None:
    application = server.asgi()
    for _ in range(2):
        visit = _ping(headers={"host": "evil.example.com"}, address="127.0.0.1")
        assert (await visit.to(application)).status == 403
    visit = _ping(headers={"host": "localhost"}, address="127.0.0.1")
    assert (await visit.to(application)).status == 200


@pytest.mark.parametrize(
    ("method", "subject", "named"),
    [
        ("resources/read", {"uri": "notes://é"}, "=?base64?bm90ZXM6Ly/DqQ==?="),
        ("resources/read", {"uri": "notes://1"}, "notes://1"),
        ("prompts/get", {"name": "talk", "arguments": {"text": "a"}}, "talk"),
    ],
)
async def test_the_name_header_repeats_the_uri_or_the_prompt(
    server: Server, method: str, subject: dict[str, Any], named: str
) -> None:
    server.resource("notes://{text}")(_repeat)
    server.prompt(name="talk")(_repeat)
    params = {**subject, "_meta": META}
    body: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    headers = {"mcp-protocol-version": MODERN, "mcp-method": method, "mcp-name": named}
    options = HttpOptions(allowed_hosts=("mcp.example.com",))
    reply = await Visit(body, headers=headers).to(server.asgi(options))
    assert (reply.status, "result" in reply.json) == (200, True)
    reply = await Visit(body, headers={**headers, "mcp-name": "other"}).to(server.asgi(options))
    assert (reply.status, reply.json["error"]["code"]) == (400, -32020)


async def _repeat(text: str) -> str:
    return text


def test_options_of_another_kind_are_refused_with_the_right_one() -> None:
    server: Any = Server("s")
    with pytest.raises(TypeError, match=r"options has to be HttpOptions\(…\), got ServerOptions"):
        server.asgi(ServerOptions())
    with pytest.raises(TypeError, match=r"options has to be HttpOptions\(…\), got ServerOptions"):
        server.run("http", options=ServerOptions())
