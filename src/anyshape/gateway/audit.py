"""An audit log: one line of JSON for each thing that was asked of an upstream.

Who asked, what, of which upstream, what became of it, how long it took and how large it was. Lines
are written by a thread of their own, so that a slow disk delays nobody; of those that do not fit
into the queue, the number is written. A line is ASCII, so nothing that a stranger chose can end it,
forge another or steer the terminal of whoever reads the file. Rotation is left to logrotate, which
moves the file and sends SIGHUP; `reopen` is what the gateway does then.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import os
import re
import secrets
import threading
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, Literal, cast

from anyshape.documents.json import is_array, is_object
from anyshape.errors import AnyshapeError
from anyshape.gateway.digests import canonical

_log = logging.getLogger("anyshape.gateway.audit")
_LONGEST: Final = 300
"""Characters of one text."""
_BATCH: Final = 500
"""Lines that are written at once."""
_CREDENTIAL: Final = re.compile(
    r"pass(?:word|wd|phrase)|secret|token|api[_-]?key|authorization|credential|cookie|private[_-]?key",
    re.IGNORECASE,
)
_WITHHELD: Final = "[withheld]"


class AuditError(AnyshapeError):
    """The audit log cannot be opened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRecord:
    """One thing that was asked. No member is for credentials: say who, not how they proved it."""

    caller: str
    """Who asked: the subject of an access token, or what tells callers apart otherwise."""
    method: str
    name: str = ""
    """Which tool, prompt or resource."""
    upstream: str = ""
    path: str | None = None
    """What the path begins with that it was asked at, if it was that of one upstream."""
    verdict: str
    """What became of it, in a word: `ok`, `error`, `refused`, `withheld`, `down`, `busy`, …"""
    seconds: float = 0.0
    request_bytes: int = 0
    answer_bytes: int = 0
    arguments: bytes | None = None
    """Their JSON text, as it came."""
    trace: str | None = None
    """The id of the trace that the request belongs to."""
    why: str | None = None
    """One line, if the verdict wants one."""
    at: float = field(default_factory=time.time)
    """Seconds since 1970."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditOptions:
    """What is written of arguments, and how much may wait to be written."""

    arguments: Literal["hashed", "full", "none"] = "hashed"
    """`full` writes them, but for members whose names say that they are credentials."""
    key: bytes | None = field(default=None, repr=False)
    """What hashes are keyed with. Without one they can be compared within one process only."""
    max_argument_bytes: int = 16 * 1024
    """Arguments that are longer are hashed."""
    max_waiting: int = 10_000
    max_waiting_bytes: int = 16 * 1024 * 1024

    def __post_init__(self) -> None:
        if self.arguments not in ("hashed", "full", "none"):
            raise ValueError(f"arguments={self.arguments!r}: expected 'hashed', 'full' or 'none'")
        if self.key is not None and not isinstance(cast("object", self.key), bytes):
            raise ValueError(f"key=…: expected bytes, got {type(self.key).__name__}")
        if self.key is not None and len(self.key) < 16:
            raise ValueError(f"key=…: expected at least 16 bytes, got {len(self.key)}")
        for name in ("max_argument_bytes", "max_waiting", "max_waiting_bytes"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}={getattr(self, name)}: expected a number above 0")


class AuditLog:
    """Writes records to a file, in the order in which they came, until it is closed."""

    def __init__(self, path: str | os.PathLike[str], options: AuditOptions | None = None) -> None:
        self._path = os.fspath(path)
        self._options = options or AuditOptions()
        self._key = self._options.key or secrets.token_bytes(32)
        try:
            self._file = self._open()
        except OSError as error:
            raise AuditError(f"cannot open audit log {self._path}: {error.strerror}") from None
        self._waiting: deque[AuditRecord] = deque()
        self._waiting_bytes = 0
        self._untold = 0
        self._dropped = 0
        self._failing = False
        self._is_torn = False
        self._reopening = False
        self._closing = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="anyshape-audit", daemon=True)
        self._thread.start()

    @property
    def dropped(self) -> int:
        """How many records were not written: the queue was full, or the disk refused them."""
        return self._dropped

    def record(self, record: AuditRecord) -> None:
        """Have a record written; returns at once, from any thread."""
        size = len(record.arguments or b"")
        with self._changed:
            options = self._options
            full = len(self._waiting) >= options.max_waiting
            if full or self._closing or self._waiting_bytes + size > options.max_waiting_bytes:
                self._drop(1)
                return
            self._waiting.append(record)
            self._waiting_bytes += size
            self._changed.notify()

    def reopen(self) -> None:
        """Go on in a new file of the same name, after the old one was moved."""
        with self._changed:
            self._reopening = True
            self._changed.notify()

    def close(self, timeout: float = 5.0) -> None:
        """Write what waits, for at most so many seconds, and close the file."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join(timeout)

    def _drop(self, count: int) -> None:
        self._dropped += count
        self._untold += count

    def _open(self) -> int:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
        return os.open(self._path, flags, 0o600)

    def _run(self) -> None:
        while True:
            with self._changed:
                while not (self._waiting or self._reopening or self._closing):
                    self._changed.wait()
                count = min(len(self._waiting), _BATCH)
                batch = [self._waiting.popleft() for _ in range(count)]
                self._waiting_bytes -= sum(len(each.arguments or b"") for each in batch)
                reopening, self._reopening = self._reopening, False
                ending = self._closing and not batch
                untold, self._untold = self._untold, 0
            if reopening:
                self._change_file()
            lines = [line for record in batch if (line := self._written(record)) is not None]
            notice = [_encode({"time": _time(time.time()), "dropped": untold})] if untold else []
            whole = self._write("".join((*lines, *notice)).encode("ascii"))
            if whole < len(lines) + len(notice):
                with self._changed:
                    self._untold += untold
                    self._drop(max(0, len(lines) - whole))
            if ending:
                os.close(self._file)
                return

    def _change_file(self) -> None:
        try:
            fresh = self._open()
        except OSError as error:
            _log.error("audit log %s cannot be opened again: %s", self._path, error.strerror)
            return
        os.close(self._file)
        self._file, self._is_torn = fresh, False

    def _write(self, data: bytes) -> int:
        """Write lines and return how many are there, whole.

        A failure is logged once, until writing succeeds again. A disk that is full takes a part of
        a line: what follows later begins another one.
        """
        begun = b"\n" if data and self._is_torn else b""
        data, written = begun + data, 0
        try:
            while written < len(data):
                written += os.write(self._file, data[written:])
        except OSError as error:
            if not self._failing:
                _log.error("audit log %s cannot be written: %s", self._path, error.strerror)
            self._failing = True
        else:
            self._failing = False
        if written:
            self._is_torn = not data[:written].endswith(b"\n")
        return data[len(begun) : written].count(b"\n")

    def _written(self, record: AuditRecord) -> str | None:
        """Return the line of a record; a fault of ours costs that line, and not the thread."""
        try:
            return self._line(record)
        except Exception:
            _log.exception("a record of the audit log cannot be written")
            with self._changed:
                self._drop(1)
            return None

    def _line(self, record: AuditRecord) -> str:
        entry: dict[str, Any] = {
            "time": _time(record.at),
            "caller": _short(record.caller),
            "method": _short(record.method),
            "name": _short(record.name),
            "upstream": _short(record.upstream),
            "verdict": _short(record.verdict),
            "milliseconds": round(record.seconds * 1000, 3),
            "requestBytes": record.request_bytes,
            "answerBytes": record.answer_bytes,
            **self._arguments(record.arguments),
        }
        if record.path is not None:
            entry["path"] = _short(record.path)
        if record.trace is not None:
            entry["trace"] = _short(record.trace)
        if record.why is not None:
            entry["why"] = _short(record.why)
        return _encode(entry)

    def _arguments(self, text: bytes | None) -> Mapping[str, Any]:
        options = self._options
        if text is None or options.arguments == "none":
            return {}
        try:
            value: object = json.loads(text)
            if options.arguments == "full" and len(text) <= options.max_argument_bytes:
                return {"arguments": _without_credentials(value)}
            plain = canonical(value)
        except (ValueError, RecursionError):
            plain = bytes(text)
        mac = hmac.new(self._key, plain, hashlib.sha256).hexdigest()
        return {"argumentsHash": f"hmac-sha256:{mac}"}


def _encode(entry: Mapping[str, Any]) -> str:
    return json.dumps(entry, separators=(",", ":"), ensure_ascii=True) + "\n"


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _without_credentials(value: object) -> object:
    """Return a value whose members that are named like credentials are not there to be read."""
    if is_object(value):
        return {
            key: _WITHHELD if _CREDENTIAL.search(key) else _without_credentials(each)
            for key, each in value.items()
        }
    if is_array(value):
        return [_without_credentials(each) for each in value]
    return value
