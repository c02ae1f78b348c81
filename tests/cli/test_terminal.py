"""Colour, pipes, terminals and interruptions, with the real program."""

from __future__ import annotations

import os
import pty
import select
import shlex
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from patience import PATIENCE, until

Run: TypeAlias = Callable[..., Any]

DEMO = "anyshape.demo.server"


def in_terminal(command: list[str], until: bytes | None = None, **variables: str) -> bytes:
    """Run a command in a terminal of 80 columns; return all it wrote, or what came until then."""
    environment = {**os.environ, "TERM": "xterm-256color", **variables}
    environment.pop("COLUMNS", None)
    child, terminal = pty.fork()
    if child == 0:
        os.execvpe("sh", ["sh", "-c", 'stty cols 80; exec "$@"', "sh", *command], environment)
    written = b""
    deadline = time.monotonic() + PATIENCE
    try:
        while until is None or until not in written:
            assert time.monotonic() < deadline, written
            if select.select([terminal], [], [], 1)[0]:
                try:
                    part = os.read(terminal, 65536)
                except OSError:
                    break
                if not part:
                    break
                written += part
    finally:
        os.close(terminal)
        if until is not None:
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return written


def test_a_terminal_gets_colours_and_the_same_text(program: str, run: Run) -> None:
    written = in_terminal([program, "call", DEMO, "get-weather-forecast"])
    assert b"\x1b[" in written
    plain = _without_colours(written)
    assert plain == run("call", DEMO, "get-weather-forecast").out


def test_no_color_is_respected(program: str) -> None:
    for command in (
        ["call", DEMO, "get-count"],
        ["tools", DEMO],
        ["check", DEMO],
        ["tools", "nope"],
    ):
        assert b"\x1b" not in in_terminal([program, *command], NO_COLOR="1")


def test_a_dumb_terminal_gets_none(program: str) -> None:
    assert b"\x1b" not in in_terminal([program, "tools", DEMO], TERM="dumb")


def test_a_long_call_shows_its_progress(program: str) -> None:
    command = [program, "call", DEMO, "count_slowly", "steps=50", "seconds=0.2"]
    written = in_terminal(command, until=b"counted to 2")
    assert b"count_slowly: counted to" in written


def test_progress_is_not_written_to_a_pipe(execute: Run) -> None:
    called = execute("call", DEMO, "count_slowly", "steps=2", "seconds=0")
    assert (called.out, called.err) == ("[1, 2]\n", "")


def test_colour_can_be_asked_for_in_a_pipe(execute: Run) -> None:
    assert "\x1b[" in execute("tools", DEMO, FORCE_COLOR="1").out
    assert "\x1b" not in execute("tools", DEMO).out


def test_a_locale_without_unicode_is_no_crash(execute: Run) -> None:
    listed = execute("tools", DEMO, PYTHONIOENCODING="ascii")
    assert listed.code == 0
    assert "\\u2192 integer" in listed.out


def test_a_reader_that_has_seen_enough_is_no_error(program: str, tmp_path: Path) -> None:
    source = tmp_path / "many_server.py"
    source.write_text(
        "from anyshape import Server, Tool\n"
        "server = Server('many')\n"
        "for number in range(300):\n"
        "    server.add_tool(Tool(name=f'tool_{number}', handler=lambda arguments: 1,\n"
        "                         description='word ' * 5000, input_schema={'type': 'object'}))\n"
    )
    # Unbuffered, Python itself loses what is left of a write that was cut short, and says nothing.
    buffered = {**os.environ, "PYTHONUNBUFFERED": ""}
    process = subprocess.Popen(
        [program, "tools", str(source)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=buffered,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stderr as stderr:
        with process.stdout as stdout:
            assert stdout.readline() == "tool_0\n"
        assert stderr.read() == "many 0.1.0 · 300 tools · as of 2026-07-28\n\n"
        assert process.wait(PATIENCE) == 141


def test_an_interrupted_call_ends_quietly(program: str, tmp_path: Path) -> None:
    marker = tmp_path / "called"
    source = tmp_path / "waiting_server.py"
    source.write_text(
        "import asyncio, pathlib\n"
        "from anyshape import Server\n"
        "server = Server('waiting')\n"
        "@server.tool\n"
        "async def wait() -> int:\n"
        f"    pathlib.Path({str(marker)!r}).touch()\n"
        "    await asyncio.sleep(60)\n"
        "    return 1\n"
    )
    process = subprocess.Popen(
        [program, "call", str(source), "wait"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    until(marker.exists)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err) == (130, "", "")


def test_an_unforeseen_error_is_a_line_and_a_hint(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def explode(*_: object) -> None:
        raise RuntimeError("out of the blue")

    monkeypatch.setattr("anyshape.cli.asked.split_target", explode)
    failed = run("tools", DEMO)
    assert failed.code == 3
    assert failed.err == (
        "error: unexpected RuntimeError: out of the blue\n\n"
        "hint: this is a bug in anyshape; ANYSHAPE_DEBUG=1 shows where\n"
    )
    monkeypatch.setenv("ANYSHAPE_DEBUG", "1")
    with pytest.raises(RuntimeError):
        run("tools", DEMO)


def _without_colours(written: bytes) -> str:
    import re

    return re.sub(r"\x1b\[[0-9;]*m", "", written.decode()).replace("\r\n", "\n")


@pytest.mark.parametrize(
    ("words", "closed", "code"),
    [
        (f"tools {DEMO}", ">&-", 0),
        (f"tools {DEMO}", "2>&-", 0),
        (f"call {DEMO} get-count", "<&-", 0),
        (f"call {DEMO} get-count -", "<&-", 2),
        ("check -", "<&-", 3),
    ],
)
def test_a_standard_stream_that_is_closed_is_an_empty_one(
    program: str, words: str, closed: str, code: int
) -> None:
    done = subprocess.run(
        f"{shlex.quote(program)} {words} {closed}",
        shell=True,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == code
    assert "bug" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="nothing here is always full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_is_said_to_be_full(program: str, unbuffered: str) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [program, "tools", DEMO],
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    assert done.returncode == 3
    assert "error: cannot write: No space left on device" in done.stderr


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--help"], 141),
        (["call", "--help"], 141),
        (["tools", DEMO], 141),
        (["tools", "nowhere.py"], 2),
    ],
)
def test_streams_that_nobody_reads_do_not_change_what_the_end_of_a_command_means(
    program: str, words: list[str], code: int
) -> None:
    unread, end = os.pipe()
    os.close(unread)
    try:
        done = subprocess.run(
            [program, *words], stdout=end, stderr=end, timeout=PATIENCE, check=False
        )
    finally:
        os.close(end)
    assert done.returncode == code


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="nothing here is always full")
def test_data_is_written_even_if_nothing_can_be_said(program: str) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [program, "call", DEMO, "get-count"],
            stdout=subprocess.PIPE,
            stderr=full,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    assert (done.returncode, done.stdout) == (0, "42\n")
