"""A gateway from a file: our TOML, or the `mcpServers` JSON that hosts use.

Both are checked when they are loaded; what is wrong is told with the line and the key. Values of
headers and variables may name a variable of the environment, `${TOKEN}`, or a file, `${file:PATH}`,
so that no secret has to stand in the file. What hosts write is in `hosts`.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, cast

from anyshape.client.quoting import shorten, without_secrets
from anyshape.client.target import is_url
from anyshape.errors import ConfigError
from anyshape.gateway.breaker import BreakerOptions
from anyshape.gateway.hosts import as_json, find_section, read_servers
from anyshape.gateway.options import RetryOptions, Upstream
from anyshape.gateway.room import RoomOptions
from anyshape.gateway.settings import GatewaySettings, read_settings
from anyshape.gateway.tables import (
    SettingError,
    check_name,
    expect_known,
    fill,
    made,
    read_table,
    read_text,
    read_texts,
    with_secrets,
)

_OURS: Final = {each.name for each in fields(Upstream)} - {"target", "auth"}
_NESTED: Final[Mapping[str, type[Any]]] = {
    "room": RoomOptions,
    "caller_room": RoomOptions,
    "breaker": BreakerOptions,
    "retry": RetryOptions,
}
_NUMBERS: Final = ("timeout", "refresh")
_REQUIRED: Final = ("health", "required")
_WHERE: Final = ("url", "command", "module")
_MODULE_FILE: Final = re.compile(r"^.*\.py(?=$|:)")
FindServer: TypeAlias = Callable[[str], Any]
_MOST_BYTES: Final = 4 * 1024 * 1024


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

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            if path.stat().st_size > _MOST_BYTES:
                raise ConfigError(f"{path}: expected at most {_MOST_BYTES} bytes")
            self.text = path.read_text(encoding="utf-8-sig")  # editors of Windows sign theirs
        except OSError as error:
            raise ConfigError(f"{path}: {error.strerror or error}") from None
        except UnicodeDecodeError:
            raise ConfigError(f"{path}: expected UTF-8") from None

    @property
    def folder(self) -> Path:
        """Where it is; what it names is found from there."""
        return self.path.parent.resolve()

    def explain(self, wrong: SettingError) -> ConfigError:
        """Return the error about a value, with the line that it is in."""
        where = ".".join(key if key.isprintable() else repr(key) for key in wrong.keys)
        return ConfigError(f"{self.path}, line {self._line(wrong.keys)}: {where}: {wrong}")

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

    `find` returns the server object that `module = "server.py:name"` means, or raises `ValueError`.
    """
    file = _File(Path(path))
    try:
        if file.path.suffix == ".json" or file.text.lstrip().startswith("{"):
            return _read_hosts(file)
        return _read_ours(file, find)
    except SettingError as error:
        raise file.explain(error) from None


def is_configuration(path: str | Path) -> bool:
    """Tell whether a file is meant to describe a gateway: TOML, or JSON in which servers are."""
    path = Path(path)
    if path.suffix != ".json":
        return path.suffix == ".toml"
    try:
        document: Any = json.loads(as_json(_File(path).text))
    except (ConfigError, ValueError, RecursionError):
        return False
    section = find_section(document)
    return section is not None and isinstance(document[section], dict)


def _read_ours(file: _File, find: FindServer | None) -> GatewayConfig:
    try:
        document = tomllib.loads(file.text)
    except (ValueError, RecursionError) as error:  # its own errors are among the first
        raise ConfigError(f"{file.path}: expected TOML: {error}") from None
    found = document.pop("upstreams", None)
    if not isinstance(found, dict) or not found:
        raise ConfigError(
            f'{file.path}: expected a table [upstreams.NAME] with url = "…" or command = […]'
        )
    name = read_text(document.pop("name", "anyshape-gateway"), "name")
    instructions = document.pop("instructions", None)
    if instructions is not None:
        instructions = read_text(instructions, "instructions")
    endpoints = document.pop("endpoints", "one")
    if endpoints not in ("one", "each", "both"):
        raise SettingError(f"{endpoints!r:.40}: expected 'one', 'each' or 'both'", "endpoints")
    settings = read_settings(document, file.folder)
    upstreams = {
        each: _read_upstream(each, read_table(table, "upstreams", each), file.folder, find)
        for each, table in cast("dict[str, Any]", found).items()
    }
    missing = [each for each in settings.required if each not in upstreams]
    if missing:  # it would never be ready, and only its probe would tell
        known = ", ".join(upstreams)
        raise SettingError(f"there is no upstream {missing[0]!r}; known are {known}", *_REQUIRED)
    return GatewayConfig(upstreams, name, instructions, settings, endpoints)


def _read_upstream(
    name: str, table: dict[str, Any], folder: Path, find: FindServer | None
) -> Upstream:
    keys = ("upstreams", name)
    check_name(name, *keys)
    expect_known(table, (*_OURS, *_WHERE), *keys)
    given = [key for key in _WHERE if key in table]
    if len(given) != 1:
        raise SettingError(f"expected one of url, command and module, got {len(given)}", *keys)
    (where,) = given
    options: dict[str, Any] = {}
    if where == "module":
        options["target"] = _find_server(table[where], folder, find, *keys, where)
    else:
        options["target"] = _target(table[where], *keys, where)
    for key in _OURS & table.keys():
        value: Any = table[key]
        if key in ("headers", "env", "rename"):
            value = _named_texts(value, folder, *keys, key)
        elif key in ("allow", "deny"):
            value = tuple(read_texts(value, *keys, key))
        elif key in _NESTED:
            value = fill(_NESTED[key], read_table(value, *keys, key), *keys, key)
        elif key not in _NUMBERS:
            value = read_text(value, *keys, key)
        options[key] = value
    if where == "command":  # what it names is beside the file, wherever the gateway is started
        options["cwd"] = str(folder / options.get("cwd", ""))
    return made(Upstream, options, *keys)


def _target(value: object, *keys: str) -> str | list[str]:
    """Return a URL, or a command."""
    if keys[-1] == "command":
        command = [value] if isinstance(value, str) else read_texts(value, *keys)
        if not command:
            raise SettingError("expected a program and its arguments", *keys)
        return command
    url = read_text(value, *keys)
    if not is_url(url):
        shown = without_secrets(url) if "://" in url else shorten(url, 60)
        raise SettingError(f"expected an http or https URL, got {shown!r}", *keys)
    return url


def _find_server(value: object, folder: Path, find: FindServer | None, *keys: str) -> Any:
    """Return the server object that a module has; a file is beside that of the configuration."""
    text = read_text(value, *keys)
    if find is None:
        raise SettingError("modules are for `anyshape gateway`; pass find= to load them", *keys)
    try:
        return find(_MODULE_FILE.sub(lambda found: str(folder / found[0]), text))
    except ValueError as error:
        raise SettingError(str(error), *keys) from error


def _read_hosts(file: _File) -> GatewayConfig:
    file.text = as_json(file.text)
    try:
        document: Any = json.loads(file.text)
    except json.JSONDecodeError as error:
        raise ConfigError(f"{file.path}, line {error.lineno}: expected JSON: {error.msg}") from None
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{file.path}: expected JSON: {error}") from None
    section = find_section(document)
    if section is None:
        raise ConfigError(f'{file.path}: expected an object with "mcpServers" in it')
    return GatewayConfig(read_servers(document[section], file.folder, section))


def _named_texts(value: object, folder: Path, *keys: str) -> dict[str, str]:
    """Return a table of strings, with what they name in the environment or in files put in."""
    return {
        key: with_secrets(read_text(each, *keys, key), folder, *keys, key)
        for key, each in read_table(value, *keys).items()
    }
