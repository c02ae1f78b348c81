"""The tables of `docs/concepts/shapes.md` are true."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from anyshape.protocol.result import ABSENT, EncodedResult
from anyshape.protocol.revision import Revision
from anyshape.protocol.shapes import ShapeOptions, shape

PAGE = Path(__file__).parents[3] / "docs" / "concepts" / "shapes.md"


def read(cell: str) -> Any:
    code = re.fullmatch(r"\s*`(.*)`\s*", cell)
    assert code is not None, cell
    return json.loads(code[1])


def tables(heading: str) -> list[list[Any]]:
    """Return the rows of every table with this heading, each cell read as JSON."""
    parts = PAGE.read_text().split(f"| {heading} |\n")
    assert len(parts) > 1, heading
    found: list[list[Any]] = []
    for part in parts[1:]:
        lines = part.splitlines()[1:]
        for line in lines[: next(i for i, each in enumerate(lines) if not each.startswith("|"))]:
            cells = line.strip("|").split(" | ")
            found.append([ABSENT if cell.strip() == "none" else read(cell) for cell in cells])
    return found


@pytest.mark.parametrize("revision", [Revision.V2025_06_18, Revision.V2025_11_25], ids=str)
@pytest.mark.parametrize(
    ("heading", "nullable"),
    [
        ("natural | listed to 2025 clients", "wrap"),
        ("natural | listed to 2025 clients, by choice", "object"),
    ],
)
def test_schemas_are_listed_as_documented(heading: str, nullable: Any, revision: Revision) -> None:
    for natural, listed in tables(heading):
        options = ShapeOptions(nullable_objects=nullable)
        assert shape(revision).output_schema(natural, options) == listed


def test_values_are_sent_as_documented() -> None:
    for schema, value, older, newer in tables("schema | value | 2025 | 2026-07-28"):
        for revision, expected in ((Revision.V2025_11_25, older), (Revision.V2026_07_28, newer)):
            encode = shape(revision).result_encoder(schema)
            result = json.loads(encode(EncodedResult(msgspec.json.encode(value))))
            assert result["structuredContent"] == expected
            assert [json.loads(block["text"]) for block in result["content"]] == [value]
