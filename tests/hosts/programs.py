"""Hosts as real programs: how each is started so that it meets nobody but loopback.

Each gets a home of its own, the address of the stand-in for its model's API, one MCP server called
`demo`, and leave to call its tools unasked. What would look for updates or send reports is off.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from standins import PROMPT, Anthropic, Gemini, OpenAI, StandIn, listening

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent

Json = dict[str, Any]

PATIENCE = 240.0
"""Seconds for one host to make all calls of a plan."""


@dataclass(frozen=True)
class Launch:
    """How to start a program: its command and what is added to its environment."""

    command: Sequence[str]
    environment: dict[str, str]


@dataclass(frozen=True)
class Host:
    """A program that offers the tools of MCP servers to a model."""

    name: str
    package: str
    stand_in: type[StandIn]
    launch: Callable[[Json, str, Path], Launch]
    """From the target, the address of the stand-in and an empty home to how it is started."""
    note: str
    """What is peculiar to it, as seen in these runs."""
    own_calls: tuple[Json, ...] = ()
    """Calls that only the model of this host would make."""

    @property
    def version(self) -> str:
        """The version that is installed."""
        manifest = installation() / "node_modules" / self.package / "package.json"
        return json.loads(manifest.read_text())["version"]


def _claude_code(target: Json, address: str, home: Path) -> Launch:
    server: Json = {"type": "http", "url": target.get("url")}
    if "command" in target:
        program, *arguments = target["command"]
        server = {"type": "stdio", "command": program, "args": arguments}
    configuration = home / "servers.json"
    configuration.write_text(json.dumps({"mcpServers": {"demo": server}}))
    return Launch(
        [
            *node().node_command(_wrapper(), source=HERE),
            "--print",
            PROMPT,
            "--model",
            "claude-sonnet-4-5",
            "--mcp-config",
            str(configuration),
            "--strict-mcp-config",
            "--allowedTools",
            "mcp__demo",
        ],
        {
            "ANTHROPIC_API_KEY": "none",
            "ANTHROPIC_BASE_URL": address,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
            "ENABLE_TOOL_SEARCH": "false",  # All tools are offered at once.
        },
    )


def _gemini_cli(target: Json, address: str, home: Path) -> Launch:
    server: Json = {"httpUrl": target.get("url")}
    if "command" in target:
        program, *arguments = target["command"]
        server = {"command": program, "args": arguments}
    settings: Json = {
        "mcpServers": {"demo": {**server, "trust": True}},
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        # After thirty turns it would ask the model whether it is going round in circles.
        "model": {"disableLoopDetection": True},
    }
    (home / ".gemini").mkdir()
    (home / ".gemini" / "settings.json").write_text(json.dumps(settings))
    command = node().node_command(
        "@google/gemini-cli",
        "--prompt",
        PROMPT,
        "--approval-mode",
        "yolo",
        "--model",
        "gemini-2.5-flash",
        source=HERE,
    )
    return Launch(
        command,
        {
            "GEMINI_API_KEY": "none",
            "GOOGLE_GEMINI_BASE_URL": address,
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "GEMINI_CLI_NO_RELAUNCH": "true",
            "GEMINI_TELEMETRY_ENABLED": "false",
        },
    )


def _codex(target: Json, address: str, home: Path) -> Launch:
    where = f"url = {json.dumps(target.get('url'))}"
    if "command" in target:
        program, *arguments = target["command"]
        where = f"command = {json.dumps(program)}\nargs = {json.dumps(arguments)}"
    (home / ".codex").mkdir()
    (home / ".codex" / "config.toml").write_text(f"""\
model = "gpt-5"
model_provider = "local"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.local]
name = "local"
base_url = "{address}/v1"
wire_api = "responses"
requires_openai_auth = false

[mcp_servers.demo]
required = true
startup_timeout_sec = 60
{where}
""")
    return Launch(
        [
            *node().node_command("@openai/codex", source=HERE),
            "exec",
            "--skip-git-repo-check",
            "--dangerously-bypass-approvals-and-sandbox",
            PROMPT,
        ],
        {"CODEX_HOME": str(home / ".codex")},
    )


_WAITING: Json = {
    "id": "waiting",
    "tool": "get-count",
    "arguments": {"wait_for_previous": True},
    "value": 42,
}
"""The parameter that Gemini CLI adds to every tool, used."""

HOSTS = (
    Host(
        "Claude Code",
        "@anthropic-ai/claude-code",
        Anthropic,
        _claude_code,
        note="shows structured content rather than text. Over stdio it waits 3 seconds for the "
        "answer to `server/discover` (or a third of `MCP_TIMEOUT`, if that is less) and then "
        "greets the server as one of the handshake: where a server starts more slowly, as on a "
        'very busy machine, values that are no objects come as `{"result": …}`.',
    ),
    Host(
        "Gemini CLI",
        "@google/gemini-cli",
        Gemini,
        _gemini_cli,
        note="shows text rather than structured content; checks arguments itself, so the error of "
        "a wrong call is in its own words; adds `wait_for_previous` to every tool.",
        own_calls=(_WAITING,),
    ),
    Host(
        "Codex",
        "@openai/codex",
        OpenAI,
        _codex,
        note="shows structured content rather than text; drops patterns, bounds, defaults and "
        "conditions from schemas before its model sees them.",
    ),
)


def visit(host: Host, target: Json, plan: list[Json], home: Path) -> StandIn:
    """Start a host on a target, have its model make the calls of a plan, and return the model."""
    stand_in = host.stand_in(plan)
    with listening(stand_in) as address:
        launch = host.launch(target, address, home)
        environment = {**isolated(home), **launch.environment}
        try:
            done = subprocess.run(
                launch.command,
                cwd=home,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=PATIENCE,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            made = f"{len(stand_in.handed)} of {len(plan)} calls"
            said = (error.stderr or error.stdout or b"")[-2000:].decode(errors="replace")
            raise RuntimeError(
                f"{host.name} was not done in {PATIENCE:g} s: {made}\n{said}"
            ) from None
    if done.returncode != 0 or not stand_in.requests:
        said = (done.stderr or done.stdout)[-2000:]
        raise RuntimeError(f"{host.name} ended with {done.returncode}:\n{said}")
    return stand_in


def isolated(home: Path) -> dict[str, str]:
    """Return an environment with a home of its own, in which whoever would go out meets nobody."""
    return {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "NO_COLOR": "1",
        **dict.fromkeys(("HTTPS_PROXY", "https_proxy"), "http://127.0.0.1:9"),
        **dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost"),
    }


def installation() -> Path:
    """Return where the programs are installed."""
    return node().install(HERE)


def _wrapper() -> Path:
    """Return what starts Claude Code where its install script has not run."""
    return installation() / "node_modules" / "@anthropic-ai" / "claude-code" / "cli-wrapper.cjs"


def node() -> ModuleType:
    """Return scripts/node.py."""
    name = "anyshape_node"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / "node.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        sys.modules[name] = module
    return sys.modules[name]
