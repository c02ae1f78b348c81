"""Every exception Anyshape raises, and `Problem`, the data a failure is made of.

Catching `AnyshapeError` is enough to catch them all:

    AnyshapeError
    ├── SchemaError                 a schema document cannot be used
    │   ├── InvalidSchema           it breaks its metaschema, or refers to itself in place
    │   ├── UnresolvableReference   it refers to something it does not contain
    │   ├── CannotLower             a provider has no form for it that would be right
    │   └── UnsupportedDialect      its `$schema` names a dialect we do not speak
    ├── ValidationError             a value breaks its schema
    │   └── NotJson                 the value is not JSON at all
    ├── LimitExceeded               neither valid nor invalid: a budget ran out first
    ├── ToolDefinitionError         a tool, prompt or resource cannot be made from what was written
    ├── ToolError                   a tool failed, with a message its caller may read
    │   ├── AskError                the client could not be asked, or its answer is of no use
    │   └── RemoteToolError         it was another server's tool, and the words are not ours
    ├── ResourceNotFound            a resource function says that there is no such resource
    ├── ConfigError                 the file of a gateway cannot be used
    ├── PinError                    a file of pins cannot be used
    ├── OutputMismatch              a server's answer breaks the schema it published
    ├── ProtocolError               a peer answered with, or deserves, a JSON-RPC error
    │   └── RateLimited             a server was asked too often
    ├── VerifierUnavailable         access tokens cannot be checked at the moment
    └── TransportError              bytes could not be moved: refused, broken, silent, too many
        └── AuthorizationError      a client could not get the access that a server asks for
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = [
    "AnyshapeError",
    "AskError",
    "AuthorizationError",
    "CannotLower",
    "ConfigError",
    "InvalidSchema",
    "LimitExceeded",
    "NotJson",
    "OutputMismatch",
    "PinError",
    "Problem",
    "ProtocolError",
    "RateLimited",
    "RemoteToolError",
    "ResourceNotFound",
    "SchemaError",
    "ToolDefinitionError",
    "ToolError",
    "TransportError",
    "UnresolvableReference",
    "UnsupportedDialect",
    "ValidationError",
    "VerifierUnavailable",
]


@dataclass(frozen=True, slots=True)
class Problem:
    """One way in which a value breaks a schema.

    `path` points into the value and `schema_path` into the document, both as JSON Pointers;
    `causes` are the problems of the alternative that came closest, where there were alternatives.
    """

    keyword: str
    path: str
    message: str
    schema_path: str = ""
    causes: tuple[Problem, ...] = ()

    def __str__(self) -> str:
        """Return the line a person or a model reads: where, then what.

        Property names are a stranger's text: they are kept to one line, and long paths shortened.
        """
        return f"{_one_line(self.path)}: {self.message}" if self.path else self.message


def _one_line(path: str) -> str:
    return _shorten(_printable(_shorten(path)))


def _printable(text: str) -> str:
    """Return a text, which may quote a stranger, as one line that steers no terminal."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else f"\\u{{{ord(character):x}}}" for character in text
    )


def _shorten(path: str, width: int = 200) -> str:
    return path if len(path) <= width else f"{path[: width // 2]}…{path[-width // 2 :]}"


class AnyshapeError(Exception):
    """The root of everything Anyshape raises."""


class SchemaError(AnyshapeError):
    """A schema document cannot be used; `path` points at the place in it.

    The message is one line, whatever the names in the document are.
    """

    def __init__(self, message: str, *, path: str = "") -> None:
        message = _printable(message)
        super().__init__(message)
        self.message = message
        self.path = path


class InvalidSchema(SchemaError):
    """The document is not a valid schema of its dialect."""


class UnresolvableReference(SchemaError):
    """A reference leaves what the document and its operator supplied; `uri` is its target."""

    def __init__(self, message: str, *, uri: str, path: str = "") -> None:
        super().__init__(message, path=path)
        self.uri = uri


class CannotLower(SchemaError):
    """No schema that the provider accepts admits what this one admits; the message says why."""


class UnsupportedDialect(SchemaError):
    """`$schema` names `dialect`, which is none of `supported`."""

    def __init__(
        self, message: str, *, dialect: object, supported: tuple[str, ...], path: str = "/$schema"
    ) -> None:
        super().__init__(message, path=path)
        self.dialect = dialect
        self.supported = supported


class ValidationError(AnyshapeError):
    """A value breaks its schema; `problems` say how, one entry each."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = list(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class NotJson(ValidationError):
    """A value is not JSON (NaN, a cycle, a key that is no string, …), so no schema can judge it."""

    def __init__(self, message: str, *, path: str = "") -> None:
        super().__init__([Problem("", path, message)])
        self.path = path


class LimitExceeded(AnyshapeError):
    """A budget ran out: `found` is more than `allowed` for the limit named `limit`, at `path`."""

    def __init__(
        self, message: str, *, limit: str, allowed: float, found: int | None = None, path: str = ""
    ) -> None:
        message = _printable(message)
        super().__init__(message)
        self.message = message
        self.limit = limit
        self.allowed = allowed
        self.found = found
        self.path = path


class ToolDefinitionError(AnyshapeError):
    """A tool, a prompt or a resource cannot be made from what its author wrote.

    The message names the place and the fix.
    """


class ToolError(AnyshapeError):
    """Raised by a tool to tell its caller what went wrong; raised by `Client.call` for the same.

    A prompt or a resource that raises it has its message read, too.
    """


class AskError(ToolError):
    """The client could not be asked, or what it answered is of no use; a tool may catch it.

    A tool that lets it pass has failed with its message, or with `refusal` where the revision has
    an error of its own for that.
    """

    def __init__(self, message: str, *, refusal: ProtocolError | None = None) -> None:
        super().__init__(message)
        self.refusal = refusal


class RemoteToolError(ToolError):
    """What `Client.call` raises when the tool it called failed; the message is what that tool said.

    A tool that calls others and lets this pass does not hand a stranger's words to its caller: it
    has crashed, and the log says how. `raise ToolError(str(error)) from error` hands them on.
    """


class ResourceNotFound(AnyshapeError):
    """Raised by a resource of a template to say that there is none with such variables."""


class ConfigError(AnyshapeError):
    """The file of a gateway cannot be used; the message names file, line and key."""


class PinError(AnyshapeError):
    """A file of pins cannot be read or written, or does not say what its digests say."""


class OutputMismatch(AnyshapeError):
    """A tool's answer breaks the schema its server published, or the type the caller asked for."""

    def __init__(self, message: str, *, problems: Iterable[Problem] = ()) -> None:
        super().__init__(message)
        self.problems = list(problems)


class ProtocolError(AnyshapeError):
    """A JSON-RPC error: `code`, `message` and `data` as they stand on the wire."""

    def __init__(self, message: str, *, code: int = -32603, data: object = None) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.data = data


class RateLimited(ProtocolError):
    """Raised by a middleware: the caller may ask again in `retry_after` seconds, not before.

    Over HTTP that is status 429, elsewhere a failed call in words for the model.
    """

    def __init__(self, message: str, retry_after: float) -> None:
        seconds = max(1, math.ceil(retry_after))
        advice = "1 second" if seconds == 1 else f"{seconds} seconds"
        super().__init__(
            f"{message}; try again in {advice}", code=429, data={"retryAfter": seconds}
        )
        self.retry_after = seconds


class VerifierUnavailable(AnyshapeError):
    """What access tokens are checked with cannot be had at the moment; no request is let in.

    A verifier raises it where it can say neither yes nor no; the caller is told to come back.
    """


class TransportError(AnyshapeError):
    """A connection failed: refused, broken off, timed out, or sent more than was allowed."""


class AuthorizationError(TransportError):
    """A client could not get the access that a server asks for; `error` is OAuth's word for why."""

    def __init__(self, message: str, *, error: str | None = None) -> None:
        super().__init__(message)
        self.error = error
