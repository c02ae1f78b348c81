"""What a feature of a server is: methods, a capability, and changes that it tells of.

A server knows its features by what is here alone. A new one is a module that derives from
`Feature`; whoever first offers something of its kind has `Service.feature` take it on.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import ChainMap
from collections.abc import Callable, Coroutine, Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, TypeAlias, cast

import msgspec

from anyshape.decoding import decoder
from anyshape.server.failures import invalid_params, unreadable
from anyshape.server.features.announcements import Topic

if TYPE_CHECKING:
    from anyshape.protocol.revision import Revision
    from anyshape.server.request import OpenRequest
    from anyshape.server.service import Service
    from anyshape.tools.completion import Completer

Handler: TypeAlias = "Callable[[Any, OpenRequest], Coroutine[Any, Any, bytes]]"
"""Answers a method: from its parameters to the JSON text of its result."""

_decode_bool: Final = msgspec.json.Decoder(bool).decode


class Method:
    """How the parameters of a method are read, and who answers it in each era.

    `named` is the parameter that the `Mcp-Name` header of a modern request repeats, if one does;
    with `may_omit_name` the header need not be there.
    """

    def __init__(
        self,
        parameters: type[Any],
        answer: Handler | None = None,
        *,
        modern: Handler | None = None,
        handshake: Handler | None = None,
        named: str | None = None,
        may_omit_name: bool = False,
    ) -> None:
        """Have `answer` serve both eras, or `modern` and `handshake` one each."""
        self._decode = _reader(parameters)
        self.modern = modern or answer
        self.handshake = handshake or answer
        self.named = named
        self.may_omit_name = may_omit_name

    def read(self, raw: msgspec.Raw) -> Any:
        """Return the parameters, or raise what the peer is told."""
        try:
            return self._decode(raw)
        except (msgspec.DecodeError, RecursionError) as error:
            raise unreadable(error) from None


@cache
def _reader(kind: type[Any]) -> Callable[[msgspec.Raw], Any]:
    return decoder(kind)


class Grant(NamedTuple):
    """One member of a subscription's filter that is honoured: how it reads, and its topics."""

    member: str
    value: object
    topics: tuple[Topic, ...]


class Feature(ABC):
    """One of the things a server offers."""

    changes: ClassVar[Mapping[str, Topic]] = {}
    """The lists whose changes it announces, by the member of a subscription that asks for each.

    Peers of a handshake are told of all of them.
    """

    methods: Mapping[str, Method]
    """The requests it answers."""

    @abstractmethod
    def __init__(self, service: Service) -> None:
        """Offer nothing yet."""

    @abstractmethod
    def capabilities(self, revision: Revision, *, tells_changes: bool) -> Mapping[str, Any]:
        """Return the members that this feature adds to the server's capabilities, if any.

        `tells_changes` says whether the peer can be told of changes.
        """

    async def grants(
        self, asked: Mapping[str, msgspec.Raw], request: OpenRequest
    ) -> Iterable[Grant]:
        """Return what a subscription gets of what it asks for, as far as this feature has it."""
        return [
            Grant(member, True, (topic,))
            for member, topic in self.changes.items()
            if read_member(asked, member, _decode_bool)
        ]

    def completers(self, kind: str, name: str) -> Mapping[str, Completer | None] | None:
        """Return what completes each argument of something, `None` for what is not ours.

        `kind` is the `type` of a reference, and `name` what it names.
        """
        return None


def completers_of(
    arguments: Iterable[str], known: Mapping[str, Completer]
) -> Mapping[str, Completer | None]:
    """Return what completes each of these arguments, which may be nothing.

    `known` is asked only for the one that somebody looks up: it may have to be made for that.
    """
    made = cast("dict[str, Completer | None]", known)
    return ChainMap(made, dict.fromkeys(arguments))


def read_member(
    asked: Mapping[str, msgspec.Raw], member: str, decode: Callable[[msgspec.Raw], Any]
) -> Any:
    """Return what one member of a subscription's filter says, `None` if it is not there."""
    raw = asked.get(member)
    if raw is None:
        return None
    try:
        return decode(raw)
    except msgspec.ValidationError as error:
        flaw, _, inside = str(error).partition(" - at `$")
        place = f"$.notifications.{member}{inside.rstrip('`')}"
        raise invalid_params(f"{flaw} - at `{place}`") from None
