"""What a call remembers from round to round, kept by the client that it asks.

https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr#server-requirements-basic-workflow
`requestState` is sealed with AES-256-GCM: nobody without the key can read it, change it, or make
one. What it belongs to (the request, its arguments, the caller) is authenticated with it, so a
state that is brought with anything else is refused as a forged one is. Each state has a key of its
own, derived from the server's by a random salt, so that no number of states wears that out.
"""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Callable
from typing import Any, Final

import msgspec

from anyshape.errors import ProtocolError
from anyshape.protocol.encoding import encode_data
from anyshape.protocol.jsonrpc import INTERNAL_ERROR
from anyshape.server.failures import invalid_params
from anyshape.server.keys import spell, unspell

_FORM: Final = b"\x01"
"""What a state begins with: how the rest is written."""
_SALT: Final = 24
_NONCE: Final = bytes(12)
_LABEL: Final = b"anyshape request state\n"


class GivenAnswer(msgspec.Struct, frozen=True, array_like=True):
    """An answer that came in an earlier round, and the digest of the question it belongs to."""

    question: str
    answer: msgspec.Raw


class RoundState(msgspec.Struct, frozen=True, array_like=True):
    """What is known after a round."""

    issued: float
    answers: dict[str, GivenAnswer] = {}
    asked: dict[str, str] = {}
    """The questions that have no answer yet: the digest of each, by its key."""


_decode: Final = msgspec.json.Decoder(RoundState).decode


class RequestStates:
    """Seals states, and opens those that it has sealed."""

    def __init__(
        self,
        keys: tuple[bytes, ...],
        lifetime: float,
        max_bytes: int,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._keys = keys
        self._lifetime = lifetime
        self._max_bytes = max_bytes
        self._clock = clock
        self._cipher = _find_cipher()

    def now(self) -> float:
        """Return the time that a state is issued at."""
        return self._clock()

    def seal(self, state: RoundState, binding: bytes) -> str:
        """Return a state as text that opens only together with `binding`."""
        salt = secrets.token_bytes(_SALT)
        sealed = self._cipher(_derive(self._keys[0], salt)).encrypt(
            _NONCE, encode_data(state), binding
        )
        text = spell(_FORM + salt + sealed).decode()
        if len(text) > self._max_bytes:
            raise ProtocolError(
                f"Internal error: the answers so far make a requestState of {len(text)} bytes, "
                f"and max_state_bytes is {self._max_bytes}",
                code=INTERNAL_ERROR,
            )
        return text

    def open(self, text: str, binding: bytes) -> RoundState:
        """Return the state that was sealed with `binding`; raise for any other, or an old one."""
        if len(text) > self._max_bytes:
            raise invalid_params(f"requestState is longer than {self._max_bytes} bytes")
        state = self._unseal(text, binding)
        if state is None:
            raise invalid_params(
                "requestState is none that this server gave for this request, with these arguments "
                "and to this caller; send the request without it"
            )
        if not -self._lifetime <= self._clock() - state.issued <= self._lifetime:
            raise invalid_params("requestState has expired; send the request without it")
        return state

    def _unseal(self, text: str, binding: bytes) -> RoundState | None:
        from cryptography.exceptions import InvalidTag

        raw = unspell(text.encode(errors="replace")) or b""
        salt, sealed = raw[1 : 1 + _SALT], raw[1 + _SALT :]
        if not raw.startswith(_FORM) or len(salt) != _SALT:
            return None
        for key in self._keys:
            try:
                return _decode(self._cipher(_derive(key, salt)).decrypt(_NONCE, sealed, binding))
            except (InvalidTag, msgspec.DecodeError):
                # Another version of ours, with the same keys, may write other states.
                continue
        return None


def _derive(key: bytes, salt: bytes) -> bytes:
    return hmac.digest(key, _LABEL + salt, "sha256")


def _find_cipher() -> Any:
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    except ImportError:
        raise ProtocolError(
            "Internal error: to ask clients of revision 2026-07-28 this server needs the package "
            "cryptography: pip install 'anyshape[asking]'",
            code=INTERNAL_ERROR,
        ) from None
    return AESGCM
