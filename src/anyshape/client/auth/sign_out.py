"""Sign out of a server: forget its token here, and tell the authorization server (RFC 7009)."""

from __future__ import annotations

import logging

from anyshape.client.auth.authorization_code import client_key
from anyshape.client.auth.authorization_server import find_server
from anyshape.client.auth.exchange import Exchange
from anyshape.client.auth.reach import Reach
from anyshape.client.auth.registration import Registration
from anyshape.client.auth.session import token_key
from anyshape.client.auth.storage import TokenStorage
from anyshape.client.auth.token import HeldToken
from anyshape.client.auth.token_endpoint import AccessRequest, send_form
from anyshape.client.options import Http
from anyshape.errors import AuthorizationError

logger = logging.getLogger(__name__)


async def sign_out(url: str, storage: TokenStorage, http: Http | None = None) -> bool:
    """Forget the token for a server; return whether there was one.

    The authorization server is asked to end it, if it can be; what is kept here goes in any case.
    """
    text = await storage.load(token_key(url))
    if text is None:
        return False
    await storage.delete(token_key(url))
    token = HeldToken.read(text)
    if token is not None:
        try:
            exchange = Exchange(Reach(url, [token.issuer]), http or Http())
            await _revoke(token, exchange, storage)
        except AuthorizationError as error:
            logger.debug("the token could not be revoked: %s", error)
    return True


async def _revoke(token: HeldToken, exchange: Exchange, storage: TokenStorage) -> None:
    server = await find_server(exchange, token.issuer)
    saved = token.client or await storage.load(client_key(server.issuer))
    client = None if saved is None else Registration.read(saved)
    if server.revocation_endpoint is None or client is None:
        return
    request = AccessRequest(
        exchange=exchange, server=server, resource=token.resource, scopes=(), storage=storage
    )
    for kind, value in (("refresh_token", token.refresh), ("access_token", token.value)):
        if value is not None:
            fields = {"token": value, "token_type_hint": kind}
            await send_form(request, server.revocation_endpoint, client, fields)
