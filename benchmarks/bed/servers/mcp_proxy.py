"""`mcp-proxy` before one upstream, a module that is run on stdio: it serves no other over HTTP.

It needs `mcp` 1, and so an environment of its own: `make older-peers` has it.
"""

from __future__ import annotations

import os
import sys

from bed.contenders import ROOT
from bed.servers import hosting

PROGRAM = ROOT / ".cache" / "older-peers" / "2025-11" / "bin" / "mcp-proxy"

if __name__ == "__main__":
    options = hosting.parse()
    settings = ["--port", str(options.port), "--stateless", "--pass-environment"]
    settings += ["--log-level", "ERROR"]
    upstream = [sys.executable, "-m", options.upstream, "stdio"]
    os.execv(PROGRAM, [str(PROGRAM), *settings, "--", *upstream])
