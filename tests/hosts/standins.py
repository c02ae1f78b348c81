"""Model APIs, replaced: each answers on loopback with one tool call after another.

A stand-in is given calls to make, as a model that had decided on them beforehand. It keeps what the
host sent it: the tools that the host offers its model, and what the model is handed back for each
call. Each speaks as much of one provider's API as its host needs.
"""

from __future__ import annotations

import json
import re
import threading
from abc import ABC, abstractmethod
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

Json = dict[str, Any]

PROMPT = "Call the tools."

_REMINDER = "\n\n<system-reminder>"
"""What Claude Code adds to results from here on speaks of other things."""
_QUOTED = re.compile(r"<untrusted_context>\n(.*?)\n</untrusted_context>", re.DOTALL)
_OUTPUT = "Output:\n"


@dataclass(frozen=True)
class Offered:
    """A tool as a host offers it to its model."""

    name: str
    schema: Json
    namespace: str | None = None


@dataclass(frozen=True)
class Handed:
    """What a model is handed back for a call, without what its host says around it."""

    texts: list[str]
    is_error: bool | None = None
    """Whether it is marked as an error; `None` where the API has no such mark."""


@dataclass
class StandIn(ABC):
    """A model that makes the calls of a plan, in order, and then is done."""

    plan: list[Json]
    """Each with the `id` of the call, the `tool` of the demo and its `arguments`."""
    offered: dict[str, Offered] = field(default_factory=dict[str, Offered])
    """The demo's tools by the name that the demo gives them."""
    handed: dict[str, Handed] = field(default_factory=dict[str, Handed])
    """What the model is handed back, by the id of the call."""
    requests: list[str] = field(default_factory=list[str])
    """The paths that were asked for."""

    DONE: ClassVar = "Done."
    PROFILE: ClassVar[str | None] = None
    """The profile of `anyshape.providers` that states what this API refuses."""

    def answer(self, path: str, body: Json) -> tuple[str, bytes] | None:
        """Return content type and body of the answer to a request; `None` if there is none."""
        self.requests.append(path)
        if not self.is_turn(path, body):
            return None
        tools = self.tools(body)
        if not tools:
            return self.say(path, body, None)
        self._recognise(tools)
        self.handed.update(self.results(body))
        for call in self.plan:
            if call["id"] not in self.handed and call["tool"] in self.offered:
                return self.say(path, body, call)
        return self.say(path, body, None)

    @property
    def missing(self) -> list[str]:
        """The tools of the plan that the model was not offered."""
        return sorted({call["tool"] for call in self.plan} - self.offered.keys())

    def _recognise(self, tools: list[Offered]) -> None:
        for wanted in {call["tool"] for call in self.plan} - self.offered.keys():
            for tool in tools:
                if _plain(tool.name) == _plain(wanted) or (
                    "demo" in tool.name and _plain(tool.name).endswith("_" + _plain(wanted))
                ):
                    self.offered[wanted] = tool

    @abstractmethod
    def is_turn(self, path: str, body: Json) -> bool:
        """Tell whether a request asks the model to speak."""

    @abstractmethod
    def tools(self, body: Json) -> list[Offered]:
        """Return the tools of a request."""

    @abstractmethod
    def results(self, body: Json) -> dict[str, Handed]:
        """Return what the model is handed back in a request, by the id of the call."""

    @abstractmethod
    def say(self, path: str, body: Json, call: Json | None) -> tuple[str, bytes]:
        """Return the answer that makes a call, or says that the model is done."""


class Anthropic(StandIn):
    """The Messages API."""

    PROFILE = "anthropic"

    def is_turn(self, path: str, body: Json) -> bool:
        return path.startswith("/v1/messages") and "count_tokens" not in path

    def tools(self, body: Json) -> list[Offered]:
        return [
            Offered(tool["name"], tool["input_schema"])
            for tool in body.get("tools", [])
            if "input_schema" in tool
        ]

    def results(self, body: Json) -> dict[str, Handed]:
        return {
            block["tool_use_id"]: Handed(
                [text.partition(_REMINDER)[0] for text in _texts(block["content"])],
                bool(block.get("is_error")),
            )
            for message in body["messages"]
            if isinstance(message["content"], list)
            for block in message["content"]
            if block["type"] == "tool_result"
        }

    def say(self, path: str, body: Json, call: Json | None) -> tuple[str, bytes]:
        start: Json = {"type": "text", "text": ""}
        delta: Json = {"type": "text_delta", "text": self.DONE}
        if call is not None:
            name = self.offered[call["tool"]].name
            start = {"type": "tool_use", "id": call["id"], "name": name, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(call["arguments"])}
        usage = {"input_tokens": 1, "output_tokens": 1}
        message: Json = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": usage,
        }
        stop = {"stop_reason": "end_turn" if call is None else "tool_use", "stop_sequence": None}
        if not body.get("stream"):
            content = [{"type": "text", "text": self.DONE}]
            whole = {**message, **stop, "content": content}
            return "application/json", json.dumps(whole).encode()
        return _events(
            {"type": "message_start", "message": message},
            {"type": "content_block_start", "index": 0, "content_block": start},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": stop, "usage": usage},
            {"type": "message_stop"},
        )


class Gemini(StandIn):
    """`generateContent`, whole and as a stream.

    What is in `parametersJsonSchema` and not enforced is passed over, so nothing is refused.
    """

    def is_turn(self, path: str, body: Json) -> bool:
        return "enerateContent" in path

    def tools(self, body: Json) -> list[Offered]:
        return [
            Offered(tool["name"], tool.get("parametersJsonSchema") or tool.get("parameters") or {})
            for group in body.get("tools", [])
            for tool in group.get("functionDeclarations", [])
        ]

    def results(self, body: Json) -> dict[str, Handed]:
        # The API has no need for ids of calls, so the results are told apart by their order.
        parts = [part for turn in body["contents"] for part in turn["parts"]]
        responses = [part["functionResponse"] for part in parts if "functionResponse" in part]
        made = [call["id"] for call in self.plan if call["tool"] in self.offered]
        return {id: _quoted(found["response"]) for id, found in zip(made, responses, strict=False)}

    def say(self, path: str, body: Json, call: Json | None) -> tuple[str, bytes]:
        part: Json = {"text": self.DONE}
        if call is not None:
            name = self.offered[call["tool"]].name
            part = {"functionCall": {"name": name, "args": call["arguments"]}}
        answer: Json = {
            "candidates": [
                {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
            ],
            "usageMetadata": {
                "promptTokenCount": 1,
                "candidatesTokenCount": 1,
                "totalTokenCount": 2,
            },
        }
        if "stream" in path:
            return _events(answer)
        return "application/json", json.dumps(answer).encode()


class OpenAI(StandIn):
    """The Responses API."""

    PROFILE = "openai"

    def is_turn(self, path: str, body: Json) -> bool:
        return path.endswith("/responses")

    def tools(self, body: Json) -> list[Offered]:
        found: list[Offered] = []
        for tool in body.get("tools", []):
            if tool["type"] == "function":
                found.append(Offered(tool["name"], tool["parameters"]))
            elif tool["type"] == "namespace":
                found += [
                    Offered(inner["name"], inner["parameters"], tool["name"])
                    for inner in tool["tools"]
                ]
        return found

    def results(self, body: Json) -> dict[str, Handed]:
        return {
            item["call_id"]: Handed(_told(item["output"]))
            for item in body["input"]
            if item["type"] == "function_call_output"
        }

    def say(self, path: str, body: Json, call: Json | None) -> tuple[str, bytes]:
        item: Json = {
            "type": "message",
            "role": "assistant",
            "id": "msg_1",
            "content": [{"type": "output_text", "text": self.DONE, "annotations": []}],
        }
        if call is not None:
            tool = self.offered[call["tool"]]
            item = {
                "type": "function_call",
                "id": f"fc_{call['id']}",
                "call_id": call["id"],
                "name": tool.name,
                "arguments": json.dumps(call["arguments"]),
            }
            if tool.namespace is not None:
                item["namespace"] = tool.namespace
        usage = {
            "input_tokens": 1,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 1,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 2,
        }
        response: Json = {"id": "resp_1", "object": "response", "output": [item], "usage": usage}
        return _events(
            {"type": "response.created", "response": {"id": "resp_1"}},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": {**response, "status": "completed"}},
        )


def _plain(name: str) -> str:
    return re.sub(r"\W", "_", name.replace("-", "_"))


def _texts(content: str | list[Json]) -> list[str]:
    """Return the text of content, block by block."""
    if isinstance(content, str):
        return [content]
    return [block["text"] for block in content if "text" in block]


def _quoted(response: Json) -> Handed:
    """Return what Gemini CLI has quoted, block by block, or its error."""
    if "error" in response:
        return Handed([response["error"]], is_error=True)
    return Handed(_QUOTED.findall(response["output"]), is_error=False)


def _told(output: str | list[Json]) -> list[str]:
    """Return what follows the time that Codex says a call took."""
    if isinstance(output, str):
        return [output.partition(_OUTPUT)[2]]
    return _texts(output[1:])


def _events(*events: Json) -> tuple[str, bytes]:
    lines = [
        (f"event: {event['type']}\n" if "type" in event else "") + f"data: {json.dumps(event)}\n\n"
        for event in events
    ]
    return "text/event-stream", "".join(lines).encode()


@contextmanager
def listening(stand_in: StandIn) -> Generator[str]:
    """Give the address, on loopback, at which a stand-in answers."""
    turn = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._reply(404, "application/json", b"{}")

        do_HEAD = do_GET

        def do_POST(self) -> None:
            text = self.rfile.read(int(self.headers.get("content-length", 0)))
            body: Json = {}
            with suppress(ValueError):
                body = json.loads(text)
            with turn:
                answer = stand_in.answer(self.path, body)
            if answer is None:
                self._reply(404, "application/json", b"{}")
            else:
                self._reply(200, *answer)

        def _reply(self, status: int, kind: str, body: bytes) -> None:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
