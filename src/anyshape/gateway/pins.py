"""Pins: what each upstream's tools were when somebody looked at them, and whether they still are.

A server that was reviewed can list something else tomorrow. A pin is a digest of what a model is
given of a tool, a prompt or a resource, and that text itself, so that a change can be shown. Pins
live in one file, sorted and indented, that belongs into version control.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias, cast

from anyshape.documents.json import is_object
from anyshape.errors import PinError
from anyshape.gateway.differences import Change, differences
from anyshape.gateway.digests import digest
from anyshape.screening.finding import UNSEEN, excerpt

PinKind: TypeAlias = Literal["tools", "prompts", "resources", "templates"]
_Entry: TypeAlias = Mapping[str, Any]

_MEMBERS: Final[Mapping[str, tuple[str, ...]]] = {
    "tools": ("name", "title", "description", "inputSchema", "outputSchema", "annotations"),
    "prompts": ("name", "title", "description", "arguments"),
    "resources": ("uri", "name", "title", "description", "mimeType"),
    "templates": ("uriTemplate", "name", "title", "description", "mimeType"),
}
"""What is pinned of each kind, its key first; no model is given icons and `_meta`."""
_NOTE: Final = "Written by `anyshape pin`. Review what changes here like code."
_VERSION: Final = 1
_MOST: Final = 64 * 1024 * 1024
"""Bytes of a file."""
_SHOWN: Final = 40
"""Changes that a verdict shows."""


@dataclass(frozen=True, slots=True)
class Pin:
    """One thing as it was looked at."""

    digest: str
    entry: _Entry


@dataclass(frozen=True, slots=True)
class PinVerdict:
    """Whether something is what was pinned."""

    state: Literal["same", "changed", "unknown"]
    upstream: str
    kind: PinKind
    name: str
    changes: tuple[Change, ...] = ()

    @property
    def diff(self) -> str:
        """What changed, on as many lines as it takes; nothing that steers a terminal is in it."""
        shown = [str(change) for change in self.changes[:_SHOWN]]
        more = len(self.changes) - _SHOWN
        return "\n".join([*shown, *([f"… and {more} places more"] if more > 0 else [])])

    def __str__(self) -> str:
        what = f"{self.kind[:-1]} {excerpt(self.name)!r} of upstream {excerpt(self.upstream)!r}"
        if self.state == "same":
            return f"{what} is as it was pinned"
        if self.state == "unknown":
            return f"{what} is not pinned; look at it, then run `anyshape pin`"
        places = ", ".join(excerpt(change.where) for change in self.changes[:4])
        more = f" and {len(self.changes) - 4} more" if len(self.changes) > 4 else ""
        return (
            f"{what} changed since it was pinned, at {places}{more}; "
            "look at it, then run `anyshape pin` again"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PinTerms:
    """What becomes of things that are not what was pinned."""

    changed: Literal["withhold", "admit"] = "withhold"
    unknown: Literal["withhold", "admit"] = "withhold"

    def __post_init__(self) -> None:
        for name in ("changed", "unknown"):
            value: object = getattr(self, name)
            if value not in ("withhold", "admit"):
                raise ValueError(f"{name}={value!r}: expected 'withhold' or 'admit'")

    def withholds(self, verdict: PinVerdict) -> bool:
        """Tell whether something is not to be offered."""
        return verdict.state != "same" and getattr(self, verdict.state) == "withhold"


@dataclass(frozen=True, slots=True)
class Comparison:
    """What an upstream lists beside what was pinned of it."""

    changed: tuple[PinVerdict, ...] = ()
    unknown: tuple[PinVerdict, ...] = ()
    missing: tuple[tuple[PinKind, str], ...] = ()
    """What was pinned and is not listed any more."""

    def __bool__(self) -> bool:
        return bool(self.changed or self.unknown or self.missing)

    def as_data(self) -> dict[str, Any]:
        """Return it for programs."""
        return {
            "same": not self,
            "changed": [
                {
                    "kind": verdict.kind,
                    "name": verdict.name,
                    "changes": [
                        {"where": change.where, "lines": change.lines} for change in verdict.changes
                    ],
                }
                for verdict in self.changed
            ],
            "unknown": [{"kind": each.kind, "name": each.name} for each in self.unknown],
            "missing": [{"kind": kind, "name": name} for kind, name in self.missing],
        }


_Set: TypeAlias = Mapping[str, Mapping[str, Pin]]


@dataclass(frozen=True, slots=True)
class Pins:
    """The pins of several upstreams; changing them returns others."""

    _sets: Mapping[str, _Set] = field(default_factory=dict[str, _Set])

    @property
    def upstreams(self) -> tuple[str, ...]:
        """The names of the upstreams that have pins."""
        return tuple(self._sets)

    def of(self, upstream: str) -> _Set:
        """Return the pins of one upstream, by kind and name."""
        return MappingProxyType(dict(self._sets.get(upstream, {})))

    def judge(self, upstream: str, entry: _Entry, kind: PinKind = "tools") -> PinVerdict:
        """Return whether an entry, as the upstream lists it, is what was pinned."""
        name = key_of(entry, kind)
        pin = self._sets.get(upstream, {}).get(kind, {}).get(name)
        if pin is None:
            return PinVerdict("unknown", upstream, kind, name)
        now = _pinned(entry, kind)
        if digest(now) == pin.digest:
            return PinVerdict("same", upstream, kind, name)
        return PinVerdict("changed", upstream, kind, name, tuple(differences(pin.entry, now)))

    def compare(self, upstream: str, listed: Mapping[PinKind, Iterable[_Entry]]) -> Comparison:
        """Return what differs between all that an upstream lists and what was pinned of it."""
        verdicts = [
            self.judge(upstream, entry, kind) for kind, own in listed.items() for entry in own
        ]
        there = {(verdict.kind, verdict.name) for verdict in verdicts}
        pinned = self._sets.get(upstream, {})
        return Comparison(
            tuple(verdict for verdict in verdicts if verdict.state == "changed"),
            tuple(verdict for verdict in verdicts if verdict.state == "unknown"),
            tuple(
                (cast("PinKind", kind), name)
                for kind, own in pinned.items()
                for name in own
                if (kind, name) not in there
            ),
        )

    def pin(self, upstream: str, listed: Mapping[PinKind, Iterable[_Entry]]) -> Pins:
        """Return pins in which an upstream has what it lists now, and nothing else."""
        fresh: dict[str, dict[str, Pin]] = {}
        for kind, entries in listed.items():
            pinned = {key_of(entry, kind): _pinned(entry, kind) for entry in entries}
            if pinned:
                fresh[kind] = {name: Pin(digest(own), own) for name, own in pinned.items()}
        return Pins({**self._sets, upstream: fresh})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Pins:
        """Read pins from a file; `PinError` if it holds none, or not what its digests say."""
        try:
            with Path(path).open("rb") as file:
                data = file.read(_MOST + 1)
        except OSError as error:
            raise PinError(f"cannot read pins from {path}: {error.strerror}") from None
        return cls.read(data, str(path))

    @classmethod
    def read(cls, data: bytes, place: str) -> Pins:
        """Return pins that were written as a text; errors call it by its place."""
        if len(data) > _MOST:
            raise PinError(f"cannot read pins from {place}: it has more than {_MOST:,} bytes")
        try:
            document: object = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise PinError(f"{place} is not JSON: {error}") from None
        return cls(_read_sets(document, place))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write pins to a file: the old one or the new one is there at any time, whole."""
        data = self.text().encode("utf-8")
        if len(data) > _MOST:
            raise PinError(f"cannot write pins to {path}: they take more than {_MOST:,} bytes")
        try:
            _replace(Path(path), data)
        except OSError as error:
            raise PinError(f"cannot write pins to {path}: {error.strerror}") from None

    def text(self) -> str:
        """Return them as a file holds them, sorted and indented."""
        document = {
            "note": _NOTE,
            "version": _VERSION,
            "upstreams": {
                upstream: {
                    kind: {name: {"digest": pin.digest, **pin.entry} for name, pin in own.items()}
                    for kind, own in kinds.items()
                }
                for upstream, kinds in self._sets.items()
            },
        }
        text = json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False)
        # JSON escapes what is below U+0020 by itself; whoever reviews the file is to see the rest.
        return UNSEEN.sub(lambda found: _escaped(found[0]), text) + "\n"


def _escaped(character: str) -> str:
    return character if character == "\n" else json.dumps(character)[1:-1]


def key_of(entry: _Entry, kind: PinKind) -> str:
    """Return what tells an entry from others of its kind: its name, or its URI."""
    return str(entry.get(_MEMBERS[kind][0]))


def _pinned(entry: _Entry, kind: PinKind) -> dict[str, Any]:
    """Return the members that are pinned; some servers write null for what is not there."""
    return {name: entry[name] for name in _MEMBERS[kind] if entry.get(name) is not None}


def _replace(path: Path, data: bytes) -> None:
    target = Path(os.path.realpath(path))  # a link stays a link
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask()
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, mode)
        os.replace(name, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def _umask() -> int:
    umask = os.umask(0o077)
    os.umask(umask)
    return umask


def _read_sets(document: object, path: str) -> dict[str, _Set]:
    if not is_object(document) or document.get("version") != _VERSION:
        raise PinError(f"{path} holds no pins: expected an object with version {_VERSION}")
    found: dict[str, _Set] = {}
    for upstream, kinds in _members(document.get("upstreams"), f"{path}: upstreams"):
        own: dict[str, dict[str, Pin]] = {}
        for kind, entries in _members(kinds, f"{path}: {excerpt(upstream)}"):
            where = f"{path}: {excerpt(upstream)}: {excerpt(kind)}"
            if kind not in _MEMBERS:
                raise PinError(f"{where}: expected one of {', '.join(_MEMBERS)}")
            own[kind] = {
                name: _read_pin(entry, name, cast("PinKind", kind), f"{where}: {excerpt(name)}")
                for name, entry in _members(entries, where)
            }
        found[upstream] = own
    return found


def _members(value: object, where: str) -> Iterable[tuple[str, object]]:
    if not is_object(value):
        raise PinError(f"{where}: expected an object")
    return value.items()


def _read_pin(value: object, name: str, kind: PinKind, where: str) -> Pin:
    entry = dict(_members(value, where))
    recorded = entry.pop("digest", None)
    if key_of(entry, kind) != name or digest(_pinned(entry, kind)) != recorded:
        raise PinError(
            f"{where}: what is written there is not what its digest says; "
            "the file was edited by hand or merged badly, so pin again"
        )
    return Pin(str(recorded), entry)
