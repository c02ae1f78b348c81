from __future__ import annotations

import pytest
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from anyshape.protocol.revision import (
    HANDSHAKE,
    LATEST_HANDSHAKE,
    MODERN,
    RELEASED,
    SUPPORTED,
    WORKING_NAMES,
    Revision,
)


@pytest.mark.parametrize("revision", Revision, ids=str)
def test_a_revision_is_parsed_from_its_own_name_alone(revision: Revision) -> None:
    assert Revision.parse(revision.value) is revision
    assert Revision.parse(revision.value + " ") is None
    assert Revision.parse(revision.value.swapcase() + "x") is None


@pytest.mark.parametrize("text", ["", "zzz", "2027-01-01", "9999-99-99", "draft", "2025-11-26"])
def test_an_unknown_revision_never_counts_as_newer(text: str) -> None:
    assert Revision.parse(text) is None


def test_eras_agree_with_the_official_registry() -> None:
    assert tuple(map(str, MODERN)) == MODERN_PROTOCOL_VERSIONS
    released = [str(revision) for revision in HANDSHAKE if revision not in WORKING_NAMES]
    assert tuple(released) == HANDSHAKE_PROTOCOL_VERSIONS
    assert str(LATEST_HANDSHAKE) == HANDSHAKE_PROTOCOL_VERSIONS[-1]


def test_every_revision_is_of_exactly_one_era() -> None:
    assert sorted([*HANDSHAKE, *MODERN], key=str) == sorted(Revision, key=str)
    assert all(revision.is_modern == (revision in MODERN) for revision in Revision)


def test_working_names_see_natural_shapes_after_a_handshake() -> None:
    natural = [revision for revision in Revision if revision.is_natural]
    assert natural == [*WORKING_NAMES, *MODERN]
    assert set(WORKING_NAMES) < set(HANDSHAKE)


def test_released_revisions_are_advertised_newest_first() -> None:
    assert SUPPORTED == (
        "2026-07-28",
        "2025-11-25",
        "2025-06-18",
        "2025-03-26",
        "2024-11-05",
    )
    assert tuple(map(str, reversed(RELEASED))) == SUPPORTED


def test_only_one_revision_has_batches() -> None:
    assert [str(revision) for revision in Revision if revision.has_batches] == ["2025-03-26"]


def test_a_revision_is_the_string_on_the_wire_and_has_no_order() -> None:
    assert Revision.V2026_07_28 == "2026-07-28"
    assert f"{Revision.V2025_11_25}" == "2025-11-25"
    with pytest.raises(TypeError, match="not an order"):
        _ = Revision.V2025_11_25 < "zzz"
