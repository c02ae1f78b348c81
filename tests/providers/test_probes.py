"""Every probe, for every profile: accepted, sound, restored, honest about what is lost."""

from __future__ import annotations

from dataclasses import replace

import pytest
from lowering import Judge
from probes import PROBES, Probe

from anyshape.providers import PROFILES, Undeclared
from anyshape.schema import compile


@pytest.mark.parametrize("probe", PROBES, ids=str)
def test_a_probe_says_what_its_schema_says(probe: Probe) -> None:
    schema = compile(probe.schema)
    assert [value for value in probe.accepts if not schema.accepts(value)] == []
    assert [value for value in probe.rejects if schema.accepts(value)] == []


@pytest.mark.parametrize("name", PROFILES)
def test_every_law_holds_for_every_probe(name: str) -> None:
    judge = Judge()
    for probe in PROBES:
        judge.judge(probe.schema, PROFILES[name], probe.accepts, name=probe.name)
    assert judge.breaches == []
    assert judge.counts["lowered"] == len(PROBES)
    assert judge.counts["round trips"] == sum(len(probe.accepts) for probe in PROBES)


@pytest.mark.parametrize("name", PROFILES)
def test_every_law_holds_with_undeclared_properties_kept(name: str) -> None:
    judge = Judge()
    profile = replace(PROFILES[name], undeclared=Undeclared.KEPT)
    for probe in PROBES:
        judge.judge(probe.schema, profile, probe.accepts, name=probe.name)
    assert judge.breaches == []
    assert judge.counts["narrowed"] == 0
