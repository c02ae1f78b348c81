"""The engines that are too heavy for every run of the tests: `make engines` asks them.

xgrammar brings torch with it. llama.cpp's converter and matcher are compiled from its sources, with
`llama_matcher.cpp` around them; `scripts/ask_engines.py` does that, and says where the program is.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
from typing import Any, Final

MATCHER: Final = "ANYSHAPE_LLAMA_MATCHER"
"""The environment variable that names the compiled program."""

_VOCABULARY: Final = [bytes([number]) for number in range(256)] + ["<eos>"]


class XGrammar:
    """xgrammar, as vLLM and SGLang use it, with a vocabulary of single bytes."""

    _compiler: Any = None

    def __init__(self, document: dict[str, Any]) -> None:
        xgrammar: Any = importlib.import_module("xgrammar")
        if XGrammar._compiler is None:
            information = xgrammar.TokenizerInfo(
                _VOCABULARY,
                vocab_type=xgrammar.VocabType.RAW,
                vocab_size=len(_VOCABULARY),
                stop_token_ids=[256],
            )
            XGrammar._compiler = xgrammar.GrammarCompiler(information)
        compiled = XGrammar._compiler.compile_json_schema(json.dumps(document))
        self._matcher: Any = xgrammar.GrammarMatcher(compiled)

    def matches(self, text: str) -> bool:
        """Tell whether the engine could generate `text`."""
        self._matcher.reset()
        taken = all(self._matcher.accept_token(byte) for byte in text.encode())
        return bool(taken and self._matcher.accept_token(256))


class LlamaCpp:
    """llama.cpp's converter from JSON Schema to grammars, and its grammar matcher."""

    _program: subprocess.Popen[str] | None = None

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document
        answer = self._ask([])
        if answer["error"] is not None:
            raise ValueError(answer["error"])

    def matches(self, text: str) -> bool:
        """Tell whether the engine could generate `text`."""
        return bool(self._ask([text])["matches"][0])

    def _ask(self, texts: list[str]) -> dict[str, Any]:
        if LlamaCpp._program is None:
            LlamaCpp._program = subprocess.Popen(
                [os.environ[MATCHER]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        program = LlamaCpp._program
        assert program.stdin is not None
        assert program.stdout is not None
        program.stdin.write(json.dumps({"schema": self._document, "texts": texts}) + "\n")
        program.stdin.flush()
        answer = program.stdout.readline()
        if not answer:
            LlamaCpp._program = None
            raise ValueError("the converter crashed")
        return json.loads(answer)
