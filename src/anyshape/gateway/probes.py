"""What is served beside the endpoint: whether the gateway lives, is ready, and what it counted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from anyshape.gateway.health import GatewayHealth
from anyshape.gateway.metrics import CONTENT_TYPE, GatewayMetrics
from anyshape.protocol.encoding import encode_data
from anyshape.server.http_options import ServePage

__all__ = ["probe_pages"]

_JSON: Final = "application/json"


def probe_pages(
    read_health: Callable[[], GatewayHealth], metrics: GatewayMetrics | None
) -> dict[str, ServePage]:
    """Return the pages by their paths; `/metrics` is there if something counts."""

    def tell_ready() -> tuple[int, str, bytes]:
        health = read_health()
        return health.status, _JSON, encode_data(health.public())

    pages: dict[str, ServePage] = {
        "/health": lambda: (200, _JSON, b'{"alive":true}'),
        "/ready": tell_ready,
    }
    if metrics is not None:
        pages["/metrics"] = lambda: (200, CONTENT_TYPE, metrics.registry.text().encode())
    return pages
