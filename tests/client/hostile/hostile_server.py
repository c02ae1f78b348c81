"""A server that does everything wrong, over stdio or HTTP, beside one tool that works.

    hostile_server.py stdio|http [variant]

Each tool of `CALLS` misbehaves when it is called; each entry of `ENTRIES` is unusable as it is
listed; a variant misbehaves before any tool comes into play.
"""

from __future__ import annotations

import asyncio
import functools
import gzip
import json
import os
import sys
from collections.abc import Awaitable, Callable
from typing import Any

INTEGER: dict[str, Any] = {"type": "integer"}
ANYTHING: dict[str, Any] = {"type": "object"}


def tool(name: str, input: object = ANYTHING, **more: object) -> str:
    return json.dumps({"name": name, "inputSchema": input, **more})


def doubling(levels: int) -> dict[str, Any]:
    definitions: dict[str, Any] = {"d0": {"type": "string"}}
    for level in range(1, levels + 1):
        reference = {"$ref": f"#/$defs/d{level - 1}"}
        definitions[f"d{level}"] = {"anyOf": [reference, reference]}
    return {"$ref": f"#/$defs/d{levels}", "$defs": definitions}


def nested(levels: int) -> str:
    return '{"type":"object","properties":{"a":' * levels + "{}" + "}}" * levels


def headed(**properties: object) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


# Unusable as listed: name → the whole entry.
ENTRIES: dict[str, str] = {
    "deep_300": '{"name":"deep_300","inputSchema":' + nested(150) + "}",
    "deep_3000": '{"name":"deep_3000","inputSchema":' + nested(1500) + "}",
    "external_http": tool("external_http", headed(a={"$ref": "http://127.0.0.1:9/a.json"})),
    "external_https": tool(
        "external_https", outputSchema={"$ref": "https://example.com/schema.json"}
    ),
    "external_file": tool("external_file", headed(a={"$ref": "file:///etc/passwd"})),
    "external_relative": tool("external_relative", headed(a={"$ref": "other.json#/a"})),
    "missing_pointer": tool("missing_pointer", headed(a={"$ref": "#/$defs/nowhere"})),
    "unknown_dialect": tool("unknown_dialect", {"$schema": "urn:other", "type": "object"}),
    "invalid_type": tool("invalid_type", headed(a={"type": "strnig"})),
    "invalid_pattern": tool("invalid_pattern", headed(a={"pattern": "(["})),
    "infinite_loop": tool("infinite_loop", outputSchema={"$ref": "#"}),
    "many_subschemas": tool(
        "many_subschemas", headed(**dict.fromkeys(map(str, range(20_000)), True))
    ),
    "huge_document": tool("huge_document", {"type": "object", "description": "x" * 1_500_000}),
    "huge_pattern": tool("huge_pattern", headed(a={"pattern": "a" * 100_000})),
    "pattern_bomb": tool("pattern_bomb", headed(a={"pattern": "((a{1,999}){1,999}){1,999}"})),
    "number_beyond_range": '{"name":"number_beyond_range",'
    '"inputSchema":{"type":"object","a":1e999}}',
    "header_empty": tool("header_empty", headed(a={"type": "string", "x-mcp-header": ""})),
    "header_break": tool("header_break", headed(a={"type": "string", "x-mcp-header": "A\r\nB: c"})),
    "header_number": tool("header_number", headed(a={"type": "number", "x-mcp-header": "A"})),
    "header_twice": tool(
        "header_twice",
        headed(
            a={"type": "string", "x-mcp-header": "A"}, b={"type": "string", "x-mcp-header": "a"}
        ),
    ),
    "header_in_items": tool(
        "header_in_items", headed(a={"items": {"type": "string", "x-mcp-header": "A"}})
    ),
    "no_input": '{"name":"no_input"}',
    "null_input": '{"name":"null_input","inputSchema":null}',
    "true_input": '{"name":"true_input","inputSchema":true}',
    "array_input": tool("array_input", {"type": "array"}),
    "untyped_input": tool("untyped_input", {}),
    "true_output": tool("true_output", outputSchema=True),
    "false_output": tool("false_output", outputSchema=False),
    "list_output": tool("list_output", outputSchema=[]),
    "twice": tool("twice") + "," + tool("twice", description="another"),
}

# Unusable, and without a name to be known by.
NAMELESS = [
    "null",
    "5",
    '"tool"',
    "[]",
    "{}",
    '{"name":5,"inputSchema":{"type":"object"}}',
    '{"name":"","inputSchema":{"type":"object"}}',
    '{"name":null,"inputSchema":{"type":"object"}}',
    tool("n" * 5000),
    '{"name":"\\ud800","inputSchema":{"type":"object"}}',
]

# Listed properly, and dangerous to validate with.
COSTLY: dict[str, str] = {
    "exponential": tool("exponential", outputSchema=doubling(40)),
    "exponential_input": tool(
        "exponential_input",
        {**headed(a={"$ref": "#/$defs/d40"}), "$defs": doubling(40)["$defs"]},
    ),
    "catastrophic": tool("catastrophic", outputSchema={"type": "string", "pattern": "^(a+)+$"}),
    "backtracking": tool(
        "backtracking", outputSchema={"type": "string", "pattern": "^(?=(a|aa)+$)(a|aa)+b$"}
    ),
    "unique": tool("unique", outputSchema={"type": "array", "uniqueItems": True}),
    "same_id_a": tool("same_id_a", outputSchema={"$id": "urn:same", "type": "integer"}),
    "same_id_b": tool("same_id_b", outputSchema={"$id": "urn:same", "type": "string"}),
}
ANSWERS: dict[str, object] = {
    "good": 42,
    "exponential": 1,
    "exponential_input": 1,
    "catastrophic": "a" * 40 + "!",
    "backtracking": "a" * 60,
    "unique": [[index] for index in range(20_000)],
    "same_id_a": 7,
    "same_id_b": "seven",
}

# Listed properly, and answered badly; `PLAIN` holds those of both transports.
PLAIN: dict[str, str] = {
    "garbage": "}{ this is not JSON",
    "binary": "\x00\x01\x02",
    "string": '"42"',
    "number": "42",
    "empty_object": "{}",
    "empty_batch": "[]",
    "wrong_version": '{"jsonrpc":"1.0","id":$id,"result":{}}',
    "no_version": '{"id":$id,"result":{"content":[]}}',
    "neither": '{"jsonrpc":"2.0","id":$id}',
    "both": '{"jsonrpc":"2.0","id":$id,"result":{"content":[]},"error":{"code":1,"message":"x"}}',
    "null_result": '{"jsonrpc":"2.0","id":$id,"result":null}',
    "array_result": '{"jsonrpc":"2.0","id":$id,"result":[]}',
    "string_result": '{"jsonrpc":"2.0","id":$id,"result":"42"}',
    "not_a_number": '{"jsonrpc":"2.0","id":$id,"result":{"structuredContent":NaN}}',
    "error_string": '{"jsonrpc":"2.0","id":$id,"error":"no"}',
    "error_code": '{"jsonrpc":"2.0","id":$id,"error":{"code":"x","message":5}}',
    "error_null_id": '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}',
    "error_long": '{"jsonrpc":"2.0","id":$id,"error":{"code":-1,"message":"'
    + "\\u001b[31m" * 10_000
    + '"}}',
    "content_string": '{"jsonrpc":"2.0","id":$id,"result":{"content":"hello"}}',
    "is_error_string": '{"jsonrpc":"2.0","id":$id,"result":{"content":[],"isError":"no"}}',
    "result_type": '{"jsonrpc":"2.0","id":$id,"result":{"resultType":"task","content":[]}}',
    "wants_input": '{"jsonrpc":"2.0","id":$id,"result":{"resultType":"input_required",'
    '"inputRequests":{"a":{"method":"sampling/createMessage"}}}}',
    "wants_nothing": '{"jsonrpc":"2.0","id":$id,"result":{"resultType":"input_required"}}',
    "asks_for_ever": '{"jsonrpc":"2.0","id":$id,"result":{"resultType":"input_required",'
    '"requestState":"again"}}',
    "no_structure": '{"jsonrpc":"2.0","id":$id,"result":{"content":[]}}',
    "wrong_structure": '{"jsonrpc":"2.0","id":$id,"result":{"structuredContent":"42"}}',
    "deep": '{"jsonrpc":"2.0","id":$id,"result":{"structuredContent":'
    + "[" * 500
    + "]" * 500
    + "}}",
    "very_deep": '{"jsonrpc":"2.0","id":$id,"result":{"structuredContent":'
    + "[" * 100_000
    + "]" * 100_000
    + "}}",
    "huge": '{"jsonrpc":"2.0","id":$id,"result":{"structuredContent":"' + "x" * 9_000_000 + '"}}',
    "huge_id_last": '{"result":{"structuredContent":"'
    + "x" * 9_000_000
    + '"},"jsonrpc":"2.0","id":$id}',
    "unknown_content": '{"jsonrpc":"2.0","id":$id,"result":{"structuredContent":42,"content":'
    '[{"type":"hologram"},5,null,{"type":"image","data":"!","mimeType":5}]}}',
}
WRONG_IDS = {
    "wrong_id": '{"jsonrpc":"2.0","id":999999,"result":{"structuredContent":42}}',
    "string_id": '{"jsonrpc":"2.0","id":"$id","result":{"structuredContent":42}}',
    "float_id": '{"jsonrpc":"2.0","id":$id.5,"result":{"structuredContent":42}}',
}
SAYS = {
    "flood": '{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"x"}}',
    "false_progress": '{"jsonrpc":"2.0","method":"notifications/progress",'
    '"params":{"progressToken":424242,"progress":"many"}}',
    "requests": '{"jsonrpc":"2.0","id":77,"method":"sampling/createMessage","params":{}}',
    "changes": '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}',
}
GOOD = '{"jsonrpc":"2.0","id":$id,"result":{"resultType":"complete","structuredContent":42}}'
INVALID_UTF8 = b'{"jsonrpc":"2.0","id":%b,"result":{"content":[{"type":"text","text":"\xff\xfe"}]}}'

STDIO_ONLY = (
    "silence",
    "twice_answered",
    "batched",
    "invalid_utf8",
    "endless_line",
    "endless_lines",
    "line_without_end",
    "exit",
    "crash_in_answer",
    "closed_output",
    "banner",
)
HTTP_ONLY = (
    "silence",
    "batched",
    "invalid_utf8",
    "status_500",
    "status_204",
    "status_202",
    "status_401",
    "html",
    "no_type",
    "empty",
    "redirect_away",
    "redirect_circle",
    "not_http",
    "closed",
    "cut_body",
    "lying_length",
    "header_flood",
    "gzip_bomb",
    "not_gzip",
    "slow_drip",
    "stream_without_end",
    "stream_of_comments",
    "stream_without_answer",
    "stream_cut",
    "stream_one_huge_event",
    "stream_garbage",
    "stream_wrong_id",
    "stream_kept_open",
)
CALLS = [*PLAIN, *WRONG_IDS, *SAYS, *dict.fromkeys((*STDIO_ONLY, *HTTP_ONLY))]


def listing(variant: str, cursor: object) -> str:
    entries = [tool("good", outputSchema=INTEGER)]
    more = ""
    if variant == "many_tools":
        entries += [tool(f"tool_{index}") for index in range(20_000)]
    elif variant == "tools_object":
        return '{"tools":{"good":{}}}'
    elif variant == "no_tools":
        return '{"nextCursor":"a"}'
    elif variant == "cursor_loop":
        more = ',"nextCursor":"again"'
    elif variant == "endless_pages":
        page = int(str(cursor)) if cursor is not None else 0
        entries = [tool("good", outputSchema=INTEGER)] if page == 0 else [tool(f"tool_{page}")]
        more = f',"nextCursor":"{page + 1}"'
    elif variant == "heavy_pages":
        page = int(str(cursor)) if cursor is not None else 0
        entries += [tool(f"heavy_{page}", description="x" * 3_000_000)]
        more = f',"nextCursor":"{page + 1}"'
    elif variant == "cursor_number":
        more = ',"nextCursor":5'
    elif variant == "strange_lifetimes":
        more = ',"ttlMs":-1e300,"cacheScope":7'
    elif variant == "entries":
        entries += [*ENTRIES.values(), *NAMELESS]
    else:
        entries += [*COSTLY.values(), *(tool(name, outputSchema=INTEGER) for name in CALLS)]
    return '{"resultType":"complete","tools":[' + ",".join(entries) + "]" + more + "}"


def answer(request: dict[str, Any], variant: str) -> str | None:
    """Return what both transports answer alike, or `None` for what each does in its own way."""
    method = request["method"]
    identifier = json.dumps(request["id"])
    if method == "server/discover":
        body = '{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}}}'
        if variant.startswith("discover:"):
            body = variant.removeprefix("discover:")
        return f'{{"jsonrpc":"2.0","id":{identifier},"result":{body}}}'
    if method == "initialize" and variant.startswith("initialize:"):
        body = variant.removeprefix("initialize:")
        return f'{{"jsonrpc":"2.0","id":{identifier},"result":{body}}}'
    if method == "tools/list":
        page = listing(variant, request["params"].get("cursor"))
        return f'{{"jsonrpc":"2.0","id":{identifier},"result":{page}}}'
    if method != "tools/call":
        error = '{"code":-32601,"message":"Method not found"}'
        return f'{{"jsonrpc":"2.0","id":{identifier},"error":{error}}}'
    name = request["params"]["name"]
    if name in ANSWERS:
        value = json.dumps(ANSWERS[name])
        result = '{"resultType":"complete","structuredContent":' + value + "}"
        return f'{{"jsonrpc":"2.0","id":{identifier},"result":{result}}}'
    text = PLAIN.get(name)
    return None if text is None else text.replace("$id", identifier)


def write_line(text: str | bytes) -> None:
    sys.stdout.buffer.write((text.encode() if isinstance(text, str) else text) + b"\n")
    sys.stdout.buffer.flush()


def serve_stdio(variant: str) -> None:
    if variant == "exits_at_once":
        sys.exit(3)
    for line in sys.stdin:
        request: dict[str, Any] = json.loads(line)
        if "id" not in request or variant == "mute":
            continue
        if variant.startswith("discover:") and request["method"] == "server/discover":
            if variant == "discover:crash":
                os._exit(9)
            if variant == "discover:garbage":
                write_line("what?")
                continue
        text = answer(request, variant)
        if text is None:
            misbehave(request["params"]["name"], json.dumps(request["id"]))
        else:
            write_line(text)


def misbehave(name: str, id: str) -> None:
    good = GOOD.replace("$id", id)
    if name in WRONG_IDS:
        write_line(WRONG_IDS[name].replace("$id", id))
    elif name in SAYS:
        for _ in range(2_000 if name == "flood" else 20):
            write_line(SAYS[name])
        write_line(good)
    elif name == "twice_answered":
        write_line(good)
        write_line(good.replace("42", "43"))
    elif name == "batched":
        write_line(f"[{SAYS['changes']},{good}]")
    elif name == "invalid_utf8":
        write_line(INVALID_UTF8 % id.encode())
    elif name == "endless_line":
        sys.stdout.write('{"jsonrpc":"2.0","id":' + id + ',"result":{"structuredContent":"')
        for _ in range(100):
            sys.stdout.write("x" * 100_000)
        sys.stdout.write('"}}\n')
        sys.stdout.flush()
    elif name == "endless_lines":
        while True:
            write_line(SAYS["flood"].replace("x", "x" * 10_000))
    elif name == "line_without_end":
        while True:
            sys.stdout.write("x" * 100_000)
    elif name == "exit":
        print("giving up", file=sys.stderr, flush=True)
        os._exit(7)
    elif name == "crash_in_answer":
        sys.stdout.write(good[:30])
        sys.stdout.flush()
        os._exit(1)
    elif name == "closed_output":
        os.close(1)
        sys.stdin.read()
        os._exit(0)
    elif name == "banner":
        write_line("Server ready. Listening on stdio.")
        write_line(good)


Writer = asyncio.StreamWriter


def head(status: str, *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", *headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def reply(body: bytes, status: str = "200 OK", kind: str = "application/json") -> bytes:
    return head(status, f"Content-Type: {kind}", f"Content-Length: {len(body)}") + body


STREAM = head("200 OK", "Content-Type: text/event-stream", "Transfer-Encoding: chunked")


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


async def handle(reader: asyncio.StreamReader, writer: Writer, variant: str) -> None:
    try:
        while True:
            top = await reader.readuntil(b"\r\n\r\n")
            verb = top.split(b" ", 1)[0]
            length = 0
            for line in top.split(b"\r\n"):
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            body = await reader.readexactly(length)
            if verb != b"POST":
                writer.write(reply(b"", "405 Method Not Allowed"))
                continue
            if variant == "mute":
                await asyncio.sleep(3600)
            request: dict[str, Any] = json.loads(body)
            text = answer(request, variant)
            if text is not None:
                writer.write(reply(text.encode()))
            else:
                name, id = request["params"]["name"], json.dumps(request["id"])
                if not await misbehave_http(name, id, writer):
                    break
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def misbehave_http(name: str, id: str, writer: Writer) -> bool:
    """Answer badly; return whether the connection may go on."""
    good = GOOD.replace("$id", id)
    event = f"event: message\ndata: {good}\n\n".encode()
    if name in WRONG_IDS:
        writer.write(reply(WRONG_IDS[name].replace("$id", id).encode()))
        return True
    if name in SAYS:
        said = f"data: {SAYS[name]}\n\n".encode() * (2_000 if name == "flood" else 20)
        writer.write(STREAM + chunk(said + event) + b"0\r\n\r\n")
        return True
    if name in SIMPLE:
        answered = SIMPLE[name](good.encode(), id.encode())
        writer.write(answered.replace(b"\r\n", b"\r\nConnection: close\r\n", 1))
        return False
    await STREAMED[name](writer, event)
    return False


Simple = Callable[[bytes, bytes], bytes]


@functools.cache
def bomb() -> bytes:
    return gzip.compress(b" " * 100_000_000, 1)


SIMPLE: dict[str, Simple] = {
    "batched": lambda good, number: reply(b"[" + good + b"]"),
    "invalid_utf8": lambda good, number: reply(INVALID_UTF8 % number),
    "status_500": lambda good, number: reply(b"Traceback ...", "500 Oops", "text/plain"),
    "status_204": lambda good, number: head("204 No Content"),
    "status_202": lambda good, number: reply(b"", "202 Accepted"),
    "status_401": lambda good, number: reply(b"", "401 Unauthorized"),
    "html": lambda good, number: reply(b"<html>Sign in</html>", kind="text/html"),
    "no_type": lambda good, number: head("200 OK", f"Content-Length: {len(good)}") + good,
    "empty": lambda good, number: reply(b""),
    "redirect_away": lambda good, number: head(
        "307 Temporary Redirect", "Location: http://127.0.0.1:9/", "Content-Length: 0"
    ),
    "redirect_circle": lambda good, number: head(
        "308 Permanent Redirect", "Location: ?again", "Content-Length: 0"
    ),
    "not_http": lambda good, number: b"SSH-2.0-OpenSSH_9.9\r\n\r\n",
    "closed": lambda good, number: b"",
    "cut_body": lambda good, number: (
        head("200 OK", "Content-Type: application/json", f"Content-Length: {len(good) + 100}")
        + good
    ),
    "lying_length": lambda good, number: head(
        "200 OK", "Content-Type: application/json", "Content-Length: 9999999999"
    ),
    "header_flood": lambda good, number: head(
        "200 OK", *(f"X-{i}: {'x' * 8000}" for i in range(200))
    ),
    "gzip_bomb": lambda good, number: (
        head(
            "200 OK",
            "Content-Type: application/json",
            "Content-Encoding: gzip",
            f"Content-Length: {len(bomb())}",
        )
        + bomb()
    ),
    "not_gzip": lambda good, number: (
        head(
            "200 OK",
            "Content-Type: application/json",
            "Content-Encoding: gzip",
            f"Content-Length: {len(good)}",
        )
        + good
    ),
    "stream_without_answer": lambda good, number: (
        STREAM + chunk(b"data: " + SAYS["flood"].encode() + b"\n\n") + b"0\r\n\r\n"
    ),
    "stream_cut": lambda good, number: STREAM + chunk(b"data: " + good[:20]),
    "stream_garbage": lambda good, number: (
        STREAM + chunk(b"data: }{\n\nnonsense\n\ndata: 5\n\n") + b"0\r\n\r\n"
    ),
    "stream_wrong_id": lambda good, number: (
        STREAM + chunk(b"data: " + WRONG_IDS["wrong_id"].encode() + b"\n\n") + b"0\r\n\r\n"
    ),
}


async def hang(writer: Writer, event: bytes) -> None:
    await asyncio.sleep(3600)


async def drip(writer: Writer, event: bytes) -> None:
    writer.write(head("200 OK", "Content-Type: application/json", "Content-Length: 1000000"))
    while True:
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(0.02)


async def stream_for_ever(writer: Writer, event: bytes) -> None:
    writer.write(STREAM)
    said = chunk(f"data: {SAYS['flood']}\n\n".encode() * 500)
    while True:
        writer.write(said)
        await writer.drain()


async def comment_for_ever(writer: Writer, event: bytes) -> None:
    writer.write(STREAM)
    while True:
        writer.write(chunk(b":\r\n" * 10_000))
        await writer.drain()


async def swell(writer: Writer, event: bytes) -> None:
    writer.write(STREAM + chunk(b"data: "))
    while True:
        writer.write(chunk(b"x" * 100_000))
        await writer.drain()


async def keep_open(writer: Writer, event: bytes) -> None:
    writer.write(STREAM + chunk(event))
    await writer.drain()
    await asyncio.sleep(3600)


STREAMED: dict[str, Callable[[Writer, bytes], Awaitable[None]]] = {
    "silence": hang,
    "slow_drip": drip,
    "stream_without_end": stream_for_ever,
    "stream_of_comments": comment_for_ever,
    "stream_one_huge_event": swell,
    "stream_kept_open": keep_open,
}


async def serve_http(variant: str) -> None:
    server = await asyncio.start_server(lambda r, w: handle(r, w, variant), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    chosen = sys.argv[2] if len(sys.argv) > 2 else ""
    if sys.argv[1] == "stdio":
        serve_stdio(chosen)
    else:
        asyncio.run(serve_http(chosen))
