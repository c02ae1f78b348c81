"""Every snippet of the docs is run, and says what the page says that it says."""

from __future__ import annotations

import ast
import asyncio
import importlib
import importlib.util
import inspect
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import pytest
from patience import PATIENCE

from anyshape import Client, Server

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
EXAMPLES = ROOT / "examples"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
DEMO_URL = "http://127.0.0.1:8000/mcp"

_FENCE = re.compile(r"^```(?P<language>[a-z]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """One fenced block of a page."""

    page: Path
    language: str
    text: str
    line: int

    @property
    def included(self) -> str | None:
        """The example that the block includes, if it is that kind."""
        found = re.fullmatch(r'--8<-- "(.+)"\n', self.text)
        return found[1] if found else None

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text()
    return [
        Block(page, found["language"], found["text"], text.count("\n", 0, found.start()) + 1)
        for found in _FENCE.finditer(text)
    ]


BLOCKS = [block for page in PAGES for block in blocks_of(page)]
EXAMPLE_FILES = sorted(EXAMPLES.rglob("*.py"))


def load(path: Path) -> ModuleType:
    name = f"example_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


# Python.


@pytest.mark.parametrize("block", [b for b in BLOCKS if b.language == "python"], ids=str)
def test_python_of_more_than_five_lines_is_an_example(block: Block) -> None:
    if block.included is not None:
        assert (ROOT / block.included).is_file()
    elif block.page.name == "README.md":
        examples = [path.read_text() for path in EXAMPLE_FILES]
        assert block.text.count("\n") <= 5 or block.text in examples
    else:
        assert block.text.count("\n") <= 5


def public_names() -> dict[str, Any]:
    """Return what a reader of any page can import."""
    modules = ("anyshape", "anyshape.schema", "anyshape.server", "anyshape.client")
    modules += ("anyshape.client.auth",)
    loaded = [importlib.import_module(name) for name in modules]
    return {name: getattr(module, name) for module in loaded for name in module.__all__}


@asynccontextmanager
async def _anywhere() -> AsyncGenerator[dict[str, Any]]:
    yield {}


@asynccontextmanager
async def _readme() -> AsyncGenerator[dict[str, Any]]:
    weather = load(EXAMPLES / "weather.py")
    yield {"Client": lambda _: Client(weather.server)}  # pyright: ignore[reportUnknownLambdaType]


@asynccontextmanager
async def _deploying() -> AsyncGenerator[dict[str, Any]]:
    class Recorder(Server):
        def run(self, *_: Any, **__: Any) -> None:
            signature = inspect.signature(Server.run)
            signature.bind(self, *_, **__)

    yield {"server": Recorder("recorder")}


@asynccontextmanager
async def _opening() -> AsyncGenerator[dict[str, Any]]:
    class Recorder(Server):
        async def run_async(self, *_: Any, **__: Any) -> None:
            inspect.signature(Server.run_async).bind(self, *_, **__)

    yield {"server": Recorder("recorder")}


@asynccontextmanager
async def _resources() -> AsyncGenerator[dict[str, Any]]:
    yield {"server": Server("files")}


@asynccontextmanager
async def _calling() -> AsyncGenerator[dict[str, Any]]:
    from anyshape.client import Http

    def http(**settings: object) -> Http:
        assert settings.keys() <= {field.name for field in fields(Http)}
        return Http()

    notes = _Notes()
    async with Client(notes) as client:
        yield {
            "Client": Client,
            "Http": http,
            "Path": Path,
            "client": client,
            "on_change": print,
            "on_sample": None,
            "read": lambda: "key",
            "source": "x = 1",
            "target": notes,
            "url": DEMO_URL,
        }


class _Notes:
    """A server in memory with a prompt, and a resource that it tells of."""

    RESULTS: ClassVar[dict[str, Any]] = {
        "server/discover": {
            "supportedVersions": ["2026-07-28"],
            "capabilities": {"prompts": {}, "resources": {"subscribe": True}, "completions": {}},
        },
        "prompts/get": {"messages": []},
        "resources/read": {"contents": [{"uri": "file:///notes.txt", "text": "notes"}]},
        "completion/complete": {"completion": {"values": ["dry"]}},
    }

    def connect(self, send: Callable[[bytes], None], /) -> _Notes:
        self.send = send
        return self

    async def handle(self, frame: bytes) -> bytes | None:
        message = json.loads(frame)
        if message["method"] == "subscriptions/listen":
            heard = {
                "_meta": {"io.modelcontextprotocol/subscriptionId": message["id"]},
                "notifications": message["params"]["notifications"],
            }
            method = "notifications/subscriptions/acknowledged"
            self.send(json.dumps({"jsonrpc": "2.0", "method": method, "params": heard}).encode())
            await asyncio.Event().wait()
        result = self.RESULTS[message["method"]]
        return json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode()

    async def close(self) -> None:
        pass


@asynccontextmanager
async def _remote() -> AsyncGenerator[dict[str, Any]]:
    from anyshape.schema import RemoteReferences, compile

    document = {"type": "object"}
    yield {
        "document": document,
        "order": document,
        "compile": compile,
        "RemoteReferences": RemoteReferences,
    }


@asynccontextmanager
async def _models() -> AsyncGenerator[dict[str, Any]]:
    weather = load(EXAMPLES / "weather.py").server
    async with Client(weather) as shop, Client(weather) as mail:
        yield {"shop": shop, "mail": mail}


@asynccontextmanager
async def _limits() -> AsyncGenerator[dict[str, Any]]:
    from anyshape.schema import Limits, compile

    yield {"document": {"type": "object"}, "Limits": Limits, "compile": compile}


@asynccontextmanager
async def _cost() -> AsyncGenerator[dict[str, Any]]:
    yield {"document": {"type": "object"}, "text": "{}", "value": {}}


@asynccontextmanager
async def _migration() -> AsyncGenerator[dict[str, Any]]:
    from anyshape.demo.server import server

    async with Client(server) as client:
        yield {"client": client, "User": dict[str, str]}


@asynccontextmanager
async def _asking() -> AsyncGenerator[dict[str, Any]]:
    from anyshape.client import Sampled

    class Model:
        uses = 2

        async def sample(self, messages: list[Any], tools: list[Any]) -> Sampled:
            self.uses -= 1
            use: dict[str, Any] = {"type": "tool_use", "id": "1", "name": "weather", "input": {}}
            return Sampled([use] if self.uses else "done", model="m")

    yield {
        "context": Model(),
        "new_key": b"n" * 32,
        "old_key": b"o" * 32,
        "run": lambda use: "sunny",  # pyright: ignore[reportUnknownLambdaType]
        "talk": ["Where to?"],
        "tools": [],
    }


@asynccontextmanager
async def _signing_in() -> AsyncGenerator[dict[str, Any]]:
    yield {"Client": Client, "show": None}


SURROUNDINGS: dict[str, Callable[[], AbstractAsyncContextManager[dict[str, Any]]]] = {
    "README.md": _readme,
    "docs/guides/asking-the-user.md": _asking,
    "docs/guides/deploying.md": _deploying,
    "docs/guides/opening-and-closing.md": _opening,
    "docs/guides/calling-tools.md": _calling,
    "docs/guides/resources.md": _resources,
    "docs/guides/signing-in.md": _signing_in,
    "docs/guides/tools-for-models.md": _models,
    "docs/guides/remote-references.md": _remote,
    "docs/concepts/cost.md": _cost,
    "docs/concepts/limits.md": _limits,
    "docs/migration.md": _migration,
}
INLINE = [
    page
    for page in PAGES
    if any(b.language == "python" and b.included is None for b in blocks_of(page))
]


@pytest.mark.parametrize("page", INLINE, ids=lambda page: str(page.relative_to(ROOT)))
async def test_inline_python_runs(page: Path) -> None:
    surroundings = SURROUNDINGS.get(str(page.relative_to(ROOT)), _anywhere)
    async with surroundings() as special:
        names = {**public_names(), **special}
        for block in blocks_of(page):
            if block.language == "python" and block.included is None:
                names["__name__"] = "snippet"
                # An ellipsis stands for whatever the reader puts there.
                source = block.text.replace("…", "...")
                flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
                code = compile(source, str(block), "exec", flags=flags, dont_inherit=True)
                outcome = eval(code, names)
                if inspect.isawaitable(outcome):
                    await outcome


# Examples.


@pytest.mark.parametrize("path", EXAMPLE_FILES, ids=lambda path: path.name)
def test_every_example_is_shown_or_run_somewhere(path: Path) -> None:
    name = str(path.relative_to(ROOT))
    elsewhere = [page.read_text() for page in PAGES if page.parent.name != "internals"]
    tests = [test.read_text() for test in (ROOT / "tests" / "suites").rglob("*.py")]
    assert any(name in text for text in elsewhere) or any(path.name in text for text in tests)


SERVERS = [path for path in EXAMPLE_FILES if "= Server(" in path.read_text()]


@pytest.mark.parametrize("path", SERVERS, ids=lambda path: path.name)
async def test_every_example_server_lists_what_can_be_used(path: Path) -> None:
    server: Server = load(path).server
    async with Client(server) as client:
        assert await client.list_tools() or await client.list_prompts()
        assert not client.rejected


def test_the_example_tests_pass() -> None:
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "-p", "no:cacheprovider"),
            *("-o", "asyncio_mode=auto", "-o", "asyncio_default_fixture_loop_scope=function"),
            "test_weather.py",
        ],
        cwd=EXAMPLES,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "6 passed" in done.stdout


PRINTED = [
    (before, after)
    for page in PAGES
    for before, after in zip(blocks_of(page), blocks_of(page)[1:], strict=False)
    if before.included is not None and after.language == ""
]


@pytest.mark.parametrize(("example", "printed"), PRINTED, ids=str)
def test_an_example_prints_what_the_page_shows(example: Block, printed: Block) -> None:
    assert example.included is not None
    done = subprocess.run(
        [sys.executable, ROOT / example.included],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    remaining = iter(done.stdout.splitlines())
    for line in printed.text.splitlines():
        wanted = re.compile(".*".join(map(re.escape, line.split("…"))))
        assert any(wanted.fullmatch(said) for said in remaining), line


# Transcripts.


def steps_of(block: Block) -> list[tuple[str, str]]:
    """Return the commands of a transcript, each with what it prints."""
    parts = re.split(r"^\$ (.+)\n", block.text, flags=re.MULTILINE)
    assert parts[0] == "", f"{block}: a transcript starts with a command"
    return list(zip(parts[1::2], parts[2::2], strict=True))


def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


TRANSCRIPTS = [block for block in BLOCKS if block.language == "console"]


@pytest.mark.parametrize("block", TRANSCRIPTS, ids=str)
def test_a_transcript_is_what_happens(block: Block, demo_url: str) -> None:
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "80",
    }
    environment.pop("FORCE_COLOR", None)
    for command, expected in steps_of(block):
        words = shlex.split(command, comments=True)
        if words[0] == "make":
            assert words[1] in make_targets()
            continue
        done = subprocess.run(
            command.replace(DEMO_URL, demo_url),
            shell=True,
            cwd=EXAMPLES,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert done.stdout.replace(demo_url, DEMO_URL).rstrip() == expected.rstrip(), command


def test_commands_to_copy_name_things_that_exist() -> None:
    """Blocks of plain text may hold commands that go on until they are stopped."""
    from anyshape.cli.usage import USAGE

    for block in BLOCKS:
        for line in block.text.splitlines() if block.language == "text" else ():
            words = line.split()
            if words[:1] == ["anyshape"]:
                assert words[1] in USAGE
                assert all((EXAMPLES / word).exists() for word in words if word.endswith(".py"))


def test_asyncio_is_left_alone() -> None:
    """Running examples in this process must not leave a loop behind for later tests."""
    with pytest.raises(RuntimeError):
        asyncio.get_running_loop()
