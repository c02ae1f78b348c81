"""What a server gives clients to keep and bring back: request states, session and event ids."""

from __future__ import annotations

import contextlib
import secrets
from pathlib import Path

from anyshape.errors import ProtocolError
from anyshape.protocol.clients import KnownClients
from anyshape.protocol.revision import Revision
from anyshape.server.asking.state import RequestStates, RoundState
from anyshape.server.sessions import SessionIds, Sessions
from anyshape.server.streams.event_ids import is_of_session, read_event_id

from . import Target

KEY = secrets.token_bytes(32)  # What an earlier process has sealed does not open either.
NOW = 1_700_000_000.0
STATES = RequestStates((KEY,), 60.0, 100_000, lambda: NOW)
IDS = SessionIds(Sessions(keys=(KEY,)), KnownClients(), lambda: NOW)
SEALED = STATES.seal(RoundState(NOW), b"binding").encode()
ISSUED = IDS.issue(Revision("2025-11-25"), b'{"name":"c","version":"1"}')
SEEDS = (SEALED, ISSUED, b"n.1.2.abc", b"r.stream.3", b"", b"AAAA", b"n..1.", b"r.a.\xd9\xa3")


def run(data: bytes) -> None:
    """Bring it back as each of them: nothing that was not given opens."""
    with contextlib.suppress(ProtocolError):
        STATES.open(data.decode("utf-8", "surrogateescape"), b"binding")
        assert data == SEALED
    with contextlib.suppress(ProtocolError):
        IDS.find(data)
        assert data == ISSUED
    found = read_event_id(data)
    if found is not None:
        assert bytes(found)
        assert not is_of_session(IDS, "session", found.stream)


def make(corpus: Path | None) -> Target:
    """Return the target."""
    return Target(run, SEEDS, max_bytes=1_024, short=4000)
