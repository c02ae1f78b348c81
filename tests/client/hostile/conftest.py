"""A hostile server on either transport, and a clock that notices when the loop is held."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator
from pathlib import Path
from types import ModuleType

import pytest
from patience import PATIENCE

from anyshape.client import Bounds, Client, OnFrame, Process

SCRIPT = Path(__file__).parent / "hostile_server.py"
BOUNDS = Bounds(max_answer_bytes=8_000_000, probe_timeout=PATIENCE)

# Far more than any budget allows for, far less than what an unbounded attack takes.
LONGEST_PAUSE = 40.0


def load_attacks() -> ModuleType:
    spec = importlib.util.spec_from_file_location("hostile_server", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ATTACKS = load_attacks()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test once per attack of the catalogue that its fixture names."""
    for fixture, names in {
        "plain": [name for name in ATTACKS.PLAIN if name != "unknown_content"],
        "wrong_id": list(ATTACKS.WRONG_IDS),
        "chatter": list(ATTACKS.SAYS),
    }.items():
        if fixture in metafunc.fixturenames:
            metafunc.parametrize(fixture, names)


@pytest.fixture
def attacks() -> ModuleType:
    return ATTACKS


def command(variant: str = "") -> list[str]:
    return [sys.executable, str(SCRIPT), "stdio", variant]


@contextlib.contextmanager
def serving(variant: str = "") -> Generator[str, None, None]:
    process = subprocess.Popen(
        [sys.executable, str(SCRIPT), "http", variant], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/mcp"
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


@pytest.fixture(scope="session")
def serve() -> Iterator[Callable[[str], str]]:
    """Return what gives the URL of a hostile server, started once per variant."""
    with contextlib.ExitStack() as stack:
        started: dict[str, str] = {}

        def serve(variant: str) -> str:
            if variant not in started:
                started[variant] = stack.enter_context(serving(variant))
            return started[variant]

        yield serve


Open = Callable[..., contextlib.AbstractAsyncContextManager[Client]]
Locate = Callable[[str], list[str] | str]


@pytest.fixture(params=["stdio", "http"])
def open_client(request: pytest.FixtureRequest, serve: Callable[[str], str]) -> Open:
    """Return what opens a client to the hostile server, over each transport in turn."""
    return open_at(command if request.param == "stdio" else serve)


@pytest.fixture
def open_stdio_client() -> Open:
    return open_at(command)


@pytest.fixture
def open_http_client(serve: Callable[[str], str]) -> Open:
    return open_at(serve)


def open_at(locate: Locate) -> Open:
    @contextlib.asynccontextmanager
    async def opened(
        variant: str = "", timeout: float = PATIENCE, on_frame: OnFrame | None = None
    ) -> AsyncGenerator[Client, None]:
        target = await asyncio.to_thread(locate, variant)
        process = Process(stop_timeout=0.5)
        async with Client(
            target, timeout=timeout, bounds=BOUNDS, process=process, on_frame=on_frame
        ) as client:
            yield client

    return opened


@pytest.fixture
async def unheld() -> AsyncIterator[None]:
    """Fail the test if anything in it held the event loop for long."""
    longest = 0.0

    async def tick() -> None:
        nonlocal longest
        while True:
            before = time.monotonic()
            await asyncio.sleep(0.01)
            longest = max(longest, time.monotonic() - before)

    ticker = asyncio.create_task(tick())
    yield
    ticker.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await ticker
    assert longest < LONGEST_PAUSE
