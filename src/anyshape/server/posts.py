"""What a POST holds, whichever way it came, is answered: a call, another request, or no request.

See "Sending Messages to the Server" in the Streamable HTTP pages of the revisions.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from anyshape.errors import ProtocolError
from anyshape.protocol.jsonrpc import (
    AnyMessage,
    Batch,
    Malformed,
    Notification,
    Request,
    Response,
    encode_answer,
    encode_batch,
    encode_error,
    request_key,
)
from anyshape.protocol.methods import CANCELLED, TOOLS_CALL
from anyshape.protocol.revision import WITHOUT_HEADER, Revision
from anyshape.server.batches import answer_requests
from anyshape.server.failures import unsupported_version
from anyshape.server.http_peer import HttpPeer
from anyshape.server.incoming import Call, Incoming
from anyshape.server.request import IN_MESSAGE, IN_PARAMETERS, NO_ANSWER, Answer, OpenRequest
from anyshape.server.response import Send, accept, refuse, send_error, send_json

if TYPE_CHECKING:
    from anyshape.server.http import HttpApplication


async def answer_post(
    message: Incoming, body: bytes, peer: HttpPeer, application: HttpApplication, send: Send
) -> None:
    """Answer the message that was read from a body."""
    try:
        if isinstance(message, Call):
            request = OpenRequest(peer, bytes(message.id), body, IN_MESSAGE)
            answer = request.answer(TOOLS_CALL, message.params)
            await peer.respond(answer, request.revision)
        else:
            await _answer_other(message, peer, application, send)
    except BaseException:
        peer.abandon()  # The host has given the request up.
        raise


async def _answer_other(
    message: AnyMessage, peer: HttpPeer, application: HttpApplication, send: Send
) -> None:
    """Answer whatever is not plainly a call."""
    if isinstance(message, Request):
        request = OpenRequest(peer, message.id, message.params, IN_PARAMETERS)
        answer = request.answer(message.method, message.params)
        await peer.respond(answer, request.revision)
        return
    if isinstance(message, Malformed):
        await send_json(send, 400, encode_error(message.id, message.code, message.message))
        return
    try:
        version = peer.request_headers.version
        if version is not None and Revision.parse(version) is None:
            raise unsupported_version(version)
        peer.recall()
    except ProtocolError as error:
        await send_error(send, error)
        return
    if isinstance(message, Batch):
        await _answer_all(message, peer, application, send)
    elif await _take_answers([message], peer, application, send):
        if isinstance(message, Notification) and message.method == CANCELLED:
            await _cancel(message, peer, application)
        await accept(send)


async def _cancel(notification: Notification, peer: HttpPeer, application: HttpApplication) -> None:
    if peer.handshake is not None and application.streams is not None:
        await application.streams.cancel(peer.handshake.key, notification)


async def _take_answers(
    messages: Iterable[object], peer: HttpPeer, application: HttpApplication, send: Send
) -> bool:
    """Hand over what are responses to questions of ours; without a session there are none.

    False if that cannot be done now: the request is refused then, and may come again.
    """
    try:
        for message in messages if peer.handshake is not None else ():
            if isinstance(message, Response) and message.id is not None:
                from anyshape.server.asking.exchange import answer_address

                address = answer_address(peer.session, request_key(message.id))
                await application.answers.deliver(address, encode_answer(message))
    except ProtocolError as error:
        await send_error(send, error)
        return False
    return True


async def _answer_all(
    batch: Batch, peer: HttpPeer, application: HttpApplication, send: Send
) -> None:
    settled = WITHOUT_HEADER if peer.handshake is None else peer.handshake.revision
    revision = peer.request_headers.revision or settled
    if not revision.has_batches:
        await refuse(send, 400, f"Invalid Request: revision {revision} has no batches")
        return
    if not await _take_answers(batch.messages, peer, application, send):
        return
    requests = [message for message in batch.messages if isinstance(message, Request)]
    answers = [
        encode_error(message.id, message.code, message.message, null_id=True)
        for message in batch.messages
        if isinstance(message, Malformed)
    ]
    answers += await answer_requests(peer, requests)
    if answers or requests:
        await peer.respond(Answer(encode_batch(answers)) if answers else NO_ANSWER, revision)
    else:
        await accept(send)
