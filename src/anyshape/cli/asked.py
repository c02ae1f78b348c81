"""What every command that talks to a server is asked: which server, how it is reached, as what.

The words and options are the same for all of them, so a command takes one `Asked` in their place,
and `about_server` tells the program's parser about them. Its own options come after.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import typer

from anyshape.cli import options
from anyshape.cli.failure import UsageError
from anyshape.cli.target import NamedTarget, parse_revision, split_target, take_target
from anyshape.cli.usage import TargetWords

if TYPE_CHECKING:
    from anyshape.protocol.revision import Revision

_PATIENCE: Final = 60.0
_Command: TypeAlias = Callable[..., int]


@dataclass(frozen=True, slots=True)
class Asked:
    """Which server a command is about, the words that follow it, and what the options say."""

    first: str | Sequence[str]
    rest: list[str]
    headers: Sequence[str] | None
    login: bool
    timeout: float
    written_revision: str
    json: bool

    @property
    def revision(self) -> Revision | None:
        """The revision to be a client of; `None` for the newest that both know."""
        return parse_revision(self.written_revision)

    def target(self, written: str | Sequence[str] | None = None) -> NamedTarget:
        """Return the server that was named, or another one that is reached in the same way."""
        return take_target(
            self.first if written is None else written,
            self.headers,
            self.timeout,
            login=self.login,
        )

    def expect_no_more(self, hint: str) -> None:
        """Refuse words after the target; the hint says what they may have been meant for."""
        if self.rest:
            raise UsageError(f"{self.rest[0]!r} is one too many", hint=hint)


def _options(
    revision: options.RevisionOption = "auto",
    headers: options.HeadersOption = None,
    login: options.LoginOption = False,
    timeout: options.TimeoutOption = _PATIENCE,
    json: options.JsonOption = False,
) -> None:
    """Hold the options of all commands, in the order in which help shows them."""


def _words(
    context: typer.Context,
    words: TargetWords = None,
) -> None:
    """Hold the words of a command, likewise."""


def about_server(
    *, without: Sequence[str] = ()
) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Give a command, whose first parameter is an `Asked`, the words and options of all of them.

    without: options that mean nothing to it.
    """

    def decorate(command: _Command) -> _Command:
        own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]
        common = [each for each in _parameters(_options) if each.name not in without]

        @wraps(command)
        def run(context: typer.Context, words: list[str] | None, **given: Any) -> int:
            first, rest = split_target(context, words)
            said = Asked(
                first,
                rest,
                given.pop("headers", None),
                given.pop("login", False),
                given.pop("timeout", _PATIENCE),
                given.pop("revision", "auto"),
                given.pop("json", False),
            )
            return command(said, **given)

        parameters = [*_parameters(_words), *own, *common]
        setattr(run, "__signature__", inspect.Signature(parameters))  # noqa: B010 - typer reads it
        run.__annotations__ = {each.name: each.annotation for each in parameters}
        return run

    return decorate


def _parameters(holder: Callable[..., None]) -> list[inspect.Parameter]:
    return list(inspect.signature(holder, eval_str=True).parameters.values())
