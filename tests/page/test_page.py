"""The page in a real browser, as a person uses it: what is shown, filled in, called, compared."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from browser import Browser, Page

Inspect: TypeAlias = Callable[..., str]
ROOT = Path(__file__).resolve().parent.parent.parent
ASKING = ROOT / "tests" / "cli" / "asking_server.py"
EXAMPLES = ROOT / "examples"


@pytest.fixture
async def page(browser: Browser, shapes: str) -> AsyncGenerator[Page]:
    """Open the page on the server with every shape; nothing on it may go wrong unseen."""
    async with browser.page(shapes) as opened:
        await opened.see("Choose a tool")
        yield opened
        assert opened.complaints == []


async def open_tool(page: Page, name: str) -> None:
    await page.click("#lists button", name)
    await page.see(name, "main h1")


async def json_of(page: Page) -> Any:
    return json.loads(await page.run("document.querySelector('.json textarea').value"))


def value_of(path: str) -> str:
    """Return the expression for what is in the field at a path."""
    return f"document.querySelector('[data-path=\"{path}\"] input')?.value"


async def call(page: Page) -> None:
    await page.click("main .actions button.primary")


# The list.


async def test_everything_the_server_lists_is_there_and_can_be_searched(page: Page) -> None:
    assert "Every shape" in await page.text(".who")
    assert "1.2.3 · revision 2026-07-28 · shapes_server.py" in await page.text("#facts")
    headings = await page.run(
        "[...document.querySelectorAll('#lists h2')].map((each) => each.innerText)"
    )
    assert [text.split()[0] for text in headings] == ["Tools", "Prompts", "Resources", "Templates"]
    await page.fill("#search", "never end")
    shown = "[...document.querySelectorAll('#lists li')].filter((row) => row.checkVisibility())"
    await page.until(f"{shown}.length === 1")
    assert "wait_for_ever" in await page.run(f"{shown}[0].innerText")


async def test_the_keyboard_reaches_a_tool_calls_it_and_moves_between_its_views(page: Page) -> None:
    await page.press("/")
    assert await page.run("document.activeElement.id") == "search"
    await page.type("people")
    await page.press("ArrowDown")
    await page.press("Enter")
    await page.see("Fits the schema")
    await page.run("document.querySelector('.json textarea').focus()")
    await page.press("Enter", ctrl=True)
    await page.see("Grace", ".outcome")
    await page.run("document.querySelector('[role=tab][aria-selected=true]').focus()")
    await page.press("ArrowRight")
    await page.see("Clients of each revision")
    assert await page.run("document.activeElement.innerText") == "Side by side"


async def test_a_screen_reader_hears_what_every_control_is(page: Page) -> None:
    await open_tool(page, "echo")
    await page.see("Fits the schema")
    assert await page.named("heading") == [
        *("Tools 11 tokens", "Prompts 1", "Resources 2", "Templates 1"),
        "echo",
    ]
    fields = await page.named("textbox")
    assert {"long", "count", "JSON", "either"} <= set(fields)
    assert "" not in fields
    assert "" not in await page.named("button")
    assert await page.named("tab") == ["Call", "Side by side", "Schemas"]


async def test_connecting_again_keeps_what_is_open(page: Page) -> None:
    await open_tool(page, "area")
    await page.fill(".json textarea", '{"unit": "m"}')
    await page.until("location.hash.includes('unit')")
    await page.click("#anew")
    await page.see("Connected again: 11 tools, 0 refused.")
    await page.see("area", "main h1")
    await page.until("document.querySelector('[data-path=\"/unit\"] select')?.value === '1'")


# The form.


async def test_an_alternative_shows_its_own_fields_and_takes_away_those_of_the_other(
    page: Page,
) -> None:
    await open_tool(page, "area")
    await page.see("Circle")
    await page.until("document.querySelector('[data-path=\"/shape/radius\"] input')")
    await page.fill("[data-path='/shape/radius'] input", "2")
    await page.see("Fits the schema")
    assert await json_of(page) == {"shape": {"kind": "circle", "radius": 2}}
    await page.click(".alternatives label", "Rectangle")
    await page.until("document.querySelector('[data-path=\"/shape/width\"] input')")
    assert await json_of(page) == {"shape": {"kind": "rectangle"}}
    assert await page.run("document.querySelector('[data-path=\"/shape/radius\"]')") is None
    await page.fill("[data-path='/shape/width'] input", "3")
    await page.fill("[data-path='/shape/height'] input", "4.5")
    await page.see("Fits the schema")
    await call(page)
    await page.see("13.5", ".outcome .value")


async def test_what_is_filled_in_while_an_alternative_is_being_made_is_not_lost(
    page: Page,
) -> None:
    await open_tool(page, "area")
    await page.until("document.querySelector('[data-path=\"/unit\"] select')")
    await page.run("""(() => {
        [...document.querySelectorAll(".alternatives label")][1].click();
        const unit = document.querySelector('[data-path="/unit"] select');
        unit.value = "1";
        unit.dispatchEvent(new Event("change"));
    })()""")
    await page.until("document.querySelector('[data-path=\"/shape/width\"]')")
    await page.until("document.querySelector('.json textarea').value.includes('unit')")
    assert await json_of(page) == {"shape": {"kind": "rectangle"}, "unit": "m"}


async def test_a_condition_opens_and_closes_a_field(page: Page) -> None:
    await open_tool(page, "send_parcel")
    await page.choose("[data-path='/destination'] select", "domestic")
    await page.until("!document.querySelector('[data-path=\"/customs_code\"]')")
    await page.choose("[data-path='/destination'] select", "international")
    await page.until("document.querySelector('[data-path=\"/customs_code\"]')")
    await page.fill("[data-path='/kilograms'] input", "2")
    await page.see('missing required property "customs_code"', "[data-path='/customs_code']")
    await page.fill("[data-path='/customs_code'] input", "123456")
    await page.see("Fits the schema")
    assert await json_of(page) == {
        "destination": "international",
        "kilograms": 2,
        "customs_code": "123456",
    }


async def test_what_is_wrong_is_said_at_its_place_while_typing_and_can_be_sent_all_the_same(
    page: Page,
) -> None:
    await open_tool(page, "send_parcel")
    await page.choose("[data-path='/destination'] select", "domestic")
    await page.fill("[data-path='/kilograms'] input", "31")
    place = "[data-path='/kilograms']"
    await page.see("expected a number > 0 and ≤ 30, got 31", place)
    invalid = f'document.querySelector("{place} input").getAttribute("aria-invalid")'
    assert await page.run(invalid) == "true"
    assert await page.run("document.activeElement.closest('.field').dataset.path") == "/kilograms"
    await page.fill(f"{place} input", "many")
    await page.see('got "many" (a string)', place)
    await call(page)
    await page.see("the tool failed", ".outcome")
    await page.see("many", ".outcome")
    await page.fill(f"{place} input", "3")
    await page.see("Fits the schema")
    assert await page.run(invalid) == "false"


async def test_form_and_json_stay_in_step_in_both_directions(page: Page) -> None:
    await open_tool(page, "echo")
    given = {"names": ["Ada"], "prices": {"tea": 2.5}, "either": None, "sure": True}
    await page.fill(".json textarea", json.dumps(given))
    await page.until(f"{value_of('/names/0')} === 'Ada'")
    await page.until(f"{value_of('/prices/tea')} === '2.5'")
    await page.click("[data-path='/names'] button", "Add an item")
    await page.see("2 characters", "[data-path='/names/1']")
    await page.fill("[data-path='/names/1'] input", "Grace")
    await page.see("Fits the schema")
    assert "Add an item" not in await page.text("[data-path='/names']")
    await page.click("[data-path='/names/0'] button", "Remove")
    await page.fill("[data-path='/prices'] > div > .foot input", "milk")
    await page.click("[data-path='/prices'] button", "Add a property")
    await page.fill("[data-path='/prices/milk'] input", "1")
    await page.choose("[data-path='/either'] .head select", "text")
    await page.choose("[data-path='/sure'] select", "—")
    await page.until("document.querySelector('.json textarea').value.includes('milk')")
    await page.see("Fits the schema")
    assert await json_of(page) == {
        "names": ["Grace"],
        "prices": {"tea": 2.5, "milk": 1},
        "either": "",
    }
    await page.fill(".json textarea", '{"names": [')
    await page.see("Not JSON")
    assert await page.run("document.querySelector('main .actions .primary').disabled") is True


async def test_long_numbers_arrive_as_they_were_written(page: Page) -> None:
    await open_tool(page, "echo")
    await page.fill("[data-path='/count'] input", "12345678901234567890")
    await page.see("Fits the schema")
    await call(page)
    await page.see("12345678901234567890", ".outcome .value")


async def test_an_address_brings_back_tool_arguments_and_view(
    browser: Browser, shapes: str
) -> None:
    async with browser.page(shapes) as page:
        await page.see("Choose a tool")
        await open_tool(page, "area")
        await page.fill(
            ".json textarea", '{"shape": {"kind": "rectangle", "width": 2, "height": 3}}'
        )
        await page.see("Fits the schema")
        await page.click("[data-tab=schema]")
        await page.until("location.hash.includes('tab=schema')")
        address = await page.run("location.href")
    token = shapes.partition("#")[2]
    assert "token" not in address
    async with browser.page(f"{address}&{token}") as page:
        await page.see("outputSchema", "main")
        assert await page.text("main h1") == "area"
        await page.click("[data-tab=call]")
        await page.until(
            "document.querySelector('[data-path=\"/shape/height\"] input')?.value === '3'"
        )


async def test_without_the_token_nothing_is_shown_until_the_address_is_given(
    browser: Browser, shapes: str
) -> None:
    async with browser.page(shapes.partition("#")[0]) as page:
        await page.see("This page needs its token")
        assert "area" not in await page.text("body")
        await page.fill("#address", shapes)
        await page.click("button", "Open")
        await page.see("Choose a tool")


# The call.


async def test_a_call_tells_of_its_progress_and_its_frames(page: Page) -> None:
    await open_tool(page, "count")
    await page.see("Fits the schema")
    await call(page)
    await page.see("done", ".outcome")
    await page.see("counted", ".logs")
    await page.click("details.wire summary")
    await page.see("tools/call", ".frames")
    frames = await page.run(
        "[...document.querySelectorAll('.frames li pre')].map((each) => each.innerText)"
    )
    methods = [json.loads(frame).get("method") for frame in frames]
    assert methods[0] == "tools/call"
    assert methods.count("notifications/progress") == 3
    assert json.loads(frames[-1])["result"]["structuredContent"] == 3


async def test_a_call_that_takes_too_long_is_cancelled_on_the_server_too(page: Page) -> None:
    await open_tool(page, "wait_for_ever")
    await page.see("Fits the schema")
    await call(page)
    await page.see("1 of 2 · started")
    assert await page.run("document.querySelector('progress').value") == 1
    await page.click("button.cancel")
    await page.see("cancelled", ".outcome")
    await open_tool(page, "wait_for_cancelling")
    await page.see("Fits the schema")
    await call(page)
    await page.see("it was cancelled", ".outcome")


async def test_results_are_shown_as_what_they_are(page: Page) -> None:
    async def result_of(name: str) -> str:
        await open_tool(page, name)
        await page.see("Fits the schema")
        await call(page)
        await page.see("ms", ".outcome")
        return await page.text(".outcome")

    await result_of("people")
    cells = "[...document.querySelectorAll('.outcome %s')].map((each) => each.innerText)"
    assert await page.run(cells % "th") == ["name", "born", "tags", "rank"]
    assert await page.run(cells % "td") == [
        "Ada",
        "1815",
        '["maths"]',
        "",
        "Grace",
        "1906",
        "",
        "null",
    ]
    assert "12345678901234567890" in await result_of("deep")
    assert await page.run("document.querySelectorAll('.outcome details[open]').length") == 3
    await page.click(".outcome .switch button", "JSON")
    shown = json.loads(await page.text(".outcome .value pre"))
    assert shown == {"root": {"left": {"leaf": 12345678901234567890}, "right": [1, 2, None]}}
    assert "null" in await result_of("nothing")
    assert "It does not work on Sundays." in await result_of("fails")
    assert "just text" in await result_of("pictures")
    await page.until("document.querySelector('.outcome img').naturalWidth === 40")
    assert await page.run("document.querySelectorAll('.outcome audio').length") == 1
    links = "[...document.querySelectorAll('.outcome a')].map((each) => [each.href, each.rel])"
    assert await page.run(links) == [["https://example.com/report", "noopener noreferrer"]]
    assert "javascript:alert(1)" in await page.text(".outcome")


# Side by side.


async def test_revisions_and_providers_are_compared(page: Page) -> None:
    await open_tool(page, "area")
    await page.fill(".json textarea", '{"shape": {"kind": "circle", "radius": 1}}')
    await page.see("Fits the schema")
    await page.click("[data-tab=compare]")
    await page.see("natural", ".compare")
    newest, middle, old, oldest = await page.texts(".revision")
    assert newest.split("\n\n")[:2] == ["2026-07-28", "natural"]
    assert middle.split("\n\n")[:2] == ["2025-11-25\n2025-06-18", 'wrapped, {"result": …}']
    # The oldest knows no annotations, so that it sees something else than the one after it.
    assert [each.split("\n\n")[:2] for each in (old, oldest)] == [
        ["2025-03-26", "text only"],
        ["2024-11-05", "text only"],
    ]
    await page.click("button", "Call it once per revision")
    await page.see('"result": 3.14', ".compare")
    newest, *_, oldest = await page.texts(".revision")
    assert "structuredContent\n3.14" in newest
    assert "structuredContent\n\nabsent" in oldest
    await page.see("openai-strict", ".providers")
    await page.click(".provider", "gemini")
    await page.until("document.querySelectorAll('.line.lost').length > 0")
    assert "lost" in await page.text(".line.lost")
    await page.click("#findings")
    await page.see("12 checked", ".findings")
    assert "none refused" in await page.text(".findings")
    await page.see("resource memo://secret", ".findings")
    await page.see("RIGHT-TO-LEFT OVERRIDE", ".findings")


async def test_findings_show_what_is_not_as_it_was_pinned(
    browser: Browser, inspect: Inspect
) -> None:
    weather, pins = EXAMPLES / "weather.py", EXAMPLES / "weather_pins.json"
    async with browser.page(inspect(str(weather), "--pins", str(pins))) as page:
        await page.see("Choose a tool")
        await page.click("#findings")
        await page.see("changed", ".pins")
        changes = await page.text(".pins")
        assert "temperatures" in changes
        assert "/inputSchema/properties/days/maximum" in changes
        assert page.complaints == []


# The rest of the protocol.


async def test_prompts_are_filled_in_with_suggestions_and_shown_as_messages(page: Page) -> None:
    await open_tool(page, "greet")
    await page.fill("[data-path='/name'] input", "Ada")
    await page.fill("[data-path='/mood'] input", "s")
    await page.until(
        "document.querySelector('[data-path=\"/mood\"] datalist option')?.value === 'sad'"
    )
    await page.fill("[data-path='/mood'] input", "sad")
    await page.see("Fits the schema")
    await call(page)
    await page.see("Say hello to Ada, who is sad.", ".messages")


async def test_resources_are_read_as_text(page: Page) -> None:
    await open_tool(page, "today")
    await call(page)
    await page.see("Nothing <b>much</b>.", ".outcome")
    await page.click("#lists button", "memo://day/")
    await page.see("memo", "main h1")
    await page.fill(".fields input", "mon day")
    await call(page)
    await page.see("On mon day: nothing.", ".outcome")


async def test_the_server_can_ask_the_user(browser: Browser, inspect: Inspect) -> None:
    async with browser.page(inspect("--", sys.executable, str(ASKING))) as page:
        await page.see("Choose a tool")
        await open_tool(page, "form")
        await page.see("Fits the schema")
        await call(page)
        await page.see("Who is it?", "dialog[open]")
        await page.see('missing required property "name"', "dialog")
        first = "document.activeElement.closest('.field')?.dataset.path === '/name'"
        await page.until(first)
        await page.type("Ada")
        await page.choose("dialog [data-path='/size'] select", "Small")
        await page.see("Fits the schema", "dialog")
        await page.click("dialog button.primary")
        await page.see("done", ".outcome")
        said = json.loads(await page.text(".outcome .prose"))
        assert said == {"action": "accept", "content": {"name": "Ada", "size": "s", "count": 3}}
        await open_tool(page, "visit")
        await page.see("Fits the schema")
        await call(page)
        await page.see("xn--e1awd7f.example (its name is spelt in another script)", "dialog[open]")
        await page.press("Escape")
        await page.see('"cancel"', ".outcome")
        assert page.complaints == []


@pytest.fixture
async def talking(browser: Browser, inspect: Inspect) -> AsyncGenerator[Page]:
    """Open the page on the server whose tools ask."""
    async with browser.page(inspect("--", sys.executable, "talking_server.py")) as opened:
        await opened.see("Choose a tool")
        yield opened
        assert opened.complaints == []


async def test_a_person_answers_what_a_model_was_asked(talking: Page) -> None:
    await open_tool(talking, "ask_model")
    await call(talking)
    await talking.see("The server asks a model", "#question")
    said = await talking.texts("#question .messages li")
    assert [text.split("\n") for text in said] == [
        ["system", "Be brief."],
        ["user", "Write of <b>sheep</b>"],
    ]
    await talking.fill("#question [data-path='/text'] textarea", "Baa.")
    await talking.click("#question button.primary", "Send")
    await talking.see("a person says Baa.", ".outcome")
    await call(talking)
    await talking.click("#question button", "Decline")
    await talking.see("rejected", ".outcome")


async def test_a_person_says_which_roots_there_are(talking: Page) -> None:
    await open_tool(talking, "ask_roots")
    await call(talking)
    await talking.see("The server asks for roots", "#question")
    await talking.click("#question button", "Add an item")
    await talking.fill("#question [data-path='/roots/0'] input", "/tmp")
    await talking.see("1 problem", "#question .state")
    await talking.fill("#question [data-path='/roots/0'] input", "file:///tmp")
    await talking.see("Fits the schema", "#question .state")
    await talking.click("#question button.primary", "Send")
    await talking.see("file:///tmp", ".outcome .tree")


async def test_what_is_asked_at_once_is_put_one_after_another(
    browser: Browser, inspect: Inspect
) -> None:
    async with browser.page(inspect("--", sys.executable, "impatient_server.py")) as page:
        await page.see("Choose a tool")
        await open_tool(page, "both")
        await call(page)
        for asked, name in (("first", "Ada"), ("second", "Grace")):
            await page.see(f"The {asked}?", "#question")
            await page.fill("#question [data-path='/name'] input", name)
            await page.see("Fits the schema", "#question .state")
            await page.click("#question button.primary", "Send")
        await page.see("Ada and Grace", ".outcome")
        assert not await page.run("document.getElementById('question').open")
        assert page.complaints == []


async def test_a_call_that_takes_the_place_of_another_shows_its_own_result(talking: Page) -> None:
    await open_tool(talking, "wait")
    await talking.fill("[data-path='/seconds'] input", "600")
    await talking.see("Fits the schema")
    await call(talking)
    await talking.see("Waiting", ".run")
    await talking.fill("[data-path='/seconds'] input", "0")
    await talking.see("Fits the schema")
    await call(talking)
    await talking.see("waited 0 s", ".outcome")
    assert await talking.texts(".doing") == []


async def test_what_the_server_lists_by_now_is_shown_and_what_is_open_stays(
    talking: Page,
) -> None:
    await open_tool(talking, "grow")
    await talking.fill("[data-path='/name'] input", "grown_up")
    await talking.see("Fits the schema")
    await talking.run("document.querySelector('main article').isTheSame = true")
    await call(talking)
    await talking.see("grown_up", "#lists")
    await talking.see("6 tools", "#facts")
    assert await talking.run("document.querySelector('main article').isTheSame")
    assert await talking.run("document.querySelector('[aria-current]').innerText") != ""
    await talking.see("grown", ".outcome")


async def test_what_another_field_makes_necessary_is_missed_at_its_place(talking: Page) -> None:
    await open_tool(talking, "pay")
    await talking.fill("[data-path='/card'] input", "1234")
    await talking.see('missing required property "zip"', "[data-path='/zip'] .wrong")


async def test_a_variable_that_holds_a_path_is_filled_in(talking: Page) -> None:
    await open_tool(talking, "files")
    labels = "[...document.querySelectorAll('main label')]"
    await talking.until(f"{labels}.find((each) => each.textContent === 'path')")
    await talking.run(f"{labels}.find((each) => each.textContent === 'path').control.focus()")
    await talking.type("a b/c")
    await call(talking)
    await talking.see("contents of a b/c", ".outcome")


@pytest.mark.parametrize(
    "said",
    ["arguments=null", "choices=5", "choices=null", "arguments=[]&tab=none", "arguments=%7B"],
)
async def test_an_address_that_makes_no_sense_opens_the_tool_all_the_same(
    browser: Browser, shapes: str, said: str
) -> None:
    async with browser.page(f"{shapes}&tool=people&{said}") as page:
        await page.see("people", "main h1")
        await page.until("!document.querySelector('[aria-busy]')")
        assert page.complaints == []


async def test_the_demo_has_a_page_and_asks_for_a_seat_on_it(
    browser: Browser, demo: dict[str, str]
) -> None:
    async with browser.page(demo["page"]) as page:
        await page.see("Choose a tool")
        await open_tool(page, "choose_seat")
        await page.fill("[data-path='/flight'] input", "AS 2106")
        await page.see("Fits the schema")
        await call(page)
        await page.see("Where would you like to sit?", "dialog[open]")
        await page.see("Decline", "dialog")
        await page.click("dialog button", "Decline")
        await page.see("the tool failed", ".outcome")
        await page.click("#lists button", "demo://logo.png")
        await call(page)
        await page.until("document.querySelector('.outcome img').naturalWidth === 1")
        assert page.complaints == []


# Strangers.


async def test_whatever_a_server_says_stays_text(browser: Browser, hostile: str) -> None:
    async with browser.page(hostile) as page:
        await page.see("<script>window.owned = 1</script>", "#lists")
        await page.see("safe⟨U+202E⟩⟨U+0007⟩name⟨U+200B⟩", "#lists")
        await open_tool(page, "<script>")
        await page.until("document.querySelectorAll('.alternatives label').length === 2")
        await page.fill(".json textarea", '{"__proto__": "a", "constructor": "b"}')
        await page.until(f"{value_of('/__proto__')} === 'a'")
        await page.fill("[data-path='/__proto__'] input", "c")
        await page.until("document.querySelector('.json textarea').value.includes('\"c\"')")
        assert await json_of(page) == {"__proto__": "c", "constructor": "b"}
        await call(page)
        await page.see("done", ".outcome")
        await page.click(".outcome .switch button", "JSON")
        await page.see("⟨U+202E⟩", ".outcome")
        await page.click(".outcome button", "Show all")
        assert len(await page.text(".outcome .value pre")) > 1_000_000
        await page.see("error", ".logs")
        await page.see("<script>", ".logs")
        await page.click("[data-tab=compare]")
        await page.see("openai", ".providers")
        await page.click("[data-tab=schema]")
        await page.see("<script>", ".lines")
        await page.click("#lists button", "refused")
        await page.see("cannot be used", "main")
        await open_tool(page, "huge")
        await page.see("Show all 1,080,000 characters", "main")
        await page.click("#findings")
        await page.see("suspect", ".findings .badges")
        assert await page.run("window.owned") is None
        assert await page.run("Object.prototype.owned") is None
        assert (
            await page.run("document.querySelectorAll('main script, main img, aside img').length")
            == 0
        )
        assert page.complaints == []


async def test_the_browser_itself_refuses_to_make_markup_of_text(page: Page) -> None:
    tried = "try { document.body.innerHTML = '<b>x</b>'; 'made' } catch (error) { error.name }"
    assert await page.run(tried) == "TypeError"
    page.complaints.clear()


async def test_a_thousand_tools_are_searched_without_being_made_again(
    browser: Browser, inspect: Inspect
) -> None:
    async with browser.page(inspect("many_server.py")) as page:
        await page.see("1,000 tools")
        assert await page.run("document.querySelectorAll('#lists li').length") == 1000
        assert await page.run("document.querySelectorAll('#lists li *').length") <= 4000
        row = "document.querySelectorAll('#lists li')[777]"
        assert await page.run(f"getComputedStyle({row}).contentVisibility") == "auto"
        await page.run(f"window.kept = {row}")
        await page.fill("#search", "number 777.")
        await page.until("document.querySelector('#lists h2').innerText.includes('1 of 1,000')")
        assert await page.run(f"window.kept === {row} && !window.kept.hidden") is True
        await page.press("ArrowDown")
        await page.press("Enter")
        await page.see("tool-0777", "main h1")
        assert page.complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_a_narrow_screen_shows_one_thing_at_a_time(
    browser: Browser, shapes: str, scheme: str
) -> None:
    async with browser.page(shapes, width=380, height=760, scheme=scheme) as page:
        await page.see("Choose a tool")
        visible = "document.querySelector('#search').checkVisibility({visibilityProperty: true})"
        assert await page.run(visible) is False
        await page.click("#menu")
        await page.until(visible)
        await page.click("#lists button", "send_parcel")
        await page.see("send_parcel", "main h1")
        assert await page.run(visible) is False
        assert await page.run("document.documentElement.scrollWidth <= 380") is True
        assert await page.run("document.querySelector('main').scrollWidth <= 380") is True
        light = (
            await page.run("getComputedStyle(document.body).backgroundColor")
            == "rgb(255, 255, 255)"
        )
        assert light == (scheme == "light")
        assert page.complaints == []
