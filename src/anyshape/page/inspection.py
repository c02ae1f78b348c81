"""One server under inspection: the connection to it, and everything that the page asks about it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, nullcontext
from functools import partial
from typing import Any, Final, TypeAlias, cast

from anyshape.client import Client, ListedTool
from anyshape.client.findings import ReadSource, find_out, uncover
from anyshape.client.review import review_tool
from anyshape.client.views import ConnectAs, describe_output, group, look
from anyshape.errors import AnyshapeError, Problem, ProtocolError
from anyshape.page.forms import SchemaForm
from anyshape.page.summaries import summarize_listing, summarize_problem
from anyshape.page.talk import PageTalk, Tell
from anyshape.protocol.revision import RELEASED
from anyshape.providers import PROFILES, lower, outlook
from anyshape.schema import Schema, aside, compile
from anyshape.screening import Severity

_MOST_PROBLEMS: Final = 50
_MOST_FORESEEN: Final = 150
"""Tools of a server for which it is found out what every provider makes of them all."""


ConnectWatched: TypeAlias = Callable[..., AbstractAsyncContextManager[Client]]
"""Connects to the server, given the callbacks of somebody who watches and can be asked."""

ComparePins: TypeAlias = Callable[[Client], Awaitable[Mapping[str, Any]]]
"""Tells what is not as it was pinned."""


class Inspection:
    """What is known of one server; connects when it is first asked."""

    def __init__(
        self,
        shown: str,
        connect: ConnectWatched,
        connect_as: ConnectAs,
        read_source: ReadSource = lambda review: review,
        compare_pins: ComparePins | None = None,
    ) -> None:
        self.shown = shown
        """How the server was named, less what may be secret."""
        self._read_source = read_source
        self._compare_pins = compare_pins
        self._connect = connect
        self._connect_as = connect_as
        self._talk = PageTalk()
        self._client: Client | None = None
        self._opened = AsyncExitStack()
        self._opening = asyncio.Lock()
        self._forms: dict[tuple[str, str], tuple[SchemaForm, Schema]] = {}

    async def close(self) -> None:
        """End what is under way, and the connection."""
        self._client = None
        self._forms.clear()
        self._talk.end()
        await self._opened.aclose()

    async def client(self) -> Client:
        """Return the connection; a server that could not be reached is tried again."""
        async with self._opening:
            if self._client is None:
                talk = self._talk
                connection = self._connect(
                    on_elicit=talk.ask_user,
                    on_sample=talk.ask_model,
                    roots=talk.ask_roots,
                    on_log=talk.tell_log,
                    on_list_changed=talk.tell_change,
                    on_frame=talk.tell_frame,
                )
                self._client = await self._opened.enter_async_context(connection)
            return self._client

    # What there is.

    async def listing(self, anew: bool = False) -> dict[str, Any]:
        """Return the server and everything that it lists; `anew` connects again first."""
        if anew:
            await self.close()
        client = await self.client()
        self._forms.clear()
        return {"target": self.shown, **await summarize_listing(client)}

    async def tool(self, name: str) -> dict[str, Any]:
        """Return all that is listed of a tool, and its review."""
        tool = await self._find_tool(name)
        review = await aside(review_tool, tool)
        return {
            "entry": tool.entry,
            "advice": review.advice,
            "carried": review.carried,
            "cost": {
                "input": str(tool.input.cost),
                **({} if tool.output is None else {"output": str(tool.output.cost)}),
            },
        }

    async def _find_tool(self, name: str) -> ListedTool:
        client = await self.client()
        listed = client.listed
        if listed is None or name not in listed:
            listed = {tool.name: tool for tool in await client.list_tools()}
        if name not in listed:
            reason = client.rejected.get(name)
            why = f"cannot be used: {reason}" if reason else "is not listed any more"
            raise ProtocolError(f"tool {name[:80]!r} {why}")
        return listed[name]

    # Filling in.

    async def form(
        self,
        subject: Mapping[str, str],
        value: Any,
        choices: Mapping[str, int],
        change: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Return the form for a value, and what is wrong with it; `change` is made to it first.

        A `subject` is a tool, a prompt or a question that waits for an answer.
        """
        form, schema = await self._form_of(subject)
        return await aside(_fill_in, form, schema, value, dict(choices), change)

    async def _form_of(self, subject: Mapping[str, str]) -> tuple[SchemaForm, Schema]:
        kind, name = next(iter(subject.items()), ("", ""))
        if kind == "question":
            return await aside(_make_form, self._talk.question(name).schema, None)
        known = self._forms.get((kind, name))
        if known is None:
            if kind == "tool":
                tool = await self._find_tool(name)
                known = await aside(_make_form, tool.input_schema, tool.input)
            elif kind == "prompt":
                known = await aside(_make_form, await self._prompt_schema(name), None)
            else:
                raise ProtocolError(f"there are no forms for {kind[:40]!r}")
            self._forms[kind, name] = known
        return known

    async def _prompt_schema(self, name: str) -> dict[str, Any]:
        """Return the arguments of a prompt as a schema: they are strings, all of them."""
        client = await self.client()
        for prompt in await client.list_prompts():
            if prompt.name == name:
                properties = {
                    argument.name: {
                        "type": "string",
                        **({"title": argument.title} if argument.title else {}),
                        **({"description": argument.description} if argument.description else {}),
                    }
                    for argument in prompt.arguments
                }
                required = [each.name for each in prompt.arguments if each.required]
                return {
                    "type": "object",
                    "properties": properties,
                    "required": required,
                    "additionalProperties": False,
                }
        raise ProtocolError(f"prompt {name[:80]!r} is not listed any more")

    async def complete(
        self, kind: str, name: str, argument: str, value: str, context: Mapping[str, str]
    ) -> dict[str, Any]:
        """Return suggestions for an argument of a prompt, or of a template of resources."""
        client = await self.client()
        if "completions" not in client.server.capabilities:
            return {"values": []}
        found = await client.complete(
            argument,
            value,
            prompt=name if kind == "prompt" else None,
            resource=None if kind == "prompt" else name,
            context=context,
        )
        return {"values": list(found.values)}

    # Calling.

    async def call(self, name: str, arguments: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
        """Call a tool and return what it came to; `tell` hears of everything on the way."""

        async def ask(client: Client) -> dict[str, Any]:
            result = await client.call_tool(
                name,
                arguments,
                # What is wrong is shown already; whoever sends it wants to see the server's answer.
                check_arguments=False,
                on_progress=partial(self._talk.tell_progress, tell),
            )
            return {
                "hasValue": result.has_value,
                "value": result.value,
                "isError": result.is_error,
                "raw": result.raw,
            }

        return await self._follow(ask, tell)

    async def prompt(self, name: str, arguments: Mapping[str, str], tell: Tell) -> dict[str, Any]:
        """Return the messages of a prompt."""

        async def ask(client: Client) -> dict[str, Any]:
            return {"raw": (await client.get_prompt(name, arguments)).raw}

        return await self._follow(ask, tell)

    async def read(self, uri: str, tell: Tell) -> dict[str, Any]:
        """Return the contents of a resource."""

        async def ask(client: Client) -> dict[str, Any]:
            return {"raw": (await client.read_resource(uri)).raw}

        return await self._follow(ask, tell)

    async def _follow(self, ask: Callable[[Client], Any], tell: Tell) -> dict[str, Any]:
        client = await self.client()
        with self._talk.heard_by(tell):
            began = time.perf_counter()
            result: dict[str, Any] = await ask(client)
            return {**result, "seconds": time.perf_counter() - began}

    async def watch(self, tell: Tell) -> dict[str, Any]:
        """Tell of every change to what is listed, until whoever watches goes away."""
        with self._talk.watched_by(tell):
            await asyncio.Event().wait()
        return {}

    def answer(self, question: str, action: str, content: Mapping[str, Any] | None) -> None:
        """Give the user's answer to what the server asked."""
        self._talk.answer(question, action, content)

    # Side by side.

    async def revisions(
        self, name: str, arguments: Mapping[str, Any] | None
    ) -> list[dict[str, Any]]:
        """Return what clients of each revision see of a tool, and get from it if it is called.

        Those that see the same are together.
        """

        def choose(client: Client, listed: Sequence[ListedTool]) -> Any:
            for tool in listed:
                if tool.name == name:
                    return tool, arguments
            raise ProtocolError(str(client.rejected.get(name, "this tool is not listed")))

        views = await look(self._connect_as, tuple(reversed(RELEASED)), choose)
        newest = next((view for view in views if view.entry), views[0])
        return [
            {
                **together[0].as_data(),
                "revisions": [
                    {"revision": str(view.revision), "answered": str(view.answered or "") or None}
                    for view in together
                ],
                "output": describe_output(together[0], newest),
            }
            for together in group(views)
        ]

    async def providers(self, name: str) -> list[dict[str, Any]]:
        """Return what each provider would make of a tool, and the schema that it would be sent."""
        tool = await self._find_tool(name)
        return await aside(_outlooks, tool)

    async def findings(self) -> dict[str, Any]:
        """Return everything that `anyshape check` says; of few tools, for every provider."""
        client = await self.client()
        few = len(await client.list_tools()) <= _MOST_FORESEEN
        providers = list(PROFILES) if few else []
        found = await find_out(nullcontext(client), self._connect_as, providers, self._read_source)
        data = uncover({self.shown: found}, Severity.HIGH)[self.shown].as_data()
        if self._compare_pins is not None:
            data["pins"] = await self._compare_pins(client)
        return data


def _make_form(document: Mapping[str, Any], schema: Schema | None) -> tuple[SchemaForm, Schema]:
    return SchemaForm(document), schema or compile(dict(document), formats=False)


def _fill_in(
    form: SchemaForm,
    schema: Schema,
    value: Any,
    choices: dict[str, int],
    change: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """Return a value after a change, its form and its problems."""
    if change is not None:
        path = tuple(cast("list[str]", change["path"]))
        if change["kind"] == "choose":
            place, chosen = change["place"], change["chosen"]
            value = form.choose(value, choices, path, place, chosen)
            choices[place] = chosen
        else:
            value = form.add(value, choices, path)
    found: list[Problem] = []
    limit: str | None = None
    try:
        found = schema.problems(value, limit=_MOST_PROBLEMS)
    except AnyshapeError as error:
        limit = str(error)
    return {
        "form": form.describe(value, choices),
        "value": value,
        "problems": [summarize_problem(problem) for problem in found],
        "unknown": limit,
    }


def _outlooks(tool: ListedTool) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for profile in PROFILES:
        foreseen = outlook(tool.name, tool.input_schema, profile)
        data: dict[str, Any] = {"profile": profile, **foreseen.as_data()}
        if foreseen.outcome == "lowered":
            data["document"] = lower(tool.input_schema, profile).document
        elif foreseen.outcome == "as is":
            data["document"] = tool.input_schema
        found.append(data)
    return found
