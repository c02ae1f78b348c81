"""The Node environment that suites, peers and benchmarks share."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

from patience import PATIENCE

LOCK = Path(__file__).parent / "package-lock.json"


def test_node_22_runs_a_script_that_imports_an_installed_package(
    node: Callable[..., list[str]], tmp_path: Path
) -> None:
    script = tmp_path / "script.mjs"
    script.write_text(
        'import { z } from "zod"; console.log(process.version, z.int().safeParse(1).success);'
    )
    done = subprocess.run(
        node(script), capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    version, accepted = done.stdout.split()
    assert (version.split(".")[0], accepted, done.stderr) == ("v22", "true", "")


def test_a_package_program_runs(node: Callable[..., list[str]]) -> None:
    command = node("@modelcontextprotocol/conformance", "--version")
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert done.stdout.strip() == "0.2.0-alpha.12"


def test_the_lock_file_names_no_registry_address() -> None:
    packages = json.loads(LOCK.read_text())["packages"]
    assert [name for name, entry in packages.items() if "resolved" in entry] == []
