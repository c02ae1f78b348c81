"""What a model reads when a call does not succeed: what happened, and what it can do about it.

The one place where exceptions become words for a model. It is told everything that it could act on,
and of a mistake inside this program only that there was one; the log has the rest.
"""

from __future__ import annotations

import difflib
import heapq
import logging
from collections.abc import Iterable, Sequence
from typing import Final

from anyshape.agents.outcome import Outcome, sound_text
from anyshape.errors import (
    LimitExceeded,
    OutputMismatch,
    Problem,
    ProtocolError,
    TransportError,
    ValidationError,
)

logger = logging.getLogger(__name__)

_SHOWN: Final = 20
_LONGEST: Final = 4_000
_COMPARED: Final = 50
"""Names that are compared letter by letter with one that is not known, and how much of each."""
_LONGEST_NAME: Final = 100
_AGAIN: Final = "Correct the arguments and call the tool again."
_PERHAPS: Final = "The call may have taken effect all the same: look before you repeat it."


def failed(tool: str, error: Exception) -> Outcome:
    """Return what to tell a model of an exception that calling a tool led to."""
    return _failure(_words(tool, error))


def unknown_tool(name: str, known: Sequence[str]) -> Outcome:
    """Return what to tell a model that called a tool which is not there."""
    near = _near(name[:_LONGEST_NAME], known)
    meant = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
    shown = ", ".join(known[:_SHOWN]) or "none"
    more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
    return _failure(f"There is no tool {name[:200]!r}.{meant} The tools are: {shown}{more}.")


def _near(name: str, known: Sequence[str]) -> list[str]:
    """Return the names most like one; letters are counted before any are compared in order.

    The names are strangers', and the time to compare two grows with the product of their lengths.
    """
    whole = {it[:_LONGEST_NAME]: it for it in known}
    matcher = difflib.SequenceMatcher(b=name)

    def likeness(other: str) -> float:
        matcher.set_seq1(other)
        return matcher.quick_ratio()

    likely = list(whole) if len(whole) <= _COMPARED else heapq.nlargest(_COMPARED, whole, likeness)
    return [whole[it] for it in difflib.get_close_matches(name, likely, n=3, cutoff=0.5)]


def _words(tool: str, error: Exception) -> str:
    if isinstance(error, ValidationError):
        return f"The arguments for {tool} are wrong:\n{_lines(error.problems)}\n{_AGAIN}"
    if isinstance(error, LimitExceeded):
        return f"{tool} was not carried out to the end: a limit was reached: {error}."
    if isinstance(error, OutputMismatch):
        return f"{tool} was called, but its answer cannot be used: {error}. {_PERHAPS}"
    if isinstance(error, ProtocolError):
        return f"The server refused the call of {tool}: {error}."
    if isinstance(error, TransportError):
        return f"No answer came from {tool}: {error}. {_PERHAPS}"
    if isinstance(error, RecursionError):
        return f"The arguments for {tool} are nested too deeply. {_AGAIN}"
    logger.error("calling tool %s failed", tool, exc_info=error)
    return f"{tool} could not be called because of a mistake in this program."


def _lines(problems: Iterable[Problem]) -> str:
    lines = [f"- {' '.join(str(problem).split())}" for problem in problems]
    more = [f"- and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else []
    return "\n".join(lines[:_SHOWN] + more)


def _failure(text: str) -> Outcome:
    shown = text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
    return Outcome((sound_text(shown),), is_error=True)
