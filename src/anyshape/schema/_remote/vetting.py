"""What may be fetched, decided without touching the network: URIs, hosts and addresses.

URIs are RFC 3986, read strictly: what one parser would repair another may read differently, and
the difference is how a check is passed by. Which addresses are public is said by `addresses`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import ip_network
from urllib.parse import urlsplit

from anyshape.addresses import is_literal, read_host

DEFAULT_PORTS = {"https": 443, "http": 80}
MAX_URI_LENGTH = 2048

_URI = re.compile(r"(?:[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})*")


class Refused(Exception):
    """A fetch that must not happen or did not succeed; `limit` names the budget, if it was one."""

    def __init__(self, reason: str, *, limit: str = "", found: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.limit = limit
        self.found = found


@dataclass(frozen=True, slots=True)
class Destination:
    """Where an absolute http(s) URI points: `host` is canonical, `path` includes the query."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        """Return host and port as a URI and a `Host` header write them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def is_literal(self) -> bool:
        """Say whether the host is an address already, so that there is no name to resolve."""
        return is_literal(self.host)


def shorten(text: str, *, length: int = 200) -> str:
    """Return `text` as one printable line of bounded length, without a password in it."""
    text = re.sub(r"//[^/?#]*@", "//…@", text[: MAX_URI_LENGTH + 1])
    line = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)
    return line if len(line) <= length else f"{line[: length - 1]}…"


def check_characters(reference: str) -> None:
    """Refuse text that is no URI reference by its length or characters alone."""
    if len(reference) > MAX_URI_LENGTH:
        raise Refused(f"the URI has more than {MAX_URI_LENGTH} characters")
    if not _URI.fullmatch(reference):
        raise Refused("it has characters that a URI must percent-encode")


def read_target(uri: str) -> Destination:
    """Take an absolute http(s) URI apart, fragment dropped; anything else is `Refused`."""
    check_characters(uri)
    try:
        parts = urlsplit(uri)
    except ValueError:
        raise Refused("its host is malformed") from None
    scheme = parts.scheme.lower()
    # `json-schema:///` is the base of a document that does not name itself.
    if scheme in {"", "json-schema"}:
        raise Refused("it is not absolute; give the document an absolute $id, or pass resources=")
    if scheme not in DEFAULT_PORTS:
        raise Refused(f"{scheme}: is never fetched; pass the document in resources= instead")
    if "@" in parts.netloc:
        raise Refused("it carries a user name or password; remove them")
    try:
        # RFC 3986 lets the port be empty.
        text, port = _split_authority(parts.netloc.removesuffix(":"))
    except ValueError as error:
        raise Refused(f"its host or port is malformed: {error}") from None
    host = read_host(text)
    if host is None:
        raise Refused("it names no valid host (write international names as xn--…)")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Destination(scheme, host, DEFAULT_PORTS[scheme] if port is None else port, path)


def admits(entry: str, target: Destination) -> bool:
    """Say whether `entry`, a canonical line of an allowlist, admits the host and port of `target`.

    An entry without a port admits the default port of the scheme; `*.` stands for one or more
    labels, so `*.example.com` is not `example.com`.
    """
    host, port = _split_authority(entry)
    if target.port != (DEFAULT_PORTS[target.scheme] if port is None else port):
        return False
    if host.startswith("*."):
        return target.host.endswith(host[1:])
    return host == target.host


def read_entry(entry: str) -> str:
    """Return a line of an allowlist in canonical form; ValueError says what is wrong with it."""
    host, port = _split_authority(entry)
    wildcard = "*." if host.startswith("*.") else ""
    canonical = read_host(host.removeprefix("*."))
    if canonical is None or (wildcard and is_literal(canonical)):
        raise ValueError("expected a host name, as in schemas.example.com or *.example.com")
    bracketed = f"[{canonical}]" if ":" in canonical else wildcard + canonical
    return bracketed if port is None else f"{bracketed}:{port}"


def _split_authority(text: str) -> tuple[str, int | None]:
    match = re.fullmatch(r"(?:\[([^\[\]]+)\]|([^:\[\]/@]+))(?::([0-9]{1,5}))?", text)
    if match is None or (match[1] and ":" not in match[1]):
        raise ValueError("expected host, host:port, [IPv6] or [IPv6]:port")
    port = int(match[3]) if match[3] else None
    if port is not None and not 0 < port < 65536:
        raise ValueError("expected a port from 1 to 65535")
    return match[1] or match[2], port


def read_network(text: str) -> str:
    """Return an address or network in canonical form; ValueError says what is wrong with it."""
    try:
        network = ip_network(text)
    except ValueError:
        raise ValueError("expected an address or a network such as 10.20.0.0/24") from None
    if network.prefixlen == 0:
        raise ValueError("a network of every address would switch the check off")
    return str(network)
