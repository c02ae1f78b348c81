"""JSON-RPC 2.0 frames as MCP narrows them: one typed decode in, joined bytes out.

https://www.jsonrpc.org/specification and, for what MCP adds,
https://modelcontextprotocol.io/specification/2026-07-28/basic#messages.

Decoding looks at the outermost members only; `params`, `result` and `error` stay raw JSON. An id is
kept as the JSON text it came as, so that `1`, `"1"`, `1.0` and integers of any length are echoed
exactly. What a frame may hold is decided here once:

- not JSON, nested too deeply: parse error, no id;
- half a surrogate pair in a string, NaN or an infinity for a number, bytes that are not UTF-8:
  parse error, with the id, since all around it is readable;
- a key given twice: the last one counts, everywhere, because everything reads the same decode;
- an id that is null, a boolean, an array or an object: invalid request, no id;
- parameters that are no object: invalid params; of a notification, which must not be answered,
  they are as good as none;
- an array of messages: a `Batch`, which the caller refuses where the revision has none; one of more
  messages than allowed: invalid request, found out without reading them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, Final, Literal, TypeAlias, cast

import msgspec

from anyshape.protocol.encoding import encode_data
from anyshape.protocol.surrogates import replace_lone_surrogates

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
RESOURCE_NOT_FOUND: Final = -32002
HEADER_MISMATCH: Final = -32020
MISSING_REQUIRED_CLIENT_CAPABILITY: Final = -32021
UNSUPPORTED_PROTOCOL_VERSION: Final = -32022

_NOTHING: Final = msgspec.Raw()


class Request(msgspec.Struct, frozen=True, gc=False):
    """A message that wants an answer; `id` is JSON text, `params` an object or `None`."""

    id: bytes
    method: str
    params: msgspec.Raw | None = None


class Notification(msgspec.Struct, frozen=True, gc=False):
    """A message that wants none."""

    method: str
    params: msgspec.Raw | None = None


class Response(msgspec.Struct, frozen=True, gc=False):
    """An answer: exactly one of `result` and `error` is there, both raw; `id` may be unknown."""

    id: bytes | None
    result: msgspec.Raw | None = None
    error: msgspec.Raw | None = None


class Malformed(msgspec.Struct, frozen=True, gc=False):
    """A frame that is no message, with the error it deserves and its id where one was readable."""

    code: int
    message: str
    id: bytes | None = None


class Batch(msgspec.Struct, frozen=True):
    """Several messages that came in one array, in order; never empty."""

    messages: tuple[Request | Notification | Response | Malformed, ...]


Single: TypeAlias = Request | Notification | Response | Malformed
AnyMessage: TypeAlias = Request | Notification | Response | Malformed | Batch
"""What one frame can be."""


class _AnyMembers(msgspec.Struct, gc=False):
    """The members by which to say what is wrong with an object; of any others there may be many."""

    jsonrpc: msgspec.Raw = _NOTHING
    method: msgspec.Raw = _NOTHING
    id: msgspec.Raw = _NOTHING


class _RawMessage(msgspec.Struct, gc=False):
    """The members that any message may have."""

    jsonrpc: Literal["2.0"]
    method: str | None = None
    id: msgspec.Raw = _NOTHING
    params: msgspec.Raw = _NOTHING
    result: msgspec.Raw = _NOTHING
    error: msgspec.Raw = _NOTHING


_decode_message: Final = msgspec.json.Decoder(_RawMessage).decode
_decode_raw: Final = msgspec.json.Decoder(msgspec.Raw).decode
_decode_members: Final = msgspec.json.Decoder(_AnyMembers).decode
_decode_string: Final = msgspec.json.Decoder(str).decode
_decode_any: Final = msgspec.json.Decoder(Any).decode

# A string may lack its end, so that each byte is looked at once.
_STRING_OR_CONSTANT: Final = re.compile(
    rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|(-?Infinity|NaN)', re.DOTALL
)
_MOST_TOKENS: Final = 400_000
"""Constants and quotes that are looked at to find out what is wrong: each takes time of its own."""
_NUMBER_STARTS: Final = frozenset(b"-0123456789")
_QUOTE: Final = ord('"')
_BRACE: Final = ord("{")
_MOST_IN_BATCH: Final = 1000


def decode(frame: bytes, max_batch: int = _MOST_IN_BATCH) -> AnyMessage:
    """Return the message that one frame holds; never raises for what a peer sent."""
    if not frame.isascii():
        # Raw members are skipped over, not decoded, so nothing else would look at their UTF-8.
        try:
            frame.decode()
        except UnicodeDecodeError:
            readable = frame.decode(errors="replace").encode()
            return _refuse_text("the message is not UTF-8", _id_in(readable, frame))
    return _decode_one(frame, max_batch)


def _decode_one(frame: bytes | msgspec.Raw, max_batch: int) -> AnyMessage:
    try:
        try:
            message = _decode_message(frame)
        except msgspec.ValidationError as error:
            return _diagnose(frame, error, max_batch)
    except msgspec.DecodeError as error:
        return _diagnose_text(bytes(frame), error)
    except RecursionError:
        return Malformed(PARSE_ERROR, "Parse error: the message is nested too deeply")
    return _classify(message)


def _classify(message: _RawMessage) -> Single:
    method = message.method
    id = bytes(message.id)
    if method is None:
        return _classify_response(message, id)
    params: msgspec.Raw | None = message.params
    is_object = bool(params) and memoryview(params)[0] == _BRACE
    if not id:
        return Notification(method, params if is_object else None)
    if not is_object:
        if params and bytes(params) != b"null":
            known = id if _is_usable_id(id) else None
            return Malformed(INVALID_PARAMS, "Invalid params: expected an object", known)
        params = None
    if not _is_usable_id(id):
        return Malformed(INVALID_REQUEST, "Invalid Request: id must be a string or a number")
    return Request(id, method, params)


def _classify_response(message: _RawMessage, id: bytes) -> Single:
    result, error = message.result, message.error
    if bool(result) == bool(error):
        known = id if _is_usable_id(id) else None
        return Malformed(INVALID_REQUEST, "Invalid Request: expected a method", known)
    if not _is_usable_id(id):
        if not error or id not in (b"", b"null"):
            return Malformed(INVALID_REQUEST, "Invalid Request: id must be a string or a number")
        return Response(None, error=error)
    return Response(id, result or None, error or None)


def _is_usable_id(id: bytes) -> bool:
    if not id:
        return False
    start = id[0]
    return start == _QUOTE or start in _NUMBER_STARTS


def _diagnose_text(frame: bytes, error: msgspec.DecodeError) -> Malformed:
    """Say what is wrong with a frame that is not JSON, or whose text cannot be decoded."""
    for reason, readable in (
        (
            "a string holds half of a surrogate pair, which is no character",
            replace_lone_surrogates(frame, b"\\ufffd"),
        ),
        ("NaN and infinities are no numbers in JSON", _replace_constants(frame)),
    ):
        if readable != frame and _is_json(readable):
            return _refuse_text(reason, _id_in(readable, frame))
    return _refuse_text(str(error))


def _replace_constants(frame: bytes) -> bytes:
    """Return a text with null for NaN and the infinities, which JSON does not have.

    Text without them, or with very many strings or constants, is returned as it is.
    """
    constants = frame.count(b"NaN") + frame.count(b"Infinity")
    if not constants or constants + frame.count(b'"') > _MOST_TOKENS:
        return frame
    return _STRING_OR_CONSTANT.sub(lambda found: b"null" if found[1] else found[0], frame)


def _refuse_text(reason: str, id: bytes | None = None) -> Malformed:
    return Malformed(PARSE_ERROR, f"Parse error: {reason}", id)


def _is_json(text: bytes) -> bool:
    try:
        _decode_raw(text)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def _id_in(readable: bytes, frame: bytes) -> bytes | None:
    """Return the id of a request that was made readable, unless making it so has changed the id."""
    try:
        message = _decode_message(readable)
    except (msgspec.DecodeError, RecursionError):
        return None
    id = bytes(message.id)
    return id if message.method is not None and _is_usable_id(id) and id in frame else None


def _diagnose(
    frame: bytes | msgspec.Raw, error: msgspec.ValidationError, max_batch: int
) -> AnyMessage:
    """Say what is wrong with a frame that is no message, patiently."""
    start = bytes(frame).lstrip(b" \t\r\n")[:1]
    if start == b"[":
        return _decode_batch(frame, max_batch)
    if start != b"{":
        _decode_raw(frame)  # Raises what makes it a parse error, if it is no JSON at all.
        return Malformed(INVALID_REQUEST, "Invalid Request: expected an object")
    try:
        members = _decode_members(frame)
    except msgspec.DecodeError as flaw:
        return Malformed(PARSE_ERROR, f"Parse error: {flaw}")
    id = bytes(members.id)
    known = id if _is_usable_id(id) else None
    if bytes(members.jsonrpc) != b'"2.0"':
        reason = 'expected "jsonrpc": "2.0"'
    elif members.method:
        reason = "method must be a string"
    else:
        reason = str(error)
    return Malformed(INVALID_REQUEST, f"Invalid Request: {reason}", known)


def _decode_batch(frame: bytes | msgspec.Raw, max_batch: int) -> AnyMessage:
    try:
        raws = _members_decoder(max_batch)(frame)
    except msgspec.ValidationError:
        return Malformed(
            INVALID_REQUEST, f"Invalid Request: a batch of more than {max_batch} messages"
        )
    if not raws:
        return Malformed(INVALID_REQUEST, "Invalid Request: an empty batch")
    return Batch(tuple(_decode_member(raw) for raw in raws))


@lru_cache(maxsize=8)
def _members_decoder(limit: int) -> Callable[[bytes | msgspec.Raw], list[msgspec.Raw]]:
    """Return what reads an array of at most `limit` members; one more, and it stops right there.

    A list would be filled before its length is looked at.
    """
    members = msgspec.defstruct(
        "Members",
        [(f"member_{place}", msgspec.Raw, _NOTHING) for place in range(limit)],
        array_like=True,
        forbid_unknown_fields=True,
    )
    decode_members = msgspec.json.Decoder(members).decode
    return lambda frame: [
        raw for raw in msgspec.structs.astuple(decode_members(frame)) if bytes(raw)
    ]


def _decode_member(raw: msgspec.Raw) -> Single:
    if memoryview(raw)[0] != _BRACE:
        return Malformed(INVALID_REQUEST, "Invalid Request: expected an object")
    # A member that is an object can be anything but a batch.
    return cast("Single", _decode_one(raw, 1))


def request_key(id: bytes) -> bytes:
    """Return what an id is known by: equal for every spelling of the same JSON value."""
    if id[0] == _QUOTE:
        return encode_data(_decode_string(id)) if b"\\" in id else id
    if id.isdigit():
        return id
    try:
        value = _decode_any(id)
    except msgspec.DecodeError:
        return id
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return encode_data(value)


def encode_notification(method: str, params: bytes | None = None) -> bytes:
    """Return a notification; `params` is the JSON text of an object."""
    if params is None:
        return b'{"jsonrpc":"2.0","method":%b}' % encode_data(method)
    return b'{"jsonrpc":"2.0","method":%b,"params":%b}' % (encode_data(method), params)


def encode_request(id: bytes, method: str, params: bytes | None = None) -> bytes:
    """Return a request; `id` is JSON text, and `params` that of an object."""
    rest = b"" if params is None else b',"params":%b' % params
    return b'{"jsonrpc":"2.0","id":%b,"method":%b%b}' % (id, encode_data(method), rest)


def encode_response(id: bytes, result: bytes) -> bytes:
    """Return the answer to the request `id`; `result` is the JSON text of an object."""
    # Joined, not formatted: formatting grows its buffer as it goes, fifty times slower at 1 MB.
    return b"".join((b'{"jsonrpc":"2.0","id":', id, b',"result":', result, b"}"))


def encode_answer(response: Response) -> bytes:
    """Return the frame of a response that came from a peer, to be passed on as it is."""
    member, value = b"result", response.result
    if response.error is not None:
        member, value = b"error", response.error
    parts = (b'{"jsonrpc":"2.0","id":', response.id or b"null", b',"', member, b'":')
    return b"".join((*parts, bytes(value or b"null"), b"}"))


def encode_error(
    id: bytes | None, code: int, message: str, data: Any = None, *, null_id: bool = False
) -> bytes:
    """Return an error answer.

    An `id` of `None` was unreadable: it is left out, or sent as null where `null_id` says that
    the peer's revision wants it so (see `Revision.omits_unknown_id`). `data` of `None` is left out.
    """
    error: dict[str, Any] = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    if id is None:
        id_part = b'"id":null,' if null_id else b""
        return b'{"jsonrpc":"2.0",%b"error":%b}' % (id_part, encode_data(error))
    return b'{"jsonrpc":"2.0","id":%b,"error":%b}' % (id, encode_data(error))


def encode_batch(answers: Iterable[bytes]) -> bytes:
    """Return the answers to a batch as one frame."""
    return b"[%b]" % b",".join(answers)
