"""Being told of changes, for as long as a server tells; lifetimes of lists cover the rest.

A stateless server is asked with `subscriptions/listen`
(https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions); one with a
handshake tells by itself, over HTTP on a stream that has to be opened.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import Any, Final

import msgspec

from anyshape.client.channel import Channel
from anyshape.client.question import Question
from anyshape.client.transports.transport import ConnectionLost
from anyshape.errors import AnyshapeError

__all__ = ["Listening"]

logger = logging.getLogger(__name__)

_encode: Final = msgspec.json.Encoder().encode


class Listening:
    """The stream on which one server tells of changes."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._wanted: dict[str, Any] = {}
        self._stream: asyncio.Task[None] | None = None

    async def start(self, wanted: str) -> None:
        """Ask to be told of one kind of change; `wanted` is a member of the filter.

        This comes before the list is asked for, so that no change goes unheard in between.
        """
        if self._stream is None:
            self._wanted[wanted] = True
            self._stream = asyncio.get_running_loop().create_task(self._hear())
            await asyncio.sleep(0)

    async def stop(self) -> None:
        """Hear no more."""
        stream, self._stream = self._stream, None
        if stream is not None:
            stream.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await stream

    async def _hear(self) -> None:
        lifecycle = self._channel.agreed()
        try:
            if lifecycle.stateful:
                ended = await self._channel.transport.overhear(lifecycle.headers(""))
            else:
                members = b'"notifications":%b' % _encode(self._wanted)
                question = Question("subscriptions/listen", members, repeatable=True)
                await self._channel.ask(lifecycle, question, endless=True)
                ended = True
            if ended:
                self._stream = None
        except ConnectionLost:
            # The next listing asks again; a server that refused is not asked twice.
            self._stream = None
        except AnyshapeError:
            pass
        except Exception:
            logger.exception("could not listen for changes")
