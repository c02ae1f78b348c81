"""Pins and screening decide together what of an upstream is offered."""

from __future__ import annotations

from typing import Any

import pytest

from anyshape.gateway.pins import Pins, PinTerms
from anyshape.gateway.vetting import ScreeningTerms, Vetting
from anyshape.screening import Severity

HONEST: dict[str, Any] = {"name": "add", "description": "Adds.", "inputSchema": {"type": "object"}}
HIDING: dict[str, Any] = {**HONEST, "name": "hide", "description": "Adds.\u202e"}
SLIP: dict[str, Any] = {**HONEST, "name": "slip", "description": "\ufeffAdds."}
TOOLS = [HONEST, HIDING, SLIP]


def withheld(vetting: Vetting, entries: list[dict[str, Any]] = TOOLS) -> list[bool]:
    return [each.withheld is not None for each in vetting.vet("sums", entries)]


def test_without_pins_and_terms_everything_is_offered_and_findings_are_reported() -> None:
    vetting = Vetting()
    assert withheld(vetting) == [False, False, False]
    honest, hiding, slip = vetting.vet("sums", TOOLS)
    assert honest.report == ()
    assert hiding.report[0].startswith("high bidirectional at /description: ")
    assert slip.report[0].startswith("low invisible at /description: ")


@pytest.mark.parametrize(
    ("severity", "expected"),
    [(Severity.HIGH, [False, True, False]), (Severity.LOW, [False, True, True])],
)
def test_the_operator_says_how_bad_a_finding_is_that_withholds(
    severity: Severity, expected: list[bool]
) -> None:
    vetting = Vetting(screening=ScreeningTerms(withhold=severity))
    assert withheld(vetting) == expected
    reason = vetting.vet("sums", [HIDING])[0].withheld
    assert reason is not None
    assert reason.startswith("screening found high bidirectional at /description")
    assert reason.isprintable()


def test_findings_that_the_operator_ignores_do_not_count() -> None:
    terms = ScreeningTerms(withhold=Severity.LOW, ignore=frozenset({"bidirectional", "invisible"}))
    vetting = Vetting(screening=terms)
    assert withheld(vetting) == [False, False, False]
    assert vetting.vet("sums", [HIDING])[0].report == ()
    with pytest.raises(ValueError, match="ignore='unseen': expected codes of findings"):
        ScreeningTerms(ignore=frozenset({"unseen"}))


def test_with_pins_what_changed_or_is_new_is_withheld_and_the_change_is_reported() -> None:
    vetting = Vetting(Pins().pin("sums", {"tools": [HONEST]}))
    changed = {**HONEST, "description": "Adds, and tells me."}
    same, other, new = vetting.vet("sums", [HONEST, changed, SLIP])
    assert same.withheld is None
    assert other.withheld is not None
    assert "changed since it was pinned, at /description" in other.withheld
    assert other.report == ("/description", "  - Adds.", "  + Adds, and tells me.")
    assert new.withheld is not None
    assert "is not pinned" in new.withheld


def test_what_is_admitted_without_a_pin_is_screened_all_the_same() -> None:
    vetting = Vetting(
        Pins(), PinTerms(unknown="admit"), screening=ScreeningTerms(withhold=Severity.HIGH)
    )
    assert withheld(vetting) == [False, True, False]


def test_a_pin_does_not_excuse_what_screening_withholds() -> None:
    pins = Pins().pin("sums", {"tools": TOOLS})
    assert withheld(Vetting(pins)) == [False, False, False]
    strict = Vetting(pins, screening=ScreeningTerms(withhold=Severity.HIGH))
    assert withheld(strict) == [False, True, False]


def test_an_entry_is_looked_at_once_for_as_long_as_it_stays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked_at: list[str] = []

    def look(entry: dict[str, Any]) -> tuple[()]:
        looked_at.append(entry["description"])
        return ()

    monkeypatch.setattr("anyshape.gateway.vetting.screen_entry", look)
    vetting = Vetting()
    for description in ("a", "a", "b", "b", "a"):
        vetting.vet("sums", [{**HONEST, "description": description}])
    assert looked_at == ["a", "b", "a"]
    vetting.vet("other", [{**HONEST, "description": "a"}])
    assert len(looked_at) == 4


def test_half_a_character_in_an_entry_is_looked_at_like_any_other() -> None:
    (vetted,) = Vetting().vet("sums", [{**HONEST, "description": "Adds.\udc00"}])
    assert [finding.code for finding in vetted.findings] == ["control-character"]


def test_names_that_imitate_are_withheld_like_other_findings() -> None:
    names = {"ours": ["search"], "theirs": ["sеarch", "Search"]}
    strict = Vetting(screening=ScreeningTerms(withhold=Severity.HIGH))
    assert strict.imitating(names) == {("theirs", "sеarch")}
    assert list(strict.withheld) == ["theirs/sеarch"]
    assert Vetting().imitating(names) == set()
    terms = ScreeningTerms(withhold=Severity.LOW, ignore=frozenset({"imitation"}))
    assert Vetting(screening=terms).imitating(names) == set()


def test_prompts_and_resources_are_vetted_by_their_kind() -> None:
    prompt = {"name": "sum up", "description": "Sum up."}
    vetting = Vetting(Pins().pin("sums", {"prompts": [prompt]}))
    assert vetting.vet("sums", [prompt], "prompts")[0].withheld is None
    assert vetting.vet("sums", [prompt])[0].withheld is not None
