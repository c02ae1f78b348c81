"""A resource, or all that a URI template stands for: what is listed, and how it is read.

https://modelcontextprotocol.io/specification/2026-07-28/server/resources
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, cast, get_args, get_origin

from anyshape.errors import NotJson, ToolDefinitionError
from anyshape.protocol.completed import Caching
from anyshape.protocol.content import Annotations
from anyshape.protocol.description import ResourceDescription
from anyshape.protocol.icons import Icon
from anyshape.protocol.resource_contents import Contents, EncodedContents
from anyshape.protocol.uri_templates import UriTemplate, uri_flaw
from anyshape.schema import Limits, WouldWait, aside, leave_loop
from anyshape.tools.completion import Completer
from anyshape.tools.context import Context
from anyshape.tools.definition import docstring_of
from anyshape.tools.docstrings import read_docstring
from anyshape.tools.routine import Routine
from anyshape.tools.serialization import encode_json
from anyshape.tools.signature import Signature, read_signature
from anyshape.tools.texts import TextParameters, read_text_parameters
from anyshape.tools.words import Words

_NOT_KEPT: Final = Caching(ttl_ms=0)
_LONG: Final = 1024 * 1024
"""Bytes that are not handled while an event loop waits."""


class Resource(Routine):
    """A resource that a server can list and read, made from a function.

    With a template for a URI it stands for many, and the variables are the function's parameters.
    """

    caching: Caching
    """How long, and by whom, its contents may be kept."""
    completers: Mapping[str, Completer]
    """What completes the variables of its template, by name."""
    listing: ResourceDescription
    """Its entry in a listing, in natural form."""
    template: UriTemplate | None
    """What its URIs are matched with, if there are many."""
    uri: str
    """The URI it is read by, or the text of the template."""
    _label: str
    _lists_contents: bool
    """Whether an empty list is no contents, and not the JSON value `[]`."""
    _parameters: TextParameters

    def __init__(
        self,
        uri: str,
        function: Callable[..., Any],
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        mime_type: str | None = None,
        size: int | None = None,
        annotations: Annotations | Mapping[str, Any] | None = None,
        meta: Mapping[str, Any] | None = None,
        icons: Sequence[Icon | Mapping[str, Any]] | None = None,
        caching: Caching | None = None,
        timeout: float | None = None,
        inline: bool = False,
        limits: Limits,
    ) -> None:
        """Make a resource from a function; what is left out is derived, as for a tool."""
        signature = read_signature(function)
        label = signature.label
        template = _read_uri(uri, signature)
        documentation = read_docstring(docstring_of(function))
        words = Words(name, title, description, annotations, meta, icons)
        words = words.or_else(signature.name, documentation.description)
        words = words.checked(label, "resource")
        _check_facts(mime_type, size, template, label)
        parameters = read_text_parameters(signature, documentation, limits)
        self._set_up(label, function, signature, timeout=timeout, inline=inline)
        self._set(
            uri=uri,
            caching=caching or _NOT_KEPT,
            template=template,
            listing=ResourceDescription(
                uri=uri,
                name=cast("str", words.name),
                is_template=template is not None,
                title=words.title,
                description=words.description,
                mime_type=mime_type,
                size=size,
                annotations=words.annotations,
                meta=words.meta,
                icons=words.icons,
            ),
            _label=f"resource {words.name}",
            _lists_contents=_lists_contents(signature.returns),
            completers=parameters.completers,
            _parameters=parameters,
        )

    def match(self, uri: str) -> dict[str, str] | None:
        """Return the variables of a URI that its template stands for, `None` for any other."""
        return None if self.template is None else self.template.match(uri)

    async def bind(self, variables: Mapping[str, str]) -> dict[str, Any]:
        """Return the values of the parameters; raises `ArgumentsError` for what does not fit."""
        return await self._parameters.read(variables)

    async def read(
        self, uri: str, values: dict[str, Any], context: Context | None, timeout: float | None
    ) -> list[EncodedContents]:
        """Return the contents; raises `RoutineError` or `ResourceNotFound` if there are none."""
        returned = await self.run(self._label, values, context, timeout)
        try:
            try:
                return self._contents_in(returned, uri)
            except WouldWait:
                return await aside(self._contents_in, returned, uri)
        except NotJson as error:
            raise self.unusable(self._label, str(error)) from error

    def _contents_in(self, returned: Any, uri: str) -> list[EncodedContents]:
        if isinstance(returned, list | tuple):
            several = cast("Sequence[Any]", returned)
            if any(isinstance(each, Contents) for each in several) or (
                not several and self._lists_contents
            ):
                return [self._encoded(each, uri) for each in several]
        return [self._encoded(returned, uri)]

    def _encoded(self, value: Any, uri: str) -> EncodedContents:
        given = value if isinstance(value, Contents) else Contents(value)
        data: Any = given.data
        if isinstance(data, str):
            kind = "text/plain"
            try:
                data.encode()
            except UnicodeEncodeError:
                raise NotJson("it holds half of a surrogate pair, which is no text") from None
        elif isinstance(data, bytes | bytearray | memoryview):
            kind = "application/octet-stream"
            data = bytes(cast("bytes", data))
            if len(data) > _LONG:
                leave_loop()
        else:
            kind = "application/json"
            data = encode_json(data).decode()
        return EncodedContents(
            uri=given.uri or uri,
            mime_type=given.mime_type or self.listing.mime_type or kind,
            data=data,
            meta=None if given.meta is None else encode_json(given.meta),
        )

    def __repr__(self) -> str:
        return f"<Resource {self.uri}>"


def _lists_contents(returns: Any) -> bool:
    """Tell whether a return annotation is that of a list of `Contents`, alone or among others."""
    kind: Any = get_origin(returns)
    members = get_args(returns)
    return (
        isinstance(kind, type)
        and issubclass(kind, Sequence)
        and any(each is Contents or Contents in get_args(each) for each in members)
    )


def _read_uri(uri: object, signature: Signature) -> UriTemplate | None:
    """Return the template that a URI is, `None` for a plain one; refuse what does not fit."""
    label = signature.label
    if not isinstance(uri, str):
        raise ToolDefinitionError(f"{label}: uri has to be a string, got {type(uri).__name__}")
    taken = [parameter.name for parameter in signature.parameters]
    if "{" not in uri:
        flaw = uri_flaw(uri)
        if flaw is not None:
            raise ToolDefinitionError(f"{label}: the uri cannot be used: {flaw}")
        if taken:
            raise ToolDefinitionError(
                f"{label}: parameter '{taken[0]}' is no variable of {uri!r:.80}, which has none; "
                f"write '{{{taken[0]}}}' into it"
            )
        return None
    try:
        template = UriTemplate(uri)
    except ValueError as error:
        raise ToolDefinitionError(f"{label}: {uri!r:.80} cannot be matched: {error}") from None
    for name in template.names:
        if name not in taken:
            raise ToolDefinitionError(
                f"{label}: variable '{{{name}}}' of {uri!r:.80} is no parameter; add '{name}: str'"
            )
    for parameter in signature.parameters:
        if parameter.name not in template.names:
            raise ToolDefinitionError(
                f"{label}: parameter '{parameter.name}' is no variable of {uri!r:.80}; write "
                f"'{{{parameter.name}}}' into it, or bind the parameter with functools.partial"
            )
    return template


def _check_facts(mime_type: object, size: object, template: UriTemplate | None, label: str) -> None:
    if mime_type is not None and not (
        isinstance(mime_type, str) and "/" in mime_type and mime_type.isprintable()
    ):
        raise ToolDefinitionError(
            f"{label}: mime_type has to be a media type, as in 'text/plain', got {mime_type!r:.40}"
        )
    if size is None:
        return
    if template is not None:
        raise ToolDefinitionError(f"{label}: the resources of a template have no one size=")
    if type(size) is not int or size < 0:
        raise ToolDefinitionError(f"{label}: size has to be a number of bytes, got {size!r:.40}")
