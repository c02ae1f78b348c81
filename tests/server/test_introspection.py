"""Access tokens that their issuer is asked about: how often, and how long it is believed."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from aiohttp import web

from anyshape.errors import VerifierUnavailable
from anyshape.server import AccessToken, Introspection

from .issuing import RESOURCE, START, Clock, Issuer, visit_with

SECRET = "s3cret of the server"


@pytest.fixture
async def issuer() -> AsyncGenerator[Issuer]:
    async with Issuer().served() as issuer:
        issuer.active["good"] = {"active": True, "token_type": "Bearer", **issuer.claims()}
        yield issuer


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def verifier(issuer: Issuer, clock: Clock) -> Introspection:
    return Introspection(f"{issuer.url}/introspect", "notes server", SECRET, clock=clock)


async def test_an_active_token_is_believed(issuer: Issuer, verifier: Introspection) -> None:
    assert await verifier.verify("good") == AccessToken(
        subject="ada",
        client_id="laptop",
        scopes=frozenset({"read", "write"}),
        expires_at=START + 600,
        audience=(RESOURCE,),
        claims=issuer.active["good"],
    )
    reply = await visit_with(verifier, "good")
    assert reply.json["result"]["structuredContent"] == "ada"
    coded = base64.b64encode(b"notes+server:s3cret+of+the+server").decode()
    assert issuer.forms == [
        (f"Basic {coded}", {"token": "good", "token_type_hint": "access_token"})
    ]


@pytest.mark.parametrize(
    "change",
    [
        {"active": False},
        {"aud": "https://other.example.com/mcp"},
        {"aud": None},
        {"exp": START},
        {"nbf": START + 1},
        {"sub": None, "client_id": None},
        {"token_type": "refresh_token"},
        {"token_type": "DPoP"},
        {"cnf": {"jkt": "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"}},
    ],
    ids=repr,
)
async def test_a_token_that_does_not_fit_is_kept_out(
    issuer: Issuer, verifier: Introspection, change: dict[str, Any]
) -> None:
    issuer.active["good"] |= change
    reply = await visit_with(verifier, "good")
    assert reply.status == 401
    assert 'error="invalid_token"' in reply.headers["www-authenticate"]


@pytest.mark.parametrize(
    ("options", "is_believed"),
    [
        ({"audience": "notes"}, False),
        ({"audience": ("notes", RESOURCE)}, True),
        ({"issuer": "https://issuer.example.com"}, False),
    ],
)
async def test_audience_and_issuer_may_be_written_down(
    issuer: Issuer, clock: Clock, options: dict[str, Any], is_believed: bool
) -> None:
    verifier = Introspection(f"{issuer.url}/introspect", "id", SECRET, clock=clock, **options)
    assert (await verifier.verify("good") is not None) is is_believed


async def test_a_revoked_token_works_no_longer_than_was_said(
    issuer: Issuer, verifier: Introspection, clock: Clock
) -> None:
    assert await verifier.verify("good") is not None
    issuer.active.clear()
    clock.now += 29
    assert await verifier.verify("good") is not None
    assert len(issuer.forms) == 1
    clock.now += 1
    assert await verifier.verify("good") is None


async def test_nothing_is_believed_beyond_the_end_of_a_token(
    issuer: Issuer, verifier: Introspection, clock: Clock
) -> None:
    issuer.active["good"]["exp"] = START + 5
    assert await verifier.verify("good") is not None
    clock.now += 5
    assert await verifier.verify("good") is None
    assert len(issuer.forms) == 2


async def test_without_keeping_every_request_asks(issuer: Issuer, clock: Clock) -> None:
    verifier = Introspection(f"{issuer.url}/introspect", "id", SECRET, keep=0, clock=clock)
    assert await verifier.verify("good") is not None
    issuer.active.clear()
    assert await verifier.verify("good") is None


async def test_requests_that_come_together_ask_once(
    issuer: Issuer, verifier: Introspection
) -> None:
    found = await asyncio.gather(*(verifier.verify("good") for _ in range(20)))
    assert None not in found
    assert len(issuer.forms) == 1


async def test_a_flood_of_bad_tokens_does_not_push_good_ones_out(
    issuer: Issuer, verifier: Introspection
) -> None:
    assert await verifier.verify("good") is not None
    for number in range(1100):
        assert await verifier.verify(f"bad {number}") is None
    before = len(issuer.forms)
    assert await verifier.verify("good") is not None
    assert await verifier.verify("bad 1099") is None
    assert len(issuer.forms) == before


async def test_more_tokens_than_may_wait_are_turned_away(
    issuer: Issuer, verifier: Introspection
) -> None:
    asked = [verifier.verify(f"bad {number}") for number in range(100)]
    found = await asyncio.gather(*asked, return_exceptions=True)
    assert sum(isinstance(each, VerifierUnavailable) for each in found) == 36
    assert len(issuer.forms) == 64


@pytest.mark.parametrize(
    "answer",
    [
        web.Response(status=500),
        web.Response(status=401),
        web.Response(status=307, headers={"Location": "/elsewhere"}),
        "no JSON",
        "{}",
        '{"active": "true"}',
        '{"active": 1}',
        '{"active": true, "sub": "ada", "exp": "never"}',
        "[" * 100_000,
        json.dumps({"active": True, "more": "x" * 300_000}),
    ],
    ids=["500", "401", "redirect", "text", "empty", "string", "number", "exp", "deep", "huge"],
)
async def test_without_an_answer_nobody_gets_in_and_the_endpoint_is_left_alone(
    issuer: Issuer,
    verifier: Introspection,
    clock: Clock,
    answer: Any,
    caplog: pytest.LogCaptureFixture,
) -> None:
    issuer.documents["/introspect"] = answer
    with caplog.at_level(logging.DEBUG):
        replies = [await visit_with(verifier, "good-token") for _ in range(3)]
    assert [reply.status for reply in replies] == [503, 503, 503]
    assert replies[0].headers["retry-after"]
    assert issuer.asked == ["/introspect"]
    said = caplog.text + "".join(reply.body.decode() for reply in replies) + repr(verifier)
    assert "good-token" not in said
    assert "s3cret" not in said
    del issuer.documents["/introspect"]
    issuer.active["good-token"] = issuer.active["good"]
    clock.now += 2
    assert (await visit_with(verifier, "good-token")).status == 200


@pytest.mark.parametrize(
    "options",
    [
        {"url": "http://issuer.example.com/introspect"},
        {"keep": -1},
        {"keep": 301},
        {"audience": ""},
        {"audience": ()},
    ],
    ids=repr,
)
def test_what_could_not_be_safe_fails_at_definition(options: dict[str, Any]) -> None:
    given: dict[str, Any] = {"url": "https://a.example/i", "client_id": "id"}
    given |= {"client_secret": SECRET, **options}
    with pytest.raises(ValueError, match=r"expected") as caught:
        Introspection(**given)
    assert SECRET not in str(caught.value)
