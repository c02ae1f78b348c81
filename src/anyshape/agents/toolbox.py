"""A toolbox: the tools of one server or several, as one model provider wants to be told of them.

tools = await client.toolbox("anthropic")
reply = await anthropic.messages.create(…, tools=tools.definitions)
results = await tools.call_all(reply.content)
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, cast

from anyshape.agents.budget import compact, estimate_tokens
from anyshape.agents.calls import ToolCall, calls_in, read_arguments, read_call
from anyshape.agents.disclosure import Disclosure, Index
from anyshape.agents.failures import failed, unknown_tool
from anyshape.agents.formats import Definition, Format, FormatName, format_for
from anyshape.agents.offering import Note, ToolboxTool, offer
from anyshape.agents.outcome import Outcome, outcome_of, within
from anyshape.agents.ranking import CALL, FIND
from anyshape.agents.sources import SourceResult, SourceTool, ToolSource
from anyshape.errors import AnyshapeError
from anyshape.providers import Lowered, Profile
from anyshape.providers.profiles import find_profile
from anyshape.schema import aside, text_size

_LONG: Final = 1_000_000
"""About how many bytes a result has that is not put into words on the event loop."""


@dataclass(frozen=True, slots=True)
class _Contents:
    """What a toolbox holds between two listings; replaced as a whole."""

    tools: Mapping[str, ToolboxTool] = field(default_factory=dict[str, ToolboxTool])
    left_out: Mapping[str, str] = field(default_factory=dict[str, str])
    notes: tuple[Note, ...] = ()
    names: frozenset[str] = frozenset()
    """What a model may call: the names of the tools, or of the two that stand for them."""
    text: str = "[]"
    """The definitions, as JSON text."""
    cost: int = 0
    index: Index | None = None


class Toolbox:
    """Tools in a provider's words; made by `toolbox` or `Client.toolbox`.

    What it offers stays as it is until `refresh`, so that a prompt does.
    """

    def __init__(
        self,
        sources: Mapping[str, ToolSource],
        profile: Profile,
        format: Format,
        *,
        tokens: int | None,
        result_tokens: int | None,
        search: bool,
        images: bool,
        timeout: float | None,
    ) -> None:
        self.profile = profile
        self.format: FormatName = format.name
        self._sources = dict(sources)
        self._format = format
        self._tokens = tokens
        self._result_tokens = result_tokens
        self._images = images
        self._timeout = timeout
        self._disclosure = Disclosure(sources, profile) if search else None
        self._listings: dict[str, Sequence[SourceTool]] = {}
        self._refreshing = asyncio.Lock()
        self._contents = _Contents()

    @property
    def definitions(self) -> list[Any]:
        """The tools in the provider's request format: a fresh copy, the same bytes each time.

        Dicts, typed so that they pass for what the provider's SDK calls them; results are, too.
        """
        return json.loads(self._contents.text)

    @property
    def tools(self) -> Mapping[str, ToolboxTool]:
        """The tools that can be called, by the name that the model knows."""
        return MappingProxyType(self._contents.tools)

    @property
    def left_out(self) -> Mapping[str, str]:
        """The tools, and servers, that are not offered, and why."""
        return MappingProxyType(self._contents.left_out)

    @property
    def notes(self) -> tuple[Note, ...]:
        """What became of tools on the way: renamed, not strict, trimmed, left out."""
        return self._contents.notes

    @property
    def tokens(self) -> int:
        """About how many tokens the definitions take in a model's context."""
        return self._contents.cost

    @property
    def is_stale(self) -> bool:
        """Whether a server's list may have changed: it said so, or the list has expired."""
        return any(self._is_stale(label) for label in self._sources)

    def __contains__(self, name: object) -> bool:
        """Tell whether a model that calls this name means a tool of this toolbox."""
        return name in self._contents.names

    def __len__(self) -> int:
        """Return how many tools can be called."""
        return len(self._contents.tools)

    def __repr__(self) -> str:
        """Return what it is for, and how much it is."""
        missing = f", {len(self.left_out)} left out" if self.left_out else ""
        tools = "1 tool" if len(self) == 1 else f"{len(self)} tools"
        return f"<Toolbox for {self.profile.name}: {tools}, {self.tokens} tokens{missing}>"

    async def refresh(self) -> bool:
        """Ask servers again whose list may have changed; tell whether the definitions did.

        A server that cannot be asked keeps the tools it had.
        """
        async with self._refreshing:
            if not self.is_stale:
                return False
            before = self._contents.text
            await self._fill(keep=True)
            return self._contents.text != before

    async def call(
        self,
        call: object,
        arguments: Mapping[str, Any] | str | None = None,
        *,
        id: str | None = None,
        timeout: float | None = None,
    ) -> Any:
        """Call a tool and return its result in the provider's format.

        `call` is the provider's own tool call, an object of its SDK or a dict, or the name of a
        tool, which `arguments` and `id` then belong to. The arguments are restored, checked against
        the author's schema, and sent. Whatever fails comes back as a result that tells the model
        what to do; nothing is raised but for what is no call at all.
        """
        given = ToolCall(call, arguments, id) if isinstance(call, str) else read_call(call)
        outcome = await self._outcome(given, timeout)
        return self._format.answer(given, self._format.shown(outcome, images=self._images))

    async def call_all(
        self, calls: Sequence[object] | None, *, timeout: float | None = None
    ) -> list[Any]:
        """Call tools side by side and return their results in the order of the calls.

        `calls` may be everything that a model said in its turn: what is no call is passed over. In
        OpenAI's chat format, whose results hold text alone, a message with the images follows.
        """
        given = list(calls_in(calls))
        outcomes = await asyncio.gather(*(self._outcome(call, timeout) for call in given))
        answers = [
            self._format.answer(call, self._format.shown(outcome, images=self._images))
            for call, outcome in zip(given, outcomes, strict=True)
        ]
        if self._images:
            answers += self._format.follow(list(zip(given, outcomes, strict=True)))
        return answers

    # Inside.

    def _is_stale(self, label: str) -> bool:
        listed = self._sources[label].listed
        return listed is None or list(listed.values()) != list(self._listings.get(label, ()))

    async def _fill(self, *, keep: bool = False) -> None:
        """List the tools, of all servers or but for those whose last list holds, and offer them."""
        labels = [it for it in self._sources if not keep or self._is_stale(it)]
        reasons = await asyncio.gather(*(self._ask(label) for label in labels))
        left_out = {it: reason for it, reason in zip(labels, reasons, strict=True) if reason}
        several = len(self._sources) > 1
        for label, source in self._sources.items():
            for name, reason in source.rejected.items():
                left_out[f"{label}_{name}" if several else name] = str(reason)
        self._contents = await aside(self._make_contents, left_out)

    async def _ask(self, label: str) -> str:
        """List the tools of one server; return why they could not be."""
        try:
            self._listings[label] = await self._sources[label].list_tools()
        except AnyshapeError as error:
            if len(self._sources) == 1 and label not in self._listings:
                raise
            return f"its tools could not be listed: {error}"
        return ""

    def _make_contents(self, left_out: dict[str, str]) -> _Contents:
        offering = offer(
            {it: self._listings[it] for it in self._sources if it in self._listings},
            self.profile,
            self._format,
            prefixed=len(self._sources) > 1,
            tokens=self._tokens,
            all_at_once=self._disclosure is None,
        )
        unlisted = (Note("left out", name, reason) for name, reason in left_out.items())
        shown: Sequence[Definition] = [tool.definition for tool in offering.tools]
        index: Index | None = None
        if self._disclosure is not None:
            shown, index = self._disclosure.definitions, Index(offering.tools)
        text = compact(self._format.gather([self._format.define(it) for it in shown]))
        return _Contents(
            tools={tool.name: tool for tool in offering.tools},
            left_out={**left_out, **offering.left_out},
            notes=(*unlisted, *offering.notes),
            names=frozenset(it.name for it in shown),
            text=text,
            cost=estimate_tokens(text),
            index=index,
        )

    async def _outcome(self, call: ToolCall, timeout: float | None) -> Outcome:
        if self._disclosure is None:
            return await self._call(call, timeout)
        try:
            if call.name == FIND:
                query = (await _checked(self._disclosure.find, call))["query"]
                return await self._find(query)
            if call.name == CALL:
                inner = await _checked(self._disclosure.call, call)
                return await self._call(ToolCall(inner["name"], inner["arguments"]), timeout)
        except Exception as error:
            return failed(call.name, error)
        return unknown_tool(call.name, sorted(self._contents.names))

    async def _find(self, query: str) -> Outcome:
        if self.is_stale:
            await self.refresh()
        index = self._contents.index or Index(())
        return Outcome((index.find(query, self._tokens),))

    async def _call(self, call: ToolCall, timeout: float | None) -> Outcome:
        tools = self._contents.tools
        offered = tools.get(call.name)
        if offered is None:
            return unknown_tool(call.name, list(tools))
        try:
            arguments = await _restored(offered.lowered, read_arguments(call))
            limit = self._timeout if timeout is None else timeout
            source = self._sources[offered.source]
            result = await source.call_tool(
                offered.tool.name, arguments, timeout=limit, check_arguments=True
            )
            if text_size(result.raw) > _LONG:
                return await aside(_told, result, self._result_tokens)
            return _told(result, self._result_tokens)
        except Exception as error:
            return failed(call.name, error)


def _told(result: SourceResult, most: int | None) -> Outcome:
    """Return what to tell a model of a result, in as many tokens at most."""
    outcome = outcome_of(result)
    return outcome if most is None else within(outcome, most)


async def _restored(lowered: Lowered, arguments: dict[str, Any]) -> Any:
    """Return a model's arguments in the author's terms, off the loop if that may take a while."""
    if lowered.original.waits(text_size(arguments)):
        return await aside(lowered.restore, arguments)
    return lowered.restore(arguments)


async def _checked(lowered: Lowered, call: ToolCall) -> dict[str, Any]:
    """Return the arguments of one of our own two tools; `ValidationError` if they are wrong."""
    found = await _restored(lowered, read_arguments(call))
    lowered.original.validate(found)
    return found


async def toolbox(
    sources: ToolSource | Mapping[str, ToolSource] | Iterable[ToolSource],
    profile: Profile | str,
    *,
    format: FormatName | None = None,
    tokens: int | None = None,
    result_tokens: int | None = None,
    search: bool = False,
    images: bool = True,
    timeout: float | None = None,
) -> Toolbox:
    """Return the tools of one server or several for a provider, ready to be offered and called.

    `sources` is an open `Client`, several, or several by the labels that their tools' names begin
    with; several without labels go by the names of their servers. `profile` is a provider's, by
    name or as a value; `format` is the API that is spoken, if it is not the one that goes with the
    profile. `tokens` is about what the definitions may cost: descriptions are cut to fit;
    `result_tokens` is what the text of one result may, which says how much of it was cut. `search`
    offers two tools in place of all: one that finds tools by words, one that calls them. `images`
    is whether the model can see any. `timeout` bounds each call, in seconds.
    """
    rules = find_profile(profile)
    for name, most in (("tokens", tokens), ("result_tokens", result_tokens)):
        if most is not None and most <= 0:
            raise ValueError(f"{name}={most}: expected more than 0")
    made = Toolbox(
        _labelled(sources),
        rules,
        format_for(rules, format),
        tokens=tokens,
        result_tokens=result_tokens,
        search=search,
        images=images,
        timeout=timeout,
    )
    await made._fill()
    return made


def _labelled(sources: Any) -> dict[str, ToolSource]:
    if isinstance(sources, Mapping):
        return dict(cast("Mapping[str, ToolSource]", sources))
    if hasattr(sources, "call_tool"):
        return {"": cast("ToolSource", sources)}
    found: dict[str, ToolSource] = {}
    for source in cast("Iterable[ToolSource]", sources):
        label = (source.server.name or "")[:60]
        if not label or label in found:
            raise ValueError(
                f"two servers are called {label!r}, or one has no name; "
                "give a mapping with labels of your own: toolbox({'label': client, …}, …)"
            )
        found[label] = source
    return found
