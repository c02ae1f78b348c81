"""Our client against prompts, resources, logs and questions of servers that we did not write."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from patience import PATIENCE, turn_until

from anyshape import Client
from anyshape.client import ElicitAnswer, Elicitation, LogMessage, Sampled, SamplingRequest
from anyshape.errors import ProtocolError

SERVERS = Path(__file__).parent / "servers"
PYTHON = ["mcp_features.py", "fastmcp_features.py"]
EVERYTHING = "@modelcontextprotocol/server-everything"


@pytest.fixture(scope="module")
def target_of(node: Callable[..., list[str]]) -> Iterator[Callable[[str, str], str | list[str]]]:
    """Return what gives the command or the URL of a peer, started once."""
    with contextlib.ExitStack() as stack:
        urls: dict[str, str] = {}

        def target_of(peer: str, transport: str) -> str | list[str]:
            path = SERVERS / peer
            runner = node(path) if path.suffix == ".mjs" else [sys.executable, str(path)]
            command = [*runner, transport]
            if transport == "stdio":
                return command
            if peer not in urls:
                process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
                stack.enter_context(process)
                stack.callback(process.kill)
                assert process.stdout is not None
                urls[peer] = f"http://127.0.0.1:{int(process.stdout.readline())}/mcp"
            return urls[peer]

        yield target_of


def answers(question: Elicitation) -> ElicitAnswer:
    return {"city": "Oslo"}


def sampled(request: SamplingRequest) -> Sampled:
    return Sampled(f"{request.messages[0].text} Paris", model="test")


@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
@pytest.mark.parametrize("peer", PYTHON)
async def test_python_servers_are_used_whole(
    target_of: Callable[[str, str], Any], peer: str, revision: str, transport: str
) -> None:
    logs: list[LogMessage] = []
    async with Client(
        target_of(peer, transport),
        revision=revision,
        on_elicit=answers,
        on_sample=sampled,
        roots=["file:///srv"],
        on_log=logs.append,
        timeout=PATIENCE,
    ) as client:
        assert {each.uri for each in await client.list_resources()} == {
            "demo://fixed",
            "demo://bytes",
        }
        (template,) = await client.list_resource_templates()
        assert template.uri_template == "demo://users/{name}"
        assert (await client.read_resource("demo://fixed")).text == "contents"
        assert (await client.read_resource("demo://bytes")).data == b"\x00\x01"
        assert (await client.read_resource("demo://users/Ada")).text == "user Ada"
        with pytest.raises(ProtocolError):
            await client.read_resource("demo://none")
        (prompt,) = await client.list_prompts()
        assert [(each.name, each.required) for each in prompt.arguments] == [
            ("code", True),
            ("style", False),
        ]
        assert (await client.get_prompt("review", {"code": "x"})).text == "Review dry: x"
        if client.server.capabilities.get("completions") is not None:
            found = await client.complete("style", "d", prompt="review")
            assert found.values == ("dry", "drastic")
        await client.call_tool("log")
        await turn_until(lambda: [message.level for message in logs] == ["info"])
        modern = revision == "2026-07-28"
        result = await client.call_tool("ask_modern" if modern else "ask_older")
        state = " round 1" if modern else ""
        assert result.text == f"city='Oslo' days=2 Capital? Paris file:///srv{state}"
        assert client.rejected_resources == client.rejected_prompts == {}


@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize(
    ("peer", "revision"),
    [
        ("typescript1_features.mjs", "2025-11-25"),
        ("typescript2_features.mjs", "2025-11-25"),
        ("typescript2_features.mjs", "2026-07-28"),
    ],
)
async def test_typescript_servers_are_used_whole(
    target_of: Callable[[str, str], Any], peer: str, revision: str, transport: str
) -> None:
    logs: list[LogMessage] = []
    target = target_of(peer, transport)
    async with Client(target, revision=revision, on_log=logs.append, timeout=PATIENCE) as client:
        await client.set_log_level("info")
        uris = [each.uri for each in await client.list_resources()]
        assert uris == ["demo://fixed", "demo://bytes"]
        (template,) = await client.list_resource_templates()
        assert template.uri_template == "demo://users/{name}"
        assert (await client.read_resource("demo://fixed")).text == "contents"
        assert (await client.read_resource("demo://bytes")).data == b"\x00\x01"
        assert (await client.read_resource("demo://users/Ada")).text == "user Ada"
        with pytest.raises(ProtocolError):
            await client.read_resource("demo://none")
        (prompt,) = await client.list_prompts()
        assert [(each.name, each.required) for each in prompt.arguments] == [
            ("code", True),
            ("style", False),
        ]
        assert (await client.get_prompt("review", {"code": "x"})).text == "Review dry: x"
        found = await client.complete("style", "d", prompt="review")
        assert found.values == ("dry", "drastic")
        await client.call_tool("log")
        await turn_until(lambda: logs == [LogMessage("info", "working")])
        assert client.rejected_resources == client.rejected_prompts == {}


@pytest.mark.parametrize("transport", ["stdio", "http"])
async def test_a_change_is_heard_of(target_of: Callable[[str, str], Any], transport: str) -> None:
    changed = asyncio.Event()
    target = target_of("mcp_features.py", transport)
    async with Client(target, timeout=PATIENCE) as client:
        await client.list_tools()
        await client.subscribe("demo://fixed", lambda uri: changed.set())
        await client.call_tool("touch")
        await asyncio.wait_for(changed.wait(), PATIENCE)


async def test_the_typescript_reference_server_is_used_whole(
    node: Callable[..., list[str]], tmp_path: Path
) -> None:
    asked: list[Elicitation] = []

    def on_elicit(question: Elicitation) -> ElicitAnswer:
        asked.append(question)
        return "accept" if question.url else {"name": "Ada", "check": True}

    changes: list[str] = []
    async with Client(
        node(EVERYTHING, "stdio"),
        on_elicit=on_elicit,
        on_sample=sampled,
        roots=[tmp_path],
        on_log=lambda message: None,
        timeout=PATIENCE,
    ) as client:
        assert str(client.revision) == "2025-11-25"
        names = {tool.name for tool in await client.list_tools()}
        prompts = {prompt.name for prompt in await client.list_prompts()}
        assert {"simple-prompt", "args-prompt"} <= prompts
        assert (await client.get_prompt("simple-prompt")).messages
        resource = (await client.list_resources())[0]
        assert (await client.read_resource(resource.uri)).contents
        assert await client.list_resource_templates()
        await client.set_log_level("debug")
        await client.subscribe(resource.uri, changes.append)
        await client.call_tool("toggle-subscriber-updates")
        elicited = await client.call_tool("trigger-elicitation-request")
        assert "Ada" in elicited.text
        assert asked[0].schema is not None
        sample = await client.call_tool("trigger-sampling-request", {"prompt": "Capital?"})
        assert "Paris" in sample.text
        assert "get-roots-list" in names
        roots = await client.call_tool("get-roots-list")
        assert tmp_path.as_uri() in roots.text
        await turn_until(lambda: resource.uri in changes)
        await client.unsubscribe(resource.uri)
