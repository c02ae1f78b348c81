"""`resources`, `read`, `prompts` and `prompt`; and what a server asks, asked on the terminal."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from patience import PATIENCE

Run: TypeAlias = Callable[..., Any]
SERVER = ["--", sys.executable, str(Path(__file__).parent / "asking_server.py")]

GREETING = """
from anyshape import Server

server = Server("greeting")
server.resource("demo://{name}", name="any")(lambda name: name)

@server.prompt
def greet(who: str) -> str:
    return f"Hello, {who}"
"""


def test_resources_are_listed_with_templates_and_what_is_rejected(run: Run) -> None:
    shown = run("resources", *SERVER)
    assert (shown.code, shown.out) == (
        0,
        "demo://text  text, 8 bytes\n"
        "  Two lines.\n"
        "demo://data  data, image/png\n"
        "demo://{name}  any\n"
        "rejected\n"
        "  no uri: uri: expected a URI with a scheme, got 'no uri'\n",
    )
    data = json.loads(run("resources", "--json", *SERVER).out)
    assert [each["uri"] for each in data["resources"]] == ["demo://text", "demo://data"]
    assert [each["uriTemplate"] for each in data["resourceTemplates"]] == ["demo://{name}"]
    assert list(data["rejected"]) == ["no uri"]


@pytest.mark.parametrize(
    ("failing", "kept", "what"),
    [
        ("resources/templates/list", "resources", "resource templates"),
        ("resources/list", "resourceTemplates", "resources"),
    ],
)
def test_of_two_lists_the_one_that_could_be_had_is_shown(
    run: Run, failing: str, kept: str, what: str
) -> None:
    whole = json.loads(run("resources", "--json", *SERVER).out)
    shown = run("resources", *SERVER, failing)
    assert shown.code == 3
    assert shown.err == f"cannot list {what}: {failing}: it broke\n"
    assert ("demo://text" in shown.out, "demo://{name}" in shown.out) == (
        kept == "resources",
        kept == "resourceTemplates",
    )
    outcome = run("resources", "--json", *SERVER, failing)
    assert outcome.code == 3
    (missing,) = {"resources", "resourceTemplates"} - {kept}
    assert outcome.data[kept] == whole[kept]
    assert missing not in outcome.data
    assert outcome.data["failed"] == {missing: f"{failing}: it broke"}


def test_with_neither_list_there_is_nothing_to_show(run: Run) -> None:
    outcome = run("resources", *SERVER, "resources/list", "resources/templates/list")
    assert (outcome.code, outcome.out) == (3, "")
    assert outcome.err.startswith("error: resources/list")


def test_contents_are_written_as_they_are(program: str, run: Run) -> None:
    assert run("read", "demo://text", *SERVER).out == "one\ntwo\x07\n"
    done = subprocess.run(
        [program, "read", "demo://data", *SERVER], capture_output=True, timeout=PATIENCE, check=True
    )
    assert done.stdout == b"\x00\x01\x02\xff"
    data = json.loads(run("read", "demo://data", "--json", *SERVER).out)
    assert data["contents"] == [{"uri": "demo://data", "blob": "AAEC/w=="}]


def test_prompts_are_listed_and_got(run: Run) -> None:
    shown = run("prompts", *SERVER)
    assert (shown.code, shown.out) == (
        0,
        "greet  Greeting\n"
        "  Greets someone.\n"
        "  who: Whom\n"
        "  how?\n"
        "rejected\n"
        "  bad: arguments: expected an array\n",
    )
    got = run("prompt", "greet", "who=007", *SERVER)
    assert got.out == "user: Hello, 007\nassistant: (image/png content; --json shows it)\n"
    data = json.loads(run("prompt", "greet", "who=Ada", "--json", *SERVER).out)
    assert [message["role"] for message in data["messages"]] == ["user", "assistant"]


@pytest.mark.parametrize(
    "words", [["resources", "more"], ["read"], ["read", "a", "b"], ["prompts", "more"], ["prompt"]]
)
def test_words_that_are_missing_or_too_many_are_a_mistake(run: Run, words: list[str]) -> None:
    outcome = run(*words, *SERVER)
    assert outcome.code == 2
    assert "hint: " in outcome.err


@pytest.mark.parametrize(
    "words", [["read", "nothing://here"], ["prompt", "nobody"], ["prompt", "greet", "who:=7"]]
)
def test_what_is_not_there_or_asked_wrongly_is_a_no(
    run: Run, tmp_path: Path, words: list[str]
) -> None:
    file = tmp_path / "greeting_server.py"
    file.write_text(GREETING)
    command, *rest = words
    outcome = run(command, str(file), *rest)
    assert (outcome.code, outcome.out) == (1, "")
    assert "hint: `anyshape resources`" in outcome.err


def test_a_prompt_that_is_none_is_no_answer(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "greeting_server.py"
    file.write_text(
        f"{GREETING}\n"
        "@server.middleware\n"
        "async def spoil(request, proceed):\n"
        "    answer = await proceed(request)\n"
        "    return {'messages': 5} if request.method == 'prompts/get' else answer\n"
    )
    outcome = run("prompt", str(file), "greet", "who=Ada")
    assert (outcome.code, outcome.out) == (3, "")
    assert "expected an array of messages" in outcome.err


def test_without_a_terminal_nobody_is_asked(run: Run) -> None:
    outcome = run("call", "form", *SERVER)
    assert outcome.code == 3
    assert "did not offer to give" in outcome.err


def test_a_form_is_asked_field_by_field(at_terminal: Run) -> None:
    terminal = at_terminal("call", "form", *SERVER)
    terminal.answer("Name: ", "Ada\n")
    terminal.answer("count [3]: ", "many\n")
    terminal.answer("count [3]: ", "\n")
    terminal.answer("size: ", "x\n")
    terminal.answer("size: ", "l\n")
    terminal.answer("tags (optional): ", "a, b\n")
    terminal.answer("sure (optional): ", "yes\n")
    terminal.answer("Send this? [Y/n] ", "\n")
    assert json.loads(terminal.finish()) == {
        "action": "accept",
        "content": {"count": 3, "name": "Ada", "size": "l", "tags": ["a", "b"], "sure": True},
    }
    assert "Who is it?" in terminal.shown
    assert "s  Small" in terminal.shown
    assert "\\x1b[31mdoor" in terminal.shown
    assert "\x1b[31m" not in terminal.shown


def test_a_form_may_be_declined_or_left(at_terminal: Run) -> None:
    terminal = at_terminal("call", "form", *SERVER)
    terminal.answer("Name: ", "\x04")
    assert json.loads(terminal.finish()) == {"action": "cancel"}


@pytest.mark.parametrize(("typed", "action"), [("y\n", "accept"), ("\n", "decline")])
def test_an_address_is_shown_in_full_and_opened_only_if_the_user_agrees(
    at_terminal: Run, typed: str, action: str
) -> None:
    terminal = at_terminal("call", "visit", *SERVER)
    terminal.answer("Open it in a browser? [y/N] ", typed)
    assert json.loads(terminal.finish()) == {"action": action}
    assert "https://xn--e1awd7f.example/pay" in terminal.shown
    assert "spelt in another script" in terminal.shown
