"""A crowd of clients with equal request ids, each of which knows what it may hear of."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from typing import Any, Final

from patience import PATIENCE, turn_until

from anyshape import Client
from anyshape.client import Elicitation, Frame, LogMessage, Progress

SECRET: Final = re.compile(rb"secret-(\d+)-\d+")
STEPS: Final = 3


class Visitor:
    """One client; a secret says whose it is, and which of its requests it belongs to."""

    def __init__(self, number: int, revision: str) -> None:
        self.number = number
        self.revision = revision
        self.counts: Counter[str] = Counter()
        self.strays: list[bytes] = []
        self.marks: set[str] = set()
        """Ids and progress tokens of what it asked."""
        self._serial = 0
        self._asked: dict[str, int] = {}
        self._logged: Counter[str] = Counter()
        self._changed: list[str] = []
        self._client: Client | None = None

    @property
    def client(self) -> Client:
        assert self._client is not None
        return self._client

    @contextlib.asynccontextmanager
    async def visiting(self, target: Any) -> AsyncGenerator[Visitor]:
        """Be connected to a target."""
        self._client = Client(
            target,
            revision=self.revision,
            timeout=PATIENCE,
            on_frame=self._see,
            on_log=self._read_log,
            on_elicit=self._answer,
        )
        async with self._client:
            await self.client.set_log_level("debug")
            yield self

    def _see(self, frame: Frame) -> None:
        """Look at everything that arrives: all secrets in it have to be this visitor's."""
        if frame.direction == "sent":
            message = json.loads(frame.text)
            token = message.get("params", {}).get("_meta", {}).get("progressToken")
            if token is not None:
                self.marks.add(f"{message['id']} {token}")
        else:
            owners = SECRET.findall(frame.text)
            self.counts["frames"] += 1
            self.counts["frames with a secret"] += bool(owners)
            if any(int(owner) != self.number for owner in owners):
                self.strays.append(frame.text)

    def _read_log(self, message: LogMessage) -> None:
        self._logged[str(message.data)] += 1
        self.counts["log messages"] += 1

    def _answer(self, question: Elicitation) -> dict[str, Any]:
        order, secret = question.message.removesuffix("?").split(" of ")
        self._asked[secret] = self._asked.get(secret, 0) + 1
        self.counts["questions"] += 1
        return {"who": f"{order} {secret}"}

    def _secret(self) -> str:
        self._serial += 1
        return f"secret-{self.number}-{self._serial}"

    # What a visitor does, each with a secret of its own.

    async def round(self) -> None:
        """Do everything once, at the same time."""
        deeds = (self._work, self._work, self._ask, self._fail, self._crash, self._read)
        await asyncio.gather(*(deed() for deed in (*deeds, self._give_up, self._watch)))
        self.counts["requests"] += len(deeds) + 4

    async def _work(self) -> None:
        secret = self._secret()
        heard: list[Progress] = []
        arguments = {"secret": secret, "steps": STEPS}
        result = await self.client.call_tool("work", arguments, on_progress=heard.append)
        assert result.value == {"secret": secret}
        assert {report.message for report in heard} <= {secret}
        self.counts["reports"] += len(heard)

    async def _ask(self) -> None:
        secret = self._secret()
        result = await self.client.call_tool("ask", {"secret": secret})
        assert result.value == [secret, f"The first {secret}", f"The second {secret}"]
        assert self._asked.pop(secret) == 2

    async def _fail(self) -> None:
        secret = self._secret()
        result = await self.client.call_tool("fail", {"secret": secret})
        assert (result.is_error, result.text) == (True, f"no, {secret}")

    async def _crash(self) -> None:
        secret = self._secret()
        result = await self.client.call_tool("crash", {"secret": secret})
        assert result.is_error
        assert "secret" not in result.text

    async def _read(self) -> None:
        secret = self._secret()
        found = await self.client.read_resource(f"note:{secret}")
        assert [each.text for each in found.contents] == [f"the note of {secret}"]

    async def _give_up(self) -> None:
        """Cancel a call that has begun; nothing else of anybody's may end by that."""
        secret = self._secret()
        heard: list[Progress] = []
        call = asyncio.ensure_future(
            self.client.call_tool("wait", {"secret": secret}, on_progress=heard.append)
        )
        await turn_until(lambda: heard or call.done(), pause=0.002)
        assert [report.message for report in heard] == [secret]
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        assert call.cancelled()
        self.counts["cancelled"] += 1

    async def _watch(self) -> None:
        """Hear of changes to what is one's own, and of nothing else."""
        secret = self._secret()
        uri = f"note:{secret}"
        await self.client.subscribe(uri, self._changed.append)
        while uri not in self._changed:
            # What happened before a replica had heard of the subscription is told to nobody.
            await self.client.call_tool("touch", {"secret": secret})
            await asyncio.sleep(0.01)
        await self.client.unsubscribe(uri)
        self.counts["changes"] += 1

    def check(self) -> None:
        """Assert that nothing arrived here that belongs to somebody else, and that all came."""
        assert self.strays == []
        owner = f"secret-{self.number}-"
        assert all(owner in uri for uri in self._changed)
        assert all(owner in said for said in self._logged)
        assert self._asked == {}


async def crowd(targets: Callable[[int], Any], *, visitors: int, seconds: float) -> Counter[str]:
    """Have visitors of two ages come and go for a time, at least once each; return the counts."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    counts: Counter[str] = Counter()
    marks: Counter[str] = Counter()

    async def visit(number: int) -> None:
        rounds = 0
        while rounds == 0 or loop.time() < end:
            visitor = Visitor(number, ("2025-11-25", "2026-07-28")[number % 2])
            async with visitor.visiting(targets(number)):
                await visitor.round()
                await visitor.round()
            visitor.check()
            counts.update(visitor.counts)
            marks.update(visitor.marks)
            rounds += 1

    async with asyncio.timeout(seconds + PATIENCE), asyncio.TaskGroup() as group:
        for number in range(visitors):
            group.create_task(visit(number))
    assert max(marks.values()) >= visitors / 2, "ids and progress tokens were not equal"
    return counts
