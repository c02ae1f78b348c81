"""Who may ask the page's endpoints, and what they answer to those who may not."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Generator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from patience import PATIENCE

PROGRAM = str(Path(sys.executable).parent / "anyshape")


@pytest.fixture
async def session() -> AsyncGenerator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as opened:
        yield opened


async def ask(
    session: aiohttp.ClientSession, page: str, path: str, body: Any = None, **headers: str
) -> tuple[int, Any]:
    """Return status and answer of a request as the page makes it, but for the headers given."""
    root, _, token = page.partition("#token=")
    sent = {"x-anyshape-token": token, "content-type": "application/json"}
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    data = body if isinstance(body, str) else json.dumps(body or {})
    async with session.post(f"{root}{path}", data=data, headers=sent) as answer:
        return answer.status, await answer.json()


async def test_the_demo_serves_the_page_beside_its_endpoint(
    session: aiohttp.ClientSession, demo: dict[str, str]
) -> None:
    status, listing = await ask(session, demo["page"], "api/listing")
    assert status == 200
    assert "get-count" in [tool["name"] for tool in listing["tools"]]
    assert listing["target"] == "anyshape demo"
    from anyshape import Client

    async with Client(demo["url"]) as client:
        assert await client.call("get-count") == 42


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"x_anyshape_token": ""}, 401),
        ({"x_anyshape_token": "guessed"}, 401),
        ({"host": "evil.example"}, 403),
        ({"host": "evil.example:80", "origin": "http://evil.example:80"}, 403),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "http://127.0.0.1:1"}, 403),
        ({"origin": "null"}, 403),
        ({"content_type": "text/plain"}, 405),
    ],
    ids=str,
)
async def test_only_the_page_itself_may_ask(
    session: aiohttp.ClientSession, demo: dict[str, str], headers: dict[str, str], status: int
) -> None:
    assert (await ask(session, demo["page"], "api/listing", **headers))[0] == status


async def test_an_address_that_a_browser_was_started_with_lets_one_in_once(tmp_path: Path) -> None:
    # Every user of a machine sees what programs are started with.
    opened, browser = tmp_path / "opened", tmp_path / "browser"
    os.mkfifo(opened)
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" > {opened}\n')
    browser.chmod(0o755)
    process = await asyncio.create_subprocess_exec(
        *(PROGRAM, "inspect", "anyshape.demo.server"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "BROWSER": f"{browser} %s"},
    )
    try:
        assert process.stdout is not None
        printed = (await process.stdout.readline()).decode().strip()
        async with asyncio.timeout(PATIENCE), aiohttp.ClientSession() as session:
            given = await asyncio.to_thread(opened.read_text)
            assert given.partition("#")[0] == printed.partition("#")[0]
            assert given != printed
            token = printed.partition("#token=")[2]
            assert (await ask(session, given, "api/listing"))[0] == 401
            assert await ask(session, given, "api/enter") == (200, {"token": token})
            assert (await ask(session, given, "api/enter"))[0] == 401
            assert (await ask(session, printed, "api/listing"))[0] == 200
    finally:
        process.send_signal(signal.SIGINT)
        await process.communicate()


async def test_the_page_may_ask_from_its_own_origin(
    session: aiohttp.ClientSession, demo: dict[str, str]
) -> None:
    origin = demo["page"].partition("/#")[0]
    assert (await ask(session, demo["page"], "api/listing", origin=origin))[0] == 200


@pytest.mark.parametrize(
    ("path", "body", "status", "words"),
    [
        ("api/nothing", {}, 404, "no such endpoint"),
        ("api/tool", {}, 400, "name: expected a string"),
        ("api/tool", {"name": "gone"}, 502, "not listed any more"),
        ("api/tool", "[1]", 400, "expected a JSON object"),
        ("api/tool", "{", 400, "not JSON"),
        ("api/tool", '{"name": NaN}', 400, "not JSON"),
        ("api/tool", "[" * 100_000, 400, "not JSON"),
        ("api/form", {"subject": {"spoon": "x"}, "choices": {}}, 502, "no forms for 'spoon'"),
        ("api/form", {"subject": {}, "value": {}, "choices": []}, 400, "choices: expected"),
        ("api/form", {"subject": {"tool": []}, "choices": {}}, 400, "tool: expected a string"),
        (
            "api/form",
            {"subject": {"tool": "get-count"}, "choices": {}, "change": {"path": [1]}},
            400,
            "change.path",
        ),
        (
            "api/form",
            {
                "subject": {"tool": "get-count"},
                "choices": {},
                "change": {"path": [], "kind": "choose", "place": "", "chosen": "1"},
            },
            400,
            "change.chosen",
        ),
        ("api/answer", {"question": "1", "action": "accept"}, 502, "does not wait"),
        ("api/form", {"subject": {"tool": 5}, "choices": {}}, 400, "tool: expected a string"),
        ("api/form", '{"subject": {}, "choices": {}, "value": 1e400}', 400, "1e400"),
    ],
    ids=str,
)
async def test_what_makes_no_sense_is_refused_with_a_reason(
    session: aiohttp.ClientSession,
    demo: dict[str, str],
    path: str,
    body: Any,
    status: int,
    words: str,
) -> None:
    got, answer = await ask(session, demo["page"], path, body)
    assert got == status
    assert words in answer["error"]


async def test_files_come_with_a_policy_that_runs_nothing_else(
    session: aiohttp.ClientSession, demo: dict[str, str]
) -> None:
    root = demo["page"].partition("#")[0]
    async with session.get(root) as answer:
        assert answer.status == 200
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        assert "require-trusted-types-for 'script'" in policy
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert "token" not in await answer.text()
    async with session.post(root) as answer:
        assert answer.status == 405
    for path in ("page/", "page/../application.py", "page/%2e%2e/application.py", "page/none.js"):
        async with session.get(root + path) as answer:
            assert answer.status == 404


async def test_a_failing_call_ends_its_stream_with_the_reason(
    session: aiohttp.ClientSession, demo: dict[str, str]
) -> None:
    root, _, token = demo["page"].partition("#token=")
    headers = {"x-anyshape-token": token, "content-type": "application/json"}
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"name": "gone", "arguments": {}}, "gone"),
        ({"name": "x"}, "arguments"),
    ]
    for body, words in wrong:
        async with session.post(f"{root}api/call", json=body, headers=headers) as answer:
            *_, last = (await answer.text()).strip().split("\n\n")
        assert words in json.loads(last.removeprefix("data: "))["error"]


def test_inspect_takes_one_target_and_says_where_its_page_is() -> None:
    done = subprocess.run(
        [PROGRAM, "inspect", "anyshape.demo.server", "get-count"],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("error: 'get-count' is one too many\n")
    command = [PROGRAM, "inspect", "anyshape.demo.server", "--no-open", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            address = json.loads(process.stdout.readline())["url"]
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(PATIENCE)
    assert address.startswith("http://127.0.0.1:")
    assert "/#token=" in address


async def test_a_page_that_is_open_does_not_hold_the_program_up(
    session: aiohttp.ClientSession,
) -> None:
    process = await asyncio.create_subprocess_exec(
        *(PROGRAM, "inspect", "anyshape.demo.server", "--no-open"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        page = (await process.stdout.readline()).decode().strip()
        assert (await ask(session, page, "api/listing"))[0] == 200
        root, _, token = page.partition("#token=")
        headers = {"x-anyshape-token": token, "content-type": "application/json"}
        watching = asyncio.ensure_future(session.post(f"{root}api/changes", headers=headers))
        assert (await ask(session, page, "api/listing"))[0] == 200
        process.send_signal(signal.SIGINT)
        _, said = await asyncio.wait_for(process.communicate(), PATIENCE)
        await asyncio.gather(watching, return_exceptions=True)
    finally:
        if process.returncode is None:
            process.kill()
    assert said.decode() == "Ctrl-C stops it.\n"


@pytest.fixture
def page_on_nothing() -> Generator[str]:
    """Inspect a server that nobody runs."""
    command = [PROGRAM, "inspect", "http://127.0.0.1:9/mcp", "--no-open"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(PATIENCE)


async def test_a_server_that_is_not_there_is_tried_again(
    session: aiohttp.ClientSession, page_on_nothing: str
) -> None:
    for _ in range(2):
        status, answer = await ask(session, page_on_nothing, "api/listing")
        assert status == 502
        assert "127.0.0.1:9" in answer["error"]
