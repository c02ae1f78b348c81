"""Who is known, by name and version."""

from __future__ import annotations

import json
import re

import pytest

from anyshape.protocol.clients import KNOWN_CLIENTS, NOTHING, KnownClient, KnownClients, Need

FOLDED = frozenset({Need.FOLDED_ROOT})
NULLS = frozenset({Need.NULL_FOR_ABSENT})


def info(name: object, version: object = "1") -> bytes:
    return json.dumps({"name": name, "version": version, "title": "T"}).encode()


@pytest.mark.parametrize(
    ("version", "covered"),
    [
        ("1.9.9", False),
        ("2", True),
        ("2.0.0", True),
        ("v2.10.1-beta.3", True),
        ("3.4", True),
        ("3.4.0.1", False),
        ("10", False),
        ("", False),
        ("latest", False),
        ("9" * 5000, False),
    ],
)
def test_versions_are_compared_as_numbers_from_first_to_last(version: str, covered: bool) -> None:
    known = KnownClients([KnownClient("host", FOLDED, since="2.0", until="3.4.0")])
    assert known.needs_of(info("host", version)) == (FOLDED if covered else NOTHING)


def test_without_a_range_every_version_is_meant() -> None:
    known = KnownClients([KnownClient("host", FOLDED)])
    assert known.needs("host", "nightly") == FOLDED


def test_what_several_entries_say_of_one_client_adds_up() -> None:
    known = KnownClients([KnownClient("host", FOLDED), KnownClient("host", NULLS, since="2")])
    assert known.needs("host", "1") == FOLDED
    assert known.needs("host", "2") == FOLDED | NULLS
    assert known.needs("Host", "2") == NOTHING


@pytest.mark.parametrize(
    "written", [b"", b"null", b"[]", b'{"name":7}', b"\xff", info("x" * 10_000), b"{}"]
)
def test_a_client_that_does_not_say_who_it_is_needs_nothing(written: bytes) -> None:
    assert KnownClients().needs_of(written) == NOTHING


def test_many_clients_are_not_all_remembered() -> None:
    known = KnownClients([KnownClient("host", FOLDED)])
    for number in range(2000):
        assert known.needs_of(info("other", str(number))) == NOTHING
    assert known.needs_of(info("host")) == FOLDED
    assert len(known._by_info) <= 256


@pytest.mark.parametrize("entry", KNOWN_CLIENTS, ids=lambda entry: entry.program)
def test_every_entry_says_what_how_and_when(entry: KnownClient) -> None:
    assert entry.needs
    assert entry.program
    assert entry.trouble
    assert entry.evidence
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", entry.observed)
