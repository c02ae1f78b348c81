"""The pages hold together: links, navigation, and the commands that several places promise."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
SITE = sorted(DOCS.rglob("*.md"))
PAGES = [*SITE, *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md"))]

_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    headings = _HEADING.findall(_FENCED.sub("", page.read_text()))
    return {
        re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-") for heading in headings
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for link in _LINK.findall(_FENCED.sub("", page.read_text())):
        if link.startswith(("https://", "http://", "mailto:")):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{page.name}: {link}"
        if page.is_relative_to(DOCS):
            assert target.is_relative_to(DOCS), f"{page.name}: {link} leaves the site"
        if anchor:
            assert anchor in anchors(target), f"{page.name}: {link}"


def entries(nav: list[dict[str, Any]]) -> list[str]:
    found: list[str] = []
    for item in nav:
        for value in item.values():
            found += [value] if isinstance(value, str) else entries(value)
    return found


def test_the_navigation_has_every_page_once() -> None:
    configuration = tomllib.loads((DOCS / "zensical.toml").read_text())
    listed = entries(configuration["project"]["nav"])
    assert sorted(listed) == sorted(str(page.relative_to(DOCS)) for page in SITE)


def test_the_guides_page_names_every_guide() -> None:
    index = (DOCS / "guides" / "index.md").read_text()
    for guide in (DOCS / "guides").glob("*.md"):
        assert guide.name == "index.md" or f"({guide.name})" in index


def test_the_readme_shows_code_before_line_15_and_a_failure() -> None:
    lines = (ROOT / "README.md").read_text().splitlines()
    assert any(line.startswith("from anyshape import") for line in lines[:15])
    assert any(line.startswith("error: ") for line in lines)


def targets() -> dict[str, str]:
    makefile = (ROOT / "Makefile").read_text()
    return dict(re.findall(r"^([a-z-]+):(?: .*)?\n((?:\t.*\n)+)", makefile, re.MULTILINE))


def test_readme_makefile_and_ci_agree_on_the_commands() -> None:
    readme = (ROOT / "README.md").read_text()
    promised = re.findall(r"^\$ make ([a-z-]+)", readme, re.MULTILINE)
    assert promised == ["demo", "test"]
    assert "anyshape demo" in targets()["demo"]
    assert "scripts/test.py" in targets()["test"]
    ran = re.findall(r"^make ([a-z-]+)", (ROOT / ".ci" / "run").read_text(), re.MULTILINE)
    assert ran[0] == "test"
    assert set(ran) <= targets().keys()


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_every_make_command_that_is_mentioned_exists(page: str) -> None:
    mentioned = set(
        re.findall(r"(?:^\$ |`)make ([a-z-]+)", (ROOT / page).read_text(), re.MULTILINE)
    )
    assert mentioned <= targets().keys()


def test_the_pinned_packages_of_the_docs_have_hashes_and_no_addresses() -> None:
    pinned = (ROOT / "requirements" / "docs.txt").read_text()
    assert "zensical==" in pinned
    assert "--hash=sha256:" in pinned
    assert "://" not in pinned


def test_the_site_needs_nothing_from_elsewhere() -> None:
    theme = tomllib.loads((DOCS / "zensical.toml").read_text())["project"]["theme"]
    assert theme["font"] is False
