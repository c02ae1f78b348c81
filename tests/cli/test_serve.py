"""`anyshape serve` and `anyshape demo`: a server found and run, or a clear reason why not."""

from __future__ import annotations

import json
import os
import shlex
import signal
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from patience import PATIENCE, is_listening, until

from anyshape import Client, TransportError
from anyshape.cli.serve import TARGET_VARIABLE, WORKERS_VARIABLE
from anyshape.cli.worker import create

Run: TypeAlias = Callable[..., Any]

WEATHER = """
from __future__ import annotations

from anyshape import Server
from neighbour import TEMPERATURES

server = Server("weather")


@server.tool
def temperatures(city: str) -> list[float]:
    print("printing is harmless")
    return TEMPERATURES
"""


@pytest.fixture
def weather(tmp_path: Path) -> Path:
    (tmp_path / "neighbour.py").write_text("TEMPERATURES = [12.5, 14.0]\n")
    path = tmp_path / "weather_server.py"
    path.write_text(WEATHER)
    return path


@pytest.mark.parametrize(
    "written", ["weather_server.py", "weather_server", "weather_server:server"]
)
async def test_a_server_is_found_by_file_or_module_and_served_on_stdio(
    weather: Path, program: str, written: str
) -> None:
    command = ["sh", "-c", f"cd {weather.parent} && exec {shlex.quote(program)} serve {written}"]
    async with Client(command) as client:
        assert await client.call("temperatures", {"city": "Paris"}) == [12.5, 14.0]


@pytest.mark.parametrize("options", [[], ["--workers", "2"], ["--reload"]])
def test_a_server_is_served_over_http(
    weather: Path, program: str, run: Run, options: list[str]
) -> None:
    command = [program, "serve", weather.name, "--http", "--port", "0", "--json", *options]
    process = subprocess.Popen(
        command,
        cwd=weather.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdout as stdout, process.stderr as stderr:
        try:
            url = json.loads(stdout.readline())["url"]
            _wait_for(url)
            assert run("call", url, "temperatures", "city=Paris").data == [12.5, 14.0]
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(PATIENCE)
        assert "Traceback" not in stderr.read()


def _wait_for(url: str) -> None:
    """Wait until somebody accepts connections; worker processes take a moment to start."""
    host, _, port = url.removeprefix("http://").removesuffix("/mcp").rpartition(":")
    until(lambda: is_listening(int(port), host))


@pytest.mark.parametrize(
    ("source", "code", "said"),
    [
        ("x = 1", 2, "has no server"),
        (
            "from anyshape import Server\na = Server('a')\nb = Server('b')",
            2,
            "has several servers: a, b",
        ),
        ("import no_such_thing", 3, "ModuleNotFoundError: No module named 'no_such_thing'"),
        ("def broken(:", 3, "SyntaxError"),
        ("1 / 0", 3, "ZeroDivisionError: division by zero (broken_server.py, line 1)"),
        ("raise SystemExit(5)", 3, "SystemExit: 5"),
        (
            "from anyshape import Server\ns = Server('s')\n@s.tool(output_schema=7)\ndef f(): ...",
            1,
            "cannot be loaded",
        ),
        ("server = 3", 2, "has no server"),
    ],
)
def test_a_module_without_a_usable_server_says_why(
    run: Run, tmp_path: Path, source: str, code: int, said: str
) -> None:
    path = tmp_path / "broken_server.py"
    path.write_text(source)
    for command in ("serve", "tools"):
        failed = run(command, str(path))
        assert (failed.code, failed.out) == (code, "")
        assert said in failed.err
        assert "Traceback" not in failed.err
        assert failed.err.splitlines()[-1].startswith("hint: ")


@pytest.mark.parametrize(
    "source",
    [
        "from mcp.server.mcpserver import MCPServer\nserver = MCPServer('x', log_level='ERROR')\n"
        "@server.tool()",
        "from fastmcp import FastMCP\nserver = FastMCP('x')\n@server.tool",
    ],
)
def test_a_server_of_another_sdk_is_adopted(run: Run, tmp_path: Path, source: str) -> None:
    path = tmp_path / "adopted_server.py"
    path.write_text(f"{source}\ndef numbers() -> list[int]:\n    return [1, 2]\n")
    listed = run("tools", str(path))
    assert (listed.code, "numbers" in listed.out) == (0, True)
    called = run("call", f"{path}:server", "numbers")
    assert (called.code, called.out) == (0, "[1, 2]\n")


@pytest.mark.parametrize(
    "options",
    [
        ["--workers", "2"],
        ["--reload"],
        ["--port", "8080"],
        ["--host", "127.0.0.1"],
        ["--http", "--workers", "0"],
        ["--http", "--workers", "2", "--reload"],
        ["--http", "--port", "70000"],
        ["--http", "--host", "", "--port", "0"],
        ["--http", "--host", "", "--port", "0", "--workers", "2"],
    ],
)
def test_options_that_make_no_sense_are_refused(run: Run, options: list[str]) -> None:
    assert run("serve", "anyshape.demo.server", *options).code == 2


def test_a_port_that_is_taken_is_said(run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        for words in (
            ["demo", "--port", port],
            ["serve", "anyshape.demo.server", "--http", "--port", port],
        ):
            failed = run(*words)
            assert (failed.code, failed.out) == (3, "")
            assert failed.err.startswith(f"error: cannot listen on 127.0.0.1:{port}: ")


def _printed_commands(lines: list[str]) -> list[str]:
    return [line.strip() for line in lines if line.startswith("  ")]


def test_the_demo_prints_three_commands_that_work_as_printed(program: str) -> None:
    process = subprocess.Popen([program, "demo", "--port", "0"], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    with process.stderr as stderr:
        try:
            lines: list[str] = []
            while not lines or "Ctrl-C" not in lines[-1]:
                lines.append(stderr.readline())
                assert lines[-1] or process.poll() is None
            commands = _printed_commands(lines)
            assert len(commands) == 3
            for command in commands:
                done = subprocess.run(
                    command, shell=True, capture_output=True, timeout=PATIENCE, check=False
                )
                assert done.returncode == 0, (command, done.stderr)
                assert done.stdout
        finally:
            process.send_signal(signal.SIGINT)
            assert process.wait(PATIENCE) == 0


def test_the_demo_on_stdio_prints_its_commands_on_stderr(program: str) -> None:
    done = subprocess.run(
        [program, "demo", "--stdio"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    assert done.stdout == ""
    commands = _printed_commands(done.stderr.splitlines())
    assert len(commands) == 3
    for command in commands:
        ran = subprocess.run(
            command, shell=True, capture_output=True, timeout=PATIENCE, check=False
        )
        assert ran.returncode == 0, (command, ran.stderr)


def test_the_demo_names_a_program_on_the_path_by_its_name(program: str) -> None:
    variables = {**os.environ, "PATH": f"{Path(program).parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["anyshape", "demo", "--stdio"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
        env=variables,
    )
    assert "  anyshape tools -- anyshape demo --stdio\n" in done.stderr


async def test_a_command_that_dies_is_a_transport_error(program: str) -> None:
    with pytest.raises(TransportError):
        async with Client([program, "serve", "no_such_module"]) as client:
            await client.list_tools()


@pytest.mark.parametrize(("workers", "told"), [("1", True), ("2", False)])
def test_several_workers_without_a_store_promise_no_changes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, workers: str, told: bool
) -> None:
    script = tmp_path / "app.py"
    script.write_text('from anyshape import Server\n\nserver = Server("s")\n')
    monkeypatch.setenv(TARGET_VARIABLE, str(script))
    monkeypatch.setenv(WORKERS_VARIABLE, workers)
    assert create().has_streams is told


def test_what_is_at_a_url_is_for_a_gateway(run: Run) -> None:
    outcome = run("serve", "https://user:secret@example.com/mcp")
    assert outcome.code == 2
    assert "anyshape gateway https://example.com/mcp" in outcome.err


def test_the_file_of_a_gateway_is_for_a_gateway(run: Run) -> None:
    outcome = run("serve", "fleet.toml")
    assert outcome.code == 2
    assert "hint: anyshape gateway fleet.toml" in outcome.err
