"""Take the pictures of the page that README and docs show.

    make screenshots

The demo is looked at in a real browser, so a picture shows what there is; they go to docs/images.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
sys.path[:0] = [str(ROOT / "tests" / "page"), str(ROOT / "tests" / "clock")]

from browser import Browser, Page, launched  # noqa: E402 - its folder had to be named first


async def take(browser: Browser, address: str) -> None:
    """Take every picture."""
    async with browser.page(address, width=1180, height=720) as page:
        await page.see("Choose a tool")
        await page.click("#lists button", "quote_parcel")
        await page.choose("[data-path='/destination'] select", "international")
        await page.fill("[data-path='/kilograms'] input", "31")
        await page.fill("[data-path='/customs_code'] input", "1234")
        await page.see('got "1234"')
        await page.see("2 problems")
        await keep(page, "page-form.png")
        await page.click("#lists button", "get-weather-forecast")
        await page.see("Fits the schema")
        await page.click("main .actions button.primary")
        await page.see("Table")
        await keep(page, "page-call.png")
        await page.click("#lists button", "choose_seat")
        await page.fill("[data-path='/flight'] input", "AS 2106")
        await page.see("Fits the schema")
        await page.click("main .actions button.primary")
        await page.see("Where would you like to sit?", "dialog[open]")
        await page.see("To be filled in", "dialog")
        await keep(page, "page-question.png")
        await page.press("Escape")
        await page.click("#lists button", "get-count")
        await page.click("[data-tab=compare]")
        await page.see("natural", ".compare")
        await page.click("button", "Call it once per revision")
        await page.see('"result": 42', ".compare")
        await page.run("document.querySelector('main').scrollTop = 0")
        await keep(page, "page-revisions.png")
    async with browser.page(address, width=1180, height=720, scheme="dark") as page:
        await page.see("Choose a tool")
        await page.click("#lists button", "find-by-id-or-name")
        await page.click("[data-tab=compare]")
        await page.see("openai", ".providers")
        await page.click(".provider", "gemini-json")
        await page.run("document.querySelectorAll('.compare h2')[1].scrollIntoView()")
        await keep(page, "page-providers.png")
    async with browser.page(address, width=400, height=720) as page:
        await page.see("Choose a tool")
        await page.click("#menu")
        await page.click("#lists button", "find-by-id-or-name")
        await page.click(".alternatives label", "with name")
        await page.fill("[data-path='/name'] input", "Ada")
        await page.see("Fits the schema")
        await keep(page, "page-narrow.png")


async def keep(page: Page, name: str) -> None:
    """Take one picture, with nothing in it that blinks."""
    await page.run("document.activeElement.blur()")
    (IMAGES / name).write_bytes(await page.picture())


def main() -> None:
    """Run the demo and a browser, and take the pictures."""
    IMAGES.mkdir(exist_ok=True)
    program = Path(sys.executable).parent / "anyshape"
    command = [program, "demo", "--port", "0", "--json"]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as demo,
        launched() as browser,
    ):
        assert demo.stdout is not None
        try:
            asyncio.run(take(browser, json.loads(demo.stdout.readline())["page"]))
        finally:
            demo.terminate()


if __name__ == "__main__":
    main()
