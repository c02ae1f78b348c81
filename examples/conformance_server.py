"""The fixtures of the official conformance suite, as an Anyshape server.

    python examples/conformance_server.py --port 3000
    npx @modelcontextprotocol/conformance server --url http://127.0.0.1:3000/mcp

Each tool, prompt and resource is what a scenario of the suite asks a server to have; see its README
for the scenarios.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import itertools
from collections.abc import Coroutine
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, JsonValue

from anyshape import (
    Ask,
    Audio,
    Complete,
    Context,
    EmbeddedResource,
    Image,
    Message,
    Server,
    Text,
    Tool,
    ToolError,
)

server = Server("anyshape-conformance", version="1.0.0", title="Anyshape conformance server")

RED_PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
)
SILENCE = base64.b64decode("UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=")


@server.tool
def test_simple_text() -> Text:
    """Return one line of text."""
    return Text("This is a simple text response for testing.")


@server.tool
def test_image_content() -> Image:
    """Return a picture of one red pixel."""
    return Image(RED_PIXEL, "image/png")


@server.tool
def test_audio_content() -> Audio:
    """Return a sound of no length."""
    return Audio(SILENCE, "audio/wav")


@server.tool
def test_embedded_resource() -> EmbeddedResource:
    """Return a resource inside the result."""
    return EmbeddedResource(
        uri="test://embedded-resource",
        mime_type="text/plain",
        text="This is an embedded resource content.",
    )


@server.tool
def test_multiple_content_types() -> list[Text | Image | EmbeddedResource]:
    """Return blocks of several kinds."""
    return [
        Text("Multiple content types test:"),
        Image(RED_PIXEL, "image/png"),
        EmbeddedResource(
            uri="test://mixed-content-resource",
            mime_type="application/json",
            text='{"test":"data","value":123}',
        ),
    ]


@server.tool
def test_error_handling() -> str:
    """Fail, and say so."""
    raise ToolError("This tool intentionally returns an error for testing")


@server.tool
async def test_tool_with_progress(context: Context) -> Text:
    """Report progress three times on the way."""
    for progress in (0, 50, 100):
        context.progress(progress, 100)
        await asyncio.sleep(0.05)
    return Text("The tool has reported its progress.")


@server.tool
async def test_reconnection(context: Context) -> Text:
    """Hang up, and answer when the client is back."""
    context.hang_up()
    await asyncio.sleep(0.1)
    return Text("The client came back for this.")


@server.tool(requires={"sampling": {}})
def test_missing_capability() -> Text:
    """Need a client that can sample."""
    return Text("The client can sample.")


@server.tool
def test_streaming_elicitation(sure: Annotated[bool, Ask("Go on?")]) -> Text:
    """Ask the user before answering."""
    return Text(f"The user said {sure}.")


class User(BaseModel):
    """Who the user is."""

    username: str = Field(description="User's response")
    email: str = Field(description="User's email address")


@server.tool
async def test_elicitation(message: str, context: Context) -> Text:
    """Ask the user who they are.

    Args:
        message: The message to show the user
    """
    answer = await context.elicit(message, User)
    return Text(f"User response: {answer}")


@server.tool
async def test_sampling(prompt: str, context: Context) -> Text:
    """Ask the client's model.

    Args:
        prompt: The prompt to send to the LLM
    """
    said = await context.sample(prompt, max_tokens=100)
    return Text(f"LLM response: {said.text}")


class Defaults(BaseModel):
    """A field of each kind, each with a default."""

    name: str = "John Doe"
    age: int = 30
    score: float = 95.5
    status: Literal["active", "inactive", "pending"] = "active"
    verified: bool = True


@server.tool
async def test_elicitation_sep1034_defaults(context: Context) -> Text:
    """Ask with a default for each kind of field."""
    answer = await context.elicit("Please review", Defaults)
    return Text(f"Elicitation completed: {answer}")


def titled(*pairs: tuple[str, str]) -> dict[str, JsonValue]:
    """Return the schema of a choice whose values have titles."""
    return {"oneOf": [{"const": value, "title": title} for value, title in pairs]}


VALUES = (("value1", "First Option"), ("value2", "Second Option"), ("value3", "Third Option"))
NAMES: list[JsonValue] = ["Option One", "Option Two", "Option Three"]
TitledValue = Annotated[str, Field(json_schema_extra=titled(*VALUES))]


class Choices(BaseModel):
    """A choice in each spelling."""

    untitledSingle: Literal["option1", "option2", "option3"]  # noqa: N815 - as asked for
    titledSingle: TitledValue  # noqa: N815
    legacyEnum: Annotated[  # noqa: N815
        Literal["opt1", "opt2", "opt3"], Field(json_schema_extra={"enumNames": NAMES})
    ]
    untitledMulti: list[Literal["option1", "option2", "option3"]]  # noqa: N815
    titledMulti: list[TitledValue]  # noqa: N815


@server.tool
async def test_elicitation_sep1330_enums(context: Context) -> Text:
    """Ask to choose, in each spelling there is."""
    answer = await context.elicit("Please choose", Choices)
    return Text(f"Elicitation completed: {answer}")


class Name(BaseModel):
    """A name."""

    name: str


class Confirmation(BaseModel):
    """Whether the user agrees."""

    ok: bool


@server.tool
def test_input_required_result_elicitation(
    user_name: Annotated[Name, Ask("What is your name?")],
) -> Text:
    """Ask the user for a name."""
    return Text(f"Hello, {user_name.name}!")


@server.tool
async def test_input_required_result_sampling(context: Context) -> Text:
    """Ask the client's model a question."""
    asked = "What is the capital of France?"
    said = await context.sample(asked, max_tokens=100, key="capital_question")
    return Text(said.text)


@server.tool
async def test_input_required_result_list_roots(context: Context) -> Text:
    """Ask for the client's roots."""
    roots = await context.roots(key="client_roots")
    return Text(", ".join(root.uri for root in roots))


@server.tool
def test_input_required_result_request_state(
    confirm: Annotated[Confirmation, Ask("Please confirm")],
) -> Text:
    """Ask once, with a state that has to come back."""
    return Text(f"state-ok: {confirm.ok}")


@server.tool
async def test_input_required_result_multiple_inputs(context: Context) -> Text:
    """Ask for three things at once."""
    name, greeting, roots = await asyncio.gather(
        context.elicit("What is your name?", Name, key="user_name"),
        context.sample("Generate a greeting", max_tokens=50, key="greeting"),
        context.roots(key="client_roots"),
    )
    return Text(f"{greeting.text} {name} {len(roots)}")


@server.tool
async def test_input_required_result_multi_round(context: Context) -> Text:
    """Ask for one thing after another."""
    name = await context.elicit("Step 1: What is your name?", Name, key="step1")
    colour = await context.elicit(
        "Step 2: What is your favorite color?",
        {"type": "object", "properties": {"color": {"type": "string"}}, "required": ["color"]},
        key="step2",
    )
    return Text(f"{name} {colour}")


@server.tool
def test_input_required_result_tampered_state(
    confirm: Annotated[Confirmation, Ask("Please confirm")],
) -> Text:
    """Ask once, with a state that nobody may change."""
    return Text(f"The user said {confirm.ok}.")


@server.tool
async def test_input_required_result_capabilities(context: Context) -> Text:
    """Ask only for what the client can give."""
    questions: list[Coroutine[Any, Any, object]] = []
    if "elicitation" in context.capabilities:
        questions.append(context.elicit("What is your name?", Name))
    if "sampling" in context.capabilities:
        questions.append(context.sample("Generate a greeting", max_tokens=50))
    return Text(f"{len(await asyncio.gather(*questions))} answers")


@server.tool
async def test_tool_with_logging(context: Context) -> Text:
    """Log three times on the way."""
    for step in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        context.log("info", step)
        await asyncio.sleep(0.05)
    return Text("The tool has logged what it did.")


@server.tool
async def test_logging_tool(context: Context) -> Text:
    """Log a message, which reaches only a client that asks for it."""
    context.log("info", "The tool was called")
    return Text("A message was logged.")


_changes = itertools.count(1)


def be_here(arguments: dict[str, object]) -> str:
    return "here"


@server.tool
def test_trigger_tool_change() -> Text:
    """Change the list of tools: add one if it is not there, else remove it."""
    if "test_changing_tool" in server.tools:
        server.remove_tool("test_changing_tool")
    else:
        server.add_tool(
            Tool(
                name="test_changing_tool",
                description="A tool that comes and goes.",
                handler=be_here,
                input_schema={"type": "object", "additionalProperties": False},
            )
        )
    return Text(f"The list has changed {next(_changes)} times.")


@server.tool(
    input_schema={
        "type": "object",
        "properties": {
            "region": {
                "type": "string",
                "description": "Where to run the query",
                "x-mcp-header": "Region",
            },
            "query": {"type": "string", "description": "What to run"},
        },
        "required": ["region", "query"],
    }
)
def test_custom_header(region: str, query: str) -> Text:
    """Take an argument that travels in a header, too."""
    return Text(f"{query} in {region}")


@server.tool(
    input_schema={
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            }
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": False,
    }
)
def json_schema_2020_12_tool(arguments: dict[str, object]) -> Text:
    """Tool with JSON Schema 2020-12 features."""
    return Text(f"{len(arguments)} arguments")


@server.prompt
def test_simple_prompt() -> str:
    """Say one line."""
    return "This is a simple prompt for testing."


WORDS = ["hello", "paris", "park", "party", "test", "testing"]


@server.prompt
def test_prompt_with_arguments(arg1: Annotated[str, Complete(WORDS)], arg2: str) -> str:
    """Repeat two arguments.

    Args:
        arg1: First test argument
        arg2: Second test argument
    """
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


@server.prompt
def test_prompt_with_embedded_resource(resourceUri: str) -> Message:  # noqa: N803 - as asked for
    """Hold a resource.

    Args:
        resourceUri: URI of the resource to embed
    """
    text = "Embedded resource content for testing."
    return Message(
        [
            EmbeddedResource(uri=resourceUri, mime_type="text/plain", text=text),
            "Please process the embedded resource above.",
        ]
    )


@server.prompt
def test_prompt_with_image() -> list[Image | str]:
    """Show a picture of one red pixel."""
    return [Image(RED_PIXEL, "image/png"), "Please analyze the image above."]


class PromptContext(BaseModel):
    """What a prompt is to use."""

    context: str


@server.prompt
def test_input_required_result_prompt(
    user_context: Annotated[PromptContext, Ask("What context should the prompt use?")],
) -> str:
    """Ask the user what to write about."""
    return f"Use this context: {user_context.context}"


_prompt_is_there = itertools.cycle((False, True))


@server.tool
def test_trigger_prompt_change() -> Text:
    """Change the list of prompts: add one if it is not there, else remove it."""
    if next(_prompt_is_there):
        server.remove_prompt("test_changing_prompt")
    else:
        server.prompt(name="test_changing_prompt", description="Comes and goes.")(lambda: "here")
    return Text("The list of prompts has changed.")


@server.resource("test://static-text", mime_type="text/plain")
def static_text() -> str:
    """A static text resource for testing."""
    return "This is the content of the static text resource."


@server.resource("test://static-binary", mime_type="image/png")
def static_binary() -> bytes:
    """A static binary resource for testing."""
    return RED_PIXEL


@server.resource("test://template/{id}/data", mime_type="application/json")
def template_data(id: str) -> dict[str, object]:
    """A resource whose URI says what it holds."""
    return {"id": id, "templateTest": True, "data": f"Data for ID: {id}"}


@server.resource("test://watched-resource", mime_type="text/plain")
def watched_resource() -> str:
    """A resource that clients subscribe to."""
    return "Watched resource content."


@server.tool
def greet(name: str) -> Text:
    """Greet somebody, at once."""
    return Text(f"Hello, {name}!")


@server.tool(task=True)
async def slow_compute(seconds: float, label: str = "") -> Text:
    """Take a while."""
    await asyncio.sleep(seconds)
    return Text(f"{label or 'slow_compute'} took {seconds:g} seconds")


@server.tool(task="required")
async def failing_job() -> Text:
    """Fail after a while."""
    await asyncio.sleep(1)
    raise ToolError("This job always fails.")


@server.tool(task=True)
async def protocol_error_job(context: Context) -> Text:
    """Fail by the protocol: ask for what the suite's client has not declared."""
    return Text(f"{len(await context.roots())} roots")


class Sure(BaseModel):
    """Whether the user is sure."""

    confirm: bool


@server.tool(task=True)
async def confirm_delete(filename: str, context: Context) -> Text:
    """Ask while the task is under way."""
    answer = await context.elicit(f"Delete {filename}?", Sure)
    return Text(f"{filename}: {answer.action}")


@server.tool(task=True)
async def multi_input(context: Context) -> Text:
    """Ask two questions at once."""
    answers = await asyncio.gather(
        context.elicit("What is your name?", Name), context.elicit("Go on?", Sure)
    )
    return Text(", ".join(answer.action for answer in answers))


@server.tool(task="required")
async def test_tool_with_task(user_name: Annotated[Name, Ask("What is your name?")]) -> Text:
    """Ask first, and work on the answer as a task."""
    return Text(f"Hello, {user_name.name}!")


def main() -> None:
    """Serve on the port given."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=3000)
    arguments = parser.parse_args()
    server.run("http", host=arguments.host, port=arguments.port)


if __name__ == "__main__":
    main()
