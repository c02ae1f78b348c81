"""What may be fetched, decided without touching the network: URIs, hosts and addresses.

URIs are RFC 3986, read strictly: what one parser would repair another may read differently, and
the difference is how a check is passed by. Addresses follow the IANA special-purpose registries
(IPv4 and IPv6); the standard library's `is_global` is not used because its answer depends on the
Python release and calls some transition addresses global.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TypeAlias
from urllib.parse import urlsplit

__all__ = [
    "Destination",
    "Refused",
    "admits",
    "check_characters",
    "objection",
    "read_entry",
    "read_network",
    "read_target",
    "shorten",
]

Network: TypeAlias = IPv4Network | IPv6Network

DEFAULT_PORTS = {"https": 443, "http": 80}
MAX_URI_LENGTH = 2048

_URI = re.compile(r"(?:[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})*")
_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_NAME = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
# As the WHATWG URL standard has it: a name that ends in a number is an IPv4 address or nothing.
# The C library would read "127.1" and "0x7f000001" as loopback.
_ENDS_IN_NUMBER = re.compile(r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)")

_SPECIAL: tuple[tuple[Network, str], ...] = tuple(
    (ip_network(block), kind)
    for kind, blocks in {
        "unspecified": ("0.0.0.0/8", "::/128"),
        "loopback": ("127.0.0.0/8", "::1/128"),
        "private": ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "fec0::/10"),
        "shared by a provider's customers (CGNAT)": ("100.64.0.0/10",),
        "link-local": ("169.254.0.0/16", "fe80::/10"),
        "multicast": ("224.0.0.0/4", "ff00::/8"),
        "reserved": ("240.0.0.0/4", "192.0.0.0/24", "2001::/23", "100::/64", "100:0:0:1::/64"),
        "documentation": (
            *("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24"),
            *("2001:db8::/32", "3fff::/20"),
        ),
        "benchmarking": ("198.18.0.0/15",),
        "infrastructure (AS112, AMT, 6to4 relays)": (
            *("192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.175.48.0/24"),
            "2620:4f:8000::/48",
        ),
        # Public by registry, but inside Azure it is the platform's own channel to the machine.
        "a cloud platform's own": ("168.63.129.16/32",),
        "IPv4 inside IPv6 (mapped, translated, NAT64 or 6to4)": (
            *("::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "2002::/16"),
        ),
        "IPv4 inside IPv6 (compatible)": ("::/96",),
    }.items()
    for block in blocks
)
_GLOBAL_UNICAST = IPv6Network("2000::/3")


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
        return ":" in self.host or _ENDS_IN_NUMBER.fullmatch(self.host) is not None


def shorten(text: str, *, length: int = 200) -> str:
    """Return `text` as one printable line of bounded length, without a password in it."""
    text = re.sub(r"//[^/?#]*@", "//…@", text[: MAX_URI_LENGTH + 1])
    line = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)
    return line if len(line) <= length else f"{line[: length - 1]}…"


def read_host(text: str) -> str | None:
    """Return a host name or address literal (no brackets) in canonical form, or `None`."""
    text = text.lower()
    if ":" in text or _ENDS_IN_NUMBER.fullmatch(text):
        try:
            address = ip_address(text)
        except ValueError:
            return None
        return None if "%" in text else str(address)
    return text if len(text) <= 253 and _NAME.fullmatch(text) else None


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
    if canonical is None or (wildcard and _ENDS_IN_NUMBER.fullmatch(canonical)):
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


def objection(address: str, allowed: Sequence[str]) -> str | None:
    """Say why `address` must not be connected to; `None` if it is public or in `allowed`."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return "not an IP address"
    if isinstance(parsed, IPv6Address) and parsed.scope_id is not None:
        return "bound to one network interface"
    if any(parsed in ip_network(block) for block in allowed):
        return None
    for block, kind in _SPECIAL:
        if parsed in block:
            return kind
    if parsed.version == 6 and parsed not in _GLOBAL_UNICAST:
        return "outside IPv6 global unicast"
    return None
