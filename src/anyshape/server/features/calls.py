"""What every call of an author's function has in common: room, a context, and what it reports."""

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
    from anyshape.tools.completion import Completer
    from anyshape.tools.routine import Routine

_decode_id: Final = msgspec.json.Decoder(str | int | float).decode


def check_room(service: Service) -> None:
    """Raise if as many calls wait as may."""
    if service.waiting >= service.most_waiting:
        raise busy(service.most_waiting)


def expect_context(service: Service, *offered: Routine | Completer) -> None:
    """Have the server declare that it logs if what is offered gets a `Context` to log by."""
    if any(each.takes_context for each in offered):
        from anyshape.server.features.log_messages import LogMessages

        service.feature(LogMessages)


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
    messages = peer.service.log_messages
    log = None if messages is None else messages.log_of(request, meta.log_level)
    return Context(
        request_id=read_id(request.id),
        meta=request.meta,
        client=peer.client if meta.client_info is UNSET else LazyObject(meta.client_info),
        access=peer.access,
        state=peer.service.lifespan.state,
        report=None if request.progress is None else request.progress.report,
        find_asker=None if rounds is None else request.find_asker,
        earlier_questions=request.earlier_questions,
        log=None if log is None else log.write,
        hang_up=peer.hang_up,
    )


def end_reports(request: OpenRequest) -> None:
    """Send what a call that had a `Context` has yet to say before its answer."""
    if request.progress is not None:
        request.progress.send_last()
    if request.log is not None:
        request.log.finish()


def read_id(id: bytes) -> str | int | float:
    """Return the value of a request's id."""
    try:
        return _decode_id(id)
    except msgspec.DecodeError:
        return id.decode()  # A number that Python cannot hold.
