"""The official conformance suite, client side: all but `auth/*`, at every revision it covers."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from patience import PATIENCE

ROOT = Path(__file__).resolve().parent.parent.parent
CLIENT = ROOT / "examples" / "conformance_client.py"

SCENARIOS = {
    "initialize": ["2025-06-18", "2025-11-25"],
    "tools_call": ["2025-06-18", "2025-11-25", "2026-07-28"],
    "elicitation-sep1034-client-defaults": ["2025-11-25"],
    "request-metadata": ["2026-07-28"],
    "sep-2322-client-request-state": ["2026-07-28"],
    "http-standard-headers": ["2026-07-28"],
    "http-custom-headers": ["2026-07-28"],
    "http-invalid-tool-headers": ["2026-07-28"],
    "json-schema-ref-no-deref": ["2026-07-28"],
    "json-schema-2020-12-preservation": ["2025-11-25", "2026-07-28"],
    "sse-retry": ["2025-11-25"],
}
REVISIONS = ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]


def run(
    node: Callable[..., list[str]], scenario: str, revision: str, *arguments: str
) -> subprocess.CompletedProcess[str]:
    client = " ".join([sys.executable, str(CLIENT), *arguments])
    command = node(
        "@modelcontextprotocol/conformance",
        *("client", "--command", client, "--scenario", scenario, "--spec-version", revision),
    )
    return subprocess.run(
        command, capture_output=True, text=True, timeout=PATIENCE, check=False, cwd=ROOT
    )


@pytest.mark.parametrize(
    ("scenario", "revision"),
    [(scenario, revision) for scenario, listed in SCENARIOS.items() for revision in listed],
)
def test_the_scenario_passes(node: Callable[..., list[str]], scenario: str, revision: str) -> None:
    done = run(node, scenario, revision)
    assert "OVERALL: PASSED" in done.stderr, done.stdout + done.stderr
    assert done.returncode == 0


@pytest.mark.parametrize("scenario", ["tools_call", "request-metadata", "http-custom-headers"])
def test_the_scenario_passes_when_the_client_finds_the_revision_itself(
    node: Callable[..., list[str]], scenario: str
) -> None:
    for revision in SCENARIOS[scenario]:
        done = run(node, scenario, revision, "auto")
        assert "OVERALL: PASSED" in done.stderr, done.stdout + done.stderr


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
def test_every_required_scenario_is_run(node: Callable[..., list[str]], revision: str) -> None:
    command = node("@modelcontextprotocol/conformance", "list", "--requirements", revision)
    listed = subprocess.run(
        command, capture_output=True, text=True, timeout=PATIENCE, check=True, cwd=ROOT
    ).stdout
    required = listed.partition("Client scenarios")[2].partition("Run and reported")[0]
    named = {line.removeprefix("  - ").split()[0] for line in required.splitlines()[1:] if line}
    ours = {name for name in named if not name.startswith("auth/")}
    assert ours
    assert ours <= {name for name, revisions in SCENARIOS.items() if revision in revisions}


@pytest.mark.parametrize("scenario", list(SCENARIOS))
def test_no_revision_that_a_scenario_covers_is_left_out(
    node: Callable[..., list[str]], scenario: str
) -> None:
    left_out = sorted(set(REVISIONS) - set(SCENARIOS[scenario]))
    # Applicability is an interval, so its ends and what lies beside them are enough.
    for revision in {left_out[0], left_out[-1]} if left_out else ():
        assert "is not applicable" in run(node, scenario, revision).stdout
