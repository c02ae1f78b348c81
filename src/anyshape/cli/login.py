"""Signing in from a terminal: what is shown, where the answer comes from, where tokens are kept."""

from __future__ import annotations

import os
import sys
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from anyshape.cli import terminal
from anyshape.cli.failure import UsageError
from anyshape.cli.questions import read_line

if TYPE_CHECKING:
    from anyshape.client.auth import OAuth, TokenStorage


def person() -> OAuth:
    """Return the access of whoever sits at this terminal.

    The environment may name a client that was registered by hand, and the port that it is sent back
    to: some authorization servers know no other clients, and compare whole addresses.
    """
    from anyshape.client.auth import LoopbackLogin, OAuth

    paste = read_address if sys.stdin.isatty() and sys.stderr.isatty() else None
    login = LoopbackLogin(port=_port(), open_browser=_open_browser, announce=_announce, paste=paste)
    client_id = os.environ.get("ANYSHAPE_CLIENT_ID") or None
    return OAuth(
        client_id=client_id,
        client_secret=(os.environ.get("ANYSHAPE_CLIENT_SECRET") or None) if client_id else None,
        authorize=login,
        storage=token_storage(),
    )


def _port() -> int:
    text = os.environ.get("ANYSHAPE_LOGIN_PORT", "0")
    if not text.isdecimal() or int(text) > 65535:
        raise UsageError(
            f"ANYSHAPE_LOGIN_PORT is {text!r}, no port",
            hint="the port of the address that the client is registered with, or nothing",
        )
    return int(text)


def token_storage() -> TokenStorage:
    """Return the system's keyring, or else a file that only the owner can read."""
    from anyshape.client.auth import FileStorage

    try:
        from anyshape.client.auth.keyring_storage import KeyringStorage
    except ImportError:
        pass
    else:
        # The keyring of Windows has no room for most tokens.
        if os.name != "nt" and KeyringStorage.is_available():
            return KeyringStorage()
    return FileStorage(Path(typer.get_app_dir("anyshape")) / "tokens.json")


def _open_browser(url: str) -> bool:
    """Open a browser where there is a screen; one in this terminal would be in the way."""
    if "SSH_CONNECTION" in os.environ:
        return False
    screens = ("DISPLAY", "WAYLAND_DISPLAY")
    if sys.platform == "linux" and not any(os.environ.get(name) for name in screens):
        return False
    return webbrowser.open(url)


def _announce(url: str, opened: bool) -> None:
    host = terminal.host_of(url)
    if opened:
        terminal.say(f"Sign in at {host}, in the browser that has just opened:")
    else:
        terminal.say(f"Open this address in a browser to sign in at {host}:")
    terminal.say(f"  {url}")


async def read_address() -> str:
    """Return the address that a browser on another machine ended at, pasted here."""
    terminal.say("If the browser is on another machine, it ends at a page that it cannot show.")
    while not (address := await read_line("Paste the address of that page here, or just wait: ")):
        pass
    return address
