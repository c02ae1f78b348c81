"""A server at 2026-07-28 with resources, prompts, and a tool that asks the user first.

Its arguments are methods that it answers with an error.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

FORM = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Name", "description": "As on the \x1b[31mdoor"},
        "count": {"type": "integer", "default": 3},
        "size": {"type": "string", "oneOf": [{"const": "s", "title": "Small"}, {"const": "l"}]},
        "tags": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
        "sure": {"type": "boolean"},
    },
    "required": ["name", "size"],
}
QUESTIONS: dict[str, dict[str, Any]] = {
    "form": {"message": "Who is it?", "requestedSchema": FORM},
    "visit": {"mode": "url", "message": "Pay first.", "url": "https://xn--e1awd7f.example/pay"},
}
TOOLS = [{"name": name, "inputSchema": {"type": "object"}} for name in QUESTIONS]
RESOURCES: dict[str, dict[str, Any]] = {
    "demo://text": {"text": "one\ntwo\x07"},
    "demo://data": {"blob": "AAEC/w=="},
}
PROMPT = {
    "name": "greet",
    "title": "Greeting",
    "description": "Greets someone.",
    "arguments": [{"name": "who", "description": "Whom", "required": True}, {"name": "how"}],
}


def call(params: dict[str, Any]) -> dict[str, Any]:
    given = params.get("inputResponses")
    if given is None:
        asked = {"method": "elicitation/create", "params": QUESTIONS[params["name"]]}
        return {"resultType": "input_required", "inputRequests": {"q": asked}}
    return {"content": [{"type": "text", "text": json.dumps(given["q"])}]}


def say(params: dict[str, Any]) -> dict[str, Any]:
    said = {"type": "text", "text": f"Hello, {params['arguments']['who']}"}
    picture = {"type": "image", "data": "AAEC", "mimeType": "image/png"}
    return {
        "messages": [
            {"role": "user", "content": said},
            {"role": "assistant", "content": picture},
        ]
    }


def read(params: dict[str, Any]) -> dict[str, Any]:
    return {"contents": [{"uri": params["uri"], **RESOURCES[params["uri"]]}]}


Method = Callable[[dict[str, Any]], dict[str, Any]]
METHODS: dict[str, Method] = {
    "server/discover": lambda params: {
        "supportedVersions": ["2026-07-28"],
        "capabilities": {"tools": {}, "resources": {}, "prompts": {}},
    },
    "tools/list": lambda params: {"tools": TOOLS},
    "tools/call": call,
    "resources/list": lambda params: {
        "resources": [
            {"uri": "demo://text", "name": "text", "description": "Two lines.", "size": 8},
            {"uri": "demo://data", "name": "data", "mimeType": "image/png"},
            {"uri": "no uri", "name": "bad"},
        ]
    },
    "resources/templates/list": lambda params: {
        "resourceTemplates": [{"uriTemplate": "demo://{name}", "name": "any"}]
    },
    "resources/read": read,
    "prompts/list": lambda params: {"prompts": [PROMPT, {"name": "bad", "arguments": 5}]},
    "prompts/get": say,
}

for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        method = message["method"]
        answer = {"jsonrpc": "2.0", "id": message["id"]}
        if method in sys.argv[1:]:
            answer["error"] = {"code": -32603, "message": f"{method}: it broke"}
        else:
            answer["result"] = METHODS[method](message["params"])
        print(json.dumps(answer), flush=True)
