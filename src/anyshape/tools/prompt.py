"""A prompt: what is listed, how its arguments are read, and the messages it gives.

https://modelcontextprotocol.io/specification/2026-07-28/server/prompts
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

from anyshape.errors import NotJson
from anyshape.protocol.content import CONTENT_TYPES
from anyshape.protocol.description import ArgumentDescription, PromptDescription
from anyshape.protocol.icons import Icon
from anyshape.protocol.messages import EncodedMessage, Message, encode_messages
from anyshape.schema import Limits
from anyshape.tools.completion import Completer
from anyshape.tools.context import Context
from anyshape.tools.definition import docstring_of
from anyshape.tools.docstrings import read_docstring
from anyshape.tools.routine import Routine
from anyshape.tools.signature import read_signature
from anyshape.tools.texts import TextParameters, read_text_parameters
from anyshape.tools.words import Words


class Prompt(Routine):
    """A prompt that a server can list and get, made from a function."""

    completers: Mapping[str, Completer]
    """What completes its arguments, by name."""
    listing: PromptDescription
    """The prompt's entry in a listing, in natural form."""
    name: str
    """What the prompt is got by."""
    _label: str
    _parameters: TextParameters

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        meta: Mapping[str, Any] | None = None,
        icons: Sequence[Icon | Mapping[str, Any]] | None = None,
        timeout: float | None = None,
        inline: bool = False,
        limits: Limits,
    ) -> None:
        """Make a prompt from a function; what is left out is derived, as for a tool."""
        signature = read_signature(function)
        documentation = read_docstring(docstring_of(function))
        words = Words(name, title, description, None, meta, icons)
        words = words.or_else(signature.name, documentation.description)
        words = words.checked(signature.label, "prompt")
        parameters = read_text_parameters(signature, documentation, limits)
        self._set_up(signature.label, function, signature, timeout=timeout, inline=inline)
        self._set(
            name=words.name,
            listing=PromptDescription(
                name=cast("str", words.name),
                arguments=tuple(
                    ArgumentDescription(
                        name=argument,
                        title=schema.get("title"),
                        description=schema.get("description"),
                        required=argument in parameters.required,
                    )
                    for argument, schema in parameters.schemas.items()
                ),
                title=words.title,
                description=words.description,
                meta=words.meta,
                icons=words.icons,
            ),
            _label=f"prompt {words.name}",
            completers=parameters.completers,
            _parameters=parameters,
        )

    async def read(self, arguments: Mapping[str, str]) -> dict[str, Any]:
        """Return the values of the parameters; raises `ArgumentsError` for what does not fit."""
        return await self._parameters.read(arguments)

    async def messages(
        self, values: dict[str, Any], context: Context | None, timeout: float | None
    ) -> tuple[EncodedMessage, ...]:
        """Return the messages for such values; raises `RoutineError` if the function fails."""
        returned = await self.run(self._label, values, context, timeout)
        try:
            return encode_messages(_messages_in(returned))
        except (NotJson, TypeError) as error:
            raise self.unusable(self._label, str(error)) from error

    def __repr__(self) -> str:
        return f"<Prompt {self.name}>"


def _messages_in(value: Any) -> Iterable[Message]:
    """Return what a prompt returned as messages: strings and content blocks are the user's."""
    for item in cast("Sequence[Any]", value) if isinstance(value, list | tuple) else (value,):
        if isinstance(item, Message):
            yield item
        elif isinstance(item, (str, *CONTENT_TYPES)):
            yield Message(item)
        else:
            raise TypeError(
                f"expected a string, a Message, content, or a list of them, got "
                f"{type(cast('object', item)).__name__}"
            )
