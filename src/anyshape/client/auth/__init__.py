"""Get into servers that ask for it: OAuth 2.1 as MCP uses it.

    from anyshape.client import Client
    from anyshape.client.auth import OAuth

    async with Client("https://example.com/mcp", auth=OAuth()) as client: ...

Loaded only by those who import it.
"""

from __future__ import annotations

from anyshape.client.auth.client_credentials import ClientCredentials
from anyshape.client.auth.enterprise import EnterpriseManaged, IdentityProvider
from anyshape.client.auth.login import Authorize, Login, OpenLogin
from anyshape.client.auth.loopback import LoopbackLogin
from anyshape.client.auth.oauth import OAuth
from anyshape.client.auth.sign_out import sign_out
from anyshape.client.auth.storage import FileStorage, MemoryStorage, TokenStorage
from anyshape.client.auth.workload_identity import Assertion, WorkloadIdentity

__all__ = [
    "Assertion",
    "Authorize",
    "ClientCredentials",
    "EnterpriseManaged",
    "FileStorage",
    "IdentityProvider",
    "Login",
    "LoopbackLogin",
    "MemoryStorage",
    "OAuth",
    "OpenLogin",
    "TokenStorage",
    "WorkloadIdentity",
    "sign_out",
]
