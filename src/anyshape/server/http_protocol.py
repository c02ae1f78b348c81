"""One HTTP connection under uvicorn: what it takes in is bounded, and how long it is waited for.

uvicorn's protocol on httptools reads a head of any length and waits for it for ever; it waits just
as long for its answers to be read. Here a head has a greatest length, whatever the peer owes us has
to come in time, and writes are joined with those of other connections
(`anyshape.server.joined_writes`). A request that offers to go on in another protocol, such as
HTTP/2, is answered in this one, where httptools takes its body for that other protocol; and
trailers are no headers. When uvicorn stops, the application drains while its connections are waited
for. What uvicorn does for every request and few have a use for is not done here: a timer for the
silence after it (`anyshape.server.kept_connections`), a look for the headers of proxies. And a
request that is whole when it is read goes to the application directly, if that is ours and nobody
stands before it: uvicorn's record of it is made when it is needed (`DirectRequest`).

What is relied on beyond uvicorn's documentation is named in tests/server/test_uvicorn.py.
"""

from __future__ import annotations

import asyncio
import re
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, cast

from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from anyshape.protocol.jsonrpc import INVALID_REQUEST, encode_error
from anyshape.server.connection_watch import watch_over
from anyshape.server.headers import RequestHeaders
from anyshape.server.http import HOSTED, HttpApplication
from anyshape.server.http_options import HttpOptions
from anyshape.server.joined_writes import JoiningTransport
from anyshape.server.kept_connections import GLANCE
from anyshape.server.whole_messages import DirectRequest, records

if TYPE_CHECKING:
    from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

_DEFAULTS: Final = HttpOptions()
_INVALID: Final = "Invalid HTTP request received."
_UPGRADE: Final = b"upgrade"
_FORWARDED: Final = frozenset((b"x-forwarded-for", b"x-forwarded-proto"))
"""The headers without which uvicorn's reader of proxies' headers changes nothing."""
_plain_path: Final = re.compile(rb"/[\w.~/-]*", re.ASCII).fullmatch
"""Matches paths that can be written in one way only."""
_begin: Final = HttpToolsProtocol.on_message_begin
_take_head: Final = HttpToolsProtocol.on_headers_complete
_take_body: Final = HttpToolsProtocol.on_body
_take_end: Final = HttpToolsProtocol.on_message_complete
_MOST_PIPELINED: Final = 64
"""Requests that may wait on one connection behind the one that is being answered."""
_MOST_BEHIND: Final = 65_536
"""Bytes after which no more of them is read."""
_LINGER: Final = 2.0
"""Seconds in which a refused peer can read why: what it still sends would else reset the
connection, and take the refusal with it."""


class HttpProtocol(HttpToolsProtocol):
    """A connection; uvicorn makes one for each."""

    app: Any
    parser: HttpRequestParser
    _joining: JoiningTransport

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        hosted: HttpApplication | None = self.app_state.get(HOSTED)
        if hosted is not None:
            hosted.takes_turns = False
        options = _DEFAULTS if hosted is None else hosted.options
        self._hosted = hosted
        self._proxied = self.app
        """The application as uvicorn calls it: behind its reader of proxies' headers."""
        self._direct = self.app.app if type(self.app) is ProxyHeadersMiddleware else self.app
        self._longest_head = options.max_head_bytes
        self.patience = options.request_timeout
        self.most_unread = options.max_unread_bytes
        self._unparsed = 0
        self._heads = 0
        self._is_in_head = False
        self._refused = False
        self._is_offer = False
        """Whether the head that was read last is to be read again, without its offer."""
        self._owed: tuple[str, object] | None = None
        self._since = 0.0
        self._endpoint = options.path.encode()
        self._kind = records.known() if self._is_direct() else None
        """What records are, if requests may go to the application directly; else `None`."""
        self._whole: RequestHeaders | None = None
        """The headers of a request that does, if the rest of it is there as well."""
        self._fields: list[tuple[bytes, bytes]] = []
        """The same as they came."""
        self._pieces: list[bytes] = []
        """What has come of the body of that request."""
        self.direct_request: DirectRequest | None = None
        """The request that is being answered, as long as it has no record."""
        self._front: RequestResponseCycle | None = None
        """The record of the request that is being answered, if others wait behind it."""
        self._behind = 0
        """How much has been read since others do."""

    def _is_direct(self) -> bool:
        """Tell whether nothing that anybody set up stands between the parser and an endpoint."""
        return (
            type(self._hosted) is HttpApplication
            and self._direct is self._hosted
            and not (self.root_path or self.access_log)
            and self.limit_concurrency is None
            and not getattr(self.config, "reset_contextvars", False)
            and _plain_path(self._endpoint) is not None
        )

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Write to the connection through a transport that joins, and keep an eye on it."""
        self._joining = JoiningTransport(transport, self.tasks, self.loop)
        super().connection_made(self._joining)
        self.watch = watch_over(self.server_state, self.loop, self.timeout_keep_alive)
        self.watch.begin(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget what waits to be written: nobody will read it."""
        self._joining.discard()
        self._keep_record()
        self.watch.end(self)
        front = self._front
        if front is not None and not front.response_complete:
            # uvicorn tells the last request alone.
            front.disconnected = True
            front.message_event.set()
        super().connection_lost(exc)

    @property
    def unread(self) -> int:
        """How many bytes wait for the peer to read them."""
        return self._joining.get_write_buffer_size()

    @property
    def kept(self) -> int:
        """How many bytes are in memory until it has."""
        return self._joining.kept

    def pause_writing(self) -> None:
        """Write no more for now: what has been written is not read fast enough."""
        super().pause_writing()
        self.watch.hold(self)

    def resume_writing(self) -> None:
        """Write on: the peer has read what there was."""
        self.watch.release(self)
        super().resume_writing()

    def handle_websocket_upgrade(self) -> None:
        """Hand the bare transport on: there is no more to join or to watch on this connection."""
        self.watch.end(self)
        self.transport = self._joining.release()
        super().handle_websocket_upgrade()

    def _should_upgrade(self) -> bool:
        """Tell whether to go on in another protocol; answers that are not there would end up in it.

        An offer that is not taken is answered in this one, in its turn.
        """
        return not self._is_answering() and super()._should_upgrade()

    def shutdown(self) -> None:
        """Have the application bring its answers to an end: uvicorn waits for them."""
        if self._hosted is not None:
            self._hosted.drain()
        self._keep_record()
        super().shutdown()

    def _keep_record(self) -> None:
        """Have a record of the request that is being answered: more happens than its answer."""
        if self.direct_request is not None:
            self.direct_request.record()

    def data_received(self, data: bytes) -> None:
        """Parse what has come, as long as it leads to a request."""
        taken = self._unparsed + len(data)
        if taken < self._longest_head:
            self._unparsed = taken
            self._parse(data)
        else:
            self._parse_warily(data)
        if self.pipeline:
            self._read_on_behind(len(data))

    def _read_on_behind(self, size: int) -> None:
        """Read on, where uvicorn stops as soon as a request waits: else no end would be seen."""
        self._behind += size
        if len(self.pipeline) > _MOST_PIPELINED:
            self.transport.abort()
        elif len(self.pipeline) < _MOST_PIPELINED and self._behind < _MOST_BEHIND:
            self.flow.resume_reading()

    def _parse_warily(self, data: bytes) -> None:
        """Parse no more than a head may be long before it is looked at what that gave."""
        longest = self._longest_head
        # One that is handed on is none of these connections any more.
        while (
            data
            and self in self.connections
            and not self._refused
            and not self.transport.is_closing()
        ):
            piece = data[: longest - self._unparsed]
            data = data[len(piece) :]
            self._unparsed += len(piece)
            self._parse(piece)
            if self._unparsed >= longest:
                self._refuse(431, f"The head of the request is not whole after {longest} bytes")

    def _parse(self, data: bytes) -> None:
        """Parse as uvicorn does, except that an upgrade which is not made is none at all."""
        self.watch.kept.release(self)
        while True:
            try:
                self.parser.feed_data(data)
            except HttpParserUpgrade as upgrade:
                if self._is_offer:
                    data = self._decline() + data[upgrade.args[0] :]
                    continue
                if self._should_upgrade():
                    self.handle_websocket_upgrade()
            except HttpParserError:
                self.logger.warning(_INVALID)
                self.send_400_response(_INVALID)
            break
        if self._whole is not None:
            self._pass_on()

    def _decline(self) -> bytes:
        """Return the head that was read last as one that does not offer to upgrade."""
        self._is_offer = False
        method, version = self.parser.get_method(), self.parser.get_http_version().encode()
        fields = [b"%b: %b\r\n" % field for field in self.headers if field[0] != _UPGRADE]
        return b"%b %b HTTP/%b\r\n%b\r\n" % (method, self.url, version, b"".join(fields))

    def on_message_begin(self) -> None:
        """Begin a request; uvicorn is told when it is known that it has to be."""
        self._is_in_head = True
        if self._kind is None:
            _begin(self)
        else:
            self.url, self.headers, self.expect_100_continue = b"", [], False

    def on_headers_complete(self) -> None:
        """Take a head, unless it is to be read again, or may go to the application directly."""
        self._is_in_head = False
        self._heads += 1
        if self._kind is not None:
            self._whole = self._read_plain_head()
            if self._whole is not None:
                # Whatever follows are trailers.
                self._fields, self.headers = self.headers, []
                return
            self._begin_late(self.headers, expects=self.expect_100_continue)
        self._keep_record()
        is_forwarded = [True for name, _ in self.headers if name in _FORWARDED]
        self.app = self._proxied if is_forwarded else self._direct
        if self._is_answering() and not self.pipeline:
            self._front, self._behind = self.cycle, 0
        if self._is_answering() or self.flow.write_paused:
            self.app = partial(self._begin_when_read, self.app)
        if not self.parser.should_upgrade():
            _take_head(self)
            self.headers = []  # Whatever follows are trailers.
        elif self._should_upgrade() or all(name != _UPGRADE for name, _ in self.headers):
            _take_head(self)
        else:
            self._is_offer = True

    def _read_plain_head(self) -> RequestHeaders | None:
        """Return the headers of a head that asks for nothing but an answer; `None` for others."""
        parser = self.parser
        if (
            self.url != self._endpoint
            or self.expect_100_continue
            or self.pipeline
            or self.flow.write_paused
            or self._is_answering()
            or parser.get_method() != b"POST"
            or parser.get_http_version() != "1.1"
            or parser.should_upgrade()
            or not parser.should_keep_alive()
        ):
            return None
        headers = RequestHeaders(self.headers)
        is_plain = len(headers) == len(self.headers) and headers.keys().isdisjoint(_FORWARDED)
        return headers if is_plain else None

    def _pass_on(self) -> None:
        """Have uvicorn take what has come of a request that cannot be answered directly."""
        self._whole = None
        self._begin_late(self._fields, expects=False)
        self.app = self._direct
        _take_head(self)
        # Trailers may have changed the parser's mind.
        self.cycle.keep_alive = True
        self.headers = []
        for piece in self._pieces:
            _take_body(self, piece)
        self._pieces.clear()

    def _begin_late(self, fields: list[tuple[bytes, bytes]], *, expects: bool) -> None:
        """Have uvicorn begin a request whose head has been read."""
        url = self.url
        _begin(self)
        self.url, self.expect_100_continue = url, expects
        self.headers.extend(fields)

    async def _begin_when_read(self, application: Any, *request: Any) -> None:
        """Begin a request when the answers before it have been read: its own would only wait."""
        await self.flow.drain()
        await application(*request)

    def on_body(self, body: bytes) -> None:
        """Take a piece of a body: the head before it is done with."""
        self._unparsed = 0
        if self._whole is None:
            _take_body(self, body)
        else:
            self._pieces.append(body)

    def on_message_complete(self) -> None:
        """Take the end of a request: whatever follows is another one."""
        self._unparsed = 0
        if self._whole is not None and self._kind is not None:
            if self._answer_directly(self._whole, self._kind):
                return
            self._pass_on()
        if not self._is_offer:
            _take_end(self)

    def _answer_directly(self, headers: RequestHeaders, kind: type[RequestResponseCycle]) -> bool:
        """Have the application answer a request that has come whole, if it does so directly."""
        hosted = cast("HttpApplication", self._hosted)
        pieces = self._pieces
        body = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        request = DirectRequest(self, kind)
        answering = hosted.answer_directly(request, headers, body, self.server, self.client)
        if answering is None:
            return False
        self._whole, self.direct_request = None, request
        pieces.clear()
        task = self.loop.create_task(request.run(answering))
        task.add_done_callback(self.tasks.discard)
        self.tasks.add(task)
        return True

    def on_response_complete(self) -> None:
        """Go on as uvicorn does, but keep the connection without a timer of its own."""
        if self.pipeline or self.transport.is_closing():
            self._front = self.pipeline[-1][0] if self.pipeline else None
            super().on_response_complete()
            return
        self.server_state.total_requests += 1
        self.flow.resume_reading()
        self.watch.kept.keep(self)

    def look(self, now: float) -> None:
        """Give the connection up if its peer has owed us the same thing for too long."""
        if self._refused:
            return
        owed = self._owed_by_peer()
        if owed != self._owed:
            self._owed, self._since = owed, now
        elif owed is not None and now - self._since >= self.patience:
            self.loop.call_later(GLANCE, self._give_up, owed)

    def _give_up(self, owed: tuple[str, object]) -> None:
        """End the connection if its peer still owes us that, and has not owed anything else."""
        if self._refused or owed != self._owed or owed != self._owed_by_peer():
            return
        if owed[0] == "request" and self._is_in_head:
            self._refuse(408, f"No whole request came within {self.patience:g} seconds")
        else:
            self.transport.abort()

    def _owed_by_peer(self) -> tuple[str, object] | None:
        """Return what has to come from the peer before anything can go on, if that is so."""
        if self.unread:
            return "reading", self.unread
        if self.transport.is_closing():
            return "closing", None
        if self._is_answering():
            return None  # The application sees to bodies, and to answers.
        return "request", self._heads

    def _is_answering(self) -> bool:
        """Tell whether a request has come whose answer is not complete."""
        last = cast("RequestResponseCycle | None", self.cycle)
        return self.direct_request is not None or (last is not None and not last.response_complete)

    def _refuse(self, status: int, reason: str) -> None:
        """Say why nothing more is read, if nothing else is being said, and end the connection."""
        if self._is_answering():
            self.transport.abort()
            return
        self._refused = True
        self._unparsed = self._longest_head
        body = encode_error(None, INVALID_REQUEST, reason)
        self.transport.write(
            b"HTTP/1.1 %d %b\r\ncontent-type: application/json\r\n"
            b"content-length: %d\r\nconnection: close\r\n\r\n%b"
            % (status, HTTPStatus(status).phrase.encode(), len(body), body)
        )
        self.transport.write_eof()
        self.loop.call_later(_LINGER, self.transport.abort)
