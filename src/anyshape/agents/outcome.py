"""What a call came to, as any provider can be told: texts, pictures, and whether it failed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import msgspec

from anyshape.agents.budget import beginning, compact, estimate_tokens
from anyshape.agents.sources import SourceResult
from anyshape.decoding import decode_json
from anyshape.protocol.content import Audio, Content, EmbeddedResource, Image, ResourceLink, Text

_encode: Final = msgspec.json.Encoder(order="deterministic").encode
_NOTHING: Final = "(the tool gave no output)"
_SIGNATURES: Final = {
    "image/png": (b"\x89PNG\r\n\x1a\n", b""),
    "image/jpeg": (b"\xff\xd8\xff", b""),
    "image/gif": (b"GIF8", b""),
    "image/webp": (b"RIFF", b"WEBP"),
}
"""What images begin with, and what they have eight bytes on."""


@dataclass(frozen=True, slots=True)
class Picture:
    """An image in a result."""

    data: bytes
    media_type: str

    def __str__(self) -> str:
        """Return what to say in its place."""
        return f"(image: {self.media_type}, {len(self.data)} bytes)"


Part: TypeAlias = str | Picture


@dataclass(frozen=True, slots=True)
class Outcome:
    """What to tell a model of one call; there is at least one part, and no text is empty."""

    parts: tuple[Part, ...]
    is_error: bool = False

    @property
    def pictures(self) -> tuple[Picture, ...]:
        """The images among the parts."""
        return tuple(part for part in self.parts if isinstance(part, Picture))

    @property
    def text(self) -> str:
        """All parts in words, each on its own line."""
        return "\n".join(map(str, self.parts))


def outcome_of(result: SourceResult) -> Outcome:
    """Return what to tell a model of a result.

    Every block is told, in the server's order; the structured value follows as JSON text unless
    the blocks say it already. A string is told as it is, where servers quote it too.
    """
    parts = [part for block in result.content for part in _parts(block)]
    texts = [block.text for block in result.content if isinstance(block, Text)]
    value = result.value
    if isinstance(value, str) and value.strip():
        quoted = compact(value)
        parts = [value if part == quoted else part for part in parts]
        if value not in parts:
            parts.append(value)
    elif result.has_value and not _say(texts, result):
        parts.append(compact(value))
    told = [part if isinstance(part, Picture) else sound_text(part) for part in parts]
    kept = [part for part in told if isinstance(part, Picture) or part.strip()]
    return Outcome(tuple(kept) or (_NOTHING,), result.is_error)


def within(outcome: Outcome, tokens: int) -> Outcome:
    """Return as much of an outcome as takes about so many tokens, and say what was cut.

    Images are not counted: what they cost is another matter at every provider.
    """
    kept: list[Part] = []
    for number, part in enumerate(outcome.parts):
        if isinstance(part, Picture):
            kept.append(part)
            continue
        shown = beginning(part, tokens)
        if shown.strip():
            kept.append(shown)
        if len(shown) < len(part):
            rest = outcome.parts[number + 1 :]
            cut = len(part) - len(shown) + sum(len(it) for it in rest if isinstance(it, str))
            kept += [it for it in rest if isinstance(it, Picture)]
            kept.append(f"(cut here: {cut:,} more characters; ask for less at a time)")
            return Outcome(tuple(kept), outcome.is_error)
        tokens -= estimate_tokens(part)
    return outcome


def sound_text(text: str) -> str:
    """Return a text that can be sent: a lone surrogate must not cost the whole request."""
    return text if text.isascii() else text.encode(errors="backslashreplace").decode()


def _say(texts: Sequence[str], result: SourceResult) -> bool:
    """Tell whether text blocks hold the structured value: one of them, or one for each item."""
    value: Any = result.value
    read = [_read(text) for text in texts]
    wanted = {_key(value), _key(result.raw.get("structuredContent", value))}
    if any(_key(it) in wanted for it in read):
        return True
    return isinstance(value, list) and bool(texts) and value in (texts, read)


def _read(text: str) -> Any:
    try:
        return decode_json(text)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return text


def _key(value: object) -> object:
    try:
        return _encode(value)
    except (TypeError, ValueError, OverflowError, RecursionError):
        return compact(value)


def _parts(block: Content) -> list[Part]:
    if isinstance(block, Text):
        return [block.text]
    if isinstance(block, Image):
        return [_picture(bytes(block.data), block.mime_type)]
    if isinstance(block, Audio):
        return [f"(audio: {block.mime_type}, {len(block.data)} bytes)"]
    if isinstance(block, ResourceLink):
        told = [block.title or block.name, f"<{block.uri}>", block.mime_type, block.description]
        return [f"resource: {' '.join(filter(None, told))}"]
    if isinstance(block, EmbeddedResource):
        return _resource(block)
    return [compact(block.json)]


def _picture(data: bytes, said: str) -> Part:
    """Return an image as what its bytes say it is, or words where they are not what was said.

    Providers look at the bytes, and one image that is not what it is called costs the request.
    """
    for media_type, (start, middle) in _SIGNATURES.items():
        if data.startswith(start) and data[8:12].startswith(middle):
            return Picture(data, media_type)
    named = Picture(data, said)
    return str(named) if said in _SIGNATURES else named


def _resource(block: EmbeddedResource) -> list[Part]:
    where = f"resource: <{block.uri}>"
    if block.blob is None:
        return [where, block.text or ""]
    if (block.mime_type or "").startswith("image/"):
        return [where, _picture(bytes(block.blob), block.mime_type or "")]
    kind = block.mime_type or "application/octet-stream"
    return [f"{where} ({kind}, {len(block.blob)} bytes)"]
