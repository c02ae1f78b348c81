"""Golden frames: what each revision is sent for each case, whole and by eye.

`cases/` holds tools and results in their natural form; `<revision>/` what goes over the wire for
them. After a change that is meant, run with `ANYSHAPE_WRITE_FRAMES=1` and review the difference.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema_rs
import msgspec
import pytest
from jsonschema import Draft202012Validator, validators
from mcp_types.methods import validate_server_result
from mcp_types.version import KNOWN_PROTOCOL_VERSIONS

from anyshape import Client, Server
from anyshape.protocol.completed import Caching, encode_page
from anyshape.protocol.content import encode_content, read_content
from anyshape.protocol.description import ToolDescription
from anyshape.protocol.jsonrpc import encode_response
from anyshape.protocol.result import ABSENT, Absent, EncodedResult
from anyshape.protocol.revision import RELEASED, Revision
from anyshape.protocol.shapes import Carriage, ShapeOptions, carriage_of, shape
from anyshape.protocol.shapes.result_reader import result_reader
from anyshape.server import ServerOptions

from .golden import expect_frames

HERE = Path(__file__).parent
CASES = sorted(path.stem for path in (HERE / "cases").glob("*.json"))
SERVER_INFO = b'{"name":"golden","version":"1.0.0"}'

each_case = pytest.mark.parametrize("case", CASES)
each_choice = pytest.mark.parametrize("chosen", [{}, {"natural": False}], ids=str)
each_revision = pytest.mark.parametrize("revision", Revision, ids=str)


def load(case: str) -> dict[str, Any]:
    return json.loads((HERE / "cases" / f"{case}.json").read_text())


def tool_of(case: dict[str, Any]) -> ToolDescription:
    tool = case["tool"]
    return ToolDescription(
        name=tool["name"],
        input_schema=tool["inputSchema"],
        title=tool.get("title"),
        description=tool.get("description"),
        output_schema=tool.get("outputSchema", ABSENT),
        annotations=tool.get("annotations"),
        meta=tool.get("_meta"),
        icons=tool.get("icons"),
    )


def encoded(result: dict[str, Any]) -> EncodedResult:
    structured = msgspec.json.encode(result["structured"]) if "structured" in result else None
    meta = msgspec.json.encode(result["meta"]) if "meta" in result else None
    blocks = tuple(encode_content(read_content(block)) for block in result.get("content", []))
    assert [json.loads(block) for block in blocks] == result.get("content", [])
    return EncodedResult(structured, blocks, result.get("is_error", False), meta)


def options_of(case: dict[str, Any], chosen: dict[str, Any]) -> ShapeOptions:
    return ShapeOptions(**{**case.get("options", {}), **chosen})


def frames_of(case: dict[str, Any], revision: Revision, **chosen: Any) -> dict[str, Any]:
    """Return the answers to `tools/list` and to each call, as the revision's client sees them."""
    tool = tool_of(case)
    options = options_of(case, chosen)
    its = shape(revision)
    entry = msgspec.json.encode(its.entry(tool, options))
    encode = its.result_encoder(tool.output_schema, options, SERVER_INFO)
    caching = Caching(300_000, "public")
    listing = encode_page(revision, "tools", [entry], caching=caching, server_info=SERVER_INFO)
    calls = [encode(encoded(result)) for result in case["results"]]
    return {
        "list": json.loads(encode_response(b"1", listing)),
        "calls": [
            json.loads(encode_response(b"%d" % number, call))
            for number, call in enumerate(calls, start=2)
        ],
    }


@each_revision
@each_case
def test_frames_are_the_golden_ones(case: str, revision: Revision) -> None:
    expect_frames(HERE / str(revision) / f"{case}.json", frames_of(load(case), revision))


def test_every_golden_file_belongs_to_a_case() -> None:
    expected = {f"{revision}/{case}.json" for revision in Revision for case in CASES}
    found = {
        f"{path.parent.name}/{path.name}"
        for path in HERE.glob("*/*.json")
        if path.parent.name not in ("asking", "cases", "features", "streams", "tasks")
    }
    assert found == expected


@pytest.mark.parametrize("revision", RELEASED, ids=str)
@each_case
@each_choice
def test_frames_satisfy_the_official_models(
    case: str, revision: Revision, chosen: dict[str, Any]
) -> None:
    assert revision.value in KNOWN_PROTOCOL_VERSIONS
    frames = frames_of(load(case), revision, **chosen)
    validate_server_result("tools/list", revision.value, frames["list"]["result"])
    for call in frames["calls"]:
        validate_server_result("tools/call", revision.value, call["result"])


@each_revision
@each_case
@each_choice
def test_what_was_listed_accepts_what_is_sent_and_nothing_else(
    case: str, revision: Revision, chosen: dict[str, Any]
) -> None:
    loaded = load(case)
    frames = frames_of(loaded, revision, **chosen)
    [entry] = frames["list"]["result"]["tools"]
    if "outputSchema" not in entry:
        return
    listed = entry["outputSchema"]
    judge = validators.validator_for(listed, default=Draft202012Validator)
    judge.check_schema(listed)
    engines = [jsonschema_rs.validator_for(listed).is_valid]
    if "beyond_jsonschema" not in loaded:
        engines.append(judge(listed).is_valid)
    options = options_of(loaded, chosen)
    for result, call in zip(loaded["results"], frames["calls"], strict=True):
        sent = call["result"].get("structuredContent", ABSENT)
        if isinstance(sent, Absent):
            null_by_silence = options.nullable_objects == "object" and not revision.is_natural
            assert result.get("is_error") or (null_by_silence and result["structured"] is None)
        elif not result.get("is_error"):
            assert all(accepts(sent) for accepts in engines)
    schema = loaded["tool"]["outputSchema"]
    if revision.is_natural:
        options = replace(options, nullable_objects="wrap")
    needs_objects = not (revision.is_natural and options.natural)
    wrapped = needs_objects and carriage_of(schema, options) is Carriage.ENVELOPE
    assert not needs_objects or listed["type"] == "object"
    for value in loaded.get("rejected", []):
        sent = {"result": value} if wrapped else value
        assert not any(accepts(sent) for accepts in engines)


@each_revision
@each_case
@each_choice
def test_a_client_reads_the_natural_value_back(
    case: str, revision: Revision, chosen: dict[str, Any]
) -> None:
    loaded = load(case)
    frames = frames_of(loaded, revision, **chosen)
    [entry] = frames["list"]["result"]["tools"]
    read = result_reader(revision, entry.get("outputSchema", ABSENT))
    for result, call in zip(loaded["results"], frames["calls"], strict=True):
        answer = read(call["result"])
        assert answer.is_error == result.get("is_error", False)
        if answer.is_error:
            assert answer.value == call["result"].get("structuredContent", ABSENT)
        elif revision.has_structured_content:
            assert answer.value == result.get("structured", ABSENT)
        else:
            assert answer.value is ABSENT


@pytest.mark.parametrize("revision", [each for each in Revision if each.is_natural], ids=str)
@each_case
def test_without_natural_shapes_every_structured_value_is_an_object(
    case: str, revision: Revision
) -> None:
    loaded = load(case)
    frames = frames_of(loaded, revision, natural=False)
    for result, call in zip(loaded["results"], frames["calls"], strict=True):
        if "structured" in result and not result.get("is_error"):
            assert isinstance(call["result"]["structuredContent"], dict)
        else:
            assert isinstance(call["result"].get("structuredContent", {}), dict)


# What the schema.ts of each revision knows, written down apart from the code under test.
ENTRY_FIELDS = {
    "2024-11-05": {"name", "description", "inputSchema"},
    "2025-03-26": {"name", "description", "inputSchema", "annotations"},
    "2025-06-18": {
        "name", "title", "description", "inputSchema", "outputSchema", "annotations", "_meta",
    },
    "2025-11-25": {
        "name", "title", "description", "inputSchema", "outputSchema", "annotations", "_meta",
        "icons",
    },
}  # fmt: skip
RESULT_FIELDS = {
    "2024-11-05": {"content", "isError", "_meta"},
    "2025-03-26": {"content", "isError", "_meta"},
    "2025-06-18": {"content", "structuredContent", "isError", "_meta"},
    "2025-11-25": {"content", "structuredContent", "isError", "_meta"},
    "2026-07-28": {"content", "structuredContent", "isError", "_meta", "resultType"},
}
_RESOURCE = {"type", "resource", "annotations"}
_MEDIA = {"type", "data", "mimeType", "annotations"}
_LINK = {
    "type", "uri", "name", "title", "description", "mimeType", "size", "annotations", "_meta",
}  # fmt: skip
BLOCK_FIELDS = {
    "2024-11-05": {
        "text": {"type", "text", "annotations"}, "image": _MEDIA, "resource": _RESOURCE,
    },
    "2025-03-26": {
        "text": {"type", "text", "annotations"}, "image": _MEDIA, "audio": _MEDIA,
        "resource": _RESOURCE,
    },
    "2025-06-18": {
        "text": {"type", "text", "annotations", "_meta"}, "image": _MEDIA | {"_meta"},
        "audio": _MEDIA | {"_meta"}, "resource": _RESOURCE | {"_meta"}, "resource_link": _LINK,
    },
    "2025-11-25": {
        "text": {"type", "text", "annotations", "_meta"}, "image": _MEDIA | {"_meta"},
        "audio": _MEDIA | {"_meta"}, "resource": _RESOURCE | {"_meta"},
        "resource_link": _LINK | {"icons"},
    },
}  # fmt: skip
for table in (ENTRY_FIELDS, BLOCK_FIELDS, RESULT_FIELDS):
    for later in ("2026-06-30", "DRAFT-2026-06-v1", "2026-07-28"):
        table.setdefault(later, table["2025-11-25"])  # pyright: ignore[reportArgumentType]


@each_revision
@each_case
def test_no_revision_is_sent_a_field_it_does_not_know(case: str, revision: Revision) -> None:
    frames = frames_of(load(case), revision)
    [entry] = frames["list"]["result"]["tools"]
    assert entry.keys() <= ENTRY_FIELDS[str(revision)]
    for call in frames["calls"]:
        assert call["result"].keys() <= RESULT_FIELDS[str(revision)]
        for block in call["result"]["content"]:
            assert block.keys() <= BLOCK_FIELDS[str(revision)][block["type"]]
            if not revision.has_last_modified:
                assert "lastModified" not in block.get("annotations", {})
                assert "_meta" not in block.get("resource", {})


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
async def test_a_server_that_keeps_to_envelopes_is_read_naturally(revision: str) -> None:
    server = Server("s", options=ServerOptions(shape=ShapeOptions(natural=False)))

    async def names() -> list[str]:
        return ["Ada"]

    async def find(name: str) -> dict[str, int] | None:
        return {"age": 36} if name == "Ada" else None

    async def whatever(value: Any):
        return value

    for function in (names, find, whatever):
        server.tool(function)
    async with Client(server, revision=revision) as client:
        assert await client.call("names", returns=list[str]) == ["Ada"]
        result = await client.call_tool("find", {"name": "Grace"})
        assert (result.value, result.has_value) == (None, True)
        assert result.raw["structuredContent"] == {"result": None}
        assert (await client.call_tool("find", {"name": "Ada"})).value == {"age": 36}
        assert (await client.call_tool("whatever", {"value": [1]})).value == [1]
        assert (await client.call_tool("whatever", {"value": {"a": 1}})).value == {"a": 1}
