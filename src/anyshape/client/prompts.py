"""The prompts of a server, and what getting one gives.

https://modelcontextprotocol.io/specification/2026-07-28/server/prompts
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from anyshape.client.answers import as_list, as_object, as_string
from anyshape.client.calling import write_meta
from anyshape.client.listing import ListedFeature, common_members
from anyshape.client.messages import ReceivedMessage, read_messages
from anyshape.client.quoting import shorten, show
from anyshape.client.request import ClientRequest
from anyshape.errors import ProtocolError
from anyshape.protocol.encoding import encode_data
from anyshape.protocol.jsonrpc import INVALID_PARAMS
from anyshape.protocol.methods import PROMPTS_GET, PROMPTS_LIST


@dataclass(frozen=True, slots=True)
class PromptArgument:
    """One argument that a prompt takes; its value is a string."""

    name: str
    title: str | None = None
    description: str | None = None
    required: bool = False


@dataclass(frozen=True, slots=True)
class ListedPrompt:
    """One prompt of a server; icons whose address is not of a harmless kind are left out."""

    name: str
    title: str | None = None
    description: str | None = None
    arguments: tuple[PromptArgument, ...] = ()
    icons: Sequence[Any] = ()
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])
    entry: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)
    """The whole entry, unknown members included."""

    weight = 0


@dataclass(frozen=True, slots=True)
class PromptResult:
    """What a prompt gave: messages for a model."""

    messages: tuple[ReceivedMessage, ...]
    description: str | None = None
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])
    raw: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)
    """The result as it stands on the wire."""

    @property
    def text(self) -> str:
        """The text of all messages, each on its own line."""
        return "\n".join(message.text for message in self.messages)


def _admit_prompt(name: str, entry: Mapping[str, Any], light: bool) -> ListedPrompt:
    found: object = entry.get("arguments")
    if found is not None and not isinstance(found, list):
        raise ProtocolError("arguments: expected an array")
    arguments = tuple(_read_argument(as_object(each)) for each in as_list(entry.get("arguments")))
    names = [argument.name for argument in arguments]
    if len(set(names)) != len(names):
        raise ProtocolError("arguments: two have the same name")
    return ListedPrompt(name, arguments=arguments, **common_members(entry))


def _read_argument(found: Mapping[str, Any]) -> PromptArgument:
    name = found.get("name")
    if not isinstance(name, str) or not name:
        raise ProtocolError(f"arguments: each needs a name, got {show(name, 60)}")
    return PromptArgument(
        name,
        title=as_string(found.get("title")),
        description=as_string(found.get("description")),
        required=found.get("required") is True,
    )


PROMPTS: Final = ListedFeature(
    noun="prompt",
    capability="prompts",
    member="prompts",
    method=PROMPTS_LIST,
    bound="max_prompts",
    admit=_admit_prompt,
    is_optional=True,
)


def ask_prompt(
    name: str, arguments: Mapping[str, str] | None, meta: Mapping[str, Any] | None
) -> ClientRequest:
    """Return the request that gets a prompt; `ProtocolError` if an argument is no string."""
    given = dict(arguments or {})
    for argument, value in given.items():
        if not isinstance(value, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ProtocolError(
                f"prompt {shorten(name, 60)!r}: argument {shorten(argument, 60)!r}: "
                f"expected a string, got {type(value).__name__}",
                code=INVALID_PARAMS,
            )
    members = b'"name":%b' % encode_data(name)
    if arguments is not None:
        members += b',"arguments":%b' % encode_data(given)
    return ClientRequest(
        PROMPTS_GET, members, name, meta=write_meta(meta) if meta else b"", repeatable=True
    )


def read_prompt(name: str, result: Mapping[str, Any]) -> PromptResult:
    """Return what a prompt gave; `ProtocolError` if that is no list of messages."""
    try:
        messages = read_messages(result.get("messages"))
    except ValueError as error:
        raise ProtocolError(f"prompt {shorten(name, 60)!r}: {error}") from None
    return PromptResult(
        messages,
        description=as_string(result.get("description")),
        meta=as_object(result.get("_meta")),
        raw=result,
    )
