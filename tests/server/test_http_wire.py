"""What goes over HTTP, byte for byte, at every revision."""

from __future__ import annotations

import base64
import contextlib
import http.client
import json
import socket
import time
from typing import Any

import pytest
from patience import PATIENCE, until

from .conftest import message, run_web

MODERN = "2026-07-28"
REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", MODERN]
SUPPORTED = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]


def _meta(version: Any = MODERN, **extra: Any) -> dict[str, Any]:
    return {
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
        **extra,
    }


def _structured(revision: str, value: Any) -> Any:
    if revision == MODERN:
        return value
    return None if revision in ("2024-11-05", "2025-03-26") else {"result": value}


@pytest.mark.behaviour("transport.http.json-answer")
@pytest.mark.parametrize("revision", REVISIONS)
def test_a_call_is_answered_with_json_in_the_shape_of_its_revision(web: Any, revision: str) -> None:
    answer = web.call(revision, "add", {"a": 2, "b": 3})
    assert answer.status == 200
    assert answer.headers["content-type"] == "application/json"
    assert int(answer.headers["content-length"]) == len(answer.body)
    assert "mcp-session-id" not in answer.headers
    result = answer.json["result"]
    assert result["content"] == [{"type": "text", "text": "5"}]
    assert result.get("structuredContent") == _structured(revision, 5)


@pytest.mark.behaviour("transport.http.no-version-header")
def test_without_a_version_header_the_revision_is_2025_03_26(web: Any) -> None:
    result = web.call(None, "people").json["result"]
    assert "structuredContent" not in result
    assert "resultType" not in result


@pytest.mark.behaviour("lifecycle.initialize.same-revision")
@pytest.mark.parametrize("revision", ["2025-03-26", "2025-06-18", "2025-11-25", "2026-06-30"])
def test_a_handshake_over_http_is_answered_and_nothing_has_to_be_brought_back(
    web: Any, revision: str
) -> None:
    params = {
        "protocolVersion": revision,
        "capabilities": {},
        "clientInfo": {"name": "raw", "version": "0"},
    }
    answer = web.request(None, "initialize", params)
    assert answer.status == 200
    assert answer.json["result"]["protocolVersion"] == revision
    assert answer.json["result"]["capabilities"] == {
        "tools": {"listChanged": True},
        "logging": {},
    }
    note = web.post(
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"MCP-Protocol-Version": revision, "Mcp-Session-Id": "whatever"},
    )
    assert (note.status, note.body) == (202, b"")


@pytest.mark.behaviour("lifecycle.ping")
@pytest.mark.parametrize("revision", ["2025-03-26", "2025-06-18", "2025-11-25"])
def test_a_ping_is_answered_in_the_handshake_era(web: Any, revision: str) -> None:
    assert web.request(revision, "ping", id="p").json == {
        "jsonrpc": "2.0",
        "id": "p",
        "result": {},
    }


@pytest.mark.behaviour("discover.result")
def test_discovery_says_everything(web: Any) -> None:
    assert web.request(MODERN, "server/discover").json["result"] == {
        "resultType": "complete",
        "supportedVersions": SUPPORTED,
        "capabilities": {"tools": {"listChanged": True}, "logging": {}},
        "instructions": "Read the wire.",
        "ttlMs": 1234,
        "cacheScope": "public",
        "_meta": {
            "io.modelcontextprotocol/serverInfo": {
                "name": "wire",
                "title": "Wire",
                "version": "1.2.3",
                "description": "For tests",
            }
        },
    }


@pytest.mark.behaviour("caching.hints")
def test_every_page_of_a_modern_listing_says_how_long_it_keeps(web: Any) -> None:
    cursor = None
    pages = 0
    while pages == 0 or cursor is not None:
        params = {} if cursor is None else {"cursor": cursor}
        result = web.request(MODERN, "tools/list", params).json["result"]
        assert (result["resultType"], result["ttlMs"], result["cacheScope"]) == (
            "complete",
            1234,
            "public",
        )
        cursor = result.get("nextCursor")
        pages += 1
    assert pages == 4


@pytest.mark.behaviour("tools.list.deterministic")
@pytest.mark.parametrize("revision", REVISIONS)
def test_listing_twice_gives_the_same_bytes(web: Any, revision: str) -> None:
    assert web.request(revision, "tools/list").body == web.request(revision, "tools/list").body


@pytest.mark.behaviour("base.result-type")
@pytest.mark.behaviour("base.server-info")
@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("server/discover", {}),
        ("tools/list", {}),
        ("tools/call", {"name": "people"}),
        ("tools/call", {"name": "fail", "arguments": {"message": "no"}}),
    ],
)
def test_every_modern_result_says_its_type_and_who_sends_it(
    web: Any, method: str, params: Any
) -> None:
    result = web.request(MODERN, method, params).json["result"]
    assert result["resultType"] == "complete"
    assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "wire"


@pytest.mark.behaviour("versioning.meta.required")
@pytest.mark.parametrize("missing", ["_meta", "protocolVersion", "clientCapabilities"])
def test_a_modern_request_without_its_metadata_is_a_bad_request(web: Any, missing: str) -> None:
    meta = _meta()
    meta.pop(f"io.modelcontextprotocol/{missing}", None)
    params = {} if missing == "_meta" else {"_meta": meta}
    answer = web.post(
        {"jsonrpc": "2.0", "id": 4, "method": "tools/list", "params": params},
        {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/list"},
    )
    assert (answer.status, answer.json["error"]["code"], answer.json["id"]) == (400, -32602, 4)


@pytest.mark.behaviour("versioning.client-info-optional")
def test_a_modern_request_need_not_say_who_asks(web: Any) -> None:
    answer = web.post(
        {"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": _meta()}},
        {"MCP-Protocol-Version": MODERN, "Mcp-Method": "server/discover"},
    )
    assert answer.status == 200


@pytest.mark.behaviour("versioning.unsupported")
def test_an_unknown_revision_is_a_bad_request_that_lists_the_known_ones(web: Any) -> None:
    answer = web.post(
        {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": _meta("v9")}},
        {"MCP-Protocol-Version": "v9", "Mcp-Method": "tools/list"},
    )
    assert answer.status == 400
    assert answer.json["error"]["code"] == -32022
    assert answer.json["error"]["data"] == {"supported": SUPPORTED, "requested": "v9"}


@pytest.mark.behaviour("transport.http.bad-version-header")
@pytest.mark.parametrize(
    "body",
    [
        {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
        [{"jsonrpc": "2.0", "id": 1, "method": "ping"}],
    ],
)
def test_a_version_header_we_do_not_know_is_a_bad_request(web: Any, body: Any) -> None:
    answer = web.post(body, {"MCP-Protocol-Version": "2030-01-01"})
    assert (answer.status, answer.json["error"]["code"]) == (400, -32022)


@pytest.mark.behaviour("headers.version-mismatch")
@pytest.mark.parametrize("header", [None, "2025-11-25", "2026-07-29", "v9"])
def test_a_version_header_that_contradicts_the_body_is_refused(web: Any, header: Any) -> None:
    answer = web.request(MODERN, "tools/list", headers={"MCP-Protocol-Version": header})
    assert (answer.status, answer.json["error"]["code"], answer.json["id"]) == (400, -32020, 1)


@pytest.mark.behaviour("headers.method-mismatch")
@pytest.mark.parametrize("header", [None, "prompts/list", "TOOLS/LIST", "", "tools/call"])
def test_a_method_header_that_contradicts_the_body_is_refused(web: Any, header: Any) -> None:
    answer = web.request(MODERN, "tools/list", headers={"Mcp-Method": header})
    assert (answer.status, answer.json["error"]["code"]) == (400, -32020)


@pytest.mark.behaviour("headers.name-mismatch")
@pytest.mark.parametrize("header", [None, "people", "ADD", "", "=?base64?YWRk", "=?base64?!?="])
def test_a_name_header_that_contradicts_the_body_is_refused(web: Any, header: Any) -> None:
    answer = web.call(MODERN, "add", {"a": 1, "b": 2}, headers={"Mcp-Name": header})
    assert (answer.status, answer.json["error"]["code"]) == (400, -32020)


@pytest.mark.behaviour("headers.base64")
def test_a_name_header_may_be_in_base64(web: Any) -> None:
    encoded = base64.b64encode(b"add").decode()
    headers = {"Mcp-Name": f"=?base64?{encoded}?="}
    assert web.call(MODERN, "add", {"a": 1, "b": 2}, headers=headers).status == 200


@pytest.mark.behaviour("headers.names-case-insensitive")
@pytest.mark.parametrize("spell", [str.lower, str.upper, str.title])
def test_header_names_may_be_spelt_in_any_case(web: Any, spell: Any) -> None:
    usual = {"Mcp-Protocol-Version": MODERN, "Mcp-Method": "tools/call", "Mcp-Name": "people"}
    answer = web.post(
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": "people", "_meta": _meta()},
        },
        {spell(name): value for name, value in usual.items()},
    )
    assert answer.status == 200


@pytest.mark.behaviour("headers.whitespace")
def test_whitespace_around_a_header_value_does_not_count(web: Any) -> None:
    headers = {"Mcp-Name": "  people  ", "Mcp-Method": " tools/call\t"}
    assert web.call(MODERN, "people", headers=headers).status == 200


@pytest.mark.behaviour("headers.repeated")
@pytest.mark.parametrize(
    ("repeated", "status", "code"),
    [
        ("Mcp-Name: add", 400, b"-32020"),
        ("Mcp-Name: people", 400, b"-32020"),
        ("Mcp-Method: tools/list", 400, b"-32020"),
        ("MCP-Protocol-Version: 2025-11-25", 400, b"-32020"),
        ("Host: evil.example.com", 400, b"-32600"),
        ("Host: 127.0.0.1", 400, b"-32600"),
        ("Content-Type: text/plain", 415, b"-32600"),
        ("Accept: text/event-stream", 200, b"Ada"),
        ("X-Other: 1\r\nX-Other: 2", 200, b"Ada"),
    ],
)
@pytest.mark.parametrize("comes_first", [False, True])
def test_a_header_that_is_there_twice_counts_as_neither(
    web: Any, repeated: str, status: int, code: bytes, comes_first: bool
) -> None:
    body = json.dumps(
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": "people", "_meta": _meta()},
        }
    )
    usual = (
        "Host: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: application/json\r\n"
        f"MCP-Protocol-Version: {MODERN}\r\nMcp-Method: tools/call\r\nMcp-Name: people"
    )
    headers = [repeated, usual] if comes_first else [usual, repeated]
    request = "\r\n".join(
        [
            "POST /mcp HTTP/1.1",
            *headers,
            f"Connection: close\r\nContent-Length: {len(body)}\r\n\r\n{body}",
        ]
    )
    with web.open() as connection:
        connection.sendall(request.encode())
        answer = _read_all(connection)
    assert answer.startswith(b"HTTP/1.1 %d" % status)
    assert code in answer


@pytest.mark.behaviour("transport.http.origin-validated")
def test_an_allowed_origin_does_not_cover_another_beside_it(web: Any) -> None:
    with web.open() as connection:
        connection.sendall(
            b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            b"Origin: http://evil.example.com\r\nOrigin: http://localhost\r\n"
            b"Connection: close\r\nContent-Length: 2\r\n\r\n{}"
        )
        assert _read_all(connection).startswith(b"HTTP/1.1 403")


@pytest.mark.behaviour("headers.parameters")
@pytest.mark.parametrize(
    ("arguments", "headers", "served"),
    [
        ({"region": "us"}, {"Mcp-Param-Region": "us"}, True),
        ({"region": "us"}, {"mcp-param-REGION": "us"}, True),
        ({"region": "Ünï"}, {"Mcp-Param-Region": "=?base64?w5xuw68=?="}, True),
        ({"limit": 42}, {"Mcp-Param-Limit": "42"}, True),
        ({"limit": 42}, {"Mcp-Param-Limit": "42.0"}, True),
        ({}, {}, True),
        ({}, {"Mcp-Param-Other": "x"}, True),
        ({"region": "us"}, {}, False),
        ({"region": "us"}, {"Mcp-Param-Region": "eu"}, False),
        ({"region": "us"}, {"Mcp-Param-Region": "=?base64?!!!?="}, False),
        ({"limit": 42}, {"Mcp-Param-Limit": "43"}, False),
        ({}, {"Mcp-Param-Region": "us"}, False),
    ],
)
def test_headers_of_arguments_have_to_repeat_them(
    web: Any, arguments: Any, headers: Any, served: bool
) -> None:
    answer = web.call(MODERN, "routed", arguments, headers=headers)
    if served:
        assert answer.status == 200
        assert answer.json["result"]["structuredContent"] == arguments
    else:
        assert (answer.status, answer.json["error"]["code"]) == (400, -32020)


@pytest.mark.behaviour("headers.parameters")
@pytest.mark.parametrize(
    ("arguments", "headers", "expected"),
    [
        ({"limit": "42"}, {"Mcp-Param-Limit": "42"}, "/limit: expected an integer"),
        ({"limit": "42"}, {}, "/limit: expected an integer"),
        ({"limit": 4.5}, {"Mcp-Param-Limit": "4.5"}, "/limit: expected an integer"),
        ({"region": 5}, {"Mcp-Param-Region": "5"}, "/region: expected a string"),
    ],
)
def test_an_argument_of_a_wrong_type_is_refused_for_its_type_where_its_header_agrees(
    web: Any, arguments: Any, headers: Any, expected: str
) -> None:
    answer = web.call(MODERN, "routed", arguments, headers=headers)
    assert answer.status == 200
    assert answer.json["result"]["isError"] is True
    assert expected in answer.json["result"]["content"][0]["text"]


@pytest.mark.behaviour("headers.modern-only")
@pytest.mark.parametrize("revision", ["2025-03-26", "2025-06-18", "2025-11-25"])
def test_older_revisions_have_no_headers_to_contradict(web: Any, revision: str) -> None:
    headers = {"Mcp-Method": "x", "Mcp-Name": "y", "Mcp-Param-Region": "z"}
    assert web.call(revision, "routed", {"region": "us"}, headers=headers).status == 200


@pytest.mark.behaviour("transport.http.method-not-found")
@pytest.mark.parametrize(
    "method", ["initialize", "ping", "logging/setLevel", "resources/subscribe", "unknown/method"]
)
def test_a_method_the_modern_revision_does_not_have_is_404(web: Any, method: str) -> None:
    answer = web.request(MODERN, method, {}, id="m")
    assert (answer.status, answer.json["error"]["code"], answer.json["id"]) == (404, -32601, "m")


@pytest.mark.behaviour("base.method-not-found")
@pytest.mark.parametrize("revision", ["2025-03-26", "2025-06-18", "2025-11-25"])
@pytest.mark.parametrize("method", ["resources/list", "server/discover", "subscriptions/listen"])
def test_a_method_the_handshake_revisions_do_not_have_is_an_error_in_a_200(
    web: Any, revision: str, method: str
) -> None:
    answer = web.request(revision, method, {})
    assert (answer.status, answer.json["error"]["code"]) == (200, -32601)


@pytest.mark.behaviour("versioning.capability-missing")
def test_a_call_that_needs_a_capability_is_a_bad_request_without_it(web: Any) -> None:
    answer = web.call(MODERN, "needy")
    assert answer.status == 400
    assert answer.json["error"]["code"] == -32021
    assert answer.json["error"]["data"] == {"requiredCapabilities": {"sampling": {}}}


@pytest.mark.behaviour("tools.call.unknown-tool")
@pytest.mark.parametrize(("revision", "status"), [(MODERN, 400), ("2025-11-25", 200)])
def test_an_unknown_tool_is_a_protocol_error(web: Any, revision: str, status: int) -> None:
    answer = web.call(revision, "no_such_tool")
    assert (answer.status, answer.json["error"]["code"]) == (status, -32602)


@pytest.mark.behaviour("base.malformed")
@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", -32700),
        (b"{", -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping"', -32700),
        (b"\xff\xfe", -32700),
        (b"[" * 100_0, -32700),
        (b"[]", -32600),
        (b"7", -32600),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600),
        (b'{"method":"ping","id":1}', -32600),
    ],
)
def test_a_body_that_is_no_message_is_a_bad_request(web: Any, body: bytes, code: int) -> None:
    answer = web.post(body)
    assert (answer.status, answer.json["error"]["code"]) == (400, code)


@pytest.mark.behaviour("limits.depth")
@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("depth", [300, 40_000])
def test_a_body_that_nests_too_deeply_is_a_bad_request(web: Any, revision: str, depth: int) -> None:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "routed"}}
    nested = b"[" * depth + b"]" * depth
    body = json.dumps(call).encode().replace(b'"routed"', b'"routed","arguments":{"a":%b}' % nested)
    answer = web.post(body, {"MCP-Protocol-Version": revision})
    assert (answer.status, answer.json["error"]["code"]) == (400, -32700)
    assert "levels deep" in answer.json["error"]["message"]


@pytest.mark.behaviour("transport.http.notification-202")
@pytest.mark.parametrize("revision", ["2025-03-26", "2025-06-18", "2025-11-25", MODERN])
@pytest.mark.parametrize(
    "body",
    [
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}},
        {"jsonrpc": "2.0", "method": "notifications/what"},
        {"jsonrpc": "2.0", "id": 7, "result": {}},
    ],
)
def test_what_has_no_answer_is_accepted_with_an_empty_202(
    web: Any, revision: str, body: Any
) -> None:
    answer = web.post(body, {"MCP-Protocol-Version": revision})
    assert (answer.status, answer.body) == (202, b"")


@pytest.mark.behaviour("transport.http.get-delete-405")
@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "PATCH", "OPTIONS", "HEAD"])
def test_only_post_is_served_outside_of_sessions(web: Any, method: str) -> None:
    headers = {"Accept": "text/event-stream", "Mcp-Session-Id": "1", "Last-Event-ID": "2"}
    answer = web.raw(method, "/mcp", headers=headers)
    allowed = "POST" if method in ("GET", "DELETE") else "GET, POST, DELETE"
    assert (answer.status, answer.headers["allow"]) == (405, allowed)


@pytest.mark.behaviour("transport.http.endpoint")
def test_other_paths_are_not_found(web: Any) -> None:
    assert web.raw("POST", "/", b"{}", {"Content-Type": "application/json"}).status == 404
    assert web.raw("GET", "/.well-known/oauth-protected-resource").status == 404


@pytest.mark.behaviour("transport.http.content-type")
@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("application/json", 200),
        ("application/json; charset=utf-8", 200),
        ("Application/JSON", 200),
        ("text/plain", 415),
        ("application/x-www-form-urlencoded", 415),
        ("", 415),
    ],
)
def test_a_body_has_to_be_declared_as_json(web: Any, kind: str, status: int) -> None:
    answer = web.request("2025-11-25", "ping", headers={"Content-Type": kind})
    assert answer.status == status


@pytest.mark.behaviour("transport.http.accept")
@pytest.mark.parametrize(
    ("accept", "status", "kind"),
    [
        (None, 200, "application/json"),
        ("application/json, text/event-stream", 200, "application/json"),
        ("text/event-stream, application/json;q=0.5", 200, "application/json"),
        ("application/json", 200, "application/json"),
        ("*/*", 200, "application/json"),
        ("text/event-stream", 200, "text/event-stream"),
        ("application/json;q=0, text/event-stream", 200, "text/event-stream"),
        ("text/html", 406, "application/json"),
    ],
)
def test_the_answer_is_of_a_kind_the_client_takes(
    web: Any, accept: Any, status: int, kind: str
) -> None:
    answer = web.request("2025-11-25", "ping", headers={"Accept": accept})
    assert answer.status == status
    assert answer.headers["content-type"] == kind
    if kind == "text/event-stream":
        assert answer.events == [{"jsonrpc": "2.0", "id": 1, "result": {}}]


@pytest.mark.behaviour("progress.notifications")
@pytest.mark.behaviour("transport.http.stream")
@pytest.mark.parametrize("revision", ["2025-03-26", "2025-06-18", "2025-11-25", MODERN])
def test_progress_makes_the_answer_a_stream_that_ends_with_the_result(
    web: Any, revision: str
) -> None:
    params = {"name": "steps", "arguments": {"count": 3}, "_meta": {"progressToken": 5}}
    answer = web.request(revision, "tools/call", params)
    assert answer.status == 200
    assert answer.headers["content-type"] == "text/event-stream"
    assert answer.headers["x-accel-buffering"] == "no"
    *progress, last = answer.events
    assert [note["params"]["progress"] for note in progress] == [1, 2, 3]
    assert {note["params"]["progressToken"] for note in progress} == {5}
    assert last["id"] == 1
    done = '"done"' if revision == MODERN else "done"
    assert last["result"]["content"] == [{"type": "text", "text": done}]


@pytest.mark.behaviour("progress.only-with-token")
def test_without_a_token_the_answer_is_plain_json(web: Any) -> None:
    answer = web.call(MODERN, "steps", {"count": 3})
    assert answer.headers["content-type"] == "application/json"


@pytest.mark.behaviour("transport.http.accept")
def test_a_client_that_takes_no_stream_gets_the_result_alone(web: Any) -> None:
    params = {"name": "steps", "arguments": {"count": 3}, "_meta": {"progressToken": 5}}
    answer = web.request(MODERN, "tools/call", params, headers={"Accept": "application/json"})
    assert answer.headers["content-type"] == "application/json"
    assert "result" in answer.json


@pytest.mark.behaviour("progress.token-type")
@pytest.mark.parametrize("token", [None, {}, [], 1.5, True])
def test_a_progress_token_that_is_neither_string_nor_integer_is_invalid(
    web: Any, token: Any
) -> None:
    params = {"name": "steps", "_meta": {"progressToken": token}}
    assert web.request(MODERN, "tools/call", params).json["error"]["code"] == -32602


@pytest.mark.behaviour("transport.http.keep-alive")
def test_a_long_wait_is_not_a_silent_one(web: Any) -> None:
    answer = web.call(MODERN, "wait", {"seconds": 0.7})
    assert answer.headers["content-type"] == "text/event-stream"
    assert answer.body.count(b": keep-alive\n\n") >= 2
    assert len(answer.events) == 1


@pytest.mark.behaviour("transport.http.accept")
def test_a_long_wait_is_silent_for_a_client_that_takes_no_stream(web: Any) -> None:
    answer = web.call(MODERN, "wait", {"seconds": 0.5}, headers={"Accept": "application/json"})
    assert answer.headers["content-type"] == "application/json"


@pytest.mark.behaviour("transport.http.origin-validated")
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example.com"}, 403),
        ({"Host": "localhost:1"}, 200),
        ({"Origin": "http://evil.example.com"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://localhost:3000"}, 200),
        ({"Host": "evil.example.com", "Origin": "http://evil.example.com"}, 403),
    ],
)
def test_pages_of_other_sites_are_kept_out(web: Any, headers: Any, status: int) -> None:
    answer = web.request("2025-11-25", "ping", headers=headers)
    assert answer.status == status
    if status == 403:
        assert "id" not in answer.json


@pytest.mark.behaviour("transport.http.origin-validated")
def test_a_server_bound_everywhere_keeps_them_out_of_this_machine_too() -> None:
    script = """
import sys
from anyshape import Server
Server("anywhere").run("http", host="0.0.0.0", port=int(sys.argv[1]), log_level="critical")
"""
    with run_web("-c", script) as everywhere:
        rebound = {"Host": "evil.example.com", "Origin": "http://evil.example.com"}
        assert everywhere.request("2025-11-25", "ping", headers=rebound).status == 403
        assert everywhere.request("2025-11-25", "ping").status == 200


@pytest.mark.behaviour("limits.body")
def test_a_body_that_is_too_long_is_refused_before_it_is_read(web: Any) -> None:
    with web.open() as connection:
        connection.sendall(
            b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            b"Content-Length: 99999999\r\n\r\n"
        )
        assert connection.recv(12) == b"HTTP/1.1 413"


@pytest.mark.behaviour("limits.body")
def test_a_body_of_unknown_length_is_refused_when_it_gets_too_long(web: Any) -> None:
    chunk = b"1000\r\n" + b"x" * 0x1000 + b"\r\n"
    with web.open() as connection:
        connection.sendall(
            b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n"
        )
        for _ in range(40):
            connection.sendall(chunk)
        assert connection.recv(12) == b"HTTP/1.1 413"


@pytest.mark.behaviour("limits.body")
@pytest.mark.parametrize("framing", [b"Content-Length: 20000000", b"Transfer-Encoding: chunked"])
def test_who_sends_a_body_that_is_too_long_to_its_end_can_read_why_and_go_on(
    web: Any, framing: bytes
) -> None:
    head = b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    ping = json.dumps(message("ping", {}, 1)).encode()
    body = b"x" * 20_000_000
    if b"chunked" in framing:
        body = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
    with web.open() as connection:
        connection.sendall(head + framing + b"\r\n\r\n" + body)
        refusal = http.client.HTTPResponse(connection)
        refusal.begin()
        assert (refusal.status, json.loads(refusal.read())["error"]["code"]) == (413, -32600)
        connection.sendall(head + b"Content-Length: %d\r\n\r\n%b" % (len(ping), ping))
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        assert json.loads(answer.read())["result"] == {}


@pytest.mark.behaviour("transport.http.body")
def test_a_body_in_pieces_is_put_together(web: Any) -> None:
    body = json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "people"}}
    ).encode()
    with web.open() as connection:
        connection.sendall(
            b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        for byte in range(0, len(body), 10):
            piece = body[byte : byte + 10]
            connection.sendall(b"%x\r\n%b\r\n" % (len(piece), piece))
        connection.sendall(b"0\r\n\r\n")
        answer = _read_all(connection)
    assert answer.startswith(b"HTTP/1.1 200")
    assert b"Ada" in answer


@pytest.mark.behaviour("transport.http.body")
def test_a_client_that_hangs_up_in_the_middle_of_its_body_hurts_nobody(web: Any) -> None:
    with web.open() as connection:
        connection.sendall(
            b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            b'Content-Length: 500\r\n\r\n{"jsonrpc"'
        )
    assert web.call(MODERN, "people").status == 200


@pytest.mark.behaviour("cancellation.disconnect")
def test_hanging_up_cancels_a_modern_call(web: Any) -> None:
    _hang_up(web, MODERN, "gone")
    until(lambda: "gone" in web.call(MODERN, "cancellations").json["result"]["structuredContent"])


@pytest.mark.behaviour("cancellation.disconnect-handshake")
def test_hanging_up_does_not_cancel_a_call_of_an_older_revision(web: Any) -> None:
    _hang_up(web, "2025-11-25", "kept", seconds=0.6)
    time.sleep(0.8)
    assert "kept" not in web.call(MODERN, "cancellations").json["result"]["structuredContent"]


@pytest.mark.behaviour("subscriptions.acknowledged-first")
def test_a_subscription_is_a_stream_of_its_own(web: Any) -> None:
    body = json.dumps(
        {
            "jsonrpc": "2.0",
            "id": 31,
            "method": "subscriptions/listen",
            "params": {"_meta": _meta(), "notifications": {"toolsListChanged": True}},
        }
    )
    with web.open() as connection:
        connection.sendall(_post(MODERN, "subscriptions/listen", body))
        stream = _Events(connection)
        assert stream.next() == {
            "jsonrpc": "2.0",
            "method": "notifications/subscriptions/acknowledged",
            "params": {
                "_meta": {"io.modelcontextprotocol/subscriptionId": 31},
                "notifications": {"toolsListChanged": True},
            },
        }
        for _ in range(2):
            web.call(MODERN, "change", {"name": "extra_by_http"})
            assert stream.next() == {
                "jsonrpc": "2.0",
                "method": "notifications/tools/list_changed",
                "params": {"_meta": {"io.modelcontextprotocol/subscriptionId": 31}},
            }


@pytest.mark.behaviour("transport.http.accept")
def test_a_subscription_needs_a_client_that_takes_a_stream(web: Any) -> None:
    answer = web.request(
        MODERN,
        "subscriptions/listen",
        {"notifications": {"toolsListChanged": True}},
        headers={"Accept": "application/json"},
    )
    assert answer.status == 406


@pytest.mark.behaviour("subscriptions.filter")
@pytest.mark.parametrize("notifications", [None, 7, [], {"toolsListChanged": "yes"}])
def test_a_subscription_without_a_filter_is_invalid(web: Any, notifications: Any) -> None:
    params = {} if notifications is None else {"notifications": notifications}
    answer = web.request(MODERN, "subscriptions/listen", params)
    assert (answer.status, answer.json["error"]["code"]) == (400, -32602)


@pytest.mark.behaviour("base.batch")
@pytest.mark.parametrize("headers", [{}, {"MCP-Protocol-Version": "2025-03-26"}])
def test_a_batch_is_answered_as_one_where_the_revision_has_batches(web: Any, headers: Any) -> None:
    answer = web.post(
        [
            {"jsonrpc": "2.0", "id": 1, "method": "ping"},
            {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "people"}},
            {"jsonrpc": "2.0", "method": "notifications/what"},
            {"jsonrpc": "2.0", "id": 3, "method": "nope"},
            {"jsonrpc": "2.0", "id": 4, "method": "tools/list", "params": {"_meta": _meta()}},
        ],
        headers,
    )
    assert answer.status == 200
    by_id = {each["id"]: each for each in answer.json}
    assert by_id[1]["result"] == {}
    assert "result" in by_id[2]
    assert by_id[3]["error"]["code"] == -32601
    assert "error" in by_id[4]
    assert len(answer.json) == 4


@pytest.mark.behaviour("base.batch")
def test_progress_of_a_batch_goes_onto_the_stream_it_shares(web: Any) -> None:
    params = {"name": "steps", "arguments": {"count": 2}, "_meta": {"progressToken": "t"}}
    answer = web.post([{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}])
    *progress, last = answer.events
    assert [note["params"]["progress"] for note in progress] == [1, 2]
    assert [each["id"] for each in last] == [1]


@pytest.mark.behaviour("base.batch")
def test_a_batch_without_requests_is_accepted(web: Any) -> None:
    answer = web.post([{"jsonrpc": "2.0", "method": "notifications/what"}])
    assert (answer.status, answer.body) == (202, b"")


@pytest.mark.behaviour("base.batch-refused")
@pytest.mark.parametrize("revision", ["2024-11-05", "2025-06-18", "2025-11-25", MODERN])
def test_a_batch_is_refused_where_the_revision_has_none(web: Any, revision: str) -> None:
    batch = [{"jsonrpc": "2.0", "id": 1, "method": "ping"}]
    answer = web.post(batch, {"MCP-Protocol-Version": revision})
    assert (answer.status, answer.json["error"]["code"]) == (400, -32600)


@pytest.mark.behaviour("limits.concurrent-calls")
def test_calls_beyond_the_limit_are_told_that_the_server_is_busy(web: Any) -> None:
    with contextlib.ExitStack() as stack:
        for number in range(8):
            _begin_to_wait(stack.enter_context(web.open()), MODERN, f"busy {number}")
        for _ in range(4):
            answer = web.call(MODERN, "people")
            assert (answer.status, answer.headers["retry-after"]) == (503, "1")
    until(lambda: web.call(MODERN, "people").status == 200)


@pytest.mark.behaviour("transport.http.drain")
def test_a_signal_ends_the_server_after_what_is_in_flight(start_web: Any) -> None:
    running = start_web()
    web = running.web
    params = {"_meta": _meta(), "notifications": {"toolsListChanged": True}}
    listen = json.dumps(
        {"jsonrpc": "2.0", "id": "s", "method": "subscriptions/listen", "params": params}
    )
    call = {"name": "wait", "arguments": {"seconds": 0.6, "tag": "last"}}
    wait = json.dumps({"jsonrpc": "2.0", "id": "w", "method": "tools/call", "params": call})
    with web.open() as listening, web.open() as waiting:
        listening.sendall(_post(MODERN, "subscriptions/listen", listen))
        stream = _Events(listening)
        assert stream.next()["method"] == "notifications/subscriptions/acknowledged"
        waiting.sendall(_post("2025-11-25", "tools/call", wait))
        assert waiting.recv(10)  # The keep-alive has begun, so the call is in flight.
        running.process.terminate()
        closed = stream.next()
        assert closed["id"] == "s"
        assert closed["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == "s"
        assert b"waited last" in _read_all(waiting)
    # uvicorn passes the signal on once it is done.
    assert running.process.wait(PATIENCE) in (0, -15)


@pytest.mark.behaviour("transport.http.drain")
@pytest.mark.parametrize("revision", ["2025-11-25", MODERN])
def test_calls_that_outlast_the_grace_time_are_told_that_the_server_stops(
    start_web: Any, revision: str
) -> None:
    running = start_web()
    params: dict[str, Any] = {"name": "wait", "arguments": {"seconds": 60}}
    if revision == MODERN:
        params["_meta"] = _meta()
    body = json.dumps({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params})
    with running.web.open() as waiting:
        waiting.sendall(_post(revision, "tools/call", body))
        assert waiting.recv(10)  # The keep-alive has begun, so the call is in flight.
        running.process.terminate()
        stream = _Events(waiting)
        stopped = stream.next()
    assert (stopped["id"], stopped["error"]["code"]) == (7, 503)
    assert running.process.wait(PATIENCE) in (0, -15)
    running.__exit__()
    assert b"Traceback" not in b"".join(running.errors)


@pytest.mark.behaviour("transport.http.interleaved")
def test_requests_on_one_connection_are_answered_in_order(web: Any) -> None:
    def body(id: int) -> str:
        params = {"name": "add", "arguments": {"a": id, "b": 0}}
        return json.dumps({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})

    with web.open() as connection:
        connection.sendall(
            b"".join(_post("2025-11-25", "tools/call", body(id), "keep-alive") for id in range(5))
        )
        connection.settimeout(PATIENCE)
        received = b""
        while received.count(b'"id":') < 5:
            received += connection.recv(65536)
    assert [received.index(b'"id":%d' % id) for id in range(5)] == sorted(
        received.index(b'"id":%d' % id) for id in range(5)
    )


def _post(revision: str, method: str, body: str, connection: str = "close") -> bytes:
    return (
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        "Accept: application/json, text/event-stream\r\n"
        f"MCP-Protocol-Version: {revision}\r\nMcp-Method: {method}\r\nMcp-Name: wait\r\n"
        f"Connection: {connection}\r\nContent-Length: {len(body.encode())}\r\n\r\n{body}"
    ).encode()


def _hang_up(web: Any, revision: str, tag: str, seconds: float = PATIENCE) -> None:
    with web.open() as connection:
        _begin_to_wait(connection, revision, tag, seconds)


def _begin_to_wait(
    connection: socket.socket, revision: str, tag: str, seconds: float = PATIENCE
) -> None:
    """Call the tool that waits; return once it does."""
    params: dict[str, Any] = {"name": "wait", "arguments": {"seconds": seconds, "tag": tag}}
    if revision == MODERN:
        params["_meta"] = _meta()
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    connection.sendall(_post(revision, "tools/call", body))
    # The first keep-alive comment shows that the call has begun to wait.
    connection.settimeout(PATIENCE)
    assert connection.recv(65536).startswith(b"HTTP/1.1 200 ")


def _read_all(connection: socket.socket) -> bytes:
    connection.settimeout(PATIENCE)
    received = b""
    while True:
        try:
            piece = connection.recv(65536)
        except ConnectionResetError:
            return received
        if not piece:
            return received
        received += piece


class _Events:
    """The messages of a stream, as they come."""

    def __init__(self, connection: socket.socket) -> None:
        connection.settimeout(PATIENCE)
        self._file = connection.makefile("rb")

    def next(self) -> Any:
        for line in self._file:
            if line.startswith(b"data:"):
                return json.loads(line[5:])
        raise AssertionError("the stream has ended")
