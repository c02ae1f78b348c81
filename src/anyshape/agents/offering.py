"""From what servers list to what a model is offered: lowered, named, within bounds and budget.

All of it happens when a toolbox is made or refreshed; a call only looks things up. The outcome
depends on the tools and the options alone, byte for byte, because prompt caches do.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, TypeAlias

from anyshape.agents.budget import (
    CAPS,
    Cap,
    compact,
    descriptions_in,
    estimate_tokens,
    shorten_text,
    trimmed,
)
from anyshape.agents.formats import Definition, Format
from anyshape.agents.naming import offered_names
from anyshape.agents.sources import SourceTool
from anyshape.documents.positions import nodes
from anyshape.errors import AnyshapeError
from anyshape.providers import PROFILES, Loss, Lowered, Profile, lower
from anyshape.providers.counting import count_optional, count_unions

logger = logging.getLogger(__name__)

NoteKind: TypeAlias = Literal["renamed", "not strict", "left out", "trimmed", "over budget"]


@dataclass(frozen=True, slots=True)
class Note:
    """Something that became of a tool on the way, or of all of them if `tool` is empty."""

    kind: NoteKind
    tool: str
    text: str

    def __str__(self) -> str:
        """Return it in one line."""
        return f"{self.tool}: {self.text}" if self.tool else self.text


@dataclass(frozen=True, slots=True)
class ToolboxTool:
    """One tool that a model can call."""

    name: str
    """What the model calls it."""
    source: str
    """The label of the server that has it."""
    tool: SourceTool = field(repr=False)
    """The tool as its server listed it."""
    lowered: Lowered = field(repr=False)
    description: str = field(repr=False)
    document: dict[str, Any] = field(repr=False)
    """The schema as the model sees it."""

    @property
    def losses(self) -> tuple[Loss, ...]:
        """What that schema no longer says; the original is enforced all the same."""
        return self.lowered.losses

    @property
    def definition(self) -> Definition:
        """What to write in a provider's words."""
        return Definition(self.name, self.description, self.document, self.lowered.profile)


@dataclass(frozen=True, slots=True)
class Offering:
    """What a model is offered, in the order of the names, and what is to be said of it."""

    tools: tuple[ToolboxTool, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict[str, str])
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True)
class _RequestBounds:
    """What may be counted over all tools of a request."""

    tools: int | None = None
    strict_tools: int | None = None
    optional: int | None = None
    unions: int | None = None


_REQUESTS: Final = {
    "openai": _RequestBounds(tools=128),
    "openai-strict": _RequestBounds(tools=128),
    "anthropic-strict": _RequestBounds(strict_tools=20, optional=24, unions=16),
}
"""Seen in messages of these APIs that were quoted in public, 2026-11."""


def offer(
    listings: Mapping[str, Sequence[SourceTool]],
    profile: Profile,
    format: Format,
    *,
    prefixed: bool,
    tokens: int | None,
    all_at_once: bool,
) -> Offering:
    """Return what a model is offered of the tools that servers, by their labels, list."""
    notes: list[Note] = []
    left_out: dict[str, str] = {}
    found: dict[str, tuple[str, SourceTool, Lowered]] = {}
    wanted: dict[str, str] = {}
    for label, tools in listings.items():
        for tool in tools:
            shown = f"{label}_{tool.name}" if prefixed else tool.name
            lowered = _lowered(tool, profile, shown, notes, left_out)
            if lowered is not None:
                key = f"{label}\0{tool.name}" if prefixed else tool.name
                found[key], wanted[key] = (label, tool, lowered), shown
    names = offered_names(wanted, profile.tool_names)
    offered: list[ToolboxTool] = []
    for key, name in sorted(names.items(), key=lambda it: it[1]):
        label, tool, lowered = found[key]
        description = tool.description or tool.title or tool.name
        if name != wanted[key]:
            notes.append(Note("renamed", wanted[key], f"offered as {name}"))
            if tool.name not in description:
                description = f"{description} (named {tool.name})"
        made = ToolboxTool(name, label, tool, lowered, description, lowered.document)
        offered.append(made)
    if all_at_once:
        offered = _within_request(offered, profile, notes, left_out)
        if tokens is not None:
            offered = _within_budget(offered, format, tokens, notes)
    for name, reason in left_out.items():
        notes.append(Note("left out", name, reason))
        logger.warning("tool %s is not offered for %s: %s", name[:100], profile.name, reason[:300])
    return Offering(tuple(offered), left_out, tuple(notes))


# Lowering.


def _lowered(
    tool: SourceTool, profile: Profile, shown: str, notes: list[Note], left_out: dict[str, str]
) -> Lowered | None:
    """Return a tool's lowered schema, by the fallback of the profile if need be."""
    reason = ""
    for rules in (profile, *_fallback(profile)):
        try:
            lowered = _lower(tool, rules)
        except AnyshapeError as error:
            reason = reason or str(error)
        except Exception:
            # A mistake of ours, found by a stranger's schema, must not cost the other tools.
            logger.exception("tool %s could not be lowered", shown[:100])
            reason = reason or "it could not be lowered; the log has the reason"
        else:
            if rules is not profile:
                notes.append(Note("not strict", shown, reason))
            return lowered
    left_out[shown] = reason
    return None


def _lower(tool: SourceTool, profile: Profile) -> Lowered:
    # Definitions are named after the tool where a server merges those of all tools.
    return lower(tool if profile.prefix_definitions else tool.input, profile)


def _fallback(profile: Profile) -> tuple[Profile, ...]:
    rules = PROFILES.get(profile.fallback or "")
    return () if rules is None else (rules,)


# What a request may hold.


def _within_request(
    offered: list[ToolboxTool], profile: Profile, notes: list[Note], left_out: dict[str, str]
) -> list[ToolboxTool]:
    """Return what fits into one request: the first tools, and the first strict ones as such."""
    bounds = _REQUESTS.get(profile.name, _RequestBounds())
    most = len(offered) if bounds.tools is None else bounds.tools
    for tool in offered[most:]:
        left_out[tool.name] = (
            f"{profile.name} takes {most} tools a request and there are {len(offered)}; "
            "search=True discloses all of them"
        )
    strict = optional = unions = 0
    kept: list[ToolboxTool] = []
    for tool in offered[:most]:
        if tool.lowered.profile is profile and bounds.strict_tools is not None:
            found = list(nodes(tool.document))
            more_optional, more_unions = count_optional(found), count_unions(found)
            if (
                strict + 1 > bounds.strict_tools
                or optional + more_optional > (bounds.optional or 0)
                or unions + more_unions > (bounds.unions or 0)
            ):
                text = f"{profile.name} takes no more strict tools in one request"
                fallback = _fallback(profile)
                if not fallback:
                    left_out[tool.name] = text
                    continue
                lowered = _lowered(tool.tool, fallback[0], tool.name, notes, left_out)
                if lowered is None:
                    continue
                tool = replace(tool, lowered=lowered, document=lowered.document)
                notes.append(Note("not strict", tool.name, text))
            else:
                strict += 1
                optional += more_optional
                unions += more_unions
        kept.append(tool)
    return kept


# What it may cost.


def cost_of(tools: Iterable[ToolboxTool], format: Format) -> int:
    """Return about how many tokens the definitions of tools take."""
    return sum(estimate_tokens(compact(format.define(tool.definition))) for tool in tools)


def _within_budget(
    offered: list[ToolboxTool], format: Format, tokens: int, notes: list[Note]
) -> list[ToolboxTool]:
    """Return tools with descriptions as long as the budget lets them be: one measure for all."""
    whole = cost = cost_of(offered, format)
    if whole <= tokens:
        return offered
    authors = [descriptions_in(tool.tool.input_schema) for tool in offered]
    cut = offered
    for cap in CAPS[1:]:
        cut = [_cut(tool, known, cap) for tool, known in zip(offered, authors, strict=True)]
        cost = cost_of(cut, format)
        if cost <= tokens:
            break
    text = f"descriptions were cut: about {cost} tokens instead of {whole}"
    notes.append(Note("trimmed", "", text))
    if cost > tokens:
        text = f"about {cost} tokens, over the {tokens} allowed; search=True takes two tools' worth"
        notes.append(Note("over budget", "", text))
        logger.warning("the definitions take %s", text)
    return cut


def _cut(tool: ToolboxTool, authors: set[str], cap: Cap) -> ToolboxTool:
    most, most_inside = cap
    return replace(
        tool,
        description=shorten_text(tool.description, most),
        document=trimmed(tool.document, authors, most_inside),
    )
