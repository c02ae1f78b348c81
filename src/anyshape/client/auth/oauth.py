"""`Client(url, auth=OAuth(…))`: a person signs in, and the client keeps the token."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from anyshape._version import __version__
from anyshape.addresses import is_loopback
from anyshape.client.auth.authorization_code import AuthorizationCode
from anyshape.client.auth.login import Authorize, CallerLogin, Login
from anyshape.client.auth.loopback import LoopbackLogin
from anyshape.client.auth.registered_client import RegisteredClient
from anyshape.client.auth.session import AccessSession
from anyshape.client.auth.settings import AccessSettings
from anyshape.client.deadlines import Deadlines
from anyshape.client.options import Http


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuth(AccessSettings):
    """Access for a person, who signs in with a browser when a server asks for it.

    `client_id` and `client_secret` are of a client registered by hand, and `issuer` is the
    authorization server it is registered with, the only one that is then used.
    `client_metadata_url` is the address of a document that describes this client, for authorization
    servers that read such documents; with others the client registers itself, as `client_name`.
    Either may show who it is with a `private_key` in PEM (needs `anyshape[auth]`).

    `scopes` are asked for where the server does not say which it needs. `authorize` sends the
    person to a URL and returns the one they came back to, which begins with `redirect_uri`; left
    out, a browser is opened and a listener on loopback waits. Tokens are kept in `storage`. `dpop`
    has them bound to a key of this client (needs `anyshape[auth]`).
    """

    client_id: str | None = None
    client_secret: str | None = field(default=None, repr=False)
    private_key: str | None = field(default=None, repr=False)
    client_metadata_url: str | None = None
    client_name: str = f"Anyshape {__version__}"
    authorize: Authorize | Login | None = field(default=None, repr=False)
    redirect_uri: str | None = None

    def __post_init__(self) -> None:
        AccessSettings.__post_init__(self)
        if self.client_secret is not None and self.client_id is None:
            raise ValueError("OAuth(client_secret=…): expected client_id=… too")
        if self.private_key is not None and self.client_secret is not None:
            raise ValueError("OAuth: expected client_secret=… or private_key=…, not both")
        if self.private_key is not None and not (self.client_id or self.client_metadata_url):
            raise ValueError("OAuth(private_key=…): expected a client that it belongs to")
        url = self.client_metadata_url
        if url is not None and (urlsplit(url).scheme != "https" or len(urlsplit(url).path) < 2):
            raise ValueError(f"OAuth(client_metadata_url={url!r}): expected https and a path")
        if self.redirect_uri is not None:
            parts = urlsplit(self.redirect_uri)
            if parts.scheme == "http" and not is_loopback(parts.hostname or ""):
                raise ValueError(
                    f"OAuth(redirect_uri={self.redirect_uri!r}): expected https, or loopback"
                )
        self._login()

    def _login(self) -> Login:
        ways, uri = self.authorize, self.redirect_uri
        if ways is not None and not callable(ways):
            return ways
        if callable(ways):
            if uri is None:
                raise ValueError("OAuth(authorize=…): expected redirect_uri=… too")
            return CallerLogin(ways, uri)
        if uri is None:
            return LoopbackLogin()
        parts = urlsplit(uri)
        if parts.scheme != "http" or parts.hostname != "127.0.0.1" or not parts.port:
            raise ValueError(
                f"OAuth(redirect_uri={uri!r}): expected http://127.0.0.1:PORT/… where this "
                "client listens itself, or authorize=… too"
            )
        return LoopbackLogin(port=parts.port, path=parts.path)

    def source_for(self, url: str, http: Http, deadlines: Deadlines) -> AccessSession:
        """Return the credentials for the server at `url`."""
        key = self.private_key
        registered = described = None
        if self.client_id is not None:
            registered = RegisteredClient(self.client_id, self.client_secret, key)
        if self.client_metadata_url is not None:
            described = RegisteredClient(self.client_metadata_url, None, key)
        grant = AuthorizationCode(
            self.client_name, registered, described, self._login(), deadlines.paused
        )
        return AccessSession(url, http, grant, self, deadlines)
