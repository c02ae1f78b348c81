"""Tests of the weather server, in memory and at every revision."""

import pytest
from weather import server

from anyshape import Client, ValidationError


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-11-25", "2026-07-28"])
async def test_everyone_gets_the_same_list(revision: str) -> None:
    async with Client(server, revision=revision) as client:
        coming = await client.call(
            "temperatures", {"city": "Paris", "days": 2}, returns=list[float]
        )
    assert coming == [12.5, 14.0]


async def test_a_misspelt_argument_is_refused_with_the_right_name() -> None:
    async with Client(server) as client:
        with pytest.raises(ValidationError, match='did you mean "days"'):
            await client.call("temperatures", {"city": "Paris", "dais": 2})


async def test_the_model_reads_how_to_correct_itself() -> None:
    async with Client(server, check_arguments=False) as client:
        result = await client.call_tool("temperatures", {"city": "Paris", "days": 9})
    assert result.is_error
    assert result.text == "/days: expected an integer ≥ 1 and ≤ 3, got 9"


async def test_what_is_published_stays_what_it_was() -> None:
    async with Client(server) as client:
        (tool,) = await client.list_tools()
    assert tool.output_schema == {"type": "array", "items": {"type": "number"}}
