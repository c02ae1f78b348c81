"""Inputs from other inputs: bytes that are changed as bytes, and JSON that stays JSON."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from mutations import mutate as mutate_tree
from trees import Json, at, clone, places, put

__all__ = ["mutate_bytes", "mutate_json", "read_json", "write_json"]

WORDS: tuple[bytes, ...] = (
    *(b"\0", b"\n", b"\r\n", b"\r\n\r\n", b" ", b"\t", b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf"),
    *(b'"', b"{", b"}", b"[", b"]", b":", b",", b"\\", b"\\u0000", b"\\ud800", b"\\udc00"),
    *(b"null", b"true", b"NaN", b"Infinity", b"-0", b"1e999", b"1" * 30, b"9" * 400, b"-1", b"1.0"),
    *(b"%", b"%00", b"%2F", b"%zz", b"{+a}", b"{?b}", b"=", b"?", b"#", b"..", b"/", b"*", b";"),
    *(b"\xe2\x80\xae", b"\xf0\x9f\x98\x80", b"\xc3\xa9", b"\x1b[31m", b"\xd9\xa3", b"__proto__"),
)
"""What is put into inputs, because it has meant trouble somewhere."""

_DEEP: tuple[int, ...] = (20, 130, 260)


def mutate_bytes(data: bytes, random: Random, donors: list[bytes]) -> bytes:
    """Return `data` changed in one to four places."""
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 4))):
        at_byte = random.randrange(len(changed) + 1)
        end = min(len(changed), at_byte + random.choice((1, 2, 8, 64)))
        match random.randrange(8):
            case 0 if changed:
                changed[at_byte % len(changed)] ^= 1 << random.randrange(8)
            case 1 if changed:
                changed[at_byte % len(changed)] = random.randrange(256)
            case 2:
                del changed[at_byte:end]
            case 3:
                changed[at_byte:at_byte] = changed[at_byte:end] * random.choice((1, 2, 30))
            case 4 | 5:
                changed[at_byte:at_byte] = random.choice(WORDS)
            case 6:
                donor = random.choice(donors) if donors else b""
                start = random.randrange(len(donor) + 1)
                changed[at_byte:end] = donor[start : start + random.choice((4, 32, 256))]
            case _:
                changed[at_byte:end] = random.choice(WORDS)
    return bytes(changed)


def mutate_json(data: bytes, random: Random, donors: list[bytes]) -> bytes:
    """Return the text of another JSON value; what is no JSON, or too deep for us, is replaced."""
    try:
        return write_json(_mutated(read_json(data), random, donors))
    except RecursionError:
        return random.choice(donors) if donors else b"null"


def _mutated(tree: Json, random: Random, donors: list[bytes]) -> Json:
    donor = read_json(random.choice(donors)) if donors else None
    for _ in range(random.choice((1, 1, 2, 4))):
        if random.random() < 0.75:
            tree = mutate_tree(random, tree, donor, 1)
            continue
        place = random.choice(list(places(tree)))
        item = at(tree, place)
        match random.randrange(4):
            case 0 if isinstance(item, str):
                spoilt = mutate_bytes(item.encode("utf-8", "surrogatepass"), random, donors)
                tree = put(tree, place, spoilt.decode("utf-8", "replace"))
            case 1:
                tree = put(tree, place, _deep(random))
            case 2:
                tree = put(tree, place, "\ud800" if random.random() < 0.3 else 10**400)
            case _:
                tree = put(tree, place, clone(donor))
    return tree


def _deep(random: Random) -> Json:
    tree: Json = random.choice((None, 1, "a"))
    keyword = random.choice(("items", "not", "allOf", "a", ""))
    for _ in range(random.choice(_DEEP)):
        inner: Json = [tree] if keyword in ("", "allOf") else tree
        tree = {keyword: inner} if keyword else inner
    return tree


def read_json(data: bytes) -> Json:
    """Return the value in a text, null where there is none."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def write_json(tree: Any) -> bytes:
    """Return a value as text."""
    return json.dumps(tree, ensure_ascii=False).encode("utf-8", "replace")
