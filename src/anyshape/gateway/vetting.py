"""Whether something that an upstream lists is offered: pins and screening, as one answer.

An upstream is asked for its lists again and again, and nearly always lists what it listed before;
so an entry is looked at once, and again when it has changed.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from anyshape.gateway.digests import canonical
from anyshape.gateway.pins import PinKind, Pins, PinTerms, PinVerdict, key_of
from anyshape.protocol.encoding import encode_data
from anyshape.screening import CODES, Finding, Severity, find_imitations, screen_entry
from anyshape.screening.finding import excerpt

_log = logging.getLogger("anyshape.gateway")


class _Listed(Protocol):
    """What a client lists."""

    @property
    def entry(self) -> Mapping[str, Any]:
        """As it came."""
        ...


_ListedT = TypeVar("_ListedT", bound=_Listed)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreeningTerms:
    """What becomes of things in which something is found."""

    withhold: Severity | None = None
    """How bad it has to be for the thing not to be offered; `None` offers it, and logs."""
    ignore: frozenset[str] = frozenset()
    """Codes of findings that do not count."""

    def __post_init__(self) -> None:
        unknown = sorted(self.ignore - CODES.keys())
        if unknown:
            raise ValueError(f"ignore={unknown[0]!r}: expected codes of findings, such as {_SOME}")

    def counting(self, findings: Iterable[Finding]) -> tuple[Finding, ...]:
        """Return the findings that count."""
        return tuple(finding for finding in findings if finding.code not in self.ignore)

    def withholds(self, findings: Iterable[Finding]) -> bool:
        """Tell whether something with these findings is not to be offered."""
        least = self.withhold
        return least is not None and any(
            finding.severity >= least for finding in self.counting(findings)
        )


_SOME = ", ".join(list(CODES)[:3])


@dataclass(frozen=True, slots=True)
class Vetted:
    """What was found out about one thing that an upstream lists."""

    withheld: str | None = None
    """Why it is not offered, as one line; `None` if it is."""
    verdict: PinVerdict | None = None
    findings: tuple[Finding, ...] = ()

    @property
    def report(self) -> tuple[str, ...]:
        """Lines for the log: what changed since it was pinned, and what was found."""
        changed = self.verdict is not None and self.verdict.state == "changed"
        diff = self.verdict.diff.splitlines() if changed and self.verdict is not None else []
        return (*diff, *map(str, self.findings))


@dataclass(slots=True)
class Vetting:
    """Vets what upstreams list, each entry once. Without pins only screening counts."""

    pins: Pins | None = None
    pin_terms: PinTerms = field(default_factory=PinTerms)
    screening: ScreeningTerms = field(default_factory=ScreeningTerms)
    _known: dict[tuple[str, PinKind], dict[bytes, Vetted]] = field(
        default_factory=dict[tuple[str, PinKind], dict[bytes, Vetted]], repr=False
    )
    _withheld: dict[tuple[str, PinKind], dict[str, str]] = field(
        default_factory=dict[tuple[str, PinKind], dict[str, str]], repr=False
    )
    _imitating: dict[tuple[str, str], str] = field(
        default_factory=dict[tuple[str, str], str], repr=False
    )

    def vet(
        self, upstream: str, entries: Iterable[Mapping[str, Any]], kind: PinKind = "tools"
    ) -> list[Vetted]:
        """Return what is to be said of each of the entries that an upstream lists now.

        What is withheld, or offered though something was found, is logged when it is first seen.
        Screening takes about a millisecond for a long entry that was not seen before: run it in a
        thread where there are many.
        """
        known = self._known.get((upstream, kind), {})
        fresh: dict[bytes, Vetted] = {}
        found: list[Vetted] = []
        for entry in entries:
            key = _fingerprint(entry)
            vetted = known.get(key) or fresh.get(key)
            if vetted is None:
                vetted = self._look_at(upstream, entry, kind)
                _tell(upstream, kind[:-1], key_of(entry, kind), vetted)
            fresh[key] = vetted
            found.append(vetted)
        self._known[upstream, kind] = fresh
        return found

    def admitted(
        self, upstream: str, things: Sequence[_ListedT], kind: PinKind = "tools"
    ) -> tuple[_ListedT, ...]:
        """Return those of the things that an upstream lists now which are to be offered."""
        entries = [each.entry for each in things]
        admitted: list[_ListedT] = []
        withheld: dict[str, str] = {}
        for each, vetted in zip(things, self.vet(upstream, entries, kind), strict=True):
            if vetted.withheld is None:
                admitted.append(each)
            else:
                withheld[key_of(each.entry, kind)] = vetted.withheld
        self._withheld[upstream, kind] = withheld
        return tuple(admitted)

    def imitating(self, names: Mapping[str, Iterable[str]]) -> Set[tuple[str, str]]:
        """Return the tools that are withheld because their names look like others'.

        `names` are those of each upstream, in the order of the configuration.
        """
        found = {
            place: Vetted(self._objection((finding,)), findings=(finding,))
            for place, finding in find_imitations(names).items()
        }
        before, self._imitating = (
            self._imitating,
            {
                place: vetted.withheld
                for place, vetted in found.items()
                if vetted.withheld is not None
            },
        )
        for upstream, name in self._imitating.keys() - before.keys():
            _tell(upstream, "tool", name, found[upstream, name])
        return self._imitating.keys()

    @property
    def withheld(self) -> Mapping[str, str]:
        """What is withheld now, and why; `upstream/name` says what."""
        listed = {
            f"{upstream}/{name}": why
            for (upstream, _), found in self._withheld.items()
            for name, why in found.items()
        }
        imitating = {f"{upstream}/{name}": why for (upstream, name), why in self._imitating.items()}
        return {**imitating, **listed}

    def _look_at(self, upstream: str, entry: Mapping[str, Any], kind: PinKind) -> Vetted:
        findings = self.screening.counting(screen_entry(entry))
        verdict = None if self.pins is None else self.pins.judge(upstream, entry, kind)
        if verdict is not None and self.pin_terms.withholds(verdict):
            return Vetted(str(verdict), verdict, findings)
        return Vetted(self._objection(findings), verdict, findings)

    def _objection(self, findings: tuple[Finding, ...]) -> str | None:
        if not self.screening.withholds(findings):
            return None
        findings = self.screening.counting(findings)
        worst = max(findings, key=lambda finding: finding.severity)
        return f"screening found {worst}; `anyshape check` shows all of it"


def _fingerprint(entry: Mapping[str, Any]) -> bytes:
    """Return what tells an entry from what it was before; its order counts, so this is quick."""
    try:
        text = encode_data(entry)
    except UnicodeEncodeError:  # half a character, which JSON can escape
        text = canonical(dict(entry))
    return hashlib.sha256(text).digest()


def _tell(upstream: str, noun: str, name: str, vetted: Vetted) -> None:
    """Log what is withheld or found; strangers' text is made visible, and steers nothing."""
    what = f"upstream {upstream}: {noun} {excerpt(name)}"
    if vetted.withheld is not None:
        lines = "\n  ".join([vetted.withheld, *vetted.report])
        _log.warning("%s is withheld: %s", what, lines)
    elif vetted.report:
        _log.warning("%s is offered, though:\n  %s", what, "\n  ".join(vetted.report))
