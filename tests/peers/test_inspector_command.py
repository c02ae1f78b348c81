"""The Inspector's command line as people type it, against the demo over HTTP and stdio."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from typing import Any

import pytest
import visits
from patience import PATIENCE

Json = dict[str, Any]
Ask = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def ask(node: Callable[..., list[str]], demo: Callable[[str], Json]) -> Ask:
    """Return what runs the Inspector on the demo."""

    def run(*options: str, over: str = "http") -> subprocess.CompletedProcess[str]:
        target = demo(over)
        where = [target["url"]] if over == "http" else target["command"]
        command = node("@modelcontextprotocol/inspector", "--cli", *where, "--format", "json")
        return subprocess.run(
            [*command, *options],
            env=visits.environment(),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )

    return run


COUNT = ("--method", "tools/call", "--tool-name", "get-count")


@pytest.mark.parametrize(
    ("options", "structured"),
    [
        ((), {"result": 42}),
        (("--protocol-era", "auto"), 42),
        (("--protocol-era", "modern"), 42),
        # The SDK says what was agreed on, whatever the header was to be.
        (("--header", "MCP-Protocol-Version: 2025-03-26"), {"result": 42}),
        (("--protocol-era", "modern", "--header", "MCP-Protocol-Version: 2025-11-25"), 42),
    ],
    ids=["default", "auto", "modern", "older-header", "modern-with-older-header"],
)
def test_the_era_decides_the_shape(ask: Ask, options: tuple[str, ...], structured: Any) -> None:
    done = ask(*options, *COUNT)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["result"]["structuredContent"] == structured


def test_a_revision_that_does_not_exist_is_refused_with_those_that_do(ask: Ask) -> None:
    done = ask("--header", "MCP-Protocol-Version: 1999-01-01", *COUNT)
    assert (done.returncode, done.stdout) == (1, "")
    message: str = json.loads(done.stderr)["error"]["message"]
    error = json.loads(message.partition(": ")[2])["error"]
    assert error["code"] == -32022
    assert error["data"] == {
        "supported": ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"],
        "requested": "1999-01-01",
    }


def test_a_failed_tool_has_an_exit_code_of_its_own(ask: Ask) -> None:
    done = ask("--method", "tools/call", "--tool-name", "always_fails")
    assert done.returncode == 5
    assert json.loads(done.stdout)["result"] == {
        "content": [{"type": "text", "text": "This tool failed because it was asked to."}],
        "isError": True,
    }


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_schemas_of_the_demo_are_portable(ask: Ask, era: str) -> None:
    done = ask("--quiet", "--protocol-era", era, "--strict", "--method", "tools/list", over="stdio")
    assert (done.returncode, done.stderr) == (0, "")


def test_many_calls_at_once_are_all_answered(ask: Ask) -> None:
    done = ask("--protocol-era", "modern", *COUNT, "--load", "--load-requests", "60")
    summary = json.loads(done.stdout)["result"]
    assert {name: summary[name] for name in ("requests", "ok", "errors")} == {
        "requests": 60,
        "ok": 60,
        "errors": 0,
    }
