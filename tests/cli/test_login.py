"""`--login` and `logout`: a person signs in at a terminal, once."""

from __future__ import annotations

import asyncio
import json
import socket
import stat
import threading
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, TypeAlias
from urllib.request import urlopen

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.errors import PasswordDeleteError
from locked_server import World, locked_server
from patience import PATIENCE

Run: TypeAlias = Callable[..., Any]


@pytest.fixture
def world() -> Generator[World]:
    """Serve a world from another thread: the program has an event loop of its own."""
    ready, over = threading.Event(), threading.Event()
    worlds: list[World] = []

    async def serve() -> None:
        async with locked_server() as made:
            worlds.append(made)
            ready.set()
            await asyncio.to_thread(over.wait, PATIENCE)

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    assert ready.wait(PATIENCE)
    try:
        yield worlds[0]
    finally:
        over.set()
        thread.join()


class Browser:
    """Visits what it is told to, in a thread of its own."""

    def __init__(self) -> None:
        self.visits: list[str] = []
        self._threads: list[threading.Thread] = []

    def open(self, url: str) -> bool:
        self.visits.append(url)
        self._threads.append(threading.Thread(target=lambda: urlopen(url).close()))
        self._threads[-1].start()
        return True

    def close(self) -> None:
        for thread in self._threads:
            thread.join()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the program a home without a keyring, at this machine."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    monkeypatch.delenv("SSH_CONNECTION", raising=False)
    keyring.core.init_backend()
    return tmp_path


@pytest.fixture
def browser(monkeypatch: pytest.MonkeyPatch, home: Path) -> Generator[Browser]:
    """Put a browser on a screen."""
    made = Browser()
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr("anyshape.cli.login.webbrowser.open", made.open)
    yield made
    made.close()


def test_a_person_signs_in_once_and_out_again(
    run: Run, world: World, browser: Browser, home: Path
) -> None:
    first = run("call", world.url, "open", "--login", "-r", "2026-07-28")
    assert (first.code, first.out) == (0, "in\n")
    assert "Sign in at 127.0.0.1, in the browser" in first.err
    again = run("call", world.url, "open", "--login", "-r", "2026-07-28")
    assert (again.code, again.out, again.err) == (0, "in\n", "")
    assert len(browser.visits) == 1
    kept = home / "anyshape" / "tokens.json"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert "secret-access" in kept.read_text()
    out = run("logout", world.url)
    assert (out.code, out.err) == (0, f"Signed out of {world.url}.\n")
    assert "secret-" not in kept.read_text()
    nobody = run("logout", world.url)
    assert nobody.code == 1
    assert "hint: " in nobody.err
    assert run("logout", world.url, "--json").data == {"url": world.url, "signedOut": False}


def test_signing_out_ends_the_tokens_where_that_can_be_done(
    run: Run, world: World, browser: Browser
) -> None:
    world.metadata["revocation_endpoint"] = f"{world.issuer}/revoke"
    assert run("tools", world.url, "--login", "-r", "2026-07-28").code == 0
    assert run("logout", world.url, "--json").data["signedOut"] is True
    hints = [sent["token_type_hint"] for sent in world.paths("/as/revoke")]
    assert hints == ["refresh_token", "access_token"]


def test_a_client_that_was_registered_by_hand_is_taken_from_the_environment(
    run: Run, world: World, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    del world.metadata["registration_endpoint"]
    world.metadata["revocation_endpoint"] = f"{world.issuer}/revoke"
    words = ("tools", world.url, "--login", "-r", "2026-07-28")
    refused = run(*words)
    assert refused.code == 3
    assert "ANYSHAPE_CLIENT_ID" in refused.err
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    monkeypatch.setenv("ANYSHAPE_CLIENT_ID", "by-hand")
    monkeypatch.setenv("ANYSHAPE_LOGIN_PORT", str(port))
    assert run(*words).code == 0
    (visit,) = world.paths("/as/authorize")
    assert visit["client_id"] == "by-hand"
    assert visit["redirect_uri"] == f"http://127.0.0.1:{port}/callback"
    assert run("logout", world.url).code == 0
    assert {sent["client_id"] for sent in world.paths("/as/revoke")} == {"by-hand"}
    monkeypatch.setenv("ANYSHAPE_LOGIN_PORT", "many")
    assert run(*words).code == 2


def test_signing_out_needs_nobody_at_the_other_end(
    run: Run, world: World, browser: Browser
) -> None:
    assert run("tools", world.url, "--login", "-r", "2026-07-28").code == 0
    world.metadata["issuer"] = "https://elsewhere.example"
    assert run("logout", world.url).code == 0


def test_one_sign_in_serves_clients_of_every_age(run: Run, world: World, browser: Browser) -> None:
    shown = run("shapes", world.url, "open", "--login", "--json")
    assert shown.code == 0
    assert shown.data[0]["result"]["content"][0]["text"] == "in"
    assert len(browser.visits) == 1


def test_without_login_nobody_is_asked_and_the_hint_says_how(run: Run, world: World) -> None:
    refused = run("tools", world.url)
    assert refused.code == 3
    assert "--login" in refused.err.split("hint:")[1]
    assert world.paths("/as/authorize") == []


def test_a_refusal_is_one_line_and_a_hint(run: Run, world: World, browser: Browser) -> None:
    world.answer = {"code": "", "error": "access_denied"}
    refused = run("tools", world.url, "--login", "-r", "2026-07-28")
    assert refused.code == 3
    assert "access_denied" in refused.err
    assert "hint: " in refused.err


@pytest.mark.parametrize(
    "words",
    [
        ["tools", "--login", "--", "python", "server.py"],
        ["tools", "server.py", "--login"],
        ["logout", "server.py"],
    ],
)
def test_only_servers_with_a_url_are_signed_in_to(run: Run, words: list[str]) -> None:
    assert run(*words).code == 2


@pytest.mark.parametrize("paste", [True, False])
def test_over_ssh_the_address_is_shown_and_the_answer_may_be_pasted(
    at_terminal: Run, world: World, home: Path, paste: bool
) -> None:
    words = ("call", world.url, "open", "--login", "-r", "2026-07-28")
    terminal = at_terminal(*words, SSH_CONNECTION="10.0.0.1 1 10.0.0.2 22")
    terminal.answer("just wait: ", "\n")  # who presses a key too many is asked again
    terminal.answer("just wait: ", "")
    assert "Open this address in a browser" in terminal.shown
    (address,) = (word for word in terminal.shown.split() if "/authorize?" in word)
    if paste:
        ended = asyncio.run(world.browse(address))
        terminal.answer("", f"{ended}\n")
    else:  # the port was forwarded
        urlopen(address).close()
    assert terminal.finish() == "in\n"


class Ring(KeyringBackend):
    """A keyring in memory."""

    priority = 1  # pyright: ignore[reportAssignmentType]

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        if self.kept.pop((service, username), None) is None:
            raise PasswordDeleteError("nothing there")


def test_the_keyring_of_the_system_is_used_where_there_is_one(
    run: Run, world: World, browser: Browser, home: Path
) -> None:
    ring = Ring()
    before = keyring.get_keyring()
    keyring.set_keyring(ring)
    try:
        assert run("tools", world.url, "--login", "-r", "2026-07-28").code == 0
        assert ("anyshape", f"token {world.url}") in ring.kept
        saved = json.loads(ring.kept["anyshape", f"token {world.url}"])
        assert saved["issuer"] == world.issuer
        assert run("logout", world.url).code == 0
        assert ("anyshape", f"token {world.url}") not in ring.kept
        assert list(home.iterdir()) == []
    finally:
        keyring.set_keyring(before)
