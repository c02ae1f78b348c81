"""`anyshape call`: values on stdout, failures on stderr, arguments typed by the schema."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

Run: TypeAlias = Callable[..., Any]

DEMO = "anyshape.demo.server"

ECHO = """
from typing import Any

from anyshape import Image, Server

server = Server("echo")
SCHEMA = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "number": {"type": "number"},
        "whole": {"$ref": "#/$defs/whole"},
        "flag": {"type": "boolean"},
        "either": {"type": ["integer", "string"]},
        "maybe": {"type": ["integer", "null"]},
        "list": {"type": "array"},
        "choice": {"enum": [1, 2, "three"]},
        "anything": {},
    },
    "$defs": {"whole": {"type": "integer"}},
    "oneOf": [{"properties": {"branch": {"type": "integer"}}}],
}


@server.tool(input_schema=SCHEMA, output_schema=True)
def echo(arguments: dict[str, Any]) -> Any:
    return arguments


@server.tool
def say(text: str):
    return text
"""


@pytest.fixture
def echo(tmp_path: Path) -> str:
    path = tmp_path / "echo_server.py"
    path.write_text(ECHO)
    return str(path)


def test_a_value_is_written_as_json_that_fits(
    run: Run, demo_words: Callable[..., list[str]]
) -> None:
    called = run(*demo_words("call", "get-weather-forecast"))
    assert called.code == 0
    assert called.out == (
        "[\n"
        '  {"hour": "09:00", "temp": 68, "conditions": "sunny"},\n'
        '  {"hour": "10:00", "temp": 72, "conditions": "partly cloudy"},\n'
        '  {"hour": "11:00", "temp": 75, "conditions": "cloudy"}\n'
        "]\n"
    )
    assert called.err == ""


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-06-18", "2025-11-25", "2026-07-28"])
def test_the_value_is_the_same_at_every_revision(run: Run, revision: str) -> None:
    assert run("call", DEMO, "get-count", "-r", revision).out == "42\n"


def test_null_is_a_value(run: Run) -> None:
    nobody = run("call", DEMO, "find_person", "name=nobody")
    assert (nobody.code, nobody.out) == (0, "null\n")


def test_what_a_tool_says_beside_its_value_goes_to_stderr(run: Run) -> None:
    called = run("call", DEMO, "list_users", "limit=1")
    assert called.data == [{"id": "u1", "name": "Alice", "email": "alice@example.com"}]
    assert called.err == "Found 1 user: Alice (u1, alice@example.com).\n"


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("text=007", {"text": "007"}),
        ("text=", {"text": ""}),
        ("text=a=b", {"text": "a=b"}),
        ("number=1.5", {"number": 1.5}),
        ("number=-3", {"number": -3}),
        ("whole=7", {"whole": 7}),
        ("flag=true", {"flag": True}),
        ("either=7", {"either": "7"}),
        ("either:=7", {"either": 7}),
        ("maybe=null", {"maybe": None}),
        ("maybe=3", {"maybe": 3}),
        ("list=[1, 2]", {"list": [1, 2]}),
        ("choice:=2", {"choice": 2}),
        ("choice=three", {"choice": "three"}),
        ("anything=1", {"anything": "1"}),
        ("anything:={}", {"anything": {}}),
        ("unknown=1", {"unknown": "1"}),
        ("branch=4", {"branch": 4}),
        ('{"text": "x", "flag": false}', {"text": "x", "flag": False}),
    ],
)
def test_an_argument_has_the_type_that_the_schema_says(
    run: Run, echo: str, word: str, value: object
) -> None:
    called = run("call", echo, "echo", word)
    assert called.code == 0, called.err
    assert called.data == value


def test_arguments_can_come_from_stdin(run: Run, echo: str) -> None:
    assert run("call", echo, "echo", "-", stdin='{"text": "été"}').data == {"text": "été"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["text"], "'text' is no argument"),
        (["=x"], "'=x' is no argument"),
        (["text:=nope"], "text: not JSON"),
        (["{nope"], "the arguments: not JSON"),
        (["text=a", "text=b"], "text is given twice"),
        (["-"], "stdin: not JSON"),
    ],
)
def test_arguments_that_cannot_be_read_are_a_mistake_of_usage(
    run: Run, echo: str, words: list[str], said: str
) -> None:
    refused = run("call", echo, "echo", *words)
    assert (refused.code, refused.out) == (2, "")
    assert said in refused.err


def test_a_wrong_call_says_what_to_correct_and_sends_nothing(run: Run) -> None:
    refused = run("call", DEMO, "quote_parcel", "destination=international", "kilograms=-3")
    assert (refused.code, refused.out) == (1, "")
    assert refused.err == (
        "error: quote_parcel does not take these arguments\n"
        "  /kilograms: expected a number > 0 and ≤ 30, got -3\n"
        '  missing required property "customs_code" (because "destination" is "international")\n'
        "\n"
        "hint: anyshape tools anyshape.demo.server quote_parcel --schema\n"
    )


def test_a_hint_does_not_repeat_what_may_be_secret(run: Run) -> None:
    program = "from anyshape.demo.server import server; server.run()"
    command = ["env", "API_TOKEN=xoxb-1", sys.executable, "-c", program]
    refused = run("call", "quote_parcel", "kilograms=-3", "--", *command)
    assert refused.code == 1
    assert refused.err.endswith("hint: anyshape tools quote_parcel --schema -- env …\n")
    assert "xoxb" not in refused.err


def test_unchecked_arguments_are_judged_by_the_server(run: Run) -> None:
    refused = run("call", DEMO, "quote_parcel", "destination=moon", "--unchecked")
    assert refused.code == 1
    assert refused.err.startswith("error: quote_parcel failed\n")


def test_a_value_of_the_wrong_type_is_told_in_the_words_of_the_schema(run: Run) -> None:
    refused = run("call", DEMO, "list_users", "limit=many")
    assert refused.code == 1
    assert '/limit: expected an integer ≥ 1 and ≤ 100, got "many"' in refused.err


def test_a_tool_that_fails_ends_with_1_and_its_own_words(
    run: Run, demo_words: Callable[..., list[str]]
) -> None:
    failed = run(*demo_words("call", "always_fails", "reason=of the rain"))
    assert (failed.code, failed.out) == (1, "")
    assert failed.err.startswith(
        "error: always_fails failed: This tool failed because of the rain.\n\nhint: "
    )


def test_json_says_everything_and_keeps_the_exit_code(run: Run) -> None:
    called = run("call", DEMO, "find_person", "name=nobody", "--json")
    assert called.data == {
        "revision": "2026-07-28",
        "isError": False,
        "value": None,
        "content": [{"type": "text", "text": "null"}],
    }
    failed = run("call", DEMO, "always_fails", "--json")
    assert failed.code == 1
    assert failed.data["isError"] is True
    assert "value" not in failed.data


def test_words_alone_are_written_as_words(run: Run, echo: str) -> None:
    assert run("call", echo, "say", "text=Hello").out == "Hello\n"


def test_content_that_is_no_text_is_named(run: Run, liar: list[str]) -> None:
    called = run("call", "picture", *liar)
    assert (called.code, called.out) == (0, "")
    assert called.err == "(image/gif content; --json shows it)\n"
    assert run("call", "picture", "--json", *liar).data["content"][0]["mimeType"] == "image/gif"


def test_a_server_that_breaks_its_schema_is_found_out(run: Run, liar: list[str]) -> None:
    caught = run("call", "lie", *liar)
    assert (caught.code, caught.out) == (1, "")
    assert "breaks its outputSchema" in caught.err


def test_a_rejected_tool_is_not_called(run: Run, liar: list[str]) -> None:
    refused = run("call", "elsewhere", *liar)
    assert refused.code == 1
    assert refused.err.startswith("error: tool elsewhere cannot be used: ")


def test_a_server_of_the_official_sdk_gives_natural_values(run: Run, foreign: list[str]) -> None:
    assert run("call", "count", *foreign).out == "2\n"
    assert run("call", "list_users", "limit=1", *foreign).data == [{"id": 1, "name": "Ada"}]
    assert run("call", "fail", "reason=x", *foreign).code == 1


def test_what_is_piped_can_be_read_back(execute: Run, demo_url: str) -> None:
    called = execute("call", demo_url, "get_weather_data", "location=Paris")
    assert called.code == 0
    assert json.loads(called.out)["location"]["city"] == "San Francisco"
    assert "\x1b" not in called.out


PRINTING = """
import asyncio, os
from anyshape import Server
print("while imported")
os.write(1, b"past python\\n")
asyncio.run(asyncio.sleep(0))
server = Server("printing")
@server.tool
def answer() -> int:
    print("while called")
    return 42
"""


@pytest.mark.parametrize("tail", ["", "server.run()\n"])
def test_what_a_module_prints_or_runs_stays_out_of_the_data(
    execute: Run, tmp_path: Path, tail: str
) -> None:
    source = tmp_path / "printing_server.py"
    source.write_text(PRINTING + tail)
    called = execute("call", str(source), "answer")
    assert (called.code, called.out) == (0, "42\n")
    assert "while imported" in called.err
    assert "past python" in called.err
    assert "while called" in called.err
    served = execute("serve", str(source))
    assert (served.code, served.out) == (0, "")


def test_objects_of_a_module_that_cannot_say_what_they_are_are_passed_over(
    run: Run, tmp_path: Path
) -> None:
    source = tmp_path / "lazy_server.py"
    source.write_text(
        "class Lazy:\n"
        "    @property\n"
        "    def __class__(self): raise RuntimeError('not configured')\n"
        "settings = Lazy()\n"
        "from anyshape.demo.server import server\n"
    )
    assert run("call", str(source), "get-count").out == "42\n"


def test_a_module_that_raises_what_is_no_exception_is_told_in_one_line(
    run: Run, tmp_path: Path
) -> None:
    source = tmp_path / "ending_server.py"
    source.write_text("import asyncio\nraise asyncio.CancelledError('over')\n")
    outcome = run("call", str(source), "get-count")
    assert (outcome.code, outcome.out) == (3, "")
    assert "cannot be imported: CancelledError: over (ending_server.py, line 2)" in outcome.err
