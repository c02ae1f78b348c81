"""Resources: fixed ones and templates, listed, read, subscribed to."""

from __future__ import annotations

import asyncio
import enum
import json
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from patience import PATIENCE, turn_until
from pydantic import BaseModel, Field

from anyshape import (
    Complete,
    Contents,
    Context,
    Icon,
    ResourceNotFound,
    Server,
    ToolDefinitionError,
    ToolError,
)
from anyshape.protocol.revision import HANDSHAKE, RELEASED, Revision
from anyshape.server import Caching, ServerOptions

from .asking import Asker


class Kind(enum.Enum):
    BIG = "big"
    SMALL = "small"


class User(BaseModel):
    id: int
    name: str


async def contents(server: Server, uri: str) -> list[dict[str, Any]]:
    return (await Asker(server).result("resources/read", uri=uri))["contents"]


@pytest.mark.behaviour("resources.list")
async def test_what_is_said_about_a_resource_is_listed() -> None:
    server = Server("s")

    @server.resource(
        "notes://all",
        title="All notes",
        mime_type="text/markdown",
        size=12,
        annotations={"audience": ["user"], "priority": 0.5, "lastModified": "2026-07-28T00:00:00Z"},
        icons=[Icon("https://a.example/i.png")],
        meta={"a": 1},
    )
    def notes() -> str:
        """Return every note."""
        return "# Notes"

    @server.resource("notes://{id}", name="one note")
    def note(id: int) -> str:
        return str(id)

    asker = Asker(server)
    listed = await asker.result("resources/list")
    assert listed["resources"] == [
        {
            "uri": "notes://all",
            "name": "notes",
            "title": "All notes",
            "description": "Return every note.",
            "mimeType": "text/markdown",
            "size": 12,
            "annotations": {
                "audience": ["user"],
                "priority": 0.5,
                "lastModified": "2026-07-28T00:00:00Z",
            },
            "icons": [{"src": "https://a.example/i.png"}],
            "_meta": {"a": 1},
        }
    ]
    templates = await asker.result("resources/templates/list")
    assert templates["resourceTemplates"] == [{"uriTemplate": "notes://{id}", "name": "one note"}]


async def test_text_bytes_and_json_are_told_apart_by_what_is_returned() -> None:
    server = Server("s")
    values: dict[str, Any] = {
        "text": "words",
        "blob": b"\x00\xff",
        "model": User(id=1, name="Ada"),
        "list": [1, None],
        "nothing": None,
        "empty": [],
    }

    @server.resource("v://{name}")
    def value(name: str) -> Any:
        return values[name]

    read = {name: (await contents(server, f"v://{name}"))[0] for name in values}
    assert read == {
        "text": {"uri": "v://text", "mimeType": "text/plain", "text": "words"},
        "blob": {"uri": "v://blob", "mimeType": "application/octet-stream", "blob": "AP8="},
        "model": {
            "uri": "v://model",
            "mimeType": "application/json",
            "text": '{"id":1,"name":"Ada"}',
        },
        "list": {"uri": "v://list", "mimeType": "application/json", "text": "[1,null]"},
        "nothing": {"uri": "v://nothing", "mimeType": "application/json", "text": "null"},
        "empty": {"uri": "v://empty", "mimeType": "application/json", "text": "[]"},
    }


@pytest.mark.behaviour("resources.read")
async def test_contents_say_more_and_there_may_be_several() -> None:
    server = Server("s")

    @server.resource("a:page", mime_type="text/html")
    async def page() -> list[Any]:
        return [
            Contents("<p>", meta={"k": 1}),
            Contents(b"i", "image/png", "a:icon"),
            Contents({"x": 1}, "application/geo+json"),
            "plain",
        ]

    @server.resource("a:none")
    def none() -> Contents:
        return Contents("", "text/csv")

    assert await contents(server, "a:page") == [
        {"uri": "a:page", "mimeType": "text/html", "text": "<p>", "_meta": {"k": 1}},
        {"uri": "a:icon", "mimeType": "image/png", "blob": "aQ=="},
        {"uri": "a:page", "mimeType": "application/geo+json", "text": '{"x":1}'},
        {"uri": "a:page", "mimeType": "text/html", "text": "plain"},
    ]
    assert await contents(server, "a:none") == [
        {"uri": "a:none", "mimeType": "text/csv", "text": ""}
    ]


@pytest.mark.behaviour("resources.read")
@pytest.mark.parametrize(
    ("annotation", "sent"),
    [
        (list[Contents], []),
        (tuple[Contents, ...], []),
        (list[Contents | str], []),
        (list[str], ["[]"]),
        (Contents | list[int], ["[]"]),
        (Any, ["[]"]),
    ],
    ids=repr,
)
async def test_an_empty_list_is_no_contents_only_where_contents_are_promised(
    annotation: Any, sent: list[str]
) -> None:
    server = Server("s")

    def directory() -> Any:
        return []

    directory.__annotations__["return"] = annotation
    server.resource("a:directory")(directory)
    assert [each["text"] for each in await contents(server, "a:directory")] == sent


@pytest.mark.behaviour("resources.templates")
async def test_variables_become_typed_parameters() -> None:
    server = Server("s")
    seen: list[Any] = []

    @server.resource("x://{kind}/{id}/{+path}")
    def one(kind: Kind, id: UUID, path: str) -> str:
        seen.append((kind, id, path))
        return "ok"

    @server.resource("y://find{?limit,tags,deep}")
    def find(limit: Annotated[int, Field(ge=1)] = 5, tags: str = "", deep: bool = False) -> str:
        seen.append((limit, tags, deep))
        return "ok"

    identity = UUID(int=7)
    await contents(server, f"x://big/{identity}/a/b%20c.txt")
    await contents(server, "y://find")
    await contents(server, "y://find?deep=true&limit=2&tags=a%2Cb")
    assert seen == [(Kind.BIG, identity, "a/b c.txt"), (5, "", False), (2, "a,b", True)]


@pytest.mark.behaviour("resources.not-found")
@pytest.mark.parametrize("revision", Revision)
async def test_what_does_not_match_or_convert_is_not_found(revision: Revision) -> None:
    server = Server("s")

    @server.resource("u://{id}")
    def user(id: Annotated[int, Field(ge=1)]) -> str:
        if id == 404:
            raise ResourceNotFound("there is no user 404")
        return str(id)

    asker = Asker(server, revision)
    code = -32602 if revision.is_natural else -32002
    for uri, reason in (
        ("u://x", 'expected an integer ≥ 1, got "x" (a string)'),
        ("u://0", "expected an integer ≥ 1, got 0"),
    ):
        error = await asker.error("resources/read", uri=uri)
        message = f"Resource not found: /id: {reason}"
        assert error == {"code": code, "message": message, "data": {"uri": uri}}
    for uri in (
        "u://",
        "u://1/2",
        "v://1",
        "",
        "u://%31%zz",
        "u://1 ",
        "u://%ff",
    ):
        error = await asker.error("resources/read", uri=uri)
        assert error == {"code": code, "message": "Resource not found", "data": {"uri": uri}}
    error = await asker.error("resources/read", uri="u://404")
    assert (error["code"], error["data"]) == (code, {"uri": "u://404"})
    assert "there is no user 404" in error["message"]
    assert (await asker.result("resources/read", uri="u://1"))["contents"][0]["text"] == "1"


async def test_a_template_that_cannot_convert_leaves_a_uri_to_the_next() -> None:
    server = Server("s")
    server.resource("p://{number}", name="n")(_number)
    server.resource("p://{word}", name="w")(_word)
    server.resource("p://fixed", name="f")(lambda: "fixed")
    assert [(await contents(server, f"p://{each}"))[0]["text"] for each in ("7", "x", "fixed")] == [
        "number 7",
        "word x",
        "fixed",
    ]


def _number(number: int) -> str:
    return f"number {number}"


def _word(word: str) -> str:
    return f"word {word}"


async def test_failures_tell_what_the_author_chose_to_tell_and_nothing_else(
    caplog: pytest.LogCaptureFixture,
) -> None:
    server = Server("s")

    def tells() -> str:
        raise ToolError("closed on Sundays")

    def crashes() -> str:
        raise OSError("secret")

    async def sleeps() -> str:
        await asyncio.sleep(PATIENCE)
        return ""

    def not_json() -> Any:
        return {"secret": float("nan")}

    def half() -> str:
        return "secret\ud800"

    for function in (tells, crashes, not_json, half):
        server.resource(f"f:{function.__name__}")(function)
    server.resource("f:sleeps", timeout=0.01)(sleeps)
    asker = Asker(server)
    error = await asker.error("resources/read", uri="f:tells")
    assert error == {"code": -32603, "message": "closed on Sundays"}
    for name in ("crashes", "not_json", "half", "sleeps"):
        error = await asker.error("resources/read", uri=f"f:{name}")
        assert error["code"] == -32603
        assert "secret" not in str(error)
        assert name in caplog.text


@pytest.mark.behaviour("resources.caching")
async def test_contents_say_how_long_they_may_be_kept() -> None:
    server = Server("s", options=ServerOptions(caching=Caching(5, "public")))
    server.resource("a:b", name="b", caching=Caching(1000, "public"))(lambda: "b")
    server.resource("a:c", name="c")(lambda: "c")
    asker = Asker(server)

    async def hints(method: str, **params: Any) -> tuple[int, str]:
        result = await asker.result(method, **params)
        return result["ttlMs"], result["cacheScope"]

    assert await hints("resources/read", uri="a:b") == (1000, "public")
    assert await hints("resources/read", uri="a:c") == (0, "private")
    assert await hints("resources/list") == (5, "public")
    assert await hints("resources/templates/list") == (5, "public")
    older = await Asker(server, "2025-11-25").result("resources/read", uri="a:b")
    assert older.keys() == {"contents"}


async def test_a_resource_may_take_a_context() -> None:
    server = Server("s")

    @server.resource("c:{name}")
    def who(context: Context, name: str) -> str:
        context.progress(1)
        return f"{name} {context.request_id}"

    asker = Asker(server)
    read = await asker.result("resources/read", id=9, uri="c:x", _meta={"progressToken": 1})
    assert read["contents"][0]["text"] == "x 9"
    assert len(asker.sent) == 1


@pytest.mark.behaviour("resources.subscriptions")
@pytest.mark.parametrize("revision", HANDSHAKE)
async def test_subscribers_of_a_handshake_are_told_of_their_resource_alone(
    revision: Revision,
) -> None:
    server = Server("s")
    server.resource("a:one", name="one")(lambda: "1")
    server.resource("a:x/{id}", name="x")(_id)
    asker, other = Asker(server, revision), Asker(server, revision)
    declared = (await asker.shake_hands())["capabilities"]
    assert declared["resources"] == {"subscribe": True, "listChanged": True}
    await other.shake_hands()
    for uri in ("a:one", "a:one", "a:x/5"):
        assert await asker.result("resources/subscribe", uri=uri) == {}
    error = await asker.error("resources/subscribe", uri="a:two")
    assert error["data"] == {"uri": "a:two"}
    for uri in ("a:one", "a:one", "a:two", "a:x/5"):
        server.resource_changed(uri)
    await turn_until(lambda: len(asker.sent) == 2)
    assert asker.sent == [
        {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": uri}}
        for uri in ("a:one", "a:x/5")
    ]
    assert await asker.result("resources/unsubscribe", uri="a:one") == {}
    assert await asker.result("resources/unsubscribe", uri="a:never") == {}
    server.resource_changed("a:one")
    server.resource_changed("a:x/5")
    await turn_until(lambda: len(asker.sent) == 3)
    assert asker.sent[-1]["params"] == {"uri": "a:x/5"}
    await asker.connection.close()
    server.resource_changed("a:x/5")
    await other.result("ping")
    assert (len(asker.sent), other.sent) == (3, [])
    await other.connection.close()
    assert server._service.listeners._by_topic == {}


@pytest.mark.behaviour("resources.subscriptions")
async def test_modern_subscriptions_are_granted_the_resources_that_are_there() -> None:
    server = Server("s")
    server.resource("a:one", name="one")(lambda: "1")
    server.resource("a:x/{id}", name="x")(_id)
    asker = Asker(server)
    wanted = {
        "resourcesListChanged": True,
        "resourceSubscriptions": ["a:one", "a:gone", "a:x/1", "a:one"],
    }
    listening = asyncio.create_task(asker.ask("subscriptions/listen", id=4, notifications=wanted))
    await turn_until(lambda: len(asker.sent) == 1)
    assert asker.sent[0]["params"]["notifications"] == {
        "resourcesListChanged": True,
        "resourceSubscriptions": ["a:one", "a:x/1"],
    }
    server.resource_changed("a:x/2")
    server.resource_changed("a:x/1")
    server.remove_resource("a:one")
    server.remove_resource("a:x/{id}")
    await turn_until(lambda: len(asker.sent) == 3)
    tag = {"io.modelcontextprotocol/subscriptionId": 4}
    assert asker.sent[1:] == [
        {
            "jsonrpc": "2.0",
            "method": "notifications/resources/updated",
            "params": {"_meta": tag, "uri": "a:x/1"},
        },
        {
            "jsonrpc": "2.0",
            "method": "notifications/resources/list_changed",
            "params": {"_meta": tag},
        },
    ]
    await asker.connection.close()
    await listening
    for method in ("resources/subscribe", "resources/unsubscribe"):
        assert (await Asker(server).error(method, uri="a:one"))["code"] == -32601


def _id(id: str) -> str:
    return id


async def test_subscriptions_are_bounded() -> None:
    server = Server("s", options=ServerOptions(max_resource_subscriptions=3))
    server.resource("a:x/{id}", name="x")(_id)
    asker = Asker(server, "2025-11-25")
    answers = [await asker.ask("resources/subscribe", uri=f"a:x/{number}") for number in range(50)]
    assert [("result" in answer) for answer in answers] == [True] * 3 + [False] * 47
    assert answers[3]["error"]["code"] == 503
    long = await Asker(server, "2025-11-25").ask("resources/subscribe", uri="a:x/" + "y" * 2000)
    assert long["error"]["code"] == -32002
    many = [f"a:x/{number}" for number in range(10_000)]
    error = await Asker(server).error(
        "subscriptions/listen", notifications={"resourceSubscriptions": many}
    )
    assert error["code"] == -32602
    error = await Asker(server).error(
        "subscriptions/listen", notifications={"resourceSubscriptions": "a:x/1"}
    )
    assert "resourceSubscriptions" in error["message"]


@pytest.mark.parametrize("revision", RELEASED)
@pytest.mark.parametrize(
    "uri",
    [
        "h://" + "a" * 1_000_000,
        "h://a\x00b",
        "h://a\nb",
        "h://" + "%" * 8000,
        "h://" + "/" * 8000,
        "h://a{x}",
        "\u202eh://a",
    ],
    ids=lambda uri: repr(uri[:12]),
)
async def test_hostile_uris_are_not_found_and_answers_stay_short(
    revision: Revision, uri: str
) -> None:
    server = Server("s")

    def one(a: str) -> str:
        return a

    def two(a: str, c: str, d: str) -> str:
        return a + c + d

    def three(a: str, b: str = "", c: str = "") -> str:
        return a + b + c

    server.resource("h://{a}")(one)
    server.resource("h://{a}.b/{+c}/{d}.e")(two)
    server.resource("h://{a}{?b,c}")(three)
    answer = await Asker(server, revision).ask("resources/read", uri=uri)
    assert answer["error"]["code"] in (-32002, -32602)
    assert len(json.dumps(answer)) < 50_000
    answer = await Asker(server, revision).ask("resources/subscribe", uri=uri)
    assert "error" in answer


async def test_half_a_surrogate_pair_in_a_uri_is_refused_under_the_request_s_id() -> None:
    server = Server("s")
    server.resource("h://{id}")(_id)
    asker = Asker(server, "2025-11-25")
    await asker.shake_hands()
    frame = rb'{"jsonrpc":"2.0","id":5,"method":"resources/read","params":{"uri":"h://\ud800"}}'
    answer = json.loads(await asker.connection.handle(frame) or b"")
    assert answer["id"] == 5
    assert "error" in answer


async def test_variables_of_templates_complete() -> None:
    server = Server("s")

    def cities(typed: str, given: dict[str, str]) -> list[str]:
        return [f"{given.get('country')}-{typed}"]

    @server.resource("geo://{country}/{city}/{unit}")
    def weather(
        country: str, city: Annotated[str, Complete(cities)], unit: Literal["c", "f"]
    ) -> str:
        return city

    server.resource("geo://all", name="all")(lambda: "all")

    async def suggest(uri: str, argument: str) -> Any:
        return await Asker(server).ask(
            "completion/complete",
            ref={"type": "ref/resource", "uri": uri},
            argument={"name": argument, "value": ""},
            context={"arguments": {"country": "fr"}},
        )

    template = "geo://{country}/{city}/{unit}"
    found = {name: await suggest(template, name) for name in ("country", "city", "unit")}
    assert {name: each["result"]["completion"]["values"] for name, each in found.items()} == {
        "country": [],
        "city": ["fr-"],
        "unit": ["c", "f"],
    }
    for uri, argument in ((template, "town"), ("geo://none", "city"), ("geo://all", "city")):
        assert (await suggest(uri, argument))["error"]["code"] == -32602


async def test_pages_list_resources_and_templates_apart() -> None:
    server = Server("s", options=ServerOptions(page_size=2))
    for number in range(3):
        server.resource(f"p:{number}", name=str(number))(lambda: "p")
        server.resource(f"p:{number}/{{id}}", name=str(number))(_id)
    for method, member, key in (
        ("resources/list", "resources", "uri"),
        ("resources/templates/list", "resourceTemplates", "uriTemplate"),
    ):
        first = await Asker(server).result(method)
        second = await Asker(server).result(method, cursor=first["nextCursor"])
        assert len({each[key] for each in first[member] + second[member]}) == 3
        assert "nextCursor" not in second


@pytest.mark.parametrize(
    ("uri", "reason"),
    [
        ("no scheme", "scheme"),
        ("{x}/{y}", "begin with a scheme, as in 'notes://{id}'"),
        ("users/{x}/{y}", "begin with a scheme, as in 'notes://{id}'"),
        ("{x}://{y}", "begin with a scheme, as in 'notes://{id}'"),
        ("a:b c", "percent-encoded"),
        ("a:é", "percent-encoded"),
        ("a:{x}-{y}", "cannot be told"),
        ("a:{x}{y}", "cannot be told"),
        ("a:{+x}{?y}", "cannot be told"),
        ("a:{x*}", "explode"),
        ("a:{x:3}", "cuts"),
        ("a:{x}/{y}/{z}", "'{z}'"),
        ("a:{x}", "'y'"),
        ("a:b", "'x'"),
        ("a:{x}/{y", "closed"),
    ],
)
def test_a_uri_that_does_not_fit_is_refused_with_the_reason(uri: str, reason: str) -> None:
    def function(x: str, y: str) -> str:
        return x

    with pytest.raises(ToolDefinitionError, match=reason) as caught:
        Server("s").resource(uri)(function)
    assert "function()" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_cannot_be_said_of_a_resource_is_refused() -> None:
    wrong: list[dict[str, Any]] = [
        {"size": -1},
        {"size": True},
        {"mime_type": "text"},
        {"annotations": {"priority": 2}},
        {"annotations": {"audience": ["model"]}},
        {"annotations": {"audience": "user"}},
        {"annotations": {"last_modified": "x"}},
        {"annotations": {"lastModified": 3}},
        {"icons": [{"src": "javascript:x"}]},
        {"name": ""},
        {"tags": {"x"}},
    ]
    for said in wrong:
        with pytest.raises(ToolDefinitionError):
            Server("s").resource("a:b", **said)(lambda: "x")
    with pytest.raises(ToolDefinitionError, match="size"):
        Server("s").resource("a:{id}", size=3)(_id)
    server = Server("s")
    server.resource("a:b", name="b")(lambda: "x")
    with pytest.raises(ToolDefinitionError, match="already"):
        server.resource("a:b", name="c")(lambda: "x")
    with pytest.raises(TypeError, match="URI first"):
        server.resource(_id)  # pyright: ignore[reportArgumentType]
    with pytest.raises(KeyError):
        server.remove_resource("a:c")
    with pytest.raises(TypeError, match="mime_type"):
        Contents("x", 3)  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match="write mime_type="):
        Contents("x", mimeType="text/plain")  # pyright: ignore[reportCallIssue]
