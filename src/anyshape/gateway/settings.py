"""The tables of a configuration beside the upstreams, as the parts they are about."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from anyshape.gateway.audit import AuditOptions
from anyshape.gateway.pins import Pins, PinTerms
from anyshape.gateway.tables import (
    SettingError,
    expect_known,
    fill,
    read_flag,
    read_table,
    read_text,
    read_texts,
    with_secrets,
)
from anyshape.gateway.vetting import ScreeningTerms, Vetting
from anyshape.screening import Severity
from anyshape.server.http_options import HttpOptions
from anyshape.server.options import ServerOptions
from anyshape.server.sessions import Sessions
from anyshape.server.stores.redis_store import RedisStore

if TYPE_CHECKING:
    from anyshape.gateway.shared_pins import SharedPins


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
    """Return the settings in some tables, or a `SettingError`; files are found from `folder`."""
    expect_known(tables, _TABLES)
    read: dict[str, Any] = {}
    for name, table in tables.items():
        read.update(_TABLES[name](dict(read_table(table, name)), folder))
    if read.get("shares_pins") and "replicas" not in read:
        raise SettingError("pins are shared by [replicas], and there are none", "pins", "shared")
    return GatewaySettings(**read)


def _tools(table: dict[str, Any], _folder: Path) -> dict[str, Any]:
    expect_known(table, ("disclosure",), "tools")
    disclosure = table.get("disclosure", "all")
    if disclosure not in ("all", "search"):
        raise SettingError(f"{disclosure!r}: expected 'all' or 'search'", "tools", "disclosure")
    return {"disclosure": disclosure}


def _health(table: dict[str, Any], _folder: Path) -> dict[str, Any]:
    expect_known(table, ("required",), "health")
    return {"required": tuple(read_texts(table.get("required", []), "health", "required"))}


def _metrics(table: dict[str, Any], _folder: Path) -> dict[str, Any]:
    expect_known(table, ("enabled",), "metrics")
    return {"metrics": read_flag(table.get("enabled", True), "metrics", "enabled")}


def _audit(table: dict[str, Any], folder: Path) -> dict[str, Any]:
    if "key" in table:
        keys = ("audit", "key")
        table["key"] = with_secrets(read_text(table["key"], *keys), folder, *keys).encode()
    return {
        "audit_file": _file(table, folder, "audit"),
        "audit": fill(AuditOptions, table, "audit"),
    }


def _pins(table: dict[str, Any], folder: Path) -> dict[str, Any]:
    shared = read_flag(table.pop("shared", False), "pins", "shared")
    has_file = not shared or "file" in table
    return {
        "shares_pins": shared,
        "pins_file": _file(table, folder, "pins") if has_file else None,
        "pins": fill(PinTerms, table, "pins"),
    }


def _replicas(table: dict[str, Any], folder: Path) -> dict[str, Any]:
    expect_known(table, ("store", "namespace", "keys"), "replicas")
    if "store" not in table:
        raise SettingError('expected store = "redis://…"', "replicas")
    url = with_secrets(read_text(table["store"], "replicas", "store"), folder, "replicas", "store")
    namespace = table.get("namespace")
    if namespace is not None:
        namespace = read_text(namespace, "replicas", "namespace")
    keys = [
        with_secrets(each, folder, "replicas", "keys")
        for each in read_texts(table.get("keys", []), "replicas", "keys")
    ]
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
    expect_known(table, ("withhold", "ignore"), "screening")
    written = table.get("withhold")
    ignore = frozenset(read_texts(table.get("ignore", []), "screening", "ignore"))
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
