"""The official MCP conformance suite, run against examples/conformance_server.py.

The suite is an npm package, pinned by tests/node/package-lock.json and installed by
scripts/node.py. If it cannot be installed these tests are errors, not skips.
"""

from __future__ import annotations

import importlib.util
import json
import socket
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from patience import PATIENCE, is_listening, until

ROOT = Path(__file__).parent.parent.parent
SUITE = "@modelcontextprotocol/conformance"

BOTH_ERAS = (
    "tools-list",
    "tools-call-simple-text",
    "tools-call-image",
    "tools-call-audio",
    "tools-call-embedded-resource",
    "tools-call-mixed-content",
    "tools-call-error",
    "tools-call-with-progress",
    "prompts-list",
    "prompts-get-simple",
    "prompts-get-with-args",
    "prompts-get-embedded-resource",
    "prompts-get-with-image",
    "resources-list",
    "resources-read-text",
    "resources-read-binary",
    "resources-templates-read",
    "completion-complete",
    "json-schema-2020-12",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
)
# Extensions are on no revision's list: the suite has to be told to run them at one.
EXTENSIONS = (
    "tasks-lifecycle",
    "tasks-capability-negotiation",
    "tasks-wire-fields",
    "tasks-request-state-removal",
    "tasks-mrtr-input",
    "tasks-request-headers",
    "tasks-dispatch-and-envelope",
    "tasks-status-notifications",
    "tasks-required-task-error",
    "tasks-mrtr-composition",
)
SCENARIOS = {
    "2025-11-25": (
        "server-initialize",
        "ping",
        *BOTH_ERAS,
        "tools-call-sampling",
        "tools-call-elicitation",
        "elicitation-sep1034-defaults",
        "elicitation-sep1330-enums",
        "logging-set-level",
        "tools-call-with-logging",
        "resources-subscribe",
        "resources-unsubscribe",
        "server-session-lifecycle",
        "server-sse-polling",
    ),
    "2026-07-28": (
        "server-stateless",
        *BOTH_ERAS,
        "sep-2164-resource-not-found",
        "caching",
        "http-header-validation",
        "http-custom-header-server-validation",
        "input-required-result-basic-elicitation",
        "input-required-result-basic-sampling",
        "input-required-result-basic-list-roots",
        "input-required-result-request-state",
        "input-required-result-multiple-input-requests",
        "input-required-result-multi-round",
        "input-required-result-missing-input-response",
        "input-required-result-non-tool-request",
        "input-required-result-result-type",
        "input-required-result-unsupported-methods",
        "input-required-result-tampered-state",
        "input-required-result-capability-check",
        "input-required-result-ignore-extra-params",
        "input-required-result-validate-input",
        *EXTENSIONS,
    ),
}

# What the suite skips by itself, whatever the server does.
SKIPPED = {"tasks-status-notifications": ["tasks-status-notifications"]}

# Scenarios whose requests do not pass through the suite's instrumented client.
WITHOUT_WIRE_CHECK = {
    "server-stateless",
    "server-session-lifecycle",
    "server-sse-polling",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
    "http-header-validation",
    "http-custom-header-server-validation",
    *SKIPPED,
}


def _node_command(*arguments: str) -> list[str]:
    specification = importlib.util.spec_from_file_location("node", ROOT / "scripts" / "node.py")
    assert specification is not None
    assert specification.loader is not None
    module: Any = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module.node_command(SUITE, *arguments)


@pytest.fixture(scope="module")
def url() -> Generator[str]:
    """The URL of the conformance server, in a process of its own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    command = [
        sys.executable,
        str(ROOT / "examples" / "conformance_server.py"),
        "--port",
        str(port),
    ]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    until(lambda: is_listening(port) or process.poll() is not None)
    assert process.poll() is None, "the conformance server did not start"
    yield f"http://127.0.0.1:{port}/mcp"
    process.terminate()
    process.wait(PATIENCE)


@pytest.mark.parametrize(
    ("revision", "scenario"),
    [(revision, scenario) for revision, names in SCENARIOS.items() for scenario in names],
)
def test_a_scenario_of_the_official_suite_passes(
    url: str, revision: str, scenario: str, tmp_path: Path
) -> None:
    command = _node_command(
        "server",
        *("--url", url),
        *("--scenario", scenario),
        *("--spec-version", revision),
        *("--output-dir", str(tmp_path)),
        *(("--force",) if scenario in EXTENSIONS else ()),
    )
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=PATIENCE, check=False, cwd=tmp_path
    )
    (results,) = tmp_path.glob("**/checks.json")
    checks: list[dict[str, Any]] = json.loads(results.read_text())
    by_status: dict[str, list[str]] = {}
    for check in checks:
        by_status.setdefault(check["status"], []).append(check["id"])
    failures = [check for check in checks if check["status"] == "FAILURE"]
    assert not failures, json.dumps(failures, indent=1)
    assert done.returncode == 0, done.stdout
    assert by_status.get("WARNING", []) == []
    assert by_status.get("SKIPPED", []) == SKIPPED.get(scenario, [])
    if scenario not in WITHOUT_WIRE_CHECK:
        assert "wire-schema-valid" in by_status["SUCCESS"]
