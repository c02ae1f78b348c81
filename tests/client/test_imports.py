"""What is loaded when, in a fresh interpreter."""

from __future__ import annotations

import subprocess
import sys

import pytest
from patience import PATIENCE

HEAVY = (
    *("aiohttp", "pydantic", "uvicorn", "typer", "rich"),
    *("anyshape.server", "anyshape.tools", "anyshape.agents", "anyshape.providers"),
)


def loaded_by(code: str) -> set[str]:
    listed = f"{code}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", listed], capture_output=True, text=True, check=True, timeout=PATIENCE
    )
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "code",
    [
        "import anyshape.client",
        "from anyshape.client import Client; Client(['python', 'server.py'])",
    ],
)
def test_the_client_loads_nothing_that_it_does_not_use(code: str) -> None:
    assert loaded_by(code).isdisjoint(HEAVY)


def test_http_is_loaded_for_a_url() -> None:
    code = "from anyshape.client import Client; Client('http://127.0.0.1:1/mcp')"
    assert "aiohttp" in loaded_by(code)
