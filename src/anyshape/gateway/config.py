"""A gateway from a file: our TOML, or the `mcpServers` JSON that hosts use.

Both are checked when they are loaded; what is wrong is told with the line and the key. Values of
headers and variables may name a variable of the environment, `${TOKEN}`, or a file, `${file:PATH}`,
so that no secret has to stand in the file.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, cast

from anyshape.errors import AnyshapeError
from anyshape.gateway.breaker import BreakerOptions
from anyshape.gateway.options import RetryOptions, Upstream
from anyshape.gateway.room import RoomOptions
from anyshape.gateway.settings import (
    GatewaySettings,
    SettingError,
    fill,
    read_settings,
    unknown_key,
)

__all__ = ["ConfigError", "GatewayConfig", "load"]

_HOSTS: Final = ("mcpServers", "servers")
"""What hosts call their servers; Visual Studio Code has the second."""
_OURS: Final = {each.name for each in fields(Upstream)} - {"target", "auth"}
_NESTED: Final[Mapping[str, type[Any]]] = {
    "room": RoomOptions,
    "caller_room": RoomOptions,
    "breaker": BreakerOptions,
    "retry": RetryOptions,
}
_WHERE: Final = ("url", "command", "module")
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_SECRET: Final = re.compile(r"\$\{(?:(file):)?([^}]*)\}")
_MODULE_FILE: Final = re.compile(r"^.*\.py(?=$|:)")
FindServer: TypeAlias = Callable[[str], Any]
_MOST_BYTES: Final = 4 * 1024 * 1024


class ConfigError(AnyshapeError):
    """A configuration cannot be used; the message names file, line and key."""


@dataclass(frozen=True, slots=True)
class GatewayConfig:
    """What a file says."""

    upstreams: Mapping[str, Upstream]
    name: str = "anyshape-gateway"
    instructions: str | None = None
    settings: GatewaySettings = field(default_factory=GatewaySettings)
    """What is said of the gateway itself."""
    endpoints: Literal["one", "each", "both"] = "one"


class _File:
    """One file being read: its text, and how to say what is wrong with it."""

    def __init__(self, path: Path, find: FindServer | None) -> None:
        self.path = path
        self.find = find
        try:
            if path.stat().st_size > _MOST_BYTES:
                raise ConfigError(f"{path}: expected at most {_MOST_BYTES} bytes")
            self.text = path.read_text(encoding="utf-8")
        except OSError as error:
            raise ConfigError(f"{path}: {error.strerror or error}") from None
        except UnicodeDecodeError:
            raise ConfigError(f"{path}: expected UTF-8") from None

    @property
    def folder(self) -> Path:
        """Where it is; what it names is found from there."""
        return self.path.parent.resolve()

    def wrong(self, message: str, *keys: str) -> ConfigError:
        """Return the error about the value under some keys."""
        where = ".".join(key if key.isprintable() else repr(key) for key in keys)
        return ConfigError(f"{self.path}, line {self._line(keys)}: {where}: {message}")

    def _line(self, keys: tuple[str, ...]) -> int:
        """Return the line of the last of some keys, each looked for after the one before it."""
        at = 0
        for key in keys:
            found = re.compile(rf'(?<![\w-])"?{re.escape(key)}"?(?![\w-])').search(self.text, at)
            if found is None:
                break
            at = found.start()
        return self.text.count("\n", 0, at) + 1


def load(path: str | Path, find: FindServer | None = None) -> GatewayConfig:
    """Return what a file says; `ConfigError` if it cannot be used.

    `find` returns the server object that `module = "server.py:name"` means.
    """
    file = _File(Path(path), find)
    if file.path.suffix == ".json" or file.text.lstrip().startswith("{"):
        return _read_hosts(file)
    try:
        document = tomllib.loads(file.text)
    except (ValueError, RecursionError) as error:  # its own errors are among the first
        raise ConfigError(f"{file.path}: expected TOML: {error}") from None
    return _read_ours(file, document)


def _read_ours(file: _File, document: dict[str, Any]) -> GatewayConfig:
    found = document.pop("upstreams", None)
    if not isinstance(found, dict) or not found:
        raise ConfigError(
            f'{file.path}: expected a table [upstreams.NAME] with url = "…" or command = […]'
        )
    name = _text(file, document.pop("name", "anyshape-gateway"), "name")
    instructions = document.pop("instructions", None)
    if instructions is not None:
        instructions = _text(file, instructions, "instructions")
    endpoints = document.pop("endpoints", "one")
    if endpoints not in ("one", "each", "both"):
        raise file.wrong(f"{endpoints!r:.40}: expected 'one', 'each' or 'both'", "endpoints")
    try:
        audit = document.get("audit")
        if isinstance(audit, dict) and isinstance(cast("Any", audit).get("key"), str):
            audit["key"] = _filled(file, cast("str", audit["key"]), "audit", "key")
        _fill_replicas(file, document.get("replicas"))
        settings = read_settings(document, file.path.parent)
    except SettingError as error:
        raise file.wrong(str(error), *error.keys) from None
    upstreams = {
        each: _read_upstream(file, each, _table(file, table, "upstreams", each))
        for each, table in cast("dict[str, Any]", found).items()
    }
    return GatewayConfig(upstreams, name, instructions, settings, endpoints)


def _fill_replicas(file: _File, table: Any) -> None:
    """Put in the secrets that the replicas share, where they are only named."""
    if not isinstance(table, dict):
        return
    found = cast("dict[str, Any]", table)
    if isinstance(found.get("store"), str):
        found["store"] = _filled(file, found["store"], "replicas", "store")
    if isinstance(found.get("keys"), list):
        found["keys"] = [
            _filled(file, each, "replicas", "keys") if isinstance(each, str) else each
            for each in cast("list[object]", found["keys"])
        ]


def _read_upstream(file: _File, name: str, table: dict[str, Any]) -> Upstream:
    keys = ("upstreams", name)
    _check_name(file, name, keys)
    for key in table:
        if key not in _OURS and key not in _WHERE:
            raise file.wrong(unknown_key(key, (*_OURS, *_WHERE)), *keys, key)
    given = [key for key in _WHERE if key in table]
    if len(given) != 1:
        raise file.wrong(f"expected one of url, command and module, got {len(given)}", *keys)
    options: dict[str, Any] = {"target": _target(file, given[0], table, keys)}
    for key in _OURS & table.keys():
        value: Any = table[key]
        if key in ("headers", "env", "rename"):
            value = _texts(file, value, *keys, key)
        elif key in ("allow", "deny"):
            value = tuple(_list(file, value, *keys, key))
        elif key in _NESTED:
            try:
                value = fill(_NESTED[key], _table(file, value, *keys, key), *keys, key)
            except SettingError as error:
                raise file.wrong(str(error), *error.keys) from None
        elif key in ("timeout", "refresh"):
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise file.wrong(f"expected a number of seconds, got {value!r:.60}", *keys, key)
        else:
            value = _text(file, value, *keys, key)
        options[key] = value
    if given[0] == "command":  # what it names is beside the file, wherever the gateway is started
        options["cwd"] = str(file.folder / options.get("cwd", ""))
    return _made(file, options, keys)


def _read_hosts(file: _File) -> GatewayConfig:
    try:
        document: Any = json.loads(file.text)
    except json.JSONDecodeError as error:
        raise ConfigError(f"{file.path}, line {error.lineno}: expected JSON: {error.msg}") from None
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{file.path}: expected JSON: {error}") from None
    section = next((key for key in _HOSTS if isinstance(document, dict) and key in document), None)
    if section is None:
        raise ConfigError(f'{file.path}: expected an object with "mcpServers" in it')
    found = cast("dict[str, Any]", document)[section]
    if not isinstance(found, dict) or not found:
        raise file.wrong("expected an object with at least one server", section)
    upstreams: dict[str, Upstream] = {}
    for name, entry in cast("dict[str, Any]", found).items():
        keys = (section, name)
        table = _table(file, entry, *keys)
        if table.get("disabled") is True:
            continue
        _check_name(file, name, keys)
        if table.get("type") == "sse":
            raise file.wrong(
                "the HTTP+SSE transport of 2024-11-05 is not spoken; expected Streamable HTTP",
                *keys,
                "type",
            )
        options: dict[str, Any] = {}
        if isinstance(table.get("command"), str):
            arguments = _list(file, table.get("args", []), *keys, "args")
            options["target"] = [table["command"], *arguments]
            options["env"] = _texts(file, table.get("env", {}), *keys, "env")
            if "cwd" in table:
                options["cwd"] = _text(file, table["cwd"], *keys, "cwd")
        elif isinstance(table.get("url"), str):
            options["target"] = table["url"]
            options["headers"] = _texts(file, table.get("headers", {}), *keys, "headers")
        else:
            raise file.wrong('expected "command" or "url", a string', *keys)
        upstreams[name] = _made(file, options, keys)
    if not upstreams:
        raise file.wrong("every server is disabled", section)
    return GatewayConfig(upstreams)


def _made(file: _File, options: dict[str, Any], keys: tuple[str, ...]) -> Upstream:
    try:
        return Upstream(**options)
    except ValueError as error:
        key, _, rest = str(error).partition("=")
        raise file.wrong(rest or str(error), *keys, *((key,) if rest else ())) from None


def _target(file: _File, key: str, table: dict[str, Any], keys: tuple[str, ...]) -> Any:
    value = table[key]
    if key == "command":
        command = [value] if isinstance(value, str) else _list(file, value, *keys, key)
        if not command:
            raise file.wrong("expected a program and its arguments", *keys, key)
        return command
    text = _text(file, value, *keys, key)
    if key == "url":
        if not text.lower().startswith(("http://", "https://")):
            raise file.wrong(f"expected an http or https URL, got {text!r:.60}", *keys, key)
        return text
    if file.find is None:
        raise file.wrong("modules are for `anyshape gateway`; pass find= to load them", *keys, key)
    return file.find(_MODULE_FILE.sub(lambda found: str(file.folder / found[0]), text))


def _check_name(file: _File, name: str, keys: tuple[str, ...]) -> None:
    if _NAME.fullmatch(name) is None:
        raise file.wrong(
            "expected a name of letters, digits, dots, dashes and underscores, 64 at most", *keys
        )


def _table(file: _File, value: object, *keys: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise file.wrong(f"expected a table, got {type(value).__name__}", *keys)
    return cast("dict[str, Any]", value)


def _text(file: _File, value: object, *keys: str) -> str:
    if not isinstance(value, str):
        raise file.wrong(f"expected a string, got {type(value).__name__}", *keys)
    return value


def _list(file: _File, value: object, *keys: str) -> list[str]:
    if not isinstance(value, list):
        raise file.wrong(f"expected a list of strings, got {type(value).__name__}", *keys)
    return [_text(file, each, *keys) for each in cast("list[object]", value)]


def _texts(file: _File, value: object, *keys: str) -> dict[str, str]:
    """Return a table of strings, with what they name in the environment or in files put in."""
    table = _table(file, value, *keys)
    return {
        key: _filled(file, _text(file, each, *keys, key), *keys, key) for key, each in table.items()
    }


def _filled(file: _File, text: str, *keys: str) -> str:
    def fill(found: re.Match[str]) -> str:
        kind, name = found.groups()
        if kind == "file":
            try:
                return (file.path.parent / name).read_text(encoding="utf-8").strip()
            except (OSError, ValueError) as error:
                reason = getattr(error, "strerror", None) or "no text"
                raise file.wrong(f"the file {name!r} cannot be read: {reason}", *keys) from None
        if name not in set(os.environ):  # Asked itself, it raises for what no name can be.
            raise file.wrong(f"the environment has no variable {name!r}", *keys)
        return os.environ[name]

    return _SECRET.sub(fill, text)
