"""Defaults that a host would fill into a form, or send, without anybody having typed them."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final
from urllib.parse import urlsplit

from anyshape.documents.json import parts
from anyshape.documents.outline import Outline
from anyshape.documents.pointers import Place, pointer
from anyshape.errors import AnyshapeError
from anyshape.schema import Limits, WouldWait, compile_here
from anyshape.screening.finding import Finding, Severity, excerpt
from anyshape.screening.instructions import CREDENTIAL_FILES

_LONG: Final = 2_000
_DEFINITIONS: Final = ("$schema", "$defs", "definitions")
_SECRET: Final = re.compile(CREDENTIAL_FILES, re.IGNORECASE)
_COMMAND: Final = re.compile(
    r"\$\([^)\n]{1,400}\)|\|\s{0,3}(?:ba|z|da)?sh\b|\brm\s{1,3}-\w{0,4}[rf]|[;&]\s{0,3}(?:curl|wget)\s"
)
_METADATA: Final = frozenset({"metadata.google.internal", "metadata.goog", "instance-data"})
_TYPED: Final = 1_000
"""Values in a default that is compared with its schema."""
_TRIED: Final = 50
"""Defaults of one document that are compared with their schemas."""
_SMALL: Final = 500
"""Schemas in a document whose definitions are compiled with each default's schema."""


def screen_defaults(document: Mapping[str, Any], where: str) -> Iterator[Finding]:
    """Yield what is wrong with the defaults in a schema that stands at a pointer."""
    try:
        outline = Outline(dict(document))
    except (AnyshapeError, RecursionError):
        return  # no client takes such a schema
    tried = 0
    for place in outline.schemas:
        schema = outline.schema_at(place)
        if "default" not in schema:
            continue
        spot = where + pointer((*place, "default"))
        value: object = schema["default"]
        for part in parts(value):
            if isinstance(part, str):
                yield from _screen_text(part, spot)
        # Many servers write null for a default that is not there.
        if value is not None and tried < _TRIED and _is_short(value):
            tried += 1
            yield from _compare(outline, place, value, spot)


def _is_short(value: object) -> bool:
    return sum(1 for _ in islice(parts(value), _TYPED)) < _TYPED


def _screen_text(text: str, where: str) -> Iterator[Finding]:
    shown = excerpt(text)
    if len(text) > _LONG:
        message = f"{len(text):,} characters that nobody looks at: {shown}"
        yield Finding("default-long", Severity.LOW, where, shown, message)
    if _SECRET.search(text):
        message = f"leads to credentials: {shown}"
        yield Finding("default-secret", Severity.HIGH, where, shown, message)
    elif (match := _COMMAND.search(text)) is not None:
        shown = excerpt(text, match.start())
        message = f"a shell would run what is in it: {shown}"
        yield Finding("default-command", Severity.MEDIUM, where, shown, message)
    yield from _screen_address(text, where)


def _screen_address(text: str, where: str) -> Iterator[Finding]:
    if "://" not in text[:40]:
        return
    try:
        parts = urlsplit(text)
        host = (parts.hostname or "").rstrip(".")
    except ValueError:
        return
    shown = excerpt(f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}")
    if parts.password:
        message = f"a password stands in the address of {shown}"
        yield Finding("default-secret", Severity.MEDIUM, where, shown, message)
    severity = _reach(host)
    if severity is not None:
        message = f"leads into a private network: {shown}"
        yield Finding("default-address", severity, where, shown, message)


def _reach(host: str) -> Severity | None:
    """Return how bad it is that a default leads to a host; this machine itself is a usual one."""
    if host in _METADATA:
        return Severity.HIGH
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return None
    if address.is_link_local:  # where clouds give out credentials
        return Severity.HIGH
    inside = address.is_private and not address.is_loopback and not address.is_unspecified
    return Severity.LOW if inside else None


def _compare(outline: Outline, place: Place, value: object, where: str) -> Iterator[Finding]:
    if place and len(outline.schemas) > _SMALL:
        return
    definitions = {key: outline.root[key] for key in _DEFINITIONS if key in outline.root}
    document = {**definitions, **outline.schema_at(place)}
    del document["default"]
    try:
        if compile_here(document, limits=Limits(), formats=False, light=True).accepts(value):
            return
    except (AnyshapeError, WouldWait):
        return  # what cannot be judged here is judged, and refused, with the whole schema
    shown = excerpt(repr(value))
    message = f"its own schema does not admit {shown}"
    yield Finding("default-mismatch", Severity.LOW, where, shown, message)
