"""Servers as child processes: what they see, how they end, what is left of them."""

from __future__ import annotations

import asyncio
import os
import sys
from collections import Counter
from pathlib import Path

import psutil
import pytest
from patience import PATIENCE, turn_until

from anyshape import Client
from anyshape.client import Bounds, ElicitAnswer, Elicitation, LogMessage, Process
from anyshape.errors import TransportError

SERVER = """
import asyncio, json, os, signal, subprocess, sys, time
from anyshape import Server

server = Server("child")

@server.tool
def pid() -> int:
    return os.getpid()

@server.tool
def environment() -> dict[str, str]:
    return dict(os.environ)

@server.tool
def directory() -> str:
    return os.getcwd()

@server.tool
def spawn() -> int:
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    return child.pid

@server.tool
async def stubborn() -> int:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print("will not go", file=sys.stderr, flush=True)
    return os.getpid()

@server.tool(annotations={"readOnlyHint": True})
def die_once(mark: str) -> str:
    if not os.path.exists(mark):
        open(mark, "w").close()
        os._exit(5)
    return "alive again"

@server.tool
def die() -> str:
    os._exit(5)

stopped = []

@server.tool
async def wait(name: str) -> None:
    try:
        print("waiting", file=sys.stderr, flush=True)
        await asyncio.sleep(600)
    finally:
        stopped.append(name)

@server.tool(annotations={"readOnlyHint": True})
async def wait_safely() -> None:
    await asyncio.sleep(600)

@server.tool
async def given_up() -> list[str]:
    return stopped

try:
    server.run()
finally:
    if "stubborn" in sys.argv:
        time.sleep(600)
"""


@pytest.fixture
def command(tmp_path: Path) -> list[str]:
    script = tmp_path / "server.py"
    script.write_text(SERVER)
    return [sys.executable, str(script)]


async def end_of(pid: int) -> None:
    """Wait until a process has ended."""

    def has_ended() -> bool:
        return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE

    await turn_until(has_ended, 0.01)


@pytest.mark.parametrize("revision", ["auto", "2025-06-18"])
async def test_a_child_answers_and_ends_when_its_input_does(
    command: list[str], revision: str
) -> None:
    async with Client(command, revision=revision) as client:
        pid = await client.call("pid", returns=int)
        assert psutil.pid_exists(pid)
    await end_of(pid)


async def test_a_child_sees_only_what_it_is_given(
    command: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "hidden")
    process = Process(environment={"GIVEN": "yes"}, directory=tmp_path)
    async with Client(command, process=process) as client:
        seen = await client.call("environment", returns=dict[str, str])
        assert seen["GIVEN"] == "yes"
        assert seen["PATH"] == os.environ["PATH"]
        assert "SECRET_TOKEN" not in seen
        assert (await client.call("directory", returns=str)).endswith(tmp_path.name)
    async with Client(command, process=Process(inherit_environment=True)) as client:
        assert (await client.call("environment", returns=dict[str, str]))["SECRET_TOKEN"]


async def test_a_child_that_ignores_everything_is_killed(command: list[str]) -> None:
    process = Process(stop_timeout=0.2)
    async with Client([*command, "stubborn"], process=process) as client:
        pid = await client.call("stubborn", returns=int)
    await end_of(pid)


async def test_the_children_of_a_child_go_with_it(command: list[str]) -> None:
    async with Client(command) as client:
        grandchild = await client.call("spawn", returns=int)
        assert psutil.pid_exists(grandchild)
    await end_of(grandchild)


async def test_a_child_that_died_is_started_again_for_the_next_call(command: list[str]) -> None:
    async with Client(command) as client:
        first = await client.call("pid", returns=int)
        with pytest.raises(TransportError, match="exit status 5"):
            await client.call("die", returns=str)
        second = await client.call("pid", returns=int)
        assert first != second


NODE_ERROR = """\
node:internal/modules/cjs/loader:1430
  const err = new Error(message);
              ^

Error [MODULE_NOT_FOUND]: Cannot find module 'keytar'
Require stack:
- /srv/keytar.js
    at Function._load (node:internal/modules/cjs/loader:1216:25) {
  code: 'MODULE_NOT_FOUND'
}

Node.js v22.23.3
"""
PYTHON_ERROR = """\
Traceback (most recent call last):
  File "/srv/server.py", line 4, in <module>
    from mcp.server.fastmcp import FastMCP
ModuleNotFoundError: No module named 'mcp.server.fastmcp'
"""
FAILING = """\
import json, sys
sys.stderr.write(sys.argv[1])
sys.stderr.flush()
opening = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {}}
if sys.argv[2] == "ends":
    sys.exit(1)
answer = {"jsonrpc": "2.0", "id": json.loads(input())["id"], "result": opening}
print(json.dumps(answer), flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize(
    ("errors", "last_words"),
    [
        (NODE_ERROR, "Error [MODULE_NOT_FOUND]: Cannot find module 'keytar'"),
        (PYTHON_ERROR, "ModuleNotFoundError: No module named 'mcp.server.fastmcp'"),
        ("\x1b[31mno key:\x1b[39m set API_KEY\n}\n", "no key: set API_KEY"),
    ],
    ids=["node", "python", "coloured"],
)
async def test_a_child_that_fails_is_quoted_where_it_says_why(errors: str, last_words: str) -> None:
    command = [sys.executable, "-c", FAILING, errors]
    with pytest.raises(TransportError, match="ended with exit status 1") as ended:
        await Client([*command, "ends"], revision="2025-11-25").__aenter__()
    async with Client([*command, "waits"], revision="2025-11-25") as client:
        with pytest.raises(TransportError, match="no answer to tools/list") as silent:
            await client.list_tools(timeout=0.5)
    for raised in (ended, silent):
        assert str(raised.value).endswith(f"; its last words: {last_words!r}")


@pytest.mark.parametrize("revision", ["auto", "2025-11-25"])
async def test_a_call_that_is_safe_to_repeat_survives_its_server(
    command: list[str], tmp_path: Path, revision: str
) -> None:
    async with Client(command, revision=revision, trust_annotations=True) as client:
        mark = str(tmp_path / "mark")
        assert await client.call("die_once", {"mark": mark}, returns=str) == "alive again"


async def test_a_call_does_not_survive_its_server_on_the_word_of_a_stranger(
    command: list[str], tmp_path: Path
) -> None:
    async with Client(command) as client:
        mark = str(tmp_path / "mark")
        with pytest.raises(TransportError, match="exit status 5"):
            await client.call("die_once", {"mark": mark})
        assert await client.call("die_once", {"mark": mark}, returns=str) == "alive again"


async def test_calls_at_once_survive_their_server_together(
    command: list[str], tmp_path: Path
) -> None:
    async with Client(command, revision="2025-11-25", trust_annotations=True) as client:
        mark = str(tmp_path / "mark")
        calls = (client.call("die_once", {"mark": mark}, returns=str) for _ in range(5))
        assert await asyncio.gather(*calls) == ["alive again"] * 5


@pytest.mark.parametrize("stderr", ["keep", "inherit", "discard"])
async def test_errors_of_a_child_go_where_they_are_wanted(
    command: list[str], stderr: str, capfd: pytest.CaptureFixture[str]
) -> None:
    process = Process(stderr=stderr, stop_timeout=0.2)  # pyright: ignore[reportArgumentType]
    async with Client(command, process=process) as client:
        await client.call("stubborn", returns=int)
        with pytest.raises(TransportError) as raised:
            await client.call("die", returns=str)
    assert ("will not go" in str(raised.value)) == (stderr == "keep")
    assert ("will not go" in capfd.readouterr().err) == (stderr == "inherit")


async def test_an_exception_inside_still_ends_the_child(command: list[str]) -> None:
    pids: list[int] = []

    async def fail_inside() -> None:
        async with Client(command) as client:
            pids.append(await client.call("pid", returns=int))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail_inside()
    await end_of(pids[0])


@pytest.mark.parametrize("revision", ["2025-06-18", "2026-07-28"])
async def test_giving_up_reaches_the_child(command: list[str], revision: str) -> None:
    async with Client(command, revision=revision) as client, asyncio.timeout(PATIENCE):
        await client.list_tools()
        with pytest.raises(TransportError, match=r"within 0\.5 s"):
            await client.call_tool("wait", {"name": "time"}, timeout=0.5)
        call = asyncio.create_task(client.call_tool("wait", {"name": "cancel"}))
        # Answers come in the order of requests that do not wait, so the call has been read by then.
        await client.call("given_up")
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        while sorted(await client.call("given_up", returns=list[str])) != ["cancel", "time"]:
            pass


@pytest.mark.parametrize("name", ["wait", "wait_safely"])
async def test_closing_during_a_call_leaves_no_child(command: list[str], name: str) -> None:
    before = set(psutil.Process().children(recursive=True))
    async with Client(command) as client:
        arguments = {"name": "closing"} if name == "wait" else {}
        call = asyncio.create_task(client.call_tool(name, arguments))
        await client.call("given_up")
    async with asyncio.timeout(PATIENCE):
        with pytest.raises(TransportError, match="was stopped"):
            await call
    assert set(psutil.Process().children(recursive=True)) <= before


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        (["env", "SLACK_BOT_TOKEN=xoxb-1", sys.executable, "-c", "raise SystemExit(3)"], "'env'"),
        ([sys.executable, "-cimport sys; sys.exit(3)", "--token", "xoxb-1"], "'python"),
        ([sys.executable, "xoxb-1"], "'python"),
        (["SLACK_BOT_TOKEN=xoxb-1"], "'…'"),
        (["/opt/xoxb-1/bin/server", "xoxb-1"], "'server'"),
    ],
)
async def test_errors_name_the_program_and_nothing_that_it_is_given(
    command: list[str], shown: str
) -> None:
    with pytest.raises(TransportError) as raised:
        async with Client(command, process=Process(stderr="discard")):
            pass
    assert f"the server process {shown}" in str(raised.value)
    assert "xoxb" not in str(raised.value)


TALKATIVE = """
import json, sys

def send(**members):
    print(json.dumps({"jsonrpc": "2.0", **members}), flush=True)

for line in sys.stdin:
    message = json.loads(line)
    id, method, params = message.get("id"), message["method"], message.get("params", {})
    capabilities = {"tools": {}, "resources": {"subscribe": True}}
    if method == "server/discover":
        send(id=id, result={"supportedVersions": ["2026-07-28"], "capabilities": capabilities})
    elif method == "initialize":
        send(id=id, result={"protocolVersion": "2025-11-25", "capabilities": capabilities})
    elif method == "subscriptions/listen":
        meta = {"io.modelcontextprotocol/subscriptionId": id}
        heard = {"_meta": meta, "notifications": params["notifications"]}
        send(method="notifications/subscriptions/acknowledged", params=heard)
        for _ in range(1000):
            send(method="notifications/resources/updated", params={"uri": "demo://a"})
asked = {"message": "Still there?", "requestedSchema": {"type": "object", "properties": {}}}
send(id="late", method="elicitation/create", params=asked)
"""


async def test_a_child_may_tell_of_changes_for_ever() -> None:
    heard: list[str] = []
    lost: list[bool] = []
    command = [sys.executable, "-c", TALKATIVE]
    bounds = Bounds(max_answer_bytes=10_000)
    async with Client(command, bounds=bounds, on_lost=lambda: lost.append(True)) as client:
        await client.subscribe("demo://a", heard.append)
        await turn_until(lambda: len(heard) >= 1000 or lost, 0.01)
    assert (len(heard), lost) == (1000, [])


FLOODING = """
import json, sys

def send(**members):
    print(json.dumps({"jsonrpc": "2.0", **members}))

for line in sys.stdin:
    message = json.loads(line)
    id, method = message.get("id"), message["method"]
    if method == "server/discover":
        send(id=id, result={"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}})
    elif method == "tools/list":
        send(id=id, result={"tools": [{"name": "flood", "inputSchema": {"type": "object"}}]})
    elif method == "tools/call":
        params = {"level": "info", "data": "and another one"}
        note = {"jsonrpc": "2.0", "method": "notifications/message", "params": params}
        print((json.dumps(note) + "\\n") * 50_000, end="", flush=True)
        send(id=id, result={"content": []})
    sys.stdout.flush()
"""


async def test_a_child_that_writes_faster_than_it_is_read_keeps_nobody_else_waiting() -> None:
    turn = 0
    heard: Counter[int] = Counter()

    async def count_turns() -> None:
        nonlocal turn
        while True:
            turn += 1
            await asyncio.sleep(0)

    def hear(_message: LogMessage) -> None:
        heard[turn] += 1

    counting = asyncio.create_task(count_turns())
    async with Client([sys.executable, "-c", FLOODING], on_log=hear) as client:
        await client.call_tool("flood", timeout=PATIENCE)
    counting.cancel()
    assert heard.total() == 50_000
    assert max(heard.values()) <= 400


async def test_a_child_that_asks_while_it_is_ended_asks_nobody() -> None:
    asked: list[object] = []
    command = [sys.executable, "-c", TALKATIVE]

    def answer(question: Elicitation) -> ElicitAnswer:
        asked.append(question)
        return "decline"

    async with Client(command, revision="2025-11-25", on_elicit=answer):
        pass
    assert asked == []
