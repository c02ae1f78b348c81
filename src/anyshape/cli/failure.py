"""How a command ends: its exit code, and the one line and the hint that say why."""

from __future__ import annotations

import enum
from collections.abc import Sequence

from anyshape.errors import (
    AnyshapeError,
    AuthorizationError,
    ConfigError,
    LimitExceeded,
    OutputMismatch,
    PinError,
    ProtocolError,
    SchemaError,
    ToolDefinitionError,
    TransportError,
    ValidationError,
)


class Exit(enum.IntEnum):
    """The exit codes of every command."""

    OK = 0
    NO = 1
    """The answer is no: a tool failed, a schema is refused."""
    USAGE = 2
    """The command line makes no sense."""
    UNKNOWN = 3
    """It could not be found out: nobody there, no answer, a budget ran out."""
    INTERRUPTED = 130
    BROKEN_PIPE = 141


class CommandError(Exception):
    """The end of a command; `details` are further lines, `hint` is what to do about it."""

    def __init__(
        self,
        message: str,
        *,
        hint: str,
        code: Exit = Exit.UNKNOWN,
        details: Sequence[str] = (),
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.code = code
        self.details = details


class UsageError(CommandError):
    """The end of a command line that makes no sense."""

    def __init__(self, message: str, *, hint: str) -> None:
        super().__init__(message, hint=hint, code=Exit.USAGE)


def advise_on_silence(*, is_command: bool) -> str:
    """Return what to do about a server that is not there, or that gives no answer."""
    if is_command:
        return "run what stands behind -- by itself, to see all that it says"
    return "is the server running? `anyshape demo` starts one to try things on"


def explain(error: AnyshapeError, *, is_command: bool = False) -> CommandError:
    """Return what an error of ours means to whoever typed the command.

    `is_command` says that the server is a command behind `--`.
    """
    from anyshape.protocol.jsonrpc import INVALID_PARAMS, RESOURCE_NOT_FOUND

    code = Exit.UNKNOWN
    match error:
        case ValidationError():
            return CommandError(
                "the arguments break the tool's inputSchema",
                details=str(error).splitlines(),
                hint="`anyshape tools TARGET TOOL --schema` shows what the tool takes",
                code=Exit.NO,
            )
        case OutputMismatch():
            hint = "the server is at fault: what it published is not what it sent"
            code = Exit.NO
        case SchemaError() | ToolDefinitionError():
            hint = "`anyshape check` says everything that is wrong with a schema"
            code = Exit.NO
        case ConfigError():
            hint = "correct the file; `anyshape check FILE` tries it without serving"
        case PinError():
            hint = "take the file from version control, or pin again without it"
        case LimitExceeded():
            hint = "a budget ran out first, so the answer is not known"
        case AuthorizationError():
            hint = "`anyshape logout URL` forgets the token; --login signs in anew"
        case TransportError() if getattr(error, "status", None) == 401:
            hint = '--login signs in with a browser; -H "Authorization: Bearer …" brings a token'
        case TransportError():
            hint = advise_on_silence(is_command=is_command)
        case ProtocolError() if error.code in (INVALID_PARAMS, RESOURCE_NOT_FOUND):
            hint = (
                "`anyshape resources`, `prompts` and `tools` list what there is, and what it takes"
            )
            code = Exit.NO
        case ProtocolError():
            hint = (
                "the server answered with an error of its own, or with something that is no answer"
            )
        case _:
            hint = "`anyshape --help` shows what can be asked"
    return CommandError(str(error), hint=hint, code=code)
