"""A Redis of the tests' own, in memory alone, that can be stopped and started again."""

from __future__ import annotations

import shutil
import socket
import subprocess
from pathlib import Path

from patience import PATIENCE, is_listening, until


class RedisProcess:
    """A process of `redis-server`, or of Valkey's, on a free port."""

    def __init__(self, folder: Path) -> None:
        program = shutil.which("redis-server") or shutil.which("valkey-server")
        assert program is not None, "redis-server is missing; apt-get install redis-server"
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        self._folder = folder
        self._command = [program, "--port", str(self.port), "--bind", "127.0.0.1", "--save", ""]
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def __enter__(self) -> RedisProcess:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Start it, empty."""
        process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL, cwd=self._folder)
        self._process = process
        until(lambda: is_listening(self.port) or process.poll() is not None)
        assert process.poll() is None, "redis-server did not start"

    def stop(self) -> None:
        """Stop it, if it runs; what it knew is gone."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait(PATIENCE)
