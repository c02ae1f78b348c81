"""Calls that become tasks: waited for by default, held by a handle, cancelled, and hostile ones."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from patience import PATIENCE, turn_until
from pydantic import BaseModel

from anyshape import Client, Context, Server, ToolError
from anyshape.client import Bounds, TaskStatus
from anyshape.client import tasks as tasks_module
from anyshape.errors import (
    AnyshapeError,
    OutputMismatch,
    ProtocolError,
    TransportError,
    ValidationError,
)

if TYPE_CHECKING:
    from .conftest import Refusal, Scripted

Json = dict[str, Any]
ELICIT: Json = {
    "method": "elicitation/create",
    "params": {
        "message": "Who?",
        "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}},
    },
}


class Report(BaseModel):
    pages: int


class Works:
    """One of our servers, whose tasks wait until the test lets them go on."""

    def __init__(self) -> None:
        self.server = server = Server("works")
        self.may_end = asyncio.Event()
        self.running = 0
        self.cancelled = 0

        @server.tool(task=True)
        async def write(pages: int, ctx: Context) -> Report:
            """Write a report when the test says so."""
            await ctx.progress(1, 2, "writing")
            self.running += 1
            try:
                await self.may_end.wait()
            except asyncio.CancelledError:
                self.cancelled += 1
                raise
            if pages < 0:
                raise ToolError("there is no such report")
            return Report(pages=pages)

        @server.tool
        async def direct() -> int:
            return 3


async def test_a_call_that_becomes_a_task_is_waited_for() -> None:
    works = Works()
    works.may_end.set()
    async with Client(works.server) as client:
        result = await client.call_tool("write", {"pages": 7})
        assert result.value == {"pages": 7}
        assert await client.call("write", {"pages": 7}, returns=Report) == Report(pages=7)
        failed = await client.call_tool("write", {"pages": -1})
        assert (failed.is_error, failed.text) == (True, "there is no such report")
        with pytest.raises(ValidationError):
            await client.call_tool("write", {"pages": "x"})


@pytest.mark.parametrize("revision", ["2025-11-25", "2024-11-05"])
async def test_older_servers_are_called_directly(revision: str) -> None:
    works = Works()
    works.may_end.set()
    async with Client(works.server, revision=revision) as client:
        task = await client.begin_call("write", {"pages": 7})
        assert (task.id, task.status) == (None, TaskStatus.COMPLETED)
        assert await client.call("write", {"pages": 7}, returns=Report) == Report(pages=7)
        assert await task.result() == await client.call_tool("write", {"pages": 7})


async def test_a_handle_tells_how_a_task_stands_and_what_it_came_to() -> None:
    works = Works()
    async with Client(works.server) as client:
        task = await client.begin_call("write", {"pages": 7})
        assert task.id is not None
        assert task.status is TaskStatus.WORKING
        await turn_until(lambda: works.running)
        assert await task.refresh() is TaskStatus.WORKING
        assert task.message == "writing (1 of 2)"
        again = await client.resume_task(task.id, "write")
        works.may_end.set()
        assert (await task.result()).value == {"pages": 7}
        assert (task.status, await task.refresh()) == (TaskStatus.COMPLETED, TaskStatus.COMPLETED)
        assert await again.result() == await task.result()


async def test_a_tool_that_answers_at_once_gives_a_task_that_has_ended() -> None:
    async with Client(Works().server) as client:
        task = await client.begin_call("direct")
        assert (task.id, task.status) == (None, TaskStatus.COMPLETED)
        assert (await task.result()).value == 3
        await task.cancel()


async def test_a_cancelled_task_has_no_result() -> None:
    works = Works()
    async with Client(works.server) as client:
        task = await client.begin_call("write", {"pages": 7})
        await turn_until(lambda: works.running)
        await task.cancel()
        with pytest.raises(ProtocolError, match="cancelled"):
            await task.result()
        assert task.status is TaskStatus.CANCELLED
        await turn_until(lambda: works.cancelled)


async def test_a_task_that_nobody_waits_for_any_more_is_cancelled() -> None:
    works = Works()
    async with Client(works.server) as client:
        calling = asyncio.create_task(client.call_tool("write", {"pages": 7}))
        await turn_until(lambda: works.running == 1)
        calling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await calling
        await turn_until(lambda: works.cancelled == 1)
        with pytest.raises(TransportError, match="did not end within"):
            await client.call_tool("write", {"pages": 7}, timeout=0.05)
        await turn_until(lambda: works.cancelled == works.running)


async def test_a_handle_can_stop_waiting_and_wait_again() -> None:
    works = Works()
    async with Client(works.server) as client:
        task = await client.begin_call("write", {"pages": 7})
        with pytest.raises(TransportError, match="did not end within"):
            await task.result(timeout=0.01)
        works.may_end.set()
        assert (await task.result()).value == {"pages": 7}


async def test_a_task_that_is_not_there_cannot_be_resumed() -> None:
    async with Client(Works().server) as client:
        with pytest.raises(ProtocolError, match="no task of that id") as raised:
            await client.resume_task("x", "write")
        assert raised.value.code == -32602


@pytest.fixture
def works() -> Works:
    return Works()


@pytest.fixture
def server(works: Works) -> Server:
    """What `url` serves."""
    return works.server


async def test_tasks_over_http_outlive_their_client(works: Works, url: str) -> None:
    async with Client(url) as client:
        task = await client.begin_call("write", {"pages": 7})
        assert task.id is not None
        await turn_until(lambda: works.running, 0.01)
    assert works.cancelled == 0
    works.may_end.set()
    async with Client(url) as client:
        again = await client.resume_task(task.id, "write")
        assert (await again.result()).value == {"pages": 7}
        assert (await client.call_tool("write", {"pages": 8})).value == {"pages": 8}


class Foreign:
    """A server whose only tool answers with a task that stands as the test says, look by look."""

    def __init__(self, scripted: type[Scripted], *looks: Any, created: Json | None = None) -> None:
        self.looks = list(looks)
        self.updates: list[Json] = []
        self.script = scripted(
            tools__list=lambda params: {
                "tools": [
                    {
                        "name": "t",
                        "inputSchema": {"type": "object"},
                        "outputSchema": {"type": "integer"},
                    }
                ]
            },
            tools__call=lambda params: {
                "resultType": "task",
                **(created or stands("working")),
            },
            tasks__get=self.look,
            tasks__update=self.update,
            tasks__cancel=lambda params: {"resultType": "complete"},
        )

    def connect(self, send: Any, /) -> Scripted:
        return self.script.connect(send)

    def look(self, params: Json) -> Any:
        look = self.looks.pop(0) if len(self.looks) > 1 else self.looks[0]
        if isinstance(look, Exception):
            raise look
        return look

    def update(self, params: Json) -> Json:
        self.updates.append(params["inputResponses"])
        return {"resultType": "complete"}


def stands(status: Any, **more: Any) -> Json:
    return {
        "taskId": "T",
        "status": status,
        "createdAt": "2026-01-01T00:00:00Z",
        "lastUpdatedAt": "2026-01-01T00:00:00Z",
        "ttlMs": 1000,
        "pollIntervalMs": 1,
        **more,
    }


DONE = stands("completed", result={"content": [], "structuredContent": 3})


async def test_each_look_names_the_task_and_its_capability(scripted: type[Scripted]) -> None:
    server = Foreign(scripted, stands("working"), DONE)
    async with Client(server) as client:
        assert await client.call("t") == 3
    looks = server.script.asked("tasks/get")
    assert [look["taskId"] for look in looks] == ["T", "T"]
    meta = looks[0]["_meta"]["io.modelcontextprotocol/clientCapabilities"]
    assert meta == {"extensions": {"io.modelcontextprotocol/tasks": {}}}
    assert server.script.asked("tasks/cancel") == []


async def test_a_failed_task_raises_the_error_that_the_call_would_have(
    scripted: type[Scripted],
) -> None:
    failed = stands("failed", error={"code": -32603, "message": "gone", "data": [1]})
    async with Client(Foreign(scripted, failed)) as client:
        for _ in range(2):
            with pytest.raises(ProtocolError, match="gone") as raised:
                await client.call_tool("t")
            assert (raised.value.code, raised.value.data) == (-32603, [1])
        task = await client.begin_call("t")
        assert await task.refresh() is TaskStatus.FAILED
        with pytest.raises(ProtocolError, match="gone"):
            await task.result()


async def test_the_value_of_a_task_is_checked_as_any(scripted: type[Scripted]) -> None:
    wrong = stands("completed", result={"content": [], "structuredContent": "x"})
    async with Client(Foreign(scripted, wrong)) as client:
        with pytest.raises(OutputMismatch):
            await client.call_tool("t")


async def test_what_a_task_asks_is_answered_once(scripted: type[Scripted]) -> None:
    asked: list[str] = []

    def on_elicit(elicitation: Any) -> Json:
        asked.append(elicitation.message)
        return {"name": "Ada"}

    first = stands("input_required", inputRequests={"a": ELICIT})
    both = stands("input_required", inputRequests={"a": ELICIT, "b": ELICIT})
    server = Foreign(scripted, first, first, both, stands("working"), DONE)
    async with Client(server, on_elicit=on_elicit) as client:
        assert await client.call("t") == 3
    answer = {"action": "accept", "content": {"name": "Ada"}}
    assert server.updates == [{"a": answer}, {"b": answer}]
    assert asked == ["Who?", "Who?"]


async def test_an_answer_that_was_lost_is_given_again_and_asked_for_once(
    scripted: type[Scripted],
) -> None:
    asked: list[str] = []

    def on_elicit(elicitation: Any) -> Json:
        asked.append(elicitation.message)
        return {"name": "Ada"}

    required = stands("input_required", inputRequests={"a": ELICIT})
    server = Foreign(scripted, required, required, DONE)
    losses = [TransportError("it is not there")]

    def update(params: Json) -> Json:
        if losses:
            raise losses.pop()
        return server.update(params)

    server.script.answers["tasks/update"] = update
    async with Client(server, on_elicit=on_elicit) as client:
        assert await client.call("t") == 3
    assert server.updates == [{"a": {"action": "accept", "content": {"name": "Ada"}}}]
    assert asked == ["Who?"]


async def test_a_task_that_asks_what_was_not_offered_is_given_up(
    scripted: type[Scripted],
) -> None:
    server = Foreign(scripted, stands("input_required", inputRequests={"a": ELICIT}))
    async with Client(server) as client:
        with pytest.raises(ProtocolError, match="did not offer"):
            await client.call_tool("t")
    assert len(server.script.asked("tasks/cancel")) == 1


async def test_a_task_cannot_ask_without_end(scripted: type[Scripted]) -> None:
    rounds = [stands("input_required", inputRequests={str(n): ELICIT}) for n in range(9)]
    server = Foreign(scripted, *rounds)
    bounds = Bounds(max_questions=4)
    async with Client(server, bounds=bounds, on_elicit=lambda _: "cancel") as client:
        with pytest.raises(ProtocolError, match="more than 4 questions"):
            await client.call_tool("t")
    assert len(server.updates) == 4


BAD_LOOKS: list[Any] = [
    [],
    {},
    stands("sleeping"),
    stands(None),
    stands(["completed"]),
    stands("completed"),
    stands("completed", result=[]),
    stands("completed", result={"resultType": "input_required"}),
    stands("completed", result={"resultType": "task"}),
    stands("failed"),
    stands("cancelled"),
    {**DONE, "taskId": "other"},
    stands("input_required", inputRequests={"a": {}}),
    stands("input_required", inputRequests={"a": {"method": 1}}),
]


@pytest.mark.parametrize("look", BAD_LOOKS, ids=range(len(BAD_LOOKS)))
async def test_a_bad_look_costs_its_call_only(scripted: type[Scripted], look: Any) -> None:
    server = Foreign(scripted, look)
    async with Client(server) as client:
        with pytest.raises(AnyshapeError):
            await asyncio.wait_for(client.call_tool("t"), PATIENCE)
        server.looks = [DONE]
        assert await client.call("t") == 3


BAD_TASKS: list[Json] = [
    {},
    {"taskId": "", "status": "working"},
    {"taskId": 7, "status": "working"},
    {"taskId": "x" * 2000, "status": "working"},
    {"taskId": "T"},
    {"taskId": "T", "status": "dreaming"},
]


@pytest.mark.parametrize("created", BAD_TASKS, ids=range(len(BAD_TASKS)))
async def test_a_task_that_is_none_is_refused(scripted: type[Scripted], created: Json) -> None:
    server = Foreign(scripted, DONE, created={"nothing": 1, **created})
    async with Client(server) as client:
        with pytest.raises(ProtocolError):
            await client.call_tool("t")
    assert server.script.asked("tasks/get") == []


ODD_INTERVALS: list[Any] = [None, -5, True, "1", -1e300, 1e-300]


@pytest.mark.parametrize("interval", ODD_INTERVALS, ids=range(len(ODD_INTERVALS)))
async def test_an_odd_interval_neither_hurries_nor_stops_us(
    scripted: type[Scripted], interval: Any
) -> None:
    looks = [stands("working", pollIntervalMs=1), DONE]
    server = Foreign(scripted, *looks, created=stands("working", pollIntervalMs=interval))
    async with Client(server) as client:
        assert await client.call("t") == 3
    assert len(server.script.asked("tasks/get")) == 2


@pytest.mark.parametrize("interval", [10**15, 10**400, 1e308], ids=range(3))
async def test_a_long_interval_keeps_nobody_past_their_time(
    scripted: type[Scripted], interval: Any
) -> None:
    server = Foreign(scripted, DONE, created=stands("working", pollIntervalMs=interval))
    async with Client(server) as client:
        with pytest.raises(TransportError, match="did not end within"):
            await client.call_tool("t", timeout=0.05)


async def test_a_server_that_is_told_that_nobody_waits_for_a_task_holds_nobody_up(
    scripted: type[Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks_module, "_PARTING", 2 * PATIENCE)
    server = Foreign(scripted, stands("working"))
    silence = asyncio.Event()
    server.script.answers["tasks/cancel"] = lambda params: silence.wait()
    async with Client(server, timeout=2 * PATIENCE) as client:
        async with asyncio.timeout(PATIENCE):
            with pytest.raises(TransportError, match="did not end within"):
                await client.call_tool("t", timeout=0.05)
            calling = asyncio.create_task(client.call_tool("t"))
            await turn_until(lambda: len(server.script.asked("tools/call")) == 2)
            calling.cancel()
            with pytest.raises(asyncio.CancelledError):
                await calling
        await turn_until(lambda: len(server.script.asked("tasks/cancel")) == 2)


async def test_a_task_that_never_ends_is_given_up_in_time(scripted: type[Scripted]) -> None:
    server = Foreign(scripted, stands("working"))
    async with Client(server, bounds=Bounds(task_timeout=0.1)) as client:
        with pytest.raises(TransportError, match="did not end within 0"):
            await client.call_tool("t")
    assert len(server.script.asked("tasks/cancel")) == 1
    assert len(server.script.asked("tasks/get")) <= 6  # 20 ms lie between two looks at least.


async def test_a_refused_look_ends_the_call(
    scripted: type[Scripted], refusal: type[Refusal]
) -> None:
    server = Foreign(scripted, refusal(-32602, "Task has expired"))
    async with Client(server) as client:
        with pytest.raises(ProtocolError, match="expired"):
            await client.call_tool("t")


async def test_only_calls_of_tools_may_become_tasks(scripted: type[Scripted]) -> None:
    server = scripted(
        prompts__get=lambda params: {"resultType": "task", **stands("working")},
        tools__list=lambda params: {"tools": []},
    )
    async with Client(server) as client:
        with pytest.raises(ProtocolError, match="unknown type 'task'"):
            await client.get_prompt("p")
