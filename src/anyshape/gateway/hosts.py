"""Servers as hosts describe them: `mcpServers` in JSON, `servers` in Visual Studio Code.

Read as Claude Desktop, Claude Code, Cursor, Visual Studio Code, Windsurf and Gemini CLI write it:
what names a server, starts it, or withholds a tool of it counts. What else hosts say is theirs.

https://code.visualstudio.com/docs/copilot/reference/mcp-configuration
https://code.claude.com/docs/en/mcp#environment-variable-expansion-in-mcp-json
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, cast

from anyshape.gateway.options import Upstream
from anyshape.gateway.tables import (
    SettingError,
    check_name,
    made,
    read_file,
    read_table,
    read_text,
    read_texts,
    with_secrets,
)

SECTIONS: Final = ("mcpServers", "servers")
"""What hosts call their servers; Visual Studio Code has the second."""
_URLS: Final = ("url", "serverUrl", "httpUrl")
"""Windsurf has the second, Gemini CLI the third."""
_WITHHELD: Final = ("disabledTools", "excludeTools")
_FOLDERS: Final = (".vscode", ".cursor", ".gemini")
"""Where hosts keep the file of a workspace."""
_ASKED: Final = re.compile(r"\$\{input:")
_VARIABLE: Final = re.compile(r"\$\{(\w+)\}")
_NO_NAME: Final = re.compile(r"[^A-Za-z0-9_.-]+")
_STRING: Final = r'"(?:\\.|[^"\\])*+(?:"|\Z)'
_COMMENT: Final = re.compile(rf"{_STRING}|//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_LAST_COMMA: Final = re.compile(rf"{_STRING}|,(?=\s*+[}}\]])", re.DOTALL)
_SHOWN: Final = re.compile(r"\S")


def as_json(text: str) -> str:
    """Return the JSON with comments that some hosts read, less comments and last commas.

    Spaces take their place, so that every line keeps its number.
    """

    def blank(found: re.Match[str]) -> str:
        return found[0] if found[0].startswith('"') else _SHOWN.sub(" ", found[0])

    return _LAST_COMMA.sub(blank, _COMMENT.sub(blank, text))


def find_section(document: object) -> str | None:
    """Return the key that has the servers, `None` if nothing in a document has them."""
    members = cast("dict[str, object]", document) if isinstance(document, dict) else {}
    return next((key for key in SECTIONS if key in members), None)


def read_servers(table: object, folder: Path, section: str) -> dict[str, Upstream]:
    """Return all servers that are not disabled; `folder` has the file."""
    if not isinstance(table, dict) or not table:
        raise SettingError("expected an object with at least one server", section)
    found: dict[str, Upstream] = {}
    for called, value in cast("dict[str, object]", table).items():
        entry = read_table(value, section, called)
        if entry.get("disabled") is True or entry.get("enabled") is False:
            continue
        name = _name(section, called)
        if name in found:
            raise SettingError(f"another server is called {name!r}, too", section, called)
        found[name] = _Entry(entry, folder, section, called).read()
    if not found:
        raise SettingError("every server is disabled", section)
    return found


def _name(*keys: str) -> str:
    """Return what a server is called here; hosts allow spaces and slashes."""
    name = keys[-1]
    if name.isprintable():
        name = _NO_NAME.sub("_", name)
    check_name(name, *keys)
    return name


class _Entry:
    """One server, and what the words in it stand for."""

    def __init__(self, table: dict[str, Any], folder: Path, *keys: str) -> None:
        self._table = table
        self._keys = keys
        self._folder = folder
        self._workspace = folder.parent if folder.name in _FOLDERS else folder
        self._words = {
            "workspaceFolder": str(self._workspace),
            "workspaceFolderBasename": self._workspace.name,
            "userHome": str(Path.home()),
            "pathSeparator": os.sep,
            "/": os.sep,
        }

    def read(self) -> Upstream:
        """Return the server."""
        table = self._table
        options: dict[str, Any] = {}
        url = next((key for key in _URLS if isinstance(table.get(key), str)), None)
        if isinstance(table.get("command"), str):
            options = self._process()
        elif url is not None:
            options["target"] = self._fill(table[url], url)
            options["headers"] = self._texts("headers")
        else:
            raise SettingError('expected "command" or "url", a string', *self._keys)
        if "sse" in (table.get("type"), table.get("transport")):
            options["type"] = "sse"
        options["deny"] = tuple(tool for key in _WITHHELD for tool in self._list(key))
        if "includeTools" in table:
            options["allow"] = tuple(self._list("includeTools"))
        return made(Upstream, options, *self._keys)

    def _process(self) -> dict[str, Any]:
        """Return what starts a process."""
        table = self._table
        env = self._texts("env")
        if "envFile" in table:
            env = self._variables(self._fill(table["envFile"], "envFile")) | env
        command = [
            self._argument(read_text(table["command"], *self._keys, "command"), env, "command"),
            *(self._argument(each, env, "args") for each in self._list("args")),
        ]
        options: dict[str, Any] = {"target": command, "env": env}
        if "cwd" in table:
            options["cwd"] = str(self._workspace / self._fill(table["cwd"], "cwd"))
        return options

    def _variables(self, file: str) -> dict[str, str]:
        """Return the variables of a file that has one in each line, `NAME=value`."""
        found: dict[str, str] = {}
        text = read_file(file, self._workspace, *self._keys, "envFile")
        for line in text.splitlines():
            name, equals, value = (part.strip() for part in line.partition("="))
            name = name.removeprefix("export ").strip()
            if equals and not name.startswith("#"):
                is_quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
                found[name] = value[1:-1] if is_quoted else value
        return found

    def _list(self, key: str) -> list[str]:
        return read_texts(self._table.get(key, []), *self._keys, key)

    def _texts(self, key: str) -> dict[str, str]:
        table = read_table(self._table.get(key, {}), *self._keys, key)
        return {name: self._fill(value, key, name) for name, value in table.items()}

    def _argument(self, text: str, env: Mapping[str, str], key: str) -> str:
        """Return an argument; a variable that only the program itself has is left to it."""
        names = set(_VARIABLE.findall(text))
        own = {name: f"${{{name}}}" for name in names if name in env or name not in os.environ}
        return self._fill(text, key, own=own)

    def _fill(self, value: object, *keys: str, own: Mapping[str, str] | None = None) -> str:
        text = read_text(value, *self._keys, *keys)
        if _ASKED.search(text):
            raise SettingError(
                "nobody is there to be asked for an input; "
                "expected a variable of the environment, such as ${TOKEN}",
                *self._keys,
                *keys,
            )
        words = {**(own or {}), **self._words}
        return with_secrets(text, self._folder, *self._keys, *keys, words=words)
