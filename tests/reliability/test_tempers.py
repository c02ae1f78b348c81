"""Tools that do what no tool should: their calls are answered once, and nobody else's suffer."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import psutil
import pytest
from patience import PATIENCE

from anyshape import Client

from .programs import FOLDER, run_program
from .traffic import META, dial, modern

SCRIPT = str(FOLDER / "tempers.py")
ENDINGS = ("KeyboardInterrupt", "SystemExit", "GeneratorExit", "CancelledError", "Ending")
FAILING: list[tuple[str, dict[str, Any]]] = [
    ("sleep_for_ever", {}),
    ("sleep_on_a_thread", {}),
    *(("end", {"how": how}) for how in (*ENDINGS, "MemoryError")),
    *(("end_on_a_thread", {"how": how}) for how in (*ENDINGS, "MemoryError")),
    ("recurse", {"depth": 0}),
]
ODD: list[tuple[str, dict[str, Any], Any]] = [
    ("hold_the_loop", {"seconds": 0.3}, 0.3),
    ("print_everywhere", {"number": 3}, 3),
    ("fork", {"number": 4}, 4),
    ("eat_memory_in_a_child", {}, 1),
]


@asynccontextmanager
async def serving(transport: str) -> AsyncGenerator[Client]:
    """Give a client of the server; afterwards nothing of it is left."""
    before = set(psutil.Process().children(recursive=True))
    if transport == "http":
        with run_program("tempers.py") as program:
            async with Client(program.url, timeout=PATIENCE) as client:
                yield client
    else:
        async with Client([sys.executable, SCRIPT], timeout=PATIENCE) as client:
            yield client
    assert set(psutil.Process().children(recursive=True)) <= before


@pytest.mark.parametrize("transport", ["stdio", "http"])
async def test_whatever_a_tool_does_its_call_is_answered_and_others_go_on(transport: str) -> None:
    async with serving(transport) as client, asyncio.timeout(PATIENCE):
        for name, arguments in FAILING:
            failed, echoed = await asyncio.gather(
                client.call_tool(name, arguments), client.call("echo", {"number": 1})
            )
            assert failed.is_error, name
            assert echoed == 1
        for name, arguments, value in ODD:
            came, echoed = await asyncio.gather(
                client.call(name, arguments), client.call("echo", {"number": 2})
            )
            assert (name, came, echoed) == (name, value, 2)
        ends = await asyncio.gather(
            *(client.call_tool(name, arguments) for name, arguments in FAILING),
            *(client.call("echo", {"number": number}) for number in range(50)),
        )
        assert ends[-50:] == list(range(50))


async def test_a_process_without_descriptors_serves_who_is_there_and_others_later() -> None:
    with run_program("tempers.py", TEMPERS_FILES="40") as program:
        there = await dial(program.port)

        async def echoes() -> bool:
            there.send(modern("tools/call", {"name": "echo", "arguments": {"number": 1}}, 1))
            async with asyncio.timeout(PATIENCE):
                reply = await there.reply()
            return bool(reply.messages[-1]["result"]["structuredContent"] == 1)

        assert await echoes()
        crowd = [await dial(program.port) for _ in range(60)]
        assert await echoes()
        for line in crowd:
            line.cut()
        assert await echoes()
        there.cut()
        async with Client(program.url, timeout=PATIENCE) as client:
            assert await client.call("echo", {"number": 2}) == 2


FULL_DISK = """
import asyncio, json, resource, sys
from pathlib import Path
from anyshape.client.auth import FileStorage
from anyshape.errors import AuthorizationError
from anyshape.gateway.pins import PinError, Pins

folder = Path(sys.argv[1])
listed = [{"name": "a", "inputSchema": {"type": "object"}}]

async def main():
    tokens = FileStorage(folder / "tokens.json")
    await tokens.save("a", "secret")
    pins = Pins({}).pin("up", {"tools": listed})
    pins.save(folder / "pins.json")
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20, hard))
    refused = []
    try:
        await tokens.save("b", "x" * 10_000)
    except AuthorizationError as error:
        refused.append(str(error))
    try:
        Pins({}).pin("other", {"tools": listed}).save(folder / "pins.json")
    except PinError as error:
        refused.append(str(error))
    kept = [await tokens.load("a"), Pins.load(folder / "pins.json") == pins]
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    await tokens.save("b", "later")
    kept.append(await tokens.load("b"))
    print(json.dumps([refused, kept, sorted(each.name for each in folder.iterdir())]))

asyncio.run(main())
"""


def test_a_full_disk_costs_what_was_to_be_written_and_nothing_that_was_there(
    tmp_path: Any,
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(tmp_path)], capture_output=True, check=False
    )
    assert not done.returncode, done.stderr
    (tokens, pins), kept, names = json.loads(done.stdout)
    assert "cannot be used for tokens: File too large" in tokens
    assert "cannot write pins" in pins
    assert kept == ["secret", True, "later"]
    assert names == [".tokens.json.lock", "pins.json", "tokens.json"]


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_log_that_cannot_be_written_costs_no_call(unbuffered: str) -> None:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("end", {"how": "MemoryError"}),
        ("print_everywhere", {"number": 2}),
        ("echo", {"number": 3}),
    ]
    lines = [
        {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {**given, "_meta": META}}
        for id, (name, arguments) in enumerate(calls)
        for given in ({"name": name, "arguments": arguments},)
    ]
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, SCRIPT],
            input=b"".join(json.dumps(line).encode() + b"\n" for line in lines),
            stdout=subprocess.PIPE,
            stderr=full,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
            check=False,
        )
    assert done.returncode == 0
    assert sorted(json.loads(line)["id"] for line in done.stdout.splitlines()) == [0, 1, 2]
