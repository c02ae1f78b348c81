"""Every command against a server whose every word tries to steer a terminal or forge a line."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias, cast

import pytest

Run: TypeAlias = Callable[..., Any]

SERVER = str(Path(__file__).with_name("hostile_server.py"))
STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff"
    "\u2060\u3164\ufff9\U000e0000-\U000e007f]"
)
LISTINGS = [
    ["tools"],
    ["tools", "--schema"],
    ["tools", "text"],
    ["tools", "nope"],
    ["resources"],
    ["prompts"],
    ["shapes", "text"],
    ["shapes", "both"],
    ["shapes", "nope"],
    ["check"],
    ["check", "--for", "openai-strict,gemini"],
    ["pin", "--name", "hostile"],
    ["call", "both"],
    ["call", "fails"],
    ["call", "breaks"],
    ["call", "refused"],
    ["call", "nope"],
    ["prompt", "one"],
]


@pytest.fixture
def hostile() -> list[str]:
    """Return the words behind a command that reach the server."""
    return ["--", sys.executable, SERVER, "2025-11-25"]


@pytest.mark.parametrize("words", LISTINGS, ids=" ".join)
def test_no_command_lets_a_server_steer_a_terminal_or_forge_a_line(
    execute: Run,
    hostile: list[str],
    words: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    shown = execute(*words, *hostile)
    assert "FORGED" in shown.out + shown.err  # it had its say
    for text in (shown.out, shown.err):
        assert not STEERING.findall(text)
        assert "\nFORGED" not in text


@pytest.mark.parametrize("words", [["tools"], ["check"], ["call", "breaks"]], ids=" ".join)
def test_nor_does_one_of_the_newest_revision(execute: Run, words: list[str]) -> None:
    shown = execute(*words, "--", sys.executable, SERVER, "2026-07-28")
    assert "FORGED" in shown.out + shown.err
    assert not STEERING.findall(shown.out + shown.err)
    assert "\nFORGED" not in shown.out + shown.err


@pytest.mark.parametrize(
    "words", [["tools"], ["resources"], ["prompts"], ["call", "both"], ["check"]], ids=" ".join
)
def test_json_output_is_one_line_that_says_the_same_and_steers_nothing(
    execute: Run, hostile: list[str], words: list[str]
) -> None:
    shown = execute(*words, "--json", *hostile)
    assert shown.out.count("\n") == 1
    assert not STEERING.findall(shown.out + shown.err)
    assert "\nFORGED lf\r\nFORGED crlf\x0bFORGED vt" in "".join(_texts(json.loads(shown.out)))


def test_colours_are_the_only_sequences_a_terminal_gets(execute: Run, hostile: list[str]) -> None:
    for words in (["tools", "--schema"], ["shapes", "text"], ["check"]):
        shown = execute(*words, *hostile, FORCE_COLOR="1").out
        assert "\x1b[" in shown
        assert not STEERING.findall(re.sub(r"\x1b\[[0-9;]*m", "", shown))


def test_what_a_tool_says_in_words_is_made_visible_on_stdout(run: Run, hostile: list[str]) -> None:
    said = run("call", "text", *hostile)
    assert not STEERING.findall(said.out + said.err)
    assert said.out.startswith("v1\\x1b]0;owned\\x07\\x1b[2J")


def test_the_diff_of_a_pin_steers_nothing(
    run: Run, hostile: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("pin", "--name", "hostile", *hostile).code == 0
    changed = run("pin", "--check", "--name", "hostile", *hostile, "changed")
    assert changed.code == 1
    assert "v2\\" in changed.out
    assert not STEERING.findall(changed.out + changed.err)
    assert "\nFORGED" not in changed.out


def test_a_file_and_its_name_steer_nothing_either(run: Run, tmp_path: Path) -> None:
    trick = "a\x1b[2J\nFORGED\u202e"
    file = tmp_path / f"{trick}.json"
    file.write_text(json.dumps({"name": trick, "inputSchema": {"type": trick}}))
    missing = tmp_path / f"not {trick}.json"
    for words in ([str(file), str(file)], [str(missing)]):
        shown = run("check", *words)
        assert shown.code != 0
        assert not STEERING.findall(shown.out + shown.err)
        assert "\nFORGED" not in shown.out + shown.err


def _texts(value: Any) -> list[str]:
    """Return all texts of a JSON value, keys among them."""
    if isinstance(value, dict):
        value = [each for pair in cast("dict[str, Any]", value).items() for each in pair]
    if isinstance(value, list):
        return [text for each in cast("list[Any]", value) for text in _texts(each)]
    return [value] if isinstance(value, str) else []
