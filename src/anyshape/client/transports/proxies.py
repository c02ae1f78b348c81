"""The proxy on the way to a URL, as the caller or the environment names it.

aiohttp could look into the environment itself, but then reads `~/.netrc` too, for every request,
and sends to a stranger what it finds there.
"""

from __future__ import annotations

from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from anyshape.client.options import Http


def proxy_for(http: Http, url: str) -> str | None:
    """Return the URL of the proxy to use; `None` for no proxy."""
    if http.proxy is not None or not http.proxy_from_environment:
        return http.proxy
    parts = urlsplit(url)
    if not parts.hostname or proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    return getproxies().get(parts.scheme.lower())
