"""Who may reach an HTTP server: checks on Host and Origin against DNS rebinding.

A page on the web can make a browser resolve its own name to 127.0.0.1 and so talk to a server that
was meant for this machine alone; what it cannot do is forge the `Host` and `Origin` headers.
See "Security & Endpoint" in the Streamable HTTP page of revision 2026-07-28.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable

_LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "::1", "[::1]"})
_DEFAULT_PORTS = {"http": "80", "https": "443"}


def is_local(host: str) -> bool:
    """Tell whether a bound address or a host name can only mean this machine."""
    name = host.strip("[]").lower().rstrip(".")
    if name in _LOCAL_NAMES or name.endswith(".localhost"):
        return True
    address = _address(name)
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped  # How a socket for both kinds of addresses says it.
    return address is not None and address.is_loopback


class Guard:
    """Decide, from two headers and the address a request came in at, whether it may be served.

    `hosts` and `origins` are what the operator allows: names with or without a port for hosts,
    `scheme://host[:port]` for origins, `*` for any. Without `hosts` every name is good, except at a
    loopback address, where it has to be a name of this machine. Without `origins` a page may only
    call the host it came from, by a name in `hosts` or by an address: any other name may have been
    made to lead here. `is_local` says that we can be reached from this machine alone; otherwise the
    address each request came in at tells.
    """

    def __init__(
        self,
        *,
        hosts: Iterable[str] | None = None,
        origins: Iterable[str] | None = None,
        is_local: bool = False,
    ) -> None:
        self._is_local = is_local
        self._hosts = None if hosts is None else frozenset(host.lower() for host in hosts)
        self._origins = frozenset(origin.lower().rstrip("/") for origin in origins or ())

    def refusal(self, host: bytes | None, origin: bytes | None, bound: str) -> str | None:
        """Return why the request is refused, or `None` when it may be served."""
        name = _text(host)
        page = _text(origin)
        at_home = self._hosts is None and (self._is_local or is_local(bound))
        if not self._host_is_allowed(name, at_home):
            shown = "missing" if name is None else repr(name[:80])
            return f"Host {shown} is not allowed; the operator can add it to allowed_hosts"
        if page is not None and not self._origin_is_allowed(page, name, at_home):
            return (
                f"Origin {page[:80]!r} is not allowed; the operator can add it to allowed_origins"
            )
        return None

    def _host_is_allowed(self, host: str | None, at_home: bool) -> bool:
        if self._hosts is None:
            return not at_home or (host is not None and is_local(_name(host)))
        is_named = host is not None and (host in self._hosts or _name(host) in self._hosts)
        return is_named or "*" in self._hosts

    def _origin_is_allowed(self, origin: str, host: str | None, at_home: bool) -> bool:
        if origin in self._origins or "*" in self._origins:
            return True
        scheme, separator, authority = origin.partition("://")
        if not separator or scheme not in _DEFAULT_PORTS or host is None:
            return False
        if at_home:
            return is_local(_name(authority))
        if _with_port(authority, scheme) != _with_port(host, scheme):
            return False
        # The host is a name that was allowed, any that the operator likes, or an address.
        return self._hosts is not None or _address(_name(host).strip("[]")) is not None


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None


def _text(header: bytes | None) -> str | None:
    return None if header is None else header.decode("latin-1").strip().lower()


def _name(authority: str) -> str:
    """Return the host of `host[:port]`, brackets kept around an IPv6 address; else nothing."""
    end = authority.find("]") + 1 if authority.startswith("[") else authority.find(":")
    name, port = (authority, "") if end < 0 else (authority[:end], authority[end:])
    return name if not port or (port[0] == ":" and port[1:].isdecimal()) else ""


def _with_port(authority: str, scheme: str) -> str:
    name = _name(authority)
    port = authority[len(name) :].lstrip(":") or _DEFAULT_PORTS[scheme]
    return f"{name}:{port}"
