"""What the model reads, and what the log keeps, when a call does not succeed.

The one place where failures of a tool become results. The model is told what it can act on:
problems with its arguments, and words that the tool itself chose (`ToolError`). Everything else is
a generic line, because an exception's text may hold what no caller should see; so may the words of
another server's tool (`RemoteToolError`).
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from typing import cast

from anyshape.errors import (
    AskError,
    LimitExceeded,
    NotJson,
    Problem,
    ProtocolError,
    RemoteToolError,
    ToolError,
)
from anyshape.protocol.content import encode_text
from anyshape.protocol.result import EncodedResult
from anyshape.tools.serialization import ResultError

_log = logging.getLogger("anyshape.tools")
_SHOWN = 20
_LONGEST = 10_000
_UNUSABLE = "The tool returned a result that it should not; the server's log says more."


def refused(problems: Iterable[Problem]) -> EncodedResult:
    """The arguments do not fit: one line per problem, for the model to correct itself."""
    return _failure("\n".join(" ".join(str(problem).split("\n")) for problem in problems))


def failed(message: str) -> EncodedResult:
    """The tool says that it failed, and why."""
    return _failure(message or "The tool failed.")


def crashed(tool: str, error: BaseException) -> EncodedResult:
    """The tool failed in a way it did not mean to: the caller learns that much, the log all."""
    _log.error("tool %s failed with %s", tool, type(error).__name__, exc_info=error)
    return _failure("The tool failed because of an error inside it; the server's log says which.")


def timed_out(tool: str, seconds: float) -> EncodedResult:
    """The tool's time is up."""
    _log.warning("tool %s was given up after %g s", tool, seconds)
    return _failure(f"The tool did not finish within {seconds:g} seconds.")


def unusable(tool: str, error: ResultError | NotJson | LimitExceeded) -> EncodedResult:
    """The tool returned what cannot be sent: a mistake in the tool, so the log has the details."""
    if isinstance(error, LimitExceeded):
        _log.error("tool %s returned a value beyond a limit: %s", tool, error.message)
    else:
        what = "not JSON" if isinstance(error, NotJson) else "not what its output schema says"
        _log.error("tool %s returned a value that is %s: %s", tool, what, _lines(error.problems))
    return _failure(_UNUSABLE)


def forgot_structured(tool: str) -> EncodedResult:
    """The tool promised structured content and returned a `ToolResult` without."""
    _log.error(
        "tool %s returned a ToolResult without structured=, which its output schema promises; "
        "pass structured=None for null, or is_error=True for a failure",
        tool,
    )
    return _failure(_UNUSABLE)


def message_in(error: BaseException) -> str | None:
    """Return what the tool itself says by an exception, or by a group of such; else `None`."""
    errors = list(_single_errors(error))
    for each in errors:
        if not isinstance(each, ToolError) or isinstance(each, RemoteToolError):
            return None
    return "\n".join(map(str, errors))


def refusal_in(error: BaseException) -> ProtocolError | None:
    """Return the error that the protocol has for what a client could not be asked, if it has."""
    for each in _single_errors(error):
        if isinstance(each, AskError) and each.refusal is not None:
            return each.refusal
    return None


def _single_errors(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception, or those that a group of them holds."""
    if isinstance(error, BaseExceptionGroup):
        for each in cast("BaseExceptionGroup[BaseException]", error).exceptions:
            yield from _single_errors(each)
    else:
        yield error


def _failure(text: str) -> EncodedResult:
    # Words from anywhere: a lone surrogate must not turn one failure into another.
    safe = text[:_LONGEST].encode(errors="backslashreplace").decode()
    return EncodedResult(content=(encode_text(safe),), is_error=True)


def _lines(problems: list[Problem]) -> str:
    shown = "; ".join(str(problem)[:300] for problem in problems[:_SHOWN])
    return shown if len(problems) <= _SHOWN else f"{shown}; and {len(problems) - _SHOWN} more"
