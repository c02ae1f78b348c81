"""What there is to say about a server's tools: reviews, what is hidden, what providers make of it.

This is what `anyshape check` writes and the page shows.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import asdict, dataclass, field, replace
from typing import Any, TypeAlias, cast

from anyshape.client.client import Client
from anyshape.client.review import ListedEntries, Review, review_tool
from anyshape.client.tools import ListedTool
from anyshape.client.views import ConnectAs, view_listing
from anyshape.errors import ProtocolError
from anyshape.protocol.revision import Revision
from anyshape.protocol.shapes import OLDER
from anyshape.providers import Outlook, outlook
from anyshape.schema import aside
from anyshape.screening import Finding, find_imitations, screen_entry

ReadSource: TypeAlias = Callable[[Review], Review]
"""Adds what can be said of a tool whose function is there to be read."""


@dataclass(frozen=True, slots=True)
class JudgedEntry:
    """What there is to say about one tool or schema."""

    review: Review
    outlooks: Sequence[Outlook] = ()
    findings: Sequence[Finding] = ()
    is_suspect: bool = False
    """Whether one of the findings is bad enough to say no."""

    @property
    def refused(self) -> bool:
        """Whether no client should use it, or one of the providers would not take it."""
        return bool(self.review.refused) or any(
            found.outcome == "refused" for found in self.outlooks
        )

    def as_data(self) -> dict[str, Any]:
        """Return it for programs."""
        review = self.review
        data: dict[str, Any] = {
            "name": review.name,
            "refused": review.refused,
            "cost": review.cost,
            "olderClients": review.carried,
            "bytes": review.size,
            "tokens": review.tokens,
            "advice": review.advice,
            "findings": [
                {**asdict(finding), "severity": str(finding.severity)} for finding in self.findings
            ],
        }
        if self.outlooks:
            data["providers"] = {found.profile: found.as_data() for found in self.outlooks}
        return data


@dataclass(frozen=True, slots=True)
class Judgement:
    """What there is to say about one file or server."""

    entries: Sequence[JudgedEntry]
    answered: Mapping[str, str] = field(default_factory=dict[str, str])
    """The older revision that clients of each of these are answered with."""
    gaps: Sequence[str] = ()
    """Which older clients are listed nothing, and why."""
    unrecovered: Sequence[str] = ()
    """What a gateway cannot give back of the servers behind it."""
    unreached: Mapping[str, str] = field(default_factory=dict[str, str])
    """Which of those could not be judged, since they could not be reached, and why."""
    disclosure: Mapping[str, int] = field(default_factory=dict[str, int])
    """About how many tokens the tools of several servers take: listed all, or found by search."""

    @property
    def refused(self) -> int:
        """How many of its tools or schemas no client should use, or a provider would not take."""
        return sum(1 for entry in self.entries if entry.refused)

    @property
    def suspect(self) -> int:
        """In how many of them something is hidden that is bad enough to say no."""
        return sum(1 for entry in self.entries if entry.is_suspect)

    def as_data(self) -> dict[str, Any]:
        """Return it for programs."""
        return {
            "answered": self.answered,
            "gaps": self.gaps,
            "refused": self.refused,
            "suspect": self.suspect,
            "bytes": sum(entry.review.size for entry in self.entries),
            "tokens": sum(entry.review.tokens for entry in self.entries),
            **({"unreached": self.unreached} if self.unreached else {}),
            **({"unrecovered": self.unrecovered} if self.unrecovered else {}),
            **({"disclosure": self.disclosure} if self.disclosure else {}),
            "reviews": [entry.as_data() for entry in self.entries],
        }


def foresee(
    review: Review, name: str | None, schema: object, providers: Sequence[str]
) -> JudgedEntry:
    """Return a review with what each provider makes of the tool, where it can be used at all."""
    if review.refused or not isinstance(schema, Mapping):
        return JudgedEntry(review)
    document = cast("Mapping[str, Any]", schema)
    return JudgedEntry(review, [outlook(name, document, provider) for provider in providers])


def uncover(judgements: Mapping[str, Judgement], threshold: int) -> dict[str, Judgement]:
    """Return judgements with what is hidden in each entry, names that imitate among it.

    A finding of a severity from `threshold` on makes an entry suspect.
    """
    # A schema by itself is called by its file, and no name of anybody's.
    named = {
        target: [entry.review.name for entry in found.entries if entry.review.name != target]
        for target, found in judgements.items()
    }
    imitations = find_imitations(named)

    def uncovered(target: str, entry: JudgedEntry) -> JudgedEntry:
        imitation = imitations.get((target, entry.review.name))
        findings = [*([imitation] if imitation else []), *entry.review.findings]
        is_suspect = any(finding.severity >= threshold for finding in findings)
        return replace(entry, findings=findings, is_suspect=is_suspect)

    return {
        name: replace(found, entries=[uncovered(name, entry) for entry in found.entries])
        for name, found in judgements.items()
    }


async def find_out(
    connection: AbstractAsyncContextManager[Client],
    connect_as: ConnectAs,
    providers: Sequence[str] = (),
    read_source: ReadSource = lambda review: review,
) -> Judgement:
    """Return what there is to say about a server, as we see it, and as older clients do."""
    async with connection as client:
        listed = await client.list_tools()
        refused = [Review(name, refused=str(error)) for name, error in client.rejected.items()]
        hiding = [each async for each in _hiding(client)]
    views = await asyncio.gather(*(view_listing(connect_as, revision) for revision in OLDER))
    older: dict[Revision, ListedEntries] = {}
    answered: dict[str, str] = {}
    gaps: list[str] = []
    for revision, view in zip(OLDER, views, strict=True):
        if isinstance(view, str):
            gaps.append(f"clients of {revision} are listed nothing: {view}")
            continue
        chosen, older[revision] = view
        if chosen != revision:
            answered[str(revision)] = str(chosen)
    entries = await aside(_judge, listed, older, providers, read_source)
    others = (JudgedEntry(review) for review in (*refused, *hiding))
    return Judgement([*entries, *others], answered, gaps)


async def _hiding(client: Client) -> AsyncGenerator[Review]:
    """Yield the prompts, resources and templates in which something is found."""
    for noun, listing in (
        ("prompt", client.list_prompts),
        ("resource", client.list_resources),
        ("template", client.list_resource_templates),
    ):
        # A server that says it has some, and then does not list them, has none that hide anything.
        with suppress(ProtocolError):
            for each in await listing():
                findings = screen_entry(each.entry)
                if findings:
                    name = each.entry.get("uri") or each.entry.get("uriTemplate") or each.name
                    yield Review(f"{noun} {name}", findings=findings)


def _judge(
    listed: Sequence[ListedTool],
    older: Mapping[Revision, ListedEntries],
    providers: Sequence[str],
    read_source: ReadSource,
) -> list[JudgedEntry]:
    return [
        foresee(read_source(review_tool(tool, older)), tool.name, tool.input_schema, providers)
        for tool in listed
    ]
