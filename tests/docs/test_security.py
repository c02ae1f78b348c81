"""Each claim of SECURITY.md names tests, and they are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "SECURITY.md").read_text()
LINK = re.compile(r"\[`(\w+)`\]\((tests/[\w/]+\.py)\)")
CLAIMED = ("What is bounded", "What never reaches whom", "What is shipped")


def claims() -> list[str]:
    """Return what is claimed, one list item each."""
    found: list[str] = []
    for section in re.split(r"^## ", TEXT, flags=re.MULTILINE)[1:]:
        title, _, body = section.partition("\n")
        if title in CLAIMED:
            found += re.split(r"^- ", body, flags=re.MULTILINE)[1:]
    return found


@pytest.mark.parametrize("claim", claims(), ids=lambda claim: str(claim[:40]))
def test_a_claim_names_tests_that_exist(claim: str) -> None:
    links = LINK.findall(claim)
    assert links, "a claim without a test"
    for name, path in links:
        source = (ROOT / path).read_text()
        assert re.search(rf"^(async )?def {name}\(", source, re.MULTILINE), f"{path} has no {name}"


def test_every_section_that_claims_something_was_read() -> None:
    assert len(claims()) > 20
    assert all(f"## {title}\n" in TEXT for title in CLAIMED)
