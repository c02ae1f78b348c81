"""Patterns mean what they mean to the regular expressions of Node, which are those of ECMA-262."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from expressions import Expressions

from anyshape.errors import InvalidSchema
from anyshape.schema import compile

COUNT = 1_500
DIALECTS = (
    "https://json-schema.org/draft/2020-12/schema",
    "http://json-schema.org/draft-07/schema#",
)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_patterns_mean_the_same_to_node(node: Callable[..., list[str]], dialect: str) -> None:
    random = Random(dialect)
    command = node(Path(__file__).with_name("regexps.mjs"))
    asked = matched = 0
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for _ in range(COUNT):
            maker = Expressions(random)
            pattern = maker.expression()
            texts = maker.texts(pattern)
            process.stdin.write(json.dumps({"pattern": pattern, "texts": texts}) + "\n")
            process.stdin.flush()
            said: list[bool] | None = json.loads(process.stdout.readline())
            if said is None:
                continue
            try:
                schema = compile({"$schema": dialect, "pattern": pattern})
            except InvalidSchema:
                # The matcher cannot look back over any length, nor repeat what only looks.
                assert any(look in pattern for look in ("(?=", "(?!", "(?<=", "(?<!")), pattern
                continue
            asked += 1
            matched += sum(said)
            assert [schema.accepts(text) for text in texts] == said, (pattern, texts)
        process.stdin.close()
    assert asked > COUNT / 3
    assert matched > COUNT
