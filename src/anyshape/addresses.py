"""Hosts and addresses of the network: how a host is read, and which addresses are not public.

Addresses follow the IANA special-purpose registries (IPv4 and IPv6); the standard library's
`is_global` is not used because its answer depends on the Python release and calls some transition
addresses global.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TypeAlias

Network: TypeAlias = IPv4Network | IPv6Network

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


def is_literal(host: str) -> bool:
    """Say whether a host is an address already, so that there is no name to resolve."""
    return ":" in host or _ENDS_IN_NUMBER.fullmatch(host) is not None


def is_loopback(host: str) -> bool:
    """Say whether a host is this machine by its name alone."""
    host = host.lower()
    if host == "localhost" or host.endswith(".localhost"):
        return True
    return is_literal(host) and special_use(host) == "loopback"


def read_host(text: str) -> str | None:
    """Return a host name or address literal (no brackets) in canonical form, or `None`."""
    text = text.lower()
    if is_literal(text):
        try:
            address = ip_address(text)
        except ValueError:
            return None
        return None if "%" in text else str(address)
    return text if len(text) <= 253 and _NAME.fullmatch(text) else None


def special_use(address: str, allowed: Sequence[str] = ()) -> str | None:
    """Say what an address is set aside for; `None` if it is public or in an `allowed` network."""
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
