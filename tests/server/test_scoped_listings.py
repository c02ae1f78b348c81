"""What a caller may not use is not listed to that caller, at any revision, page or listing."""

from __future__ import annotations

from typing import Any

import pytest

from anyshape import Server
from anyshape.server import AccessToken, Authorization, Caching, HttpOptions, ServerOptions

from .visiting import META, MODERN, Reply, Visit

RESOURCE = "https://mcp.example.com/mcp"
REVISIONS = ["2025-06-18", "2025-11-25", MODERN]


class Letters:
    """Tokens that spell their scopes."""

    async def verify(self, token: str) -> AccessToken:
        return AccessToken("ada", scopes=frozenset(token.split("-")), audience=(RESOURCE,))


def _done() -> str:
    return "done"


def _old(year: str, month: str) -> str:
    return f"{year} {month}"


def _page(number: str) -> str:
    return number


def _server(**options: Any) -> Server:
    server = Server("here", options=ServerOptions(**options))
    for name in ("look", "change", "erase"):
        server.tool(name=name)(_done)
    server.prompt(name="plan")(_done)
    server.prompt(name="talk")(_done)
    server.resource("notes://all", name="all")(_done)
    server.resource("notes://open", name="open")(_done)
    server.resource("notes://{year}/{month}", name="old")(_old)
    server.resource("pages://{number}", name="pages")(_page)
    return server


def _application(server: Server, **options: Any) -> Any:
    given: dict[str, Any] = {
        "required_scopes": ("use",),
        "tool_scopes": {"change": ("write",), "erase": ("write", "erase")},
        "prompt_scopes": {"plan": ("plan",)},
        "resource_scopes": {"notes://all": ("read",), "notes://{year}/{month}": ("read", "old")},
        **options,
    }
    authorization = Authorization(Letters(), RESOURCE, ("https://auth.example.com",), **given)
    return server.asgi(HttpOptions(authorization=authorization))


async def _ask(
    application: Any, method: str, token: str, revision: str, cursor: str | None = None
) -> Reply:
    params: dict[str, Any] = {} if cursor is None else {"cursor": cursor}
    headers = {"authorization": f"Bearer {token}", "mcp-protocol-version": revision}
    if revision == MODERN:
        headers["mcp-method"] = method
        params["_meta"] = META
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return await Visit(body, headers=headers).to(application)


async def _listed(application: Any, what: str, token: str, revision: str = MODERN) -> list[str]:
    method = "resources/templates/list" if what == "resourceTemplates" else f"{what}/list"
    names: list[str] = []
    cursor: str | None = None
    while True:
        result = (await _ask(application, method, token, revision, cursor)).json["result"]
        names += [each["name"] for each in result[what]]
        cursor = result.get("nextCursor")
        if cursor is None:
            return names


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("page_size", [1, 2, 100])
@pytest.mark.parametrize(
    ("what", "token", "names"),
    [
        ("tools", "use", ["look"]),
        ("tools", "use-erase", ["look"]),
        ("tools", "use-write", ["look", "change"]),
        ("tools", "use-write-erase-other", ["look", "change", "erase"]),
        ("prompts", "use", ["talk"]),
        ("prompts", "use-plan", ["plan", "talk"]),
        ("resources", "use", ["open"]),
        ("resources", "use-read", ["all", "open"]),
        ("resourceTemplates", "use-read", ["pages"]),
        ("resourceTemplates", "use-read-old", ["old", "pages"]),
    ],
)
async def test_a_caller_is_told_of_what_its_scopes_allow(
    revision: str, page_size: int, what: str, token: str, names: list[str]
) -> None:
    application = _application(_server(page_size=page_size))
    for _ in range(2):  # made, then remembered
        assert await _listed(application, what, "use-write-erase-plan-read-old", revision)
        assert await _listed(application, what, token, revision) == names


async def test_a_batch_lists_no_more() -> None:
    body = [{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}]
    headers = {"authorization": "Bearer use", "mcp-protocol-version": "2025-03-26"}
    reply = await Visit(body, headers=headers).to(_application(_server()))
    assert [each["name"] for each in reply.json[0]["result"]["tools"]] == ["look"]


async def test_tools_that_come_and_go_do_so_for_those_who_may_use_them() -> None:
    server = _server()
    application = _application(server, tool_scopes={"late": ("write",)})
    assert "late" not in await _listed(application, "tools", "use-write")
    server.tool(name="late")(_done)
    assert "late" in await _listed(application, "tools", "use-write")
    assert "late" not in await _listed(application, "tools", "use")
    server.remove_tool("late")
    assert "late" not in await _listed(application, "tools", "use-write")


async def test_a_cursor_at_what_is_hidden_is_like_one_at_what_is_gone() -> None:
    server = _server(page_size=2)
    application = _application(server)
    first = await _ask(application, "tools/list", "use-write-erase", MODERN)
    cursor = first.json["result"]["nextCursor"]
    seen = await _ask(application, "tools/list", "use", MODERN, cursor)
    assert seen.json["error"]["code"] == -32602
    server.remove_tool("change")
    gone = await _ask(application, "tools/list", "use", MODERN, cursor)
    assert gone.json["error"] == seen.json["error"]


async def test_more_sets_of_scopes_than_are_kept_are_told_apart_all_the_same() -> None:
    names = [f"tool{number}" for number in range(8)]
    server = Server("many")
    for name in names:
        server.tool(name=name)(_done)
    application = _application(server, tool_scopes={name: (name,) for name in names})
    for chosen in range(256):
        held = [name for number, name in enumerate(names) if chosen >> number & 1]
        assert await _listed(application, "tools", "-".join(("use", *held))) == held


async def test_a_listing_that_depends_on_scopes_is_for_no_shared_cache() -> None:
    server = _server(caching=Caching(scope="public"))
    told = await _ask(_application(server), "tools/list", "use-write-erase", MODERN)
    assert told.json["result"]["cacheScope"] == "private"
    same = await _ask(
        _application(server, tool_scopes={}, prompt_scopes={}, resource_scopes={}),
        "tools/list",
        "use",
        MODERN,
    )
    assert same.json["result"]["cacheScope"] == "public"


async def test_everything_is_listed_to_everybody_where_that_was_asked_for() -> None:
    application = _application(_server(), list_everything=True)
    assert await _listed(application, "tools", "use") == ["look", "change", "erase"]


async def test_scopes_for_what_is_not_there_are_told_of_at_the_start(
    caplog: pytest.LogCaptureFixture,
) -> None:
    rules = {"change": ("write",), "earse": ("write",)}
    application = _application(_server(), tool_scopes=rules, prompt_scopes={"paln": ("plan",)})
    async with application.lifespan():
        assert [record.getMessage() for record in caplog.records] == [
            "tool_scopes is for 'earse', which is no tool that the server has at its start; "
            "did you mean 'erase'?",
            "prompt_scopes is for 'paln', which is no prompt that the server has at its start; "
            "did you mean 'plan'?",
        ]


async def test_scopes_for_what_is_there_are_not_worth_a_word(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with _application(_server()).lifespan():
        assert not caplog.records
