"""One thing that strangers can feed, in each module beside this: `make()` returns its `Target`.

`run` takes one input and returns if all is well. The library's own errors are well. Whatever else
it raises, an `AssertionError` included, is a finding.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

from mutator import mutate_bytes

from anyshape.errors import ValidationError

__all__ = ["GENERATIVE", "NAMES", "Target", "check_message", "load"]

NAMES: tuple[str, ...] = tuple(
    sorted(path.stem for path in Path(__file__).parent.glob("[a-z]*.py"))
)
GENERATIVE = ("lowering_laws", "three_validators", "verdicts")
"""Those that make documents and values of a number: there is nothing to follow in it."""


@dataclass(frozen=True)
class Target:
    """What is fed, what it is fed with at first, and how that is changed."""

    run: Callable[[bytes], None]
    seeds: tuple[bytes, ...]
    mutate: Callable[[bytes, Random, list[bytes]], bytes] = mutate_bytes
    max_bytes: int = 8_192
    short: int = 400
    """Executions in the short run: about a second."""


def load(name: str, corpus: Path | None = None) -> Target:
    """Return a target; `corpus` is a folder of tool listings, for those that can use them."""
    return importlib.import_module(f"targets.{name}").make(corpus)


def check_message(error: object) -> None:
    """Hold that what an error says is one line, not too long, that no terminal obeys.

    Each problem of a value is a line of its own.
    """
    for text in error.problems if isinstance(error, ValidationError) else (error,):
        assert not set(str(text)) & set("\n\r\x1b\x00"), text
        assert len(str(text)) < 5_000, text
