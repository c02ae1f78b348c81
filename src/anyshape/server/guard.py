"""Who may reach an HTTP server: checks on Host and Origin against DNS rebinding.

A page on the web can make a browser resolve its own name to 127.0.0.1 and so talk to a server that
was meant for this machine alone; what it cannot do is forge the `Host` and `Origin` headers.
See "Security & Endpoint" in the Streamable HTTP page of revision 2026-07-28.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable

__all__ = ["Guard", "is_local"]

_LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "::1", "[::1]"})
_DEFAULT_PORTS = {"http": "80", "https": "443"}


def is_local(host: str) -> bool:
    """Tell whether a bound address or a host name can only mean this machine."""
    name = host.strip("[]").lower().rstrip(".")
    if name in _LOCAL_NAMES or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


class Guard:
    """Decide, from two headers and the address a request came in at, whether it may be served.

    `hosts` and `origins` are what the operator allows: names with or without a port for hosts,
    `scheme://host[:port]` for origins, `*` for any. Without `hosts` every name is good, except at a
    loopback address, where it has to be a name of this machine. Without `origins` a page may only
    call the host it came from. `is_local` says whether we are bound to such an address; if it is
    left out, the address each request came in at tells.
    """

    def __init__(
        self,
        *,
        hosts: Iterable[str] | None = None,
        origins: Iterable[str] | None = None,
        is_local: bool | None = None,
    ) -> None:
        self._is_local = is_local
        self._hosts = None if hosts is None else frozenset(host.lower() for host in hosts)
        self._origins = frozenset(origin.lower().rstrip("/") for origin in origins or ())

    def refusal(self, host: bytes | None, origin: bytes | None, bound: str) -> str | None:
        """Return why the request is refused, or `None` when it may be served."""
        name = _text(host)
        page = _text(origin)
        if not self._host_is_allowed(name, bound):
            shown = "missing" if name is None else repr(name[:80])
            return f"Host {shown} is not allowed; the operator can add it to allowed_hosts"
        if page is not None and not self._origin_is_allowed(page, name, bound):
            return (
                f"Origin {page[:80]!r} is not allowed; the operator can add it to allowed_origins"
            )
        return None

    def _host_is_allowed(self, host: str | None, bound: str) -> bool:
        if self._hosts is not None:
            if "*" in self._hosts:
                return True
            return host is not None and (host in self._hosts or _name(host) in self._hosts)
        if not self._is_bound_locally(bound):
            return True
        return host is not None and is_local(_name(host))

    def _is_bound_locally(self, bound: str) -> bool:
        return is_local(bound) if self._is_local is None else self._is_local

    def _origin_is_allowed(self, origin: str, host: str | None, bound: str) -> bool:
        if origin in self._origins or "*" in self._origins:
            return True
        scheme, separator, authority = origin.partition("://")
        if not separator or scheme not in _DEFAULT_PORTS or host is None:
            return False
        if self._hosts is None and self._is_bound_locally(bound):
            return is_local(_name(authority))
        return _with_port(authority, scheme) == _with_port(host, scheme)


def _text(header: bytes | None) -> str | None:
    return None if header is None else header.decode("latin-1").strip().lower()


def _name(authority: str) -> str:
    """Return the host of `host[:port]`, brackets kept around an IPv6 address."""
    if authority.startswith("["):
        return authority[: authority.find("]") + 1]
    return authority.partition(":")[0]


def _with_port(authority: str, scheme: str) -> str:
    name = _name(authority)
    port = authority[len(name) :].lstrip(":") or _DEFAULT_PORTS[scheme]
    return f"{name}:{port}"
