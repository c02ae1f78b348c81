"""A person signs in: when, for what, how often, and what is kept of it."""

from __future__ import annotations

import asyncio
import os
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import keyring
import pytest
from aiohttp import web
from keyring.backends.fail import Keyring as NoKeyring
from locked_server import World
from patience import PATIENCE

from anyshape import Client
from anyshape.client.auth import FileStorage, MemoryStorage, OAuth
from anyshape.client.auth.keyring_storage import KeyringStorage
from anyshape.client.auth.token import HeldToken
from anyshape.errors import AuthorizationError, TransportError

REVISION = "2026-07-28"
TOKEN = "/as/token"
AUTHORIZE = "/as/authorize"


async def enter(world: World, auth: OAuth, **options: Any) -> str:
    async with Client(world.url, revision=REVISION, auth=auth, **options) as client:
        return await client.call("open")


async def test_one_login_serves_every_request_and_every_client_of_the_same_auth(
    world: World,
) -> None:
    auth = world.oauth()
    assert await enter(world, auth) == "in"
    assert await enter(world, auth) == "in"
    assert len(world.paths(AUTHORIZE)) == 1
    assert world.paths("/as/register")[0]["application_type"] == "native"


async def test_clients_that_open_at_once_share_one_login(world: World) -> None:
    auth = world.oauth()
    assert await asyncio.gather(*(enter(world, auth) for _ in range(4))) == ["in"] * 4
    assert len(world.paths(AUTHORIZE)) == 1


async def test_requests_that_are_refused_at_once_share_one_login(world: World) -> None:
    async with Client(world.url, revision=REVISION, auth=world.oauth()) as client:
        world.tokens.clear()
        world.refresh_tokens.clear()
        assert await asyncio.gather(*(client.call("open") for _ in range(5))) == ["in"] * 5
    assert len(world.paths(AUTHORIZE)) == 2


async def test_a_refused_token_is_refreshed_without_a_login(world: World) -> None:
    async with Client(world.url, revision=REVISION, auth=world.oauth()) as client:
        world.tokens.clear()
        assert await client.call("open") == "in"
        world.tokens.clear()
        assert await client.call("open") == "in"
    grants = [sent["grant_type"] for sent in world.paths(TOKEN)]
    assert grants == ["authorization_code", "refresh_token", "refresh_token"]
    assert {sent["resource"] for sent in world.paths(TOKEN)} == {world.url}


async def test_a_refresh_token_is_not_lost_with_the_request_that_showed_it(world: World) -> None:
    shown, may_answer = asyncio.Event(), asyncio.Event()

    async def refresh(request: web.Request) -> web.Response:
        given = world.give(dict(await request.post()))
        shown.set()
        await may_answer.wait()
        return given

    auth = world.oauth()
    async with Client(world.url, revision=REVISION, auth=auth) as client, asyncio.timeout(PATIENCE):
        assert await client.call("open") == "in"
        world.tokens.clear()
        world.instead[TOKEN] = refresh
        calling = asyncio.create_task(client.call("open"))
        await shown.wait()
        calling.cancel()
        await asyncio.sleep(0)
        may_answer.set()
        with pytest.raises(asyncio.CancelledError):
            await calling
        assert await client.call("open") == "in"
    assert len(world.paths(AUTHORIZE)) == 1


async def test_a_token_that_is_about_to_end_is_refreshed_before_it_is_refused(
    world: World,
) -> None:
    world.lifetime = 1
    async with Client(world.url, revision=REVISION, auth=world.oauth()) as client:
        before = len(world.paths("/mcp"))
        world.lifetime = 3600
        assert await client.call("open") == "in"
        assert len(world.paths("/mcp")) - before == 2  # tools/list, tools/call
    assert [sent["grant_type"] for sent in world.paths(TOKEN)][-1] == "refresh_token"


async def test_a_refresh_that_is_refused_leads_to_a_login(world: World) -> None:
    async with Client(world.url, revision=REVISION, auth=world.oauth()) as client:
        world.tokens.clear()
        world.refresh_tokens.clear()
        assert await client.call("open") == "in"
    assert len(world.paths(AUTHORIZE)) == 2


async def test_a_token_that_is_refused_though_refreshed_leads_to_a_login(world: World) -> None:
    async def refresh_in_vain(request: web.Request) -> web.Response:
        sent = dict(await request.post())
        if sent["grant_type"] == "refresh_token":
            given = {"access_token": "useless", "token_type": "Bearer", "refresh_token": "again"}
            return web.json_response(given)
        return world.give(sent)

    async with Client(world.url, revision=REVISION, auth=world.oauth()) as client:
        world.tokens.clear()
        world.instead[TOKEN] = refresh_in_vain
        assert await client.call("open") == "in"
    grants = [sent["grant_type"] for sent in world.paths(TOKEN)]
    assert grants == ["authorization_code", "refresh_token", "authorization_code"]


def serve_another(world: World, path: str, scope: str) -> str:
    """Serve another server with the same authorization server; return its URL."""

    async def serve(request: web.Request) -> web.StreamResponse:
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if token not in world.tokens:
            challenge = f'Bearer scope="{scope}"'
            return web.Response(status=401, headers={"WWW-Authenticate": challenge})
        return world.answer_call(await request.json())

    async def describe(request: web.Request) -> web.Response:
        return web.json_response({**world.resource, "resource": world.base + path})

    world.instead |= {path: serve, f"/.well-known/oauth-protected-resource{path}": describe}
    return world.base + path


async def test_servers_with_one_authorization_server_are_signed_in_to_once_each(
    world: World,
) -> None:
    # They need other scopes, so the second login registers another client.
    urls = [serve_another(world, "/a", "a"), serve_another(world, "/b", "b")]
    auth = world.oauth()

    async def enter_both() -> None:
        for url in urls:
            async with Client(url, revision=REVISION, auth=auth) as client:
                assert await client.call("open") == "in"

    await enter_both()
    world.tokens.clear()
    await enter_both()
    assert [visit["scope"] for visit in world.paths(AUTHORIZE)] == ["a", "b"]
    assert [sent["grant_type"] for sent in world.paths(TOKEN)][2:] == ["refresh_token"] * 2


@pytest.mark.parametrize("lifetime", [1, 3600])
async def test_processes_that_share_a_file_show_a_refresh_token_once(
    world: World, tmp_path: Path, lifetime: int
) -> None:
    path = tmp_path / "tokens.json"
    loaded: set[int] = set()
    all_have_loaded = asyncio.Event()

    class Watched(FileStorage):
        async def load(self, key: str) -> str | None:
            found = await super().load(key)
            loaded.add(id(self))
            if len(loaded) == 2:
                all_have_loaded.set()
            return found

    async def refresh(request: web.Request) -> web.Response:
        await all_have_loaded.wait()
        return world.give(dict(await request.post()))

    world.lifetime = lifetime
    assert await enter(world, world.oauth(storage=FileStorage(path))) == "in"
    world.lifetime = 3600
    world.tokens.clear()
    world.instead[TOKEN] = refresh
    before = len(world.paths(TOKEN))
    # Two authorizers share no lock of this process, as two processes do not.
    auths = [world.oauth(storage=Watched(path)) for _ in range(2)]
    assert await asyncio.gather(*(enter(world, auth) for auth in auths)) == ["in", "in"]
    assert [sent["grant_type"] for sent in world.paths(TOKEN)[before:]] == ["refresh_token"]
    left = await asyncio.to_thread(os.listdir, tmp_path)
    assert sorted(left) == [".tokens.json.lock", "tokens.json"]


class Hasty(MemoryStorage):
    """A storage without turns, in which somebody else keeps a token at a certain moment."""

    theirs: str | None = None

    async def load(self, key: str) -> str | None:
        return self.theirs if self.theirs and key.startswith("token ") else await super().load(key)


async def test_who_was_slower_in_refreshing_takes_the_token_of_who_was_faster(
    world: World,
) -> None:
    storage = Hasty()
    async with Client(world.url, revision=REVISION, auth=world.oauth(storage=storage)) as client:
        kept = HeldToken.read(await storage.load(f"token {world.url}") or "")
        assert kept is not None

        async def refuse(request: web.Request) -> web.Response:
            world.tokens["theirs"] = []
            storage.theirs = replace(kept, value="theirs").write()
            return web.json_response({"error": "invalid_grant"}, status=400)

        world.tokens.clear()
        world.instead[TOKEN] = refuse
        assert await client.call("open") == "in"
    assert len(world.paths(AUTHORIZE)) == 1


async def test_a_request_that_needs_more_asks_for_more_and_keeps_what_it_had(
    world: World,
) -> None:
    world.challenged = ', scope="read"'
    world.scopes = {"tools/call": "write"}
    assert await enter(world, world.oauth()) == "in"
    assert [visit["scope"] for visit in world.paths(AUTHORIZE)] == ["read", "read write"]
    # Some authorization servers give a client no more than it was registered for.
    assert [sent["scope"] for sent in world.paths("/as/register")] == ["read", "read write"]


async def test_scopes_that_were_asked_for_in_vain_are_not_asked_for_again(world: World) -> None:
    world.scopes = {"tools/call": "never"}

    async def give_less(request: web.Request) -> web.Response:
        world.tokens["less"] = []
        return web.json_response({"access_token": "less", "token_type": "bearer"})

    world.instead[TOKEN] = give_less
    async with Client(world.url, revision=REVISION, auth=world.oauth()) as client:
        for _ in range(3):
            with pytest.raises(TransportError, match="403"):
                await client.call("open")
    assert [visit.get("scope") for visit in world.paths(AUTHORIZE)] == [None, "never"]


async def test_a_token_that_is_refused_at_once_ends_the_request(world: World) -> None:
    async def give_nothing(request: web.Request) -> web.Response:
        return web.json_response({"access_token": "unknown", "token_type": "Bearer"})

    world.instead[TOKEN] = give_nothing
    with pytest.raises(TransportError, match="401"):
        await enter(world, world.oauth())
    assert len(world.paths(AUTHORIZE)) == 1


@pytest.mark.parametrize("revision", ["auto", REVISION])
async def test_no_time_limit_runs_while_a_person_signs_in(world: World, revision: str) -> None:
    if revision == "auto":  # a server that says nothing to `ping` but that it does not know it
        world.instead["/mcp"] = _refusing_pings(world)

    async def enter_within(limit: float) -> list[str]:
        async def slowly(url: str) -> str:
            done = asyncio.Event()
            asyncio.get_running_loop().call_later(1.5 * limit, done.set)
            await done.wait()
            return await world.browse(url)

        auth = world.oauth(authorize=slowly)

        async def enter_one() -> str:
            async with Client(world.url, revision=revision, auth=auth, timeout=limit) as client:
                return await client.call("open", timeout=PATIENCE)

        # The second waits for the login of the first.
        return list(await asyncio.gather(enter_one(), enter_one()))

    for limit in (1, 4, 16):
        try:
            assert await enter_within(limit) == ["in", "in"]
            return
        except TransportError:  # on a busy machine all the rest may take longer than the limit
            if limit == 16:
                raise


def _refusing_pings(world: World) -> Any:
    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        sent = await request.json()
        allowed = request.headers.get("Authorization", "").removeprefix("Bearer ") in world.tokens
        if sent["method"] == "ping" and allowed:
            error = {"code": -32601, "message": "no such method"}
            answer = {"jsonrpc": "2.0", "id": sent["id"], "error": error}
            return web.json_response(answer, status=404)
        return world.serve(request, sent)

    return handle


async def test_tokens_and_registrations_outlive_the_process_in_a_file_for_the_owner_alone(
    world: World, tmp_path: Path
) -> None:
    path = tmp_path / "deep" / "tokens.json"
    assert await enter(world, world.oauth(storage=FileStorage(path))) == "in"
    assert await enter(world, world.oauth(storage=FileStorage(path))) == "in"
    assert len(world.paths(AUTHORIZE)) == 1
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    world.tokens.clear()
    world.refresh_tokens.clear()
    assert await enter(world, world.oauth(storage=FileStorage(path))) == "in"
    assert len(world.paths("/as/register")) == 1


@pytest.mark.parametrize("text", ["no json", "[]", '{"token": 3}'])
async def test_a_file_that_others_could_read_or_that_is_something_else_is_not_used(
    tmp_path: Path, text: str
) -> None:
    path = tmp_path / "tokens.json"
    path.write_text(text)
    path.chmod(0o644)
    with pytest.raises(AuthorizationError, match="chmod 600"):
        await FileStorage(path).load("token")
    path.chmod(0o600)
    if text == "no json":
        with pytest.raises(AuthorizationError, match="delete it"):
            await FileStorage(path).load("token")
    else:
        assert await FileStorage(path).load("token") is None


async def test_what_two_processes_keep_in_one_file_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    # Two objects share no lock of this process, as two processes do not.
    stores = FileStorage(path), FileStorage(path)
    saves = [stores[n % 2].save(f"key {n}", str(n)) for n in range(40)]
    await asyncio.gather(*saves)
    assert [await stores[0].load(f"key {n}") for n in range(40)] == [str(n) for n in range(40)]


async def test_a_place_that_cannot_be_written_to_is_an_error_that_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(AuthorizationError, match="cannot be used for tokens"):
        await FileStorage(tmp_path / "file" / "tokens.json").save("key", "value")
    with pytest.raises(AuthorizationError, match="cannot be used for tokens"):
        await FileStorage(tmp_path).load("key")


async def test_a_keyring_that_cannot_be_used_is_an_error_that_says_so() -> None:
    before = keyring.get_keyring()
    keyring.set_keyring(NoKeyring())
    storage = KeyringStorage("tests")
    try:
        assert not storage.is_available()
        for use in (storage.load("key"), storage.save("key", "secret"), storage.delete("key")):
            with pytest.raises(AuthorizationError, match="keyring cannot be used") as caught:
                await use
            assert "secret" not in str(caught.value)
    finally:
        keyring.set_keyring(before)


async def test_what_is_saved_by_hand_and_broken_is_as_good_as_nothing(world: World) -> None:
    storage = MemoryStorage()
    await storage.save(f"token {world.url}", '{"value": 3}')
    await storage.save(f"client {world.issuer}", "[]")
    assert await enter(world, world.oauth(storage=storage)) == "in"


async def test_a_registration_that_is_no_longer_known_is_made_anew(world: World) -> None:
    auth = world.oauth()
    assert await enter(world, auth) == "in"
    world.tokens.clear()

    async def forget(request: web.Request) -> web.Response:
        del world.instead[TOKEN]
        return web.json_response({"error": "invalid_client"}, status=401)

    world.instead[TOKEN] = forget
    assert await enter(world, auth) == "in"
    assert len(world.paths("/as/register")) == 2


async def test_a_client_without_a_way_to_register_is_told_what_to_pass(world: World) -> None:
    del world.metadata["registration_endpoint"]
    with pytest.raises(AuthorizationError, match="client_id"):
        await enter(world, world.oauth())
    assert await enter(world, world.oauth(client_id="by-hand")) == "in"
    assert world.paths(TOKEN)[0]["client_id"] == "by-hand"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"client_secret": "s"}, "client_id"),
        ({"scopes": "read write"}, "list"),
        ({"client_id": "a", "client_secret": "s", "private_key": "k"}, "not both"),
        ({"private_key": "k"}, "belongs to"),
        ({"client_metadata_url": "http://example.com/client.json"}, "https"),
        ({"client_metadata_url": "https://example.com"}, "path"),
        ({"redirect_uri": "http://example.com/callback"}, "loopback"),
        ({"redirect_uri": "https://example.com/callback"}, "authorize"),
        ({"authorize": print}, "redirect_uri"),
    ],
)
def test_what_cannot_work_is_refused_when_it_is_written(
    options: dict[str, Any], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        OAuth(**options)
