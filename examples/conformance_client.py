"""The client that the official conformance suite drives: `conformance_client.py [REVISION] URL`.

The suite names the scenario, the revision and, for some, the calls to make in its environment; a
REVISION given here, such as `auto`, counts more.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any

import aiohttp

from anyshape.client import Auth, Client, ElicitAnswer, Elicitation
from anyshape.client.auth import (
    ClientCredentials,
    EnterpriseManaged,
    IdentityProvider,
    OAuth,
    WorkloadIdentity,
)


async def call_everything(client: Client) -> None:
    """Call every usable tool, with an argument for each property it requires."""
    for tool in await client.list_tools():
        properties: dict[str, Any] = tool.input_schema.get("properties", {})
        required: list[str] = tool.input_schema.get("required", [])
        await client.call_tool(tool.name, {name: example(properties[name]) for name in required})


def example(schema: dict[str, Any]) -> object:
    """Return a value of a simple schema."""
    examples: dict[str, object] = {"string": "example", "boolean": True, "object": {}}
    return examples.get(schema.get("type", ""), 3)


async def echo_schema(client: Client) -> None:
    """Send a tool's schema back exactly as it came."""
    tools = {tool.name: tool for tool in await client.list_tools()}
    schema = dict(tools["json_schema_2020_12_tool"].input_schema)
    await client.call_tool("json_schema_echo", {"schema": schema})


async def make_calls(client: Client, calls: list[dict[str, Any]]) -> None:
    """Make the calls that the suite asks for, even those whose arguments are wrong."""
    for call in calls:
        await client.call_tool(call["name"], call["arguments"], check_arguments=False)


def agree(asked: Elicitation) -> ElicitAnswer:
    """Answer every form with its defaults."""
    return "accept"


async def sign_in(url: str) -> str:
    """Agree at once, as a browser would whose user does; return where it is sent back to."""
    async with (
        aiohttp.ClientSession() as browser,
        browser.get(url, allow_redirects=False) as page,
    ):
        return page.headers["Location"]


def authorization(scenario: str, context: dict[str, Any]) -> Auth | None:
    """Return how to get into the server of a scenario."""
    match scenario:
        case "auth/client-credentials-basic":
            return ClientCredentials(
                client_id=context["client_id"], client_secret=context["client_secret"]
            )
        case "auth/client-credentials-jwt":
            return ClientCredentials(
                client_id=context["client_id"],
                private_key=context["private_key_pem"],
                algorithm=context["signing_algorithm"],
            )
        case "auth/wif-jwt-bearer":
            return WorkloadIdentity(
                client_id=context["client_id"], assertion=lambda audience: context["valid_jwt"]
            )
        case "auth/enterprise-managed-authorization":
            return EnterpriseManaged(
                provider=IdentityProvider(
                    token_endpoint=context["idp_token_endpoint"], client_id=context["idp_client_id"]
                ),
                id_token=lambda: context["idp_id_token"],
                client_id=context["client_id"],
                client_secret=context["client_secret"],
            )
        case _ if not scenario.startswith("auth/"):
            return None
        case _:
            pass
    return OAuth(
        client_id=context.get("client_id"),
        client_secret=context.get("client_secret"),
        client_metadata_url="https://conformance-test.local/client-metadata.json",
        authorize=sign_in,
        redirect_uri="http://localhost:3000/callback",
        dpop=scenario.startswith("auth/dpop"),
    )


async def main(url: str, revision: str) -> None:
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
    scenario = os.environ.get("MCP_CONFORMANCE_SCENARIO", "")
    auth = authorization(scenario, context)
    async with Client(url, revision=revision, timeout=20, on_elicit=agree, auth=auth) as client:
        if "toolCalls" in context:
            await make_calls(client, context["toolCalls"])
        elif scenario == "json-schema-2020-12-preservation":
            await echo_schema(client)
        else:
            await call_everything(client)


if __name__ == "__main__":
    *chosen, url = sys.argv[1:]
    revision = os.environ.get("MCP_CONFORMANCE_PROTOCOL_VERSION", "auto")
    asyncio.run(main(url, *chosen or [revision]))
