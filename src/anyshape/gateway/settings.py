"""The tables of a configuration beside the upstreams, as the parts they are about."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar, cast

from anyshape.errors import AnyshapeError
from anyshape.gateway.audit import AuditOptions
from anyshape.gateway.pins import Pins, PinTerms
from anyshape.gateway.vetting import ScreeningTerms, Vetting
from anyshape.screening import Severity
from anyshape.server.http_options import HttpOptions
from anyshape.server.options import ServerOptions
from anyshape.server.sessions import Sessions
from anyshape.server.stores.redis_store import RedisStore

if TYPE_CHECKING:
    from anyshape.gateway.shared_pins import SharedPins

__all__ = [
    "GatewaySettings",
    "ReplicaSettings",
    "SettingError",
    "fill",
    "read_settings",
    "unknown_key",
]

Options = TypeVar("Options")


class SettingError(AnyshapeError):
    """A table holds what it may not: the keys that lead there, and why."""

    def __init__(self, message: str, *keys: str) -> None:
        super().__init__(message)
        self.keys = keys


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaSettings:
    """What makes several processes behave as one gateway."""

    store: RedisStore
    keys: tuple[bytes, ...] = field(repr=False)
    """Secrets that all of them have: the first seals, and every one opens."""

    def server_options(self) -> ServerOptions:
        """Return the options of the server that clients see."""
        return ServerOptions(store=self.store, state_keys=self.keys)

    def http_options(self) -> HttpOptions:
        """Return those of its HTTP service."""
        return HttpOptions(sessions=Sessions(keys=self.keys))


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewaySettings:
    """What an operator says of the gateway itself."""

    disclosure: Literal["all", "search"] = "all"
    required: tuple[str, ...] = ()
    metrics: bool = False
    audit_file: Path | None = None
    audit: AuditOptions = field(default_factory=AuditOptions)
    pins_file: Path | None = None
    pins: PinTerms = field(default_factory=PinTerms)
    screening: ScreeningTerms | None = None
    replicas: ReplicaSettings | None = None
    shares_pins: bool = False

    def shared_pins(self, name: str) -> SharedPins | None:
        """Return where the replicas of the gateway called `name` have their pins, if they do."""
        if not self.shares_pins or self.replicas is None:
            return None
        from anyshape.gateway.shared_pins import SharedPins

        return SharedPins(self.replicas.store, name)

    def vetting(self) -> Vetting | None:
        """Return what vets the lists of upstreams, if anything does; pins are read now."""
        if self.pins_file is None and self.screening is None and not self.shares_pins:
            return None
        pins = Pins() if self.shares_pins else None
        if self.pins_file is not None:
            pins = Pins.load(self.pins_file)
        return Vetting(pins, self.pins, self.screening or ScreeningTerms())


def read_settings(tables: Mapping[str, Any], folder: Path) -> GatewaySettings:
    """Return the settings in some tables; paths are relative to `folder`.

    Secrets have been put in where they were named.
    """
    for name, table in tables.items():
        if name not in _TABLES:
            raise SettingError(unknown_key(name, tuple(_TABLES)), name)
        if not isinstance(table, dict):
            raise SettingError(f"expected a table, got {type(table).__name__}", name)
    read: dict[str, Any] = {}
    for name, table in tables.items():
        read.update(_TABLES[name](dict(cast("dict[str, Any]", table)), folder))
    if read.get("shares_pins") and "replicas" not in read:
        raise SettingError("pins are shared by [replicas], and there are none", "pins", "shared")
    return GatewaySettings(**read)


def fill(kind: type[Options], table: Mapping[str, Any], *keys: str) -> Options:
    """Return options made of a table; `SettingError` if it has keys or values that do not fit."""
    known = {each.name: each for each in fields(cast("Any", kind))}
    for key, value in table.items():
        if key not in known:
            raise SettingError(unknown_key(key, tuple(known)), *keys, key)
        if not _fits(value, known[key].default):
            raise SettingError(f"this cannot be {value!r:.40}", *keys, key)
    try:
        return kind(**table)
    except ValueError as error:
        key, _, rest = str(error).partition("=")
        if key in known and rest:
            raise SettingError(rest, *keys, key) from None
        raise SettingError(str(error), *keys) from None


def _fits(value: object, usual: object) -> bool:
    """Tell whether a value is of the type that an option usually has."""
    if isinstance(value, bool) or isinstance(usual, bool):
        return isinstance(value, bool) and isinstance(usual, bool)
    if isinstance(usual, float):
        return isinstance(value, int | float)
    return isinstance(value, str | bytes) if usual is None else isinstance(value, type(usual))


def unknown_key(key: str, known: tuple[str, ...]) -> str:
    """Return what is said of a key that nobody knows."""
    close = get_close_matches(key, known, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(sorted(known))}"
    return f"this key is not known; {hint}"


def _tools(table: dict[str, Any], _folder: Path) -> dict[str, Any]:
    disclosure = table.pop("disclosure", "all")
    _expect_empty(table, "tools", "disclosure")
    if disclosure not in ("all", "search"):
        raise SettingError(f"{disclosure!r}: expected 'all' or 'search'", "tools", "disclosure")
    return {"disclosure": disclosure}


def _health(table: dict[str, Any], _folder: Path) -> dict[str, Any]:
    required = _strings(table.pop("required", []), "health", "required")
    _expect_empty(table, "health", "required")
    return {"required": required}


def _metrics(table: dict[str, Any], _folder: Path) -> dict[str, Any]:
    enabled = table.pop("enabled", True)
    _expect_empty(table, "metrics", "enabled")
    if not isinstance(enabled, bool):
        raise SettingError(f"expected true or false, got {enabled!r:.40}", "metrics", "enabled")
    return {"metrics": enabled}


def _audit(table: dict[str, Any], folder: Path) -> dict[str, Any]:
    if isinstance(table.get("key"), str):
        table["key"] = table["key"].encode()
    return {
        "audit_file": _file(table, folder, "audit"),
        "audit": fill(AuditOptions, table, "audit"),
    }


def _pins(table: dict[str, Any], folder: Path) -> dict[str, Any]:
    shared = table.pop("shared", False)
    if not isinstance(shared, bool):
        raise SettingError(f"expected true or false, got {shared!r:.40}", "pins", "shared")
    has_file = not shared or "file" in table
    return {
        "shares_pins": shared,
        "pins_file": _file(table, folder, "pins") if has_file else None,
        "pins": fill(PinTerms, table, "pins"),
    }


def _replicas(table: dict[str, Any], _folder: Path) -> dict[str, Any]:
    url, namespace = table.pop("store", None), table.pop("namespace", None)
    keys = _strings(table.pop("keys", []), "replicas", "keys")
    _expect_empty(table, "replicas", "store", "namespace", "keys")
    if not isinstance(url, str):
        raise SettingError('expected store = "redis://…"', "replicas")
    if namespace is not None and not isinstance(namespace, str):
        raise SettingError("expected a string", "replicas", "namespace")
    if not keys:
        raise SettingError("expected a secret that all replicas have", "replicas", "keys")
    try:
        store = RedisStore(url, namespace=namespace)
        found = ReplicaSettings(store=store, keys=tuple(each.encode() for each in keys))
        found.server_options()
    except (ValueError, ImportError) as error:
        raise SettingError(str(error), "replicas") from None
    return {"replicas": found}


def _screening(table: dict[str, Any], _folder: Path) -> dict[str, Any]:
    written = table.pop("withhold", None)
    ignore = frozenset(_strings(table.pop("ignore", []), "screening", "ignore"))
    _expect_empty(table, "screening", "withhold", "ignore")
    levels = {str(each): each for each in Severity}
    if written is not None and written not in levels:
        raise SettingError(
            f"{written!r:.40}: expected one of {', '.join(levels)}", "screening", "withhold"
        )
    least = None if written is None else levels[written]
    try:
        return {"screening": ScreeningTerms(withhold=least, ignore=ignore)}
    except ValueError as error:
        raise SettingError(str(error).partition("=")[2], "screening", "ignore") from None


_TABLES: Final[Mapping[str, Callable[[dict[str, Any], Path], dict[str, Any]]]] = {
    "tools": _tools,
    "health": _health,
    "metrics": _metrics,
    "audit": _audit,
    "pins": _pins,
    "replicas": _replicas,
    "screening": _screening,
}


def _file(table: dict[str, Any], folder: Path, name: str) -> Path:
    written = table.pop("file", None)
    if not isinstance(written, str) or not written:
        raise SettingError('expected file = "…"', name)
    return folder / Path(written).expanduser()


def _strings(value: object, *keys: str) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise SettingError(f"expected a list of strings, got {type(value).__name__}", *keys)
    for each in cast("list[object]", value):
        if not isinstance(each, str):
            raise SettingError(f"expected strings, got {type(each).__name__}", *keys)
    return tuple(cast("list[str]", value))


def _expect_empty(table: dict[str, Any], name: str, *known: str) -> None:
    for key in table:
        raise SettingError(unknown_key(key, known), name, key)
