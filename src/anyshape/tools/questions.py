"""The part of a `Context` that asks the client: its user, its model, its roots.

Nothing that it needs for that is imported before something is asked.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypeVar, cast, overload

from anyshape.errors import AskError

if TYPE_CHECKING:
    from anyshape.protocol.roots import Root
    from anyshape.protocol.sampling import Sampled, SampleMessages
    from anyshape.tools.asking import Asker
    from anyshape.tools.deadline import Deadline, Interruptible
    from anyshape.tools.outcomes import Elicited
    from anyshape.tools.tool import Tool

FindAsker: TypeAlias = "Callable[[Interruptible], Asker]"
"""Gives what asks the client of a call, whose time stands while the client is waited for."""

Wanted = TypeVar("Wanted")
_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


class Unanswered(BaseException):
    """A question has no answer yet: the call ends, and is made again with the answer."""


class AsksClient:
    """Asks the client that sent a request, in the way of its revision.

    At 2026-07-28 the function runs again from its start when the answers have come; those that it
    has got before are given at once. `key` names a question among those of the function; without
    it, questions are told apart by their order.
    """

    __slots__ = ()

    if TYPE_CHECKING:
        _asker: Asker | None
        _find_asker: FindAsker | None
        _loop: asyncio.AbstractEventLoop | None
        _thread: int
        deadline: Deadline | None

    @property
    def capabilities(self) -> Mapping[str, Any]:
        """What the client can be asked for, as it has declared it: `"sampling" in …`."""
        return _NOTHING if self._find_asker is None else self._found_asker().capabilities

    @overload
    def elicit(
        self, message: str, schema: None = None, *, key: str | None = None
    ) -> Coroutine[Any, Any, Elicited[None]]: ...

    @overload
    def elicit(
        self, message: str, schema: type[Wanted], *, key: str | None = None
    ) -> Coroutine[Any, Any, Elicited[Wanted]]: ...

    @overload
    def elicit(
        self, message: str, schema: Mapping[str, Any], *, key: str | None = None
    ) -> Coroutine[Any, Any, Elicited[dict[str, Any]]]: ...

    @overload
    def elicit(
        self, message: str, schema: object, *, key: str | None = None
    ) -> Coroutine[Any, Any, Elicited[Any]]: ...

    def elicit(
        self, message: str, schema: object = None, *, key: str | None = None
    ) -> Coroutine[Any, Any, Elicited[Any]]:
        """Ask the user to fill in a form, and return `Accepted`, `Declined` or `Cancelled`.

        `schema` is a flat type (a model, dataclass, TypedDict or struct; or one value, such as
        `bool` or a `Literal`), a JSON Schema, or `None` where the user has only to agree. Never ask
        for a secret in this way: `elicit_url` is for that.
        """
        from anyshape.tools.asking import elicit
        from anyshape.tools.forms import form_of

        name = getattr(schema, "__name__", None) or str(schema)[:60]
        form = form_of(schema, f"elicit({name})")
        return elicit(self.ready_asker(), message, form, key)

    def elicit_url(
        self, message: str, url: str, *, id: str | None = None, key: str | None = None
    ) -> Coroutine[Any, Any, Elicited[None]]:
        """Ask the user to visit an address, for what the client must not see.

        `Accepted` says that the user agreed to go there, not that anything was done there. `id` is
        what clients up to 2025-11-25 know the visit by.
        """
        from anyshape.tools.asking import elicit_visit

        return elicit_visit(self.ready_asker(), message, url, id, key)

    def sample(
        self,
        messages: SampleMessages,
        *,
        max_tokens: int = 1_000,
        system_prompt: str | None = None,
        temperature: float | None = None,
        stop_sequences: Sequence[str] = (),
        tools: Sequence[Tool | Mapping[str, Any]] = (),
        tool_choice: Literal["auto", "required", "none"] | None = None,
        preferences: Mapping[str, Any] | None = None,
        meta: Mapping[str, Any] | None = None,
        key: str | None = None,
    ) -> Coroutine[Any, Any, Sampled]:
        """Ask the client's model, and return what it says.

        With `tools`, where the client can, the model may answer with `tool_uses`: it is for you to
        run them, and to ask again with their results.
        """
        from anyshape.protocol.sampling import SampleRequest
        from anyshape.tools.asking import sample

        listed = [tool if isinstance(tool, Mapping) else tool.listing for tool in tools]
        asked = SampleRequest(
            messages=messages,
            max_tokens=max_tokens,
            system_prompt=system_prompt,
            temperature=temperature,
            stop_sequences=stop_sequences,
            tools=cast("Any", listed),
            tool_choice=tool_choice,
            preferences=preferences,
            meta=meta,
        )
        return sample(self.ready_asker(), asked, key)

    def roots(self, *, key: str | None = None) -> Coroutine[Any, Any, list[Root]]:
        """Return the directories and files that the client works on."""
        from anyshape.tools.asking import list_roots

        return list_roots(self.ready_asker(), key)

    def ready_asker(self) -> Asker:
        """Return what asks the client, where a function may."""
        if self._loop is not None and threading.get_ident() != self._thread:
            raise RuntimeError(
                "only an async function can ask the client; make this one async, or take a "
                "parameter that is asked for: Annotated[…, Ask('…')]"
            )
        return self._found_asker()

    def _found_asker(self) -> Asker:
        if self._asker is None:
            if self._find_asker is None:
                raise AskError(
                    "there is no client to ask: only tools, prompts and resources of a server ask"
                )
            self._asker = self._find_asker(self)
        return self._asker
