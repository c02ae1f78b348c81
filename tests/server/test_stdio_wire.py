"""What goes over the pipe, byte for byte, at every revision."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from patience import PATIENCE, until

from anyshape import Client, ProtocolError

from .visiting import META, MODERN


def _structured(revision: str | None, value: Any) -> Any:
    """Return what `structuredContent` is for a value that is no object."""
    if revision == MODERN:
        return value
    return None if revision in ("2024-11-05", "2025-03-26") else {"result": value}


@pytest.mark.behaviour("lifecycle.initialize.same-revision")
@pytest.mark.parametrize("revision", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_a_handshake_settles_on_the_revision_asked_for(pipe: Any, revision: str) -> None:
    result = pipe.initialize(revision)["result"]
    assert result["protocolVersion"] == revision
    assert result["capabilities"] == {"tools": {"listChanged": True}, "logging": {}}
    assert result["instructions"] == "Read the wire."
    expected = {"name": "wire", "version": "1.2.3"}
    if revision >= "2025-06-18":
        expected["title"] = "Wire"
    if revision >= "2025-11-25":
        expected["description"] = "For tests"
    assert result["serverInfo"] == expected


@pytest.mark.behaviour("lifecycle.initialize.working-names")
@pytest.mark.parametrize("revision", ["2026-06-30", "DRAFT-2026-06-v1"])
def test_the_working_names_are_spoken_with_a_handshake_and_see_natural_values(
    pipe: Any, revision: str
) -> None:
    assert pipe.initialize(revision)["result"]["protocolVersion"] == revision
    assert pipe.call("people")["result"]["structuredContent"] == [
        {"name": "Ada"},
        {"name": "Grace"},
    ]


@pytest.mark.behaviour("lifecycle.initialize.unknown-revision")
@pytest.mark.parametrize("revision", ["1999-01-01", "2026-07-28", "zzz", "9999-12-31"])
def test_a_handshake_for_a_revision_without_one_is_offered_the_latest_with(
    pipe: Any, revision: str
) -> None:
    assert pipe.initialize(revision)["result"]["protocolVersion"] == "2025-11-25"


@pytest.mark.behaviour("tools.call.result")
def test_a_call_is_answered_in_the_shape_of_its_revision(spoken: Any) -> None:
    result = spoken.call("add", {"a": 2, "b": 3})["result"]
    assert result["content"] == [{"type": "text", "text": "5"}]
    assert result.get("structuredContent") == _structured(spoken.revision, 5)
    assert result.get("resultType") == ("complete" if spoken.revision == MODERN else None)


@pytest.mark.behaviour("base.id.echoed")
@pytest.mark.parametrize("id", [0, 1, -5, 2**63, "a", "", "ünï", "1", 'quo"te'])
def test_ids_come_back_as_they_were(spoken: Any, id: Any) -> None:
    answer = spoken.call("add", {"a": 1, "b": 1}, id=id)
    assert answer["id"] == id
    assert type(answer["id"]) is type(id)


@pytest.mark.behaviour("tools.list.pages")
def test_pages_of_the_listing_are_whole_and_in_order(spoken: Any) -> None:
    names: list[str] = []
    cursor = None
    for _ in range(20):
        params = {} if cursor is None else {"cursor": cursor}
        result = spoken.request("tools/list", params)["result"]
        assert 0 < len(result["tools"]) <= 5
        names += [tool["name"] for tool in result["tools"]]
        cursor = result.get("nextCursor")
        if cursor is None:
            break
    assert names[:3] == ["add", "people", "nothing"]
    assert len(names) == len(set(names)) == 18


@pytest.mark.behaviour("tools.list.invalid-cursor")
@pytest.mark.parametrize("cursor", ["", "nonsense", "YWZ0ZXI6bm9uZQ==", "é", "=" * 500])
def test_a_cursor_that_is_not_ours_is_invalid(spoken: Any, cursor: str) -> None:
    assert spoken.request("tools/list", {"cursor": cursor})["error"]["code"] == -32602


@pytest.mark.behaviour("tools.call.unknown-tool")
def test_an_unknown_tool_is_a_protocol_error(spoken: Any) -> None:
    error = spoken.call("no_such_tool")["error"]
    assert (error["code"], error["message"]) == (-32602, "Unknown tool: no_such_tool")


@pytest.mark.behaviour("tools.call.invalid-arguments")
def test_wrong_arguments_are_a_result_for_the_model_to_read(spoken: Any) -> None:
    result = spoken.call("add", {"a": "two"})["result"]
    assert result["isError"] is True
    assert "structuredContent" not in result
    assert result["content"][0]["type"] == "text"


@pytest.mark.behaviour("tools.call.execution-error")
def test_a_tool_that_fails_says_so_in_its_result(spoken: Any) -> None:
    result = spoken.call("fail", {"message": "No such city."})["result"]
    assert result["isError"] is True
    assert result["content"] == [{"type": "text", "text": "No such city."}]


@pytest.mark.behaviour("tools.call.sanitized")
def test_a_tool_that_crashes_leaks_nothing(spoken: Any) -> None:
    result = spoken.call("crash")["result"]
    assert result["isError"] is True
    assert "42" not in json.dumps(result)


@pytest.mark.behaviour("base.method-not-found")
@pytest.mark.parametrize("method", ["resources/list", "prompts/list", "completion/complete", "x"])
def test_an_unknown_method_is_not_found(spoken: Any, method: str) -> None:
    assert spoken.request(method, {})["error"]["code"] == -32601


@pytest.mark.behaviour("base.malformed")
@pytest.mark.parametrize(
    ("line", "code", "id"),
    [
        (b"{", -32700, None),
        (b"nonsense", -32700, None),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping"', -32700, None),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping"}}', -32700, None),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\xff"}}', -32700, 1),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"a":NaN}}', -32700, 1),
        (b"42", -32600, None),
        (b'"ping"', -32600, None),
        (b"null", -32600, None),
        (b"[]", -32600, None),
        (b"{}", -32600, None),
        (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600, 1),
        (b'{"id":1,"method":"ping"}', -32600, 1),
        (b'{"jsonrpc":"2.0","id":1,"method":5}', -32600, 1),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":[1],"method":"ping"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}', -32602, 1),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":"x"}', -32602, 1),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":3}}', -32602, 1),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}', -32602, 1),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}', -32602, 1),
        (
            b'{"jsonrpc":"2.0","id":1,"method":"tools/call",'
            b'"params":{"name":"add","arguments":[1,2]}}',
            -32602,
            1,
        ),
        (
            b'{"jsonrpc":"2.0","id":1,"method":"x","params":' + b'{"a":' * 5000 + b"}" * 5001,
            -32700,
            1,
        ),
        (b'"id":1,"method":"ping"}', -32700, None),
        (b"1,2", -32700, None),
        (b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":"\\ud83d"}}', -32700, 1),
        (b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":"\\ud83d, cut"}}', -32700, 1),
        (b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":"\\ude00"}}', -32700, 1),
        (b'{"jsonrpc":"2.0","id":"\\ud83d","method":"x"}', -32700, None),
        (b'{"jsonrpc":"2.0","id":1,"result":{"a":"\\ud83d"}}', -32700, None),
    ],
)
def test_what_is_no_message_gets_its_error_and_the_next_message_its_answer(
    greeted: Any, line: bytes, code: int, id: Any
) -> None:
    greeted.write(line + b"\n")
    answer = greeted.receive()
    assert answer["error"]["code"] == code
    assert answer.get("id") == id
    assert ("id" in answer) is (id is not None)
    assert greeted.call("add", {"a": 1, "b": 2})["result"]["content"][0]["text"] == "3"


@pytest.mark.behaviour("base.error.unknown-id")
@pytest.mark.parametrize("revision", ["2024-11-05", "2025-03-26", "2025-06-18"])
def test_older_revisions_are_told_that_an_id_was_unreadable_with_null(
    pipe: Any, revision: str
) -> None:
    pipe.initialize(revision)
    pipe.write(b"{\n")
    assert pipe.receive()["id"] is None


@pytest.mark.behaviour("transport.stdio.oversized")
def test_a_line_that_is_too_long_is_refused_and_the_next_is_answered(spoken: Any) -> None:
    spoken.write(b'{"jsonrpc":"2.0","id":7,"method":"' + b"x" * 300_000 + b'"}\n')
    refusal = spoken.receive()
    assert (refusal["id"], refusal["error"]["code"]) == (7, -32700)
    assert "result" in spoken.call("add", {"a": 1, "b": 2})


@pytest.mark.behaviour("transport.stdio.oversized")
async def test_our_client_is_told_at_once_that_its_call_is_too_long() -> None:
    script = f"""
import sys
sys.path[:0] = {sys.path!r}
from anyshape import Server
server = Server("small")
@server.tool
async def measure(text: str) -> int:
    return len(text)
server.run()
"""
    async with Client([sys.executable, "-c", script]) as client:
        with pytest.raises(ProtocolError, match="longer than") as refusal:
            await client.call("measure", {"text": "x" * 5_000_000})
        assert refusal.value.code == -32700
        assert await client.call("measure", {"text": "abc"}) == 3


@pytest.mark.behaviour("limits.depth")
@pytest.mark.parametrize("depth", [300, 40_000])
def test_a_line_that_nests_too_deeply_is_refused_and_the_next_is_answered(
    spoken: Any, depth: int
) -> None:
    nested = b"[" * depth + b"]" * depth
    spoken.write(b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":%b}}\n' % nested)
    refusal = spoken.receive()
    assert (refusal["id"], refusal["error"]["code"]) == (1, -32700)
    assert "levels deep" in refusal["error"]["message"]
    assert "result" in spoken.call("add", {"a": 1, "b": 2})


@pytest.mark.behaviour("transport.stdio.framing")
def test_messages_arrive_however_they_are_cut_and_joined(spoken: Any) -> None:
    params: dict[str, Any] = {"name": "add", "arguments": {"a": 1, "b": 2}}
    if spoken.revision == MODERN:
        params["_meta"] = META
    lines = b"".join(
        json.dumps({"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": params}).encode()
        + (b"\r\n" if n % 2 else b"\n\n")
        for n in range(10)
    )
    for start in range(0, len(lines), 97):
        spoken.write(lines[start : start + 97])
    assert sorted(spoken.receive()["id"] for _ in range(10)) == list(range(10))


@pytest.mark.behaviour("transport.stdio.concurrent")
def test_answers_leave_as_they_are_ready(spoken: Any) -> None:
    spoken.start("wait", {"seconds": 0.3, "tag": "slow"}, "slow")
    assert "result" in spoken.call("add", {"a": 1, "b": 2}, id="quick")
    assert spoken.receive()["id"] == "slow"


@pytest.mark.behaviour("base.id.duplicate")
def test_an_id_that_is_in_flight_cannot_be_used_again(spoken: Any) -> None:
    for _ in range(2):
        spoken.start("wait", {"seconds": 0.3}, 5)
    refused, answered = spoken.receive(), spoken.receive()
    assert (refused["id"], refused["error"]["code"]) == (5, -32600)
    assert answered["id"] == 5
    assert "result" in answered
    assert "result" in spoken.call("add", {"a": 1, "b": 2}, id=5)


@pytest.mark.behaviour("cancellation.stops-work")
def test_a_cancelled_call_stops_and_is_not_answered(spoken: Any) -> None:
    spoken.start("wait", {"seconds": 30, "tag": "mine"}, "w")
    cancelled = {"requestId": "w", "reason": "changed my mind"}
    spoken.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled})
    assert "result" in spoken.call("wait", {"seconds": 0.05})
    assert "mine" in spoken.call("cancellations")["result"]["content"][0]["text"]
    assert spoken.is_silent()


@pytest.mark.behaviour("cancellation.invalid-ignored")
@pytest.mark.parametrize(
    "params",
    [None, {}, {"requestId": 99}, {"requestId": None}, {"requestId": {}}, {"requestId": []}],
)
def test_a_cancellation_of_nothing_is_ignored(greeted: Any, params: Any) -> None:
    notification: dict[str, Any] = {"jsonrpc": "2.0", "method": "notifications/cancelled"}
    if params is not None:
        notification["params"] = params
    greeted.send(notification)
    assert "result" in greeted.call("add", {"a": 1, "b": 2})


@pytest.mark.behaviour("base.notification.no-answer")
def test_notifications_and_responses_are_never_answered(spoken: Any) -> None:
    spoken.send({"jsonrpc": "2.0", "method": "notifications/who/knows", "params": {"x": 1}})
    spoken.send({"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "add"}})
    spoken.send({"jsonrpc": "2.0", "method": "notifications/initialized", "params": [1]})
    spoken.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": "all"})
    spoken.send({"jsonrpc": "2.0", "id": 3, "result": {}})
    spoken.send({"jsonrpc": "2.0", "id": 3, "error": {"code": 1, "message": "no"}})
    assert "result" in spoken.call("add", {"a": 1, "b": 2})
    assert spoken.is_silent()


@pytest.mark.behaviour("progress.notifications")
def test_progress_is_reported_while_a_call_runs(spoken: Any) -> None:
    spoken.start("steps", {"count": 3}, 1, progressToken="p1")
    for step in (1, 2, 3):
        expected: dict[str, Any] = {"progressToken": "p1", "progress": step, "total": 3}
        if spoken.revision != "2024-11-05":
            expected["message"] = f"step {step}"
        assert spoken.receive() == {
            "jsonrpc": "2.0",
            "method": "notifications/progress",
            "params": expected,
        }
    assert spoken.receive()["id"] == 1


@pytest.mark.behaviour("progress.only-with-token")
def test_without_a_token_there_is_no_progress(spoken: Any) -> None:
    assert "result" in spoken.call("steps", {"count": 3})


@pytest.mark.behaviour("transport.stdio.stdout-protected")
def test_what_tools_print_cannot_reach_the_protocol(fresh: Any) -> None:
    result = fresh.call("shout", {"text": "AAARGH"})["result"]
    assert result["content"][0]["text"].strip('"') == "AAARGH"
    assert fresh.is_silent()
    assert fresh.finish() == 0
    assert fresh.has_ended()
    assert b"".join(fresh.errors).count(b"AAARGH") == 6
    assert b"".join(fresh.errors).count(b"printed before the server runs") == 1


@pytest.mark.behaviour("transport.stdio.end-of-input")
def test_a_tool_that_ignores_its_cancellation_does_not_keep_the_server_alive(
    start_pipe: Callable[..., Any],
) -> None:
    script = """
import asyncio
from anyshape import Server
from anyshape.server import ServerOptions
server = Server("stubborn", options=ServerOptions(grace=0.1))
@server.tool
async def stay() -> str:
    while True:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            pass
server.run()
"""
    pipe = start_pipe(sys.executable, "-c", script)
    pipe.initialize("2025-11-25")
    pipe.start("stay", {}, 1)
    assert "result" in pipe.ask("ping")
    assert pipe.finish() == 0


@pytest.mark.behaviour("transport.stdio.signals")
def test_a_signal_after_the_end_of_input_ends_the_wait_for_calls(
    start_pipe: Callable[..., Any],
) -> None:
    script = """
import asyncio
from contextlib import asynccontextmanager
from anyshape import Server
from anyshape.server import ServerOptions
@asynccontextmanager
async def lifespan(_):
    yield
    print("closed")
server = Server("patient", lifespan=lifespan, options=ServerOptions(grace=600))
@server.tool
async def stay() -> None:
    await asyncio.sleep(600)
server.run()
"""
    pipe = start_pipe(sys.executable, "-c", script)
    pipe.revision = MODERN
    pipe.ask("subscriptions/listen", {"_meta": META, "notifications": {}}, id="s")
    pipe.start("stay", {}, 1)
    pipe.process.stdin.close()
    assert pipe.receive()["method"] == "notifications/cancelled"
    pipe.process.send_signal(signal.SIGTERM)
    assert pipe.process.wait(PATIENCE) == 0
    assert pipe.receive()["id"] == "s"
    assert pipe.has_ended()
    assert pipe.errors == [b"closed\n"]


@pytest.mark.behaviour("transport.stdio.signals")
def test_a_signal_ends_a_server_that_is_still_opening(start_pipe: Callable[..., Any]) -> None:
    script = """
import asyncio, sys
from contextlib import asynccontextmanager
from anyshape import Server
@asynccontextmanager
async def lifespan(_):
    print("opening", file=sys.stderr, flush=True)
    await asyncio.sleep(600)
    yield
Server("slow", lifespan=lifespan).run()
"""
    pipe = start_pipe(sys.executable, "-c", script)
    until(lambda: pipe.errors == [b"opening\n"])
    pipe.process.send_signal(signal.SIGTERM)
    assert pipe.process.wait(PATIENCE) == 0
    assert pipe.has_ended()
    assert pipe.errors == [b"opening\n"]


@pytest.mark.behaviour("transport.stdio.signals")
def test_a_second_signal_ends_the_server_at_once(start_pipe: Callable[..., Any]) -> None:
    script = """
import asyncio
from anyshape import Server
from anyshape.server import ServerOptions
server = Server("patient", options=ServerOptions(grace=600))
@server.tool
async def stay() -> str:
    await asyncio.sleep(600)
    return "stayed"
server.run()
"""
    pipe = start_pipe(sys.executable, "-c", script)
    listen = {"_meta": META, "notifications": {"toolsListChanged": True}}
    pipe.ask("subscriptions/listen", listen, id="s")
    pipe.send(
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": "stay", "_meta": META},
        }
    )
    assert "result" in pipe.ask("server/discover", {"_meta": META})
    pipe.process.send_signal(signal.SIGTERM)
    # The subscription ends first, so the first signal has been taken.
    assert pipe.receive()["method"] == "notifications/cancelled"
    pipe.process.send_signal(signal.SIGTERM)
    assert pipe.process.wait(PATIENCE) == -signal.SIGTERM


@pytest.mark.behaviour("transport.stdio.end-of-input")
@pytest.mark.parametrize("closed", ["0<&-", "1>&-", "2>&-", "0<&- 1>&- 2>&-"])
def test_a_standard_stream_that_is_closed_is_an_empty_one(
    start_pipe: Callable[..., Any], closed: str
) -> None:
    script = "from anyshape import Server; Server('s').run()"
    shell = f'"$0" -c "{script}" {closed} <<< \'{{"jsonrpc":"2.0","id":1,"method":"ping"}}\''
    if "0<&-" in closed:
        shell = f'"$0" -c "{script}" {closed}'
    pipe = start_pipe("bash", "-c", f"{shell}; echo $?", sys.executable)
    if closed == "2>&-":
        assert pipe.receive() == {"jsonrpc": "2.0", "id": 1, "result": {}}
    assert pipe.receive() == 0
    assert pipe.has_ended()


@pytest.mark.behaviour("transport.stdio.end-of-input")
def test_a_server_can_run_in_a_thread(start_pipe: Callable[..., Any]) -> None:
    script = """
import threading
from anyshape import Server
thread = threading.Thread(target=Server("threaded").run)
thread.start()
thread.join()
"""
    pipe = start_pipe(sys.executable, "-c", script)
    assert pipe.ask("ping", id=1) == {"jsonrpc": "2.0", "id": 1, "result": {}}
    assert pipe.finish() == 0


@pytest.mark.behaviour("transport.stdio.concurrent")
def test_the_answer_to_a_slow_call_does_not_wait_for_the_next(
    start_pipe: Callable[..., Any], tmp_path: Path
) -> None:
    script = """
import pathlib, sys, time
from anyshape import Server
server = Server("slow")
@server.tool(inline=True)
def take(seconds: float, until: str = "") -> bool:
    time.sleep(seconds)
    deadline = time.monotonic() + 240
    while until and not pathlib.Path(until).exists() and time.monotonic() < deadline:
        time.sleep(0.005)
    return time.monotonic() < deadline
server.run()
"""
    pipe = start_pipe(sys.executable, "-c", script)
    seen = tmp_path / "seen"
    pipe.write(
        b"".join(
            json.dumps(
                {
                    "jsonrpc": "2.0",
                    "id": id,
                    "method": "tools/call",
                    "params": {"name": "take", "arguments": arguments, "_meta": META},
                }
            ).encode()
            + b"\n"
            for id, arguments in ((1, {"seconds": 0.02}), (2, {"seconds": 0, "until": str(seen)}))
        )
    )
    assert pipe.receive()["id"] == 1
    seen.touch()
    answer = pipe.receive()
    assert (answer["id"], answer["result"]["structuredContent"]) == (2, True)


ENDINGS = [
    "raise BaseException",
    "raise GeneratorExit",
    "raise KeyboardInterrupt",
    "raise SystemExit",
    "raise asyncio.CancelledError",
]
RUDE = """
import asyncio
from anyshape import Server
server = Server("rude")
@server.tool(inline=True)
def leave_inline() -> None:
    {end}
@server.tool
def leave_on_a_thread() -> None:
    {end}
@server.tool
async def leave() -> None:
    {end}
@server.tool
async def leave_later() -> None:
    await asyncio.sleep(0)
    {end}
@server.tool
async def stay() -> int:
    return 1
server.run()
"""


@pytest.mark.behaviour("transport.stdio.concurrent")
@pytest.mark.parametrize("end", ENDINGS)
def test_a_tool_that_raises_what_ends_programs_is_answered_and_ends_nothing(
    start_pipe: Callable[..., Any], end: str
) -> None:
    pipe = start_pipe(sys.executable, "-c", RUDE.format(end=end))
    pipe.revision = MODERN
    for name in ("leave_inline", "leave_on_a_thread", "leave", "leave_later"):
        assert pipe.call(name)["result"]["isError"] is True
        assert pipe.call("stay")["result"]["structuredContent"] == 1
    assert pipe.finish() == 0


RUDE_AROUND = """
import asyncio
from typing import Annotated
from pydantic import BeforeValidator
from anyshape import Server
server = Server("rude")
def end(value: str) -> str:
    {end}
@server.prompt
def greet(name: Annotated[str, BeforeValidator(end)]) -> str:
    return name
@server.resource("note:{{name}}")
def note(name: Annotated[str, BeforeValidator(end)]) -> str:
    return name
@server.middleware
async def around(request, proceed):
    if request.name == "leave":
        end("")
    if request.name == "leave_later":
        await asyncio.sleep(0)
        end("")
    return await proceed(request)
for name in ("leave", "leave_later", "stay"):
    server.tool(name=name)(lambda: 1)
server.run()
"""


@pytest.mark.behaviour("transport.stdio.concurrent")
@pytest.mark.parametrize("end", [end for end in ENDINGS if "GeneratorExit" not in end])
def test_middleware_and_validators_that_raise_what_ends_programs_end_one_request(
    start_pipe: Callable[..., Any], end: str
) -> None:
    pipe = start_pipe(sys.executable, "-c", RUDE_AROUND.format(end=end))
    pipe.revision = MODERN
    for method, params in (
        ("prompts/get", {"name": "greet", "arguments": {"name": "a"}}),
        ("resources/read", {"uri": "note:a"}),
        ("tools/call", {"name": "leave"}),
        ("tools/call", {"name": "leave_later"}),
    ):
        assert pipe.request(method, params)["error"]["message"] == "Internal error"
        assert "result" in pipe.call("stay")
    assert pipe.finish() == 0


@pytest.mark.behaviour("transport.stdio.concurrent")
def test_a_tool_that_cancels_its_own_task_is_answered_and_ends_no_other_call(
    start_pipe: Callable[..., Any],
) -> None:
    script = """
import asyncio
from anyshape import Server
server = Server("rude")
@server.tool
async def cancel(wait: bool) -> int:
    asyncio.current_task().cancel()
    if wait:
        await asyncio.sleep(600)
    return 1
@server.tool
def stay() -> int:
    return 2
server.run()
"""
    pipe = start_pipe(sys.executable, "-c", script)
    pipe.revision = MODERN
    for _ in range(2):
        assert pipe.call("cancel", {"wait": False})["result"]["structuredContent"] == 1
        assert pipe.call("stay")["result"]["structuredContent"] == 2
        assert pipe.call("cancel", {"wait": True})["error"]["code"] == -32603
        assert pipe.call("stay")["result"]["structuredContent"] == 2
    assert pipe.finish() == 0


@pytest.mark.behaviour("transport.stdio.concurrent")
@pytest.mark.parametrize("end", ["raise KeyboardInterrupt", "raise SystemExit"])
def test_a_task_that_a_tool_has_started_cannot_end_the_server(
    start_pipe: Callable[..., Any], end: str
) -> None:
    script = f"""
import asyncio
from anyshape import Server
server = Server("rude")
async def rude():
    {end}
@server.tool
async def leave() -> None:
    await asyncio.gather(rude())
@server.tool
async def stay() -> int:
    return 1
server.run()
"""
    pipe = start_pipe(sys.executable, "-c", script)
    pipe.revision = MODERN
    for _ in range(2):
        assert pipe.call("leave")["result"]["isError"] is True
        assert pipe.call("stay")["result"]["structuredContent"] == 1
    assert pipe.finish() == 0


@pytest.mark.behaviour("transport.stdio.end-of-input")
@pytest.mark.parametrize("busy", [False, True])
def test_the_server_ends_when_nobody_reads_its_output(busy: bool) -> None:
    script = """
import asyncio
from anyshape import Server
from anyshape.server import ServerOptions
server = Server("deserted", options=ServerOptions(grace=600))
@server.tool
async def wait() -> None:
    await asyncio.sleep(600)
server.run()
"""
    read_end, write_end = os.pipe()
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=write_end
    ) as process:
        os.close(write_end)
        os.close(read_end)
        assert process.stdin is not None
        for id, method in enumerate(["tools/call"] * busy + ["tools/list"]):
            params = {"name": "wait", "_meta": META}
            body = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
            process.stdin.write(json.dumps(body).encode() + b"\n")
        process.stdin.flush()
        try:
            assert process.wait(PATIENCE) == 0
        finally:
            process.kill()


@pytest.mark.behaviour("transport.stdio.stdin-protected")
def test_a_tool_that_reads_standard_input_finds_it_empty(spoken: Any) -> None:
    assert spoken.call("read_input")["result"]["content"][0]["text"].strip('"') == ""


@pytest.mark.behaviour("base.stateless")
def test_what_one_call_puts_in_a_context_variable_the_next_does_not_see(spoken: Any) -> None:
    for _ in range(3):
        assert spoken.call("stain")["result"]["content"][0]["text"].strip('"') == "clean"


@pytest.mark.behaviour("transport.stdio.end-of-input")
def test_at_the_end_of_input_calls_in_flight_finish_within_the_grace_time(fresh: Any) -> None:
    fresh.start("wait", {"seconds": 0.2}, 1)
    assert fresh.finish() == 0
    assert "result" in fresh.receive()


@pytest.mark.behaviour("transport.stdio.end-of-input")
def test_at_the_end_of_input_calls_that_take_longer_are_given_up(pipe: Any) -> None:
    pipe.initialize("2025-11-25")
    for name in ("wait", "block", "block_in_thread"):
        call = {"name": name, "arguments": {"seconds": 60}}
        pipe.send({"jsonrpc": "2.0", "id": name, "method": "tools/call", "params": call})
    assert pipe.finish() == 0


@pytest.mark.behaviour("transport.stdio.signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_server_like_the_end_of_input(pipe: Any, number: int) -> None:
    pipe.initialize("2025-11-25")
    call = {"name": "wait", "arguments": {"seconds": 0.3}}
    pipe.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})
    assert "result" in pipe.call("add", {"a": 1, "b": 2}, id=2)
    pipe.process.send_signal(number)
    assert pipe.receive()["id"] == 1
    assert pipe.process.wait(PATIENCE) == 0


@pytest.mark.behaviour("lifecycle.ping")
@pytest.mark.parametrize("greeted", [False, True])
def test_a_ping_is_answered_before_and_after_the_handshake(pipe: Any, greeted: bool) -> None:
    if greeted:
        pipe.initialize("2025-06-18")
    assert pipe.ask("ping", id="p") == {"jsonrpc": "2.0", "id": "p", "result": {}}


@pytest.mark.behaviour("versioning.era.per-message")
def test_one_pipe_serves_both_eras_at_once(pipe: Any) -> None:
    assert pipe.ask("server/discover", {"_meta": META})["result"]["supportedVersions"][0] == MODERN
    pipe.initialize("2025-06-18")
    modern = pipe.ask("tools/call", {"name": "people", "_meta": META})["result"]
    legacy = pipe.ask("tools/call", {"name": "people"})["result"]
    assert modern["structuredContent"] == [{"name": "Ada"}, {"name": "Grace"}]
    assert legacy["structuredContent"] == {"result": [{"name": "Ada"}, {"name": "Grace"}]}


@pytest.mark.behaviour("versioning.meta.required")
@pytest.mark.parametrize(
    "meta",
    [
        None,
        {},
        {"io.modelcontextprotocol/clientCapabilities": {}},
        {"io.modelcontextprotocol/protocolVersion": MODERN},
        {
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": [],
        },
        {
            "io.modelcontextprotocol/protocolVersion": 7,
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    ],
)
@pytest.mark.parametrize("method", ["server/discover", "tools/list", "tools/call"])
def test_a_modern_request_without_its_metadata_is_malformed(
    ungreeted: Any, method: str, meta: Any
) -> None:
    params: dict[str, Any] = {"name": "add", "arguments": {"a": 1, "b": 2}}
    if meta is not None:
        params["_meta"] = meta
    assert ungreeted.ask(method, params)["error"]["code"] == -32602


@pytest.mark.behaviour("versioning.unsupported")
@pytest.mark.parametrize("version", ["1900-01-01", "zzz", "", "2026-07-29"])
def test_an_unknown_revision_is_told_which_ones_there_are(ungreeted: Any, version: str) -> None:
    meta = {**META, "io.modelcontextprotocol/protocolVersion": version}
    error = ungreeted.ask("tools/list", {"_meta": meta})["error"]
    assert error["code"] == -32022
    assert error["data"] == {
        "supported": ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"],
        "requested": version,
    }


@pytest.mark.behaviour("versioning.unsupported")
def test_a_handshake_revision_named_in_meta_is_served_as_that_revision(ungreeted: Any) -> None:
    meta = {**META, "io.modelcontextprotocol/protocolVersion": "2025-06-18"}
    result = ungreeted.ask("tools/call", {"name": "nothing", "_meta": meta})["result"]
    assert result == {
        "content": [{"type": "text", "text": "null"}],
        "structuredContent": {"result": None},
    }


@pytest.mark.behaviour("versioning.capability-missing")
def test_a_tool_that_needs_a_capability_is_refused_to_a_client_without_it(ungreeted: Any) -> None:
    error = ungreeted.ask("tools/call", {"name": "needy", "_meta": META})["error"]
    assert (error["code"], error["data"]) == (-32021, {"requiredCapabilities": {"sampling": {}}})
    able: dict[str, Any] = {
        **META,
        "io.modelcontextprotocol/clientCapabilities": {"sampling": {"tools": {}}},
    }
    assert "result" in ungreeted.ask("tools/call", {"name": "needy", "_meta": able})


@pytest.mark.behaviour("base.batch")
def test_a_batch_is_answered_as_one_where_the_revision_has_batches(pipe: Any) -> None:
    pipe.initialize("2025-03-26")
    pipe.send(
        [
            {"jsonrpc": "2.0", "id": 1, "method": "ping"},
            {"jsonrpc": "2.0", "method": "notifications/nothing"},
            {
                "jsonrpc": "2.0",
                "id": 2,
                "method": "tools/call",
                "params": {"name": "wait", "arguments": {"seconds": 0.05, "tag": "b"}},
            },
            {"jsonrpc": "2.0", "id": 3, "method": "initialize", "params": {"protocolVersion": "x"}},
            7,
        ]
    )
    answers = pipe.receive()
    by_id = {answer.get("id"): answer for answer in answers}
    assert by_id[1]["result"] == {}
    assert by_id[2]["result"]["content"][0]["text"] == "waited b"
    assert by_id[3]["error"]["code"] == -32600
    assert by_id[None]["error"]["code"] == -32600
    assert len(answers) == 4


@pytest.mark.behaviour("base.batch")
def test_a_batch_of_notifications_is_not_answered(pipe: Any) -> None:
    pipe.initialize("2025-03-26")
    pipe.send([{"jsonrpc": "2.0", "method": "notifications/nothing"}])
    assert "result" in pipe.call("add", {"a": 1, "b": 1})


@pytest.mark.behaviour("base.batch-refused")
@pytest.mark.parametrize("revision", ["2024-11-05", "2025-06-18", "2025-11-25", None])
def test_a_batch_is_refused_where_the_revision_has_none(pipe: Any, revision: str | None) -> None:
    if revision is not None:
        pipe.initialize(revision)
    pipe.send([{"jsonrpc": "2.0", "id": 1, "method": "ping"}])
    assert pipe.receive()["error"]["code"] == -32600


@pytest.mark.behaviour("tools.list-changed.handshake")
def test_a_handshake_client_is_told_of_changes_after_it_is_ready(pipe: Any) -> None:
    pipe.initialize("2025-11-25")
    changed = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
    pipe.send(
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": "change", "arguments": {"name": "extra"}},
        }
    )
    received = [pipe.receive(), pipe.receive()]
    assert changed in received
    assert any(each.get("id") == 1 for each in received)


@pytest.mark.behaviour("subscriptions.acknowledged-first")
def test_a_subscription_is_acknowledged_told_of_changes_and_closed_gracefully(pipe: Any) -> None:
    tag = {"io.modelcontextprotocol/subscriptionId": "sub"}
    pipe.send(
        {
            "jsonrpc": "2.0",
            "id": "sub",
            "method": "subscriptions/listen",
            "params": {
                "_meta": META,
                "notifications": {"toolsListChanged": True, "promptsListChanged": True},
            },
        }
    )
    assert pipe.receive() == {
        "jsonrpc": "2.0",
        "method": "notifications/subscriptions/acknowledged",
        "params": {"_meta": tag, "notifications": {"toolsListChanged": True}},
    }
    pipe.send(
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"_meta": META, "name": "change", "arguments": {"name": "extra"}},
        }
    )
    received = [pipe.receive(), pipe.receive()]
    assert {
        "jsonrpc": "2.0",
        "method": "notifications/tools/list_changed",
        "params": {"_meta": tag},
    } in received
    assert pipe.finish() == 0
    assert pipe.receive() == {
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"_meta": tag, "requestId": "sub"},
    }
    closed = pipe.receive()
    assert closed["id"] == "sub"
    assert closed["result"]["resultType"] == "complete"
    assert closed["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == "sub"


@pytest.mark.behaviour("subscriptions.several")
def test_several_subscriptions_are_each_told_under_their_own_id(pipe: Any) -> None:
    listen = {"_meta": META, "notifications": {"toolsListChanged": True}}
    for id in (1, "1"):
        assert pipe.ask("subscriptions/listen", listen, id=id)["params"]["_meta"] == {
            "io.modelcontextprotocol/subscriptionId": id
        }
    call = {"_meta": META, "name": "change", "arguments": {"name": "extra"}}
    pipe.send({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call})
    received = [pipe.receive() for _ in range(3)]
    told = [
        each["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"]
        for each in received
        if each.get("method") == "notifications/tools/list_changed"
    ]
    assert (len(told), set(told)) == (2, {1, "1"})
    pipe.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
    pipe.send({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": call})
    received = [pipe.receive() for _ in range(2)]
    assert {
        "jsonrpc": "2.0",
        "method": "notifications/tools/list_changed",
        "params": {"_meta": {"io.modelcontextprotocol/subscriptionId": "1"}},
    } in received
    assert pipe.is_silent()


@pytest.mark.behaviour("subscriptions.filter")
def test_a_subscription_is_told_nothing_it_did_not_ask_for(pipe: Any) -> None:
    listen = {"_meta": META, "notifications": {"promptsListChanged": True}}
    answer = pipe.ask("subscriptions/listen", listen, id=9)
    assert answer["params"]["notifications"] == {}
    call = {"_meta": META, "name": "change", "arguments": {"name": "extra"}}
    assert "result" in pipe.ask("tools/call", call)
    assert pipe.is_silent()


@pytest.mark.behaviour("subscriptions.cancelled-by-client")
def test_a_subscription_ends_when_its_client_cancels_it(pipe: Any) -> None:
    listen = {"_meta": META, "notifications": {"toolsListChanged": True}}
    pipe.ask("subscriptions/listen", listen, id=9)
    pipe.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}})
    call = {"_meta": META, "name": "change", "arguments": {"name": "extra"}}
    assert "result" in pipe.ask("tools/call", call)
    assert pipe.is_silent()


@pytest.mark.behaviour("limits.concurrent-calls")
def test_calls_beyond_the_limit_are_told_that_the_server_is_busy(pipe: Any) -> None:
    pipe.initialize("2025-11-25")
    call = {"name": "wait", "arguments": {"seconds": 0.5}}
    for id in range(12):
        pipe.send({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": call})
    answers = [pipe.receive() for _ in range(12)]
    busy = [answer for answer in answers if "error" in answer]
    assert len(busy) == 4
    assert {answer["error"]["code"] for answer in busy} == {503}
    assert "result" in pipe.call("add", {"a": 1, "b": 2})


@pytest.mark.behaviour("transport.stdio.slow-client")
def test_a_client_that_does_not_read_slows_itself_down_and_loses_nothing(pipe: Any) -> None:
    pipe.initialize("2025-11-25")
    call = {"name": "big", "arguments": {"size": 90_000}}
    count = 60
    for id in range(count):
        pipe.send({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": call})
    assert sorted(pipe.receive()["id"] for _ in range(count)) == list(range(count))


@pytest.mark.behaviour("base.meta.passed-on")
def test_a_tool_can_see_who_calls_it(spoken: Any) -> None:
    meta: dict[str, Any] = {"com.example/trace": "t1"}
    if spoken.revision == MODERN:
        meta["io.modelcontextprotocol/protocolVersion"] = MODERN
        meta["io.modelcontextprotocol/clientCapabilities"] = {}
        meta["io.modelcontextprotocol/clientInfo"] = {"name": "raw", "version": "0"}
    answer = spoken.ask("tools/call", {"name": "who", "_meta": meta}, id="me")
    seen = json.loads(answer["result"]["content"][0]["text"])
    assert seen["id"] == "me"
    assert seen["client"] == {"name": "raw", "version": "0"}
    assert seen["meta"]["com.example/trace"] == "t1"


@pytest.mark.behaviour("transport.stdio.framing")
def test_a_file_can_stand_in_for_the_client(start_pipe: Callable[..., Any], tmp_path: Any) -> None:
    script = (
        "import subprocess, sys\n"
        "done = subprocess.run([sys.executable, sys.argv[1]], stdin=open(sys.argv[2], 'rb'),"
        " stdout=open(sys.argv[3], 'wb'))\n"
        "print('{\"code\": %d}' % done.returncode)\n"
    )
    requests = tmp_path / "requests"
    answers = tmp_path / "answers"
    requests.write_text('{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    from pathlib import Path

    server = Path(__file__).parent / "wire_server.py"
    runner = start_pipe(sys.executable, "-c", script, str(server), str(requests), str(answers))
    assert runner.receive() == {"code": 0}
    assert json.loads(answers.read_text()) == {"jsonrpc": "2.0", "id": 1, "result": {}}
