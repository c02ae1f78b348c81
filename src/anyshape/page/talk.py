"""What passes between the page and a server while something is under way.

Whatever the server says in between goes to those who follow a request; what it asks the user waits
here until the page has the answer.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any, Final, TypeAlias

from anyshape.client import ElicitAnswer, Elicitation, Frame, LogMessage, Progress
from anyshape.errors import ProtocolError

__all__ = ["PageTalk", "Tell"]

Tell: TypeAlias = Callable[[dict[str, Any]], None]
"""Takes one thing that happened to whoever follows a request."""

_LONGEST_FRAME: Final = 200_000
"""Bytes of a frame that are shown; the rest is counted."""


class PageTalk:
    """Who follows, and what waits for an answer."""

    def __init__(self) -> None:
        self._followers: list[Tell] = []
        self._numbers = itertools.count(1)
        self._questions: dict[str, tuple[Elicitation, asyncio.Future[ElicitAnswer]]] = {}

    @contextmanager
    def heard_by(self, tell: Tell) -> Generator[None]:
        """Tell somebody of everything for as long as the block runs."""
        self._followers.append(tell)
        try:
            yield
        finally:
            self._followers.remove(tell)

    def end(self) -> None:
        """Let nothing wait any longer."""
        for _, answer in self._questions.values():
            if not answer.done():
                answer.set_result("cancel")

    def tell_frame(self, frame: Frame) -> None:
        """Tell of a message that passed."""
        text = frame.text[:_LONGEST_FRAME].decode(errors="replace")
        self._tell(
            {"frame": {"direction": frame.direction, "text": text, "bytes": len(frame.text)}}
        )

    def tell_log(self, message: LogMessage) -> None:
        """Tell of what the server logged."""
        log = {"level": message.level, "logger": message.logger, "data": message.data}
        self._tell({"log": log})

    def tell_progress(self, tell: Tell, report: Progress) -> None:
        """Tell the one who called how far it is."""
        tell(
            {
                "progress": {
                    "progress": report.progress,
                    "total": report.total,
                    "message": report.message,
                }
            }
        )

    async def ask(self, asked: Elicitation) -> ElicitAnswer:
        """Put a question before the user, and return the answer; nobody there cancels."""
        if not self._followers:
            return "cancel"
        id = str(next(self._numbers))
        answer: asyncio.Future[ElicitAnswer] = asyncio.get_running_loop().create_future()
        self._questions[id] = asked, answer
        question = {
            "id": id,
            "message": asked.message,
            "server": asked.server,
            "url": asked.url,
            "defaults": asked.defaults if asked.schema is not None else None,
        }
        self._followers[-1]({"question": question})
        try:
            return await answer
        finally:
            del self._questions[id]
            self._tell({"answered": id})

    def question(self, id: str) -> Elicitation:
        """Return a question that waits."""
        if id not in self._questions:
            raise ProtocolError("the server does not wait for this answer any more")
        return self._questions[id][0]

    def answer(self, id: str, action: str, content: Mapping[str, Any] | None) -> None:
        """Give the answer to a question."""
        self.question(id)
        if action not in ("accept", "decline", "cancel"):
            raise ProtocolError(f"expected accept, decline or cancel, got {action[:40]!r}")
        answer = self._questions[id][1]
        if not answer.done():
            answer.set_result(content if action == "accept" and content is not None else action)

    def _tell(self, happened: dict[str, Any]) -> None:
        for tell in self._followers:
            tell(happened)
