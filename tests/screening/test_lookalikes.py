"""Names that look like other names."""

from __future__ import annotations

import pytest

from anyshape.screening import find_imitations, screen_entry, skeleton


@pytest.mark.parametrize(
    ("name", "severity"),
    [
        ("sеarch_files", "high"),  # a Cyrillic letter
        ("ѕеаrсһ_filеѕ", "high"),
        ("ѕеаrсһ_fіlеѕ", "high"),
        ("ｓｅａｒｃｈ_files", "high"),
        ("𝗌earch_files", "high"),
        ("search\u200b_files", "high"),
        ("sėarch_files", "high"),
        ("search‐files".replace("‐", "_") + "\u0301", "high"),
        ("searchfiIes".replace("hf", "h_f"), "medium"),  # a capital i
        ("Search_Files", "low"),
    ],
)
def test_a_name_that_looks_like_another_upstreams_is_found(name: str, severity: str) -> None:
    found = find_imitations({"files": ["search_files", "read"], "other": ["write", name]})
    assert list(found) == [("other", name)]
    finding = found["other", name]
    assert (finding.code, str(finding.severity), finding.where) == ("imitation", severity, "/name")
    assert "files" in finding.message


@pytest.mark.parametrize(
    ("one", "another"),
    [("list_0", "list_O"), ("form", "forrn"), ("al1", "all"), ("modal", "mоdal"), ("run", "RUN")],
)
def test_digits_and_letters_that_look_alike_have_one_skeleton(one: str, another: str) -> None:
    assert skeleton(one) == skeleton(another)


@pytest.mark.parametrize(
    ("one", "another"),
    [
        ("search", "search"),  # a collision, which names decide
        ("mail", "mall"),
        ("create_issue", "create_issues"),
        ("read_file", "read-file"),
        ("получить", "поиск"),
        ("検索", "検査"),
    ],
)
def test_names_that_differ_to_the_eye_or_not_at_all_are_no_imitations(
    one: str, another: str
) -> None:
    assert find_imitations({"a": [one], "b": [another]}) == {}


def test_an_upstream_does_not_imitate_itself() -> None:
    assert find_imitations({"a": ["getUser", "getuser"], "b": ["x"]}) == {}


def test_who_comes_first_is_the_original_for_all_that_follow() -> None:
    found = find_imitations({"a": ["run"], "b": ["Run"], "c": ["RUN", "run"]})
    assert list(found) == [("b", "Run"), ("c", "RUN")]
    assert "upstream a" in found["c", "RUN"].message


@pytest.mark.parametrize("name", ["sеarch", "раypal", "Ηello", "ｒead_file"])
def test_a_name_of_two_alphabets_that_look_alike_is_found_by_itself(name: str) -> None:
    codes = [finding.code for finding in screen_entry({"name": name})]
    assert codes == ["mixed-alphabets"]


@pytest.mark.parametrize(
    "name", ["поиск", "検索_v2", "recherche_été", "größe", "ابحث", "weather日本"]
)
def test_a_name_in_another_language_is_not(name: str) -> None:
    assert screen_entry({"name": name}) == ()
