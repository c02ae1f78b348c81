"""What an HTTP application serves beside its endpoint: metadata, pages, and directions to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anyshape.server.response import Scope, Send, refuse, send_json, send_page

if TYPE_CHECKING:
    from anyshape.server.http_options import HttpOptions


def path_below(scope: Scope) -> str:
    """Return a path as it is below wherever a host has mounted us."""
    path: str = scope["path"]
    root: str = scope.get("root_path", "")
    return path[len(root) :] if root and path.startswith(root) else path


async def serve_other_path(options: HttpOptions, scope: Scope, send: Send, directions: str) -> None:
    """Serve a path that is not the endpoint; `directions` say where that is."""
    authorization, pages = options.authorization, options.pages
    # A mount is part of the path, or of what the host takes off before it: both are ours.
    paths = (scope["path"], path_below(scope))
    if authorization is not None and not authorization.metadata_paths.isdisjoint(paths):
        if scope["method"] in ("GET", "HEAD"):
            await send_json(send, 200, authorization.metadata())
        else:
            await refuse(send, 405, "Only GET is served here", (b"allow", b"GET"))
        return
    page = next((pages[path] for path in paths if path in pages), None)
    if page is not None and scope["method"] in ("GET", "HEAD"):
        await send_page(send, *page(), headers_only=scope["method"] == "HEAD")
        return
    await refuse(send, 404, f"Nothing is served here; {directions}")
