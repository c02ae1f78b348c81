"""Tokens that are bound to a key (DPoP): a proof goes with every request, and fits no other."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from joserfc import jwt
from joserfc.jwk import ECKey
from locked_server import World

from anyshape import Client
from anyshape.client.auth import FileStorage, OAuth
from anyshape.errors import AuthorizationError

REVISION = "2026-07-28"
TOKEN = "/as/token"


class Binding:
    """Makes a world bind its tokens, check every proof, and ask for nonces if told to."""

    def __init__(self, world: World, *nonces: str) -> None:
        self._world = world
        self._nonces = list(nonces)
        self.proofs: list[dict[str, Any]] = []
        self.keys: set[str] = set()
        world.metadata["dpop_signing_alg_values_supported"] = ["ES256"]
        world.instead |= {"/mcp": self._serve, TOKEN: self._give}

    def _check(self, request: web.Request, url: str) -> dict[str, Any]:
        (proof,) = request.headers.getall("DPoP")
        header = jwt.decode(proof, _key_in, algorithms=["ES256"]).header
        token = jwt.decode(proof, _key_in, algorithms=["ES256"])
        assert header["typ"] == "dpop+jwt"
        assert "d" not in header["jwk"]
        assert (token.claims["htm"], token.claims["htu"]) == (request.method, url)
        assert token.claims["jti"] not in {each["jti"] for each in self.proofs}
        self.proofs.append(token.claims)
        self.keys.add(ECKey.import_key(header["jwk"]).thumbprint())
        return token.claims

    async def _give(self, request: web.Request) -> web.Response:
        claims = self._check(request, f"{self._world.issuer}/token")
        assert "ath" not in claims
        wanted = self._nonces[0] if self._nonces else None
        if wanted is not None and claims.get("nonce") != wanted:
            return web.json_response(
                {"error": "use_dpop_nonce"}, status=400, headers={"DPoP-Nonce": wanted}
            )
        self._world.tokens["bound"] = []
        return web.json_response(
            {"access_token": "bound", "token_type": "DPoP", "refresh_token": "again"}
        )

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        sent = await request.json()
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if token not in self._world.tokens:
            return web.Response(status=401, headers={"WWW-Authenticate": "DPoP"})
        assert scheme == "DPoP"
        claims = self._check(request, self._world.url)
        digest = hashlib.sha256(token.encode()).digest()
        assert claims["ath"] == base64.urlsafe_b64encode(digest).decode().rstrip("=")
        wanted = self._nonces[1] if self._nonces else None
        if wanted is not None and claims.get("nonce") != wanted:
            challenge = {"WWW-Authenticate": 'DPoP error="use_dpop_nonce"', "DPoP-Nonce": wanted}
            return web.Response(status=401, headers=challenge)
        answer = self._world.answer_call(sent)
        if wanted is not None:  # the next request has to have another
            self._nonces[1] = f"{wanted}+"
            answer.headers["DPoP-Nonce"] = self._nonces[1]
        return answer


def _key_in(token: Any) -> ECKey:
    return ECKey.import_key(token.headers()["jwk"])


async def enter(world: World, auth: OAuth) -> str:
    async with Client(world.url, revision=REVISION, auth=auth) as client:
        return await client.call("open")


async def test_every_request_has_a_proof_of_its_own_by_one_key(world: World) -> None:
    binding = Binding(world)
    assert await enter(world, world.oauth(dpop=True)) == "in"
    assert len(binding.proofs) == 4  # token, discover, list, call
    assert len(binding.keys) == 1
    assert world.paths("/as/register")[0]["dpop_bound_access_tokens"] is True


async def test_nonces_are_used_as_soon_as_they_are_known(world: World) -> None:
    binding = Binding(world, "for-tokens", "for-requests")
    assert await enter(world, world.oauth(dpop=True)) == "in"
    nonces = [proof.get("nonce") for proof in binding.proofs]
    assert nonces == [
        *(None, "for-tokens"),
        *(None, "for-requests", "for-requests+", "for-requests++"),
    ]


async def test_a_nonce_that_is_never_right_ends_the_request(world: World) -> None:
    Binding(world, "for-tokens", "never")

    async def refuse(request: web.Request) -> web.Response:
        if "Authorization" not in request.headers:
            return web.Response(status=401)
        challenge = {"WWW-Authenticate": 'DPoP error="use_dpop_nonce"', "DPoP-Nonce": "another"}
        return web.Response(status=401, headers=challenge)

    world.instead["/mcp"] = refuse
    with pytest.raises(Exception, match="401"):
        await enter(world, world.oauth(dpop=True))
    assert len(world.paths("/mcp")) == 5


async def test_the_key_is_kept_with_the_token_and_refreshes_it(
    world: World, tmp_path: Path
) -> None:
    binding = Binding(world)
    path = tmp_path / "tokens.json"
    assert await enter(world, world.oauth(dpop=True, storage=FileStorage(path))) == "in"
    world.tokens.clear()
    assert await enter(world, world.oauth(dpop=True, storage=FileStorage(path))) == "in"
    assert [form["grant_type"] for form in world.paths(TOKEN)][-1] == "refresh_token"
    assert len(binding.keys) == 1


async def test_a_token_that_anybody_could_use_is_not_taken_for_a_bound_one(world: World) -> None:
    with pytest.raises(AuthorizationError, match="does not bind"):
        await enter(world, world.oauth(dpop=True))
    world.metadata["dpop_signing_alg_values_supported"] = ["ES256"]
    with pytest.raises(AuthorizationError, match="not bound to our key"):
        await enter(world, world.oauth(dpop=True))
