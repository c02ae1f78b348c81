"""What a server and its authorization server say of authorization: a header, then JSON documents.

The first line is a `WWW-Authenticate` header; each of the others is fetched from wherever the one
before has led to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

from mutator import mutate_bytes, mutate_json, write_json
from turns import run as run_coroutine

from anyshape.client.answers import as_object, decode_value
from anyshape.client.auth.authorization_server import assume_server, find_server
from anyshape.client.auth.challenge import read_challenge
from anyshape.client.auth.exchange import AuthReply, Exchange
from anyshape.client.auth.reach import Reach
from anyshape.client.auth.registration import Registration, register
from anyshape.client.auth.resource import find_resource
from anyshape.client.auth.token import HeldToken, read_token
from anyshape.client.options import Http
from anyshape.errors import AnyshapeError, AuthorizationError

from . import Target, check_message

URL = "https://mcp.example.com/mcp"
ISSUER = "https://auth.example.com/a"
REDIRECTED = b"Bearer\nLocation: /other\nLocation: https://[::1\n{}"
TALKS: tuple[tuple[bytes, tuple[dict[str, Any], ...]], ...] = (
    (
        b'Bearer resource_metadata="https://mcp.example.com/x", scope="a b"',
        (
            {
                "resource": URL,
                "authorization_servers": [ISSUER],
                "scopes_supported": ["a", "b"],
            },
            {
                "issuer": ISSUER,
                "token_endpoint": ISSUER + "/token",
                "authorization_endpoint": ISSUER + "/authorize",
                "registration_endpoint": ISSUER + "/register",
                "revocation_endpoint": ISSUER + "/revoke",
                "scopes_supported": ["a"],
                "token_endpoint_auth_methods_supported": ["none"],
                "code_challenge_methods_supported": ["S256"],
                "dpop_signing_alg_values_supported": ["ES256"],
                "client_id_metadata_document_supported": True,
            },
            {
                "client_id": "c",
                "client_secret": "s",
                "client_secret_expires_at": 1_900_000_000,
                "token_endpoint_auth_method": "client_secret_basic",
            },
            {
                "access_token": "t",
                "token_type": "Bearer",
                "expires_in": 3600,
                "refresh_token": "r",
                "scope": "a",
            },
        ),
    ),
    (b'DPoP algs="ES256"', ({"resource": URL}, {"error": "invalid_client"})),
    (b"Basic", ({}, {"issuer": "https://mcp.example.com"})),
    (b"Bearer", ({"resource": URL, "authorization_servers": ["https://[::1", "x"]},)),
)
SEEDS = (
    REDIRECTED,
    *(header + b"\n" + b"\n".join(map(write_json, documents)) for header, documents in TALKS),
)


class Told(Exchange):
    """Is told the next document, whatever it asks for."""

    def __init__(self, documents: Iterator[bytes]) -> None:
        super().__init__(Reach(URL), Http())
        self._documents = documents

    async def _send(
        self, method: str, url: str, what: str, headers: Mapping[str, str], body: object
    ) -> tuple[AuthReply, str | None]:
        """Return the next document, or where that says to go, if the address may be asked."""
        self.reach.check(url, what)
        document = next(self._documents, None)
        if document is None:
            return AuthReply(404, {}), None
        if document.startswith(b"Location: "):
            return AuthReply(302, {}), document[10:].decode("latin-1")
        try:
            return AuthReply(200, as_object(decode_value(document, 32))), None
        except AnyshapeError as error:
            raise AuthorizationError(str(error)) from error


def run(data: bytes) -> None:
    """Go from the refusal of a request to a token."""
    header, *documents = data.split(b"\n")
    challenge = read_challenge([header.decode("latin-1")])
    for step in (_discover, _assume):
        try:
            run_coroutine(step(Told(iter(documents)), challenge))
        except AuthorizationError as error:
            check_message(error)
    for document in documents:
        text = document.decode("utf-8", "replace")
        Registration.read(text)
        HeldToken.read(text)
        try:
            members = as_object(decode_value(document, 32))
            token = read_token(members, issuer=ISSUER, resource=URL, requested=("a",))
        except AnyshapeError as error:
            check_message(error)
        else:
            assert HeldToken.read(token.write()) == token


async def _discover(exchange: Exchange, challenge: Any) -> None:
    resource = await find_resource(exchange, URL, challenge)
    for issuer in resource.authorization_servers[:2] if resource is not None else ():
        server = await find_server(exchange, issuer)
        registration = await register(
            exchange,
            server,
            name="n",
            redirect_uri="http://127.0.0.1:1/",
            scopes=("a",),
            dpop=False,
        )
        kept = Registration.read(registration.write())
        assert kept is None or kept.client_id == registration.client_id


async def _assume(exchange: Exchange, challenge: Any) -> None:
    await assume_server(exchange, URL)


def mutate(data: bytes, random: Random, donors: list[bytes]) -> bytes:
    """Change one line: the header as bytes, a document mostly so that it stays JSON."""
    lines = data.split(b"\n")
    at = random.randrange(len(lines))
    plain = at == 0 or random.random() < 0.2
    others = random.choice(donors).split(b"\n")[1:]
    lines[at] = (mutate_bytes if plain else mutate_json)(lines[at], random, others or donors)
    return b"\n".join(lines)


def make(corpus: Path | None) -> Target:
    """Return the target."""
    return Target(run, SEEDS, mutate)
