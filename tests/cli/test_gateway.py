"""`anyshape gateway`: several servers at one endpoint, or under a path each."""

from __future__ import annotations

import json
import signal
import subprocess
import urllib.error
import urllib.request
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from patience import PATIENCE, is_listening, until

from anyshape import Client

Run: TypeAlias = Callable[..., Any]

SERVER = """
from anyshape import Server

server = Server("{name}")


@server.tool
def who() -> str:
    return "{name}"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("ann", "bob"):
        (tmp_path / f"{name}.py").write_text(SERVER.format(name=name))
    (tmp_path / "fleet.toml").write_text(
        'endpoints = "both"\n'
        '[upstreams.ann]\nmodule = "ann.py"\n[upstreams.bob]\nmodule = "bob.py"\n'
    )
    return tmp_path


@contextmanager
def running(program: str, folder: Path, *words: str) -> Generator[dict[str, Any]]:
    """Run a gateway over HTTP; give what it says of itself, and the process."""
    command = [program, "gateway", *words, "--http", "--port", "0", "--json"]
    pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=folder, **pipes) as process:
        assert process.stdout is not None
        try:
            said: dict[str, Any] = {**json.loads(process.stdout.readline()), "process": process}
            port = int(said["url"].removesuffix("/mcp").rpartition(":")[2])
            until(lambda: is_listening(port))
            yield said
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(PATIENCE)


async def names(url: str) -> list[str]:
    async with Client(url) as client:
        return [tool.name for tool in await client.list_tools()]


async def test_a_file_says_that_servers_have_paths(program: str, folder: Path) -> None:
    with running(program, folder, "fleet.toml") as said:
        url = said["url"]
        root = url.removesuffix("/mcp")
        assert said["urls"] == {
            "anyshape-gateway": url,
            "ann": f"{root}/ann/mcp",
            "bob": f"{root}/bob/mcp",
        }
        assert await names(url) == ["ann_who", "bob_who"]
        for name in ("ann", "bob"):
            async with Client(said["urls"][name]) as client:
                assert await client.call("who") == name


async def test_targets_are_served_under_a_path_each(program: str, folder: Path) -> None:
    with running(program, folder, "x=ann.py", "bob.py", "--endpoints", "each") as said:
        root = said["url"].removesuffix("/mcp")
        assert said["urls"] == {"x": f"{root}/x/mcp", "bob": f"{root}/bob/mcp"}
        assert await names(said["urls"]["x"]) == ["who"]


async def test_a_pipe_has_all_of_them(program: str, folder: Path) -> None:
    async with Client([program, "gateway", str(folder / "ann.py"), str(folder / "bob.py")]) as all:
        assert await all.call("bob_who") == "bob"


COUNTER = """
from anyshape import Server

server = Server("counter")
calls = 0


@server.tool
def count() -> int:
    global calls
    calls += 1
    return calls
"""


async def test_a_module_is_loaded_again_only_if_its_file_has_changed(
    program: str, tmp_path: Path
) -> None:
    module, fleet = tmp_path / "counter.py", tmp_path / "fleet.toml"
    module.write_text(COUNTER)
    fleet.write_text('[upstreams.counter]\nmodule = "counter.py"\n')
    with running(program, tmp_path, "fleet.toml") as said:

        def reload() -> None:
            said["process"].send_signal(signal.SIGHUP)
            assert "the configuration was read again" in said["process"].stderr.readline()

        async with Client(said["url"]) as client:
            assert await client.call("count") == 1
            reload()
            assert await client.call("count") == 2
            module.write_text(COUNTER + "# changed")
            reload()
            assert await client.call("count") == 1
            module.unlink()
            said["process"].send_signal(signal.SIGHUP)
            told = said["process"].stderr.readline()
            assert "was not changed: fleet.toml, line 2: upstreams.counter.module: there is" in told
            assert await client.call("count") == 2


def status(said: dict[str, Any], path: str) -> int:
    try:
        with urllib.request.urlopen(said["url"].removesuffix("/mcp") + path) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["ann.py"], 404),
        (["fleet.toml"], 404),
        (["ann.py", "--metrics"], 200),
        (["counted.toml"], 200),
    ],
)
def test_numbers_are_served_where_the_file_or_the_option_asks_for_them(
    program: str, folder: Path, words: list[str], found: int
) -> None:
    (folder / "counted.toml").write_text('[upstreams.ann]\nmodule = "ann.py"\n[metrics]\n')
    with running(program, folder, *words) as said:
        assert status(said, "/health") == 200
        assert status(said, "/metrics") == found


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--endpoints", "each"], "--endpoints is for HTTP"),
        (["--metrics"], "--metrics is for HTTP"),
        (["--port", "80"], "--port is for HTTP"),
        (["--http", "--endpoints", "many"], "--endpoints many: unknown"),
        ([], "there is nothing to serve"),
    ],
)
def test_what_cannot_be_served_is_said(run: Run, words: list[str], said: str) -> None:
    outcome = run("gateway", *words)
    assert outcome.code == 2
    assert said in outcome.err
