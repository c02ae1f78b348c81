"""Tasks: calls that outlive their requests, as the extension of 2026-07-28 has them."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Any

import pytest
from patience import PATIENCE, turn_until

from anyshape import Ask, Context, Image, Server, ToolDefinitionError, ToolError
from anyshape.protocol.revision import HANDSHAKE, Revision
from anyshape.server import AccessToken, ServerOptions, TaskOptions

from .asking import Asker

EXTENSION = "io.modelcontextprotocol/tasks"
CAPABILITIES: dict[str, Any] = {"extensions": {EXTENSION: {}}}
METHODS: list[tuple[str, dict[str, Any]]] = [
    ("tasks/get", {}),
    ("tasks/cancel", {}),
    ("tasks/update", {"inputResponses": {}}),
]
FINAL = ("completed", "failed", "cancelled")


async def seen(
    look: Callable[[], Awaitable[dict[str, Any]]], holds: Callable[[dict[str, Any]], object]
) -> dict[str, Any]:
    """Look again and again until something holds of what is seen, and return that."""
    async with asyncio.timeout(PATIENCE):
        while True:
            answer = await look()
            if holds(answer):
                return answer
            await asyncio.sleep(0.001)


class TaskAsker(Asker):
    """A peer that has tasks, and such capabilities beside."""

    def __init__(self, server: Server, capabilities: dict[str, Any] | None = None) -> None:
        super().__init__(server)
        self.capabilities = {**CAPABILITIES, **(capabilities or {})}

    async def ask(self, method: str, *, id: int | None = None, **params: Any) -> dict[str, Any]:
        meta = {"io.modelcontextprotocol/clientCapabilities": self.capabilities}
        params["_meta"] = {**meta, **params.get("_meta", {})}
        return await super().ask(method, id=id, **params)

    async def begin(self, name: str, /, **arguments: Any) -> str:
        """Return the id of the task that a call becomes."""
        created = await self.result("tools/call", name=name, arguments=arguments)
        assert created["resultType"] == "task"
        return created["taskId"]

    async def look(self, id: str) -> dict[str, Any]:
        """Return how a task stands."""
        return await self.result("tasks/get", taskId=id)

    async def end(self, id: str) -> dict[str, Any]:
        """Return how a task stands once it has ended."""
        return await seen(lambda: self.look(id), lambda task: task["status"] in FINAL)


class Works:
    """A server whose tasks wait until the test lets them go on."""

    def __init__(self, options: TaskOptions | None = None) -> None:
        self.server = server = Server("works", options=ServerOptions(tasks=options))
        self.may_end = asyncio.Event()
        self.contexts: list[Context] = []
        self.cancelled = 0

        @server.tool(task=True)
        async def wait(ctx: Context, value: int = 1) -> int:
            """Return a value when the test says so."""
            self.contexts.append(ctx)
            try:
                await self.may_end.wait()
            except asyncio.CancelledError:
                self.cancelled += 1
                raise
            return value

        self.peer = TaskAsker(server)


async def test_a_call_becomes_a_task_whose_result_is_what_a_direct_call_gives() -> None:
    works = Works()
    created = await works.peer.result("tools/call", name="wait", arguments={"value": 7})
    assert created.keys() == {
        *("resultType", "taskId", "status", "createdAt", "lastUpdatedAt", "ttlMs"),
        *("pollIntervalMs", "_meta"),
    }
    assert (created["resultType"], created["status"]) == ("task", "working")
    working = await works.peer.look(created["taskId"])
    assert working["status"] == "working"
    assert not {"result", "error", "inputRequests", "requestState"} & working.keys()
    works.may_end.set()
    ended = await works.peer.end(created["taskId"])
    direct = await Asker(works.server).result("tools/call", name="wait", arguments={"value": 7})
    assert (ended["resultType"], ended["status"]) == ("complete", "completed")
    assert ended["result"] == direct
    assert direct["structuredContent"] == 7


@pytest.mark.behaviour("tasks.declared")
@pytest.mark.parametrize("declared", [{}, {"extensions": {}}, {"extensions": {EXTENSION: None}}])
async def test_a_client_that_has_no_tasks_is_given_none(declared: dict[str, Any]) -> None:
    works = Works()
    works.may_end.set()
    meta = {"io.modelcontextprotocol/clientCapabilities": declared}
    direct = await works.peer.result("tools/call", name="wait", _meta=meta)
    assert (direct["resultType"], direct["structuredContent"]) == ("complete", 1)
    id = await works.peer.begin("wait")
    for method, more in METHODS:
        error = await works.peer.error(method, taskId=id, _meta=meta, **more)
        assert error["code"] == -32021
        assert error["data"] == {"requiredCapabilities": CAPABILITIES}
    error = await works.peer.error(
        "subscriptions/listen", notifications={"taskIds": [id]}, _meta=meta
    )
    assert error["code"] == -32021


@pytest.mark.parametrize("revision", HANDSHAKE, ids=str)
async def test_revisions_with_a_handshake_have_no_tasks(revision: Revision) -> None:
    works = Works()
    works.may_end.set()
    peer = Asker(works.server, revision)
    assert "extensions" not in (await peer.shake_hands())["capabilities"]
    assert "content" in await peer.result("tools/call", name="wait")
    assert (await peer.error("tasks/get", taskId="x"))["code"] == -32601


@pytest.mark.behaviour("tasks.required")
@pytest.mark.parametrize("revision", ["2026-07-28", "2025-11-25"])
async def test_a_tool_that_only_runs_as_a_task_refuses_clients_without(revision: str) -> None:
    server = Server("s")

    @server.tool(task="required")
    async def long() -> int:
        return 1

    error = await Asker(server, revision).error("tools/call", name="long")
    assert error["code"] == -32021
    assert error["data"] == {"requiredCapabilities": CAPABILITIES}
    peer = TaskAsker(server)
    assert (await peer.end(await peer.begin("long")))["result"]["structuredContent"] == 1


async def test_an_unknown_use_of_tasks_is_refused_when_the_tool_is_defined() -> None:
    server = Server("s")
    never: Any = "never"
    with pytest.raises(ToolDefinitionError, match="task has to be True"):

        @server.tool(task=never)
        def work() -> int:
            return 1

    assert server.tools == {}


@pytest.mark.behaviour("tasks.failures")
async def test_failures_of_the_tool_are_results_and_those_of_the_protocol_are_errors() -> None:
    server = Server("s")

    @server.tool(task=True)
    def failing() -> int:
        raise ToolError("the disk is full")

    @server.tool(task=True)
    async def lying() -> int:
        return "no number"  # pyright: ignore[reportReturnType]

    @server.tool(task=True)
    async def late() -> int:
        return 1

    peer = TaskAsker(server)
    failed = await peer.end(await peer.begin("failing"))
    assert failed["status"] == "completed"
    assert failed["result"]["isError"] is True
    assert failed["result"]["content"] == [{"type": "text", "text": "the disk is full"}]
    assert (await peer.end(await peer.begin("lying")))["result"]["isError"] is True
    wrong = await peer.end(await peer.begin("failing", extra=1))
    assert (wrong["status"], wrong["result"]["isError"]) == ("completed", True)
    id = await peer.begin("late")
    server.remove_tool("late")
    gone = await peer.end(id)
    assert (gone["status"], gone["error"]["code"]) == ("failed", -32602)
    assert "result" not in gone
    assert gone["statusMessage"] == gone["error"]["message"]


async def test_content_and_threads_and_context_are_as_in_a_direct_call() -> None:
    seen: list[Any] = []

    @asynccontextmanager
    async def opened(_server: Server) -> AsyncGenerator[str]:
        yield "state"

    server = Server("s", lifespan=opened)

    @server.tool(task=True)
    def picture(ctx: Context[str]) -> Image:
        seen.extend((ctx.state, ctx.client, ctx.meta["a.example/x"], threading.current_thread()))
        return Image(b"i", "image/png")

    peer = TaskAsker(server)
    info = {"name": "c", "version": "1"}
    meta = {"a.example/x": 1, "io.modelcontextprotocol/clientInfo": info}
    created = await peer.result("tools/call", name="picture", _meta=meta)
    ended = await peer.end(created["taskId"])
    assert ended["result"]["content"][0]["mimeType"] == "image/png"
    assert seen[:3] == ["state", info, 1]
    assert seen[3] is not threading.main_thread()


async def test_progress_becomes_what_a_working_task_says() -> None:
    server = Server("s")
    steps: asyncio.Queue[Any] = asyncio.Queue()

    @server.tool(task=True)
    async def climb(ctx: Context) -> int:
        while (step := await steps.get()) is not None:
            await ctx.progress(*step)
        return 1

    peer = TaskAsker(server)
    id = await peer.begin("climb")
    for step, words in (
        ((1,), "1"),
        ((2, 5), "2 of 5"),
        ((3, 5, "half way"), "half way (3 of 5)"),
        ((4, 5, "\udc80" + "x" * 1000), "\\udc80" + "x" * 499),
    ):
        steps.put_nowait(step)
        await turn_until(steps.empty)
        assert (await peer.look(id))["statusMessage"] == words
    steps.put_nowait(None)
    assert "statusMessage" not in await peer.end(id)
    assert peer.sent == []


@pytest.mark.behaviour("tasks.cancel")
async def test_a_cancelled_task_stops_its_work_and_stays_cancelled() -> None:
    works = Works()
    id = await works.peer.begin("wait")
    await turn_until(lambda: works.contexts)
    acknowledged = await works.peer.result("tasks/cancel", taskId=id)
    assert acknowledged.keys() == {"resultType", "_meta"}
    assert acknowledged["resultType"] == "complete"
    assert (await works.peer.look(id))["status"] == "cancelled"
    await turn_until(lambda: works.cancelled)
    assert works.contexts[0].cancelled
    again = await works.peer.result("tasks/cancel", taskId=id)
    assert again == acknowledged
    assert (await works.peer.look(id))["status"] == "cancelled"


async def test_a_cancelled_function_on_a_thread_can_see_that_nobody_waits() -> None:
    server = Server("s")
    running, stopped = threading.Event(), threading.Event()

    @server.tool(task=True)
    def work(ctx: Context) -> int:
        running.set()
        while not ctx.cancelled:
            stopped.wait(0.001)
        stopped.set()
        return 1

    peer = TaskAsker(server)
    id = await peer.begin("work")
    await turn_until(running.is_set)
    await peer.result("tasks/cancel", taskId=id)
    await turn_until(stopped.is_set)
    assert (await peer.look(id))["status"] == "cancelled"


async def test_the_end_of_a_task_is_not_undone_by_a_cancellation() -> None:
    works = Works()
    works.may_end.set()
    id = await works.peer.begin("wait")
    ended = await works.peer.end(id)
    await works.peer.result("tasks/cancel", taskId=id)
    assert await works.peer.look(id) == ended


HOSTILE = ["", "x", "../x", "*", "a" * 100_000, "\x00", "𝒳", "' OR 1=1 --", "{}"]


@pytest.mark.behaviour("tasks.unknown")
@pytest.mark.parametrize("id", HOSTILE, ids=range(len(HOSTILE)))
async def test_an_id_that_is_none_of_ours_is_refused(id: str) -> None:
    peer = Works().peer
    for method, more in METHODS:
        error = await peer.error(method, taskId=id, **more)
        assert error["code"] == -32602
        assert len(error["message"]) < 200


@pytest.mark.parametrize("id", [None, 1, ["x"], {}])
async def test_an_id_that_is_no_string_is_refused(id: Any) -> None:
    peer = Works().peer
    assert (await peer.error("tasks/get", taskId=id))["code"] == -32602
    assert (await peer.error("tasks/update", taskId="x", inputResponses=id))["code"] == -32602


@pytest.mark.behaviour("tasks.removed-methods")
@pytest.mark.parametrize("method", ["tasks/list", "tasks/result"])
async def test_methods_of_the_older_experiment_are_not_there(method: str) -> None:
    assert (await Works().peer.error(method, taskId="x"))["code"] == -32601


@pytest.mark.behaviour("tasks.owner")
async def test_a_task_is_there_for_whoever_asked_for_it_and_for_nobody_else() -> None:
    works = Works()
    alice, bob = TaskAsker(works.server), TaskAsker(works.server)
    alice.connection.access = AccessToken("alice")
    bob.connection.access = AccessToken("bob")
    id = await alice.begin("wait")
    assert (await alice.look(id))["status"] == "working"
    for stranger in (bob, works.peer):
        for method, more in METHODS:
            error = await stranger.error(method, taskId=id, **more)
            assert error == await stranger.error(method, taskId="none", **more)
    assert (await alice.look(id))["status"] == "working"
    again = TaskAsker(works.server)
    again.connection.access = AccessToken("alice", client_id="another")
    assert (await again.look(id))["status"] == "working"


async def test_ids_are_long_and_never_the_same() -> None:
    works = Works()
    ids = {await works.peer.begin("wait") for _ in range(100)}
    assert len(ids) == 100
    assert min(map(len, ids)) >= 32


async def test_a_task_that_has_ended_is_forgotten_when_its_time_is_over() -> None:
    works = Works(TaskOptions(keep=0.001))
    id = await works.peer.begin("wait")
    await asyncio.sleep(0.01)  # Longer than it will be kept: while there is work, it stays.
    assert (await works.peer.look(id))["status"] == "working"
    works.may_end.set()
    answer = await seen(
        lambda: works.peer.ask("tasks/get", taskId=id), lambda answer: "error" in answer
    )
    assert answer["error"]["code"] == -32602


async def test_the_time_a_task_is_kept_never_shrinks() -> None:
    works = Works(TaskOptions(keep=5))
    id = await works.peer.begin("wait")
    first = await works.peer.look(id)
    assert first["ttlMs"] >= 5000
    works.may_end.set()
    ended = await works.peer.end(id)
    assert ended["ttlMs"] >= first["ttlMs"]
    assert await works.peer.look(id) == ended


async def test_there_are_only_so_many_tasks_and_room_again_when_they_are_gone() -> None:
    works = Works(TaskOptions(max_tasks=2, keep=0.001))
    for _ in range(2):
        await works.peer.begin("wait")
    error = await works.peer.error("tools/call", name="wait")
    assert error["code"] == 503
    works.may_end.set()
    await seen(lambda: works.peer.ask("tools/call", name="wait"), lambda answer: "result" in answer)


async def test_one_caller_cannot_take_all_the_room() -> None:
    works = Works(TaskOptions(max_tasks_per_caller=1))
    alice, bob = TaskAsker(works.server), TaskAsker(works.server)
    alice.connection.access = AccessToken("alice")
    bob.connection.access = AccessToken("bob")
    await alice.begin("wait")
    assert (await alice.error("tools/call", name="wait"))["code"] == 503
    await bob.begin("wait")


async def test_arguments_and_results_take_only_so_many_bytes() -> None:
    server = Server("s", options=ServerOptions(tasks=TaskOptions(max_bytes=10_000)))

    @server.tool(task=True)
    async def repeat(text: str, times: int = 1) -> str:
        return text * times

    peer = TaskAsker(server)
    error = await peer.error("tools/call", name="repeat", arguments={"text": "x" * 20_000})
    assert error["code"] == 503
    ended = await peer.end(await peer.begin("repeat", text="x", times=20_000))
    assert (ended["status"], ended["error"]["code"]) == ("failed", 503)
    assert (await peer.end(await peer.begin("repeat", text="x")))["status"] == "completed"


async def test_answers_that_a_task_begins_with_count_among_the_bytes_of_tasks() -> None:
    server = Server("s", options=ServerOptions(tasks=TaskOptions(max_bytes=10_000)))

    @server.tool(task=True)
    async def greet(name: Annotated[str, Ask("Name?")]) -> int:
        return len(name)

    async def call(name: str) -> dict[str, Any]:
        answers = {"name": {"action": "accept", "content": {"value": name}}}
        return await peer.ask("tools/call", name="greet", arguments={}, inputResponses=answers)

    peer = TaskAsker(server, {"elicitation": {}})
    assert (await call("x" * 20_000))["error"]["code"] == 503
    assert (await call("x"))["result"]["resultType"] == "task"


async def test_a_task_can_be_cancelled_when_there_is_no_room_left() -> None:
    works = Works(TaskOptions(max_bytes=10_000))

    @works.server.tool(task=True)
    async def repeat(text: str) -> str:
        return text * 2

    waiting = await works.peer.begin("wait")
    for length in range(10_000, 0, -10):  # The first that is accepted leaves less than ten bytes.
        arguments = {"text": "x" * length}
        answer = await works.peer.ask("tools/call", name="repeat", arguments=arguments)
        if "result" in answer:
            assert (await works.peer.end(answer["result"]["taskId"]))["error"]["code"] == 503
            break
    await works.peer.result("tasks/cancel", taskId=waiting)
    assert (await works.peer.look(waiting))["status"] == "cancelled"


async def test_work_that_takes_too_long_is_ended() -> None:
    works = Works(TaskOptions(timeout=0.01))
    ended = await works.peer.end(await works.peer.begin("wait"))
    assert (ended["status"], ended["result"]["isError"]) == ("completed", True)
    assert "within 0.01 seconds" in ended["result"]["content"][0]["text"]
    assert works.contexts[0].cancelled


async def test_the_time_out_of_a_tool_counts_more_than_that_of_tasks() -> None:
    server = Server("s", options=ServerOptions(tasks=TaskOptions(timeout=0.001)))

    @server.tool(task=True, timeout=PATIENCE)
    async def nap() -> int:
        await asyncio.sleep(0.02)
        return 1

    peer = TaskAsker(server)
    assert (await peer.end(await peer.begin("nap")))["result"]["structuredContent"] == 1


@pytest.mark.parametrize(
    "wrong", [{"keep": 0}, {"max_tasks": 0}, {"timeout": -1}, {"poll_interval": float("inf")}]
)
def test_options_that_make_no_sense_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        TaskOptions(**wrong)


@pytest.mark.behaviour("tasks.notifications")
async def test_who_listens_for_a_task_is_told_when_it_has_another_status() -> None:
    works = Works()
    id = await works.peer.begin("wait")
    wanted = {"taskIds": [id, "none", id]}
    listening = asyncio.create_task(
        works.peer.ask("subscriptions/listen", id=99, notifications=wanted)
    )
    await turn_until(lambda: works.peer.sent)
    [acknowledged] = works.peer.sent
    assert acknowledged["params"]["notifications"] == {"taskIds": [id]}
    works.may_end.set()
    await turn_until(lambda: len(works.peer.sent) == 2)
    told = works.peer.sent[1]
    assert told["method"] == "notifications/tasks"
    params = told["params"]
    assert params.pop("_meta") == {"io.modelcontextprotocol/subscriptionId": 99}
    looked = await works.peer.look(id)
    assert params == {key: looked[key] for key in looked if key not in ("_meta", "resultType")}
    await works.peer.connection.close()
    await listening


async def test_who_listens_for_several_tasks_is_told_of_each() -> None:
    works = Works()
    ids = [await works.peer.begin("wait") for _ in range(3)]
    listening = asyncio.create_task(
        works.peer.ask("subscriptions/listen", notifications={"taskIds": ids})
    )
    await turn_until(lambda: works.peer.sent)
    works.may_end.set()
    await turn_until(lambda: len(works.peer.sent) == 4)
    assert {told["params"]["taskId"] for told in works.peer.sent[1:]} == set(ids)
    await works.peer.connection.close()
    await listening


async def test_nobody_is_told_of_the_tasks_of_others() -> None:
    works = Works()
    alice, bob = TaskAsker(works.server), TaskAsker(works.server)
    alice.connection.access = AccessToken("alice")
    bob.connection.access = AccessToken("bob")
    id = await alice.begin("wait")
    listening = asyncio.create_task(
        bob.ask("subscriptions/listen", notifications={"taskIds": [id]})
    )
    await turn_until(lambda: bob.sent)
    assert bob.sent[0]["params"]["notifications"] == {"taskIds": []}
    works.may_end.set()
    await alice.end(id)
    await bob.connection.close()
    await listening
    assert len(bob.sent) == 1


async def test_a_subscription_names_only_so_many_tasks() -> None:
    peer = Works().peer
    ids = [str(number) for number in range(1000)]
    error = await peer.error("subscriptions/listen", notifications={"taskIds": ids})
    assert error["code"] == -32602


async def test_work_outlives_the_connection_that_asked_for_it_but_not_the_server() -> None:
    works = Works()
    stays = TaskAsker(works.server)
    await stays.look(await stays.begin("wait"))
    id = await works.peer.begin("wait")
    await turn_until(lambda: len(works.contexts) == 2)
    await works.peer.connection.close()
    assert (await stays.look(id))["status"] == "working"
    await stays.connection.close()
    assert works.cancelled == 2


class AskingWorks:
    """A server whose tasks ask."""

    def __init__(self, options: TaskOptions | None = None) -> None:
        self.server = server = Server("asks", options=ServerOptions(tasks=options))
        self.begun = 0

        @server.tool(task=True)
        async def plan(ctx: Context) -> list[Any]:
            """Ask two questions at once, and then one more."""
            self.begun += 1
            name, size = await asyncio.gather(
                ctx.elicit("Name?", str, key="name"), ctx.elicit("Size?", int, key="size")
            )
            sure = await ctx.elicit("Sure?", bool)
            return [str(answer) for answer in (name, size, sure)]

        @server.tool(task=True)
        async def rooted(ctx: Context) -> int:
            return len(await ctx.roots())

        @server.tool(task="required")
        async def greet(greeting: str, name: Annotated[str, Ask("Name?")], ctx: Context) -> str:
            self.begun += 1
            sure = await ctx.elicit("Sure?", bool)
            return f"{greeting}, {name}! {sure.action}"

        self.peer = TaskAsker(server, capabilities={"elicitation": {"form": {}}})

    async def questions(self, id: str) -> dict[str, Any]:
        """Return what a task asks, by its message."""
        task = await seen(
            lambda: self.peer.look(id), lambda task: task["status"] == "input_required"
        )
        asked = task["inputRequests"]
        return {asked[key]["params"]["message"]: key for key in asked}

    async def answer(self, id: str, key: str, value: Any) -> None:
        response = {"action": "accept", "content": {"value": value}}
        await self.peer.result("tasks/update", taskId=id, inputResponses={key: response})


@pytest.mark.behaviour("tasks.input")
async def test_a_task_asks_and_goes_on_where_it_was_when_it_is_answered() -> None:
    works = AskingWorks()
    id = await works.peer.begin("plan")
    keys = await works.questions(id)
    assert keys.keys() == {"Name?", "Size?"}
    await works.answer(id, keys["Size?"], 3)
    assert (await works.questions(id)) == {"Name?": keys["Name?"]}
    await works.answer(id, "unknown", 3)
    await works.answer(id, keys["Size?"], 4)
    assert (await works.questions(id)) == {"Name?": keys["Name?"]}
    await works.answer(id, keys["Name?"], "Ada")
    more = await works.questions(id)
    assert more.keys() == {"Sure?"}
    assert not set(more.values()) & set(keys.values())
    await works.answer(id, more["Sure?"], True)
    ended = await works.peer.end(id)
    assert ended["result"]["structuredContent"] == [
        "Accepted(data='Ada')",
        "Accepted(data=3)",
        "Accepted(data=True)",
    ]
    assert works.begun == 1


@pytest.mark.behaviour("tasks.input-first")
async def test_a_parameter_that_is_asked_for_is_asked_for_before_there_is_a_task() -> None:
    works = AskingWorks()
    call: dict[str, Any] = {"name": "greet", "arguments": {"greeting": "Hello"}}
    first = await works.peer.result("tools/call", **call)
    assert first["resultType"] == "input_required"
    assert "taskId" not in first
    again = {
        "requestState": first["requestState"],
        "inputResponses": {"name": {"action": "accept", "content": {"value": "Ada"}}},
    }
    created = await works.peer.result("tools/call", **call, **again)
    assert (created["resultType"], works.begun) == ("task", 0)
    assert not {"requestState", "inputRequests"} & created.keys()
    [key] = (await works.questions(created["taskId"])).values()
    await works.answer(created["taskId"], key, True)
    ended = await works.peer.end(created["taskId"])
    assert ended["result"]["structuredContent"] == "Hello, Ada! accept"
    assert works.begun == 1


async def test_a_call_that_ends_before_it_begins_becomes_no_task() -> None:
    works = AskingWorks()
    wrong = await works.peer.result("tools/call", name="greet", arguments={})
    assert (wrong["resultType"], wrong["isError"]) == ("complete", True)
    call: dict[str, Any] = {"name": "greet", "arguments": {"greeting": "Hello"}}
    first = await works.peer.result("tools/call", **call)
    refused = await works.peer.result(
        "tools/call",
        **call,
        requestState=first["requestState"],
        inputResponses={"name": {"action": "decline"}},
    )
    assert (refused["resultType"], refused["isError"]) == ("complete", True)
    assert works.begun == 0


@pytest.mark.behaviour("tasks.failures")
async def test_a_task_that_asks_what_its_client_does_not_do_has_failed() -> None:
    works = AskingWorks()
    ended = await works.peer.end(await works.peer.begin("rooted"))
    assert (ended["status"], ended["error"]["code"]) == ("failed", -32021)
    assert ended["error"]["data"] == {"requiredCapabilities": {"roots": {}}}


@pytest.mark.parametrize(
    "response",
    [7, None, {}, {"action": "perhaps"}, {"action": "accept", "content": {"value": []}}],
    ids=range(5),
)
async def test_an_answer_of_no_use_fails_the_tool_in_words(response: Any) -> None:
    works = AskingWorks()
    id = await works.peer.begin("plan")
    [key, _] = (await works.questions(id)).values()
    await works.peer.result("tasks/update", taskId=id, inputResponses={key: response})
    ended = await works.peer.end(id)
    assert (ended["status"], ended["result"]["isError"]) == ("completed", True)
    assert "of no use" in ended["result"]["content"][0]["text"]


async def test_a_question_that_nobody_answers_ends_the_task_in_time() -> None:
    works = AskingWorks(TaskOptions(timeout=0.05))
    ended = await works.peer.end(await works.peer.begin("plan"))
    assert (ended["status"], ended["result"]["isError"]) == ("completed", True)


async def test_a_cancelled_task_asks_nothing_more() -> None:
    works = AskingWorks()
    id = await works.peer.begin("plan")
    keys = await works.questions(id)
    await works.peer.result("tasks/cancel", taskId=id)
    cancelled = await works.peer.look(id)
    assert cancelled["status"] == "cancelled"
    assert "inputRequests" not in cancelled
    await works.answer(id, keys["Name?"], "Ada")
    assert await works.peer.look(id) == cancelled


def test_a_server_without_tasks_loads_nothing_of_them() -> None:
    code = (
        "import sys; from anyshape import Server; import anyshape.server.http\n"
        "server = Server('s')\n"
        "@server.tool\ndef one() -> int: return 1\n"
        "ours = [name for name in sys.modules if name.startswith('anyshape')]\n"
        "assert not [name for name in ours if 'tasks' in name]\n"
        "@server.tool(task=True)\ndef two() -> int: return 2\n"
        "assert 'anyshape.server.features.tasks' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=PATIENCE)
