"""What was fed to a target and what came of it, kept where it outlives the process.

A process that is fed may end, or hang in native code. So the number of executions and the input at
hand stand in memory that is shared with whoever watches, written before each execution.
"""

from __future__ import annotations

import hashlib
import mmap
import struct
import traceback
from pathlib import Path
from typing import Final

from targets import Target

__all__ = ["Ledger", "Recorder", "origin_of"]

_HEAD: Final = struct.Struct("<QI")
_LONGEST: Final = 1 << 20
_MOST_PER_KIND: Final = 3


class Ledger:
    """A file that holds how often a target was run, and with what last."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if not path.exists():
            path.write_bytes(bytes(_HEAD.size + _LONGEST))
        with path.open("r+b") as file:
            self._memory = mmap.mmap(file.fileno(), 0)

    def begin(self, count: int, data: bytes) -> None:
        """Take down that execution `count` begins."""
        kept = data[:_LONGEST]
        _HEAD.pack_into(self._memory, 0, count, len(kept))
        self._memory[_HEAD.size : _HEAD.size + len(kept)] = kept

    def read(self) -> tuple[int, bytes]:
        """Return how many executions were begun, and the input of the last."""
        count, length = _HEAD.unpack_from(self._memory, 0)
        return count, self._memory[_HEAD.size : _HEAD.size + length]


class Recorder:
    """Runs a target, counts, and keeps the inputs that something was wrong with."""

    def __init__(self, target: Target, folder: Path) -> None:
        self._run = target.run
        self._folder = folder
        self._ledger = Ledger(folder / "ledger")
        self.count = self._ledger.read()[0]
        self._kinds: dict[str, int] = {}

    def __call__(self, data: bytes) -> None:
        """Run once."""
        self.count += 1
        self._ledger.begin(self.count, data)
        try:
            self._run(data)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:
            self.report(origin_of(error), data, "".join(traceback.format_exception(error)))

    def report(self, kind: str, data: bytes, text: str) -> None:
        """Keep an input, with what came of it; of each kind a few."""
        self._kinds[kind] = self._kinds.get(kind, 0) + 1
        if self._kinds[kind] > _MOST_PER_KIND:
            return
        name = hashlib.sha256(data).hexdigest()[:16]
        (self._folder / f"{name}.input").write_bytes(data)
        (self._folder / f"{name}.txt").write_text(f"{kind}\n\n{text}", errors="replace")


def origin_of(error: BaseException) -> str:
    """Return what tells one finding from another: the error, and the line that it came from."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "?"
    return f"{type(error).__name__} at {where}"
