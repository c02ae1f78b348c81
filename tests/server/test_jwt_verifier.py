"""Signed access tokens: who is believed, and every way to be let in that there must not be."""

from __future__ import annotations

import base64
import hmac
import json
import logging
import warnings
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from aiohttp import web
from joserfc.jwk import ECKey, OctKey, OKPKey, RSAKey
from joserfc.jws import JWSRegistry
from patience import turn_until

from anyshape.errors import VerifierUnavailable
from anyshape.server import AccessToken, JwtVerifier

from .issuing import RESOURCE, START, Clock, Issuer, visit_with


@pytest.fixture
async def issuer() -> AsyncGenerator[Issuer]:
    async with Issuer().served() as issuer:
        yield issuer


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def verifier(issuer: Issuer, clock: Clock) -> JwtVerifier:
    return JwtVerifier(issuer.url, RESOURCE, clock=clock)


async def test_a_token_of_the_issuer_is_believed(issuer: Issuer, verifier: JwtVerifier) -> None:
    access = await verifier.verify(issuer.sign())
    assert access == AccessToken(
        subject="ada",
        client_id="laptop",
        scopes=frozenset({"read", "write"}),
        expires_at=START + 630,
        claims=issuer.claims(),
    )
    reply = await visit_with(verifier, issuer.sign())
    assert reply.json["result"]["structuredContent"] == "ada"


@pytest.mark.parametrize(
    ("claims", "scopes"),
    [
        ({"scope": None}, set[str]()),
        ({"scope": "a  b"}, {"a", "b"}),
        ({"scope": None, "scp": "a b"}, {"a", "b"}),
        ({"scope": None, "scp": ["a", "b"]}, {"a", "b"}),
    ],
)
async def test_scopes_are_read_as_issuers_write_them(
    issuer: Issuer, verifier: JwtVerifier, claims: dict[str, Any], scopes: set[str]
) -> None:
    access = await verifier.verify(issuer.sign(**claims))
    assert access is not None
    assert access.scopes == scopes


@pytest.mark.parametrize(
    ("key", "algorithm"),
    [
        (RSAKey.generate_key(2048, {"kid": "rsa"}), "RS256"),
        (RSAKey.generate_key(2048, {"kid": "pss"}), "PS512"),
        (ECKey.generate_key("P-384", {"kid": "ec"}), "ES384"),
        (OKPKey.generate_key("Ed25519", {"kid": "ed"}), "Ed25519"),
        (OKPKey.generate_key("Ed25519", {"kid": "old name"}), "EdDSA"),
        (ECKey.generate_key("P-256"), "ES256"),
    ],
    ids=["RS256", "PS512", "ES384", "Ed25519", "EdDSA", "without kid"],
)
# Whoever signs with joserfc is told to use the other name; whoever checks is not.
@pytest.mark.filterwarnings("ignore:EdDSA is deprecated")
async def test_usual_signatures_are_read(
    issuer: Issuer, verifier: JwtVerifier, key: Any, algorithm: str
) -> None:
    issuer.keys.append(key)
    token = issuer.sign(key, algorithm)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert await verifier.verify(token) is not None


@pytest.mark.parametrize(
    "claims",
    [
        {"aud": "https://other.example.com/mcp"},
        {"aud": ["https://other.example.com", RESOURCE + "/more"]},
        {"aud": RESOURCE + "/"},
        {"aud": []},
        {"aud": None},
        {"aud": {"": RESOURCE}},
        {"iss": "https://issuer.example.com"},
        {"iss": None},
        {"exp": None},
        {"exp": "4000000600"},
        {"exp": True},
        {"exp": START - 30},
        {"nbf": START + 31},
        {"nbf": "now"},
        {"sub": None, "client_id": None},
        {"cnf": {"jkt": "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"}},
    ],
    ids=repr,
)
async def test_claims_that_do_not_fit_keep_a_token_out(
    issuer: Issuer, verifier: JwtVerifier, claims: dict[str, Any]
) -> None:
    assert await verifier.verify(issuer.sign(**claims)) is None
    reply = await visit_with(verifier, issuer.sign(**claims))
    assert reply.status == 401
    assert 'error="invalid_token"' in reply.headers["www-authenticate"]


@pytest.mark.parametrize(
    "claims",
    [
        {"exp": START - 29},
        {"nbf": START + 30},
        {"aud": ["https://other.example.com", RESOURCE]},
        {"sub": None},
    ],
    ids=repr,
)
async def test_claims_at_the_edge_let_a_token_in(
    issuer: Issuer, verifier: JwtVerifier, claims: dict[str, Any]
) -> None:
    assert await verifier.verify(issuer.sign(**claims)) is not None


def _written(header: dict[str, Any], claims: dict[str, Any], signature: str = "") -> str:
    parts = (json.dumps(part).encode() for part in (header, claims))
    encoded = [base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts]
    return ".".join((*encoded, signature))


@pytest.mark.parametrize("algorithm", ["none", "None", "NONE", ""])
async def test_an_unsigned_token_is_not_believed(
    issuer: Issuer, verifier: JwtVerifier, algorithm: str
) -> None:
    assert await verifier.verify(_written({"alg": algorithm}, issuer.claims())) is None


@pytest.mark.parametrize("form", ["pem", "der"])
async def test_a_public_key_is_no_shared_secret(
    issuer: Issuer, verifier: JwtVerifier, form: str
) -> None:
    key = issuer.keys[0] = RSAKey.generate_key(2048, {"kid": "one"})
    public = key.as_pem(private=False) if form == "pem" else key.as_der(private=False)
    unsigned = _written({"alg": "HS256", "kid": "one"}, issuer.claims()).removesuffix(".")
    mark = hmac.digest(public, unsigned.encode(), "sha256")
    forged = f"{unsigned}.{base64.urlsafe_b64encode(mark).rstrip(b'=').decode()}"
    assert await verifier.verify(forged) is None


async def test_a_shared_secret_among_the_keys_is_passed_over(
    issuer: Issuer, verifier: JwtVerifier
) -> None:
    secret = OctKey.generate_key(256, {"kid": "shared"})
    issuer.documents["/jwks"] = json.dumps({"keys": [secret.as_dict(private=True)]})
    assert await verifier.verify(issuer.sign(secret, "HS256")) is None


async def test_a_key_is_used_with_its_own_algorithm_only(issuer: Issuer, clock: Clock) -> None:
    key = RSAKey.generate_key(2048, {"kid": "rsa", "alg": "PS256"})
    verifier = JwtVerifier(
        issuer.url, RESOURCE, keys={"keys": [key.as_dict(private=False)]}, clock=clock
    )
    free = RSAKey.import_key({**key.as_dict(private=True), "alg": "RS256"})
    assert await verifier.verify(issuer.sign(key, "PS256")) is not None
    assert await verifier.verify(issuer.sign(free, "RS256")) is None
    narrow = JwtVerifier(issuer.url, RESOURCE, algorithms=("ES256",), clock=clock)
    issuer.keys.append(key)
    assert await narrow.verify(issuer.sign(key, "PS256")) is None


@pytest.mark.parametrize("kid", ["one", "two", None])
async def test_a_key_that_a_token_brings_along_is_not_used(
    issuer: Issuer, verifier: JwtVerifier, kid: str | None
) -> None:
    own = ECKey.generate_key("P-256")
    brought = {"kid": kid, "jwk": own.as_dict(private=False), "jku": f"{issuer.url}/evil"}
    assert await verifier.verify(issuer.sign(own, header=brought)) is None
    assert "/evil" not in issuer.asked


@pytest.mark.parametrize("kind", ["dpop+jwt", "logout+jwt", "secevent+jwt"])
async def test_what_is_signed_for_something_else_is_no_access_token(
    issuer: Issuer, verifier: JwtVerifier, kind: str
) -> None:
    assert await verifier.verify(issuer.sign(header={"typ": kind})) is None


def _signed(issuer: Issuer, header: dict[str, Any]) -> str:
    unsigned = _written({"alg": "ES256", **header}, issuer.claims()).removesuffix(".")
    mark = JWSRegistry.algorithms["ES256"].sign(unsigned.encode(), issuer.keys[0])
    return f"{unsigned}.{base64.urlsafe_b64encode(mark).rstrip(b'=').decode()}"


async def test_a_token_whose_meaning_depends_on_an_extension_is_refused(
    issuer: Issuer, verifier: JwtVerifier
) -> None:
    assert await verifier.verify(_signed(issuer, {"exotic": 1})) is not None
    assert await verifier.verify(_signed(issuer, {"exotic": 1, "crit": ["exotic"]})) is None


async def test_a_token_that_was_changed_is_refused(issuer: Issuer, verifier: JwtVerifier) -> None:
    header, _, signature = issuer.sign().split(".")
    _, claims, _ = issuer.sign(sub="eve").split(".")
    assert await verifier.verify(f"{header}.{claims}.{signature}") is None


@pytest.mark.parametrize(
    "token",
    ["x", "..", "a.b", "a.b.c.d", "e30.e30.", "é.é.é", "W10.e30.", "[" * 3000 + "..", "A" * 9000],
)
async def test_nonsense_is_refused_and_nothing_fetched_for_it(
    issuer: Issuer, verifier: JwtVerifier, token: str
) -> None:
    assert await verifier.verify(token) is None
    assert issuer.asked == []


async def test_a_huge_token_is_refused_unread(issuer: Issuer, verifier: JwtVerifier) -> None:
    reply = await visit_with(verifier, issuer.sign(more="x" * 16_384))
    assert reply.status == 401
    assert issuer.asked == []


async def test_keys_are_fetched_once_for_many_tokens(issuer: Issuer, verifier: JwtVerifier) -> None:
    for _ in range(20):
        assert await verifier.verify(issuer.sign()) is not None
    assert issuer.asked.count("/jwks") == 1


async def test_a_new_key_is_found_when_a_token_names_it(
    issuer: Issuer, verifier: JwtVerifier, clock: Clock
) -> None:
    old = issuer.keys[0]
    assert await verifier.verify(issuer.sign()) is not None
    issuer.keys[:] = [ECKey.generate_key("P-256", {"kid": "two"})]
    clock.now += 11
    assert await verifier.verify(issuer.sign()) is not None
    assert await verifier.verify(issuer.sign(old)) is None


async def test_tokens_with_unknown_keys_have_keys_fetched_no_oftener_than_allowed(
    issuer: Issuer, verifier: JwtVerifier, clock: Clock
) -> None:
    assert await verifier.verify(issuer.sign()) is not None
    for number in range(100):
        assert await verifier.verify(issuer.sign(header={"kid": f"made up {number}"})) is None
        clock.now += 0.5
    assert issuer.asked.count("/jwks") <= 6
    assert await verifier.verify(issuer.sign()) is not None


async def test_keys_are_renewed_behind_the_back_of_requests(
    issuer: Issuer, verifier: JwtVerifier, clock: Clock
) -> None:
    assert await verifier.verify(issuer.sign()) is not None
    clock.now += 301
    token = issuer.sign(exp=START + 9000)
    issuer.keys[:] = [ECKey.generate_key("P-256", {"kid": "two"})]
    assert await verifier.verify(token) is not None
    await turn_until(lambda: issuer.asked.count("/jwks") == 2)
    await verifier.verify(issuer.sign(exp=START + 9000))
    assert await verifier.verify(token) is None


async def test_an_issuer_that_is_down_is_forgiven_for_an_hour(
    issuer: Issuer, verifier: JwtVerifier, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    token = issuer.sign(exp=START + 9000)
    assert await verifier.verify(token) is not None
    issuer.is_down = True
    clock.now += 3599
    with caplog.at_level(logging.WARNING, "anyshape.server"):
        assert await verifier.verify(token) is not None
        clock.now += 11
        reply = await visit_with(verifier, token)
    assert reply.status == 503
    assert token.split(".")[2] not in caplog.text + reply.body.decode()
    issuer.is_down = False
    clock.now += 11
    assert await verifier.verify(token) is not None


def _many() -> str:
    key = ECKey.generate_key("P-256", {"kid": "one"}).as_dict(private=False)
    return json.dumps({"keys": [key] * 101})


@pytest.mark.parametrize(
    "document",
    [
        _many(),
        " " * 300_000,
        "[" * 100_000,
        "{}",
        "no JSON",
        web.Response(status=302, headers={"Location": "https://example.com/jwks"}),
        web.Response(status=307, headers={"Location": "/elsewhere"}),
        web.Response(status=404),
    ],
    ids=["many", "huge", "deep", "empty", "text", "redirect", "redirect within", "missing"],
)
async def test_keys_that_are_no_keys_let_nobody_in(
    issuer: Issuer, verifier: JwtVerifier, document: Any
) -> None:
    issuer.documents["/jwks"] = document
    issuer.documents["/elsewhere"] = json.dumps(issuer.jwks)
    with pytest.raises(VerifierUnavailable):
        await verifier.verify(issuer.sign())
    assert (await visit_with(verifier, issuer.sign())).status == 503
    assert "/elsewhere" not in issuer.asked
    assert issuer.asked.count("/jwks") == 1


@pytest.mark.parametrize(
    "change",
    [
        {"issuer": "https://issuer.example.com"},
        {"jwks_uri": "http://keys.example.com/jwks"},
        {"jwks_uri": "file:///etc/passwd"},
        {"jwks_uri": None},
    ],
    ids=repr,
)
async def test_metadata_that_cannot_be_right_let_nobody_in(
    issuer: Issuer, verifier: JwtVerifier, change: dict[str, Any]
) -> None:
    described = {"issuer": issuer.url, "jwks_uri": f"{issuer.url}/jwks", **change}
    issuer.documents["/.well-known/openid-configuration"] = json.dumps(described)
    with pytest.raises(VerifierUnavailable):
        await verifier.verify(issuer.sign())
    assert "/jwks" not in issuer.asked


async def test_metadata_are_looked_for_in_the_next_place_and_not_where_a_redirect_leads(
    issuer: Issuer, verifier: JwtVerifier
) -> None:
    elsewhere = web.Response(status=302, headers={"Location": "/login"})
    issuer.documents["/.well-known/oauth-authorization-server"] = elsewhere
    assert await verifier.verify(issuer.sign()) is not None
    assert issuer.asked == [
        "/.well-known/oauth-authorization-server",
        "/.well-known/openid-configuration",
        "/jwks",
    ]


async def test_keys_may_be_elsewhere_or_at_hand(issuer: Issuer, clock: Clock) -> None:
    at = JwtVerifier("https://a.example", RESOURCE, jwks_uri=f"{issuer.url}/jwks", clock=clock)
    assert await at.verify(issuer.sign(iss="https://a.example")) is not None
    assert issuer.asked == ["/jwks"]
    held = JwtVerifier("https://a.example", (RESOURCE, "notes"), keys=issuer.jwks, clock=clock)
    assert await held.verify(issuer.sign(iss="https://a.example", aud="notes")) is not None
    assert issuer.asked == ["/jwks"]


@pytest.mark.filterwarnings("ignore:Key size should be")
async def test_weak_keys_and_keys_for_secrecy_are_passed_over(issuer: Issuer, clock: Clock) -> None:
    weak = RSAKey.generate_key(1024, {"kid": "weak"})
    secrecy = ECKey.generate_key("P-256", {"kid": "secrecy", "use": "enc"})
    issuer.keys += [weak, secrecy]
    verifier = JwtVerifier(issuer.url, RESOURCE, clock=clock)
    assert await verifier.verify(issuer.sign(weak, "RS256")) is None
    signing = ECKey.import_key({**secrecy.as_dict(private=True), "use": "sig"})
    assert await verifier.verify(issuer.sign(signing)) is None


@pytest.mark.parametrize(
    "options",
    [
        {"issuer": "http://issuer.example.com"},
        {"issuer": "issuer.example.com"},
        {"issuer": "https://user:secret@issuer.example.com"},
        {"jwks_uri": "http://issuer.example.com/jwks"},
        {"audience": ""},
        {"audience": ()},
        {"algorithms": ("HS256",)},
        {"algorithms": ("none",)},
        {"algorithms": ()},
        {"keys": {"keys": []}},
        {"keys": {}},
        {"keys": {"keys": []}, "jwks_uri": "https://issuer.example.com/jwks"},
    ],
    ids=repr,
)
def test_what_could_not_be_safe_fails_at_definition(options: dict[str, Any]) -> None:
    given: dict[str, Any] = {"issuer": "https://issuer.example.com", "audience": RESOURCE}
    given |= options
    with pytest.raises(ValueError, match=r"expected") as caught:
        JwtVerifier(**given)
    assert "secret@" not in str(caught.value)


async def test_a_token_is_in_no_repr(issuer: Issuer, verifier: JwtVerifier) -> None:
    token = issuer.sign()
    access = await verifier.verify(token)
    assert not any(part in repr((access, verifier)) for part in token.split("."))
