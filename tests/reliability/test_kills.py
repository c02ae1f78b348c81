"""Processes that are killed, or told to stop, at every stage of a call.

Who waits for a killed process is told; what it left behind ends; whoever takes its place goes on.
"""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import Callable, Generator
from typing import Any

import psutil
import pytest
from patience import PATIENCE, until

from anyshape import Client
from anyshape.client import Elicitation
from anyshape.errors import AnyshapeError

from .load import ask, settled
from .programs import FOLDER, Program, free_port, run_program, start_program
from .traffic import Call, Line, dial, judge, modern

REVISIONS = ("2026-07-28", "2025-11-25")
WORKSHOP = [sys.executable, str(FOLDER / "workshop.py")]
STAGES = ("before it is read", "during the tool", "while the answer is written")


class Mortal:
    """A server over HTTP that can be killed, and started again at the same address."""

    def __init__(self) -> None:
        self.program = start_program("workshop.py", port=free_port())
        self.url = self.program.url

    def kill(self) -> None:
        self.program.stop(signal.SIGKILL)

    def start(self) -> None:
        self.program = start_program("workshop.py", port=self.program.port)


@pytest.fixture
def mortal() -> Generator[Mortal]:
    mortal = Mortal()
    yield mortal
    mortal.program.stop(signal.SIGKILL)


async def outcome(client: Client, tool: str, **arguments: Any) -> str:
    """Tell what a call came to; it never hangs."""
    try:
        async with asyncio.timeout(PATIENCE):
            result = await client.call_tool(tool, arguments)
    except AnyshapeError:
        return "error"
    return "error" if result.is_error else "value"


async def value_again(client: Client) -> None:
    """Call until the server is found again."""
    async with asyncio.timeout(PATIENCE):
        while await outcome(client, "echo", number=1) != "value":  # noqa: ASYNC110 - elsewhere
            await asyncio.sleep(0.05)


async def kill_at(stage: str, pid: int, begin: Callable[[], Any], begun: Callable[[], Any]) -> str:
    """Begin a call, have its server killed at a stage of it, and return what the call came to."""
    server = psutil.Process(pid)
    if stage == "before it is read":
        server.suspend()
    call = asyncio.create_task(begin())
    if stage == "during the tool":
        await begun()
    else:
        await asyncio.sleep(0.05)
    server.kill()
    return await call


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("stage", STAGES)
async def test_a_call_to_a_server_that_is_killed_over_http_fails_and_the_next_is_answered(
    mortal: Mortal, stage: str, revision: str
) -> None:
    async with Client(mortal.url, revision=revision, timeout=PATIENCE) as client:
        await client.list_tools()
        large = {"number": 1, "size": 30_000_000}

        async def begin() -> str:
            if stage == "while the answer is written":
                return await outcome(client, "large", **large)
            return await outcome(client, "wait", number=1, seconds=PATIENCE)

        async def begun() -> None:
            async with asyncio.timeout(PATIENCE):
                while not await ask(mortal.program.port, "still_waiting"):  # noqa: ASYNC110
                    await asyncio.sleep(0.01)

        came = await kill_at(stage, mortal.program.pid, begin, begun)
        assert came == "error" or stage == "while the answer is written"
        mortal.kill()
        mortal.start()
        await value_again(client)


@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_call_to_a_server_that_is_killed_on_a_pipe_fails_and_the_next_is_answered(
    revision: str,
) -> None:
    others = {*psutil.Process().children()}
    async with Client(WORKSHOP, revision=revision, timeout=PATIENCE) as client:
        await client.list_tools()
        [child] = {*psutil.Process().children()} - others
        call = asyncio.create_task(outcome(client, "wait", number=1, seconds=PATIENCE))
        await asyncio.sleep(0.05)
        child.kill()
        assert await call == "error"
        await value_again(client)
        [again] = {*psutil.Process().children()} - others - {child}
    assert not again.is_running()


async def test_a_server_that_is_killed_between_question_and_answer_is_replaced_by_another(
    mortal: Mortal,
) -> None:
    def answer(_question: Elicitation) -> Any:
        mortal.kill()
        mortal.start()
        return {"value": True}

    async with Client(mortal.url, timeout=PATIENCE, on_elicit=answer) as client:
        # What was asked is sealed in the request, and any process with the same keys can go on.
        assert "True" in await client.call("ask", {"number": 1})


async def test_a_server_of_a_handshake_that_is_killed_while_it_asks_fails_the_call(
    mortal: Mortal,
) -> None:
    def answer(_question: Elicitation) -> Any:
        mortal.kill()
        mortal.start()
        return {"value": True}

    async with Client(
        mortal.url, revision="2025-11-25", timeout=PATIENCE, on_elicit=answer
    ) as client:
        assert await outcome(client, "ask", number=1) == "error"
        await value_again(client)


CALLER = """
import asyncio, sys
from anyshape import Client
async def main(target):
    async with Client(target, revision=sys.argv[1]) as client:
        print("ready", flush=True)
        await client.call("wait", {"number": 1, "seconds": 600.0})
target = sys.argv[2] if len(sys.argv) == 3 else sys.argv[2:]
asyncio.run(main(target))
"""


def start_caller(revision: str, *target: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", CALLER, revision, *target]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    process.stdout.close()
    return process


async def test_the_call_of_a_client_that_was_killed_is_stopped(mortal: Mortal) -> None:
    port = mortal.program.port
    caller = await asyncio.to_thread(start_caller, "2026-07-28", mortal.url)
    async with asyncio.timeout(PATIENCE):
        while not await ask(port, "still_waiting"):  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.01)
        caller.kill()
        caller.wait(PATIENCE)
        while await ask(port, "still_waiting"):  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.01)
    await settled(lambda: not mortal.program.clients())


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_server_on_a_pipe_ends_with_the_client_that_was_killed(revision: str) -> None:
    caller = start_caller(revision, *WORKSHOP)
    [server] = psutil.Process(caller.pid).children()
    caller.kill()
    caller.wait(PATIENCE)
    until(lambda: not server.is_running())


def test_the_upstreams_of_a_gateway_that_was_killed_end() -> None:
    targets = (WORKSHOP[1], f"more={WORKSHOP[1]}")
    gateway = start_program("gatehouse.py", *targets, port=free_port())
    upstreams = psutil.Process(gateway.pid).children()
    assert len(upstreams) == 2
    assert gateway.stop(signal.SIGKILL) == -signal.SIGKILL
    assert not any(each.is_running() for each in upstreams)


@pytest.mark.parametrize("kind", ["server", "gateway", "gateway of a pipe"])
async def test_a_graceful_stop_loses_no_call_that_has_begun(kind: str) -> None:
    with run_program("workshop.py") as workshop:
        target = WORKSHOP[1] if kind == "gateway of a pipe" else workshop.url
        front = (
            workshop
            if kind == "server"
            else start_program("gatehouse.py", target, port=free_port())
        )
        calls = [Call("after a while", number) for number in range(100)]
        lines = [await dial(front.port) for _ in calls]
        for line, call in zip(lines, calls, strict=True):
            params = {"name": "wait", "arguments": {"number": call.id, "seconds": 1.0}}
            line.send(modern("tools/call", params, call.id))
        async with asyncio.timeout(PATIENCE):
            while await _waiting(front, lines) < len(calls):  # noqa: ASYNC110 - elsewhere
                await asyncio.sleep(0.01)
            stopping = asyncio.create_task(asyncio.to_thread(front.stop))
            replies = [await line.reply() for line in lines]
            assert await stopping in (0, -signal.SIGTERM)  # uvicorn ends by what it was told
        verdicts = {
            judge(call, reply.messages[-1], reply.status)
            for call, reply in zip(calls, replies, strict=True)
        }
        assert verdicts == {"right"}
        for line in lines:
            await line.close()


async def _waiting(front: Program, lines: list[Line]) -> int:
    """Return how many calls wait, counting those that have been answered."""
    return await ask(front.port, "still_waiting") + sum(line.has_more() for line in lines)


def test_input_that_ends_in_the_middle_of_a_message_ends_the_server_and_no_call_before_it() -> None:
    process = subprocess.Popen(WORKSHOP, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    whole = Call("after a while", 1).line()
    given, _ = process.communicate(whole + Call("after a while", 2).line()[:-20], PATIENCE)
    assert process.returncode == 0
    answers = {each.get("id"): each for each in map(json.loads, given.splitlines())}
    assert judge(Call("after a while", 1), answers.pop(1)) == "right"
    assert [each["error"]["code"] for each in answers.values()] == [-32700]


@pytest.mark.parametrize("output", ["/dev/full", "closed"])
def test_a_server_whose_output_takes_nothing_ends(output: str) -> None:
    command = WORKSHOP if output != "closed" else ["sh", "-c", 'exec "$@" >&-', "sh", *WORKSHOP]
    with open("/dev/full" if output == "/dev/full" else "/dev/null", "wb") as taker:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=taker, stderr=subprocess.PIPE
        )
    assert process.stdin is not None
    assert process.stderr is not None
    process.stdin.write(Call("at once", 1).line())
    process.stdin.flush()
    if output == "closed":
        process.stdin.close()
    process.wait(PATIENCE)
    for stream in (process.stdin, process.stderr):
        stream.close()
