"""What every client should see of every server through the gateway, and what it saw.

The values are those of the table in docs/guides/gateway.md: natural for clients of 2026-07-28, in
an envelope where those of 2025 need one, as text for the oldest and of the oldest. They are literal
here; nothing asks our own code what it thinks.
"""

from __future__ import annotations

import json
from typing import Any

from gateway_peers import LATE, LATER, MODERN, Column, Row

Json = dict[str, Any]

USERS = [{"id": 1, "name": "Ada"}, {"id": 2, "name": "Grace"}]
VALUES: dict[str, tuple[str, Json, Any]] = {
    "object": ("find_user", {"id": 1}, USERS[0]),
    "array": ("list_users", {}, USERS),
    "number": ("get_count", {}, 42),
    "string": ("greet", {"name": "Bo"}, "Hello, Bo"),
    "null": ("maybe_user", {"id": 9}, None),
    "not null": ("maybe_user", {"id": 1}, USERS[0]),
    "union: object": ("user_or_count", {"which": "user"}, USERS[0]),
    "union: number": ("user_or_count", {"which": "count"}, 42),
    "own `result`": ("meant", {}, {"result": 3}),
}
"""Call, arguments and natural value. The last is an object that only looks like an envelope."""
OBJECTS = ("object", "own `result`")
"""Those whose tools return objects and nothing else."""
BLOCKS = [
    {"type": "text", "text": "a picture"},
    {"type": "image", "data": "AAE=", "mimeType": "image/png"},
]
STEPS = [[1, 3], [2, 3], [3, 3]]
FEATURES = ("error", "content blocks", "progress", "cancellation", "prompt", "resource", "question")
ABSENT = "–"
"""What a server does not have, or a client cannot do."""
WEATHER = {"temperature": 33, "conditions": "Cloudy", "humidity": 82}
CITY = "Oslo"


def plan(row: Row, column: Column) -> Json:
    """Return what a client does at a server."""
    if row.kind == "everything":
        return _plan_for_everything("simple-prompt", "demo://resource/static/document/features.md")
    if row.kind == "old everything":
        return _plan_for_everything("simple_prompt", "test://static/resource/1")
    key = f"{column.id}; {row.id}"
    calls = [_call(id, tool, arguments) for id, (tool, arguments, _) in VALUES.items()]
    calls += [
        _call("error", "fail", {"reason": "no such luck"}),
        _call("content blocks", "blocks", {}),
        _call("progress", "count_to", {"number": 3}),
    ]
    if _asks(row):
        calls.append(_call("question", "ask", {}))
    if _can_give_up(row, column):
        calls += [
            {**_call("wait", "wait", {"key": key}), "give_up": True},
            _call("cancellation", "was_given_up", {"key": key}),
        ]
    prompt = {"name": "review", "arguments": {"code": "x"}}
    features = {"prompt": prompt, "resource": "demo://users/Ada"}
    return {"calls": calls, "features": features, "answer": {"city": CITY}}


def _plan_for_everything(prompt: str, resource: str) -> Json:
    is_old = "_" in prompt
    slow = "longRunningOperation" if is_old else "trigger-long-running-operation"
    calls = [
        _call("content blocks", "getTinyImage" if is_old else "get-tiny-image", {}),
        _call("progress", slow, {"duration": 0.3, "steps": 3}),
    ]
    if not is_old:
        calls.append(_call("object", "get-structured-content", {"location": "New York"}))
        calls.append(_call("question", "trigger-elicitation-request", {}))
    features: Json = {"prompt": {"name": prompt, "arguments": {}}, "resource": resource}
    return {"calls": calls, "features": features, "answer": {"name": "Ada", "check": True}}


def _call(id: str, tool: str, arguments: Json) -> Json:
    return {"id": id, "tool": tool, "arguments": arguments}


def expected(row: Row, column: Column) -> Json:
    """Return what the table says of every cell."""
    cells: Json = {}
    for name, (_, _, natural) in VALUES.items():
        if row.kind in ("everything", "old everything"):
            cells[name] = ABSENT
        else:
            cells[name] = _shape(row, column, natural, is_object=name in OBJECTS)
    if row.kind == "everything":
        cells["object"] = _shape(row, column, WEATHER, is_object=True)
    is_ours = row.kind not in ("everything", "old everything")
    cells["error"] = "an error" if is_ours else ABSENT
    cells["content blocks"] = "as they are"
    cells["progress"] = "told" if _hears_progress(column) else ABSENT
    cells["cancellation"] = "heard" if _can_give_up(row, column) else ABSENT
    cells["prompt"] = cells["resource"] = "read"
    answers = "answered" if _can_be_asked(row, column) else "refused"
    cells["question"] = answers if _asks(row) else ABSENT
    return cells


def _shape(row: Row, column: Column, natural: Any, *, is_object: bool) -> str:
    """Return how a value should be shown."""
    is_text = row.kind == "text" or column.revision not in (MODERN, LATER, LATE)
    if is_text:
        return f"text `{json.dumps(natural)}`"
    if is_object:
        return f"`{json.dumps(natural)}`"
    if column.revision == MODERN and row.kind == "wraps":
        if natural is None and not _knows_null(column):
            return "text `null`"
        return f"`{json.dumps(natural)}`"
    return f"`{json.dumps({'result': natural})}`"


def _asks(row: Row) -> bool:
    """Tell whether a server can ask."""
    return row.revision in (MODERN, LATER, LATE)


def _can_be_asked(row: Row, column: Column) -> bool:
    """Tell whether a client knows questions, and those of the server at hand."""
    if row.kind == "everything":  # Its form is of a kind that came with 2025-11-25.
        return column.revision in (MODERN, LATER)
    return column.revision in (MODERN, LATER, LATE)


def _can_give_up(row: Row, column: Column) -> bool:
    """Tell whether a call can be seen to begin, and be given up without the end of the server.

    A server of the Python SDK up to 1.9 ends as soon as it is told that a call was given up.
    """
    is_frail = row.at.package in ("mcp", "fastmcp") and not _asks(row)
    is_everything = row.kind in ("everything", "old everything")
    return _hears_progress(column) and not is_frail and not is_everything


def _hears_progress(column: Column) -> bool:
    """Tell whether a client has a way to hear of progress."""
    return not column.uses_stdio


def _knows_null(column: Column) -> bool:
    """Tell whether a client shows null as something else than nothing."""
    return column.at.package != "fastmcp"


def observed(row: Row, column: Column, report: Json) -> Json:
    """Return what a client saw, in the words of `expected`."""
    names = (*VALUES, *FEATURES)
    if "raised" in report:
        return dict.fromkeys(names, f"raised: {report['raised']}")
    calls, found = report["calls"], report["features"]
    is_ours = row.kind not in ("everything", "old everything")
    cells = {name: _shown(column, calls[name]) if name in calls else ABSENT for name in VALUES}
    cells["error"] = _error(calls["error"]) if is_ours else ABSENT
    cells["content blocks"] = _blocks(calls["content blocks"], is_ours=is_ours)
    cells["progress"] = _progress(calls["progress"])
    cells["cancellation"] = _cancellation(calls) if "cancellation" in calls else ABSENT
    cells["prompt"] = _prompt(found["prompt"])
    cells["resource"] = _resource(found, is_ours=is_ours)
    cells["question"] = _question(calls["question"]) if "question" in calls else ABSENT
    return cells


def _shown(column: Column, outcome: Json) -> str:
    if "raised" in outcome or outcome.get("isError"):
        return f"failed: {json.dumps(outcome)}"
    text = _text(outcome["content"])
    structured = outcome.get("structuredContent", ABSENT)
    if structured == ABSENT or (structured is None and not _knows_null(column)):
        return f"text `{json.dumps(text)}`"
    opened = _inner(structured)
    if text not in (opened, structured):
        return f"`{json.dumps(structured)}` with the text `{json.dumps(text)}`"
    if "data" in outcome and outcome["data"] not in (opened, structured):
        return f"`{json.dumps(structured)}`, read as `{json.dumps(outcome['data'])}`"
    return f"`{json.dumps(structured)}`"


def _inner(value: Any) -> Any:
    """Return what is in something that looks like an envelope; else the value itself."""
    match value:
        case {"result": inner, **others} if not others:
            return inner
        case _:
            return value


def _text(content: list[Json]) -> Any:
    """Return the value that text stands for; servers write a list as a block for each item."""
    said = [_read(block["text"]) for block in content]
    if not said:
        return None
    return said[0] if len(said) == 1 else said


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _error(outcome: Json) -> str:
    if outcome.get("isError") and "no such luck" in outcome["content"][0]["text"]:
        return "an error"
    return f"failed: {json.dumps(outcome)}"


def _blocks(outcome: Json, *, is_ours: bool) -> str:
    shown = outcome.get("content", [])
    kinds = [block["type"] for block in shown]
    wanted = shown == BLOCKS if is_ours else kinds == ["text", "image", "text"]
    return "as they are" if wanted else f"failed: {json.dumps(outcome)[:300]}"


def _progress(outcome: Json) -> str:
    told = [step[:2] for step in outcome.get("progress", [])]
    if told == STEPS:
        return "told"
    return f"told {told}" if told or "raised" in outcome else ABSENT


def _cancellation(calls: Json) -> str:
    if "given_up" not in calls["wait"]:
        return f"failed: {json.dumps(calls['wait'])}"
    said = _text(calls["cancellation"].get("content", []))
    return "heard" if said is True else f"not heard: {json.dumps(calls['cancellation'])}"


def _prompt(texts: list[str]) -> str:
    wanted = (["Review: x"], ["This is a simple prompt without arguments."])
    return "read" if texts in wanted else f"failed: {texts}"


def _resource(found: Json, *, is_ours: bool) -> str:
    if is_ours:
        return "read" if found["resource"] == "user Ada" else f"failed: {found['resource']}"
    return "read" if "resource" in found["resource"].lower() else f"failed: {found['resource']}"


def _question(outcome: Json) -> str:
    if outcome.get("isError") or "cannot be asked" in outcome.get("raised", ""):
        return "refused"
    if "raised" in outcome:
        return f"raised: {outcome['raised']}"
    text = " ".join(block.get("text", "") for block in outcome["content"])
    return "answered" if CITY in text or "Ada" in text else f"failed: {text}"
