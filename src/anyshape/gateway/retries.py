"""Calls that are made again because their upstream did not answer.

Only of tools that do no harm if they are called twice, as their upstream says by `readOnlyHint` or
`idempotentHint`, and only if the operator believes it. Never after the upstream has asked the
caller something, was only slow, or is left alone by its breaker; and a caller who gives up ends it.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeVar

from anyshape.gateway.options import RetryOptions
from anyshape.gateway.refusal import UpstreamDown
from anyshape.gateway.upstream import UpstreamLink

Given = TypeVar("Given")

_log = logging.getLogger("anyshape.gateway")
_pause: Final = asyncio.sleep


async def repeat(
    link: UpstreamLink, options: RetryOptions, call: Callable[[], Coroutine[Any, Any, Given]]
) -> Given:
    """Return what comes of a call, made so often as it takes and the options allow."""
    pause, left = options.pause, options.most
    while True:
        try:
            return await call()
        except UpstreamDown as error:
            if not left or error.is_final or link.breaker.state == "open":
                raise
            _log.info("upstream %s: a call is made again: %s", link.name, error)
        left -= 1
        await _pause(pause * random.uniform(0.5, 1))  # noqa: S311 - no secret
        pause = min(pause * 2, options.longest_pause)
        link.repeated += 1
