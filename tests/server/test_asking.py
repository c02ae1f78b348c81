"""What a function asks of its client: one function, every revision, every way to be connected."""

from __future__ import annotations

import asyncio
import dataclasses
import enum
import json
import subprocess
import sys
from typing import Annotated, Any, Literal, NotRequired

import msgspec
import pydantic
import pytest
from patience import PATIENCE, turn_until
from typing_extensions import TypedDict

from anyshape import (
    Accepted,
    AskError,
    Cancelled,
    Client,
    Context,
    Declined,
    EmbeddedResource,
    Message,
    ResourceLink,
    Server,
    Text,
    ToolDefinitionError,
)
from anyshape.client import ElicitAnswer, Elicitation, Sampled, Sampling, SamplingRequest
from anyshape.server import ServerOptions

HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-06-30")
WITH_FORMS = ("2025-06-18", "2025-11-25", "2026-06-30", "DRAFT-2026-06-v1", "2026-07-28")
ERAS = ("2025-11-25", "2026-07-28")


@dataclasses.dataclass
class Booking:
    name: str
    seats: int = 2
    note: str | None = None


class Model(pydantic.BaseModel):
    name: Annotated[str, pydantic.Field(min_length=2, description="Who comes")]
    seats: Annotated[int, pydantic.Field(gt=0, le=8)] = 2
    mail: Annotated[str, pydantic.Field(json_schema_extra={"format": "email"})] = "a@b.example"


class Typed(TypedDict):
    name: str
    seats: NotRequired[int]


class Struct(msgspec.Struct):
    name: str
    seats: int = 2


def says(answer: ElicitAnswer, heard: list[Elicitation] | None = None) -> Any:
    def on_elicit(question: Elicitation) -> ElicitAnswer:
        if heard is not None:
            heard.append(question)
        return answer

    return on_elicit


@pytest.mark.parametrize("revision", WITH_FORMS)
@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (Booking, Booking("Ada", 2, None)),
        (Model, Model(name="Ada")),
        (Struct, Struct("Ada")),
        (Typed, Typed(name="Ada")),
    ],
)
async def test_the_user_fills_in_a_form_of_any_kind_of_type(
    revision: str, kind: Any, expected: Any
) -> None:
    server = Server("asking")
    got: list[Any] = []

    @server.tool
    async def book(context: Context) -> str:
        got.append(await context.elicit("Who comes?", kind))
        return "booked"

    heard: list[Elicitation] = []
    async with Client(server, revision=revision, on_elicit=says({"name": "Ada"}, heard)) as client:
        assert (await client.call_tool("book", {})).value == "booked"
    assert got[-1] == Accepted(expected)
    assert [each.message for each in heard] == ["Who comes?"]


@pytest.mark.behaviour("asking.forms")
async def test_a_form_says_what_a_form_can_say_and_the_rest_is_checked() -> None:
    server = Server("asking")

    @server.tool
    async def book(context: Context) -> str:
        return str(await context.elicit("Who comes?", Model))

    heard: list[Elicitation] = []
    async with Client(
        server, revision="2025-11-25", on_elicit=says({"name": "Ada"}, heard)
    ) as client:
        await client.call_tool("book", {})
    assert heard[0].schema == {
        "type": "object",
        "properties": {
            "name": {
                "type": "string",
                "description": "Who comes",
                "minLength": 2,
            },
            "seats": {
                "type": "integer",
                "maximum": 8,
                "default": 2,
                "minimum": 1,
            },
            "mail": {
                "type": "string",
                "format": "email",
                "default": "a@b.example",
            },
        },
        "required": ["name"],
    }


class Colour(enum.Enum):
    RED = "#f00"
    BLUE = "#00f"


class Choices(pydantic.BaseModel):
    plain: Literal["a", "b"] = "a"
    colour: Colour = Colour.RED
    titled: Annotated[
        str,
        pydantic.Field(
            json_schema_extra={
                "oneOf": [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}]
            }
        ),
    ]
    legacy: Annotated[
        Literal["x", "y"], pydantic.Field(json_schema_extra={"enumNames": ["Ex", "Why"]})
    ]
    several: list[Literal["p", "q"]] = ["p"]


CHOSEN = {"titled": "s", "legacy": "y", "several": ["q", "p"]}


@pytest.mark.behaviour("asking.choices")
@pytest.mark.parametrize("revision", ERAS)
async def test_choices_keep_the_spelling_that_their_author_chose(revision: str) -> None:
    server = Server("asking")
    got: list[Any] = []

    @server.tool
    async def choose(context: Context) -> str:
        got.append(await context.elicit("Which?", Choices))
        return "chosen"

    heard: list[Elicitation] = []
    async with Client(server, revision=revision, on_elicit=says(CHOSEN, heard)) as client:
        await client.call_tool("choose", {})
    assert got[-1] == Accepted(Choices(titled="s", legacy="y", several=["q", "p"]))
    schema = heard[0].schema
    assert schema is not None
    assert schema["properties"] == {
        "plain": {"type": "string", "default": "a", "enum": ["a", "b"]},
        "colour": {
            "type": "string",
            "default": "#f00",
            "enum": ["#f00", "#00f"],
        },
        "titled": {
            "type": "string",
            "oneOf": [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}],
        },
        "legacy": {
            "type": "string",
            "enum": ["x", "y"],
            "enumNames": ["Ex", "Why"],
        },
        "several": {
            "type": "array",
            "default": ["p"],
            "items": {"type": "string", "enum": ["p", "q"]},
        },
    }


async def test_before_2025_11_25_titled_choices_have_names_and_there_are_no_others() -> None:
    server = Server("asking")

    class Sizes(pydantic.BaseModel):
        size: Annotated[
            str,
            pydantic.Field(
                default="s",
                json_schema_extra={
                    "oneOf": [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}]
                },
            ),
        ]

    @server.tool
    async def choose(context: Context) -> str:
        return str(await context.elicit("Which?", Sizes))

    @server.tool
    async def several(context: Context) -> str:
        return str(await context.elicit("Which?", list[Literal["p", "q"]]))

    heard: list[Elicitation] = []
    async with Client(
        server, revision="2025-06-18", on_elicit=says({"size": "l"}, heard)
    ) as client:
        await client.call_tool("choose", {})
        failed = await client.call_tool("several", {})
    assert failed.is_error
    schema = heard[0].schema
    assert schema is not None
    assert schema["properties"] == {
        "size": {
            "type": "string",
            "enum": ["s", "l"],
            "enumNames": ["Small", "Large"],
        }
    }


@pytest.mark.parametrize(
    ("kind", "value"),
    [(str, "x"), (bool, False), (int, 7), (float, 1.5), (Literal["a", "b"], "b"), (Colour, "#00f")],
)
async def test_a_single_value_is_a_form_with_one_field(kind: Any, value: Any) -> None:
    server = Server("asking")
    got: list[Any] = []

    @server.tool
    async def ask(context: Context) -> None:
        got.append(await context.elicit("What?", kind))

    async with Client(server, on_elicit=says({"value": value})) as client:
        await client.call_tool("ask", {})
    expected = Colour(value) if kind is Colour else value
    assert got[-1] == Accepted(expected)


@pytest.mark.parametrize("revision", ERAS)
async def test_a_written_schema_and_none_at_all_are_forms_too(revision: str) -> None:
    server = Server("asking")
    written = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    got: list[Any] = []

    @server.tool
    async def ask(context: Context) -> None:
        got[:] = [await context.elicit("How many?", written), await context.elicit("Sure?")]

    def answer(question: Elicitation) -> ElicitAnswer:
        return "accept" if question.message == "Sure?" else {"n": 3}

    async with Client(server, revision=revision, on_elicit=answer) as client:
        await client.call_tool("ask", {})
    assert got == [Accepted({"n": 3}), Accepted(None)]


@pytest.mark.behaviour("asking.actions")
@pytest.mark.parametrize("revision", ERAS)
@pytest.mark.parametrize(("said", "outcome"), [("decline", Declined()), ("cancel", Cancelled())])
async def test_a_user_may_refuse_or_choose_nothing(
    revision: str, said: ElicitAnswer, outcome: Any
) -> None:
    server = Server("asking")
    got: list[Any] = []

    @server.tool
    async def ask(context: Context) -> str:
        got.append(await context.elicit("Sure?", bool))
        return got[-1].action

    async with Client(server, revision=revision, on_elicit=says(said)) as client:
        assert (await client.call_tool("ask", {})).value == said
    assert got[-1] == outcome


@pytest.mark.parametrize(
    "kind", [dict[str, int], list[int], list[str], Literal[1, 2], list[Booking], {"type": "array"}]
)
async def test_what_is_not_flat_is_no_form(kind: Any) -> None:
    context = Context(find_asker=lambda call: pytest.fail("nothing is to be asked"))
    with pytest.raises(ToolDefinitionError):
        context.elicit("?", kind).close()  # pyright: ignore[reportUnknownMemberType]


@pytest.mark.behaviour("asking.urls")
@pytest.mark.parametrize("revision", ERAS)
async def test_a_user_is_sent_to_an_address(revision: str) -> None:
    server = Server("asking")

    @server.tool
    async def pay(context: Context) -> str:
        url = "https://pay.example/7"
        return (await context.elicit_url("Pay first", url, id="visit-7")).action

    heard: list[Elicitation] = []
    async with Client(server, revision=revision, on_elicit=says("accept", heard)) as client:
        assert (await client.call_tool("pay", {})).value == "accept"
    [asked] = heard
    assert (asked.message, asked.url) == ("Pay first", "https://pay.example/7")
    assert asked.id == ("visit-7" if revision == "2025-11-25" else None)


@pytest.mark.parametrize("revision", [*HANDSHAKE, "2026-07-28"])
async def test_the_model_of_a_client_is_asked(revision: str) -> None:
    server = Server("asking")

    @server.tool
    async def summarize(text: str, context: Context) -> str:
        said = await context.sample(
            ["Be kind.", Message(["Sum up:", Text(text)])],
            max_tokens=50,
            system_prompt="Brief.",
            temperature=0.5,
            stop_sequences=["END"],
            preferences={"speedPriority": 1},
        )
        return f"{said.text} ({said.model}, {said.stop_reason})"

    heard: list[SamplingRequest] = []

    def on_sample(request: SamplingRequest) -> Sampled:
        heard.append(request)
        return Sampled("short", model="m", stop_reason="endTurn")

    async with Client(server, revision=revision, on_sample=on_sample) as client:
        result = await client.call_tool("summarize", {"text": "long"})
    assert result.text.strip('"') == "short (m, endTurn)"
    [asked] = heard
    assert (asked.max_tokens, asked.system_prompt, asked.temperature) == (50, "Brief.", 0.5)
    assert asked.stop_sequences == ("END",)
    assert asked.preferences == {"speedPriority": 1}
    together = revision not in ("2024-11-05", "2025-03-26", "2025-06-18")
    texts = [message.text for message in asked.messages]
    assert texts == (["Be kind.", "Sum up:\nlong"] if together else ["Be kind.", "Sum up:", "long"])


@pytest.mark.behaviour("asking.sampling")
@pytest.mark.parametrize("revision", ERAS)
async def test_a_model_uses_tools_that_the_server_runs(revision: str) -> None:
    server = Server("asking")

    @server.tool
    async def weather(city: str) -> str:
        return f"sunny in {city}"

    @server.tool
    async def plan(context: Context) -> str:
        talk: list[Any] = ["Where to go?"]
        said = await context.sample(talk, tools=[server.tools["weather"]], tool_choice="auto")
        while said.tool_uses:
            results = [use.result(f"sunny in {use.input['city']}") for use in said.tool_uses]
            talk += [said, Message(results)]
            said = await context.sample(talk, tools=[server.tools["weather"]])
        return said.text

    def on_sample(request: SamplingRequest) -> Sampled:
        assert [tool["name"] for tool in request.tools] == ["weather"]
        if len(request.messages) == 1:
            use = {"type": "tool_use", "id": "1", "name": "weather", "input": {"city": "Rome"}}
            return Sampled([use], model="m", stop_reason="toolUse")
        result = request.raw["messages"][2]["content"]
        return Sampled(result["content"][0]["text"], model="m")

    with_tools = Sampling(on_sample, tools=True)
    async with Client(server, revision=revision, on_sample=with_tools) as client:
        assert (await client.call_tool("plan", {})).value == "sunny in Rome"
    async with Client(server, revision="2025-11-25", on_sample=on_sample) as client:
        assert "sampling.tools" in (await client.call_tool("plan", {})).text


USE = Sampled([{"type": "tool_use", "id": "1", "name": "t", "input": {}}], model="m")
RESULT = USE.tool_uses[0].result("sunny")


@pytest.mark.behaviour("asking.sampling-content")
@pytest.mark.parametrize("revision", ERAS)
@pytest.mark.parametrize(
    "messages",
    [
        ["Where to?", USE],
        ["Where to?", USE, "Go on."],
        ["Where to?", USE, Message([RESULT, Text("Go on.")])],
        ["Where to?", USE, Message(RESULT, role="assistant")],
        [Message(ResourceLink("file:///a", name="a"))],
        [Message(EmbeddedResource(uri="file:///a", text="a"))],
    ],
)
async def test_what_no_model_can_go_on_from_is_never_asked(
    revision: str, messages: list[Any]
) -> None:
    server = Server("asking")
    refused: list[str] = []

    @server.tool
    async def think(context: Context) -> str:
        try:
            return (await context.sample(messages)).text
        except ValueError as error:
            refused.append(str(error))
            return "refused"

    answer = Sampling(lambda request: Sampled("x", model="m"), tools=True)
    async with Client(server, revision=revision, on_sample=answer) as client:
        assert (await client.call_tool("think", {})).value == "refused"
    assert refused[0].startswith("messages: ")


async def test_tools_in_a_conversation_are_for_revisions_that_know_them() -> None:
    server = Server("asking")

    @server.tool
    async def think(context: Context) -> str:
        return (await context.sample(["Where to?", USE, Message(RESULT)])).text

    def on_sample(request: SamplingRequest) -> Sampled:
        return Sampled(str(len(request.messages)), model="m")

    async with Client(server, revision="2025-11-25", on_sample=on_sample) as client:
        assert (await client.call_tool("think", {})).value == "3"
    async with Client(server, revision="2025-06-18", on_sample=on_sample) as client:
        assert "no tools" in (await client.call_tool("think", {})).text


@pytest.mark.behaviour("asking.roots")
@pytest.mark.parametrize("revision", [*HANDSHAKE, "2026-07-28"])
async def test_the_roots_of_a_client_are_listed(revision: str) -> None:
    server = Server("asking")

    @server.tool
    async def look(context: Context) -> list[str]:
        return [root.uri for root in await context.roots()]

    roots = ["file:///home/a", "file:///home/b"]
    async with Client(server, revision=revision, roots=roots) as client:
        assert json.loads((await client.call_tool("look", {})).text) == roots


@pytest.mark.parametrize("revision", ERAS)
async def test_prompts_and_resources_ask_as_tools_do(revision: str) -> None:
    server = Server("asking")

    @server.prompt
    async def write(topic: str, context: Context) -> str:
        tone = await context.elicit("Tone?", str)
        return f"Write about {topic}, {tone.data if isinstance(tone, Accepted) else 'plainly'}."

    @server.resource("notes://{id}")
    async def note(id: str, context: Context) -> str:
        return f"{id} {(await context.elicit('Show it?')).action}"

    def answer(question: Elicitation) -> ElicitAnswer:
        return {"value": "gently"} if question.message == "Tone?" else "accept"

    async with Client(server, revision=revision, on_elicit=answer) as client:
        prompt = await client.get_prompt("write", {"topic": "rain"})
        assert prompt.messages[0].text == "Write about rain, gently."
        [contents] = (await client.read_resource("notes://7")).contents
        assert contents.text == "7 accept"


@pytest.mark.parametrize("revision", ERAS)
async def test_several_questions_are_asked_at_once(revision: str) -> None:
    server = Server("asking")
    runs = 0

    @server.tool
    async def gather(context: Context) -> str:
        nonlocal runs
        runs += 1
        name, said, roots = await asyncio.gather(
            context.elicit("Name?", str), context.sample("Greet"), context.roots()
        )
        async with asyncio.TaskGroup() as group:
            one = group.create_task(context.elicit("One?", int, key="one"))
            two = group.create_task(context.elicit("Two?", int, key="two"))
        return f"{name} {said.text} {len(roots)} {one.result()} {two.result()}"

    def answer(question: Elicitation) -> ElicitAnswer:
        return {"value": {"Name?": "Ada", "One?": 1, "Two?": 2}[question.message]}

    async with Client(
        server,
        revision=revision,
        on_elicit=answer,
        on_sample=lambda request: Sampled("hi", model="m"),
        roots=["file:///a"],
    ) as client:
        result = await client.call_tool("gather", {})
    expected = "Accepted(data='Ada') hi 1 Accepted(data=1) Accepted(data=2)"
    assert result.value == expected
    assert runs == (1 if revision == "2025-11-25" else 3)


async def test_each_round_runs_the_function_again_and_asks_nothing_twice() -> None:
    server = Server("asking")
    steps: list[str] = []

    @server.tool
    async def walk(context: Context) -> str:
        steps.append("start")
        first = await context.elicit("First?", str)
        steps.append("middle")
        second = await context.elicit("Second?", str)
        return f"{first} {second}"

    heard: list[Elicitation] = []
    async with Client(server, on_elicit=says({"value": "x"}, heard)) as client:
        await client.call_tool("walk", {})
    assert [each.message for each in heard] == ["First?", "Second?"]
    assert steps == ["start", "start", "middle", "start", "middle"]


async def test_a_broad_except_does_not_stop_a_question() -> None:
    server = Server("asking")

    @server.tool
    async def careful(context: Context) -> str:
        try:
            return str(await context.elicit("Sure?", bool))
        except Exception:
            return "it failed"

    @server.tool
    async def careless(context: Context) -> str:
        try:
            return str(await context.elicit("Sure?", bool))
        except BaseException:
            return "it failed"

    async with Client(server, on_elicit=says({"value": True})) as client:
        for tool in ("careful", "careless"):
            assert (await client.call_tool(tool, {})).value == "Accepted(data=True)"


@pytest.mark.parametrize("revision", ERAS)
async def test_what_the_client_can_be_asked_for_is_known(revision: str) -> None:
    server = Server("asking")

    @server.tool
    async def look(context: Context) -> list[str]:
        return [name for name in ("elicitation", "sampling") if name in context.capabilities]

    async with Client(server, revision=revision, on_elicit=says("accept")) as client:
        assert (await client.call_tool("look", {})).value == ["elicitation"]


async def test_a_tool_may_do_without_a_client_that_cannot_be_asked() -> None:
    server = Server("asking")

    @server.tool
    async def ask(context: Context) -> str:
        try:
            return str(await context.elicit("Sure?"))
        except AskError as error:
            return f"no: {error}"

    for revision in (*HANDSHAKE, "2026-07-28"):
        async with Client(server, revision=revision) as client:
            result = await client.call_tool("ask", {})
        assert not result.is_error
        assert "no: " in result.text


def test_a_synchronous_function_is_told_how_to_ask_when_it_is_defined() -> None:
    server = Server("asking")
    with pytest.raises(ToolDefinitionError, match="write async def, or take a parameter"):

        @server.tool
        def ask(context: Context) -> str:
            return str(context.elicit("Sure?"))


async def test_what_a_synchronous_function_asks_by_another_is_found_when_it_runs(
    caplog: pytest.LogCaptureFixture,
) -> None:
    server = Server("asking")

    def helper(context: Context) -> str:
        return str(context.elicit("Sure?"))

    @server.tool
    def ask(context: Context) -> str:
        return helper(context)

    @server.tool
    def later(context: Context) -> Any:
        async def ask() -> str:
            return (await context.elicit("Sure?")).action

        return ask()

    async with Client(server, on_elicit=says("accept")) as client:
        assert (await client.call_tool("ask", {})).is_error
        assert (await client.call_tool("later", {})).value == "accept"
    assert "make this one async" in caplog.text


async def test_a_context_of_no_server_has_nobody_to_ask() -> None:
    with pytest.raises(AskError, match="no client to ask"):
        Context().elicit("Sure?").close()
    assert Context().capabilities == {}


@pytest.mark.parametrize("tool", ["ask", "timed"])
async def test_the_time_for_an_answer_is_not_the_tools(tool: str) -> None:
    async def ask(context: Context) -> str:
        await asyncio.sleep(0)
        one, two = await asyncio.gather(context.elicit("Sure?"), context.elicit("Really?"))
        return one.action if one == two else "unsure"

    async def slowly(question: Elicitation) -> ElicitAnswer:
        loop = asyncio.get_running_loop()
        until = loop.time() + 2 * limit
        await turn_until(lambda: loop.time() > until, pause=0.01)
        return "accept"

    answer: object = None
    for limit in (0.05, 0.5, 5.0):  # A busy machine may take that long before it asks.
        server = Server("asking", options=ServerOptions(call_timeout=limit))
        server.tool(ask)
        server.tool(name="timed", timeout=limit)(ask)
        async with Client(server, revision="2025-11-25", on_elicit=slowly) as client:
            answer = (await client.call_tool(tool, {})).value
        if answer is not None:
            break
    assert answer == "accept"


async def test_after_the_answer_the_time_of_the_tool_goes_on() -> None:
    server = Server("asking", options=ServerOptions(call_timeout=0.05))

    async def ask(context: Context) -> str:
        await context.elicit("Sure?")
        await asyncio.Event().wait()
        return "never"

    server.tool(ask)
    server.tool(name="timed", timeout=0.05)(ask)
    async with Client(server, revision="2025-11-25", on_elicit=says("accept")) as client:
        for tool in ("ask", "timed"):
            result = await client.call_tool(tool, {})
            assert result.is_error
            assert "within 0.05 seconds" in result.text


def test_a_server_that_asks_nothing_loads_nothing_for_it() -> None:
    code = """
import asyncio, sys
from anyshape import Context, Server
server = Server("s")

@server.tool
def add(a: int, b: int) -> int:
    return a + b

@server.tool
async def who(context: Context) -> str:
    return "me"

async def main():
    connection = server.connect(print)
    for name in ("add", "who"):
        body = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"%b","arguments":{'
        body += b'"a":1,"b":2' if name == "add" else b""
        body += b'},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",'
        body += b'"io.modelcontextprotocol/clientCapabilities":{}}}}'
        answer = await connection.handle(body % name.encode())
        assert b"result" in answer and b"isError" not in answer, answer

asyncio.run(main())
unwanted = ("asking", "forms", "outcomes", "repeats", "input_requests", "sampling", "cryptography")
found = [name for name in sys.modules if name.split(".")[-1] in unwanted]
assert not found, found
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=PATIENCE)
