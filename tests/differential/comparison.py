"""Cases that three validators judge, and where they disagree for no reason that is known."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from random import Random

from documents import DIALECTS, Maker
from explanations import Disagreement, explain
from instances import Sampler
from trees import Json
from validators import Judged, Refused, Validator, ask_jsonschema, ask_us

__all__ = ["Comparison", "make_case"]

NUMBERS = tuple(DIALECTS)


def make_case(seed: int, count: int) -> tuple[int, Json, list[Json]]:
    """Return a dialect, a document in it and values for that, by a number."""
    random = Random(f"three:{seed}")
    dialect = NUMBERS[seed % len(NUMBERS)]
    document = Maker(random, dialect).document()
    if isinstance(document, dict):
        document["$schema"] = DIALECTS[dialect]
    values = Sampler(random, document).batch(count)
    return json.loads(json.dumps([dialect, document, values]))


@dataclass
class Comparison:
    """Asks all, and counts what came of it."""

    ajv: Validator
    judged: int = 0
    agreed: int = 0
    explained: Counter[str] = field(default_factory=Counter[str])
    found: list[Disagreement] = field(default_factory=list[Disagreement])

    def compare(self, dialect: int, document: Json, values: list[Json]) -> None:
        """Take down every disagreement with us, explained or not."""
        ours = _each(ask_us(dialect, document, values), values)
        others: dict[str, Validator] = {"jsonschema": ask_jsonschema, "Ajv": self.ajv}
        for name, ask in others.items():
            theirs = _each(ask(dialect, document, values), values)
            for value, mine, other in zip(values, ours, theirs, strict=True):
                self.judged += 1
                if _alike(mine, other):
                    self.agreed += 1
                    continue
                found = Disagreement(name, dialect, document, value, mine, other)
                reason = explain(found)
                if reason is None:
                    self.found.append(found)
                else:
                    self.explained[f"{reason.other}: {reason.what}"] += 1


def _each(judged: Judged, values: list[Json]) -> list[bool | Refused]:
    return [judged] * len(values) if isinstance(judged, Refused) else judged


def _alike(one: bool | Refused, other: bool | Refused) -> bool:
    return one is other or (isinstance(one, Refused) and isinstance(other, Refused))
