"""The listener on loopback that takes the answer of a browser."""

from __future__ import annotations

import asyncio
import logging
import socket
import threading
from collections.abc import Callable
from http.client import HTTPConnection
from urllib.parse import parse_qs, urlsplit
from urllib.request import urlopen

import pytest
from locked_server import World
from patience import PATIENCE

from anyshape import Client
from anyshape.client.auth import LoopbackLogin, OAuth
from anyshape.errors import AuthorizationError

REVISION = "2026-07-28"


class Browser:
    """Opens a page as a browser does: elsewhere, and without being waited for."""

    def __init__(self, before: Callable[[str], object] = lambda url: None) -> None:
        self.pages: list[str] = []
        self._before = before
        self._threads: list[threading.Thread] = []

    def open(self, url: str) -> bool:
        self._threads.append(threading.Thread(target=self._visit, args=(url,)))
        self._threads[-1].start()
        return True

    def _visit(self, url: str) -> None:
        self._before(url)
        with urlopen(url) as page:
            self.pages.append(page.read().decode())

    async def close(self) -> None:
        for thread in self._threads:
            await asyncio.to_thread(thread.join)


def listener_of(url: str) -> tuple[str, int, str]:
    """Return host, port and path of the listener that a browser is to end at."""
    back = urlsplit(parse_qs(urlsplit(url).query)["redirect_uri"][0])
    assert back.hostname is not None
    assert back.port is not None
    return back.hostname, back.port, back.path


async def _ignore(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.close()


async def enter(world: World, auth: OAuth) -> str:
    async with Client(world.url, revision=REVISION, auth=auth) as client:
        return await client.call("open")


async def test_a_browser_is_opened_and_its_answer_is_taken(world: World) -> None:
    browser = Browser()
    auth = OAuth(authorize=LoopbackLogin(open_browser=browser.open))
    assert await enter(world, auth) == "in"
    await browser.close()
    assert "signed in" in browser.pages[0]
    (visit,) = world.paths("/as/authorize")
    assert visit["redirect_uri"].startswith("http://127.0.0.1:")
    assert world.paths("/as/register")[0]["redirect_uris"] == [visit["redirect_uri"]]


async def test_what_is_not_the_answer_changes_nothing_and_is_not_repeated(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    answers: list[tuple[int, str]] = []

    def disturb(url: str) -> None:
        host, port, path = listener_of(url)
        for method, place in [
            ("GET", f"{path}?code=stolen&state=guessed"),
            ("GET", f"{path}?code=stolen"),
            ("GET", f"{path}?code=a&state=%FF"),
            ("GET", path),
            ("GET", "/favicon.ico"),
            ("GET", "/<script>alert(1)</script>"),
            ("POST", f"{path}?code=stolen&state=guessed"),
            ("GET", "//evil.example/"),
            ("GET", path + "?" + "&".join(f"name{number}=1" for number in range(100))),
        ]:
            connection = HTTPConnection(host, port)
            connection.request(method, place)
            response = connection.getresponse()
            assert response.getheader("Location") is None
            answers.append((response.status, response.read().decode()))
            connection.close()

    browser = Browser(disturb)
    assert await enter(world, OAuth(authorize=LoopbackLogin(open_browser=browser.open))) == "in"
    await browser.close()
    assert {status for status, _ in answers} == {400, 404}
    assert len({text for _, text in answers}) == 1
    assert world.paths("/as/token")[0]["code"] != "stolen"
    assert caplog.text == ""


@pytest.mark.parametrize("sent", [b"", b"GET /callback", b"\x00" * 40_000, b"\r\n\r\n"])
async def test_a_visitor_that_speaks_no_http_is_hung_up_on(world: World, sent: bytes) -> None:
    def disturb(url: str) -> None:
        host, port, _ = listener_of(url)
        with socket.create_connection((host, port)) as visitor:
            visitor.sendall(sent)

    browser = Browser(disturb)
    assert await enter(world, OAuth(authorize=LoopbackLogin(open_browser=browser.open))) == "in"
    await browser.close()


async def test_a_connection_that_a_browser_has_ready_does_not_hold_the_login_up(
    world: World,
) -> None:
    visitors: list[socket.socket] = []

    def prepare(url: str) -> None:
        host, port, _ = listener_of(url)
        visitors.append(socket.create_connection((host, port)))

    browser = Browser(prepare)
    async with asyncio.timeout(PATIENCE):
        assert await enter(world, OAuth(authorize=LoopbackLogin(open_browser=browser.open))) == "in"
    await browser.close()
    with visitors[0] as visitor:
        assert await asyncio.to_thread(visitor.recv, 1) == b""


async def test_a_refusal_is_told_to_the_person_and_to_the_program(world: World) -> None:
    world.answer = {"code": "", "error": "access_denied"}
    browser = Browser()
    with pytest.raises(AuthorizationError, match="access_denied") as caught:
        await enter(world, OAuth(authorize=LoopbackLogin(open_browser=browser.open)))
    await browser.close()
    assert caught.value.error == "access_denied"
    assert "did not work" in browser.pages[0]


async def test_a_second_login_comes_back_to_the_same_address(world: World) -> None:
    browser = Browser()
    auth = OAuth(authorize=LoopbackLogin(open_browser=browser.open))
    for _ in range(2):
        assert await enter(world, auth) == "in"
        world.tokens.clear()
        world.refresh_tokens.clear()
        await browser.close()
    one, two = (visit["redirect_uri"] for visit in world.paths("/as/authorize"))
    assert one == two
    assert len(world.paths("/as/register")) == 1


async def test_a_port_that_is_taken_leads_to_another_and_a_new_registration(world: World) -> None:
    browser = Browser()
    auth = OAuth(authorize=LoopbackLogin(open_browser=browser.open))
    assert await enter(world, auth) == "in"
    world.tokens.clear()
    world.refresh_tokens.clear()
    await browser.close()
    port = urlsplit(str(world.paths("/as/authorize")[0]["redirect_uri"])).port
    taken = await asyncio.start_server(_ignore, "127.0.0.1", port)
    async with taken:
        assert await enter(world, auth) == "in"
    await browser.close()
    assert len(world.paths("/as/register")) == 2


async def test_a_fixed_port_that_is_taken_is_an_error(world: World) -> None:
    taken = await asyncio.start_server(_ignore, "127.0.0.1", 0)
    async with taken:
        port = taken.sockets[0].getsockname()[1]
        with pytest.raises(AuthorizationError, match=f"127.0.0.1:{port}"):
            await enter(world, OAuth(redirect_uri=f"http://127.0.0.1:{port}/callback"))


async def test_without_a_browser_the_address_is_logged_and_may_be_answered_by_hand(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)

    async def paste() -> str:
        address = caplog.messages[-1].rpartition(" ")[2]
        return f" {await world.browse(address)}\n"

    login = LoopbackLogin(open_browser=lambda url: False, paste=paste)
    assert await enter(world, OAuth(authorize=login)) == "in"


@pytest.mark.parametrize(
    "pasted",
    ["", "code", "http://[", "https://elsewhere.example/callback?code=1", "?a=1" + "&a=1" * 99],
)
async def test_what_is_pasted_and_no_answer_is_an_error_that_says_so(
    world: World, pasted: str
) -> None:
    async def paste() -> str:
        return pasted

    login = LoopbackLogin(open_browser=lambda url: True, paste=paste)
    with pytest.raises(AuthorizationError, match="the answer"):
        await enter(world, OAuth(authorize=login))
    assert world.paths("/as/token") == []


async def test_the_end_of_input_gives_a_login_up(world: World) -> None:
    async def paste() -> str:
        raise EOFError

    login = LoopbackLogin(open_browser=lambda url: True, paste=paste)
    with pytest.raises(AuthorizationError, match="given up"):
        await enter(world, OAuth(authorize=login))
