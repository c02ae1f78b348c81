"""What every part of the tests uses: the Hypothesis profile, Node, and the demo."""

from __future__ import annotations

import importlib.util
import json
import signal
import subprocess
import sys
from collections.abc import Callable, Generator
from pathlib import Path

import coverage
import pytest
from hypothesis import HealthCheck, settings
from patience import PATIENCE

from anyshape.client import eras

ROOT = Path(__file__).resolve().parent.parent

# The one profile of all property tests: a law does not become false on a slow or busy machine. Laws
# say for themselves only how many examples they want. Each run tries the same ones, so that what
# fails is what was changed; `pytest --hypothesis-profile=random` tries others.
settings.register_profile(
    "random",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.register_profile("anyshape", settings.get_profile("random"), derandomize=True)
settings.load_profile("anyshape")

# A shell starts what it puts into the background with SIGINT ignored, which programs inherit; tests
# that interrupt one would wait for nothing.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Save what was covered: a worker that is slow to end afterwards is killed."""
    measuring = coverage.Coverage.current()
    if measuring is not None and hasattr(session.config, "workerinput"):
        measuring.stop()
        measuring.save()


@pytest.fixture(scope="session")
def node() -> Callable[..., list[str]]:
    """Return `node_command` of scripts/node.py, with Node 22 and its packages installed."""
    spec = importlib.util.spec_from_file_location("anyshape_node", ROOT / "scripts" / "node.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.install()
    return module.node_command


@pytest.fixture(scope="session")
def demo_url() -> Generator[str]:
    """Serve the demo over HTTP, and return where."""
    program = Path(sys.executable).parent / "anyshape"
    process = subprocess.Popen(
        [program, "demo", "--port", "0", "--json"], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    with process.stdout as stdout:
        url = json.loads(stdout.readline())["url"]
    try:
        yield url
    finally:
        process.terminate()
        process.wait(PATIENCE)


@pytest.fixture(autouse=True)
def _forget_servers() -> None:
    """Forget the servers of other tests: this one's may have the address of one of them."""
    eras.forget()
