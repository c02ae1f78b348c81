"""Rounds at 2026-07-28: results that want input, and a state that only its own request opens."""

from __future__ import annotations

import base64
import json
import re
import sys
from typing import Any

import pytest

from anyshape import Context, Server
from anyshape.errors import ProtocolError
from anyshape.protocol.revision import Revision
from anyshape.server import MiddlewareAnswer, MiddlewareRequest, ServerOptions
from anyshape.server.asking.state import RequestStates, RoundState
from anyshape.server.middleware import Proceed

from .asking import Asker
from .test_asking_wire import Web, guarded
from .visiting import META

Json = dict[str, Any]
ABLE: Json = {
    "io.modelcontextprotocol/clientCapabilities": {
        "elicitation": {},
        "sampling": {},
        "roots": {},
    }
}
KEY, OTHER_KEY = b"k" * 32, b"o" * 32


def asking_server(**options: Any) -> Server:
    server = Server("asking", version="1", options=ServerOptions(**options))

    @server.tool
    async def ask(context: Context, subject: str = "it") -> str:
        first = await context.elicit(f"Do {subject}?", bool, key="first")
        second = await context.elicit("Really?", bool)
        return f"{first.action} {second.action}"

    server.tool(name="other")(ask)

    @server.prompt(name="ask")
    async def prompt(context: Context, subject: str = "it") -> str:
        return await ask(context, subject)

    @server.resource("ask://{subject}")
    async def resource(context: Context, subject: str) -> str:
        return await ask(context, subject)

    return server


def peer(server: Server) -> Asker:
    return Asker(server)


async def call(asker: Asker, name: str = "ask", **more: Any) -> Json:
    params: Json = {"name": name, "arguments": {}, "_meta": ABLE, **more}
    return await asker.ask("tools/call", **params)


def yes(*keys: str) -> Json:
    return {key: {"action": "accept", "content": {"value": True}} for key in keys}


def is_refused(answer: Json) -> str:
    assert "error" in answer, answer
    assert answer["error"]["code"] == -32602
    message: str = answer["error"]["message"]
    assert "\n" not in message
    return message


@pytest.mark.behaviour("asking.input-required")
async def test_a_round_asks_with_all_that_the_specification_wants() -> None:
    answer = await call(peer(asking_server()))
    result = answer["result"]
    assert re.fullmatch(r"[\w-]{60,}", result.pop("requestState"))
    assert result == {
        "resultType": "input_required",
        "inputRequests": {
            "first": {
                "method": "elicitation/create",
                "params": {
                    "mode": "form",
                    "message": "Do it?",
                    "requestedSchema": {
                        "type": "object",
                        "properties": {"value": {"type": "boolean"}},
                        "required": ["value"],
                    },
                },
            }
        },
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "asking", "version": "1"}},
    }


async def test_rounds_go_on_until_all_is_answered() -> None:
    asker = peer(asking_server())
    first = (await call(asker))["result"]
    second = (await call(asker, inputResponses=yes("first"), requestState=first["requestState"]))[
        "result"
    ]
    assert list(second["inputRequests"]) == ["elicitation-2"]
    last = await call(
        asker, inputResponses=yes("elicitation-2"), requestState=second["requestState"]
    )
    assert last["result"]["structuredContent"] == "accept accept"


@pytest.mark.behaviour("asking.missing-answers")
async def test_what_is_missing_is_asked_for_again_and_what_is_more_is_ignored() -> None:
    asker = peer(asking_server())
    state = (await call(asker))["result"]["requestState"]
    for responses in ({}, yes("wrong"), yes("elicitation-2")):
        again = (await call(asker, inputResponses=responses, requestState=state))["result"]
        assert list(again["inputRequests"]) == ["first"]
    both = yes("first", "more")
    after = (await call(asker, inputResponses=both, requestState=state))["result"]
    assert list(after["inputRequests"]) == ["elicitation-2"]
    # A client that knows the questions already need not be asked them.
    done = await call(asker, inputResponses=yes("first", "elicitation-2"))
    assert done["result"]["structuredContent"] == "accept accept"


WRONG: list[Any] = [
    *(None, [], "x", 7, {"first": 12345}, {"first": None}, {"first": [{}]}, {"first": {}}),
    {"first": {"action": "accept"}},
    {"first": {"action": "accept", "content": {"value": "yes"}}},
    {"first": {"action": "accept", "content": {"value": True, "more": {"deep": [[[1]]]}}}},
    {"first": {"action": "no"}},
]


@pytest.mark.behaviour("asking.malformed-answers")
@pytest.mark.parametrize("responses", WRONG)
async def test_answers_of_the_wrong_shape_are_invalid_parameters(responses: Any) -> None:
    asker = peer(asking_server())
    state = (await call(asker))["result"]["requestState"]
    is_refused(await call(asker, inputResponses=responses, requestState=state))


async def test_an_answer_counts_only_for_the_question_it_was_given_to(
    caplog: pytest.LogCaptureFixture,
) -> None:
    server = Server("asking")
    moods = ["Delete one?", "Delete all?", "Delete all?"]

    @server.tool
    async def ask(context: Context) -> str:
        return (await context.elicit(moods.pop(0), bool, key="sure")).action

    asker = peer(server)
    state = (await call(asker))["result"]["requestState"]
    again = (await call(asker, inputResponses=yes("sure"), requestState=state))["result"]
    assert again["inputRequests"]["sure"]["params"]["message"] == "Delete all?"
    assert "was another in the last round" in caplog.text
    done = await call(asker, inputResponses=yes("sure"), requestState=again["requestState"])
    assert done["result"]["structuredContent"] == "accept"


@pytest.mark.behaviour("asking.state-binding")
async def test_a_state_of_other_arguments_or_another_tool_is_refused() -> None:
    asker = peer(asking_server())
    state = (await call(asker, arguments={"subject": "a"}))["result"]["requestState"]
    brought: Json = {"inputResponses": yes("first"), "requestState": state}
    is_refused(await call(asker, arguments={"subject": "b"}, **brought))
    is_refused(await call(asker, "other", arguments={"subject": "a"}, **brought))
    prompt: Json = {"name": "ask", "arguments": {"subject": "a"}, "_meta": ABLE, **brought}
    is_refused(await asker.ask("prompts/get", **prompt))
    is_refused(await asker.ask("resources/read", uri="ask://a", _meta=ABLE, **brought))
    assert "result" in await call(asker, arguments={"subject": "a"}, **brought)


async def test_arguments_are_compared_by_what_they_say() -> None:
    server = Server("asking")

    @server.tool
    async def ask(context: Context, a: int = 0, b: int = 0) -> str:
        return (await context.elicit("Sure?", bool, key="sure")).action

    asker = peer(server)
    state = (await call(asker, arguments={"a": 1, "b": 2}))["result"]["requestState"]
    again: Json = {"inputResponses": yes("sure"), "requestState": state}
    done = await call(asker, arguments={"b": 2, "a": 1}, **again)
    assert done["result"]["structuredContent"] == "accept"


async def test_arguments_that_cannot_be_read_are_refused_as_in_a_first_round() -> None:
    server = Server("asking")

    @server.tool
    async def ask(context: Context, a: int = 0) -> str:
        return (await context.elicit("Sure?", bool, key="sure")).action

    async def call_with_too_large_a_number(**brought: Any) -> Json:
        params: Json = {"name": "ask", "arguments": {"a": "1e999"}, **brought}
        params["_meta"] = {**META, **ABLE}
        body: Json = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        message = json.dumps(body).replace('"1e999"', "1e999").encode()
        return json.loads(await asker.connection.handle(message) or b"")

    asker = peer(server)
    first = await call_with_too_large_a_number()
    assert first["result"]["isError"] is True
    assert await call_with_too_large_a_number(inputResponses=yes("sure")) == first
    state = (await call(asker))["result"]["requestState"]
    is_refused(await call_with_too_large_a_number(requestState=state))


@pytest.mark.behaviour("asking.rounds")
@pytest.mark.parametrize("method", ["prompts/get", "resources/read"])
async def test_prompts_and_resources_go_through_rounds(method: str) -> None:
    asker = peer(asking_server())
    params: Json = {"_meta": ABLE}
    params |= {"name": "ask"} if method == "prompts/get" else {"uri": "ask://x"}
    first = await asker.result(method, **params)
    assert first["resultType"] == "input_required"
    state = first["requestState"]
    second = await asker.result(method, **params, inputResponses=yes("first"), requestState=state)
    state = second["requestState"]
    last = await asker.result(
        method, **params, inputResponses=yes("elicitation-2"), requestState=state
    )
    assert last["resultType"] == "complete"
    assert "accept accept" in json.dumps(last)


@pytest.mark.behaviour("asking.state-integrity")
@pytest.mark.parametrize("forged", ["", "x", "AAAA", "é", "=" * 40, "A" * 300_000, "-TAMPERED"])
async def test_a_forged_state_is_refused_before_the_function_runs(forged: str) -> None:
    server = asking_server()
    runs = 0

    @server.tool
    async def effects(context: Context) -> str:
        nonlocal runs
        runs += 1
        return (await context.elicit("Sure?", bool)).action

    asker = peer(server)
    state = (await call(asker, "effects"))["result"]["requestState"]
    given = state + forged if forged == "-TAMPERED" else forged
    is_refused(await call(asker, "effects", requestState=given))
    assert runs == 1


async def test_a_state_that_is_no_string_is_refused() -> None:
    asker = peer(asking_server())
    wrongs: list[Any] = [7, None, {}, []]
    for wrong in wrongs:
        is_refused(await call(asker, requestState=wrong))


@pytest.mark.behaviour("asking.state-expiry")
def test_a_state_expires() -> None:
    clock = 1_000_000.0
    states = RequestStates((KEY,), 60.0, 1000, lambda: clock)
    sealed = states.seal(RoundState(states.now()), b"binding")
    clock += 60
    assert states.open(sealed, b"binding") == RoundState(1_000_000.0)
    clock += 1
    with pytest.raises(ProtocolError, match="expired") as caught:
        states.open(sealed, b"binding")
    assert caught.value.code == -32602


async def test_how_long_a_state_is_good_for_is_the_operators_choice() -> None:
    asker = peer(asking_server(state_lifetime=1e-9))
    state = (await call(asker))["result"]["requestState"]
    assert "expired" in is_refused(await call(asker, requestState=state))


async def test_replicas_share_keys_and_change_them_one_after_another() -> None:
    one = peer(asking_server(state_keys=(KEY,)))
    state = (await call(one))["result"]["requestState"]
    again: Json = {"inputResponses": yes("first", "elicitation-2"), "requestState": state}
    rotated = peer(asking_server(state_keys=(OTHER_KEY, KEY)))
    assert "result" in await call(rotated, **again)
    is_refused(await call(peer(asking_server(state_keys=(OTHER_KEY,))), **again))


async def test_servers_of_one_process_open_each_others_states_without_keys() -> None:
    state = (await call(peer(asking_server())))["result"]["requestState"]
    assert "result" in await call(peer(asking_server()), requestState=state)


@pytest.mark.behaviour("asking.state-caller")
async def test_another_caller_cannot_go_on() -> None:
    application = asking_server().asgi(guarded())

    async def send(who: str, **more: Any) -> Json:
        meta = {"io.modelcontextprotocol/protocolVersion": str(Revision.V2026_07_28), **ABLE}
        params = {"name": "ask", "arguments": {}, "_meta": meta, **more}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        headers = {
            "authorization": f"Bearer {who}",
            "mcp-protocol-version": "2026-07-28",
            "mcp-method": "tools/call",
            "mcp-name": "ask",
        }
        return json.loads((await Web(application, **headers).post(body).end()).body)

    state = (await send("ada"))["result"]["requestState"]
    is_refused(await send("eve", inputResponses=yes("first"), requestState=state))
    assert "result" in await send("ada", inputResponses=yes("first"), requestState=state)


async def test_the_state_is_not_for_the_client_to_read() -> None:
    server = Server("asking")

    @server.tool
    async def ask(context: Context) -> str:
        await context.elicit("First?", str, key="first")
        return (await context.elicit("Second?", str)).action

    asker = peer(server)
    told = {"first": {"action": "accept", "content": {"value": "the-secret-word"}}}
    state: str = (await call(asker, inputResponses=told))["result"]["requestState"]
    assert b"secret" not in base64.urlsafe_b64decode(state + "=" * (-len(state) % 4))


async def test_answers_that_are_too_much_to_remember_end_the_call() -> None:
    server = Server("asking", options=ServerOptions(max_state_bytes=1000))

    @server.tool
    async def ask(context: Context) -> str:
        await context.elicit("First?", str, key="first")
        return (await context.elicit("Second?", str)).action

    long = {"first": {"action": "accept", "content": {"value": "x" * 2000}}}
    error = (await call(peer(server), inputResponses=long))["error"]
    assert error["code"] == -32603
    assert "max_state_bytes" in error["message"]


async def test_two_questions_of_one_key_are_a_mistake(caplog: pytest.LogCaptureFixture) -> None:
    server = Server("asking")

    @server.tool
    async def ask(context: Context) -> str:
        for _ in range(2):
            await context.elicit("Sure?", bool, key="sure")
        return "done"

    answer = await call(peer(server), inputResponses=yes("sure"))
    assert answer["result"]["isError"]
    assert "two questions have the key 'sure'" in caplog.text


async def test_a_call_asks_no_more_than_so_many_questions() -> None:
    server = Server("asking")

    @server.tool
    async def ask(context: Context) -> str:
        for number in range(101):
            await context.elicit("Sure?", bool, key=str(number))
        return "done"

    answer = await call(peer(server), inputResponses=yes(*map(str, range(101))))
    assert "100 questions" in answer["result"]["content"][0]["text"]


@pytest.mark.behaviour("asking.capabilities")
@pytest.mark.parametrize(
    ("declared", "missing"),
    [
        ({}, {"elicitation": {"form": {}}}),
        ({"elicitation": {"url": {}}}, {"elicitation": {"form": {}}}),
        ({"sampling": {}}, {"elicitation": {"form": {}}}),
    ],
)
async def test_an_undeclared_capability_is_the_error_that_the_specification_has(
    declared: Json, missing: Json
) -> None:
    meta = {"io.modelcontextprotocol/clientCapabilities": declared}
    requests: dict[str, Json] = {
        "tools/call": {"name": "ask", "arguments": {}},
        "prompts/get": {"name": "ask"},
        "resources/read": {"uri": "ask://x"},
    }
    for method, params in requests.items():
        error = await peer(asking_server()).error(method, **params, _meta=meta)
        assert error["code"] == -32021
        assert error["data"] == {"requiredCapabilities": missing}


@pytest.mark.parametrize("keys", [b"k" * 32, ("k" * 32,), (b"short",)])
def test_keys_that_cannot_work_are_refused(keys: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        ServerOptions(state_keys=keys)


async def test_without_the_package_for_it_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.ciphers.aead", None)
    error = (await call(peer(asking_server())))["error"]
    assert error["code"] == -32603
    assert "anyshape[asking]" in error["message"]


async def test_middleware_sees_a_round_as_an_answer_and_may_have_it_given_again() -> None:
    server = asking_server()
    seen: list[Any] = []

    @server.middleware
    async def watch(request: MiddlewareRequest, proceed: Proceed) -> MiddlewareAnswer:
        seen.append((await proceed(request)).value["resultType"])
        return await proceed(request)

    asker = peer(server)
    state = (await call(asker))["result"]["requestState"]
    again: Json = {"inputResponses": yes("first"), "requestState": state}
    state = (await call(asker, **again))["result"]["requestState"]
    again = {"inputResponses": yes("elicitation-2"), "requestState": state}
    assert (await call(asker, **again))["result"]["structuredContent"] == "accept accept"
    assert seen == ["input_required", "input_required", "complete"]
