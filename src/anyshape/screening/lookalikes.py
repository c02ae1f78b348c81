"""Names that look like other names, and the skeleton by which they are told.

A skeleton is what is left of a name when everything is taken away that a reader does not see:
compatibility forms (NFKC), marks, characters that are not shown, and letters of other alphabets
that look like Latin ones. Names of tools are nearly always Latin, so the letters that look like
Latin ones are all that matters, and a few hundred of them are a table to be read, not a package to
be trusted: it is those of https://www.unicode.org/Public/security/latest/confusables.txt (UTS #39)
in the Basic Multilingual Plane that stand for one ASCII letter, digit or hyphen and that NFKC
leaves as they are. Copyright © Unicode, Inc., Unicode License v3.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from typing import Final

from anyshape.documents.pointers import pointer
from anyshape.screening.finding import Finding, Severity, excerpt

_LOOKALIKES: Final = {
    "-": "\u2010\u2012\u2013\u2cba",
    "2": "\u01a7\u03e8\u14bf\ua644\ua6ef\ua75a",
    "3": "\u01b7\u021c\u0417\u04e0\u2ccc\ua76a\ua7ab",
    "4": "\u13ce",
    "5": "\u01bc",
    "6": "\u0431\u13ee\u2cd2",
    "8": "\u0222\u0223\u09ea\u0a6a",
    "9": "\u09ed\u0a67\u0b68\u0d6d\u2cca\ua76e",
    "A": "\u0391\u0410\u13aa\u15c5\ua4ee",
    "B": "\u0392\u0412\u13f4\u15f7\ua4d0\ua7b4",
    "C": "\u0421\u13df\u2ca4\ua4da",
    "D": "\u13a0\u15de\u15ea\ua4d3",
    "E": "\u0395\u0415\u13ac\u2d39\ua4f0",
    "F": "\u03dc\u15b4\ua4dd\ua798",
    "G": "\u050c\u13c0\u13f3\ua4d6",
    "H": "\u0397\u041d\u13bb\u157c\u2c8e\ua4e7",
    "J": "\u037f\u0408\u13ab\u148d\ua4d9\ua7b2",
    "K": "\u039a\u041a\u13e6\u16d5\u2c94\ua4d7",
    "L": "\u13de\u14aa\u2cd0\ua4e1",
    "M": "\u039c\u03fa\u041c\u13b7\u15f0\u16d6\u2c98\ua4df",
    "N": "\u039d\u2c9a\ua4e0",
    "O": "\u039f\u041e\u0555\u09e6\u0b20\u0b66\u12d0\u2c9e\u2d54\u3007\ua4f3",
    "P": "\u03a1\u0420\u13e2\u146d\u2ca2\ua4d1",
    "Q": "\u2d55",
    "R": "\u01a6\u13a1\u13d2\u1587\ua4e3",
    "S": "\u0405\u054f\u13d5\u13da\ua4e2",
    "T": "\u03a4\u0422\u13a2\u2ca6\ua4d4",
    "U": "\u054d\u1200\u144c\ua4f4",
    "V": "\u0474\u06f7\u13d9\u142f\u2d38\ua4e6\ua6df",
    "W": "\u051c\u13b3\u13d4\ua4ea",
    "X": "\u03a7\u0425\u16b7\u2cac\u2d5d\ua4eb\ua7b3",
    "Y": "\u03a5\u0423\u04ae\u13a9\u13bd\u2ca8\ua4ec",
    "Z": "\u0396\u13c3\ua4dc",
    "a": "\u0251\u03b1\u0430",
    "b": "\u0184\u042c\u13cf\u1472\u15af",
    "c": "\u0441\u1d04\u2ca5\uabaf",
    "d": "\u0501\u13e7\u146f\ua4d2",
    "e": "\u0435\u04bd\uab32",
    "f": "\u0584\u1e9d\ua799\uab35",
    "g": "\u018d\u0261\u0581\u1d83",
    "h": "\u04bb\u0570\u13c2",
    "i": "\u0131\u0269\u026a\u03b9\u0456\u04cf\u13a5\ua647\uab75",
    "j": "\u03f3\u0458",
    "l": "\u0196\u01c0\u0399\u0406\u04c0\u06f1\u16c1\u2c92\u2d4f\ua4f2",
    "n": "\u0578\u057c",
    "o": (
        "\u03bf\u03c3\u043e\u0585\u06f5\u0966\u0a66\u0ae6\u0be6\u0c66\u0ce6\u0d20\u0d66\u0e50"
        "\u0ed0\u101d\u1040\u10ff\u1d0f\u1d11\u2c9f\uab3d"
    ),
    "p": "\u03c1\u0440\u2ca3",
    "q": "\u051b\u0563\u0566",
    "r": "\u0433\u1d26\u2c85\uab47\uab48\uab81",
    "s": "\u01bd\u0455\ua731\uabaa",
    "u": "\u028b\u03c5\u057d\u1d1c\ua79f\uab4e\uab52",
    "v": "\u03bd\u0475\u1d20\uaba9",
    "w": "\u026f\u0461\u051d\u0561\u1d21\uab83",
    "x": "\u0445\u1541\u157d",
    "y": "\u0263\u028f\u03b3\u0443\u04af\u10e7\u1d8c\u1eff\uab5a",
    "z": "\u1d22\uab93",
}
_LATIN: Final = {ord(like): plain for plain, all in _LOOKALIKES.items() for like in all}
_DIGITS: Final = str.maketrans("01|", "OlI")


def skeleton(name: str) -> str:
    """Return what a name looks like in lower case; names that look alike have the same."""
    return _look(name).casefold()


def screen_name(name: str, where: str) -> Iterable[Finding]:
    """Yield a finding if letters of a name only look like those beside them."""
    strangers = [letter for letter in name if not letter.isascii() and _looks_latin(letter)]
    if strangers and any(letter.isascii() and letter.isalpha() for letter in name):
        kinds = ", ".join(
            f"U+{ord(letter):04X} {unicodedata.name(letter, 'unnamed')}"
            for letter in dict.fromkeys(strangers[:3])
        )
        message = f"{excerpt(name)} is written with {kinds}, and looks like {excerpt(_look(name))}"
        yield Finding("mixed-alphabets", Severity.HIGH, where, excerpt(name), message)


def find_imitations(names: Mapping[str, Iterable[str]]) -> dict[tuple[str, str], Finding]:
    """Return a finding for each name that looks like one of another upstream, by upstream and name.

    `names` has those of each upstream, in the order of the configuration: who comes first is the
    original. The same name twice is no imitation but a collision, which is told elsewhere.
    """
    originals: dict[str, tuple[str, str]] = {}
    found: dict[tuple[str, str], Finding] = {}
    for upstream, own in names.items():
        fresh: dict[str, tuple[str, str]] = {}
        for name in own:
            look = _look(name)
            # A capital i looks like a small L, and is the same letter as a small i.
            for key in (look.casefold(), look.replace("I", "l").casefold()):
                other, original = originals.get(key, (upstream, name))
                if original != name:
                    found[upstream, name] = _imitation(name, other, original)
                fresh.setdefault(key, (upstream, name))
        originals = fresh | originals
    return found


def _imitation(name: str, upstream: str, original: str) -> Finding:
    if not (name.isascii() and original.isascii()):
        severity = Severity.HIGH
    else:
        same = name.casefold() == original.casefold()
        severity = Severity.LOW if same else Severity.MEDIUM
    message = f"{excerpt(name)} looks like {excerpt(original)} of upstream {excerpt(upstream)}"
    return Finding("imitation", severity, pointer(["name"]), excerpt(name), message)


def _look(name: str) -> str:
    """Return what a name looks like, in the case that it is written in."""
    if not name.isascii():
        apart = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", name))
        seen = (letter for letter in apart if unicodedata.category(letter) not in _UNSEEN)
        name = "".join(seen).translate(_LATIN)
    return name.translate(_DIGITS).replace("rn", "m")


_UNSEEN: Final = frozenset({"Mn", "Me", "Cf", "Cc", "Cs", "Cn"})


def _looks_latin(letter: str) -> bool:
    plain = unicodedata.normalize("NFKC", letter)
    return ord(letter) in _LATIN or (plain != letter and plain.isascii() and plain.isalnum())
