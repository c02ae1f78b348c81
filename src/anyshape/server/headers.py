"""The headers of one HTTP request, and whether they agree with its body.

See "Request Metadata" and "Server Validation" in the Streamable HTTP page of revision 2026-07-28.
Only modern requests have headers to agree with; older ones are read for their revision alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from anyshape.decoding import decoder
from anyshape.protocol.headers import (
    METHOD_HEADER,
    NAME_HEADER,
    VERSION_HEADER,
    HeaderPlan,
    decode_header_value,
)
from anyshape.protocol.revision import Revision
from anyshape.server.failures import header_mismatch

_VERSION: Final = VERSION_HEADER.lower().encode()
_METHOD: Final = METHOD_HEADER.lower().encode()
_NAME: Final = NAME_HEADER.lower().encode()
_SHOWN: Final = 80

_decode_object = decoder(dict[str, Any])


def _text(value: bytes) -> str:
    return value.decode("latin-1").strip(" \t")


def _decoded(value: bytes) -> str | None:
    try:
        return decode_header_value(_text(value))
    except ValueError:
        return None


class RequestHeaders(dict[bytes, bytes]):
    """Header values by lower-case name, as ASGI has them; those of a repeated one are joined.

    Whoever stands before us may have read another of them, so a name, a host or an origin that is
    there twice must not count as either: joined, it is none that anybody allows.
    """

    __slots__ = ()

    @classmethod
    def joined(cls, pairs: Iterable[tuple[bytes, bytes]]) -> RequestHeaders:
        """Return headers of which some may be there more than once."""
        headers = cls()
        for name, value in pairs:
            headers[name] = headers[name] + b", " + value if name in headers else value
        return headers

    @property
    def version(self) -> str | None:
        """What `MCP-Protocol-Version` says, if it is there."""
        value = self.get(_VERSION)
        return None if value is None else _text(value)

    @property
    def revision(self) -> Revision | None:
        """The revision that `MCP-Protocol-Version` stands for, if it is one we speak."""
        version = self.version
        return None if version is None else Revision.parse(version)

    def repeat(self, version: str, method: str, name: str | None) -> bool:
        """Tell whether the headers plainly say what the body says; most do.

        Where they do not, `check_version` and `check` find out whether they are only written
        differently, and if not, what is wrong.
        """
        return (
            self.get(_VERSION) == version.encode()
            and self.get(_METHOD) == method.encode()
            and (name is None or self.get(_NAME) == name.encode())
        )

    def check_version(self, version: str) -> None:
        """Raise unless `MCP-Protocol-Version` is what the body's `_meta` says."""
        self._demand(_VERSION, VERSION_HEADER, version, "_meta")

    def check(self, method: str, name: str | None, *, may_omit: bool = False) -> None:
        """Raise unless `Mcp-Method`, and `Mcp-Name` where there is a name, repeat the body.

        With `may_omit` the latter may be missing, but not say anything else.
        """
        self._demand(_METHOD, METHOD_HEADER, method, "the body")
        if name is not None and not (may_omit and _NAME not in self):
            self._demand(_NAME, NAME_HEADER, name, "the body", _decoded)

    def _demand(
        self,
        header: bytes,
        shown: str,
        wanted: str,
        place: str,
        read: Callable[[bytes], str | None] = _text,
    ) -> None:
        """Raise unless a header, `shown` by that name, is there and says what `place` says."""
        stated = self.get(header)
        if stated is None:
            raise header_mismatch(f"{shown} is missing")
        if stated != wanted.encode() and read(stated) != wanted:
            raise header_mismatch(
                f"{shown} is {_text(stated)[:_SHOWN]!r}, but {place} says {wanted[:_SHOWN]!r}"
            )

    def check_arguments(self, plan: HeaderPlan, arguments: bytes | None) -> None:
        """Raise unless the `Mcp-Param-*` headers repeat the arguments they are planned for."""
        values: Mapping[str, Any] = {} if arguments is None else _decode_object(arguments)
        found = ((each.header, self.get(each.header.encode())) for each in plan)
        flaw = plan.flaw(values, {name: _text(value) for name, value in found if value is not None})
        if flaw is not None:
            raise header_mismatch(flaw)


def is_json(content_type: bytes | None) -> bool:
    """Return whether a `Content-Type` is JSON.

    Nothing else will do: a web page may send most other types across origins unasked.
    """
    if content_type is None:
        return False
    return content_type.partition(b";")[0].strip().lower() == b"application/json"


def read_accept(header: bytes | None) -> tuple[bool, bool]:
    """Return whether a client takes a JSON answer, and whether it takes a stream."""
    if header is None:
        return True, True
    json = stream = False
    for part in header.lower().split(b","):
        kind, *parameters = (piece.strip() for piece in part.split(b";"))
        if any(_is_zero_quality(parameter) for parameter in parameters):
            continue
        if kind in (b"*/*", b""):
            json = stream = True
        json = json or kind in (b"application/json", b"application/*")
        stream = stream or kind in (b"text/event-stream", b"text/*")
    return json, stream


def _is_zero_quality(parameter: bytes) -> bool:
    name, _, value = parameter.partition(b"=")
    return name.strip() == b"q" and value.strip().strip(b"0") in (b"", b".")
