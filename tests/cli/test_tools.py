"""`anyshape tools`, on the demo by every kind of target, and on servers of others."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

Run: TypeAlias = Callable[..., Any]

DEMO = "anyshape.demo.server"

LISTED = """\
get-weather-forecast
  Get the hourly forecast: a plain array, not an object around one.
  () → {hour: string, temp: integer, conditions: string}[]

find-by-id-or-name
  Find a record by its id or by its name, never by both.
  (id?: string, name?: string ≥1 chars) & ({id} | {name}) → {[any]: string}

get-count
  Get a count: a plain number.
  () → integer
"""


def test_tools_are_listed_with_their_types(run: Run, demo_words: Callable[..., list[str]]) -> None:
    listed = run(*demo_words("tools"))
    assert listed.code == 0
    assert listed.out.startswith(LISTED)
    assert "\n  () → Folder {name: string, bytes?: integer, folders?: Folder[]}\n" in listed.out
    assert "\n  (name: string) → {name: string, age: integer ≥0} | null\n" in listed.out
    assert listed.err == "anyshape-demo 0.1.0 · 12 tools · as of 2026-07-28\n\n"


def test_the_listing_fits_the_columns_there_are_and_ends_without_padding(run: Run) -> None:
    for columns in (60, 80, 120):
        out = run("tools", DEMO, columns=columns).out
        assert max(map(len, out.splitlines())) <= columns
        assert not re.search(r"[ \t]$", out, re.MULTILINE)


def test_schemas_are_shown_in_full(run: Run) -> None:
    shown = run("tools", DEMO, "get-count", "--schema")
    assert shown.out == (
        "get-count\n"
        "  Get a count: a plain number.\n"
        "  inputSchema\n"
        '    {"type": "object", "properties": {}, "additionalProperties": false}\n'
        "  outputSchema\n"
        '    {"type": "integer"}\n'
    )


def test_an_older_client_is_shown_what_it_is_listed(run: Run) -> None:
    wrapped = run("tools", DEMO, "get-count", "--revision", "2025-11-25")
    assert "  () → {result: integer}\n" in wrapped.out
    text_only = run("tools", DEMO, "get-count", "--revision", "2025-03-26")
    assert "  () → content\n" in text_only.out


def test_json_has_the_entries_as_they_came(run: Run) -> None:
    data = run("tools", DEMO, "--json").data
    assert data["revision"] == "2026-07-28"
    assert data["rejected"] == {}
    count = next(tool for tool in data["tools"] if tool["name"] == "get-count")
    assert count["outputSchema"] == {"type": "integer"}


def test_a_server_of_the_official_sdk_is_read_as_its_types_mean(
    run: Run, foreign: list[str]
) -> None:
    listed = run("tools", *foreign)
    assert listed.code == 0
    assert (
        '  (limit?: integer) → {id: integer, name: string}[]   sent as {"result": …}\n'
        in listed.out
    )


def test_a_tool_nobody_can_use_is_listed_with_the_reason(run: Run, liar: list[str]) -> None:
    listed = run("tools", *liar)
    assert listed.code == 0
    rejected = listed.out.split("\nrejected\n")[1]
    assert rejected.startswith("  elsewhere: ")
    assert "https://example.com/count.json" in rejected
    assert listed.err == "liar · 3 tools, 1 rejected · as of 2026-07-28\n\n"
    assert run("tools", "--json", *liar).data["rejected"].keys() == {"elsewhere"}


def test_strangers_cannot_steer_the_terminal(run: Run, liar: list[str]) -> None:
    for words in (["tools"], ["tools", "--schema"], ["tools", "--json"], ["call", "trick"]):
        shown = run(*words, *liar)
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", shown.out + shown.err)
    assert "Play a \\x1b]0;owned\\x07\\x1b[2Jgone\\u202e" in run("tools", *liar).out


def test_a_misspelt_tool_is_answered_with_the_right_one(run: Run) -> None:
    refused = run("tools", DEMO, "get_count")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err == (
        "error: the server has no tool get_count\n\nhint: did you mean get-count?\n"
    )


def test_an_unknown_revision_is_a_mistake_of_usage(run: Run) -> None:
    refused = run("tools", DEMO, "--revision", "2031-01-01")
    assert refused.code == 2
    assert "2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25, 2026-07-28" in refused.err


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["http://127.0.0.1:9/mcp"], 3),
        (["ftp://127.0.0.1/mcp"], 2),
        (["http://"], 2),
        (["http://[127.0.0.1/mcp"], 2),
        (["http://127.0.0.1:99999/mcp"], 2),
        (["--", "/does/not/exist"], 3),
        (["--"], 2),
        (["no_such_module"], 2),
        (["no_such_file.py"], 2),
        (["anyshape.demo.server:nothing"], 2),
        (["anyshape.demo.server:FORECAST"], 2),
        (["http://127.0.0.1:9/mcp", "--header", "nonsense"], 2),
        (["http://127.0.0.1:9/mcp", "--header", "X-Name: two\nlines"], 2),
        (["http://127.0.0.1:9/mcp", "--header", "X-Name: \x00"], 2),
        (["http://127.0.0.1:9/mcp", "--header", "X Name: value"], 2),
        (["http://127.0.0.1:9/mcp", "--header", "X-N\u00e4me: value"], 2),
        (["http://127.0.0.1:9/mcp", "--header", "X-Name: v\u00e4lue"], 3),
    ],
)
def test_a_target_that_is_not_there_is_one_line_and_a_hint(
    run: Run, words: list[str], code: int
) -> None:
    failed = run("tools", *words)
    assert (failed.code, failed.out) == (code, "")
    lines = failed.err.splitlines()
    assert lines[0].startswith("error: ")
    assert lines[-2] == ""
    assert lines[-1].startswith("hint: ")
    assert "Traceback" not in failed.err


def test_a_docstring_is_shown_without_the_indentation_of_its_source(
    run: Run, tmp_path: Path
) -> None:
    docstring = "Read a page.\n\n    Where:\n        url: its address\n    "
    file = tmp_path / "reading.py"
    file.write_text(
        "from anyshape import Server\n"
        "server = Server('reading')\n"
        f"server.tool(name='read', description={docstring!r})(lambda url: url)\n"
    )
    expected = "read\n  Read a page.\n\n  Where:\n      url: its address\n  (url: any)"
    assert run("tools", str(file)).out.startswith(expected)


@pytest.mark.parametrize("words", [["tools"], ["shapes", "any", "--listing"]], ids=" ".join)
def test_a_command_that_ends_is_better_tried_by_itself(run: Run, words: list[str]) -> None:
    failed = run(*words, "--", sys.executable, "-c", "exit('set API_KEY')")
    assert failed.code == 3
    assert "ended with exit status 1; its last words: 'set API_KEY'" in failed.err
    assert "hint: run what stands behind -- by itself" in failed.err


@pytest.mark.parametrize("target", ["", ".", "no/such", "some words", "a=b"])
def test_what_is_no_target_is_a_mistake_in_one_line(run: Run, target: str) -> None:
    outcome = run("tools", target)
    assert outcome.code == 2
    assert f"error: {target!r} is neither a module nor a Python file\n" in outcome.err


@pytest.mark.parametrize(
    "words",
    [
        ["tools", DEMO, "--header", "Authorization Bearer s3cret"],
        ["tools", DEMO, "--header", ": s3cret"],
        ["tools", DEMO, "--header", "Authorization Bearer s3cret:"],
        ["tools", "ws://me:s3cret@example.com/mcp?key=s3cret"],
        ["tools", "http://me:s3cret@example.com:port/mcp"],
        ["tools", "http://me:s3cret@[::1/mcp"],
        ["gateway", "http://me:s3cret@example.com:port/mcp"],
        ["logout", "ws://me:s3cret@example.com/mcp"],
        ["logout", "me:s3cret@example.com/mcp"],
        ["logout", "me:s3cret"],
        ["logout", "example.com/mcp?key=s3cret"],
        ["tools", "http://me:old/s3cret@example.com/mcp"],
        ["tools", "http://me:old?s3cret@example.com/mcp"],
    ],
)
def test_a_mistake_is_told_without_the_secrets_in_it(run: Run, words: list[str]) -> None:
    outcome = run(*words)
    assert (outcome.code, outcome.out) == (2, "")
    assert "s3cret" not in outcome.err


def test_a_command_line_in_the_place_of_a_program_is_not_quoted(run: Run) -> None:
    outcome = run("tools", "--", "some-server --key s3cret")
    assert outcome.code == 3
    assert "cannot start the server process 'some-server …'" in outcome.err
    assert "s3cret" not in outcome.err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "No such file or directory"),
        ("{", "line 1: expected JSON"),
        ("5", 'expected an object with "mcpServers" in it'),
    ],
)
def test_a_json_file_that_describes_no_gateway_is_no_module(
    run: Run, tmp_path: Path, text: str | None, said: str
) -> None:
    file = tmp_path / "fleet.json"
    if text is not None:
        file.write_text(text)
    outcome = run("tools", str(file))
    assert outcome.code == 3
    assert f"error: {file}" in outcome.err
    assert said in outcome.err


def test_a_syntax_error_is_told_with_its_place_once(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "broken_server.py"
    file.write_text("def (\n")
    outcome = run("tools", str(file))
    assert outcome.code == 3
    assert outcome.err.count("line 1") == 1


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf"])
def test_a_time_that_is_none_is_a_mistake(run: Run, seconds: str) -> None:
    outcome = run("tools", DEMO, "--timeout", seconds)
    assert (outcome.code, outcome.out) == (2, "")
    assert f"--timeout {seconds}: expected seconds" in outcome.err
