"""`anyshape shapes`: what each revision sees, beside or below each other."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

Run: TypeAlias = Callable[..., Any]

DEMO = "anyshape.demo.server"

BESIDE = """\
get-count

2026-07-28                 2025-11-25, 2025-06-18     2025-03-26, 2024-11-05
natural                    wrapped, {"result": …}     text only

outputSchema:              outputSchema:              outputSchema:
{"type": "integer"}        {                          absent
                             "type": "object",
                             "properties": {
                               "result": {
                                 "type": "integer"
                               }
                             },
                             "required": ["result"]
                           }

structuredContent:         structuredContent:         structuredContent:
42                         {"result": 42}             absent

content:                   content:                   content:
text: 42                   text: 42                   text: 42

the same at every revision: description, inputSchema
"""


def test_small_shapes_stand_side_by_side(run: Run, demo_words: Callable[..., list[str]]) -> None:
    shown = run(*demo_words("shapes", "get-count"))
    assert (shown.code, shown.err) == (0, "")
    assert shown.out == BESIDE


def test_larger_shapes_are_stacked_until_there_is_room(run: Run) -> None:
    stacked = run("shapes", DEMO, "find_person", "name=nobody").out
    assert "2026-07-28 · natural\n" in stacked
    assert "  structuredContent  null\n" in stacked
    assert '2025-11-25, 2025-06-18 · wrapped, {"result": …}\n' in stacked
    assert '  structuredContent  {"result": null}\n' in stacked
    assert "2025-03-26, 2024-11-05 · text only\n" in stacked
    wide = run("shapes", DEMO, "find_person", "name=nobody", columns=160).out
    assert re.search(r"^2026-07-28 +2025-11-25, 2025-06-18 +2025-03-26", wide, re.MULTILINE)


def test_nothing_is_wider_than_the_terminal(run: Run) -> None:
    for tool in ("get_weather_data", "quote_parcel", "folder_tree", "list_users"):
        words = {"get_weather_data": ["location=Paris"]}.get(tool, [])
        out = run("shapes", DEMO, tool, *words).out
        assert max(map(len, out.splitlines())) <= 80
        assert not re.search(r"[ \t]$", out, re.MULTILINE)


def test_an_object_is_the_same_wherever_structured_content_is_known(run: Run) -> None:
    shown = run("shapes", DEMO, "find-by-id-or-name", "name=lamp").out
    assert "2026-07-28, 2025-11-25, 2025-06-18 " in shown


def test_json_has_every_wire_form(run: Run) -> None:
    views = run("shapes", DEMO, "get-count", "--json").data
    assert [view["revision"] for view in views] == [
        "2026-07-28",
        "2025-11-25",
        "2025-06-18",
        "2025-03-26",
        "2024-11-05",
    ]
    values = [view["result"].get("structuredContent", "absent") for view in views]
    assert values == [42, {"result": 42}, {"result": 42}, "absent", "absent"]


@pytest.mark.parametrize("value", ["list(range(50_000))", "{'text': 'x' * 500_000}"])
def test_a_value_of_megabytes_is_shown_in_part_and_whole_as_json(
    run: Run, tmp_path: Path, value: str
) -> None:
    file = tmp_path / "large_server.py"
    file.write_text(
        "from anyshape import Server\n"
        "server = Server('large')\n"
        f"server.tool(name='large')(lambda: {value})\n"
    )
    shown = run("shapes", str(file), "large")
    assert shown.code == 0
    assert "and more; --json shows it" in shown.out
    assert len(shown.out) < 600_000
    whole = run("shapes", str(file), "large", "--json")
    assert whole.data[0]["result"]["structuredContent"] == eval(value)


def test_the_listing_alone_calls_nothing(run: Run) -> None:
    views = run("shapes", DEMO, "always_fails", "--listing", "--json").data
    assert all("result" not in view for view in views)


def test_a_failure_looks_the_same_to_everyone(run: Run) -> None:
    views = run("shapes", DEMO, "always_fails", "--json").data
    failures = [(view["result"]["isError"], view["result"]["content"]) for view in views]
    words = {"type": "text", "text": "This tool failed because it was asked to."}
    assert failures == [(True, [words])] * 5
    assert "isError:" in run("shapes", DEMO, "always_fails").out


def test_a_foreign_server_shows_what_it_does(run: Run, foreign: list[str]) -> None:
    shown = run("shapes", "count", *foreign)
    assert shown.code == 0
    assert 'wrapped, {"result": …}' in shown.out
    assert '{"result": 2}' in shown.out


def test_a_long_line_is_wrapped_between_words(run: Run, older: list[str]) -> None:
    [modern, *_] = run("shapes", "count", "--json", *older).data
    shown = " ".join(run("shapes", "count", *older).out.split())
    assert modern["error"] in shown


def test_a_server_that_answers_with_an_older_revision_shows_what_that_gives(
    run: Run, older: list[str]
) -> None:
    views = run("shapes", "count", "--json", *older).data
    assert [(view["revision"], view.get("answered")) for view in views] == [
        ("2026-07-28", None),
        ("2025-11-25", "2025-06-18"),
        ("2025-06-18", None),
        ("2025-03-26", None),
        ("2024-11-05", None),
    ]
    assert "does not speak 2026-07-28" in views[0]["error"]
    assert [view["result"]["structuredContent"] for view in views[1:]] == [{"result": 2}] * 4
    shown = run("shapes", "count", *older)
    assert shown.code == 0
    assert "2025-11-25 → 2025-06-18, 2025-06-18, 2025-03-26, 2024-11-05 · wrapped" in shown.out


def test_a_revision_that_is_not_served_says_why(run: Run, liar: list[str]) -> None:
    views = run("shapes", "lie", "--json", *liar).data
    assert "breaks its outputSchema" in views[0]["error"]


def test_a_server_that_is_not_there_is_an_error(run: Run) -> None:
    failed = run("shapes", "http://127.0.0.1:9/mcp", "anything")
    assert (failed.code, failed.out) == (3, "")
    assert failed.err.startswith("error: ")
