"""What a server is made and run with, checked; what it cannot take is refused with advice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anyshape.moved import RUN_SETTINGS, TRANSPORTS, refuse_brought
from anyshape.protocol.icons import Icon, icon_flaw, wire_icon


def check_transport(transport: str, settings: Mapping[str, Any]) -> None:
    """Raise if a server cannot be run on such a transport with such settings."""
    if transport not in ("stdio", "http"):
        advice = f"; {TRANSPORTS[transport]}" if transport in TRANSPORTS else ""
        raise ValueError(f'transport has to be "stdio" or "http", got {transport!r}{advice}')
    brought = {name: settings[name] for name in settings if name in RUN_SETTINGS}
    refuse_brought("run", brought, RUN_SETTINGS)
    if transport == "stdio" and settings:
        raise TypeError(f"{', '.join(settings)}: on stdio there is nothing to set")


def expect(name: str, given: object, kind: type[Any]) -> None:
    """Raise unless what is given for a setting, if anything, is of its kind."""
    if given is not None and not isinstance(given, kind):
        raise TypeError(f"{name} has to be {kind.__name__}(…), got {type(given).__name__}")


def checked_icon(icon: Icon | Mapping[str, Any]) -> dict[str, Any]:
    """Return an icon in wire form, or raise `ValueError`."""
    wire = wire_icon(icon)
    flaw = icon_flaw(wire)
    if flaw is not None:
        raise ValueError(f"icons: {flaw}")
    return wire
