"""The headers of one HTTP request, and whether they agree with its body.

See "Request Metadata" and "Server Validation" in the Streamable HTTP page of revision 2026-07-28.
Only modern requests have headers to agree with; older ones are read for their revision alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from anyshape.protocol.headers import (
    METHOD_HEADER,
    NAME_HEADER,
    VERSION_HEADER,
    HeaderPlan,
    decode_header_value,
)
from anyshape.protocol.revision import Revision
from anyshape.server.failures import header_mismatch

__all__ = ["Acceptance", "RequestHeaders"]

_VERSION: Final = VERSION_HEADER.encode()
_METHOD: Final = METHOD_HEADER.encode()
_NAME: Final = NAME_HEADER.encode()
_MIRRORED: Final = (b"mcp-",)
_SHOWN: Final = 80
_REMEMBERED: Final = 512

_decode_object = msgspec.json.Decoder(dict[str, Any]).decode


class RequestHeaders:
    """Header values by lower-case name."""

    __slots__ = ("_repeated", "values")

    def __init__(self, headers: Iterable[tuple[bytes, bytes]]) -> None:
        pairs = headers if isinstance(headers, list) else list(headers)
        self.values: dict[bytes, bytes] = dict(pairs)
        self._repeated = len(self.values) != len(pairs) and _repeated(pairs)

    @property
    def version(self) -> str | None:
        """The revision named in `MCP-Protocol-Version`, if it names one."""
        value = self.values.get(_VERSION)
        return None if value is None else value.decode("latin-1").strip()

    @property
    def revision(self) -> Revision | None:
        """The revision that `MCP-Protocol-Version` stands for, if it is one we speak."""
        version = self.version
        return None if version is None else Revision.parse(version)

    def check_version(self, version: str) -> None:
        """Raise unless `MCP-Protocol-Version` is what the body's `_meta` says."""
        stated = self.version
        if stated is None:
            raise header_mismatch("MCP-Protocol-Version is missing")
        if stated != version:
            raise header_mismatch(
                f"MCP-Protocol-Version is {stated[:_SHOWN]!r}, but _meta says {version[:_SHOWN]!r}"
            )

    def check(self, method: str, name: str | None) -> None:
        """Raise unless `Mcp-Method`, and `Mcp-Name` where there is a name, repeat the body."""
        if self._repeated:
            raise header_mismatch("an Mcp-* header is there more than once")
        stated = self.values.get(_METHOD)
        if stated is None:
            raise header_mismatch("Mcp-Method is missing")
        if stated != method.encode() and _text(stated) != method:
            raise header_mismatch(
                f"Mcp-Method is {_text(stated)[:_SHOWN]!r}, but the body says {method[:_SHOWN]!r}"
            )
        if name is None:
            return
        stated = self.values.get(_NAME)
        if stated is None:
            raise header_mismatch("Mcp-Name is missing")
        if stated != name.encode() and _decoded(stated) != name:
            raise header_mismatch(
                f"Mcp-Name is {_text(stated)[:_SHOWN]!r}, but the body says {name[:_SHOWN]!r}"
            )

    def check_arguments(self, plan: HeaderPlan, arguments: bytes | None) -> None:
        """Raise unless the `Mcp-Param-*` headers repeat the arguments they are planned for."""
        values: Mapping[str, Any] = {} if arguments is None else _decode_object(arguments)
        flaw = plan.flaw(values, _Texts(self.values))
        if flaw is not None:
            raise header_mismatch(flaw)


class _Texts(Mapping[str, str]):
    """Headers as text, converted when looked at."""

    __slots__ = ("_values",)

    def __init__(self, values: dict[bytes, bytes]) -> None:
        self._values = values

    def __getitem__(self, name: str) -> str:
        return _text(self._values[name.encode("latin-1")])

    def __iter__(self) -> Any:
        return (name.decode("latin-1") for name in self._values)

    def __len__(self) -> int:
        return len(self._values)


def _text(value: bytes) -> str:
    return value.decode("latin-1").strip(" \t")


def _decoded(value: bytes) -> str | None:
    try:
        return decode_header_value(_text(value))
    except ValueError:
        return None


def _repeated(pairs: list[tuple[bytes, bytes]]) -> bool:
    names = [name for name, _ in pairs if name.startswith(_MIRRORED)]
    return len(names) != len(set(names))


class Acceptance:
    """What the `Accept` and `Content-Type` of requests allow, remembered by their text."""

    def __init__(self) -> None:
        self._accepted: dict[bytes | None, tuple[bool, bool]] = {None: (True, True)}
        self._json: dict[bytes | None, bool] = {b"application/json": True, None: False}

    def accepted(self, header: bytes | None) -> tuple[bool, bool]:
        """Return whether the client takes a JSON answer, and whether it takes a stream."""
        known = self._accepted.get(header)
        if known is None:
            known = _read_accept(b"" if header is None else header)
            if len(self._accepted) < _REMEMBERED:
                self._accepted[header] = known
        return known

    def is_json(self, header: bytes | None) -> bool:
        """Return whether a `Content-Type` is JSON.

        Nothing else will do: a web page may send most other types across origins unasked.
        """
        known = self._json.get(header)
        if known is None:
            kind = b"" if header is None else header.partition(b";")[0].strip().lower()
            known = kind == b"application/json"
            if len(self._json) < _REMEMBERED:
                self._json[header] = known
        return known


def _read_accept(header: bytes) -> tuple[bool, bool]:
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
