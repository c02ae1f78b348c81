"""Names that a provider takes, for tools that are called otherwise, and none of them twice.

The outcome depends on the set of names and on nothing else: not on the order of a listing, and for
one tool as little as possible on the others, so that prompts stay as they are.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections import Counter
from collections.abc import Mapping

_LONGEST = 256
_DIGITS = 6


def offered_names(wanted: Mapping[str, str], pattern: str) -> dict[str, str]:
    """Return a name for each key of `wanted` that matches `pattern`, a profile's; none is twice.

    A wanted name that matches is kept. Of one that does not, each character that may not stand
    there is `_`. Where two would be the same, those that are not as wanted, or all if none is, get
    some digits of a hash of their key; so does a name that had to be cut.
    """
    alphabet = _alphabet(pattern)
    as_wanted = Counter(name for name in wanted.values() if alphabet.takes(name))
    found = {key: name for key, name in sorted(wanted.items()) if as_wanted[name] == 1}
    changed = {key: alphabet.nearest(wanted[key]) for key in sorted(wanted) if key not in found}
    alike = Counter(changed.values())
    taken = {*as_wanted}
    for key, candidate in changed.items():
        if alike[candidate] > 1 or candidate in taken or not alphabet.takes(candidate):
            candidate = _hashed(key, candidate, alphabet, taken)
        found[key] = candidate
        taken.add(candidate)
    return {key: found[key] for key in wanted}


class _Alphabet:
    """What a pattern for names admits, found out by asking it."""

    def __init__(self, pattern: str) -> None:
        self._rule = re.compile(pattern)
        self._letter = functools.lru_cache(maxsize=1_024)(self._may_follow)
        lengths = (it for it in range(_LONGEST, 0, -1) if self.takes("a" * it))
        self.longest = next(lengths, 0)
        if self.longest < 2 * _DIGITS or not self._letter("_"):
            raise ValueError(
                f"tool_names={pattern!r}: expected a pattern that admits a name of at least "
                f"{2 * _DIGITS} letters, digits and underscores"
            )

    def takes(self, name: str) -> bool:
        return self._rule.fullmatch(name) is not None

    def _may_follow(self, character: str) -> bool:
        return self._rule.fullmatch("a" + character) is not None

    def nearest(self, name: str) -> str:
        """Return a name with every refused character replaced, a little too long if it was."""
        kept = "".join(
            character if self._letter(character) else "_" for character in name[: self.longest + 1]
        )
        return kept if self.takes(kept[:1] + "a") else f"t_{kept}"


_alphabet = functools.lru_cache(maxsize=64)(_Alphabet)


def _hashed(key: str, start: str, alphabet: _Alphabet, taken: set[str]) -> str:
    """Return the beginning of a name and some digits of a hash, more of them if need be."""
    digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
    most = min(len(digest), alphabet.longest - 2)
    for digits in range(_DIGITS, most + 1):
        candidate = f"{start[: alphabet.longest - digits - 1] or 't'}_{digest[:digits]}"
        if candidate not in taken and alphabet.takes(candidate):
            return candidate
    raise ValueError(f"no name is left for the tool {start[:60]!r}")
