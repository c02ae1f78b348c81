"""The resources of an upstream, and its templates, as resources of the gateway's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from anyshape.client.resources import ListedResource, ListedTemplate
from anyshape.errors import ProtocolError, ResourceNotFound
from anyshape.gateway.naming import is_denied
from anyshape.gateway.requests import ask_upstream
from anyshape.gateway.subscriptions import UpstreamSubscriptions
from anyshape.gateway.suggestions import ForwardedCompleters
from anyshape.gateway.upstream import UpstreamLink
from anyshape.protocol.completed import Caching
from anyshape.protocol.description import ResourceDescription
from anyshape.protocol.encoding import encode_data
from anyshape.protocol.jsonrpc import INVALID_PARAMS, RESOURCE_NOT_FOUND
from anyshape.protocol.resource_contents import EncodedContents
from anyshape.protocol.uri_templates import UriTemplate
from anyshape.server.telemetry import Traced
from anyshape.tools.context import Context
from anyshape.tools.resource import Resource

_NOT_KEPT: Final = Caching(ttl_ms=0)


class ForwardedResource(Resource):
    """A resource that an upstream has, or a template of some."""

    _link: UpstreamLink

    def __init__(self, listed: ListedResource | ListedTemplate, link: UpstreamLink) -> None:
        """Take what an upstream lists; `ValueError` for a template that cannot be matched."""
        is_template = isinstance(listed, ListedTemplate)
        uri = listed.uri_template if isinstance(listed, ListedTemplate) else listed.uri
        template = UriTemplate(uri) if is_template else None
        self._set(
            function=self.read,
            timeout=None,
            _context=("context",),
            uri=uri,
            caching=_NOT_KEPT,
            template=template,
            listing=ResourceDescription(
                uri=uri,
                name=listed.name,
                is_template=is_template,
                title=listed.title,
                description=listed.description,
                mime_type=listed.mime_type,
                size=listed.size if isinstance(listed, ListedResource) else None,
                annotations=listed.annotations or None,
                meta=listed.meta or None,
                icons=listed.icons or None,
            ),
            completers=ForwardedCompleters(
                link, () if template is None else template.names, resource=uri
            ),
            _link=link,
        )

    @property
    def upstream(self) -> str:
        """The name of the upstream that has it."""
        return self._link.name

    @property
    def subscriptions(self) -> UpstreamSubscriptions:
        """Where changes to it are heard of."""
        return self._link.subscriptions

    def match(self, uri: str) -> dict[str, str] | None:
        """Return the variables of a URI of the template; none has what the operator denies."""
        return None if is_denied(self._link.upstream, uri) else super().match(uri)

    async def bind(self, variables: Mapping[str, str]) -> dict[str, Any]:
        """Return the variables; the upstream judges them."""
        return dict(variables)

    async def read(
        self, uri: str, values: dict[str, Any], context: Context | None, timeout: float | None
    ) -> list[EncodedContents]:
        """Return the contents that the upstream gives."""
        try:
            result = await ask_upstream(
                self._link,
                context,
                Traced.resource(uri),
                lambda client, meta: client.read_resource(uri, meta=meta),
            )
        except ProtocolError as error:
            if error.code in (RESOURCE_NOT_FOUND, INVALID_PARAMS):
                raise ResourceNotFound(str(error)) from None
            raise
        return [
            EncodedContents(
                uri=each.uri,
                mime_type=each.mime_type or self._kind(each.text is not None),
                data=bytes(each.blob or b"") if each.text is None else each.text,
                meta=encode_data(each.resource_meta) if each.resource_meta else None,
            )
            for each in result.contents
        ]

    def _kind(self, is_text: bool) -> str:
        return self.listing.mime_type or ("text/plain" if is_text else "application/octet-stream")
