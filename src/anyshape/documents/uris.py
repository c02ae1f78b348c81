"""URIs: one resolved against another as RFC 3986 says, whatever the scheme, and spelt in one way.

`urllib.parse.urljoin` knows a list of schemes and leaves references against any other, such as
`urn:` and those of one's own, as they are. Two spellings of one URI name one resource, so what is
joined is normalized as well (RFC 3986, section 6.2.2).
"""

from __future__ import annotations

import ipaddress
import re
from contextlib import suppress
from typing import Final

_PARTS: Final = re.compile(
    r"(?:([^:/?#]+):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL
)
_SEGMENT: Final = r"[\w~!$&'()*+,;=:@-][\w.~!$&'()*+,;=:@-]*"
_PLAIN: Final = re.compile(
    r"(?:[a-z][a-z0-9+.-]*:|(?![^/?#]*:))"
    rf"(?://[a-z0-9.-]*(?::[1-9][0-9]{{3,4}})?(?:/{_SEGMENT})*/?|(?:/?{_SEGMENT}(?:/{_SEGMENT})*)?/?)"
    r"(?:\?[\w./~!$&'()*+,;=:@-]*)?(?:#(?:/.*|[A-Za-z_][\w.-]*)?)?",
    re.ASCII | re.DOTALL,
)
_ESCAPED: Final = re.compile(r"%([0-9A-Fa-f]{2})")
_UNRESERVED: Final = re.compile(r"[\w.~-]", re.ASCII)
_PORTS: Final = {"http": "80", "https": "443"}


def split_fragment(uri: str) -> tuple[str, str]:
    """Return `uri` without its fragment, and the fragment."""
    before, _, fragment = uri.partition("#")
    return before, fragment


def join(base: str, reference: str) -> str:
    """Resolve `reference` against `base` as RFC 3986, section 5.2 says, whatever the scheme.

    `base` is normalized, and so is what is returned.
    """
    if reference.startswith("#"):
        return split_fragment(base)[0] + reference
    scheme, authority, path, query, fragment = _split(reference)
    if scheme is None:
        base_scheme, base_authority, base_path, base_query, _ = _split(base)
        scheme = base_scheme
        if authority is None:
            authority = base_authority
            if path == "":
                path = base_path
                query = base_query if query is None else query
            elif not path.startswith("/"):
                directory = base_path.rpartition("/")[0]
                path = f"{directory}/{path}" if directory or base_authority is not None else path
    return normalize(_unsplit(scheme, authority, _without_dots(path), query, fragment))


def normalize(uri: str) -> str:
    """Return the one spelling of a URI; its fragment stays as it is."""
    if is_plain(uri):
        return uri
    scheme, authority, path, query, fragment = _split(uri)
    if scheme is not None:
        scheme = scheme.lower()
    if authority is not None:
        authority = _normalize_authority(authority, scheme)
    path = _without_needless_escapes(path)
    if path.startswith("/"):
        path = _without_dots(path)
    if query is not None:
        query = _without_needless_escapes(query)
    return _unsplit(scheme, authority, path, query, fragment)


def is_plain(reference: str) -> bool:
    """Tell whether nobody can take a URI, or a reference, for a spelling of another one.

    Nothing in it is escaped, but for what a pointer passes; there are neither dots to remove, nor
    capitals where case does not matter, nor a port that goes without saying.
    """
    return _PLAIN.fullmatch(reference) is not None


def _normalize_authority(authority: str, scheme: str | None) -> str:
    user, mark, place = authority.rpartition("@")
    host, colon, port = place.rpartition(":")
    if not colon or not (port.isdigit() or port == ""):
        host, port = place, ""
    host = _without_needless_escapes(host)
    host = _ESCAPED.sub(lambda escape: escape[0].upper(), host.lower())
    with suppress(ValueError):
        host = f"[{ipaddress.IPv6Address(host[1:-1]).compressed}]" if host[:1] == "[" else host
    if port and port != _PORTS.get(scheme or ""):
        host += f":{port}"
    return f"{_without_needless_escapes(user)}{mark}{host}"


def _without_needless_escapes(text: str) -> str:
    def spell(escape: re.Match[str]) -> str:
        character = chr(int(escape[1], 16))
        return character if _UNRESERVED.fullmatch(character) else escape[0].upper()

    return _ESCAPED.sub(spell, text)


def _unsplit(
    scheme: str | None, authority: str | None, path: str, query: str | None, fragment: str | None
) -> str:
    return (
        ("" if scheme is None else f"{scheme}:")
        + ("" if authority is None else f"//{authority}")
        + path
        + ("" if query is None else f"?{query}")
        + ("" if fragment is None else f"#{fragment}")
    )


def _split(uri: str) -> tuple[str | None, str | None, str, str | None, str | None]:
    match = _PARTS.fullmatch(uri)
    if match is None:
        return None, None, uri, None, None
    scheme, authority, path, query, fragment = match.groups()
    return scheme, authority, path, query, fragment


def _without_dots(path: str) -> str:
    if "." not in path:
        return path
    kept: list[str] = []
    segments = path.split("/")
    for index, segment in enumerate(segments):
        last = index == len(segments) - 1
        if segment == "..":
            if len(kept) > 1:
                kept.pop()
            if last:
                kept.append("")
        elif segment == ".":
            if last:
                kept.append("")
        else:
            kept.append(segment)
    return "/".join(kept)
