"""Have each agent framework list and call every tool through its own adapter; report what it gives.

    python tests/hosts/frameworks.py [NAME…]

A framework has an environment of its own in `.cache/frameworks`, pinned in `frameworks/*.txt`.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
import venv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import plan
import programs
import record
from targets import TRANSPORTS, serving

Json = dict[str, Any]

HERE = Path(__file__).resolve().parent
SCRIPTS = HERE / "frameworks"
ENVIRONMENTS = programs.ROOT / ".cache" / "frameworks"
PATIENCE = 240.0


@dataclass(frozen=True)
class Framework:
    """A library whose adapter turns the tools of a server into its own."""

    name: str
    script: str
    """In `frameworks/`; what its environment holds is in a text file of the same name."""
    note: str
    """What is peculiar to it, as seen in these runs."""

    def command(self) -> list[str]:
        """Return what starts its script, and install it first."""
        path = SCRIPTS / self.script
        if path.suffix == ".mjs":
            return programs.node().node_command(path, source=HERE)
        return [str(_environment(path.with_suffix(".txt")) / "bin" / "python"), str(path)]


_TEXTS = "gives the text blocks of a result."

FRAMEWORKS = (
    Framework("AI SDK", "ai_sdk.mjs", _TEXTS),
    Framework(
        "agno",
        "with_agno.py",
        "gives the text of a result, and of an error what Python prints for its blocks; it asks "
        "for a handshake unless `protocol_mode` is `auto`.",
    ),
    Framework(
        "autogen-ext",
        "with_autogen.py",
        "gives the text blocks as JSON, and hides the text of an error in an exception group; it "
        "drops arguments that only a branch of a schema names: `find_resource` cannot be called.",
    ),
    Framework(
        "crewai",
        "with_crewai.py",
        "(an agent's `mcps`) gives the text of a result; it checks arguments itself, against a "
        "model of the schema that knows no conditions; it drops a tool that has no description.",
    ),
    Framework(
        "crewai-tools",
        "with_crewai_tools.py",
        "(`MCPServerAdapter`) gives the text of a result, and what Python prints for several; it "
        "checks arguments itself, and sends null for what is left out.",
    ),
    Framework("google-adk", "with_google_adk.py", "gives the whole result as an object."),
    Framework("langchain-mcp-adapters", "with_langchain.py", _TEXTS),
    Framework(
        "llama-index-tools-mcp",
        "with_llamaindex.py",
        "gives what Python prints for the whole result.",
    ),
    Framework(
        "mcp-haystack",
        "with_haystack.py",
        "gives the whole result as JSON text; an error is raised, with its text.",
    ),
    Framework(
        "mcp-use",
        "with_mcp_use.py",
        "gives the text of a result, or an object that tells of an exception; it sends null for "
        "what is left out.",
    ),
    Framework("openai-agents", "with_openai_agents.py", _TEXTS),
    Framework(
        "pydantic-ai",
        "with_pydantic_ai.py",
        "gives structured content; an error is raised as `ModelRetry`, with its text.",
    ),
    Framework(
        "semantic-kernel",
        "with_semantic_kernel.py",
        "gives the text blocks of a result; it drops arguments that only a branch of a schema "
        "names, so `find_resource` cannot be called.",
    ),
    Framework(
        "smolagents",
        "with_smolagents.py",
        "gives structured content (`structured_output=True`), or the text of an error.",
    ),
    Framework("strands-agents", "with_strands.py", _TEXTS),
)


def _environment(requirements: Path) -> Path:
    """Return an environment with these packages, made if it is not there or was another."""
    place = ENVIRONMENTS / requirements.stem.removeprefix("with_")
    wanted = hashlib.sha256(requirements.read_bytes()).hexdigest()
    mark = place / ".installed"
    if not mark.exists() or mark.read_text() != wanted:
        venv.EnvBuilder(with_pip=True, clear=True).create(place)
        install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        command = [place / "bin" / "python", *install, "--no-deps", "-r", requirements]
        subprocess.run(command, check=True)
        mark.write_text(wanted)
    return place


def visit(framework: Framework, target: Json, home: Path) -> Json:
    """Return the report of a framework's script on a target."""
    calls = [{name: call[name] for name in ("id", "tool", "arguments")} for call in plan.calls()]
    command = [*framework.command(), json.dumps(target), json.dumps(calls)]
    environment = {**programs.isolated(home), **QUIET}
    done = subprocess.run(
        command,
        cwd=home,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    for line in done.stdout.splitlines():
        if line.startswith("REPORT "):
            return json.loads(line.removeprefix("REPORT "))
    said = (done.stderr or done.stdout)[-2000:]
    raise RuntimeError(f"{framework.name} ended with {done.returncode}:\n{said}")


QUIET = {
    "ANONYMIZED_TELEMETRY": "false",
    "CREWAI_DISABLE_TELEMETRY": "true",
    "MCP_USE_ANONYMIZED_TELEMETRY": "false",
    "OPENAI_AGENTS_DISABLE_TRACING": "1",
    "OTEL_SDK_DISABLED": "true",
}
"""What keeps frameworks from sending reports."""


def observe(framework: Framework, home: Path) -> Json:
    """Return what a framework gave over each transport."""
    over: Json = {}
    version = ""
    for transport in TRANSPORTS:
        with serving(transport) as target:
            report = visit(framework, target, home)
        version = report.pop("version")
        over[transport] = report
    return {"version": version, "note": framework.note, **record.merged(over)}


def main(names: list[str]) -> int:
    """Observe the frameworks named, or all, and write what was seen."""
    lost: list[str] = []
    for framework in FRAMEWORKS:
        if names and framework.name not in names:
            continue
        print(framework.name, file=sys.stderr)
        with tempfile.TemporaryDirectory() as home:
            observed = observe(framework, Path(home))
        record.keep("frameworks", framework.name, observed)
        for transport, report in observed["over"].items():
            lost += [
                f"{framework.name} over {transport}: {name} is not there"
                for name in sorted(plan.tools() - report["offered"].keys())
            ]
    print("\n".join(lost or ["every framework has every tool"]))
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
