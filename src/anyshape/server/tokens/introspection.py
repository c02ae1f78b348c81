"""Access tokens that only their issuer can read: it is asked about each, and believed for a while.

https://www.rfc-editor.org/rfc/rfc7662
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import msgspec

from anyshape.errors import VerifierUnavailable
from anyshape.protocol.issuers import basic_credentials
from anyshape.server.authorization import AccessToken
from anyshape.server.tokens.claims import TokenClaims, access_by
from anyshape.server.tokens.issuer_requests import ask, check_url

_MOST_KEPT: Final = 1024
"""Answers that are remembered, of good tokens and of bad ones each."""
_MOST_ASKING: Final = 64
_PAUSE: Final = 1.0
"""Seconds for which the issuer is not asked again after it gave no usable answer."""
_LONGEST_KEPT: Final = 300.0
_TYPES: Final = frozenset({None, "bearer", "access_token"})
"""What a token may be: a refresh token is active, too, but nobody comes in with one."""
_WHAT: Final = "the introspection endpoint"

_log = logging.getLogger("anyshape.server")


class _IntrospectionAnswer(TokenClaims, gc=False, frozen=True, kw_only=True):
    active: bool
    token_type: str | None = None


_read_answer: Final = msgspec.json.Decoder(_IntrospectionAnswer).decode
_read_all: Final = msgspec.json.Decoder(dict[str, Any]).decode


class _Remembered:
    """Answers by the digest of their token, each until its time; the oldest make room."""

    def __init__(self) -> None:
        self._answers: dict[bytes, tuple[float, AccessToken | None]] = {}

    def get(self, digest: bytes, now: float) -> tuple[float, AccessToken | None] | None:
        found = self._answers.get(digest)
        return found if found is not None and now < found[0] else None

    def keep(self, digest: bytes, until: float, access: AccessToken | None) -> None:
        self._answers.pop(digest, None)
        while len(self._answers) >= _MOST_KEPT:
            del self._answers[next(iter(self._answers))]
        self._answers[digest] = (until, access)


class Introspection:
    """Believes what the introspection endpoint at `url` says of a token.

    `client_id` and `client_secret` are this server's own, there. An answer is believed for
    `keep` seconds, at most until the token ends: so long does a token work that was revoked.
    `audience` is what tokens name this server by, if not the `resource` of `Authorization`; a token
    that is for nobody in particular is refused. `issuer`, if given, has to be the one it names.
    """

    def __init__(
        self,
        url: str,
        client_id: str,
        client_secret: str,
        *,
        audience: str | tuple[str, ...] | None = None,
        issuer: str | None = None,
        keep: float = 30.0,
        clock: Callable[[], float] | None = None,
    ) -> None:
        """Ask nobody yet."""
        check_url(url, "url")
        if not 0 <= keep <= _LONGEST_KEPT:
            raise ValueError(f"keep: expected 0 to {_LONGEST_KEPT:g} seconds, got {keep!r}")
        if audience is not None and not all(audience or ("",)):
            raise ValueError("audience: expected what tokens name this server by, got nothing")
        self._url = url
        self._headers = {"Authorization": basic_credentials(client_id, client_secret)}
        given = (audience,) if isinstance(audience, str) else audience
        self._audience = None if given is None else frozenset(given)
        self._issuer = issuer
        self._keep = keep
        self._wall = clock or time.time
        self._clock = clock or time.monotonic
        self._good, self._bad = _Remembered(), _Remembered()
        self._asking: dict[bytes, asyncio.Task[AccessToken | None]] = {}
        self._resumes = -float("inf")

    async def verify(self, token: str) -> AccessToken | None:
        """Return what the token stands for, or `None`; `VerifierUnavailable` without an answer."""
        digest = hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
        now = self._clock()
        known = self._good.get(digest, now) or self._bad.get(digest, now)
        if known is not None:
            return known[1]
        asking = self._asking.get(digest)
        if asking is None:
            if now < self._resumes:
                raise VerifierUnavailable(f"{_WHAT}: gave no answer a moment ago")
            if len(self._asking) >= _MOST_ASKING:
                raise VerifierUnavailable(f"{_WHAT}: {_MOST_ASKING} tokens wait for it already")
            asking = asyncio.get_running_loop().create_task(self._ask(token, digest))
            self._asking[digest] = asking
            asking.add_done_callback(lambda done: self._settle(digest, done))
        return await asyncio.shield(asking)

    def _settle(self, digest: bytes, done: asyncio.Task[AccessToken | None]) -> None:
        del self._asking[digest]
        failure = None if done.cancelled() else done.exception()
        if failure is not None and self._clock() >= self._resumes:
            self._resumes = self._clock() + _PAUSE
            _log.warning("an access token could not be checked: %s", failure)

    async def _ask(self, token: str, digest: bytes) -> AccessToken | None:
        form = {"token": token, "token_type_hint": "access_token"}
        status, body = await ask(self._url, _WHAT, form, self._headers)
        if status != 200:
            raise VerifierUnavailable(f"{_WHAT}: HTTP {status}")
        try:
            answer, said = _read_answer(body), _read_all(body)
        except (ValueError, RecursionError):
            raise VerifierUnavailable(f"{_WHAT}: expected an object with active in it") from None
        now = self._wall()
        access = self._access(answer, said, now)
        left = self._keep
        if access is not None and answer.exp is not None:
            left = min(left, answer.exp - now)
        kept = self._bad if access is None else self._good
        kept.keep(digest, self._clock() + left, access)
        return access

    def _access(
        self, answer: _IntrospectionAnswer, said: dict[str, Any], now: float
    ) -> AccessToken | None:
        kind = None if answer.token_type is None else answer.token_type.lower()
        if not answer.active or kind not in _TYPES:
            return None
        if self._issuer is not None and answer.iss != self._issuer:
            return None
        if not answer.is_good(self._audience, now, 0):
            return None
        access = access_by(answer, 0, said)
        if access is None or self._audience is not None:
            return access
        return replace(access, audience=answer.audience)
