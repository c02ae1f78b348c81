"""Suggestions for arguments of an upstream's prompts and templates, which the upstream makes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from anyshape.errors import ProtocolError, ToolError
from anyshape.gateway.refusal import UpstreamError
from anyshape.gateway.upstream import UpstreamLink
from anyshape.protocol.jsonrpc import METHOD_NOT_FOUND
from anyshape.tools.completion import Complete, Completer


class ForwardedCompleters(Mapping[str, Completer]):
    """What completes each argument of a prompt or a template, made when it is asked for.

    Making one reads the signature of a function, and an upstream may list 100,000 arguments.
    """

    __slots__ = ("_arguments", "_link", "_prompt", "_resource")

    def __init__(
        self,
        link: UpstreamLink,
        arguments: Collection[str],
        *,
        prompt: str | None = None,
        resource: str | None = None,
    ) -> None:
        self._link = link
        self._arguments = arguments
        self._prompt = prompt
        self._resource = resource

    def __getitem__(self, argument: str) -> Completer:
        if argument not in self._arguments:
            raise KeyError(argument)

        async def suggest(typed: str, given: Mapping[str, str]) -> list[str]:
            return await self._suggest(argument, typed, given)

        return Complete(suggest).completer(f"upstream {self._link.name}")

    def __contains__(self, argument: object) -> bool:
        return argument in self._arguments

    def __iter__(self) -> Iterator[str]:
        return iter(self._arguments)

    def __len__(self) -> int:
        return len(self._arguments)

    async def _suggest(self, argument: str, typed: str, given: Mapping[str, str]) -> list[str]:
        """Ask the upstream; one that has no suggestions to make has none."""
        try:
            async with self._link.using() as client:
                if "completions" not in client.server.capabilities:
                    return []
                found = await client.complete(
                    argument, typed, prompt=self._prompt, resource=self._resource, context=given
                )
        except UpstreamError as error:
            raise ToolError(str(error)) from None
        except ProtocolError as error:
            if error.code != METHOD_NOT_FOUND:
                raise ToolError(str(error)) from None
            return []
        return list(found.values)
