"""The handshake over HTTP, remembered by nobody: the session id says what it settled.

`Mcp-Session-Id` carries the revision, the client's name and version, what it can be asked for, and
a code that only those who have the key can make; so any process with the key can answer, and none
keeps anything but which sessions were ended early. See "Session Management" under "Transports" of
revision 2025-11-25; docs/internals/server.md has the designs that were weighed. It grants nothing:
access tokens are checked with every request, and a session is good only for the caller it was
opened by.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from anyshape.protocol.capabilities import expand
from anyshape.protocol.clients import NOTHING, KnownClients, Needs
from anyshape.protocol.encoding import encode_data
from anyshape.protocol.revision import HANDSHAKE, Revision
from anyshape.server.failures import unknown_session
from anyshape.server.keys import check_keys, process_key, spell, unspell

_MAC: Final = 16
_LONGEST_TICKET: Final = 300
_LONGEST_ID: Final = 4 * (_MAC + _LONGEST_TICKET) // 3 + 4
_REMEMBERED: Final = 1024
_MOST_ENDED: Final = 10_000
_DAY: Final = 86_400.0
_ID: Final = b"anyshape session\n"
_STREAM: Final = b"anyshape stream\n"
"""What a code is for: one that was made for something else is worth nothing."""


@dataclass(frozen=True, slots=True)
class Sessions:
    """How handshakes over HTTP are remembered.

    `keys` are secrets of 16 bytes or more that the replicas of a server share. The first signs ids
    and all of them verify, so that a new one can be put in front of the old. An id that none of
    them signed is answered with 404, and the client starts over. Without keys this process, and
    the worker processes it starts, sign with a key of their own; an id of another's is then passed
    over, and the request taken as one without.

    An id is good for `lifetime` seconds.
    """

    keys: tuple[bytes, ...] = ()
    lifetime: float = 30 * _DAY

    def __post_init__(self) -> None:
        check_keys(self.keys, "session")
        if not self.lifetime > 0:
            raise ValueError(f"lifetime has to be above 0, got {self.lifetime}")

    def __repr__(self) -> str:
        return f"Sessions({len(self.keys)} keys, lifetime={self.lifetime})"


class _Client(msgspec.Struct, gc=False, frozen=True):
    """What an id says of a client; more than that would make it long."""

    name: str
    version: str = ""


class _Ticket(msgspec.Struct, gc=False, frozen=True, array_like=True):
    """What an id says."""

    revision: str
    issued: int
    nonce: str
    client: _Client | None = None
    abilities: str = ""
    """What the client can be asked for, as `capabilities.abbreviate` writes it."""
    caller: str = ""


class Handshake(msgspec.Struct, gc=False, frozen=True):
    """What a handshake settled.

    `key` is what the session is known by here; nobody can make an id of it.
    """

    key: str
    caller: str
    revision: Revision
    expires: float
    client: Mapping[str, Any] | None
    needs: Needs
    capabilities: Mapping[str, Any]
    """What the client can be asked for."""


_decode_ticket: Final = msgspec.json.Decoder(_Ticket).decode
_decode_client: Final = msgspec.json.Decoder(_Client).decode


class SessionIds:
    """Issues session ids, and reads them."""

    def __init__(
        self, options: Sessions, clients: KnownClients, clock: Callable[[], float] = time.time
    ) -> None:
        self._clients = clients
        self._lifetime = options.lifetime
        self._keys = options.keys
        self._is_shared = bool(options.keys)
        self._clock = clock
        self._sessions: dict[bytes, Handshake] = {}
        self._ended: dict[str, float] = {}
        """Until when each session would have been good that was ended."""

    def issue(
        self,
        revision: Revision,
        client_info: bytes | None,
        abilities: str = "",
        subject: str | None = None,
    ) -> bytes:
        """Return an id for what a handshake settled with a client that said this of itself.

        `subject` is whose access token came with it.
        """
        ticket = _Ticket(
            revision.value,
            int(self._clock()),
            secrets.token_urlsafe(9),
            _read_client(client_info),
            abilities,
            _digest(subject),
        )
        text = encode_data(ticket)
        if len(text) > _LONGEST_TICKET:
            text = encode_data(msgspec.structs.replace(ticket, client=None))
        signed = _sign(self._all_keys()[0], _ID, text) + text
        return spell(signed)

    def find(self, id: bytes, subject: str | None = None) -> Handshake | None:
        """Return the session of an id, `None` if it is to be passed over; raise if it is over."""
        session = self._sessions.get(id)
        if session is None:
            session = self._read(id)
            if session is None:
                if self._is_shared:
                    raise unknown_session()
                return None
            if len(self._sessions) >= _REMEMBERED:
                self._sessions.clear()
            self._sessions[id] = session
        if session.expires <= self._clock() or session.caller != _digest(subject):
            raise unknown_session()
        return session

    def end(self, key: str, expires: float) -> None:
        """End the session of a key now; `expires` is when it would have ended by itself.

        Only so many ended sessions are remembered, the latest ones. An older one could be used
        again, which grants nothing: access tokens are checked with every request.
        """
        self._ended.pop(key, None)
        self._ended[key] = expires
        if len(self._ended) > _MOST_ENDED:
            del self._ended[next(iter(self._ended))]
        self._sessions = {id: each for id, each in self._sessions.items() if each.key != key}

    def seal(self, text: str) -> str:
        """Return a code for a text that nobody without our keys can make."""
        return _seal(self._all_keys()[0], text)

    def is_sealed(self, text: str, code: str) -> bool:
        """Tell whether a code is that of a text."""
        keys = self._all_keys()
        return any(hmac.compare_digest(code.encode(), _seal(key, text).encode()) for key in keys)

    def _read(self, id: bytes) -> Handshake | None:
        if len(id) > _LONGEST_ID:
            return None
        signed = unspell(id)
        if signed is None:
            return None
        code, text = signed[:_MAC], signed[_MAC:]
        if not any(hmac.compare_digest(code, _sign(key, _ID, text)) for key in self._all_keys()):
            return None
        try:
            ticket = _decode_ticket(text)
        except msgspec.DecodeError:
            return None  # Another version of ours, with the same keys, may write other tickets.
        revision = Revision.parse(ticket.revision)
        if revision is None or revision not in HANDSHAKE:
            return None
        key = ticket.nonce
        expires = 0.0 if key in self._ended else ticket.issued + self._lifetime
        client, abilities = ticket.client, expand(ticket.abilities)
        said = None if client is None else msgspec.structs.asdict(client)
        needs = NOTHING if client is None else self._clients.needs(client.name, client.version)
        return Handshake(key, ticket.caller, revision, expires, said, needs, abilities)

    def _all_keys(self) -> tuple[bytes, ...]:
        if not self._keys:
            self._keys = (process_key(),)
        return self._keys


def _sign(key: bytes, purpose: bytes, text: bytes) -> bytes:
    return hmac.digest(key, purpose + text, "sha256")[:_MAC]


def _seal(key: bytes, text: str) -> str:
    return spell(_sign(key, _STREAM, text.encode())[:12]).decode()


def _digest(subject: str | None) -> str:
    """Return what an id says of a caller: enough to tell callers apart, and no name."""
    if subject is None:
        return ""
    return hashlib.blake2b(subject.encode("utf-8", "replace"), digest_size=12).hexdigest()


def _read_client(client_info: bytes | None) -> _Client | None:
    """Return the name and version in a `clientInfo`; `None` if they are not to be found."""
    try:
        return None if client_info is None else _decode_client(client_info)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
