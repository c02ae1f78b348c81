"""`anyshape logout`: forget the token for a server."""

from __future__ import annotations

import asyncio
from typing import Annotated, Final

import typer

from anyshape.cli import json_text, options, terminal
from anyshape.cli.failure import CommandError, Exit, UsageError
from anyshape.cli.login import token_storage

EXAMPLES: Final = """\b
Examples:
  anyshape logout https://example.com/mcp
"""


def logout(
    url: Annotated[str, typer.Argument(metavar="URL", help="The server, as it was signed in to.")],
    json: options.JsonOption = False,
) -> int:
    """Sign out of a server: its token is forgotten here, and ended where that can be done."""
    from anyshape.client import Http
    from anyshape.client.auth.sign_out import sign_out
    from anyshape.client.quoting import without_secrets
    from anyshape.client.target import is_url

    if not is_url(url):
        shown = without_secrets(url if "://" in url else f"//{url}").removeprefix("://")
        raise UsageError(f"{shown} is no http or https URL", hint="tokens are for URLs")
    was_in = asyncio.run(sign_out(url, token_storage(), Http(proxy_from_environment=True)))
    if json:
        terminal.write(json_text.compact({"url": without_secrets(url), "signedOut": was_in}))
    elif was_in:
        terminal.say(f"Signed out of {without_secrets(url)}.")
    else:
        raise CommandError(
            f"nobody is signed in to {without_secrets(url)}",
            hint="`--login` signs in: anyshape tools URL --login",
            code=Exit.NO,
        )
    return Exit.OK if was_in else Exit.NO
