"""Golden frames of prompts, resources, completion and logging: one server, asked at every revision.

`features/<revision>.json` holds every question with the whole answer. After a change that is meant,
run with `ANYSHAPE_WRITE_FRAMES=1` and review the difference.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from mcp_types.methods import validate_server_result
from patience import turn_until

from anyshape import (
    Audio,
    Complete,
    Contents,
    Context,
    EmbeddedResource,
    Icon,
    Image,
    Message,
    ResourceLink,
    ResourceNotFound,
    Server,
    Text,
)
from anyshape.protocol.meta import LOG_LEVEL
from anyshape.protocol.revision import RELEASED, Revision
from anyshape.server import Caching, ServerOptions

from .golden import expect_frames

HERE = Path(__file__).parent / "features"
ICON = Icon("https://golden.example/icon.png", mime_type="image/png", sizes=("48x48",))
HINTS: Any = {"audience": ["user"], "priority": 0.5, "lastModified": "2026-07-28T00:00:00Z"}


def golden_server() -> Server:
    """Return a server that uses every field there is."""
    server = Server("golden", version="1.0.0", options=ServerOptions(caching=Caching(5000)))

    @server.prompt(title="Code review", icons=[ICON], meta={"golden.example/a": 1})
    async def review(
        code: Annotated[str, "What to review"],
        language: Literal["python", "pascal", "perl"] = "python",
        depth: Annotated[int, Complete(["1", "2", "3"])] = 1,
    ) -> list[Any]:
        """Ask for a review."""
        link = ResourceLink(
            "golden://notes", "notes", title="Notes", icons=[ICON], annotations=HINTS, meta={"b": 2}
        )
        embedded = EmbeddedResource("golden://notes", text="n", resource_meta={"c": 3})
        return [
            f"Review {code} in {language}, depth {depth}.",
            Message([Image(b"i", "image/png"), Audio(b"a", "audio/wav")], role="assistant"),
            Message([link, embedded]),
            Text("end", annotations=HINTS, meta={"d": 4}),
        ]

    @server.resource(
        "golden://notes",
        title="All notes",
        mime_type="text/markdown",
        size=5,
        annotations=HINTS,
        icons=[ICON],
        meta={"golden.example/a": 1},
        caching=Caching(9000, "public"),
    )
    async def notes() -> list[Contents]:
        """Return every note."""
        return [
            Contents("notes", meta={"e": 5}),
            Contents(b"\x00", "image/png", "golden://picture"),
            Contents({"n": [1, None]}, "application/json"),
        ]

    @server.resource(
        "golden://note/{id}{?part}",
        title="One note",
        annotations=HINTS,
        icons=[ICON],
        meta={"golden.example/a": 1},
    )
    async def note(id: int, part: Literal["head", "body"] = "body") -> Any:
        if id == 404:
            raise ResourceNotFound("there is no note 404")
        return {"id": id, "part": part}

    @server.tool
    async def tell(context: Context) -> None:
        context.log("debug", "only to who asks")
        context.log("notice", {"n": [1, None]}, logger="golden")
        context.log("emergency", None)

    return server


QUESTIONS: list[tuple[str, dict[str, Any]]] = [
    ("prompts/list", {}),
    ("prompts/get", {"name": "review", "arguments": {"code": "x", "depth": "2"}}),
    ("prompts/get", {"name": "review", "arguments": {"depth": "deep", "lang": "c"}}),
    ("prompts/get", {"name": "preview"}),
    ("resources/list", {}),
    ("resources/templates/list", {}),
    ("resources/read", {"uri": "golden://notes"}),
    ("resources/read", {"uri": "golden://note/7?part=head"}),
    ("resources/read", {"uri": "golden://note/seven"}),
    ("resources/read", {"uri": "golden://note/404"}),
    ("resources/subscribe", {"uri": "golden://notes"}),
    ("resources/subscribe", {"uri": "golden://none"}),
    ("resources/unsubscribe", {"uri": "golden://notes"}),
    (
        "completion/complete",
        {
            "ref": {"type": "ref/prompt", "name": "review"},
            "argument": {"name": "language", "value": "p"},
            "context": {"arguments": {"code": "x"}},
        },
    ),
    (
        "completion/complete",
        {
            "ref": {"type": "ref/resource", "uri": "golden://note/{id}{?part}"},
            "argument": {"name": "part", "value": "b"},
        },
    ),
    (
        "completion/complete",
        {
            "ref": {"type": "ref/prompt", "name": "preview"},
            "argument": {"name": "language", "value": "p"},
        },
    ),
    ("tools/call", {"name": "tell"}),
    ("logging/setLevel", {"level": "debug"}),
    ("logging/setLevel", {"level": "loud"}),
    ("tools/call", {"name": "tell", "_meta": {LOG_LEVEL: "notice"}}),
    ("tools/call", {"name": "tell", "_meta": {LOG_LEVEL: "loud"}}),
]


async def frames(revision: Revision) -> dict[str, Any]:
    """Return all that a client of a revision is sent."""
    server = golden_server()
    sent: list[Any] = []
    connection = server.connect(lambda message: sent.append(json.loads(message)))
    number = 0

    async def ask(method: str, params: dict[str, Any]) -> Any:
        nonlocal number
        number += 1
        if revision.is_modern:
            params = {
                **params,
                "_meta": {
                    "io.modelcontextprotocol/protocolVersion": str(revision),
                    "io.modelcontextprotocol/clientCapabilities": {},
                    **params.get("_meta", {}),
                },
            }
        body = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        answer = await connection.handle(json.dumps(body).encode())
        return None if answer is None else json.loads(answer)

    told: Any
    if revision.is_modern:
        opening = await ask("server/discover", {})
    else:
        opening = await ask("initialize", {"protocolVersion": str(revision), "capabilities": {}})
        await connection.handle(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
    answers = [
        {"method": method, "params": params, "answer": await ask(method, params)}
        for method, params in QUESTIONS
    ]
    if revision.is_modern:
        wanted = {
            "promptsListChanged": True,
            "resourcesListChanged": True,
            "resourceSubscriptions": ["golden://notes", "golden://none"],
        }
        listening = asyncio.create_task(ask("subscriptions/listen", {"notifications": wanted}))
        told_before = len(sent)
        await turn_until(lambda: len(sent) > told_before)
    else:
        listening = None
        await ask("resources/subscribe", {"uri": "golden://notes"})
    expected = len(sent) + 3
    server.resource_changed("golden://notes")
    server.remove_prompt("review")
    server.remove_resource("golden://notes")
    await turn_until(lambda: len(sent) == expected)
    await connection.close()
    if listening is not None:
        await listening
    told = sent
    return {
        "capabilities": opening["result"]["capabilities"],
        "answers": answers,
        "notifications": told,
    }


@pytest.mark.parametrize("revision", Revision, ids=str)
async def test_frames_are_the_golden_ones(revision: Revision) -> None:
    expect_frames(HERE / f"{revision}.json", await frames(revision))


@pytest.mark.parametrize("revision", RELEASED, ids=str)
async def test_frames_satisfy_the_official_models(revision: Revision) -> None:
    answered = 0
    for each in (await frames(revision))["answers"]:
        if "result" in each["answer"]:
            validate_server_result(each["method"], revision.value, each["answer"]["result"])
            answered += 1
    assert answered >= 8


# What the schema.ts of each revision knows, written down apart from the code under test.
OLD = {"name", "description"}
TITLED = OLD | {"title", "_meta"}
PROMPT = {"2024-11-05": OLD, "2025-03-26": OLD, "2025-06-18": TITLED}
RESOURCE_ONLY = {"uri", "mimeType", "annotations", "size"}
CONTENTS = {"uri", "mimeType", "text", "blob"}


@pytest.mark.parametrize("revision", Revision, ids=str)
async def test_no_revision_is_sent_a_field_it_does_not_know(revision: Revision) -> None:
    answers = {
        each["method"]: each["answer"]["result"]
        for each in reversed((await frames(revision))["answers"])
        if "result" in each["answer"]
    }
    words = PROMPT.get(str(revision), TITLED | {"icons"})
    [prompt] = answers["prompts/list"]["prompts"]
    assert prompt.keys() == words | {"arguments"}
    [resource] = answers["resources/list"]["resources"]
    assert resource.keys() == words | RESOURCE_ONLY
    [template] = answers["resources/templates/list"]["resourceTemplates"]
    assert template.keys() == (words - {"description"}) | {"uriTemplate", "annotations"}
    is_old = words is OLD
    for entry in (resource, template):
        assert ("lastModified" in entry["annotations"]) != is_old
    for contents in answers["resources/read"]["contents"]:
        assert contents.keys() <= (CONTENTS if is_old else CONTENTS | {"_meta"})
    kinds = [each["content"]["type"] for each in answers["prompts/get"]["messages"]]
    assert ("resource_link" in kinds) != is_old
    assert ("audio" in kinds) == (str(revision) != "2024-11-05")


def test_every_golden_file_belongs_to_a_revision() -> None:
    assert {path.stem for path in HERE.glob("*.json")} == {str(revision) for revision in Revision}
