"""Tasks in Redis: accepted here, worked on by processes of their own, which may be killed."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Generator
from pathlib import Path
from typing import Any

import pytest
from patience import PATIENCE

from anyshape import Server
from anyshape.server import AccessToken, RedisTasks, TaskOptions

from .redis_process import RedisProcess
from .task_server import make_server
from .test_tasks import TaskAsker, seen

SCRIPT = Path(__file__).parent / "task_server.py"


class Place:
    """A folder for marks, a store of the test's own, and workers on it."""

    def __init__(self, marks: Path, url: str) -> None:
        self.marks = marks
        self.store = RedisTasks(url, name=f"test-{marks.name}", redelivery=1, attempts=2)
        self.workers: list[subprocess.Popen[bytes]] = []

    def server(self, **options: Any) -> Server:
        return make_server(TaskOptions(store=self.store, **options))

    def work(self, keep: float = 900) -> subprocess.Popen[bytes]:
        """Start a worker."""
        environment = {
            **os.environ,
            "TASK_MARKS": str(self.marks),
            "TASK_STORE": self.store.url,
            "TASK_STORE_NAME": self.store.name,
            "TASK_KEEP": str(keep),
        }
        command = [sys.executable, "-m", "anyshape", "worker", str(SCRIPT)]
        self.workers.append(subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL))
        return self.workers[-1]

    def stop(self) -> None:
        """Kill the workers."""
        for worker in self.workers:
            worker.kill()
            worker.wait(PATIENCE)

    def begun_by(self, name: str, event: str = "begun") -> list[int]:
        """Return the processes that left a mark."""
        path = self.marks / f"{name}.{event}"
        return [int(line) for line in path.read_text().splitlines()] if path.exists() else []

    def let_end(self, name: str) -> None:
        (self.marks / f"{name}.may_end").touch()


@pytest.fixture
def place(tmp_path: Path, redis: RedisProcess) -> Generator[Place]:
    place = Place(tmp_path, redis.url)
    yield place
    place.stop()


@pytest.fixture
async def peer(place: Place) -> AsyncGenerator[TaskAsker]:
    peer = TaskAsker(place.server())
    yield peer
    await peer.connection.close()


async def turn(holds: Callable[[], object]) -> None:
    """Wait until something holds that other processes bring about."""
    async with asyncio.timeout(PATIENCE):
        while not holds():  # noqa: ASYNC110 - files have no events
            await asyncio.sleep(0.01)


async def test_a_task_is_kept_until_a_worker_comes_and_ends_as_a_direct_call_would(
    place: Place, peer: TaskAsker
) -> None:
    id = await peer.begin("double", number=21)
    assert (await peer.look(id))["status"] == "working"
    place.work()
    ended = await peer.end(id)
    assert ended["status"] == "completed"
    direct = await super(TaskAsker, peer).ask("tools/call", name="double", arguments={"number": 21})
    assert ended["result"] == direct["result"]
    failed = await peer.end(await peer.begin("failing"))
    assert (failed["status"], failed["result"]["isError"]) == ("completed", True)
    wrong = await peer.end(await peer.begin("double", number="x"))
    assert wrong["result"]["isError"] is True


async def test_a_task_can_be_cancelled_when_there_is_no_room_left(
    place: Place, peer: TaskAsker
) -> None:
    id = await peer.begin("double", number=21)
    crowded = TaskAsker(place.server(max_bytes=1))
    await crowded.result("tasks/cancel", taskId=id)
    assert (await peer.look(id))["status"] == "cancelled"
    await crowded.connection.close()


async def test_any_process_of_the_server_answers_for_a_task(place: Place, peer: TaskAsker) -> None:
    id = await peer.begin("wait", name="a")
    worker = place.work()
    other = TaskAsker(place.server())
    await seen(lambda: other.look(id), lambda task: task.get("statusMessage") == "begun (1 of 2)")
    place.let_end("a")
    ended = await other.end(id)
    assert ended["result"]["structuredContent"] == worker.pid
    assert (await peer.end(id))["result"] == ended["result"]
    await other.connection.close()


async def test_a_killed_worker_loses_no_task(place: Place, peer: TaskAsker) -> None:
    first = place.work()
    ids = [await peer.begin("wait", name=str(number)) for number in range(3)]
    await turn(lambda: all(place.begun_by(str(number)) for number in range(3)))
    first.send_signal(signal.SIGKILL)
    first.wait(PATIENCE)
    for number in range(3):
        assert (await peer.look(ids[number]))["status"] == "working"
        place.let_end(str(number))
    second = place.work()
    for number, id in enumerate(ids):
        ended = await peer.end(id)
        assert ended["result"]["structuredContent"] == second.pid
        assert place.begun_by(str(number)) == [first.pid, second.pid]


async def test_a_worker_that_is_told_to_stop_leaves_its_work_to_others(
    place: Place, peer: TaskAsker
) -> None:
    first = place.work()
    id = await peer.begin("wait", name="a")
    await turn(lambda: place.begun_by("a"))
    first.terminate()
    assert first.wait(PATIENCE) == 0
    assert place.begun_by("a", "cancelled") == [first.pid]
    assert (await peer.look(id))["status"] == "working"
    second = place.work()
    place.let_end("a")
    assert (await peer.end(id))["result"]["structuredContent"] == second.pid


async def test_work_that_kills_every_worker_is_given_up(place: Place, peer: TaskAsker) -> None:
    id = await peer.begin("deadly", name="a")
    for times in (1, 2):
        worker = place.work()
        assert await asyncio.to_thread(worker.wait, PATIENCE) == 9
        assert len(place.begun_by("a")) == times
        assert (await peer.look(id))["status"] == "working"
    place.work()
    ended = await peer.end(id)
    assert (ended["status"], ended["error"]["code"]) == ("failed", -32603)
    assert len(place.begun_by("a")) == 2


async def test_a_cancelled_task_is_stopped_wherever_it_runs(place: Place, peer: TaskAsker) -> None:
    waiting = await peer.begin("wait", name="untaken")
    await peer.result("tasks/cancel", taskId=waiting)
    assert (await peer.look(waiting))["status"] == "cancelled"
    worker = place.work()
    id = await peer.begin("wait", name="a")
    await turn(lambda: place.begun_by("a"))
    await peer.result("tasks/cancel", taskId=id)
    assert (await peer.look(id))["status"] == "cancelled"
    await turn(lambda: place.begun_by("a", "cancelled") == [worker.pid])
    await peer.result("tasks/cancel", taskId=id)
    assert (await peer.look(id))["status"] == "cancelled"
    assert place.begun_by("untaken") == []


async def test_the_caller_is_known_to_the_worker_and_others_find_nothing(
    place: Place, peer: TaskAsker
) -> None:
    place.work()
    peer.connection.access = AccessToken("alice", scopes=frozenset({"b", "a"}))
    created = await peer.result("tools/call", name="who", _meta={"a.example/x": 1})
    ended = await peer.end(created["taskId"])
    assert ended["result"]["structuredContent"] == ["alice", ["a", "b"], 1]
    for stranger in (AccessToken("bob"), AccessToken(""), None):
        peer.connection.access = stranger
        assert (await peer.error("tasks/get", taskId=created["taskId"]))["code"] == -32602


@pytest.mark.parametrize("id", ["", "*", "a:b", "\x00\r\n", "𝒳" * 1000])
async def test_hostile_ids_find_nothing(peer: TaskAsker, id: str) -> None:
    for method in ("tasks/get", "tasks/cancel"):
        assert (await peer.error(method, taskId=id))["code"] == -32602


async def test_answers_reach_the_worker_and_outlive_it(place: Place) -> None:
    peer = TaskAsker(place.server(), capabilities={"elicitation": {"form": {}}})
    first = place.work()
    id = await peer.begin("confirm", name="a")

    async def answer(message: str, value: str) -> None:
        task = await seen(
            lambda: peer.look(id),
            lambda task: message in str(task.get("inputRequests")),
        )
        [key] = task["inputRequests"]
        response = {"action": "accept", "content": {"value": value}}
        await peer.result("tasks/update", taskId=id, inputResponses={key: response})

    await answer("First?", "one")
    await turn(lambda: place.begun_by("a", "answered"))
    first.kill()
    second = place.work()
    await answer("Second?", "two")
    ended = await peer.end(id)
    assert ended["result"]["structuredContent"] == [
        "Accepted(data='one')",
        "Accepted(data='two')",
        second.pid,
    ]
    assert place.begun_by("a") == [first.pid, second.pid]
    await peer.connection.close()


async def test_who_listens_is_told_of_what_another_process_does(
    place: Place, peer: TaskAsker
) -> None:
    id = await peer.begin("wait", name="a")
    listening = asyncio.create_task(
        peer.ask("subscriptions/listen", id=99, notifications={"taskIds": [id]})
    )
    await turn(lambda: peer.sent)
    place.work()
    place.let_end("a")
    await turn(lambda: len(peer.sent) == 2)
    told = peer.sent[1]["params"]
    assert (told["taskId"], told["status"]) == (id, "completed")
    assert "structuredContent" in told["result"]
    await peer.connection.close()
    await listening


async def test_what_a_worker_announces_reaches_the_clients_of_servers(
    place: Place, peer: TaskAsker
) -> None:
    listening = asyncio.create_task(
        peer.ask("subscriptions/listen", notifications={"resourceSubscriptions": ["marks://all"]})
    )
    await turn(lambda: peer.sent)
    place.work()
    await peer.end(await peer.begin("change"))
    await turn(lambda: len(peer.sent) == 2)
    assert peer.sent[1]["method"] == "notifications/resources/updated"
    await peer.connection.close()
    await listening


async def test_room_is_shared_by_all_processes_and_comes_back(place: Place) -> None:
    options: dict[str, Any] = {"max_tasks": 3, "max_tasks_per_caller": 2, "keep": 0.05}
    one, two = TaskAsker(place.server(**options)), TaskAsker(place.server(**options))
    one.connection.access = two.connection.access = AccessToken("alice")
    ids = [await one.begin("double", number=1), await two.begin("double", number=2)]
    assert (await one.error("tools/call", name="failing"))["code"] == 503
    two.connection.access = AccessToken("bob")
    await two.begin("double", number=3)
    assert (await two.error("tools/call", name="failing"))["code"] == 503
    place.work(keep=0.05)
    await seen(lambda: one.ask("tasks/get", taskId=ids[0]), lambda answer: "error" in answer)
    await seen(
        lambda: two.ask("tools/call", name="double", arguments={"number": 1}),
        lambda answer: "result" in answer,
    )
    for each in (one, two):
        await each.connection.close()


async def test_arguments_and_results_take_only_so_many_bytes(place: Place) -> None:
    peer = TaskAsker(place.server(max_bytes=5_000))
    error = await peer.error("tools/call", name="wait", arguments={"name": "x" * 6_000})
    assert error["code"] == 503
    await peer.connection.close()


async def test_long_answers_take_room_too(place: Place) -> None:
    capabilities: dict[str, Any] = {"elicitation": {"form": {}}}
    peer = TaskAsker(place.server(max_bytes=5_000), capabilities=capabilities)
    place.work()
    id = await peer.begin("confirm", name="a")
    task = await seen(lambda: peer.look(id), lambda task: "inputRequests" in task)
    [key] = task["inputRequests"]
    long = {"action": "accept", "content": {"value": "x" * 6_000}}
    error = await peer.error("tasks/update", taskId=id, inputResponses={key: long})
    assert error["code"] == 503
    assert (await peer.look(id))["inputRequests"].keys() == {key}
    await peer.connection.close()


@pytest.mark.parametrize(
    "wrong",
    [
        {"url": "memory://"},
        {"url": "localhost"},
        {"url": "redis://x", "redelivery": 0},
        {"url": "redis://x", "attempts": 0},
    ],
    ids=range(4),
)
def test_a_store_that_makes_no_sense_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="has to be"):
        RedisTasks(**wrong)


def test_a_store_does_not_show_its_password() -> None:
    assert "secret" not in repr(RedisTasks("redis://:secret@127.0.0.1"))


async def test_a_store_that_cannot_be_reached_is_said_to_be_busy() -> None:
    store = RedisTasks("redis://127.0.0.1:1")
    peer = TaskAsker(make_server(TaskOptions(store=store)))
    error = await peer.error("tools/call", name="double", arguments={"number": 1})
    assert error["code"] == 503
    await peer.connection.close()


async def test_a_store_that_was_away_is_found_again(
    tmp_path: Path, mortal_redis: RedisProcess
) -> None:
    place = Place(tmp_path, mortal_redis.url)
    peer = TaskAsker(place.server())
    try:
        place.work()
        await peer.end(await peer.begin("double", number=1))
        mortal_redis.stop()
        error = await peer.error("tools/call", name="double", arguments={"number": 1})
        assert error["code"] == 503
        mortal_redis.start()
        ended = await peer.end(await peer.begin("double", number=4))
        assert ended["result"]["structuredContent"] == 8
    finally:
        await peer.connection.close()
        place.stop()


async def test_only_tasks_in_a_store_can_be_worked_on_elsewhere() -> None:
    with pytest.raises(ValueError, match="RedisTasks"):
        await Server("s").work()
