"""The official conformance suite, client side, at every revision it covers."""

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
    "auth/metadata-default": ["2025-11-25", "2026-07-28"],
    "auth/metadata-var1": ["2025-11-25", "2026-07-28"],
    "auth/metadata-var2": ["2025-11-25", "2026-07-28"],
    "auth/metadata-var3": ["2025-11-25", "2026-07-28"],
    "auth/basic-cimd": ["2025-11-25", "2026-07-28"],
    "auth/scope-from-www-authenticate": ["2025-11-25", "2026-07-28"],
    "auth/scope-from-scopes-supported": ["2025-11-25", "2026-07-28"],
    "auth/scope-omitted-when-undefined": ["2025-11-25", "2026-07-28"],
    "auth/scope-step-up": ["2025-11-25", "2026-07-28"],
    "auth/scope-retry-limit": ["2025-11-25", "2026-07-28"],
    "auth/pre-registration": ["2025-11-25", "2026-07-28"],
    "auth/token-endpoint-auth-basic": ["2025-06-18", "2025-11-25", "2026-07-28"],
    "auth/token-endpoint-auth-post": ["2025-06-18", "2025-11-25", "2026-07-28"],
    "auth/token-endpoint-auth-none": ["2025-06-18", "2025-11-25", "2026-07-28"],
    "auth/resource-mismatch": ["2026-07-28"],
    "auth/offline-access-scope": ["2026-07-28"],
    "auth/offline-access-not-supported": ["2026-07-28"],
    "auth/authorization-server-migration": ["2026-07-28"],
    "auth/iss-supported": ["2026-07-28"],
    "auth/iss-not-advertised": ["2026-07-28"],
    "auth/iss-supported-missing": ["2026-07-28"],
    "auth/iss-wrong-issuer": ["2026-07-28"],
    "auth/iss-unexpected": ["2026-07-28"],
    "auth/iss-normalized": ["2026-07-28"],
    "auth/metadata-issuer-mismatch": ["2026-07-28"],
    "auth/2025-03-26-oauth-metadata-backcompat": ["2025-03-26"],
    "auth/2025-03-26-oauth-endpoint-fallback": ["2025-03-26"],
}
EXTENSIONS = [
    "auth/client-credentials-basic",
    "auth/client-credentials-jwt",
    "auth/dpop",
    "auth/dpop-nonce",
    "auth/enterprise-managed-authorization",
    "auth/wif-jwt-bearer",
]
REVISIONS = ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]


def run(
    node: Callable[..., list[str]],
    scenario: str,
    revision: str,
    *arguments: str,
    force: bool = False,
) -> subprocess.CompletedProcess[str]:
    client = " ".join([sys.executable, str(CLIENT), *arguments])
    command = node(
        "@modelcontextprotocol/conformance",
        *("client", "--command", client, "--scenario", scenario, "--spec-version", revision),
        *(("--force",) if force else ()),
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


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
@pytest.mark.parametrize("scenario", EXTENSIONS)
def test_the_scenario_of_an_extension_passes(
    node: Callable[..., list[str]], scenario: str, revision: str
) -> None:
    done = run(node, scenario, revision, force=True)  # extensions belong to no revision
    assert "OVERALL: PASSED" in done.stderr, done.stdout + done.stderr


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
    assert named
    assert named <= {name for name, revisions in SCENARIOS.items() if revision in revisions}


@pytest.mark.parametrize("scenario", list(SCENARIOS))
def test_no_revision_that_a_scenario_covers_is_left_out(
    node: Callable[..., list[str]], scenario: str
) -> None:
    left_out = sorted(set(REVISIONS) - set(SCENARIOS[scenario]))
    # Applicability is an interval, so its ends and what lies beside them are enough.
    for revision in {left_out[0], left_out[-1]} if left_out else ():
        assert "is not applicable" in run(node, scenario, revision).stdout
