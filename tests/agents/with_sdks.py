"""Run the examples with the official SDKs against stand-ins of their APIs, and print a table.

    python tests/agents/with_sdks.py

Each holds two conversations for each profile: with the server of the example over stdio, and with
one that returns images, errors and every other kind of content. The stand-in refuses what the
provider would. Then the ranking of tools is compared with that of bm25s, and our rules judge what
an SDK makes for strict mode. Run by `make agents`.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import importlib
import io
import json
import random
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Literal

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "examples" / "agents")]

import stand_in  # noqa: E402
from workshop import PICTURE, SCRIPT, make_server  # noqa: E402

RUNS = [
    ("openai_chat", "openai", stand_in.CHAT, "openai", "/v1"),
    ("openai_chat", "openai", stand_in.CHAT, "openai-strict", "/v1"),
    ("openai_responses", "openai", stand_in.RESPONSES, "openai", "/v1"),
    ("openai_responses", "openai", stand_in.RESPONSES, "openai-strict", "/v1"),
    ("anthropic_messages", "anthropic", stand_in.ANTHROPIC, "anthropic", ""),
    ("anthropic_messages", "anthropic", stand_in.ANTHROPIC, "anthropic-strict", ""),
    ("google_genai", "google-genai", stand_in.GEMINI, "gemini", ""),
    ("google_genai", "google-genai", stand_in.GEMINI, "gemini-json", ""),
    ("mistral_chat", "mistralai", stand_in.MISTRAL, "mistral", ""),
    ("bedrock_converse", "boto3", stand_in.BEDROCK, "bedrock", ""),
]
EXPECTED = "[12.5,14.0]; [12.5]"


def converse(example: str, api: stand_in.Api, profile: str, base: str) -> int:
    """Hold both conversations; return how many requests were checked."""
    main = importlib.import_module(example).main
    said = io.StringIO()
    with stand_in.stand_in(api) as (url, first), contextlib.redirect_stdout(said):
        asyncio.run(main(url + base, profile))
    assert said.getvalue().strip() == EXPECTED, said.getvalue()
    with stand_in.stand_in(api, SCRIPT) as (url, second), contextlib.redirect_stdout(said):
        asyncio.run(main(url + base, profile, make_server()))
    corrected, final = (json.dumps(it) for it in second.asked[1:])
    assert "/amount: expected an integer" in corrected
    assert "There is no tool 'nobody'" in corrected
    assert "inside b" in final
    # google-genai writes base64 in the alphabet for URLs, which Google's APIs read as well.
    shown = base64.b64encode(PICTURE).decode() in final.translate(str.maketrans("-_", "+/"))
    assert shown is (profile != "mistral"), "images"
    return len(first.asked) + len(second.asked)


def compare_rankings() -> int:
    """Compare the scores of random documents with those of bm25s; return how many."""
    import bm25s

    from anyshape.agents.ranking import Ranking

    choose = random.Random(7)
    words = [f"{a}{b}" for a in "bcdfgklmn" for b in ("at", "or", "il")]
    compared = 0
    for _ in range(50):
        documents = [choose.choices(words, k=choose.randint(1, 40)) for _ in range(60)]
        query = choose.sample(words, 4)
        reference = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
        reference.index(documents, show_progress=False)
        expected = reference.get_scores(query)
        for index, score in Ranking(documents).search(" ".join(query)):
            assert abs(float(expected[index]) - score) < 1e-4, (expected[index], score)
            compared += 1
    return compared


def judge_strict_schemas() -> int:
    """Have our rules judge what the SDKs make of models for strict mode; return how many."""
    from anthropic import transform_schema
    from openai import pydantic_function_tool
    from pydantic import BaseModel, Field

    from anyshape.providers import check

    class Leaf(BaseModel):
        """A leaf."""

        size: int = Field(ge=1, le=9, description="how big")
        kind: Literal["broad", "narrow"]

    class Branch(BaseModel):
        name: str
        leaves: list[Leaf]
        found: Leaf | None
        score: int | str | None
        branches: list[Branch]

    for model in (Leaf, Branch):
        tool = pydantic_function_tool(model)["function"]
        assert tool["strict"] is True
        assert check(tool["parameters"], "openai-strict") == []
        assert check(model.model_json_schema(), "openai-strict") != []

    class Tree(BaseModel):
        name: str
        leaves: list[Leaf]
        found: Leaf | None = None

    for model in (Leaf, Tree):  # Anthropic's strict mode has no recursion.
        assert check(transform_schema(model), "anthropic-strict") == []
        assert check(model.model_json_schema(), "anthropic-strict") != []
    return 4


def run() -> int:
    """Print the table; return the exit code."""
    failed = 0
    for example, package, api, profile, base in RUNS:
        try:
            outcome = f"{converse(example, api, profile, base)} requests accepted"
        except Exception as error:
            failed += 1
            outcome = f"FAILED: {type(error).__name__}: {error}"
        print(f"{example:20} {package} {version(package):10} {profile:18} {outcome}")
    print(f"ranking              bm25s {version('bm25s'):10} {compare_rankings()} scores agree")
    print(f"strict schemas       openai, anthropic    {judge_strict_schemas()} taken")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(run())
