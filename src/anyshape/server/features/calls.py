"""What every call of an author's function has in common: whether there is room, and its context."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec
from msgspec import UNSET

from anyshape.server.failures import busy
from anyshape.server.lazy_object import LazyObject
from anyshape.server.progress import ProgressReports
from anyshape.server.request import OpenRequest
from anyshape.tools.context import Context

if TYPE_CHECKING:
    from anyshape.server.parameters import Meta, RoundParameters
    from anyshape.server.service import Service

__all__ = ["check_room", "make_context"]

_SHORT: Final = 20

_decode_id: Final = msgspec.json.Decoder(str | int | float).decode


def check_room(service: Service) -> None:
    """Raise if as many calls wait as may."""
    if service.waiting >= service.most_waiting:
        raise busy(service.most_waiting)


def make_context(
    meta: Meta, request: OpenRequest, rounds: RoundParameters | None = None
) -> Context:
    """Return the `Context` of a call; `meta` is the metadata of its request.

    `rounds` are the parameters of one that may ask its client something before it is answered.
    """
    peer = request.peer
    token = meta.progress_token
    if token is not UNSET:
        request.progress = ProgressReports(request, token)
    if rounds is not None:
        request.open_rounds(rounds)
    return Context(
        request_id=_read_id(request.id),
        meta=request.meta,
        client=peer.client if meta.client_info is UNSET else LazyObject(meta.client_info),
        access=peer.access,
        state=peer.service.lifespan.state,
        report=None if request.progress is None else request.progress.report,
        find_asker=None if rounds is None else request.find_asker,
    )


def _read_id(id: bytes) -> str | int | float:
    if len(id) < _SHORT and id.isdigit():
        return int(id)
    try:
        return _decode_id(id)
    except msgspec.DecodeError:
        return id.decode()  # A number that Python cannot hold.
