"""Clients that we did not write meet servers that we did not write, through the gateway.

Here it is those that share the environment of the tests; `make older-peers` has all of them meet.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gateway_cells
import gateway_peers
import pytest
from gateway_peers import COLUMNS, EVENTS, ROWS, Column, Row

Json = dict[str, Any]
HERE = [row for row in (*ROWS, *EVENTS) if row.at.is_here]
CLIENTS = [column for column in COLUMNS if column.at.is_here]


@pytest.fixture(scope="module")
def gateways() -> Iterator[dict[Row, Json]]:
    with gateway_peers.gateways(HERE) as targets:
        yield targets


@pytest.mark.timeout(2400)  # Each client meets every server.
@pytest.mark.parametrize("column", CLIENTS, ids=lambda column: column.id)
def test_a_client_sees_of_every_server_what_the_table_says(
    gateways: dict[Row, Json], column: Column
) -> None:
    targets = [{**gateways[row], "plan": gateway_cells.plan(row, column)} for row in HERE]
    reports = gateway_peers.visit(column, targets)
    for row, report in zip(HERE, reports, strict=True):
        seen = gateway_cells.observed(row, column, report)
        assert seen == gateway_cells.expected(row, column), row.id
        assert report["revision"] == column.revision


def test_every_cell_of_the_table_is_looked_at() -> None:
    meetings = [(row, column) for row in ROWS for column in COLUMNS]
    for name in (*gateway_cells.VALUES, *gateway_cells.FEATURES):
        seen = {gateway_cells.expected(*meeting)[name] for meeting in meetings}
        assert seen != {gateway_cells.ABSENT}, name
    shapes = {gateway_cells.expected(*meeting)["number"] for meeting in meetings}
    assert shapes == {"`42`", '`{"result": 42}`', "text `42`", gateway_cells.ABSENT}
