"""URI templates, read backwards: from a URI to the variables it was made with.

https://www.rfc-editor.org/rfc/rfc6570

The RFC says how a template is expanded, and leaves matching to others. Here a template is taken
only if what it was expanded with can be told for certain: `match(expand(template, values))` is
`values` again. That leaves one way to read each URI, so whatever else an expression for it tries
fails within the next literal, and matching takes time proportional to the length of the URI.

Levels 1 to 3 are read. A value in `{x}`, `{.x}` or `{/x}` is percent-encoded, so it ends at the
first character that has a meaning in URIs; one in `{+x}` or `{#x}` may hold any of those, so there
can be one of them, and it takes what the rest of the template leaves. A variable outside of `{?x}`,
`{&x}` and `{;x}` is never empty, since an empty one cannot be told from one that is not there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from posixpath import normpath
from typing import Final
from urllib.parse import quote, unquote_to_bytes

LONGEST_URI: Final = 8_192
"""Characters of a URI that anybody looks at."""

_SHOWN: Final = 60
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_LITERAL: Final = re.compile(r"(?:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*")
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HALF_ESCAPE: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")

_NEVER: Final = '\\x00-\\x20\\x7f"<>\\\\^`{|}'
_ANY_RUN: Final = re.compile(f"[^{_NEVER}]*")
_UNWRITTEN: Final = re.compile(f"[{_NEVER}%]")
"""What stands in a URI only as an escape."""
_RUN: Final = re.compile(f"[^{_NEVER}:/?#\\[\\]@!$&'()*+,;=]*")
"""What a value may be made of: characters without a meaning in URIs, escapes, and any other text.

Strictly, text beyond ASCII has to be escaped. Models and people do not always do so, and it cannot
be mistaken for anything else.
"""

_LEADS: Final = {"": "", "+": "", "#": "#", ".": ".", "/": "/"}
_JOINTS: Final = {"": ",", "+": ",", "#": ",", ".": ".", "/": "/"}
_NAMED: Final = {"?": "&", "&": "&", ";": ";"}
"""How variables are set apart by the operators that repeat their names."""


@dataclass(frozen=True, slots=True)
class _Variable:
    name: str
    takes_any: bool
    """Whether its value may hold characters that have a meaning in URIs."""

    @property
    def run(self) -> re.Pattern[str]:
        """What its value, escaped, may be made of."""
        return _ANY_RUN if self.takes_any else _RUN


@dataclass(frozen=True, slots=True)
class _NamedVariables:
    """The end of a template, such as `{?x,y}`, whose variables may be left out."""

    lead: str
    joint: str
    names: tuple[str, ...]

    def match(self, rest: str) -> dict[str, str] | None:
        if not rest:
            return {}
        if rest[0] != self.lead or rest.count(self.joint, 1) >= len(self.names):
            return None
        values: dict[str, str] = {}
        for part in rest[1:].split(self.joint):
            name, sign, escaped = part.partition("=")
            if name not in self.names or name in values or not (sign or self.lead == ";"):
                return None
            value = _unescape(escaped) if _RUN.fullmatch(escaped) else None
            if value is None:
                return None
            values[name] = value
        return values


class UriTemplate:
    """A template whose variables can be told from any URI; `ValueError` for any other text."""

    def __init__(self, text: str) -> None:
        pieces, ending = _parse(text)
        self.text = text
        self.optional = frozenset(ending.names if ending is not None else ())
        """The variables that a URI may leave out."""
        variables = [piece.name for piece in pieces if isinstance(piece, _Variable)]
        self.names = (*variables, *(ending.names if ending is not None else ()))
        """The variables, in order."""
        for name in self.names:
            if self.names.count(name) > 1:
                raise ValueError(f"'{{{name}}}' is there twice; give one of them another name")
        _check_certain(pieces, text, ends=ending is None)
        self._ending = ending
        self._pattern = re.compile(
            "".join(
                re.escape(piece)
                if isinstance(piece, str)
                else f"(?P<{piece.name}>{piece.run.pattern[:-1]}+)"
                for piece in pieces
            )
        )

    def match(self, uri: str) -> dict[str, str] | None:
        """Return the values of the variables, unescaped, or `None` if the URI is no expansion."""
        if len(uri) > LONGEST_URI:
            return None
        match = self._pattern.fullmatch if self._ending is None else self._pattern.match
        found = match(uri)
        if found is None:
            return None
        values: dict[str, str] = {}
        for name, escaped in found.groupdict().items():
            value = _unescape(escaped)
            if value is None:
                return None
            values[name] = value
        named = {} if self._ending is None else self._ending.match(uri[found.end() :])
        return None if named is None else values | named


def spellings(uri: str) -> tuple[str, ...]:
    """Return what a URI may be read as: itself, without escapes, and with `.` and `..` resolved.

    A template hands values on unescaped, so whoever decides by a URI has to look at all of these.
    """
    read = _unescape(uri) if len(uri) <= LONGEST_URI else None
    if read is None:
        return (uri,)
    plain = _UNWRITTEN.sub(lambda found: quote(found[0], safe=""), read)
    scheme, mark, rest = plain.partition("://" if "://" in plain else ":")
    if "/." not in f"/{rest}" and "//" not in rest:
        return (uri,) if plain == uri else (uri, plain)
    # What comes first may be a host, which no path leaves, or a name like any other.
    host, _, path = rest.partition("/")
    paths = (host + _resolve(path), rest[: rest.startswith("/")] + _resolve(rest)[1:])
    return tuple(dict.fromkeys((uri, plain, *(scheme + mark + path for path in paths))))


def _resolve(path: str) -> str:
    """Return a path that goes nowhere to come back (RFC 3986, section 5.2.4), from its root on."""
    return normpath("/" + path.lstrip("/"))


def uri_flaw(uri: str) -> str | None:
    """Return what is wrong with a URI that an author wrote, in a few words, or `None`."""
    if _SCHEME.match(uri) is None:
        return f"it has to begin with a scheme, as in 'notes://…', got {uri[:_SHOWN]!r}"
    if len(uri) > LONGEST_URI:
        return f"it has {len(uri)} characters, more than {LONGEST_URI}"
    clean = _LITERAL.match(uri)
    if clean is not None and clean.end() < len(uri):
        return f"{uri[clean.end()]!r} at position {clean.end()} has to be percent-encoded"
    return None


def _unescape(escaped: str) -> str | None:
    """Return the text of a value, `None` if its escapes are no UTF-8."""
    try:
        if "%" not in escaped:
            escaped.encode()
            return escaped
        if _HALF_ESCAPE.search(escaped):
            return None
        return unquote_to_bytes(escaped).decode()
    except UnicodeError:
        return None


def _parse(text: str) -> tuple[list[str | _Variable], _NamedVariables | None]:
    pieces: list[str | _Variable] = []
    ending: _NamedVariables | None = None
    rest = text
    while rest:
        if ending is not None:
            raise ValueError(
                f"'{{{ending.lead}…}}' has to come last, as its variables may be left out"
            )
        literal, opened, rest = rest.partition("{")
        _add_literal(pieces, literal)
        if not opened:
            break
        expression, closed, rest = rest.partition("}")
        if not closed:
            raise ValueError(f"'{{{expression[:_SHOWN]}' is not closed by '}}'")
        operator = expression[:1] if expression[:1] in "+#./;?&=,!@|" else ""
        names = tuple(expression[len(operator) :].split(","))
        for name in names:
            _check_name(name, expression)
        if operator in _NAMED:
            ending = _NamedVariables(operator, _NAMED[operator], names)
        elif operator not in _LEADS:
            raise ValueError(f"'{{{expression}}}' has an operator that RFC 6570 does not define")
        else:
            lead = _LEADS[operator]
            for name in names:
                _add_literal(pieces, lead)
                pieces.append(_Variable(name, operator in ("+", "#")))
                lead = _JOINTS[operator]
    return pieces, ending


def _add_literal(pieces: list[str | _Variable], literal: str) -> None:
    clean = _LITERAL.match(literal)
    if clean is not None and clean.end() < len(literal):
        raise ValueError(f"{literal[clean.end()]!r} has to be percent-encoded")
    if pieces and isinstance(pieces[-1], str):
        pieces[-1] += literal
    elif literal:
        pieces.append(literal)


def _check_name(name: str, expression: str) -> None:
    if name.endswith("*"):
        raise ValueError(
            f"'{{{expression}}}' explodes a list, which cannot be told from other variables; "
            f"write '{{+{name[:-1].lstrip('+/')}}}' for a path with slashes"
        )
    if ":" in name:
        raise ValueError(f"'{{{expression}}}' cuts a value, which cannot be undone; drop ':…'")
    if _NAME.fullmatch(name) is None:
        raise ValueError(f"'{{{expression[:_SHOWN]}}}' names no variable of Python's")


def _check_certain(pieces: list[str | _Variable], text: str, *, ends: bool) -> None:
    """Raise unless every URI can be read in one way alone; `ends` if nothing comes behind `pieces`.

    A value ends where what follows it holds a character that the value cannot hold, or at the end.
    One that may hold any takes what is left, and what follows it is told from the end backwards.
    """
    if not pieces or not isinstance(pieces[0], str) or _SCHEME.match(pieces[0]) is None:
        raise ValueError(f"it has to begin with a scheme, as in 'notes://{{id}}', got {text!r:.80}")
    for place, piece in enumerate(pieces):
        if isinstance(piece, str):
            continue
        after = pieces[place + 1 : place + 2]
        literal = after[0] if after and isinstance(after[0], str) else ""
        is_last = place + 1 + bool(literal) == len(pieces) and (ends or not piece.takes_any)
        if is_last or not piece.run.fullmatch(literal):
            continue
        if not ends or not piece.takes_any:
            raise _ambiguous(piece, literal)
        _check_backwards(pieces[place + 1 :])
        return


def _check_backwards(pieces: list[str | _Variable]) -> None:
    literal = ""
    for piece in pieces:
        if isinstance(piece, str):
            literal = piece
            continue
        if piece.run.fullmatch(literal):
            raise _ambiguous(piece, literal)
        literal = ""


def _ambiguous(variable: _Variable, literal: str) -> ValueError:
    beside = f"{literal!r}, which a value may hold as well" if literal else "another variable"
    return ValueError(
        f"where '{{{variable.name}}}' ends cannot be told for certain: beside it is {beside}; "
        f"set it apart by '/'"
    )
