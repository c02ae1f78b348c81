"""What passes between the page and a server while something is under way.

Whatever the server says in between goes to those who follow a request; what it asks the user, a
model or the client waits here until the page has the answer. That it lists other things by now is
told to whoever watches.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, TypeAlias

from anyshape.client import (
    ElicitAnswer,
    Elicitation,
    Frame,
    LogMessage,
    Progress,
    Root,
    Sampled,
    SamplingRequest,
)
from anyshape.errors import ProtocolError

Tell: TypeAlias = Callable[[dict[str, Any]], None]
"""Takes one thing that happened to whoever follows a request."""

_LONGEST_FRAME: Final = 200_000
"""Bytes of a frame that are shown; the rest is counted."""


_SAID: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "title": "What the model says", "maxLength": 1_000_000},
        "model": {"type": "string", "title": "Which model it is"},
    },
    "required": ["text", "model"],
}
_ROOTS: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "roots": {
            "type": "array",
            "title": "Roots",
            "items": {"type": "string", "pattern": "^file://"},
        }
    },
    "required": ["roots"],
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PageQuestion:
    """What a server asks, as the page puts it: whom, in which words, and what to fill in."""

    of: Literal["user", "model", "roots"]
    message: str
    server: str
    schema: Mapping[str, Any] = field(default_factory=lambda: {"type": "object"})
    defaults: Mapping[str, Any] = field(default_factory=dict[str, Any])
    url: str | None = None
    """Where the user is to go, instead of filling in anything."""
    asked: Mapping[str, Any] | None = None
    """What a model is to see."""


class PageTalk:
    """Who follows, who watches, and what waits for an answer."""

    def __init__(self) -> None:
        self._followers: list[Tell] = []
        self._watchers: list[Tell] = []
        self._numbers = itertools.count(1)
        self._questions: dict[str, tuple[PageQuestion, asyncio.Future[ElicitAnswer]]] = {}

    def heard_by(self, tell: Tell) -> AbstractContextManager[None]:
        """Tell somebody of everything for as long as the block runs."""
        return _member_of(self._followers, tell)

    def watched_by(self, tell: Tell) -> AbstractContextManager[None]:
        """Tell somebody when the server lists other things, for as long as the block runs."""
        return _member_of(self._watchers, tell)

    def tell_change(self, what: str) -> None:
        """Tell that the server may list other tools, prompts or resources by now."""
        for tell in tuple(self._watchers):
            tell({"changed": what})

    def end(self) -> None:
        """Let nothing wait any longer."""
        for _, answer in self._questions.values():
            if not answer.done():
                answer.set_result("cancel")

    def tell_frame(self, frame: Frame) -> None:
        """Tell of a message that passed."""
        text = frame.text[:_LONGEST_FRAME].decode(errors="replace")
        told = {"direction": frame.direction, "text": text, "bytes": len(frame.text)}
        self._tell({"frame": told})

    def tell_log(self, message: LogMessage) -> None:
        """Tell of what the server logged."""
        log = {"level": message.level, "logger": message.logger, "data": message.data}
        self._tell({"log": log})

    def tell_progress(self, tell: Tell, report: Progress) -> None:
        """Tell the one who called how far it is."""
        made = {"progress": report.progress, "total": report.total, "message": report.message}
        tell({"progress": made})

    async def ask_user(self, asked: Elicitation) -> ElicitAnswer:
        """Put a question before the user, and return the answer; nobody there cancels."""
        question = PageQuestion(
            of="user", message=asked.message, server=asked.server, url=asked.url
        )
        if asked.schema is not None:
            question = replace(question, schema=asked.schema, defaults=asked.defaults)
        return await self._ask(question)

    async def ask_model(self, asked: SamplingRequest) -> Sampled | None:
        """Have the user answer what a model was asked."""
        answer = await self._ask(
            PageQuestion(
                of="model",
                message="It asks for what a model would say. There is none here: you answer.",
                server=asked.server,
                schema=_SAID,
                defaults={"model": "a person"},
                asked=asked.raw,
            )
        )
        if not isinstance(answer, Mapping):
            return None
        return Sampled(str(answer.get("text", "")), str(answer.get("model", "")))

    async def ask_roots(self) -> list[Root]:
        """Have the user say which directories and files the server is told of."""
        answer = await self._ask(
            PageQuestion(
                of="roots",
                message="It asks which directories and files you work on, as file:// URIs.",
                server="",
                schema=_ROOTS,
                defaults={"roots": []},
            )
        )
        if not isinstance(answer, Mapping):
            raise ProtocolError("the user tells of no roots")
        try:
            return [Root(str(uri)) for uri in answer.get("roots") or ()]
        except (TypeError, ValueError) as error:
            raise ProtocolError(f"roots: {error}") from None

    async def _ask(self, asked: PageQuestion) -> ElicitAnswer:
        if not self._followers:
            return "cancel"
        id = str(next(self._numbers))
        answer: asyncio.Future[ElicitAnswer] = asyncio.get_running_loop().create_future()
        self._questions[id] = asked, answer
        question = {
            "id": id,
            "of": asked.of,
            "message": asked.message,
            "server": asked.server,
            "url": asked.url,
            "defaults": asked.defaults,
            "asked": asked.asked,
        }
        self._followers[-1]({"question": question})
        try:
            return await answer
        finally:
            del self._questions[id]
            self._tell({"answered": id})

    def question(self, id: str) -> PageQuestion:
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


@contextmanager
def _member_of(group: list[Tell], tell: Tell) -> Generator[None]:
    group.append(tell)
    try:
        yield
    finally:
        group.remove(tell)
