"""The same schema gives the same bytes, in every process, and however its keywords are ordered."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from typing import Any, cast

import pytest
from probes import PROBES

from anyshape.providers import PROFILES, lower


def bytes_of_everything() -> str:
    """Return a digest of every probe for every profile: documents and losses."""
    digest = hashlib.sha256()
    for probe in PROBES:
        for name in PROFILES:
            lowered = lower(probe.schema, name)
            digest.update(repr((lowered.document, lowered.losses)).encode())
    return digest.hexdigest()


def turned(value: Any) -> Any:
    """Return a schema with its keywords in reverse; the order of properties is the author's."""
    if isinstance(value, list):
        return [turned(item) for item in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    schema = cast("dict[str, Any]", value)
    return {
        keyword: {name: turned(inner) for name, inner in schema[keyword].items()}
        if keyword in ("properties", "patternProperties", "$defs", "dependentSchemas")
        else schema[keyword]
        if keyword in ("enum", "const", "default", "examples", "required")
        else turned(schema[keyword])
        for keyword in reversed(schema)
    }


def test_every_process_writes_the_same_bytes() -> None:
    found = {
        subprocess.run(
            [sys.executable, __file__],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert found == {bytes_of_everything() + "\n"}


@pytest.mark.parametrize("name", PROFILES)
def test_the_order_of_keywords_makes_no_difference(name: str) -> None:
    for probe in PROBES:
        one, other = lower(probe.schema, name), lower(turned(probe.schema), name)
        assert repr(one.document) == repr(other.document)


if __name__ == "__main__":
    print(bytes_of_everything())
