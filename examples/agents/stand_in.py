"""A stand-in for the APIs of model providers: it checks each request, and plays a short script.

It refuses what the provider would refuse, with one bad tool the whole request. Its "model" first
makes a mistake, corrects itself when it is told, calls two tools at once, and sums up.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

from anyshape.providers import PROFILES, check

Json = dict[str, Any]
Call = tuple[str, Json]
Told = tuple[str, str]
"""The id of a call, or the name of a tool where calls have none, and the text of its result."""

SCRIPT: list[list[Call]] = [
    [("temperatures", {"city": "Paris", "days": 9})],
    [("temperatures", {"city": "Paris", "days": 2}), ("temperatures", {"city": "Oslo", "days": 1})],
]


@dataclass(frozen=True)
class Api:
    """How one provider's requests are read and its answers written."""

    path: str
    tools: Callable[[Json], list[tuple[str, Json, str]]]
    """From a request to name, schema and profile of each tool."""
    told: Callable[[Json], list[Told]]
    """From a request to the results that it ends with."""
    calls: Callable[[list[tuple[str, str, Json]]], Json]
    """From id, name and arguments of each call to an answer."""
    says: Callable[[str], Json]


def texts(parts: list[Json]) -> str:
    return "\n".join(part["text"] for part in parts if "text" in part)


def chat_tools(request: Json, profile: str = "openai") -> list[tuple[str, Json, str]]:
    return [
        (tool["name"], tool["parameters"], f"{profile}-strict" if tool["strict"] else profile)
        for tool in (it["function"] for it in request["tools"])
    ]


def chat_told(request: Json) -> list[Told]:
    messages = [it for it in request["messages"] if it["role"] == "tool"]
    return [(it["tool_call_id"], it["content"]) for it in messages]


def chat_choice(message: Json, reason: str) -> Json:
    return {
        "id": "chat_1",
        "object": "chat.completion",
        "created": 0,
        "model": "stand-in",
        "choices": [
            {"index": 0, "finish_reason": reason, "message": {"role": "assistant", **message}}
        ],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }


def chat_calls(calls: list[tuple[str, str, Json]]) -> Json:
    written = [
        {
            "id": id,
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        for id, name, arguments in calls
    ]
    return chat_choice({"content": "", "tool_calls": written}, "tool_calls")


CHAT = Api(
    path=r"(/v1)?/chat/completions",
    tools=chat_tools,
    told=chat_told,
    calls=chat_calls,
    says=lambda text: chat_choice({"content": text}, "stop"),
)
MISTRAL = Api(
    path=CHAT.path,
    tools=lambda request: chat_tools(request, "mistral"),
    told=chat_told,
    calls=chat_calls,
    says=CHAT.says,
)


def response(items: list[Json]) -> Json:
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 0,
        "status": "completed",
        "model": "stand-in",
        "output": items,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }


def responses_message(text: str) -> Json:
    content = [{"type": "output_text", "text": text, "annotations": list[Json]()}]
    message = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed"}
    return {**message, "content": content}


RESPONSES = Api(
    path=r"(/v1)?/responses",
    tools=lambda request: [
        (it["name"], it["parameters"], "openai-strict" if it["strict"] else "openai")
        for it in request["tools"]
    ],
    told=lambda request: [
        (it["call_id"], it["output"] if isinstance(it["output"], str) else texts(it["output"]))
        for it in request["input"]
        if it.get("type") == "function_call_output"
    ],
    calls=lambda calls: response(
        [
            {
                "type": "function_call",
                "id": f"fc_{id}",
                "call_id": id,
                "name": name,
                "arguments": json.dumps(arguments),
                "status": "completed",
            }
            for id, name, arguments in calls
        ]
    ),
    says=lambda text: response([responses_message(text)]),
)


def anthropic_message(content: list[Json], reason: str) -> Json:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "stand-in",
        "content": content,
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def blocks(messages: list[Json]) -> list[Json]:
    return [it for message in messages for it in message["content"] if isinstance(it, dict)]


ANTHROPIC = Api(
    path=r"/v1/messages",
    tools=lambda request: [
        (it["name"], it["input_schema"], "anthropic-strict" if it.get("strict") else "anthropic")
        for it in request["tools"]
    ],
    told=lambda request: [
        (it["tool_use_id"], texts(it["content"]))
        for it in blocks(request["messages"])
        if it["type"] == "tool_result"
    ],
    calls=lambda calls: anthropic_message(
        [
            {"type": "text", "text": "Let me look."},
            *(
                {"type": "tool_use", "id": id, "name": name, "input": arguments}
                for id, name, arguments in calls
            ),
        ],
        "tool_use",
    ),
    says=lambda text: anthropic_message([{"type": "text", "text": text}], "end_turn"),
)


def gemini_content(parts: list[Json]) -> Json:
    content = {"role": "model", "parts": parts}
    return {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}]}


def gemini_tool(tool: Json) -> tuple[str, Json, str]:
    for key in ("parametersJsonSchema", "parameters_json_schema"):  # the SDK sends the latter
        if key in tool:
            return tool["name"], tool[key], "gemini-json"
    nothing: Json = {"type": "object", "properties": {}}
    return tool["name"], in_small_letters(tool.get("parameters", nothing)), "gemini"


def in_small_letters(schema: Any) -> Any:
    """Return a schema whose types are as JSON Schema writes them; the SDK sends `OBJECT`."""
    if isinstance(schema, list):
        return [in_small_letters(it) for it in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    return {
        key: value.lower() if key == "type" and isinstance(value, str) else in_small_letters(value)
        for key, value in cast("Json", schema).items()
    }


GEMINI = Api(
    path=r"/v1(beta)?/models/[^/]+:generateContent",
    tools=lambda request: [
        gemini_tool(it) for tool in request["tools"] for it in tool["functionDeclarations"]
    ],
    told=lambda request: [
        (it["functionResponse"]["id"], "".join(it["functionResponse"]["response"].values()))
        for content in request["contents"]
        for it in content["parts"]
        if "functionResponse" in it
    ],
    calls=lambda calls: gemini_content(
        [
            {"functionCall": {"id": id, "name": name, "args": arguments}}
            for id, name, arguments in calls
        ]
    ),
    says=lambda text: gemini_content([{"text": text}]),
)


def converse(content: list[Json], reason: str) -> Json:
    return {
        "output": {"message": {"role": "assistant", "content": content}},
        "stopReason": reason,
        "usage": {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2},
        "metrics": {"latencyMs": 1},
    }


BEDROCK = Api(
    path=r"/model/[^/]+/converse",
    tools=lambda request: [
        (it["toolSpec"]["name"], it["toolSpec"]["inputSchema"]["json"], "bedrock")
        for it in request["toolConfig"]["tools"]
    ],
    told=lambda request: [
        (it["toolResult"]["toolUseId"], texts(it["toolResult"]["content"]))
        for it in blocks(request["messages"])
        if "toolResult" in it
    ],
    calls=lambda calls: converse(
        [
            {"toolUse": {"toolUseId": id, "name": name, "input": arguments}}
            for id, name, arguments in calls
        ],
        "tool_use",
    ),
    says=lambda text: converse([{"text": text}], "end_turn"),
)


@dataclass
class Conversation:
    """One conversation with a model that follows a script."""

    api: Api
    script: list[list[Call]]
    asked: list[Json] = field(default_factory=list[Json])
    """The requests that came."""
    waiting: list[str] = field(default_factory=list[str])
    """The ids of the calls that are not answered yet."""

    def answer(self, request: Json) -> Json:
        """Return what the model says next; `ValueError` is what the provider refuses."""
        self.check(request)
        turn = len(self.asked)
        self.asked.append(request)
        told = self.api.told(request)
        latest = told[len(told) - len(self.waiting) :]
        if [id for id, _ in latest] != self.waiting:
            raise ValueError(f"expected results for {self.waiting}, got {latest}")
        if turn == len(self.script):
            return self.api.says("; ".join(text for _, text in latest))
        calls = [
            (f"call{turn}x{index:03}", name, arguments)
            for index, (name, arguments) in enumerate(self.script[turn])
        ]
        self.waiting = [id for id, _, _ in calls]
        return self.api.calls(calls)

    def check(self, request: Json) -> None:
        """Raise `ValueError` for the first rule that a tool breaks."""
        tools = self.api.tools(request)
        names = [name for name, _, _ in tools]
        if not names or len(set(names)) < len(names):
            raise ValueError(f"tools: no two may have the same name, got {names}")
        for name, schema, profile in tools:
            if not re.fullmatch(PROFILES[profile].tool_names, name):
                raise ValueError(f"tools: the name {name!r} is not accepted")
            for violation in check(schema, PROFILES[profile]):
                raise ValueError(f"tools: {name}: {violation}")


@contextmanager
def stand_in(api: Api, script: list[list[Call]] = SCRIPT) -> Generator[tuple[str, Conversation]]:
    """Serve one conversation on a free port; gives its address, and what was said."""
    conversation = Conversation(api, script)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            request = json.loads(self.rfile.read(length))
            status, body = 200, Json()
            if not re.fullmatch(api.path, self.path.partition("?")[0]):
                status, body = 404, {"error": {"message": f"no such path: {self.path}"}}
            else:
                try:
                    body = conversation.answer(request)
                except (ValueError, KeyError, TypeError) as error:
                    message = f"{type(error).__name__}: {error}"
                    status, body = 400, {"error": {"message": message}}
            text = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", conversation
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
