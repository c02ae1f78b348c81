"""The benchmarks measure what they say: answers are checked, and a wrong one is an error."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest

Bed = Callable[[str], ModuleType]


@pytest.mark.parametrize("name", ["bench_http", "bench_stdio"])
def test_a_benchmark_of_a_transport_measures_the_floor_and_anyshape(bed: Bed, name: str) -> None:
    contenders = bed("bed.contenders")
    module = bed(name)
    plan = dataclasses.replace(
        module.QUICK,
        rounds=1,
        seconds=0.02,
        contenders=(contenders.FLOOR, contenders.ANYSHAPE_STRUCTS),
        tools=("create_order",),
        revisions=("2026-07-28",),
    )
    report = module.measure(plan)
    assert "anyshape, msgspec" in report.markdown()


def test_a_gateway_that_is_not_installed_is_left_out_with_a_line_that_says_so(
    bed: Bed,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    module = bed("bench_gateway")
    monkeypatch.setattr(bed("bed.servers.mcp_proxy"), "PROGRAM", tmp_path / "mcp-proxy")
    assert module.installed_older() == ()
    assert capsys.readouterr().out == "mcp-proxy is left out: `make older-peers` installs it\n"
    (tmp_path / "mcp-proxy").touch()
    assert module.installed_older() == ("mcp-proxy",)


def test_an_answer_with_another_value_is_refused(bed: Bed) -> None:
    processes, shop = bed("bed.processes"), bed("bed.shop")
    wrong = b'{"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":{"result":41}}}'
    with pytest.raises(processes.ContenderFailed):
        processes.check_answer("peer", wrong, shop.EXPECTED["get_count"])


def test_ratios_are_taken_within_a_round(bed: Bed) -> None:
    rounds = bed("bed.rounds")
    assert rounds.ratio([2.0, 20.0, 9.0], [1.0, 10.0, 3.0]) == rounds.Ratio(2.0, 2.0, 3.0)


def test_rounds_alternate_their_order(bed: Bed) -> None:
    seen: list[str] = []
    bed("bed.rounds").interleave("ab", 2, seen.append)
    assert seen == ["a", "b", "b", "a"]


def test_every_schema_of_the_benchmark_judges_its_two_values(bed: Bed) -> None:
    module = bed("bench_schema")
    wrong = [
        case.name
        for case in bed("schemas").CASES
        for accepts in [module.compile_with("anyshape", case.schema)]
        if not accepts(case.valid) or accepts(case.invalid)
    ]
    assert wrong == []
    assert len(bed("schemas").CASES) >= 30


def test_the_plot_is_well_formed(bed: Bed) -> None:
    picture = bed("bed.curves").draw("Cost", "size", {"a < b": [(1, 1e-6), (100, 1e-3)]})
    names = {element.tag.rpartition("}")[2] for element in ElementTree.fromstring(picture).iter()}
    assert {"svg", "polyline", "text"} <= names
