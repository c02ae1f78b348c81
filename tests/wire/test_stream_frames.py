"""Golden frames of streams over HTTP: one session at every revision, byte by byte.

`streams/<revision>.txt` holds each request with the response as it is on the wire; what differs
from run to run (names of streams, positions) is written `<stream>` and `<position>`. After a change
that is meant, run with `ANYSHAPE_WRITE_FRAMES=1` and review the difference.
"""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest
from tests.server.browsing import Browser, Response

from anyshape import Context, Server
from anyshape.protocol.revision import Revision

from .golden import expect_text

HERE = Path(__file__).parent / "streams"
WITH_SESSIONS = [revision for revision in Revision if not revision.is_modern]
_NAMES = ((rb"(?<=id: r\.)[\w-]+", b"<stream>"), (rb"(?<=id: n\.)[\d.]+\.[\w-]+", b"<position>"))


def golden_server(goes_on: asyncio.Event) -> Server:
    server = Server("golden", version="1.0.0")

    @server.resource("golden://notes")
    def notes() -> str:
        return "notes"

    @server.tool
    async def work(context: Context) -> str:
        context.progress(1, 2, "begun")
        context.hang_up()
        await goes_on.wait()
        context.progress(2, 2, "ended")
        return "done"

    return server


async def frames(revision: Revision) -> str:
    """Return all that a session of a revision is sent on its streams."""
    goes_on = asyncio.Event()
    server = golden_server(goes_on)
    written: list[tuple[str, Response]] = []
    async with Browser(server.asgi(), str(revision)) as browser:
        await browser.ask("resources/subscribe", uri="golden://notes")
        news = await browser.listen()
        server.resource_changed("golden://notes")
        await news.heard()
        server.remove_resource("golden://notes")
        await news.heard(2)
        written.append(("GET", news))

        meta = {"progressToken": "p"}
        call = browser.post("tools/call", id=7, name="work", arguments={}, _meta=meta)
        await call.heard()
        written.append(("POST tools/call", call))
        if revision.has_empty_events:
            await call.over()
        if revision.has_event_ids:
            await call.hang_up()
            rest = await browser.listen(last_event_id=call.last_id)
            goes_on.set()
            written.append(("GET Last-Event-ID: of the last event of the call", await rest.over()))
            stale = await browser.listen(last_event_id="r.unknown.1")
            written.append(("GET Last-Event-ID: r.unknown.1", stale))
        goes_on.set()
        if not revision.has_event_ids:
            await call.over()
        ended = await browser.end()
        written.append(("DELETE", ended))
        written.append(("GET", await browser.listen()))
    return "\n".join(_show(request, response) for request, response in written)


def _show(request: str, response: Response) -> str:
    body = response.body
    for pattern, name in _NAMES:
        body = re.sub(pattern, name, body)
    kind = response.headers.get("content-type", "no body")
    return f"> {request}\n< {response.status} {kind}\n{body.decode()}\n"


@pytest.mark.parametrize("revision", WITH_SESSIONS, ids=str)
async def test_streams_are_the_golden_ones(revision: Revision) -> None:
    expect_text(HERE / f"{revision}.txt", await frames(revision))


def test_every_revision_with_sessions_has_its_streams() -> None:
    assert {path.stem for path in HERE.glob("*.txt")} == {str(each) for each in WITH_SESSIONS}
