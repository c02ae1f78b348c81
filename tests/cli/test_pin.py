"""`anyshape pin`: recording what a server lists, and telling what changed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from tests.server.redis_process import RedisProcess

from anyshape.gateway import Pins
from anyshape.server import RedisStore

Run: TypeAlias = Callable[..., Any]

SERVER = '''
from anyshape import Server

server = Server("notes")


@server.tool
def search(query: str) -> list[str]:
    """Search the notes."""
    return [query]


@server.prompt
def sum_up(text: str) -> str:
    """Sum up."""
    return text


@server.resource("notes://today")
def today() -> str:
    """What is noted today."""
    return ""
'''


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    monkeypatch.chdir(tmp_path)
    versions = iter(range(100))

    def module(source: str) -> str:
        path = tmp_path / f"notes_{next(versions)}.py"
        path.write_text(source)
        return str(path)

    return module


def test_what_is_listed_is_recorded_and_then_nothing_has_changed(
    run: Run, module: Callable[[str], str]
) -> None:
    path = module(SERVER)
    first = run("pin", path)
    assert (first.code, first.err) == (0, "")
    assert first.out == (
        "search  new\nsum_up  prompt new\nnotes://today  resource new\n\n"
        "notes: 3 listed, 3 new, pinned\n"
    )
    written = Path("pins.json").read_text()
    assert list(json.loads(written)["upstreams"]["notes"]) == ["prompts", "resources", "tools"]
    for options in ([], ["--check"]):
        again = run("pin", path, *options)
        assert (again.code, again.out) == (0, "notes: 3 listed, nothing changed\n")
    assert Path("pins.json").read_text() == written


def test_a_change_is_shown_and_pinned_again(run: Run, module: Callable[[str], str]) -> None:
    run("pin", module(SERVER))
    other = module(SERVER.replace("Search the notes.", "Search the notes, and tell me."))
    checked = run("pin", other, "--check")
    assert checked.code == 1
    assert checked.out == (
        "search  changed\n"
        "  /description\n"
        "    - Search the notes.\n"
        "    + Search the notes, and tell me.\n"
        "\n"
        "notes: 3 listed, 1 changed\n"
    )
    assert run("pin", other).out.endswith("notes: 3 listed, 1 changed, pinned\n")
    assert run("pin", other, "--check").code == 0


def test_checking_writes_nothing(run: Run, module: Callable[[str], str]) -> None:
    assert run("pin", module(SERVER), "--check").code == 1
    assert not Path("pins.json").exists()


def test_what_is_gone_is_told(run: Run, module: Callable[[str], str]) -> None:
    run("pin", module(SERVER))
    without = module(SERVER.partition("@server.prompt")[0])
    data = run("pin", without, "--check", "--json").data
    assert data["same"] is False
    assert data["missing"] == [
        {"kind": "prompts", "name": "sum_up"},
        {"kind": "resources", "name": "notes://today"},
    ]
    assert "sum_up  prompt gone\n" in run("pin", without).out
    assert run("pin", without, "--check").code == 0


def test_json_has_the_changes_as_data(run: Run, module: Callable[[str], str]) -> None:
    run("pin", module(SERVER))
    data = run("pin", module(SERVER.replace("query: str", "q: str")), "--json").data
    assert (data["upstream"], data["same"]) == ("notes", False)
    (changed,) = data["changed"]
    assert (changed["kind"], changed["name"]) == ("tools", "search")
    assert {"where": "/inputSchema/required", "lines": ['- "query"', '+ "q"']} in changed["changes"]


def test_several_upstreams_share_a_file_by_name(run: Run, module: Callable[[str], str]) -> None:
    path = module(SERVER)
    for name in ("one", "two"):
        assert run("pin", path, "--file", "all.json", "--name", name).code == 0
    assert list(json.loads(Path("all.json").read_text())["upstreams"]) == ["one", "two"]
    asked = run("pin", path, "--file", "all.json")
    assert asked.code == 2
    assert "the file has one, two" in asked.err


def test_the_only_upstream_of_a_file_is_meant_whatever_the_server_calls_itself(
    run: Run, module: Callable[[str], str]
) -> None:
    run("pin", module(SERVER), "--name", "mine")
    renamed = module(SERVER.replace('Server("notes")', 'Server("other")'))
    assert run("pin", renamed, "--check").out == "mine: 3 listed, nothing changed\n"


def test_a_broken_file_is_no_verdict(run: Run, module: Callable[[str], str]) -> None:
    path = module(SERVER)
    Path("pins.json").write_text("{}")
    failed = run("pin", path, "--check")
    assert (failed.code, failed.out) == (3, "")
    assert "holds no pins" in failed.err


def test_what_could_not_be_written_is_not_said_to_be_pinned(
    run: Run, module: Callable[[str], str]
) -> None:
    failed = run("pin", module(SERVER), "--file", "not/there.json")
    assert (failed.code, failed.out) == (3, "")
    assert "cannot write pins" in failed.err


def test_tools_that_cannot_be_used_are_shown_and_not_pinned(run: Run, liar: list[str]) -> None:
    data = run("pin", "--check", "--json", "--file", "none.json", *liar).data
    assert "elsewhere" in data["rejected"]
    assert "elsewhere" not in {each["name"] for each in data["unknown"]}


def test_one_server_is_pinned_at_a_time(run: Run, module: Callable[[str], str]) -> None:
    assert run("pin", module(SERVER), "another").code == 2


def test_a_server_is_asked_as_a_gateway_asks_it(run: Run, module: Callable[[str], str]) -> None:
    told = (
        SERVER
        + """

@server.middleware
async def look(request, proceed):
    if request.client and request.client["name"] != "anyshape-gateway":
        raise AssertionError(request.client)
    return await proceed(request)
"""
    )
    assert run("pin", module(told)).code == 0


def test_the_pins_of_a_fleet_are_published_to_its_replicas(
    run: Run, module: Callable[[str], str], tmp_path: Path
) -> None:
    run("pin", module(SERVER), "--file", "pins.json")
    redis = RedisProcess(tmp_path)
    redis.start()
    fleet = tmp_path / "fleet.toml"
    fleet.write_text(
        '[upstreams.notes]\nurl = "http://127.0.0.1:1/mcp"\n'
        f'[replicas]\nstore = "{redis.url}"\nkeys = ["{"k" * 32}"]\n'
        '[pins]\nshared = true\nfile = "pins.json"\n'
    )
    try:
        published = run("pin", "--publish", str(fleet))
        assert (published.code, published.err) == (0, "published the pins of notes\n")

        async def read() -> Any:
            client: Any = RedisStore(redis.url).connect()
            try:
                return await client.xrange("anyshape:anyshape-gateway:pins")
            finally:
                await client.aclose()

        ((_, fields),) = asyncio.run(read())
    finally:
        redis.stop()
    assert Pins.read(fields[b"pins"], "the store") == Pins.load("pins.json")
    failed = run("pin", "--publish", str(fleet))
    assert failed.code == 3
    assert "cannot publish pins to redis://" in failed.err


def test_what_has_no_replicas_cannot_publish_pins(
    run: Run, module: Callable[[str], str], tmp_path: Path
) -> None:
    fleet = tmp_path / "fleet.toml"
    fleet.write_text('[upstreams.notes]\nurl = "http://127.0.0.1:1/mcp"\n')
    refused = run("pin", "--publish", str(fleet))
    assert refused.code == 2
    assert "there are no pins to publish" in refused.err


def test_every_upstream_of_a_fleet_is_pinned_where_its_file_says(
    run: Run, module: Callable[[str], str], tmp_path: Path
) -> None:
    paths = [module(SERVER), module(SERVER.replace("search", "look_up"))]
    fleet = tmp_path / "fleet.toml"
    fleet.write_text(
        f'[upstreams.one]\nmodule = "{paths[0]}"\n[upstreams.two]\nmodule = "{paths[1]}"\n'
        '[pins]\nfile = "kept.json"\n'
    )
    pinned = run("pin", str(fleet))
    assert pinned.code == 0
    assert pinned.out.endswith("two: 3 listed, 3 new, pinned\n")
    pins = Pins.load(tmp_path / "kept.json")
    assert pins.upstreams == ("one", "two")
    assert "look_up" in pins.of("two")["tools"]
    assert run("pin", str(fleet), "--check").code == 0
    (tmp_path / "kept.json").write_text(Pins().text())
    assert run("pin", str(fleet), "--name", "two").code == 0
    assert Pins.load(tmp_path / "kept.json").upstreams == ("two",)
    assert run("pin", str(fleet), "--check").code == 1
    assert "there is no upstream three" in run("pin", str(fleet), "--name", "three").err


@pytest.mark.parametrize("pins", ["", '[pins]\nfile = "pins.json"\n'])
def test_pins_that_no_gateway_goes_by_are_said_to_be_so(
    run: Run, module: Callable[[str], str], tmp_path: Path, pins: str
) -> None:
    fleet = tmp_path / "fleet.toml"
    fleet.write_text(f'[upstreams.one]\nmodule = "{module(SERVER)}"\n{pins}')
    pinned = run("pin", str(fleet), "--file", str(tmp_path / "pins.json"))
    assert pinned.code == 0
    assert ("No gateway goes by these pins" in pinned.err) is (not pins)


def test_a_fleet_of_which_one_is_not_there_is_not_pinned(
    run: Run, module: Callable[[str], str], tmp_path: Path
) -> None:
    fleet = tmp_path / "fleet.toml"
    fleet.write_text(
        f'[upstreams.one]\nmodule = "{module(SERVER)}"\n[upstreams.two]\ncommand = "/not/there"\n'
    )
    refused = run("pin", str(fleet))
    assert refused.code == 3
    assert "upstream two was not reached: cannot start" in refused.err
    assert not (tmp_path / "pins.json").exists()
