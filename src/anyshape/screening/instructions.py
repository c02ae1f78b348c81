"""Words that are typical of poisoned tools: a modest heuristic, and marked as one.

Who wants to will find other words. These are the ones that published attacks used; a finding says
that a person should read the description, not that the tool is hostile.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from anyshape.screening.finding import Finding, Severity, excerpt

CREDENTIAL_FILES: Final = (
    r"(?:[~/\\]\.ssh\b|\bid_(?:rsa|ed25519|ecdsa)\b|\.aws[/\\]credentials|\.kube[/\\]config\b"
    r"|\.docker[/\\]config\.json|[~/\\]\.(?:netrc|pgpass|git-credentials|npmrc|pypirc)\b"
    r"|\.cursor[/\\]mcp\.json|\.config[/\\]gcloud|/etc/(?:passwd|shadow)\b|/proc/self/environ)"
)
"""An expression for files that hold credentials."""

_RULES: Final = (
    (
        "instruction-override",
        re.compile(
            r"\b(?:ignore|disregard|forget|override|bypass)\s{1,3}(?:\w{1,12}\s{1,3}){0,3}?"
            r"(?:previous|prior|above|earlier|preceding|system|existing|safety)\s{1,3}"
            r"(?:\w{1,12}\s{1,3}){0,2}?(?:instructions?|prompts?|rules|guidelines|directives)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "instruction-secrecy",
        re.compile(
            r"\b(?:do\s{1,3}not|don['’]t|never|must\s{1,3}not|without)\s{1,3}"  # noqa: RUF001
            r"(?:ever\s{1,3})?(?:tell|telling|inform|informing|notify|notifying|mention|mentioning"
            r"|reveal|revealing|alert|alerting)\s{1,3}(?:\w{1,12}\s{1,3}){0,3}?"
            r"(?:the\s{1,3}|your\s{1,3})?(?:user|human|anyone|anybody)\b"
            r"|\b(?:hide|conceal|keep)\s{1,3}(?:this|it|that)\s{1,3}(?:\w{1,12}\s{1,3})?"
            r"from\s{1,3}(?:the\s{1,3})?(?:user|human)\b",
            re.IGNORECASE,
        ),
    ),
    ("instruction-secret", re.compile(CREDENTIAL_FILES, re.IGNORECASE)),
    (
        "instruction-context",
        re.compile(
            r"\b(?:send|include|pass|append|attach|provide|put|copy|forward)\s{1,3}"
            r"(?:\w{1,12}\s{1,3}){0,3}?(?:system\s{1,3}prompt|(?:entire|full|whole|complete)\s{1,3}"
            r"(?:conversation|chat)(?:\s{1,3}(?:history|log))?)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "instruction-mark",
        re.compile(r"</?(?:important|system|secret|instructions?|admin|override)>", re.IGNORECASE),
    ),
)


def screen_instructions(text: str, where: str) -> Iterator[Finding]:
    """Yield words that poisoned tools use, at most one finding of each code."""
    for code, expression in _RULES:
        match = expression.search(text)
        if match is not None:
            shown = excerpt(text, match.start())
            yield Finding(code, Severity.LOW, where, shown, f"read this (heuristic): {shown}")
