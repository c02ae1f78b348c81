"""Suggestions for arguments of an upstream's prompts and templates, which the upstream makes."""

from __future__ import annotations

from collections.abc import Mapping

from anyshape.errors import ProtocolError, ToolError
from anyshape.gateway.refusal import UpstreamError
from anyshape.gateway.upstream import UpstreamLink
from anyshape.protocol.jsonrpc import METHOD_NOT_FOUND
from anyshape.tools.completion import Complete, Completer


def forwarded_completer(
    link: UpstreamLink, argument: str, *, prompt: str | None = None, resource: str | None = None
) -> Completer:
    """Return what asks the upstream; one that has no suggestions to make has none."""

    async def suggest(typed: str, given: Mapping[str, str]) -> list[str]:
        try:
            async with link.using() as client:
                if "completions" not in client.server.capabilities:
                    return []
                found = await client.complete(
                    argument, typed, prompt=prompt, resource=resource, context=given
                )
        except UpstreamError as error:
            raise ToolError(str(error)) from None
        except ProtocolError as error:
            if error.code != METHOD_NOT_FOUND:
                raise ToolError(str(error)) from None
            return []
        return list(found.values)

    return Complete(suggest).completer(f"upstream {link.name}")
