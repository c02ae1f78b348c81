"""URI templates, read backwards: from a URI to the variables it was made with.

https://www.rfc-editor.org/rfc/rfc6570

The RFC says how a template is expanded, and leaves matching to others. Here a template is taken
only if what it was expanded with can be told for certain: `match(expand(template, values))` is
`values` again. That leaves one way to read each URI, so matching never goes back and takes time
proportional to the length of the URI.

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
    overlap: int = 0
    """How many characters of the literal beside it a value could hold as well."""


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
        self._ending = ending
        self._before, self._middle, self._after = _split(pieces, text, ends=ending is None)

    def match(self, uri: str) -> dict[str, str] | None:
        """Return the values of the variables, unescaped, or `None` if the URI is no expansion."""
        if len(uri) > LONGEST_URI:
            return None
        values: dict[str, str] = {}
        start = 0
        for piece in self._before:
            if isinstance(piece, str):
                if not uri.startswith(piece, start):
                    return None
                start += len(piece)
                continue
            end = _run_of(piece).match(uri, start).end() - piece.overlap  # pyright: ignore[reportOptionalMemberAccess]
            if not _put(values, piece, uri[start:end]):
                return None
            start = end
        if self._ending is not None:
            named = self._ending.match(uri[start:])
            return None if named is None else values | named
        if self._middle is None:
            return values if start == len(uri) else None
        end = len(uri)
        for piece in reversed(self._after):
            if isinstance(piece, str):
                if not uri.endswith(piece, start, end):
                    return None
                end -= len(piece)
                continue
            run = _RUN.match(uri[start:end][::-1])
            first = end - run.end() + piece.overlap  # pyright: ignore[reportOptionalMemberAccess]
            if not _put(values, piece, uri[first:end]):
                return None
            end = first
        middle = uri[start:end]
        is_whole = _ANY_RUN.fullmatch(middle) and _put(values, self._middle, middle)
        return values if is_whole else None


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


def _run_of(variable: _Variable) -> re.Pattern[str]:
    return _ANY_RUN if variable.takes_any else _RUN


def _put(values: dict[str, str], variable: _Variable, escaped: str) -> bool:
    value = _unescape(escaped) if escaped else None
    if value is None:
        return False
    values[variable.name] = value
    return True


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


def _split(
    pieces: list[str | _Variable], text: str, *, ends: bool
) -> tuple[list[str | _Variable], _Variable | None, list[str | _Variable]]:
    """Return what is read from the left, what takes the rest, and what is read from the right."""
    if not pieces or not isinstance(pieces[0], str) or _SCHEME.match(pieces[0]) is None:
        raise ValueError(f"it has to begin with a scheme, as in 'notes://{{id}}', got {text!r:.80}")
    before: list[str | _Variable] = []
    for place, piece in enumerate(pieces):
        if isinstance(piece, str):
            before.append(piece)
            continue
        after = pieces[place + 1 : place + 2]
        literal = after[0] if after and isinstance(after[0], str) else ""
        run = _run_of(piece).match(literal)
        overlap = 0 if run is None else run.end()
        is_last = place + 1 + bool(literal) == len(pieces) and (ends or not piece.takes_any)
        if overlap < len(literal) or is_last:
            before.append(_Variable(piece.name, piece.takes_any, overlap))
            continue
        if not ends or not piece.takes_any:
            raise _ambiguous(piece, literal)
        return before, piece, _read_backwards(pieces[place + 1 :])
    return before, None, []


def _read_backwards(pieces: list[str | _Variable]) -> list[str | _Variable]:
    read: list[str | _Variable] = []
    literal = ""
    for piece in pieces:
        if isinstance(piece, _Variable):
            run = _run_of(piece).match(literal[::-1])
            overlap = 0 if run is None else run.end()
            if overlap == len(literal):
                raise _ambiguous(piece, literal)
            read.append(_Variable(piece.name, piece.takes_any, overlap))
            literal = ""
        else:
            read.append(piece)
            literal = piece
    return read


def _ambiguous(variable: _Variable, literal: str) -> ValueError:
    beside = f"{literal!r}, which a value may hold as well" if literal else "another variable"
    return ValueError(
        f"where '{{{variable.name}}}' ends cannot be told for certain: beside it is {beside}; "
        f"set it apart by '/'"
    )
