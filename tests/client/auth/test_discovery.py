"""Where a client looks for an authorization server, and what it makes of what it finds."""

from __future__ import annotations

from typing import Any

import pytest
from aiohttp import web
from locked_server import World

from anyshape import Client
from anyshape.client.auth import OAuth
from anyshape.errors import AuthorizationError, TransportError

REVISION = "2026-07-28"
RESOURCE = "/.well-known/oauth-protected-resource"
OAUTH = "/.well-known/oauth-authorization-server"
OPENID = "/.well-known/openid-configuration"


async def enter(world: World, auth: OAuth) -> str:
    async with Client(world.url, revision=REVISION, auth=auth) as client:
        return await client.call("open")


def hide_descriptions(world: World) -> None:
    """Make a server of 2025-03-26: it says nothing of itself as a resource."""

    async def nothing(request: web.Request) -> web.Response:
        return web.Response(status=404)

    async def serve(request: web.Request) -> web.StreamResponse:
        if "Authorization" not in request.headers:
            return web.Response(status=401)
        return world.serve(request, await request.json())

    world.instead |= {"/mcp": serve, f"{RESOURCE}/mcp": nothing, RESOURCE: nothing}


def answer(document: Any, status: int = 200) -> Any:
    async def handle(request: web.Request) -> web.Response:
        return web.json_response(document, status=status)

    return handle


async def test_a_server_without_a_description_is_its_own_authorization_server(
    world: World,
) -> None:
    hide_descriptions(world)
    world.instead[OAUTH] = answer({**world.metadata, "issuer": world.base})
    world.answer = {"iss": world.base}
    assert await enter(world, world.oauth()) == "in"
    assert world.paths("/as/authorize")[0]["resource"] == world.url


async def test_a_server_without_any_metadata_has_endpoints_at_fixed_paths(world: World) -> None:
    hide_descriptions(world)
    world.answer = {"iss": ""}

    async def elsewhere(request: web.Request) -> web.StreamResponse:
        place = await request.post() if request.method == "POST" else request.query
        sent = dict(place) if place else await request.json()
        match request.path:
            case "/authorize":
                return world.authorize(sent)
            case "/token":
                return world.give(sent)
            case _:
                return web.json_response({"client_id": "made up"}, status=201)

    world.instead |= dict.fromkeys(["/authorize", "/token", "/register"], elsewhere)
    assert await enter(world, world.oauth()) == "in"


async def test_an_issuer_that_the_caller_gave_serves_a_server_without_a_description(
    world: World,
) -> None:
    hide_descriptions(world)
    assert await enter(world, world.oauth(client_id="mine", issuer=world.issuer)) == "in"


async def test_metadata_are_looked_for_in_the_order_of_the_specification(world: World) -> None:
    world.instead[f"{OAUTH}/as"] = answer({}, 404)
    world.instead[f"/as{OPENID}"] = answer(world.metadata)
    assert await enter(world, world.oauth()) == "in"
    looked = [path for _, path, _ in world.asked if "/.well-known/o" in path]
    assert looked == [
        f"{RESOURCE}/mcp",
        f"{OAUTH}/as",
        f"{OPENID}/as",
        f"/as{OPENID}",
    ]


async def test_a_page_is_taken_for_an_absence(world: World) -> None:
    # Many sites answer whatever they do not know with a page and status 200.
    async def page(request: web.Request) -> web.Response:
        return web.Response(text="<!doctype html>", content_type="text/html")

    hide_descriptions(world)
    world.instead |= {f"{RESOURCE}/mcp": page, RESOURCE: answer(world.resource)}
    world.instead |= {f"{OAUTH}/as": page, f"/as{OPENID}": answer(world.metadata)}
    assert await enter(world, world.oauth()) == "in"


@pytest.mark.parametrize("path", [f"{RESOURCE}/mcp", f"{OAUTH}/as"])
async def test_a_failure_is_not_taken_for_an_absence(world: World, path: str) -> None:
    world.instead[path] = answer({"error": "later"}, 503)
    with pytest.raises(AuthorizationError, match="503"):
        await enter(world, world.oauth())
    assert world.paths("/as/authorize") == []


async def test_an_authorization_server_that_is_nowhere_is_an_error(world: World) -> None:
    world.instead |= {path: answer({}, 404) for path in (f"{OAUTH}/as", f"/as{OPENID}")}
    with pytest.raises(AuthorizationError, match="none at"):
        await enter(world, world.oauth())


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"token_endpoint": None}, "no token endpoint"),
        ({"authorization_endpoint": None}, "no authorization endpoint"),
        ({"token_endpoint": ["a"]}, "no string"),
    ],
)
async def test_metadata_that_lack_what_is_needed_are_an_error(
    world: World, changes: dict[str, Any], words: str
) -> None:
    world.metadata.update(changes)
    with pytest.raises(AuthorizationError, match=words):
        await enter(world, world.oauth())


@pytest.mark.parametrize("servers", [[], None, "https://as.example", [3]])
async def test_a_description_without_an_authorization_server_is_an_error(
    world: World, servers: Any
) -> None:
    world.resource["authorization_servers"] = servers
    with pytest.raises(AuthorizationError, match="name no authorization server"):
        await enter(world, world.oauth())


@pytest.mark.parametrize("malformed", ["https://[::1", "https://as.example:x/a"])
async def test_an_address_that_is_no_url_is_refused(world: World, malformed: str) -> None:
    world.resource["authorization_servers"] = [malformed]
    with pytest.raises(AuthorizationError, match="malformed"):
        await enter(world, world.oauth())


async def test_a_redirect_to_what_is_no_url_is_refused(world: World) -> None:
    async def lead_astray(request: web.Request) -> web.Response:
        return web.Response(status=302, headers={"Location": "//[::1/"})

    world.instead[f"{RESOURCE}/mcp"] = lead_astray
    with pytest.raises(AuthorizationError, match="redirected to a malformed URL"):
        await enter(world, world.oauth())


async def test_metadata_that_are_no_text_are_told_to_be_no_json(world: World) -> None:
    async def mumble(request: web.Request) -> web.Response:
        return web.Response(body=b'{"issuer": "\xff"}', content_type="application/json")

    world.instead[f"{OAUTH}/as"] = mumble
    with pytest.raises(AuthorizationError, match="not JSON"):
        await enter(world, world.oauth())


async def test_a_time_that_no_clock_shows_is_as_good_as_never(world: World) -> None:
    async def register(request: web.Request) -> web.Response:
        endless = {"client_id": "known", "client_secret_expires_at": 10**400}
        return web.json_response(endless, status=201)

    world.instead["/as/register"] = register
    world.lifetime = 10**400
    assert await enter(world, world.oauth()) == "in"


async def test_an_issuer_with_a_query_is_refused(world: World) -> None:
    world.resource["authorization_servers"] = [f"{world.issuer}?tenant=1"]
    with pytest.raises(AuthorizationError, match="must not have a query"):
        await enter(world, world.oauth())


async def test_offline_access_is_asked_for_where_it_is_offered(world: World) -> None:
    world.metadata["scopes_supported"] = ["read", "offline_access"]
    assert await enter(world, world.oauth(scopes=["read"])) == "in"
    visit = world.paths("/as/authorize")[0]
    assert (visit["scope"], visit["prompt"]) == ("read offline_access", "consent")


async def test_a_client_document_is_named_where_such_are_read(world: World) -> None:
    world.metadata["client_id_metadata_document_supported"] = True
    url = "https://my-app.example/client.json"
    assert await enter(world, world.oauth(client_metadata_url=url)) == "in"
    assert world.paths("/as/authorize")[0]["client_id"] == url
    assert world.paths("/as/register") == []


async def test_a_403_that_does_not_say_what_it_needs_asks_for_what_is_listed(
    world: World,
) -> None:
    async def serve(request: web.Request) -> web.StreamResponse:
        sent = await request.json()
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if sent["method"] == "tools/call" and "write" not in world.tokens.get(token, []):
            challenge = {"WWW-Authenticate": 'Bearer error="insufficient_scope"'}
            return web.Response(status=403, headers=challenge)
        return world.serve(request, sent)

    world.instead["/mcp"] = serve
    world.challenged = ', scope="read"'
    world.resource["scopes_supported"] = ["write"]
    assert await enter(world, world.oauth()) == "in"
    assert [visit["scope"] for visit in world.paths("/as/authorize")] == ["read", "read write"]


async def test_a_403_about_something_else_asks_nobody(world: World) -> None:
    async def serve(request: web.Request) -> web.StreamResponse:
        sent = await request.json()
        if sent["method"] == "tools/call":
            return web.Response(status=403, text="not on Sundays")
        return world.serve(request, sent)

    world.instead["/mcp"] = serve
    with pytest.raises(TransportError, match="not on Sundays"):
        await enter(world, world.oauth())
    assert len(world.paths("/as/authorize")) == 1
