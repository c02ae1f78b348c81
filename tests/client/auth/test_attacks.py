"""What a dishonest server, authorization server or visitor may try, and what comes of it."""

from __future__ import annotations

import asyncio
import gzip
import logging
import socket
from collections.abc import Callable
from traceback import TracebackException
from typing import Any

import pytest
from aiohttp import web
from aiohttp.resolver import DefaultResolver
from locked_server import World

from anyshape import Client
from anyshape.client import Http
from anyshape.client.auth import MemoryStorage, OAuth
from anyshape.client.auth.exchange import Exchange
from anyshape.client.auth.reach import Reach, VettingResolver
from anyshape.client.auth.token import HeldToken
from anyshape.errors import AuthorizationError, TransportError

REVISION = "2026-07-28"
RESOURCE = "/.well-known/oauth-protected-resource/mcp"
METADATA = "/.well-known/oauth-authorization-server/as"
TOKEN = "/as/token"
AUTHORIZE = "/as/authorize"


async def enter(world: World, auth: OAuth, **options: Any) -> str:
    async with Client(world.url, revision=REVISION, auth=auth, **options) as client:
        return await client.call("open")


async def refused(world: World, auth: OAuth | None = None, **options: Any) -> str:
    with pytest.raises(AuthorizationError) as caught:
        await enter(world, auth or world.oauth(**options))
    return str(caught.value)


# Mix-up.


@pytest.mark.parametrize("advertised", [True, False])
async def test_an_answer_from_another_authorization_server_gets_no_further(
    world: World, advertised: bool
) -> None:
    world.metadata["authorization_response_iss_parameter_supported"] = advertised
    world.answer = {"iss": "https://evil.example"}
    assert "another authorization server" in await refused(world)
    assert world.paths(TOKEN) == []


async def test_an_answer_that_should_name_its_issuer_and_does_not_gets_no_further(
    world: World,
) -> None:
    world.metadata["authorization_response_iss_parameter_supported"] = True
    world.answer = {"iss": ""}
    assert "iss" in await refused(world)
    assert world.paths(TOKEN) == []


async def test_what_another_authorization_server_says_is_not_shown(world: World) -> None:
    world.answer = {
        "iss": "https://evil.example",
        "code": "",
        "error": "access_denied",
        "error_description": "call+0900",
    }
    said = await refused(world)
    assert "denied" not in said
    assert "0900" not in said


async def test_what_the_right_authorization_server_says_is_shown_in_one_line(
    world: World,
) -> None:
    world.answer = {"code": "", "error": "access_denied", "error_description": "not%0Atoday"}
    said = await refused(world)
    assert "access_denied (not today)" in said


@pytest.mark.parametrize(
    "answer",
    [
        {"state": "another"},
        {"state": ""},
        {"code": ""},
        {"state&state": "x"},
        {"code": "one&code=two"},
    ],
)
async def test_an_answer_that_is_not_to_our_request_gets_no_further(
    world: World, answer: dict[str, str]
) -> None:
    world.answer = answer
    await refused(world)
    assert world.paths(TOKEN) == []


async def test_an_answer_that_came_somewhere_else_gets_no_further(world: World) -> None:
    async def elsewhere(url: str) -> str:
        return (await world.browse(url)).replace("127.0.0.1:7", "evil.example")

    assert "redirect URI" in await refused(world, authorize=elsewhere)
    assert world.paths(TOKEN) == []


# Issuer and resource.


@pytest.mark.parametrize("named", ["https://honest.example", None, 3, "…/", "… "])
async def test_metadata_that_name_another_issuer_are_not_used(world: World, named: Any) -> None:
    world.metadata["issuer"] = named.replace("…", world.issuer) if isinstance(named, str) else named
    assert "another issuer" in await refused(world)
    assert world.paths(AUTHORIZE) == []
    assert world.paths("/as/register") == []


@pytest.mark.parametrize(
    "named",
    [
        "https://evil.example/mcp",
        "{base}/mc",
        "{base}/mcp/deeper",
        "{base}/other",
        "http://127.0.0.1/mcp",
        "http://user@127.0.0.1:{port}/mcp",
        "{base}/mcp#part",
        "{base}/mcp?tenant=1",
        "http://[::1/mcp",
        None,
        ["{base}/mcp"],
    ],
)
async def test_a_description_of_another_resource_is_not_used(world: World, named: Any) -> None:
    port = world.base.rpartition(":")[2]
    if isinstance(named, str):
        named = named.replace("{base}", world.base).replace("{port}", port)
    world.resource["resource"] = named
    assert "describe" in await refused(world)
    assert world.paths(AUTHORIZE) == []


@pytest.mark.parametrize(
    "named", ["{base}", "{base}/", "{base}/mcp/", "HTTP://127.0.0.1:{port}/mcp"]
)
async def test_the_resource_is_sent_as_the_server_writes_it(world: World, named: str) -> None:
    written = named.replace("{base}", world.base).replace("{port}", world.base.rpartition(":")[2])
    world.resource["resource"] = written
    assert await enter(world, world.oauth()) == "in"
    assert world.paths(AUTHORIZE)[0]["resource"] == written


async def test_only_the_issuer_that_the_caller_gave_is_used(world: World) -> None:
    auth = world.oauth(client_id="mine", client_secret="sss", issuer="https://honest.example")
    assert "honest.example" in await refused(world, auth)
    assert world.paths(TOKEN) == []


def move(world: World) -> str:
    """Have the server trust another authorization server from now on; return its issuer."""
    other = f"{world.base}/other"
    world.resource["authorization_servers"] = [other]

    async def describe(request: web.Request) -> web.Response:
        return web.json_response({**world.metadata, "issuer": other})

    world.instead["/.well-known/oauth-authorization-server/other"] = describe
    return other


async def test_credentials_of_one_authorization_server_are_not_shown_to_the_next(
    world: World,
) -> None:
    world.metadata["token_endpoint_auth_methods_supported"] = ["client_secret_post"]
    auth = world.oauth(client_id="mine", client_secret="sss")
    assert await enter(world, auth) == "in"
    world.tokens.clear()
    move(world)
    asked = len(world.paths(TOKEN))
    assert "moved" in await refused(world, auth)
    assert len(world.paths(TOKEN)) == asked


async def test_a_refresh_token_is_not_shown_to_another_authorization_server(world: World) -> None:
    auth = world.oauth()
    assert await enter(world, auth) == "in"
    world.tokens.clear()
    world.answer = {"iss": move(world)}
    assert await enter(world, auth) == "in"
    grants = [sent["grant_type"] for sent in world.paths(TOKEN)]
    assert grants == ["authorization_code", "authorization_code"]
    clients = [sent["client_id"] for sent in world.paths(TOKEN)]
    assert len(set(clients)) == 2


async def test_an_authorization_server_without_pkce_is_refused(world: World) -> None:
    for methods in (None, [], ["plain"]):
        world.metadata["code_challenge_methods_supported"] = methods
        assert "PKCE" in await refused(world)
    assert world.paths(AUTHORIZE) == []


# Redirects.


@pytest.mark.parametrize(
    "endpoint",
    [
        "javascript:alert(1)",
        "file:///etc/passwd",
        "http://example.com/authorize",
        "https://user:word@example.com/authorize",
        "https://example.com/authorize#x",
        'https://example.com/"&calc.exe',
        "https://example.com/a b",
        "https://0x7f000001/authorize",
        "//example.com/authorize",
        "",
        7,
    ],
)
async def test_nobody_is_sent_to_an_address_that_is_no_plain_https_url(
    world: World, endpoint: Any
) -> None:
    opened: list[str] = []

    async def authorize(url: str) -> str:
        opened.append(url)
        return await world.browse(url)

    world.metadata["authorization_endpoint"] = endpoint
    await refused(world, authorize=authorize)
    assert opened == []


@pytest.mark.parametrize("path", [RESOURCE, METADATA, TOKEN, "/as/register"])
async def test_no_document_and_no_secret_follows_a_redirect_to_another_origin(
    world: World, path: str
) -> None:
    async def redirect(request: web.Request) -> web.Response:
        host = "localhost" + request.host.removeprefix("127.0.0.1")
        return web.Response(status=307, headers={"Location": f"http://{host}/elsewhere"})

    world.instead[path] = redirect
    assert "redirect" in await refused(world)
    assert world.paths("/elsewhere") == []


@pytest.mark.parametrize("path", [RESOURCE, METADATA])
async def test_redirects_in_circles_end(world: World, path: str) -> None:
    async def redirect(request: web.Request) -> web.Response:
        return web.Response(status=302, headers={"Location": path})

    world.instead[path] = redirect
    assert "more than 3 times" in await refused(world)
    assert len(world.paths(path)) == 4


@pytest.mark.parametrize("path", [RESOURCE, METADATA])
async def test_a_document_may_move_within_its_origin(world: World, path: str) -> None:
    document = world.resource if path == RESOURCE else world.metadata

    async def redirect(request: web.Request) -> web.Response:
        return web.Response(status=301, headers={"Location": "/moved"})

    async def moved(request: web.Request) -> web.Response:
        return web.json_response(document)

    world.instead |= {path: redirect, "/moved": moved}
    assert await enter(world, world.oauth()) == "in"


# Addresses.


@pytest.mark.parametrize("host", ["169.254.169.254", "0.0.0.0", "[fe80::1]", "224.0.0.1"])
async def test_no_server_makes_us_ask_a_special_address(world: World, host: str) -> None:
    world.resource["authorization_servers"] = [f"https://{host}/as"]
    assert "whose address" in await refused(world)
    world.resource["authorization_servers"] = [world.issuer]
    world.metadata["token_endpoint"] = f"https://{host}/token"
    assert "whose address" in await refused(world)


@pytest.mark.parametrize(
    ("server", "target", "allowed"),
    [
        ("https://8.8.8.8/mcp", "https://1.1.1.1/token", True),
        ("https://8.8.8.8/mcp", "https://10.0.0.1/token", False),
        ("https://8.8.8.8/mcp", "https://192.168.0.1/token", False),
        ("https://8.8.8.8/mcp", "https://100.64.0.1/token", False),
        ("https://8.8.8.8/mcp", "https://127.0.0.1/token", False),
        ("https://8.8.8.8/mcp", "http://localhost/token", False),
        ("http://127.0.0.1:8000/mcp", "http://localhost/token", True),
        ("https://8.8.8.8/mcp", "https://[::1]/token", False),
        ("https://8.8.8.8/mcp", "https://[::ffff:10.0.0.1]/token", False),
        ("https://8.8.8.8/mcp", "https://169.254.169.254/token", False),
        ("https://8.8.8.8/mcp", "http://1.1.1.1/token", False),
        ("https://10.0.0.5/mcp", "https://10.0.0.1/token", True),
        ("https://10.0.0.5/mcp", "https://127.0.0.1/token", False),
        ("http://127.0.0.1:8000/mcp", "http://127.0.0.1:9000/token", True),
        ("http://127.0.0.1:8000/mcp", "https://10.0.0.1/token", True),
        ("http://127.0.0.1:8000/mcp", "https://169.254.169.254/token", False),
        ("http://10.0.0.5/mcp", "http://10.0.0.5/token", True),
        ("http://10.0.0.5/mcp", "http://10.0.0.6/token", False),
    ],
)
def test_a_server_names_only_what_is_as_public_as_itself(
    server: str, target: str, allowed: bool
) -> None:
    reach = Reach(server)
    if allowed:
        reach.check(target, "the token endpoint")
        return
    with pytest.raises(AuthorizationError):
        reach.check(target, "the token endpoint")


@pytest.mark.parametrize(
    ("peers", "target", "allowed"),
    [
        ([], "https://10.0.0.1/token", False),
        (["10.0.0.5"], "https://10.0.0.1/token", True),
        (["10.0.0.5"], "https://127.0.0.1/token", False),
        (["8.8.8.8", "10.0.0.5"], "https://10.0.0.1/token", False),
        (["8.8.8.8", "127.0.0.1"], "https://127.0.0.1/token", False),
        (["169.254.1.1"], "https://169.254.169.254/token", False),
    ],
)
def test_a_server_with_a_name_is_as_public_as_the_address_it_was_reached_at(
    peers: list[str], target: str, allowed: bool
) -> None:
    reach = Reach("https://mcp.example/mcp")
    reach.learn(peers)
    if allowed:
        reach.check(target, "the token endpoint")
        return
    with pytest.raises(AuthorizationError):
        reach.check(target, "the token endpoint")


async def test_the_address_of_a_name_is_the_one_that_was_connected_to(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    learned: list[tuple[str, ...]] = []
    monkeypatch.setattr(Reach, "learn", lambda self, peers: learned.append(peers))  # pyright: ignore
    url = world.url.replace("127.0.0.1", "localhost")
    with pytest.raises(AuthorizationError):  # it describes itself by its address
        async with Client(url, revision=REVISION, auth=world.oauth()):
            pass
    assert "127.0.0.1" in learned[0]


@pytest.mark.parametrize("address", ["10.0.0.1", "127.0.0.1", "::1", "169.254.169.254"])
async def test_a_name_is_judged_by_the_address_that_it_has_when_it_is_connected_to(
    monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    async def resolve(*_: object, **__: object) -> list[dict[str, str]]:
        public = {"host": "1.1.1.1", "hostname": "as.example"}
        return [public, {"host": address, "hostname": "as.example"}]

    monkeypatch.setattr(DefaultResolver, "resolve", resolve)
    reach = Reach("https://8.8.8.8/mcp")
    reach.check("https://as.example/token", "the token endpoint")
    resolver = VettingResolver(reach, "as.example")
    with pytest.raises(AuthorizationError, match="whose address"):
        await resolver.resolve("as.example", 443, socket.AF_INET)
    # The caller's proxy, and what the caller wrote down, are the caller's business.
    await resolver.resolve("proxy.example", 443, socket.AF_INET)
    trusting = Reach("https://8.8.8.8/mcp", ["https://as.example"])
    await VettingResolver(trusting, "as.example").resolve("as.example", 443, socket.AF_INET)
    await resolver.close()


# Documents.


def _endless(piece: bytes) -> Callable[[web.Request], Any]:
    async def stream(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        while True:
            await response.write(piece)

    return stream


@pytest.mark.parametrize("path", [RESOURCE, METADATA, TOKEN, "/as/register"])
async def test_a_document_without_end_is_not_read_to_its_end(world: World, path: str) -> None:
    world.instead[path] = _endless(b" " * 65536)
    assert "longer than" in await refused(world)


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 100_000,
        b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
        b'{"issuer": "\xff"}',
        b'{"issuer": "\\ud800"}',
        b"<html>",
        b"",
        b"[]",
        b"null",
        gzip.compress(b" " * 10_000_000),
    ],
    ids=["deep", "deep objects", "bytes", "surrogate", "html", "empty", "list", "null", "gzip"],
)
@pytest.mark.parametrize("path", [RESOURCE, METADATA, TOKEN, "/as/register"])
async def test_a_document_that_is_no_small_object_fails_in_one_line(
    world: World, path: str, body: bytes
) -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(body=body, headers={"Content-Encoding": "identity"})

    world.instead[path] = answer
    assert "\n" not in await refused(world)


@pytest.mark.parametrize(
    "members",
    [
        {"access_token": 3, "token_type": "Bearer"},
        {"access_token": "", "token_type": "Bearer"},
        {"access_token": "a\r\nX-Evil: 1", "token_type": "Bearer"},
        {"access_token": "a b", "token_type": "Bearer"},
        {"access_token": "ü", "token_type": "Bearer"},
        {"access_token": "a" * 100_000, "token_type": "Bearer"},
        {"access_token": "a", "token_type": "mac"},
        {"access_token": "a", "token_type": "DPoP"},
        {"access_token": "a"},
    ],
)
async def test_a_token_that_no_header_can_carry_is_not_sent(
    world: World, members: dict[str, Any]
) -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.json_response(members)

    world.instead[TOKEN] = answer
    asked = len(world.paths("/mcp"))
    await refused(world)
    assert len(world.paths("/mcp")) == asked + 1


@pytest.mark.parametrize(
    "header",
    [
        'Bearer realm="a\\"b", scope="x',
        "Bearer" + ', a="b"' * 500,
        "," * 4000,
        'Negotiate abc==, Basic realm="x", Bearer',
        "=" * 1000,
        '"""',
    ],
)
async def test_a_challenge_that_makes_no_sense_is_as_good_as_none(
    world: World, header: str
) -> None:
    async def serve(request: web.BaseRequest) -> web.StreamResponse:
        if "Authorization" not in request.headers:
            return web.Response(status=401, headers={"WWW-Authenticate": header})
        return world.serve(request, await request.json())

    world.instead["/mcp"] = serve
    assert await enter(world, world.oauth()) == "in"


# Secrets.


async def test_no_log_no_error_and_no_repr_shows_a_secret(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    storage = MemoryStorage()
    auth = world.oauth(client_id="mine", client_secret="secret-of-client", storage=storage)
    world.metadata["token_endpoint_auth_methods_supported"] = ["client_secret_post"]
    assert await enter(world, auth) == "in"
    kept = await storage.load(f"token {world.url}")
    assert kept is not None
    token = HeldToken.read(kept)
    world.tokens.clear()

    async def echo(request: web.Request) -> web.Response:
        sent = await request.post()
        said = " ".join(str(value) for value in sent.values())
        return web.json_response(
            {"error": "server_error", "error_description": said[:150]}, status=400
        )

    world.instead[TOKEN] = echo
    messages = [await refused(world, auth)]

    async def name(request: web.Request) -> web.Response:
        return web.json_response({"error": (await request.post())["refresh_token"]}, status=400)

    world.instead[TOKEN] = name
    with pytest.raises(AuthorizationError) as caught:
        await enter(world, auth)
    messages += [str(caught.value), str(caught.value.error)]
    shown = "\n".join([*messages, repr(auth), repr(token), repr(storage), caplog.text])
    assert "secret-" not in shown


async def test_a_server_that_repeats_our_token_in_a_refusal_is_not_quoted(world: World) -> None:
    async def serve(request: web.BaseRequest) -> web.StreamResponse:
        sent = await request.json()
        token = request.headers.get("Authorization", "")
        if sent["method"] == "tools/call":
            return web.Response(status=403, text=f"no: {token}")
        return world.serve(request, sent)

    world.instead["/mcp"] = serve
    with pytest.raises(TransportError) as caught:
        await enter(world, world.oauth())
    assert "secret-" not in str(caught.value)


async def test_the_password_of_a_proxy_is_in_no_error() -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 407 Who are you?\r\nContent-Length: 0\r\n\r\n")
        writer.close()

    def shown(error: BaseException) -> str:
        assert "the proxy refuses it, HTTP 407" in str(error)
        return "".join(TracebackException.from_exception(error).format())

    proxy = await asyncio.start_server(refuse, "127.0.0.1", 0)
    async with proxy:
        password = "secret-" + "of-proxy"
        port = proxy.sockets[0].getsockname()[1]
        http = Http(proxy=f"http://user:{password}@127.0.0.1:{port}")
        with pytest.raises(TransportError) as caught:
            async with Client("https://example.com/mcp", auth=OAuth(), http=http):
                pass
        assert password not in shown(caught.value)
        exchange = Exchange(Reach("https://example.com/mcp"), http)
        with pytest.raises(AuthorizationError) as caught:
            await exchange.get("https://example.com/metadata", "the metadata")
        assert password not in shown(caught.value)


async def test_a_login_that_is_given_up_leaves_nothing_behind(world: World) -> None:
    started = asyncio.Event()

    async def never(url: str) -> str:
        started.set()
        await asyncio.Event().wait()
        return url

    task = asyncio.create_task(enter(world, world.oauth(authorize=never)))
    await started.wait()
    task.cancel()
    (outcome,) = await asyncio.gather(task, return_exceptions=True)
    assert isinstance(outcome, asyncio.CancelledError)
    assert world.paths(TOKEN) == []
