"""URIs: one resolved against another as RFC 3986 says, whatever the scheme.

`urllib.parse.urljoin` knows a list of schemes and leaves references against any other, such as
`urn:` and those of one's own, as they are.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["join", "split_fragment"]

_PARTS: Final = re.compile(
    r"(?:([^:/?#]+):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL
)


def split_fragment(uri: str) -> tuple[str, str]:
    """Return `uri` without its fragment, and the fragment."""
    before, _, fragment = uri.partition("#")
    return before, fragment


def join(base: str, reference: str) -> str:
    """Resolve `reference` against `base` as RFC 3986, section 5.2 says, whatever the scheme."""
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
    path = _without_dots(path)
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
