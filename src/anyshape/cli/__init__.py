"""The `anyshape` program: one module per command, and nothing that is not about a terminal."""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Run the program on this process's arguments and end the process with its exit code."""
    import sys

    from anyshape.cli.program import run

    sys.exit(run(sys.argv[1:]))
