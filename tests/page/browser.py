"""A real browser, driven by its own protocol: Chromium, as Debian packages it, and aiohttp.

https://chromedevtools.github.io/devtools-protocol/ is a stable interface, and all that is needed of
it is to open a page, run JavaScript in it, press keys and take pictures; so there is no driver
program, and no package, between these tests and the browser.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import itertools
import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import AsyncGenerator, Generator
from typing import Any

import aiohttp
from patience import PATIENCE

__all__ = ["Browser", "Page", "launched"]

_SWITCHES = (
    "--headless=new",
    "--remote-debugging-port=0",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-extensions",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--mute-audio",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--no-sandbox",  # there is none for root in a container; it opens nothing but our own page
)


def _find_chromium() -> str:
    for name in ("chromium", "google-chrome"):
        found = shutil.which(name)
        if found is not None:
            return found
    raise AssertionError("chromium is missing; apt-get install chromium")


@contextlib.contextmanager
def launched() -> Generator[Browser]:
    """Run one browser, with a profile of its own, for as long as the block runs."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [_find_chromium(), *_SWITCHES, f"--user-data-dir={profile}", "about:blank"]
        with subprocess.Popen(
            command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL
        ) as process:
            try:
                yield Browser(_address(process))
            finally:
                process.terminate()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(PATIENCE)
                process.kill()


def _address(process: subprocess.Popen[bytes]) -> str:
    assert process.stderr is not None
    said: list[bytes] = []
    for line in process.stderr:
        said.append(line)
        found = re.search(rb"DevTools listening on (ws://\S+)", line)
        if found:
            return found[1].decode()
    raise RuntimeError(f"Chromium did not start: {b''.join(said).decode(errors='replace')}")


class Browser:
    """One running browser; every page has its own storage, as in a private window."""

    def __init__(self, address: str) -> None:
        self._address = address

    @contextlib.asynccontextmanager
    async def page(
        self, url: str, *, width: int = 1280, height: int = 860, scheme: str = "light"
    ) -> AsyncGenerator[Page]:
        """Open an address, and close it after the block."""
        async with (
            aiohttp.ClientSession() as session,
            session.ws_connect(self._address, max_msg_size=0) as socket,
        ):
            wire = _Wire(socket)
            listening = asyncio.ensure_future(wire.listen())
            context = (await wire.ask("Target.createBrowserContext"))["browserContextId"]
            try:
                made = await wire.ask(
                    "Target.createTarget", url="about:blank", browserContextId=context
                )
                attached = await wire.ask(
                    "Target.attachToTarget", targetId=made["targetId"], flatten=True
                )
                page = Page(wire, attached["sessionId"])
                for domain in ("Page", "Runtime", "Log", "Accessibility"):
                    await page.ask(f"{domain}.enable")
                await page.size(width, height)
                await page.ask(
                    "Emulation.setEmulatedMedia",
                    features=[
                        {"name": "prefers-color-scheme", "value": scheme},
                        {"name": "prefers-reduced-motion", "value": "reduce"},
                    ],
                )
                await page.ask("Page.navigate", url=url)
                yield page
            finally:
                await wire.ask("Target.disposeBrowserContext", browserContextId=context)
                listening.cancel()
                await asyncio.gather(listening, return_exceptions=True)


class _Wire:
    """The protocol itself: commands with their answers, and what the page complains about."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._ids = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self.complaints: list[str] = []

    async def ask(self, method: str, session: str | None = None, **params: Any) -> dict[str, Any]:
        id = next(self._ids)
        answer = self._waiting[id] = asyncio.get_running_loop().create_future()
        message = {"id": id, "method": method, "params": params}
        await self._socket.send_str(
            json.dumps(message | ({"sessionId": session} if session else {}))
        )
        return await asyncio.wait_for(answer, PATIENCE)

    async def listen(self) -> None:
        async for message in self._socket:
            told = json.loads(message.data)
            if "id" in told:
                waiting = self._waiting.pop(told["id"])
                if waiting.done():
                    continue
                if "error" in told:
                    waiting.set_exception(RuntimeError(str(told["error"])))
                else:
                    waiting.set_result(told["result"])
            elif told["method"] == "Runtime.exceptionThrown":
                self.complaints.append(json.dumps(told["params"]["exceptionDetails"])[:2000])
            elif told["method"] == "Log.entryAdded" and told["params"]["entry"]["level"] == "error":
                entry = told["params"]["entry"]
                self.complaints.append(f"{entry['text']} {entry.get('url', '')}")
            elif told["method"] == "Page.javascriptDialogOpening":
                self.complaints.append(f"dialog: {told['params']['message']}")


_KEYS = {
    "Enter": {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"},
    "Tab": {"key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9},
    "Escape": {"key": "Escape", "code": "Escape", "windowsVirtualKeyCode": 27},
    "Space": {"key": " ", "code": "Space", "windowsVirtualKeyCode": 32, "text": " "},
    "Backspace": {"key": "Backspace", "code": "Backspace", "windowsVirtualKeyCode": 8},
    "ArrowDown": {"key": "ArrowDown", "code": "ArrowDown", "windowsVirtualKeyCode": 40},
    "ArrowUp": {"key": "ArrowUp", "code": "ArrowUp", "windowsVirtualKeyCode": 38},
    "ArrowRight": {"key": "ArrowRight", "code": "ArrowRight", "windowsVirtualKeyCode": 39},
    "/": {"key": "/", "code": "Slash", "windowsVirtualKeyCode": 191, "text": "/"},
}


class Page:
    """One page, as a person has it: looked at, clicked, typed into."""

    def __init__(self, wire: _Wire, session: str) -> None:
        self._wire = wire
        self._session = session

    @property
    def complaints(self) -> list[str]:
        """Everything the page failed at: exceptions, refused loads, broken policies, dialogs."""
        return self._wire.complaints

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        return await self._wire.ask(method, self._session, **params)

    async def size(self, width: int, height: int) -> None:
        await self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )

    async def run(self, code: str) -> Any:
        """Return what a JavaScript expression comes to."""
        answer = await self.ask(
            "Runtime.evaluate", expression=code, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in answer:
            raise AssertionError(json.dumps(answer["exceptionDetails"])[:1000])
        return answer["result"].get("value")

    async def until(self, condition: str) -> Any:
        """Wait until a JavaScript expression is true, and return it; the page itself waits."""
        code = f"""new Promise((done, fail) => {{
            const end = Date.now() + {PATIENCE * 1000};
            const look = () => {{
                let found;
                try {{ found = {condition}; }} catch (error) {{ found = false; }}
                if (found) done(found);
                else if (Date.now() > end) fail(new Error("waited in vain"));
                else setTimeout(look, 15);
            }};
            look();
        }})"""
        try:
            return await self.run(code)
        except AssertionError as error:
            shown = await self.run("document.body.innerText.slice(0, 3000)")
            raise AssertionError(
                f"never true: {condition}\n{error}\ncomplaints: {self.complaints}\n{shown}"
            ) from None

    async def see(self, text: str, within: str = "body") -> None:
        """Wait until a text is shown."""
        await self.until(
            f"document.querySelector({json.dumps(within)})?.innerText.includes({json.dumps(text)})"
        )

    async def text(self, selector: str) -> str:
        """Return the text of the first element, as soon as there is one."""
        found = f"document.querySelector({json.dumps(selector)})"
        await self.until(found)
        return await self.run(f"{found}.innerText")

    async def texts(self, selector: str) -> list[str]:
        """Return the texts of all elements that are there now."""
        found = f"document.querySelectorAll({json.dumps(selector)})"
        return await self.run(f"[...{found}].map((each) => each.innerText)")

    async def click(self, selector: str, text: str | None = None) -> None:
        """Click on the middle of an element, the first that has the text."""
        box = await self.until(_box_of(selector, text))
        for kind in ("mousePressed", "mouseReleased"):
            await self.ask(
                "Input.dispatchMouseEvent",
                type=kind,
                x=box["x"],
                y=box["y"],
                button="left",
                clickCount=1,
            )

    async def press(self, key: str, *, ctrl: bool = False) -> None:
        """Press a key, wherever the focus is."""
        known = _KEYS[key]
        event = {**known, "modifiers": 2} if ctrl else known
        await self.ask("Input.dispatchKeyEvent", type="keyDown", **event)
        await self.ask(
            "Input.dispatchKeyEvent",
            type="keyUp",
            **{name: value for name, value in event.items() if name != "text"},
        )

    async def type(self, text: str) -> None:
        """Type a text, wherever the focus is."""
        await self.ask("Input.insertText", text=text)

    async def fill(self, selector: str, text: str) -> None:
        """Put the focus on a field and replace what is in it."""
        found = json.dumps(selector)
        await self.until(f"document.querySelector({found})")
        await self.run(
            f"((field) => {{ field.focus(); field.select(); }})(document.querySelector({found}))"
        )
        if text:
            await self.type(text)
        else:
            await self.press("Backspace")

    async def choose(self, selector: str, option: str) -> None:
        """Choose an option of a list by its text."""
        found = json.dumps(selector)
        wanted = json.dumps(option)
        await self.until(
            f"[...document.querySelector({found}).options].some((each) => each.text === {wanted})"
        )
        await self.run(f"""(() => {{
            const list = document.querySelector({found});
            list.value = [...list.options].find((each) => each.text === {wanted}).value;
            list.dispatchEvent(new Event("change", {{bubbles: true}}));
        }})()""")

    async def named(self, role: str) -> list[str]:
        """Return the names that a screen reader says for everything of a role."""
        tree = await self.ask("Accessibility.getFullAXTree")
        return [
            node.get("name", {}).get("value", "")
            for node in tree["nodes"]
            if not node.get("ignored") and node.get("role", {}).get("value") == role
        ]

    async def picture(self) -> bytes:
        """Return a picture of what is shown, as PNG."""
        shot = await self.ask("Page.captureScreenshot", format="png")
        return base64.b64decode(shot["data"])


def _box_of(selector: str, text: str | None) -> str:
    """Return an expression for the middle of an element, once it stands still to be clicked."""
    return f"""(() => {{
        if (document.querySelector("[aria-busy=true]")) return null; // it may still move
        const all = [...document.querySelectorAll({json.dumps(selector)})];
        const text = {json.dumps(text)};
        const found = all.find((each) => !each.disabled && each.checkVisibility()
            && (text === null || each.textContent.includes(text)));
        if (!found) return null;
        found.scrollIntoView({{block: "center", inline: "center"}});
        const box = found.getBoundingClientRect();
        const at = {{x: box.x + box.width / 2, y: box.y + box.height / 2}};
        const before = window.lastClickable;
        window.lastClickable = {{found, at}};
        const isStill = before?.found === found && before.at.x === at.x && before.at.y === at.y;
        return isStill && found.contains(document.elementFromPoint(at.x, at.y)) ? at : null;
    }})()"""
