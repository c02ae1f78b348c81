"""Files that an operator keeps: a gateway's TOML, hosts' `mcpServers`, and pins."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path

from anyshape.errors import PinError
from anyshape.gateway import ConfigError, load
from anyshape.gateway.pins import Pins

from . import Target, check_message

FOLDER = Path(tempfile.mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
SEEDS = (
    b"""name = "fleet"
instructions = "Ask gently."
[upstreams.github]
url = "https://example.com/mcp"
headers = { Authorization = "Bearer ${HOME}" }
prefix = "gh_"
allow = ["get_*"]
deny = ["*_all"]
check = "warn"
when_down = "hide"
timeout = 5
room = { max_calls = 3 }
breaker = { failures = 3 }
[upstreams.files]
command = ["npx", "files"]
env = { KEY = "${file:key.txt}" }
cwd = "/srv"
[tools]
disclosure = "search"
[pins]
file = "pins.json"
unknown = "admit"
[screening]
withhold = "high"
ignore = ["hidden"]
[audit]
file = "audit.jsonl"
arguments = "none"
key = "0123456789abcdef0123456789abcdef"
[health]
required = ["github"]
[metrics]
enabled = true
""",
    b'{"mcpServers": {"a": {"command": "npx", "args": ["-y", "x"], "env": {"K": "${HOME}"}}}}',
    b'{"servers": {"a": {"type": "http", "url": "https://a.example/mcp", "headers": {"A": "b"}}}}',
    b'{"version": 1, "upstreams": {"a": {"tools": {"t": {"digest": "sha256:00"}}}}}',
    b"[upstreams.a]\nurl = 'http://a'\ntimeout = nan\nrefresh = inf",
    b"[upstreams.a]\nurl = 'http://a'\nx = " + b"[" * 1_500,
    b'{"mcpServers": ' + b"[" * 5_000,
    b"[upstreams.a]\nmodule = 'a:b'\nwhen = 1979-05-27T07:32:00Z",
)


def run(data: bytes) -> None:
    """Load it as each of them."""
    for name in ("fleet.toml", "hosts.json"):
        path = FOLDER / name
        path.write_bytes(data)
        try:
            load(path, find=str)
        except ConfigError as error:
            _look_at(str(error))
    try:
        Pins.load(path)
    except PinError as error:
        _look_at(str(error))


def _look_at(text: str) -> None:
    check_message(text)
    assert text.isprintable(), text
    assert os.environ["HOME"] not in text.replace(str(FOLDER), "")


def make(corpus: Path | None) -> Target:
    """Return the target."""
    return Target(run, SEEDS, short=600)
