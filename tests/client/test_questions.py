"""Questions that a server asks back: of the user, of a model, for roots; in both eras."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from patience import PATIENCE

from anyshape import Client
from anyshape.client import Bounds, ElicitAnswer, Elicitation, OnElicit, Root, Sampled, Sampling
from anyshape.client import SamplingRequest as Asked
from anyshape.errors import AnyshapeError, ProtocolError, TransportError, ValidationError

if TYPE_CHECKING:
    from .conftest import Scripted

Json = dict[str, Any]
FORM = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "count": {"type": "integer", "default": 3}},
    "required": ["name"],
}
ELICIT: Json = {
    "method": "elicitation/create",
    "params": {"message": "Who?", "requestedSchema": FORM},
}
VISIT: Json = {
    "method": "elicitation/create",
    "params": {
        "mode": "url",
        "message": "Pay",
        "url": "https://example.com/pay",
        "elicitationId": "7",
    },
}
SAMPLE: Json = {
    "method": "sampling/createMessage",
    "params": {
        "messages": [{"role": "user", "content": {"type": "text", "text": "Capital?"}}],
        "maxTokens": 10,
        "systemPrompt": "Be brief.",
    },
}
ROOTS: Json = {"method": "roots/list"}
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
TEXT = {"content": [{"type": "text", "text": "done"}]}


class Asking:
    """A server whose only tool asks before it answers, in the way of either era.

    `questions` are asked in rounds; `answers` has what came back, the error if that is what came.
    """

    def __init__(
        self, scripted: type[Scripted], *rounds: dict[str, Json], state: Any = None
    ) -> None:
        self.rounds = list(rounds)
        self.answers: dict[str, Any] = {}
        self.state = state
        self.calls: list[Json] = []
        self._replies: dict[str, asyncio.Future[Json]] = {}
        listing = {"tools": [{"name": "ask", "inputSchema": {"type": "object"}}]}
        self.script = scripted(
            server__discover=lambda params: {
                "supportedVersions": ["2026-07-28"],
                "capabilities": {"tools": {}, "prompts": {}, "resources": {}},
            },
            initialize=lambda params: {
                "protocolVersion": params["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "asking", "version": "1"},
            },
            tools__list=lambda params: listing,
            tools__call=self._call,
            prompts__get=self._in_rounds,
            resources__read=self._in_rounds,
        )

    def connect(self, send: Any, /) -> Asking:
        self.script.connect(send)
        return self

    async def handle(self, frame: bytes) -> bytes | None:
        message = json.loads(frame)
        if "method" not in message:
            self._replies[message["id"]].set_result(message)
            return None
        return await self.script.handle(frame)

    async def close(self) -> None:
        pass

    async def ask(self, key: str, question: Json) -> Json:
        """Send a request of our own, and return the answer."""
        self._replies[key] = asyncio.get_running_loop().create_future()
        self.script.send(json.dumps({"jsonrpc": "2.0", "id": key, **question}).encode())
        return await self._replies[key]

    async def _call(self, params: Json) -> Json:
        if "_meta" in params:
            return self._in_rounds(params)
        for questions in self.rounds:
            for key, question in questions.items():
                answer = await self.ask(key, question)
                self.answers[key] = answer.get("result", answer.get("error"))
        return TEXT

    def _in_rounds(self, params: Json) -> Json:
        self.calls.append(params)
        self.answers.update(params.get("inputResponses", {}))
        if self.rounds:
            more = {} if self.state is None else {"requestState": self.state}
            return {"resultType": "input_required", "inputRequests": self.rounds.pop(0), **more}
        if "uri" in params:
            return {"contents": [{"uri": params["uri"], "text": "done"}]}
        messages = [{"role": "user", "content": TEXT["content"][0]}]
        return TEXT if "arguments" in params else {"messages": messages}


def says(answer: ElicitAnswer) -> OnElicit:
    return lambda asked: answer


@pytest.fixture(params=["2025-11-25", "2026-07-28"])
def era(request: pytest.FixtureRequest) -> str:
    return request.param


async def test_the_user_is_asked_and_defaults_are_filled_in(
    scripted: type[Scripted], era: str
) -> None:
    asked: list[Elicitation] = []

    async def on_elicit(question: Elicitation) -> ElicitAnswer:
        asked.append(question)
        return {"name": "Ada"}

    server = Asking(scripted, {"who": ELICIT})
    async with Client(server, revision=era, on_elicit=on_elicit) as client:
        assert (await client.call_tool("ask")).text == "done"
    assert server.answers == {"who": {"action": "accept", "content": {"name": "Ada", "count": 3}}}
    (question,) = asked
    assert (question.message, question.schema, question.url) == ("Who?", FORM, None)
    assert question.defaults == {"count": 3}
    assert question.server == "the server in memory"


@pytest.mark.parametrize("choice", ["decline", "cancel"])
async def test_the_user_may_refuse(scripted: type[Scripted], era: str, choice: Any) -> None:
    server = Asking(scripted, {"who": ELICIT})
    async with Client(server, revision=era, on_elicit=says(choice)) as client:
        await client.call_tool("ask")
    assert server.answers == {"who": {"action": choice}}


async def test_the_user_is_sent_to_an_address(scripted: type[Scripted], era: str) -> None:
    asked: list[Elicitation] = []

    def on_elicit(question: Elicitation) -> ElicitAnswer:
        asked.append(question)
        return "accept"

    server = Asking(scripted, {"pay": VISIT})
    async with Client(server, revision=era, on_elicit=on_elicit) as client:
        await client.call_tool("ask")
    assert server.answers == {"pay": {"action": "accept"}}
    assert (asked[0].url, asked[0].schema, asked[0].id) == ("https://example.com/pay", None, "7")


async def test_a_model_and_roots_are_asked_for_in_one_round(
    scripted: type[Scripted], era: str, tmp_path: Path
) -> None:
    asked: list[Asked] = []

    async def on_sample(request: Asked) -> Sampled:
        asked.append(request)
        return Sampled("Paris", model="small", stop_reason="endTurn")

    server = Asking(scripted, {"capital": SAMPLE, "where": ROOTS})
    roots = [tmp_path, Root("file:///srv", "Served")]
    async with Client(server, revision=era, on_sample=on_sample, roots=roots) as client:
        await client.call_tool("ask")
    assert server.answers == {
        "capital": {
            "role": "assistant",
            "content": {"type": "text", "text": "Paris"},
            "model": "small",
            "stopReason": "endTurn",
        },
        "where": {
            "roots": [
                {"uri": tmp_path.as_uri(), "name": tmp_path.name},
                {"uri": "file:///srv", "name": "Served"},
            ]
        },
    }
    (request,) = asked
    assert (request.messages[0].text, request.max_tokens) == ("Capital?", 10)
    assert request.system_prompt == "Be brief."


async def test_only_what_can_be_answered_is_declared(scripted: type[Scripted], era: str) -> None:
    def declared(script: Any) -> Json:
        if era == "2026-07-28":
            return script.asked("tools/list")[0]["_meta"][CAPABILITIES]
        return script.asked("initialize")[0]["capabilities"]

    def sample(request: Asked) -> None:
        return None

    offers: list[tuple[Json, Json]] = [
        ({}, {}),
        ({"on_elicit": says("cancel")}, {"elicitation": {"form": {}, "url": {}}}),
        ({"on_sample": sample}, {"sampling": {}}),
        ({"on_sample": Sampling(sample, tools=True)}, {"sampling": {"tools": {}}}),
        ({"roots": []}, {"roots": {}}),
    ]
    for options, expected in offers:
        server = Asking(scripted)
        async with Client(server, revision=era, **options) as client:
            await client.list_tools()
        found = declared(server.script)
        if era == "2026-07-28":
            assert found.pop("extensions") == {"io.modelcontextprotocol/tasks": {}}
        assert found == expected


@pytest.mark.parametrize("question", [ELICIT, VISIT, SAMPLE, ROOTS])
async def test_what_was_not_declared_is_refused(scripted: type[Scripted], question: Json) -> None:
    older = Asking(scripted, {"q": question})
    async with Client(older, revision="2025-11-25") as client:
        await client.call_tool("ask")
    assert older.answers["q"]["code"] == -32601
    modern = Asking(scripted, {"q": question})
    async with Client(modern) as client:
        with pytest.raises(ProtocolError, match="did not offer to give"):
            await client.call_tool("ask")


@pytest.mark.parametrize(
    "question",
    [
        {"params": {"requestedSchema": FORM}},
        {"params": {"message": "x" * 20_001, "requestedSchema": FORM}},
        {"params": {"message": "no schema"}},
        {"params": {"message": "m", "requestedSchema": {"type": "string"}}},
        {"params": {"message": "m", "requestedSchema": {"type": "object", "properties": []}}},
        {
            "params": {
                "message": "m",
                "requestedSchema": {"type": "object", "properties": {"a": {"type": "object"}}},
            }
        },
        {
            "params": {
                "message": "m",
                "requestedSchema": {
                    "type": "object",
                    "properties": {f"p{number}": {"type": "string"} for number in range(101)},
                },
            }
        },
        {
            "params": {
                "message": "m",
                "requestedSchema": {"type": "object", "properties": {"a": {"type": "no type"}}},
            }
        },
        {"params": {"mode": "hologram", "message": "m"}},
        {"params": {"mode": "url", "message": "m", "url": "javascript:alert(1)"}},
        {"params": {"mode": "url", "message": "m", "url": "file:///etc/passwd"}},
        {"params": {"mode": "url", "message": "m", "url": "https://"}},
        {"params": {"mode": "url", "message": "m", "url": "https://a b"}},
        {"params": {"mode": "url", "message": "m", "url": "https://a:99999/"}},
        {"params": {"mode": "url", "message": "m", "url": "https://evil.com\\@good.com/"}},
        {"params": {"mode": "url", "message": "m", "url": "https://\u202eexample.com"}},
        {"params": {"mode": "url", "message": "m"}},
        {},
    ],
)
async def test_what_no_user_should_see_is_not_shown(
    scripted: type[Scripted], era: str, question: Json
) -> None:
    server = Asking(scripted, {"q": {"method": "elicitation/create", **question}})
    async with Client(server, revision=era, on_elicit=says("accept")) as client:
        if era == "2026-07-28":
            with pytest.raises(ProtocolError) as raised:
                await client.call_tool("ask")
            assert raised.value.code == -32602
        else:
            await client.call_tool("ask")
            assert server.answers["q"]["code"] == -32602


def sampling(**members: Any) -> Json:
    return {"method": "sampling/createMessage", "params": {**SAMPLE["params"], **members}}


USE: Json = {
    "role": "assistant",
    "content": [{"type": "tool_use", "id": "1", "name": "t", "input": {}}],
}
RESULT: Json = {"type": "tool_result", "toolUseId": "1", "content": []}


@pytest.mark.parametrize(
    "question",
    [
        sampling(messages=[]),
        sampling(messages=5),
        sampling(messages=[{"role": "system", "content": {}}]),
        sampling(maxTokens=0),
        sampling(maxTokens="10"),
        sampling(toolChoice={"mode": "maybe"}),
        sampling(tools=[{"description": "no name"}]),
        sampling(messages=[USE]),
        sampling(messages=[USE, {"role": "user", "content": {"type": "text", "text": "?"}}]),
        sampling(messages=[USE, {"role": "assistant", "content": [RESULT]}]),
        sampling(
            messages=[USE, {"role": "user", "content": [RESULT, {"type": "text", "text": "?"}]}]
        ),
    ],
)
async def test_what_no_model_should_see_is_not_sent(
    scripted: type[Scripted], question: Json
) -> None:
    server = Asking(scripted, {"q": question})
    answer = Sampling(lambda request: Sampled("x", model="m"), tools=True)
    async with Client(server, revision="2025-11-25", on_sample=answer) as client:
        await client.call_tool("ask")
    assert server.answers["q"]["code"] == -32602


@pytest.mark.parametrize("members", [{"tools": []}, {"toolChoice": {"mode": "none"}}])
async def test_tools_are_refused_where_none_were_offered_even_if_there_are_none(
    scripted: type[Scripted], members: Json
) -> None:
    server = Asking(scripted, {"q": sampling(**members)})
    answer = Sampling(lambda request: Sampled("x", model="m"))
    async with Client(server, revision="2025-11-25", on_sample=answer) as client:
        await client.call_tool("ask")
    assert server.answers["q"]["code"] == -32602


async def test_a_model_may_use_tools_where_that_was_offered(scripted: type[Scripted]) -> None:
    turns: list[Json] = [
        SAMPLE["params"]["messages"][0],
        USE,
        {"role": "user", "content": [RESULT]},
    ]
    question = sampling(
        tools=[{"name": "t", "inputSchema": {}}], toolChoice={"mode": "required"}, messages=turns
    )
    block: Json = {"type": "tool_use", "id": "2", "name": "t", "input": {}}
    asked: list[Asked] = []

    def on_sample(request: Asked) -> Sampled:
        asked.append(request)
        return Sampled([block], model="m", stop_reason="toolUse")

    server = Asking(scripted, {"q": question})
    async with Client(server, on_sample=Sampling(on_sample, tools=True)) as client:
        await client.call_tool("ask")
    assert server.answers["q"]["content"] == [block]
    assert [tool["name"] for tool in asked[0].tools] == ["t"]
    assert asked[0].tool_choice == "required"
    refused = Asking(scripted, {"q": question})
    async with Client(refused, revision="2025-11-25", on_sample=on_sample) as client:
        await client.call_tool("ask")
    assert refused.answers["q"]["code"] == -32602


async def test_declining_to_sample_has_the_error_of_each_era(
    scripted: type[Scripted], era: str
) -> None:
    server = Asking(scripted, {"q": SAMPLE})
    async with Client(server, revision=era, on_sample=lambda request: None) as client:
        if era == "2026-07-28":
            with pytest.raises(ProtocolError, match="rejected") as raised:
                await client.call_tool("ask")
            assert raised.value.code == -1
        else:
            await client.call_tool("ask")
            assert server.answers["q"]["code"] == -1


async def test_an_answer_that_does_not_fit_its_form_is_not_sent(
    scripted: type[Scripted], caplog: pytest.LogCaptureFixture
) -> None:
    modern = Asking(scripted, {"q": ELICIT})
    async with Client(modern, on_elicit=says({"name": 5})) as client:
        with pytest.raises(ValidationError):
            await client.call_tool("ask")
    assert len(modern.calls) == 1
    older = Asking(scripted, {"q": ELICIT})
    async with Client(older, revision="2025-11-25", on_elicit=says({"name": 5})) as client:
        await client.call_tool("ask")
    assert older.answers["q"] == {"code": -32603, "message": "the client could not answer"}
    assert "could not be answered" in caplog.text


@pytest.mark.parametrize("answer", [None, 5, "yes", ["name"]])
async def test_a_callback_that_answers_with_something_else_is_told(
    scripted: type[Scripted], answer: Any
) -> None:
    server = Asking(scripted, {"q": ELICIT})
    async with Client(server, on_elicit=says(answer)) as client:
        with pytest.raises(TypeError, match="on_elicit: expected"):
            await client.call_tool("ask")


# Rounds of 2026-07-28.


async def test_rounds_carry_the_state_of_the_last_and_nothing_else(
    scripted: type[Scripted],
) -> None:
    server = Asking(scripted, {"a": ELICIT}, {"b": ELICIT, "c": ELICIT}, state='opaque "state"')
    async with Client(server, on_elicit=says({"name": "Ada"})) as client:
        await client.call_tool("ask", {"x": 1})
    first, second, third = server.calls
    assert first.keys().isdisjoint({"inputResponses", "requestState"})
    assert list(second["inputResponses"]) == ["a"]
    assert list(third["inputResponses"]) == ["b", "c"]
    assert second["requestState"] == third["requestState"] == 'opaque "state"'
    assert [call["arguments"] for call in server.calls] == [{"x": 1}] * 3


async def test_no_state_is_sent_where_none_was_given(scripted: type[Scripted]) -> None:
    server = Asking(scripted, {"a": ELICIT})
    async with Client(server, on_elicit=says({"name": "Ada"})) as client:
        await client.call_tool("ask")
    assert "requestState" not in server.calls[1]


async def test_prompts_and_resources_take_rounds_as_well(scripted: type[Scripted]) -> None:
    async with Client(Asking(scripted, {"a": ELICIT}), on_elicit=says({"name": "Ada"})) as client:
        assert (await client.get_prompt("p")).text == "done"
    async with Client(Asking(scripted, {"a": ELICIT}), on_elicit=says({"name": "Ada"})) as client:
        assert (await client.read_resource("demo://a")).text == "done"


async def test_rounds_and_questions_are_bounded(scripted: type[Scripted]) -> None:
    endless = [{"a": ELICIT}] * 100
    server = Asking(scripted, *endless)
    bounds = Bounds(max_rounds=3)
    async with Client(server, on_elicit=says({"name": "A"}), bounds=bounds) as client:
        with pytest.raises(ProtocolError, match="3 times"):
            await client.call_tool("ask")
    assert len(server.calls) == 3
    many = Asking(scripted, {f"q{number}": ELICIT for number in range(5)})
    bounds = Bounds(max_questions=4)
    async with Client(many, on_elicit=says({"name": "A"}), bounds=bounds) as client:
        with pytest.raises(ProtocolError, match="more than 4 questions"):
            await client.call_tool("ask")


@pytest.mark.parametrize(
    "result",
    [
        {},
        {"inputRequests": {}},
        {"inputRequests": []},
        {"inputRequests": [ELICIT]},
        {"inputRequests": {"a": 5}},
        {"inputRequests": {"a": {}}},
        {"inputRequests": {"a": {"method": ["elicitation/create"]}}},
        {"inputRequests": {"a": ELICIT}, "requestState": 5},
        {"requestState": "x" * 1_000_001},
    ],
)
async def test_a_round_that_makes_no_sense_fails_the_call(
    scripted: type[Scripted], result: Json
) -> None:
    server = Asking(scripted)
    server.script.answers["tools/call"] = lambda params: {
        "resultType": "input_required",
        **result,
    }
    async with Client(server, on_elicit=says({"name": "A"})) as client:
        with pytest.raises(ProtocolError):
            await client.call_tool("ask")


async def test_a_user_who_never_answers_is_waited_for_only_so_long(
    scripted: type[Scripted], era: str
) -> None:
    async def never(asked: Elicitation) -> ElicitAnswer:
        await asyncio.Event().wait()
        return "cancel"

    server = Asking(scripted, {"q": ELICIT})
    bounds = Bounds(answer_timeout=0.05)
    async with Client(server, revision=era, on_elicit=never, bounds=bounds) as client:
        if era == "2026-07-28":
            with pytest.raises(ProtocolError, match="nobody gave"):
                await client.call_tool("ask")
        else:
            await client.call_tool("ask")
            assert server.answers["q"]["code"] == -32603


# Requests of a server with a handshake.


async def test_the_time_limit_of_a_call_waits_for_the_user(scripted: type[Scripted]) -> None:
    async def slowly(asked: Elicitation) -> ElicitAnswer:
        await asyncio.sleep(1.2)
        return {"name": "Ada"}

    server = Asking(scripted, {"a": ELICIT})
    async with Client(server, revision="2025-11-25", on_elicit=slowly) as client:
        result = await client.call_tool("ask", timeout=1)
    assert result.text == "done"


async def test_a_limit_still_ends_a_call_after_a_question(scripted: type[Scripted]) -> None:
    server = Asking(scripted)

    async def ask_and_hang(params: Json) -> None:
        await server.ask("q", ELICIT)
        await asyncio.Event().wait()

    server.script.answers["tools/call"] = ask_and_hang
    async with Client(server, revision="2025-11-25", on_elicit=says("cancel")) as client:
        with pytest.raises(TransportError, match="gave no answer"):
            await client.call_tool("ask", timeout=0.1)


async def test_a_flood_of_questions_is_refused(scripted: type[Scripted]) -> None:
    questions = {f"q{number}": ELICIT for number in range(6)}
    server = Asking(scripted, questions)
    bounds = Bounds(max_questions=4)
    async with Client(
        server, revision="2025-11-25", on_elicit=says({"name": "A"}), bounds=bounds
    ) as client:
        await client.call_tool("ask")
        codes = [answer.get("code") for answer in server.answers.values()]
        assert codes == [None] * 4 + [-32603] * 2
        await client.call_tool("ask")
        assert server.answers["q0"]["action"] == "accept"


class Undecided:
    """A user who never answers."""

    def __init__(self) -> None:
        self.began, self.ended = asyncio.Event(), asyncio.Event()

    async def __call__(self, asked: Elicitation) -> ElicitAnswer:
        self.began.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.ended.set()
        return "cancel"


async def test_a_server_may_take_its_question_back(scripted: type[Scripted]) -> None:
    user, server = Undecided(), Asking(scripted)
    async with Client(server, revision="2025-11-25", on_elicit=user):
        task = asyncio.ensure_future(server.ask("q", ELICIT))
        await asyncio.wait_for(user.began.wait(), PATIENCE)
        server.script.say("notifications/cancelled", requestId="unknown")
        assert not user.ended.is_set()
        server.script.say("notifications/cancelled", requestId="q")
        await asyncio.wait_for(user.ended.wait(), PATIENCE)
        task.cancel()


async def test_closing_ends_the_questions_that_are_open(scripted: type[Scripted]) -> None:
    user, server = Undecided(), Asking(scripted)
    async with Client(server, revision="2025-11-25", on_elicit=user):
        task = asyncio.ensure_future(server.ask("q", ELICIT))
        await asyncio.wait_for(user.began.wait(), PATIENCE)
    assert user.ended.is_set()
    task.cancel()


async def test_a_modern_server_gets_no_answer_to_requests_of_its_own(
    scripted: type[Scripted],
) -> None:
    server = Asking(scripted)
    async with Client(server, on_elicit=says({"name": "Ada"})):
        task = asyncio.ensure_future(server.ask("q", ELICIT))
        for _ in range(50):
            await asyncio.sleep(0)
        assert not task.done()
        task.cancel()


# Roots.


@pytest.mark.parametrize(
    "root", ["/srv", "https://example.com/", "file:srv", "file:///srv/../etc", "file:///%2e%2e/etc"]
)
def test_a_root_is_an_absolute_file_uri(root: str) -> None:
    with pytest.raises(ValueError, match="absolute file:// URI"):
        Client(["server"], roots=[root])


async def test_roots_may_be_given_when_they_are_asked_for(
    scripted: type[Scripted], era: str
) -> None:
    async def roots() -> list[str]:
        return ["file:///now"]

    server = Asking(scripted, {"where": ROOTS})
    async with Client(server, revision=era, roots=roots) as client:
        await client.call_tool("ask")
    assert server.answers["where"] == {"roots": [{"uri": "file:///now"}]}


async def test_a_failure_of_the_callback_reaches_the_caller(scripted: type[Scripted]) -> None:
    def fail(asked: Elicitation) -> ElicitAnswer:
        raise AnyshapeError("out of order")

    async with Client(Asking(scripted, {"q": ELICIT}), on_elicit=fail) as client:
        with pytest.raises(AnyshapeError, match="out of order"):
            await client.call_tool("ask")
