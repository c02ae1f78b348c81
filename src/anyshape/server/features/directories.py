"""A file tree as resources, which nobody can leave.

A path in a URI is taken apart into names, each a plain one, and every name is opened inside the
directory before it, never through a symbolic link. So there is no path to be misread: not by `..`,
an absolute path, a backslash, an escape, nor by a link that somebody makes in between. Reading and
listing happen on worker threads, and are bounded.
"""

from __future__ import annotations

import logging
import os
import re
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from itertools import islice
from mimetypes import MimeTypes
from operator import itemgetter
from pathlib import Path
from time import monotonic
from typing import Annotated, Final
from urllib.parse import quote

from anyshape.errors import ResourceNotFound, ToolDefinitionError, ToolError
from anyshape.protocol.description import ResourceDescription
from anyshape.protocol.resource_contents import Contents
from anyshape.protocol.uri_templates import LONGEST_URI, uri_flaw
from anyshape.tools.completion import Complete

_log = logging.getLogger("anyshape.server")

_DEEPEST: Final = 32
_HAS_DESCRIPTORS: Final = os.open in os.supports_dir_fd and os.scandir in os.supports_fd
_INSIDE: Final = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
# A named pipe would wait for somebody to write.
_FILE: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_DIRECTORY: Final = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
_ODD: Final = re.compile(r"[\x00-\x1f\x7f/\\]")
_ODD_ON_WINDOWS: Final = re.compile(
    r".*[:*?\"<>|].*|.*[ .]|(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE | re.DOTALL
)

# Made here, so that it is the same on every machine: the module's own functions read files.
_TYPES: Final = MimeTypes()
for _ending, _type in {
    ".md": "text/markdown",
    ".toml": "application/toml",
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
    ".jsonl": "application/jsonl",
    ".rs": "text/x-rust",
    ".ts": "text/x-typescript",
    ".sh": "text/x-shellscript",
}.items():
    _TYPES.add_type(_type, _ending)
_TEXT: Final = re.compile(
    r"text/.*|.*\+(?:json|xml)|application/(?:json|jsonl|xml|toml|yaml|javascript|sql|x-sh)"
)


class FileTree:
    """The files below one directory, by the URIs that begin with a prefix."""

    def __init__(
        self,
        prefix: str,
        path: str | os.PathLike[str],
        *,
        hidden: bool,
        max_entries: int,
        max_bytes: int,
        max_age: float,
    ) -> None:
        """Look at nothing yet: the directory may be made after the server is."""
        flaw = uri_flaw(prefix)
        if flaw is None and not prefix.endswith("/"):
            flaw = f"it has to end with '/', got {prefix!r:.60}"
        if flaw is not None:
            raise ToolDefinitionError(f"directory(): the prefix cannot be used: {flaw}")
        if max_entries < 1 or max_bytes < 1:
            raise ToolDefinitionError("directory(): max_entries and max_bytes have to be 1 or more")
        self.prefix = prefix
        self.root = Path(path).absolute()
        """Where it is, whatever the working directory will be."""
        self._hidden = hidden
        self._max_entries = max_entries
        self._max_bytes = max_bytes
        self._max_age = max_age
        self._looking = threading.Lock()
        self._listed: dict[str, ResourceDescription] = {}
        self._stale_at = 0.0

    def entries(self) -> dict[str, ResourceDescription]:
        """Return the files by their paths, as they were no more than `max_age` seconds ago."""
        with self._looking:
            if not self._listed or monotonic() >= self._stale_at:
                self._listed = dict(self._look())
                self._stale_at = monotonic() + self._max_age
            return self._listed

    def suggest(self, typed: str) -> list[str]:
        """Return the paths that begin with a text."""
        return [path for path in self.entries() if path.startswith(typed)]

    def reader(self) -> Callable[[str], Contents]:
        """Return the function that reads a file, for a resource to be made of."""

        def read(path: Annotated[str, Complete(self.suggest)]) -> Contents:
            return self.read(path)

        return read

    def read(self, path: str) -> Contents:
        """Return the contents of a file; raises `ResourceNotFound` if it cannot be had."""
        names = path.split("/")
        if len(names) > _DEEPEST or not all(map(self._is_plain, names)):
            raise ResourceNotFound
        try:
            descriptor = _open(self.root, names, _FILE)
        except (OSError, ValueError):
            raise ResourceNotFound from None
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise ResourceNotFound
        with open(descriptor, "rb") as file:
            data = file.read(self._max_bytes + 1)
        if len(data) > self._max_bytes:
            raise ToolError(f"the file is longer than {self._max_bytes} bytes")
        return _contents(names[-1], data)

    def _look(self) -> Iterator[tuple[str, ResourceDescription]]:
        """Yield the files, in order, until as many entries were seen as may be."""
        left = self._max_entries
        pending: list[tuple[str, ...]] = [()]
        while pending and left > 0:
            names = pending.pop()
            found = self._look_into(names, left + 1)
            left -= len(found)
            if left < 0:
                _log.warning(
                    "%s: more than %d entries; the others are not listed, but can be read",
                    *(self.root, self._max_entries),
                )
            deeper: list[tuple[str, ...]] = []
            for name, status in found[: left if left < 0 else None]:
                if not self._is_plain(name):
                    continue
                inner = (*names, name)
                if stat.S_ISDIR(status.st_mode):
                    deeper.append(inner)
                elif stat.S_ISREG(status.st_mode):
                    path = "/".join(inner)
                    uri = self.prefix + quote(path, safe="/~")
                    if len(uri) <= LONGEST_URI:
                        yield path, _description(uri, name, status)
            if len(names) + 1 < _DEEPEST:
                pending += reversed(deeper)

    def _look_into(self, names: tuple[str, ...], most: int) -> list[tuple[str, os.stat_result]]:
        """Return at most so many entries of a directory, sorted; none if it is not there."""
        try:
            where = _open(self.root, names, _DIRECTORY) if _HAS_DESCRIPTORS else None
        except OSError:
            return []
        found: list[tuple[str, os.stat_result]] = []
        try:
            path = self.root.joinpath(*names) if where is None else where
            with os.scandir(path) as entries:
                for entry in islice(entries, most):
                    with suppress(OSError):  # It may be gone by now.
                        found.append((entry.name, entry.stat(follow_symlinks=False)))
        except OSError:
            pass
        finally:
            if where is not None:
                os.close(where)
        return sorted(found, key=itemgetter(0))

    def _is_plain(self, name: str) -> bool:
        """Tell whether a name is one of a file, and nothing else on any system."""
        if not name or name in (".", "..") or _ODD.search(name):
            return False
        if os.name == "nt" and _ODD_ON_WINDOWS.fullmatch(name):
            return False
        try:
            name.encode()
        except UnicodeEncodeError:
            return False  # A name on disk that is no text.
        return self._hidden or not name.startswith(".")


def _open(root: Path, names: list[str] | tuple[str, ...], flags: int) -> int:
    """Open what names lead to, one inside the other, through no link."""
    if not _HAS_DESCRIPTORS:
        path = root.joinpath(*names)
        if Path(os.path.realpath(path)) != Path(os.path.realpath(root)).joinpath(*names):
            raise FileNotFoundError
        return os.open(path, flags)
    descriptor = os.open(root, _DIRECTORY | getattr(os, "O_CLOEXEC", 0))
    for place, name in enumerate(names, start=1):
        try:
            inner = os.open(
                name,
                _INSIDE | (flags if place == len(names) else _DIRECTORY),
                dir_fd=descriptor,
            )
        finally:
            os.close(descriptor)
        descriptor = inner
    return descriptor


def _description(uri: str, name: str, status: os.stat_result) -> ResourceDescription:
    modified = datetime.fromtimestamp(status.st_mtime, UTC).isoformat(timespec="seconds")
    return ResourceDescription(
        uri=uri,
        name=name,
        mime_type=_TYPES.guess_type(name)[0],
        size=status.st_size,
        annotations={"lastModified": modified.replace("+00:00", "Z")},
    )


def _contents(name: str, data: bytes) -> Contents:
    """Return a file as text, if it is one by its name and by what it holds, else as it is."""
    kind, coding = _TYPES.guess_type(name)
    if coding is None and (kind is None or _TEXT.fullmatch(kind)) and b"\x00" not in data:
        try:
            return Contents(data.decode(), kind or "text/plain")
        except UnicodeDecodeError:
            pass
    return Contents(data, (coding is None and kind) or "application/octet-stream")
