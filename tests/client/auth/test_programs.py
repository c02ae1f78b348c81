"""Programs that get in by themselves: with a secret, a key, a platform's word, an enterprise's."""

from __future__ import annotations

import base64
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from aiohttp import web
from joserfc import jwt
from joserfc.jwk import ECKey, OKPKey, RSAKey
from locked_server import World

from anyshape import Client
from anyshape.client import Auth
from anyshape.client.auth import (
    ClientCredentials,
    EnterpriseManaged,
    IdentityProvider,
    OAuth,
    WorkloadIdentity,
)
from anyshape.errors import AuthorizationError

REVISION = "2026-07-28"
TOKEN = "/as/token"
PROVIDER = IdentityProvider(token_endpoint="https://idp.example/token", client_id="a")
JAG = "urn:ietf:params:oauth:token-type:id-jag"


async def enter(world: World, auth: Auth) -> str:
    async with Client(world.url, revision=REVISION, auth=auth) as client:
        return await client.call("open")


class Giver:
    """A token endpoint that gives a token to whoever asks, and remembers how."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.forms: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        world.instead[TOKEN] = self.give

    async def give(self, request: web.Request) -> web.Response:
        form = dict(await request.post())
        self.forms.append(form)
        self.headers.append(dict(request.headers))
        token = f"secret-access-{len(self.forms)}"
        self._world.tokens[token] = str(form.get("scope", "")).split()
        return web.json_response({"access_token": token, "token_type": "Bearer"})


async def test_a_secret_is_shown_in_a_header_where_that_is_accepted(world: World) -> None:
    world.metadata["token_endpoint_auth_methods_supported"] = ["client_secret_basic"]
    giver = Giver(world)
    assert await enter(world, ClientCredentials(client_id="a b", client_secret="p:q&r")) == "in"
    coded = giver.headers[0]["Authorization"].removeprefix("Basic ")
    assert base64.b64decode(coded).decode() == "a+b:p%3Aq%26r"
    assert giver.forms == [
        {"grant_type": "client_credentials", "resource": world.url, "client_id": "a b"}
    ]


async def test_a_secret_is_shown_in_the_form_where_only_that_is_accepted(world: World) -> None:
    world.metadata["token_endpoint_auth_methods_supported"] = ["client_secret_post"]
    giver = Giver(world)
    assert await enter(world, ClientCredentials(client_id="a", client_secret="s")) == "in"
    assert giver.forms[0]["client_secret"] == "s"
    assert "Authorization" not in giver.headers[0]


@pytest.mark.parametrize(
    ("key", "algorithm"),
    [
        (ECKey.generate_key("P-256"), "ES256"),
        (ECKey.generate_key("P-384"), "ES384"),
        (RSAKey.generate_key(2048), "RS256"),
        (OKPKey.generate_key("Ed25519"), "Ed25519"),
    ],
    ids=["P-256", "P-384", "RSA", "Ed25519"],
)
async def test_a_key_signs_who_the_program_is_for_one_authorization_server(
    world: World, key: ECKey | RSAKey | OKPKey, algorithm: str
) -> None:
    giver = Giver(world)
    pem = key.as_pem(private=True).decode()
    auth = ClientCredentials(client_id="robot", private_key=pem, scopes=["read"])
    assert await enter(world, auth) == "in"
    form = giver.forms[0]
    statement = jwt.decode(str(form["client_assertion"]), key, algorithms=[algorithm])
    assert statement.claims["iss"] == statement.claims["sub"] == "robot"
    assert statement.claims["aud"] == world.issuer
    assert statement.claims["exp"] - statement.claims["iat"] <= 300
    assert "client_id" not in form
    assert form["scope"] == "read"
    assert "PRIVATE" not in repr(auth)


@pytest.mark.parametrize("kind", ["by hand", "by a document"])
async def test_a_person_s_client_may_have_a_key_too(world: World, kind: str) -> None:
    key = ECKey.generate_key("P-256")
    pem = key.as_pem(private=True).decode()
    name = "https://my-app.example/client.json"
    world.metadata["client_id_metadata_document_supported"] = True
    chosen = {"client_id": "mine"} if kind == "by hand" else {"client_metadata_url": name}
    assert await enter(world, world.oauth(private_key=pem, **chosen)) == "in"
    client = world.paths("/as/authorize")[0]["client_id"]
    assert client == chosen.get("client_id", name)
    statement = jwt.decode(world.paths(TOKEN)[0]["client_assertion"], key, algorithms=["ES256"])
    assert statement.claims["sub"] == client


async def test_a_signature_that_would_not_be_read_is_not_sent(world: World) -> None:
    world.metadata["token_endpoint_auth_signing_alg_values_supported"] = ["PS512"]
    giver = Giver(world)
    pem = ECKey.generate_key("P-256").as_pem(private=True).decode()
    with pytest.raises(AuthorizationError, match=r"PS512.*ES256"):
        await enter(world, ClientCredentials(client_id="robot", private_key=pem))
    assert giver.forms == []


@pytest.mark.parametrize(
    "key",
    ["very secret", ECKey.generate_key("P-256").as_pem(private=False).decode(), '{"kty": "oct"}'],
)
def test_what_is_no_private_key_is_refused_and_not_quoted(key: str) -> None:
    with pytest.raises(ValueError, match="expected a private key in PEM") as caught:
        Client("http://127.0.0.1:1/mcp", auth=ClientCredentials(client_id="a", private_key=key))
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("options", [{}, {"client_secret": "a", "private_key": "b"}])
def test_a_program_shows_who_it_is_in_one_way(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="private_key"):
        ClientCredentials(client_id="a", **options)


@pytest.mark.parametrize(
    "authorizer",
    [
        OAuth,
        partial(ClientCredentials, client_id="a", client_secret="b"),
        partial(WorkloadIdentity, client_id="a", assertion=str),
        partial(EnterpriseManaged, provider=PROVIDER, id_token=str, client_id="a"),
    ],
)
def test_scopes_are_no_string_of_which_every_letter_would_be_one(
    authorizer: Callable[..., Any],
) -> None:
    with pytest.raises(ValueError, match="expected a list of strings"):
        authorizer(scopes="read write")


async def test_a_program_asks_for_more_when_a_request_needs_it(world: World) -> None:
    world.scopes = {"tools/call": "write"}
    giver = Giver(world)
    assert await enter(world, ClientCredentials(client_id="a", client_secret="s")) == "in"
    assert [form.get("scope") for form in giver.forms] == [None, "write"]


async def test_the_secret_goes_to_the_first_authorization_server_only(world: World) -> None:
    giver = Giver(world)
    auth = ClientCredentials(client_id="a", client_secret="s")
    assert await enter(world, auth) == "in"
    world.tokens.clear()
    world.resource["authorization_servers"] = [f"{world.base}/other"]

    async def describe(request: web.Request) -> web.Response:
        return web.json_response({**world.metadata, "issuer": f"{world.base}/other"})

    world.instead["/.well-known/oauth-authorization-server/other"] = describe
    with pytest.raises(AuthorizationError, match="moved"):
        await enter(world, auth)
    assert len(giver.forms) == 1


@pytest.mark.parametrize("later", [True, False])
async def test_a_workload_brings_a_statement_made_for_the_authorization_server(
    world: World, later: bool
) -> None:
    giver = Giver(world)
    audiences: list[str] = []

    def state(audience: str) -> Any:
        audiences.append(audience)
        return state_later() if later else "statement"

    async def state_later() -> str:
        return "statement"

    assert await enter(world, WorkloadIdentity(client_id="pod", assertion=state)) == "in"
    assert audiences == [world.issuer]
    assert giver.forms == [
        {
            "grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer",
            "assertion": "statement",
            "client_id": "pod",
            "resource": world.url,
        }
    ]


async def test_a_statement_that_is_refused_is_not_brought_again(world: World) -> None:
    async def refuse(request: web.Request) -> web.Response:
        said = {"error": "invalid_grant", "error_description": "not secret-statement"}
        return web.json_response(said, status=400)

    world.instead[TOKEN] = refuse
    auth = WorkloadIdentity(client_id="pod", assertion=lambda audience: "secret-statement")
    with pytest.raises(AuthorizationError, match="invalid_grant") as caught:
        await enter(world, auth)
    assert len(world.paths(TOKEN)) == 1
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("kind", [JAG, "urn:ietf:params:oauth:token-type:access_token"])
async def test_an_identity_provider_vouches_for_a_person(world: World, kind: str) -> None:
    giver = Giver(world)
    exchanges: list[dict[str, Any]] = []

    async def vouch(request: web.Request) -> web.Response:
        exchanges.append(dict(await request.post()))
        return web.json_response({"access_token": "word", "issued_token_type": kind})

    world.instead["/idp/token"] = vouch
    auth = EnterpriseManaged(
        provider=IdentityProvider(
            token_endpoint=f"{world.base}/idp/token", client_id="at-idp", client_secret="idp"
        ),
        id_token=lambda: "secret-id-token",
        client_id="at-as",
        client_secret="as",
        scopes=["read"],
    )
    assert "secret" not in repr(auth).replace("client_secret", "")
    if kind != JAG:
        with pytest.raises(AuthorizationError, match="not an ID-JAG"):
            await enter(world, auth)
        assert giver.forms == []
        return
    assert await enter(world, auth) == "in"
    assert exchanges == [
        {
            "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
            "requested_token_type": JAG,
            "audience": world.issuer,
            "resource": world.url,
            "scope": "read",
            "subject_token": "secret-id-token",
            "subject_token_type": "urn:ietf:params:oauth:token-type:id_token",
            "client_id": "at-idp",
            "client_secret": "idp",
        }
    ]
    assert giver.forms[0]["assertion"] == "word"
    assert "secret-id-token" not in str(giver.forms)


async def test_a_provider_that_refuses_is_quoted_without_the_token(world: World) -> None:
    async def refuse(request: web.Request) -> web.Response:
        said = {"error": "invalid_request", "error_description": "secret-id-token is too old"}
        return web.json_response(said, status=400)

    world.instead["/idp/token"] = refuse

    async def give() -> str:
        return "secret-id-token"

    auth = EnterpriseManaged(
        provider=IdentityProvider(token_endpoint=f"{world.base}/idp/token", client_id="a"),
        id_token=give,
        client_id="b",
    )
    with pytest.raises(AuthorizationError, match=r"invalid_request.*too old") as caught:
        await enter(world, auth)
    assert "secret" not in str(caught.value)
