"""Opt-in remote references, against real servers on this machine.

Nothing is weakened for the tests: they use what an operator of an internal registry would use,
`allow_addresses`, `ssl_context` and `resolve`. `connected` records every connection that is tried.
"""

from __future__ import annotations

import ast
import contextlib
import datetime
import gzip
import json
import logging
import re
import socket
import socketserver
import ssl
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, cast
from urllib.parse import urljoin

import pytest
import trustme
from patience import PATIENCE

from anyshape.errors import (
    InvalidSchema,
    LimitExceeded,
    UnresolvableReference,
    UnsupportedDialect,
)
from anyshape.schema import RemoteReferences, compile
from anyshape.schema._compile.intake import Document
from anyshape.schema._remote.references import RemoteSession, fetch_references

LOOPBACK = "127.0.0.1"
NAME = "schemas.example"

Script = Callable[[socket.socket, threading.Event], None]


def reply(body: object, *, status: int = 200, headers: Mapping[str, str] | None = None) -> bytes:
    """Write an answer; anything but bytes is sent as JSON."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    fields = {"Content-Type": "application/schema+json", "Content-Length": str(len(data))}
    fields |= headers or {}
    lines = [f"HTTP/1.1 {status} Status", *(f"{name}: {value}" for name, value in fields.items())]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + data


def redirect(location: str, status: int = 302) -> bytes:
    return reply(b"", status=status, headers={"Location": location})


def repeat(start: bytes, piece: bytes, *, every: float = 0) -> Script:
    """Send `start`, then `piece` for ever: as fast as possible, or one `every` so many seconds."""

    def script(connection: socket.socket, stopped: threading.Event) -> None:
        connection.sendall(start)
        while not stopped.wait(every):
            connection.sendall(piece)

    return script


def stay_silent(_connection: socket.socket, stopped: threading.Event) -> None:
    stopped.wait(PATIENCE)


class LocalServer(socketserver.ThreadingTCPServer):
    """Answer each path with fixed bytes or a script; keep the head of every request."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(
        self,
        routes: Mapping[str, bytes | Script],
        *,
        tls: ssl.SSLContext | None = None,
        address: str = LOOPBACK,
        greeting: Script | None = None,
    ) -> None:
        self.address_family = socket.AF_INET6 if ":" in address else socket.AF_INET
        super().__init__((address, 0), Handler)
        self.port = int(self.socket.getsockname()[1])
        self.routes = dict(routes)
        self.tls = tls
        self.greeting = greeting
        self.stopped = threading.Event()
        self.requests: list[str] = []
        self._thread = threading.Thread(target=self.serve_forever, args=(0.01,))
        self._thread.start()

    def close(self) -> None:
        self.stopped.set()
        self.shutdown()
        self._thread.join(PATIENCE)
        self.server_close()

    @property
    def paths(self) -> list[str]:
        return [request.split(" ")[1] for request in self.requests]


class Handler(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        server = cast("LocalServer", self.server)
        plain = cast("socket.socket", self.request)
        plain.settimeout(PATIENCE)
        with contextlib.suppress(OSError), contextlib.ExitStack() as stack:
            connection = plain
            if server.tls:
                connection = stack.enter_context(server.tls.wrap_socket(plain, server_side=True))
            if server.greeting:
                server.greeting(connection, server.stopped)
            head = b""
            while not head.endswith(b"\r\n\r\n"):
                piece = connection.recv(4096)
                if not piece:
                    return
                head += piece
            server.requests.append(head.decode())
            route = server.routes.get(head.decode().split(" ")[1], reply({}, status=404))
            if callable(route):
                route(connection, server.stopped)
            else:
                connection.sendall(route)


Serve = Callable[..., LocalServer]


@pytest.fixture
def serve() -> Iterator[Serve]:
    servers: list[LocalServer] = []

    def start(routes: Mapping[str, bytes | Script], **options: Any) -> LocalServer:
        servers.append(LocalServer(routes, **options))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture(autouse=True)
def connected(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Record every address that is connected to."""
    tried: list[tuple[str, int]] = []
    connect = socket.socket.connect

    def record(self: socket.socket, address: tuple[str, int]) -> None:
        tried.append(address)
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", record)
    return tried


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


def server_tls(authority: trustme.CA, *names: str, **options: Any) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate = authority.issue_cert(*names, **options)
    with certificate.private_key_and_cert_chain_pem.tempfile() as path:
        context.load_cert_chain(path)
    return context


def client_tls(authority: trustme.CA) -> ssl.SSLContext:
    return ssl.create_default_context(cadata=authority.cert_pem.bytes().decode())


class Names:
    """A resolver whose answers are written down, one list per question asked; it counts them."""

    def __init__(self, **answers: Sequence[str] | Sequence[Sequence[str]]) -> None:
        self.asked: list[str] = []
        self._answers = answers

    def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        answers = self._answers.get(host.split(".")[0], [LOOPBACK])
        if isinstance(answers[0], str):
            return cast("Sequence[str]", answers)
        return cast("Sequence[Sequence[str]]", answers)[self.asked.count(host) - 1]


def permit(server: LocalServer, **changes: Any) -> RemoteReferences:
    """Permit the server under `NAME`, as the operator of an internal registry would."""
    options: dict[str, Any] = {
        "allow_hosts": (f"{NAME}:{server.port}",),
        "allow_http": server.tls is None,
        "allow_addresses": (f"{LOOPBACK}/32",),
        "resolve": Names(),
        "timeout": PATIENCE,
    }
    return RemoteReferences(**(options | changes))


def uri_of(server: LocalServer, path: str = "/a.json", *, host: str = NAME) -> str:
    return f"{'https' if server.tls else 'http'}://{host}:{server.port}{path}"


def fetch(remote: RemoteReferences, uri: str) -> Document:
    return RemoteSession(remote).fetch(uri)


def refusal(remote: RemoteReferences, uri: str) -> str:
    with pytest.raises(UnresolvableReference) as caught:
        fetch(remote, uri)
    assert caught.value.uri == uri
    assert "\n" not in str(caught.value)
    return str(caught.value)


def exhausted(remote: RemoteReferences, uri: str) -> str:
    with pytest.raises(LimitExceeded) as caught:
        fetch(remote, uri)
    assert "\n" not in str(caught.value)
    return caught.value.limit


def references_of(document: Document, base_uri: str) -> Iterator[str]:
    """Every `$ref` that leaves the document."""
    waiting: list[object] = [document]
    while waiting:
        value = waiting.pop(0)
        if isinstance(value, dict):
            members = cast("dict[str, object]", value)
            reference = members.get("$ref")
            if isinstance(reference, str) and not reference.startswith("#"):
                yield urljoin(base_uri, reference)
            waiting.extend(members.values())
        elif isinstance(value, list):
            waiting.extend(cast("list[object]", value))


# What works


def test_a_permitted_document_is_fetched_over_https(
    serve: Serve, authority: trustme.CA, connected: list[tuple[str, int]]
) -> None:
    server = serve({"/a.json": reply({"type": "string"})}, tls=server_tls(authority, NAME))
    remote = permit(server, ssl_context=client_tls(authority))
    assert fetch(remote, uri_of(server)) == {"type": "string"}
    assert connected == [(LOOPBACK, server.port)]


def test_the_request_carries_nothing_but_what_it_needs(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = tmp_path_factory.mktemp("home")
    netrc = home / ".netrc"
    netrc.write_text(f"machine {NAME} login user password secret\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("NETRC", str(netrc))
    server = serve(
        {
            "/a.json?x=1": reply(b"", status=302, headers={"Location": "/b", "Set-Cookie": "a=b"}),
            "/b": reply({}),
        }
    )
    fetch(permit(server), uri_of(server, "/a.json?x=1#/fragment"))
    heads = [request.rstrip("\r\n").split("\r\n") for request in server.requests]
    assert [head[0] for head in heads] == ["GET /a.json?x=1 HTTP/1.1", "GET /b HTTP/1.1"]
    for head in heads:
        fields = dict(line.split(": ", 1) for line in head[1:])
        assert fields.pop("User-Agent").startswith("anyshape/")
        assert fields == {
            "Host": f"{NAME}:{server.port}",
            "Accept": "application/schema+json, application/json;q=0.9, */*;q=0.1",
            "Accept-Encoding": "identity",
            "Connection": "close",
        }


def test_proxies_of_the_environment_are_not_used(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, connected: list[tuple[str, int]]
) -> None:
    proxy, server = serve({}), serve({"/a.json": reply({})})
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        for variable in (name, name.upper()):
            monkeypatch.setenv(variable, f"http://{LOOPBACK}:{proxy.port}")
    fetch(permit(server), uri_of(server))
    assert connected == [(LOOPBACK, server.port)]


@pytest.mark.parametrize(
    "answer",
    [
        reply({"a": 1}, headers={"Content-Type": "application/json"}),
        reply({"a": 1}, headers={"Content-Type": 'application/json; charset="UTF-8"'}),
        reply({"a": 1}, headers={"Content-Type": "application/vnd.example+json"}),
        reply({"a": 1}, headers={"Content-Type": "text/plain; charset=utf-8"}),
        reply({"a": 1}, headers={"Content-Type": "application/octet-stream"}),
        reply({"a": 1}, headers={"Content-Encoding": "identity"}),
        reply(b'\xef\xbb\xbf{"a": 1}'),
        b'HTTP/1.1 200 OK\r\n\r\n{"a": 1}',
        b'HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n{"a": 1}',
        b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"a":\r\n3\r\n 1}\r\n0\r\n\r\n',
        b"HTTP/1.1 100 Continue\r\n\r\n" + reply({"a": 1}),
    ],
)
def test_json_is_accepted_in_every_form_servers_send_it(serve: Serve, answer: bytes) -> None:
    server = serve({"/a.json": answer})
    assert fetch(permit(server), uri_of(server)) == {"a": 1}


@pytest.mark.parametrize("body", [True, False])
def test_a_boolean_schema_is_a_document(serve: Serve, body: bool) -> None:
    server = serve({"/a.json": reply(body)})
    assert fetch(permit(server), uri_of(server)) is body


def test_an_address_literal_can_be_allowed(serve: Serve) -> None:
    server = serve({"/a.json": reply({})})
    names = Names()
    remote = permit(server, allow_hosts=(f"{LOOPBACK}:{server.port}",), resolve=names)
    assert fetch(remote, uri_of(server, host=LOOPBACK)) == {}
    assert names.asked == []


def test_an_ipv6_literal_is_fetched_with_its_certificate_checked(
    serve: Serve, authority: trustme.CA
) -> None:
    try:
        server = serve({"/a.json": reply({})}, tls=server_tls(authority, "::1"), address="::1")
    except OSError:
        pytest.skip("this machine has no IPv6")
    remote = permit(
        server,
        allow_hosts=(f"[::1]:{server.port}",),
        allow_addresses=("::1",),
        ssl_context=client_tls(authority),
    )
    assert fetch(remote, uri_of(server, host="[::1]")) == {}
    assert f"Host: [::1]:{server.port}\r\n" in server.requests[0]


def test_an_address_that_does_not_answer_leaves_the_others_their_turn(
    serve: Serve, connected: list[tuple[str, int]]
) -> None:
    server = serve({"/a.json": reply({})})
    remote = permit(
        server, allow_addresses=("127.0.0.0/8",), resolve=Names(schemas=["127.0.0.77", LOOPBACK])
    )
    assert fetch(remote, uri_of(server)) == {}
    assert connected == [("127.0.0.77", server.port), (LOOPBACK, server.port)]


# Whole graphs of documents


def test_documents_are_fetched_until_nothing_is_missing(serve: Serve) -> None:
    server = serve(
        {
            "/a.json": reply({"items": {"$ref": "b.json#/$defs/x"}}),
            "/b.json": reply({"$defs": {"x": {"$ref": "sub/c.json"}, "y": {"$ref": "a.json"}}}),
            "/sub/c.json": reply({"anyOf": [{"$ref": "../b.json"}, {"$ref": "#"}]}),
        }
    )
    root = {"properties": {"p": {"$ref": uri_of(server, "/a.json#")}}}
    documents = fetch_references(root, permit(server), references_of)
    assert list(documents) == [
        uri_of(server, path) for path in ("/a.json", "/b.json", "/sub/c.json")
    ]
    assert server.paths == ["/a.json", "/b.json", "/sub/c.json"]
    assert documents[uri_of(server, "/a.json")] == {"items": {"$ref": "b.json#/$defs/x"}}


def test_a_document_without_references_fetches_nothing(connected: list[tuple[str, int]]) -> None:
    remote = RemoteReferences(allow_hosts=(NAME,))
    assert fetch_references({"type": "object"}, remote, references_of) == {}
    assert connected == []


def test_a_redirected_document_is_known_by_the_uri_that_was_asked_for(serve: Serve) -> None:
    server = serve(
        {
            "/a.json": redirect("/moved/a.json"),
            "/moved/a.json": reply({"$ref": "b.json"}),
            "/b.json": reply(True),
        }
    )
    documents = fetch_references({"$ref": uri_of(server)}, permit(server), references_of)
    assert documents == {uri_of(server): {"$ref": "b.json"}, uri_of(server, "/b.json"): True}


@pytest.mark.parametrize(
    "reference", ["file:///etc/passwd", "https://other.example/b.json", "urn:example:b", "ftp://x/"]
)
def test_a_fetched_document_is_held_to_the_same_rules(serve: Serve, reference: str) -> None:
    server = serve({"/a.json": reply({"$ref": reference})})
    names = Names()
    with pytest.raises(UnresolvableReference) as caught:
        fetch_references({"$ref": uri_of(server)}, permit(server, resolve=names), references_of)
    assert caught.value.uri == reference
    assert names.asked == [NAME]


def test_documents_are_counted_however_they_refer_to_one_another(serve: Serve) -> None:
    server = serve({f"/{n}": reply({"$ref": str(n + 1)}) for n in range(10)})
    root = {"$ref": uri_of(server, "/0")}
    with pytest.raises(LimitExceeded) as caught:
        fetch_references(root, permit(server, max_documents=3), references_of)
    assert (caught.value.limit, caught.value.allowed, caught.value.found) == ("max_documents", 3, 4)
    assert server.paths == ["/0", "/1", "/2"]


def test_the_bytes_of_all_documents_are_counted_together(serve: Serve) -> None:
    padding = "x" * 1000
    server = serve({f"/{n}": reply({"$ref": str(n + 1), "title": padding}) for n in range(10)})
    root = {"$ref": uri_of(server, "/0")}
    with pytest.raises(LimitExceeded) as caught:
        fetch_references(root, permit(server, max_bytes=2500), references_of)
    assert (caught.value.limit, caught.value.allowed) == ("max_bytes", 2500)
    assert server.paths == ["/0", "/1", "/2"]


def test_the_time_of_all_documents_is_counted_together(serve: Serve) -> None:
    def slowly(connection: socket.socket, stopped: threading.Event) -> None:
        stopped.wait(0.2)
        connection.sendall(reply({"$ref": f"{len(server.requests)}"}))

    server = serve({f"/{n}": slowly for n in range(100)})
    with pytest.raises(LimitExceeded) as caught:
        fetch_references(
            {"$ref": uri_of(server, "/0")},
            permit(server, timeout=0.7, max_documents=99),
            references_of,
        )
    assert caught.value.limit == "timeout"


# Refused before any connection


def test_a_host_that_is_not_allowed_is_neither_resolved_nor_connected_to(
    connected: list[tuple[str, int]],
) -> None:
    names = Names()
    remote = RemoteReferences(allow_hosts=(NAME,), resolve=names)
    message = refusal(remote, "https://other.example/a.json")
    assert "other.example" in message
    assert "allow_hosts" in message
    assert (names.asked, connected) == ([], [])


@pytest.mark.parametrize(
    ("uri", "hint"),
    [
        (f"http://{NAME}/a.json", "allow_http"),
        (f"https://{NAME}:8443/a.json", f'"{NAME}:8443"'),
        (f"https://sub.{NAME}/a.json", f'"sub.{NAME}"'),
        ("file:///etc/passwd", "resources="),
        ("a.json", "$id"),
        ("json-schema:///a.json", "$id"),
        (f"https://user:secret@{NAME}/a.json", "password"),
        (f"https://{NAME}/a\r\nX: y", "percent-encode"),
        ("https://2130706433/a.json", "host"),
    ],
)
def test_a_uri_outside_the_rules_is_refused_with_the_way_to_allow_it(
    uri: str, hint: str, connected: list[tuple[str, int]]
) -> None:
    names = Names()
    message = refusal(RemoteReferences(allow_hosts=(NAME,), resolve=names), uri)
    assert hint in message
    assert "secret" not in message
    assert (names.asked, connected) == ([], [])


@pytest.mark.parametrize(
    "addresses",
    [
        ["127.0.0.1"],
        ["127.8.8.8"],
        ["10.1.2.3"],
        ["172.20.0.1"],
        ["192.168.1.1"],
        ["169.254.169.254"],
        ["100.64.1.1"],
        ["0.0.0.0"],
        ["::1"],
        ["::"],
        ["fe80::1"],
        ["fe80::1%lo"],
        ["fd00::1"],
        ["::ffff:127.0.0.1"],
        ["::ffff:8.8.8.8"],
        ["64:ff9b::7f00:1"],
        ["2002:7f00:1::"],
        ["224.0.0.1"],
        ["255.255.255.255"],
        ["8.8.8.8", "127.0.0.1"],
        ["2606:4700:4700::1111", "8.8.8.8", "::ffff:10.0.0.1"],
        ["not an address"],
    ],
)
def test_a_name_with_any_address_that_is_not_public_is_refused(
    addresses: list[str], connected: list[tuple[str, int]]
) -> None:
    names = Names(schemas=addresses)
    message = refusal(RemoteReferences(allow_hosts=(NAME,), resolve=names), f"https://{NAME}/a")
    assert addresses[-1] in message
    assert "allow_addresses" in message
    assert (names.asked, connected) == ([NAME], [])


def test_the_system_resolver_is_held_to_the_same_rules(
    serve: Serve, connected: list[tuple[str, int]]
) -> None:
    server = serve({"/a.json": reply({})})
    remote = RemoteReferences(allow_hosts=(f"localhost:{server.port}",), allow_http=True)
    assert "loopback" in refusal(remote, uri_of(server, host="localhost"))
    assert connected == []


def test_the_system_resolver_serves_where_it_is_allowed(serve: Serve) -> None:
    server = serve({"/a.json": reply({})})
    remote = RemoteReferences(
        allow_hosts=(f"localhost:{server.port}",),
        allow_http=True,
        allow_addresses=("127.0.0.0/8", "::1"),
    )
    assert fetch(remote, uri_of(server, host="localhost")) == {}


def test_a_loopback_literal_is_refused_although_its_host_is_allowed(
    serve: Serve, connected: list[tuple[str, int]]
) -> None:
    server = serve({"/a.json": reply({})})
    remote = permit(server, allow_hosts=(f"{LOOPBACK}:{server.port}",), allow_addresses=())
    assert "loopback" in refusal(remote, uri_of(server, host=LOOPBACK))
    assert connected == []


def test_permitting_an_address_does_not_permit_its_mapped_form(
    serve: Serve, connected: list[tuple[str, int]]
) -> None:
    server = serve({"/a.json": reply({})})
    remote = permit(server, resolve=Names(schemas=["::ffff:127.0.0.1"]))
    assert "IPv4 inside IPv6" in refusal(remote, uri_of(server))
    assert connected == []


def test_a_name_that_changes_its_answer_is_asked_once_and_taken_at_its_word(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, connected: list[tuple[str, int]]
) -> None:
    def ask_again(*_: object, **__: object) -> None:
        raise AssertionError("the name was resolved behind the check's back")

    for function in ("getaddrinfo", "gethostbyname", "gethostbyname_ex", "create_connection"):
        monkeypatch.setattr(socket, function, ask_again)
    server = serve({"/a.json": reply({})})
    names = Names(schemas=[[LOOPBACK], ["10.0.0.1"]])
    remote = permit(server, resolve=names)
    assert fetch(remote, uri_of(server)) == {}
    assert names.asked == [NAME]
    assert connected == [(LOOPBACK, server.port)]
    assert "10.0.0.1" in refusal(remote, uri_of(server))
    assert connected == [(LOOPBACK, server.port)]


def test_a_name_that_does_not_resolve_is_refused() -> None:
    def fail(host: str, port: int) -> Sequence[str]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    def find_nothing(host: str, port: int) -> Sequence[str]:
        return ()

    for resolve in (fail, find_nothing):
        remote = RemoteReferences(allow_hosts=(NAME,), resolve=resolve)
        assert "does not resolve" in refusal(remote, f"https://{NAME}/a")


def test_a_mistake_in_the_operators_resolver_is_not_hidden() -> None:
    def break_down(host: str, port: int) -> Sequence[str]:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fetch(RemoteReferences(allow_hosts=(NAME,), resolve=break_down), f"https://{NAME}/a")


# Redirects


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_within_the_rules_is_followed(serve: Serve, status: int) -> None:
    server = serve({"/a.json": redirect("b.json#x", status), "/b.json": reply({"b": 1})})
    assert fetch(permit(server), uri_of(server)) == {"b": 1}


def test_a_redirect_to_a_private_address_is_refused(
    serve: Serve, connected: list[tuple[str, int]]
) -> None:
    server = serve({"/a.json": redirect("https://internal.example/secret")})
    remote = permit(
        server,
        allow_hosts=(f"{NAME}:{server.port}", "internal.example"),
        resolve=Names(internal=["10.0.0.7"]),
    )
    assert "10.0.0.7" in refusal(remote, uri_of(server))
    assert connected == [(LOOPBACK, server.port)]


def test_a_redirect_to_the_same_name_is_resolved_and_vetted_again(
    serve: Serve, connected: list[tuple[str, int]]
) -> None:
    server = serve({"/a.json": redirect("/b.json"), "/b.json": reply({})})
    names = Names(schemas=[[LOOPBACK], ["169.254.169.254"]])
    assert "169.254.169.254" in refusal(permit(server, resolve=names), uri_of(server))
    assert names.asked == [NAME, NAME]
    assert connected == [(LOOPBACK, server.port)]


@pytest.mark.parametrize(
    ("location", "rule"),
    [
        ("http://127.0.0.1/latest/meta-data", "allow_hosts"),
        ("http://169.254.169.254/", "allow_hosts"),
        ("https://other.example/a.json", "allow_hosts"),
        ("//other.example/a.json", "allow_hosts"),
        (f"https://{NAME}/a.json", "allow_hosts"),
        (f"//user@{NAME}/", "password"),
        ("file:///etc/passwd", "file:"),
        ("data:application/json,{}", "percent-encode"),
        ("data:application/json,true", "data:"),
        ("/a b", "percent-encode"),
        ("/a\r\n\tb", "percent-encode"),
        ("/\xe4", "percent-encode"),
        ("https://[::1", "no URI"),
        ("/" + "x" * 5000, "characters"),
    ],
)
def test_a_redirect_outside_the_rules_is_refused(
    serve: Serve, location: str, rule: str, connected: list[tuple[str, int]]
) -> None:
    server = serve({"/a.json": redirect(location)})
    message = refusal(permit(server), uri_of(server))
    assert "redirects" in message
    assert rule in message
    assert len(message) < 600
    assert connected == [(LOOPBACK, server.port)]


def test_a_redirect_never_leaves_https(serve: Serve, authority: trustme.CA) -> None:
    plain = serve({"/a.json": reply({})})
    server = serve({"/a.json": redirect(uri_of(plain))}, tls=server_tls(authority, NAME))
    remote = permit(
        server,
        allow_hosts=(f"{NAME}:{server.port}", f"{NAME}:{plain.port}"),
        allow_http=True,
        ssl_context=client_tls(authority),
    )
    assert "https to http" in refusal(remote, uri_of(server))
    assert plain.requests == []


def test_a_redirect_that_goes_nowhere_is_refused(serve: Serve) -> None:
    server = serve({"/a.json": reply(b"", status=302)})
    assert "nowhere" in refusal(permit(server), uri_of(server))


def test_redirects_in_a_circle_end_at_their_limit(serve: Serve) -> None:
    server = serve({"/a.json": redirect("/b.json"), "/b.json": redirect("/a.json")})
    assert exhausted(permit(server, max_redirects=4), uri_of(server)) == "max_redirects"
    assert len(server.requests) == 5


def test_no_redirects_at_all_can_be_asked_for(serve: Serve) -> None:
    server = serve({"/a.json": redirect("/b.json"), "/b.json": reply({})})
    assert exhausted(permit(server, max_redirects=0), uri_of(server)) == "max_redirects"
    assert server.paths == ["/a.json"]


# Slow, endless, wrong


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
LONG_HEADER = b"X: " + b"y" * 1000 + b"\r\n"


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(stay_silent, id="silence"),
        pytest.param(repeat(b"HTTP/1.1 ", b"2", every=0.02), id="status line"),
        pytest.param(repeat(HEAD + b"X: ", b"x", every=0.02), id="header"),
        pytest.param(repeat(b"", b"HTTP/1.1 100 Continue\r\n\r\n", every=0.02), id="continue"),
        pytest.param(repeat(HEAD + b"\r\n", b" ", every=0.02), id="body"),
        pytest.param(
            repeat(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n", every=0.02),
            id="chunks",
        ),
    ],
)
def test_a_server_that_drips_is_cut_off_at_the_deadline(serve: Serve, script: Script) -> None:
    server = serve({"/a.json": script})
    assert exhausted(permit(server, timeout=0.3), uri_of(server)) == "timeout"


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(stay_silent, id="silence"),
        pytest.param(repeat(b"\x16\x03\x03\x40\x00", b"\0", every=0.02), id="record"),
    ],
)
def test_a_server_that_drips_in_the_tls_handshake_is_cut_off(
    serve: Serve, authority: trustme.CA, script: Script
) -> None:
    server = serve({}, greeting=script)
    remote = permit(server, timeout=0.3, ssl_context=client_tls(authority))
    assert exhausted(remote, f"https://{NAME}:{server.port}/a") == "timeout"


def test_a_server_that_drips_over_tls_is_cut_off(serve: Serve, authority: trustme.CA) -> None:
    drip = repeat(HEAD + b"\r\n", b" ", every=0.02)
    server = serve({"/a.json": drip}, tls=server_tls(authority, NAME))
    remote = permit(server, timeout=0.5, ssl_context=client_tls(authority))
    assert exhausted(remote, uri_of(server)) == "timeout"


def test_a_name_server_that_is_silent_is_cut_off() -> None:
    finished = threading.Event()

    def wait(host: str, port: int) -> Sequence[str]:
        finished.wait(PATIENCE)
        return ()

    remote = RemoteReferences(allow_hosts=(NAME,), timeout=0.1, resolve=wait)
    try:
        assert exhausted(remote, f"https://{NAME}/a") == "timeout"
    finally:
        finished.set()


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(repeat(HEAD + b"\r\n", b" " * 4096), id="body without length"),
        pytest.param(
            repeat(HEAD + b"Content-Length: 99999999999\r\n\r\n", b" " * 4096),
            id="body with length",
        ),
        pytest.param(
            repeat(
                HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1000\r\n" + b" " * 4096 + b"\r\n"
            ),
            id="chunks",
        ),
        pytest.param(
            repeat(
                HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1;" + b"x" * 9999 + b"\r\n \r\n"
            ),
            id="chunk extensions",
        ),
        pytest.param(
            repeat(HEAD + b"Transfer-Encoding: chunked\r\n\r\n-1\r\n", b" " * 4096),
            id="negative chunk",
        ),
        # Long, because newer interpreters count these two by themselves, and stop at a hundred.
        pytest.param(
            repeat(HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", LONG_HEADER),
            id="trailers",
        ),
        pytest.param(
            repeat(b"", b"HTTP/1.1 100 Continue\r\n" + LONG_HEADER + b"\r\n"), id="continue"
        ),
    ],
)
def test_an_endless_answer_is_cut_off(serve: Serve, script: Script) -> None:
    server = serve({"/a.json": script})
    assert exhausted(permit(server, max_bytes=10_000), uri_of(server)) == "max_bytes"


@pytest.mark.parametrize("size", [99, 100, 101])
def test_the_byte_limit_is_exact(serve: Serve, size: int) -> None:
    body = b"{" + b" " * (size - 2) + b"}"
    answers = {
        "/length": reply(body),
        "/close": b"HTTP/1.1 200 OK\r\n\r\n" + body,
        "/chunked": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        + b"".join(b"1\r\n" + bytes([byte]) + b"\r\n" for byte in body)
        + b"0\r\n\r\n",
    }
    server = serve(answers)
    for path in answers:
        if size <= 100:
            assert fetch(permit(server, max_bytes=100), uri_of(server, path)) == {}
        else:
            assert exhausted(permit(server, max_bytes=100), uri_of(server, path)) == "max_bytes"


def test_a_compressed_answer_is_refused_before_it_can_unfold(serve: Serve) -> None:
    bomb = gzip.compress(b"{" + b" " * 5_000_000 + b"}")
    server = serve(
        {
            "/content": reply(bomb, headers={"Content-Encoding": "gzip"}),
            "/transfer": HEAD + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
            "/silent": reply(bomb),
        }
    )
    assert "Content-Encoding gzip" in refusal(permit(server), uri_of(server, "/content"))
    assert "Transfer-Encoding gzip" in refusal(permit(server), uri_of(server, "/transfer"))
    assert "UTF-8" in refusal(permit(server), uri_of(server, "/silent"))


@pytest.mark.parametrize(
    ("answer", "rule"),
    [
        (reply(b"<html>", headers={"Content-Type": "text/html"}), "text/html"),
        (reply({}, headers={"Content-Type": "text/html; charset=utf-8"}), "text/html"),
        (reply({}, headers={"Content-Type": "application/yaml"}), "application/yaml"),
        (reply({}, headers={"Content-Type": "application/json; charset=utf-16"}), "utf-16"),
        (reply('{"a": "ä"}'.encode("latin-1")), "UTF-8"),
        (reply('{"a": 1}'.encode("utf-16")), "UTF-8"),
        (reply(b""), "not JSON"),
        (reply(b"<html>"), "not JSON"),
        (reply(b'{"a": 1'), "not JSON"),
        (reply(b'{"a": 1} x'), "not JSON"),
        (reply(b'{"a": NaN}'), "NaN"),
        (reply(b'{"a": -Infinity}'), "Infinity"),
        (reply(b'{"a": ' + b"9" * 5000 + b"}"), "digits"),
        (reply(b'{"a":' * 100_000 + b"1" + b"}" * 100_000), "deep"),
        (reply(b"[" * 1_000_000), "deep"),
        (reply([True]), "object or a boolean"),
        (reply("text"), "object or a boolean"),
        (reply(None), "object or a boolean"),
        (reply(1), "object or a boolean"),
        (reply({}, status=404), "404"),
        (reply({}, status=500), "500"),
        (reply({}, status=206), "206"),
        (reply(b"", status=204), "204"),
        (reply(b"", status=304), "304"),
        (reply({}, headers={"Content-Length": "5"}), "2 of 5"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\n{}", "HTTP"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}", "HTTP"),
        (HEAD + b"X: y\r\n" * 200 + b"\r\n{}", "HTTP"),
        (HEAD + b"X: " + b"y" * 70_000 + b"\r\n\r\n{}", "HTTP"),
        (b"{}", "HTTP"),
        (b"", "broke the connection off"),
        (b"SSH-2.0-OpenSSH_9.9\r\n", "HTTP"),
        (b"HTTP/2 200 OK\r\n\r\n{}", "HTTP"),
        (b"HTTP/1.1 abc OK\r\n\r\n{}", "HTTP"),
    ],
)
def test_an_answer_that_is_no_schema_is_refused(serve: Serve, answer: bytes, rule: str) -> None:
    server = serve({"/a.json": answer})
    assert rule in refusal(permit(server), uri_of(server))


def test_an_integer_is_bounded_even_where_the_interpreter_does_not_bound_it(
    serve: Serve,
) -> None:
    server = serve({"/a.json": reply(b'{"a": ' + b"9" * 5000 + b"}")})
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        assert "digits" in refusal(permit(server), uri_of(server))
    finally:
        sys.set_int_max_str_digits(before)


def test_a_server_that_is_not_there_is_refused(serve: Serve) -> None:
    server = serve({})
    uri, remote = uri_of(server), permit(server)
    server.close()
    assert "cannot connect" in refusal(remote, uri)


def test_a_connection_that_is_reset_is_refused(serve: Serve) -> None:
    def reset(connection: socket.socket, _stopped: threading.Event) -> None:
        connection.sendall(HEAD)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
        connection.close()

    server = serve({"/a.json": reset})
    assert NAME in refusal(permit(server), uri_of(server))


# Certificates


def test_a_certificate_for_another_name_is_refused(serve: Serve, authority: trustme.CA) -> None:
    server = serve({"/a.json": reply({})}, tls=server_tls(authority, "other.example"))
    remote = permit(server, ssl_context=client_tls(authority))
    assert "certificate" in refusal(remote, uri_of(server))
    assert server.requests == []


def test_a_certificate_for_the_address_does_not_stand_for_the_name(
    serve: Serve, authority: trustme.CA
) -> None:
    server = serve({"/a.json": reply({})}, tls=server_tls(authority, LOOPBACK))
    remote = permit(server, ssl_context=client_tls(authority))
    assert "certificate" in refusal(remote, uri_of(server))


def test_a_certificate_of_an_unknown_authority_is_refused(
    serve: Serve, authority: trustme.CA
) -> None:
    server = serve({"/a.json": reply({})}, tls=server_tls(authority, NAME))
    assert "certificate" in refusal(permit(server), uri_of(server))
    assert server.requests == []


def test_an_expired_certificate_is_refused(serve: Serve, authority: trustme.CA) -> None:
    yesterday = datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=1)
    expired = server_tls(authority, NAME, not_after=yesterday)
    server = serve({"/a.json": reply({})}, tls=expired)
    remote = permit(server, ssl_context=client_tls(authority))
    assert "expired" in refusal(remote, uri_of(server))


def test_a_server_that_does_not_speak_tls_is_refused(serve: Serve, authority: trustme.CA) -> None:
    def talk(connection: socket.socket, _stopped: threading.Event) -> None:
        connection.sendall(reply({}))

    server = serve({}, greeting=talk)
    remote = permit(server, ssl_context=client_tls(authority))
    assert "TLS" in refusal(remote, f"https://{NAME}:{server.port}/a.json")


# What is logged


def test_every_fetched_uri_is_logged_with_the_address_it_came_from(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="anyshape.schema")
    server = serve({"/a.json": redirect("/b.json"), "/b.json": reply({})})
    fetch(permit(server), uri_of(server))
    assert caplog.record_tuples == [
        ("anyshape.schema", logging.INFO, f"fetching {uri_of(server)} from {LOOPBACK}"),
        ("anyshape.schema", logging.INFO, f"fetching {uri_of(server, '/b.json')} from {LOOPBACK}"),
        ("anyshape.schema", logging.INFO, f"fetched {uri_of(server, '/b.json')}: 2 bytes"),
    ]


def test_a_fetch_is_logged_even_when_the_server_never_answers(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="anyshape.schema")
    server = serve({"/a.json": stay_silent})
    assert exhausted(permit(server, timeout=0.2), uri_of(server)) == "timeout"
    fetching, refused = caplog.messages
    assert fetching == f"fetching {uri_of(server)} from {LOOPBACK}"
    assert refused.startswith(f"cannot fetch {uri_of(server)}: ")


@pytest.mark.parametrize(
    "uri",
    [
        "https://a.example/\nINFO anyshape.schema fetched https://forged.example/",
        "https://a.example/\x1b[31m\u2028\u202e",
        "https://user:secret@a.example/",
        "x" * 100_000,
    ],
)
def test_a_refused_uri_cannot_forge_a_log_line(uri: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="anyshape.schema")
    refusal(RemoteReferences(allow_hosts=(NAME,)), uri)
    (message,) = caplog.messages
    assert message.isprintable()
    assert len(message) < 500
    assert "secret" not in message


def test_what_a_server_says_cannot_forge_a_log_line(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="anyshape.schema")
    server = serve(
        {
            "/type": reply({}, headers={"Content-Type": "a/b\x1b[31m\x85" + "c" * 9000}),
            "/coding": reply({}, headers={"Content-Encoding": "br\r\n forged"}),
        }
    )
    for path in server.routes:
        assert len(refusal(permit(server), uri_of(server, path))) < 600
    assert len(caplog.messages) == 4
    assert all(message.isprintable() for message in caplog.messages)


# Settings


def test_settings_are_made_canonical_and_compare_by_value() -> None:
    resolve = Names()
    remote = RemoteReferences(
        allow_hosts=["A.Example", "a.example", "*.B.example:8443"],
        allow_addresses=["10.0.0.1"],
        resolve=resolve,
    )
    assert remote.allow_hosts == ("a.example", "*.b.example:8443")
    assert remote.allow_addresses == ("10.0.0.1/32",)
    same = RemoteReferences(
        allow_hosts=("a.example", "*.b.example:8443"),
        allow_addresses=("10.0.0.1/32",),
        resolve=resolve,
    )
    assert remote == same
    assert hash(remote) == hash(same)


def unchecked_tls() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("allow_hosts", ()),
        ("allow_hosts", "a.example"),
        ("allow_hosts", None),
        ("allow_hosts", (1,)),
        ("allow_hosts", ("*",)),
        ("allow_hosts", ("https://a.example",)),
        ("timeout", 0),
        ("timeout", -1),
        ("timeout", float("inf")),
        ("timeout", float("nan")),
        ("timeout", "10"),
        ("max_bytes", 0),
        ("max_bytes", 1.5),
        ("max_bytes", True),
        ("max_documents", 0),
        ("max_redirects", -1),
        ("allow_addresses", "10.0.0.0/8"),
        ("allow_addresses", ("a.example",)),
        ("allow_addresses", ("0.0.0.0/0",)),
        ("ssl_context", unchecked_tls()),
    ],
)
def test_a_setting_that_makes_no_sense_is_an_error_that_names_it(
    setting: str, value: object
) -> None:
    options: dict[str, Any] = {"allow_hosts": (NAME,), setting: value}
    with pytest.raises((TypeError, ValueError), match=setting):
        RemoteReferences(**options)


# Through `compile`


def test_nothing_is_fetched_unless_the_operator_asks_for_it(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, connected: list[tuple[str, int]]
) -> None:
    def look_up(*_: object, **__: object) -> None:
        raise AssertionError("a name was looked up")

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    server = serve({"/a.json": reply({})})
    for host in (NAME, LOOPBACK):
        with pytest.raises(UnresolvableReference) as caught:
            compile({"$ref": uri_of(server, host=host)})
        assert caught.value.uri == uri_of(server, host=host)
    assert connected == []


def test_a_schema_is_compiled_with_what_it_refers_to_and_never_fetches_again(
    serve: Serve, authority: trustme.CA
) -> None:
    server = serve(
        {
            "/order.json": reply(
                {
                    "type": "object",
                    "properties": {
                        "customer": {"$ref": "people.json#/$defs/person"},
                        "lines": {"type": "array", "items": {"$ref": "#line"}},
                    },
                    "$defs": {"line": {"$anchor": "line", "$ref": "shared/line.json"}},
                }
            ),
            "/people.json": reply({"$defs": {"person": {"type": "string", "minLength": 1}}}),
            "/shared/line.json": redirect("/v2/line.json"),
            "/v2/line.json": reply({"type": "integer"}),
        },
        tls=server_tls(authority, NAME),
    )
    remote = permit(server, ssl_context=client_tls(authority))
    schema = compile({"items": {"$ref": uri_of(server, "/order.json")}}, remote=remote)
    server.close()
    assert schema.accepts([{"customer": "Ada", "lines": [1, 2]}])
    assert not schema.accepts([{"customer": "", "lines": [1]}])
    assert [problem.path for problem in schema.problems([{"lines": [1, "2"]}])] == ["/0/lines/1"]
    assert server.paths == ["/order.json", "/people.json", "/shared/line.json", "/v2/line.json"]


def test_a_fetched_document_may_refer_back_to_the_one_being_compiled(serve: Serve) -> None:
    server = serve(
        {"/a.json": reply({"items": {"$ref": "root.json#/$defs/x"}, "not": {"$ref": "b"}})}
    )
    document: dict[str, object] = {
        "$id": uri_of(server, "/root.json"),
        "$ref": "a.json",
        "$defs": {
            "x": {"type": "integer"},
            "b": {"$id": "b", "type": "string"},
        },
    }
    schema = compile(document, remote=permit(server))
    assert server.paths == ["/a.json"]
    assert [schema.accepts(value) for value in ([1], ["1"], "1")] == [True, False, False]


def test_a_fetched_document_may_contain_what_another_refers_to(serve: Serve) -> None:
    server = serve(
        {
            "/a.json": reply(
                {"$defs": {"b": {"$id": "b.json", "type": "integer"}}, "$ref": "c.json"}
            ),
            "/c.json": reply({"$ref": "b.json"}),
        }
    )
    schema = compile({"$ref": uri_of(server)}, remote=permit(server))
    assert server.paths == ["/a.json", "/c.json"]
    assert (schema.accepts(1), schema.accepts("1")) == (True, False)


def test_a_document_that_changed_is_seen_by_the_next_compilation(serve: Serve) -> None:
    server = serve({"/a.json": reply({"type": "string"})})
    document = {"$ref": uri_of(server)}
    before = compile(document, remote=permit(server))
    server.routes["/a.json"] = reply({"type": "integer"})
    after = compile(document, remote=permit(server))
    assert (before.accepts("text"), before.accepts(1)) == (True, False)
    assert (after.accepts("text"), after.accepts(1)) == (False, True)


def test_what_was_fetched_once_is_not_there_for_others(serve: Serve) -> None:
    server = serve({"/a.json": reply({"type": "string"})})
    document = {"$ref": uri_of(server)}
    compile(document, remote=permit(server))
    with pytest.raises(UnresolvableReference):
        compile(document)


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"type": "nonsense"}, InvalidSchema),
        ({"$schema": "https://example.com/dialect"}, UnsupportedDialect),
        ({"$ref": "file:///etc/passwd"}, UnresolvableReference),
        ({"not": {"$ref": "https://other.example/a.json"}}, UnresolvableReference),
        ({"$defs": {"never": {"$ref": "urn:example:x"}}}, UnresolvableReference),
        ({"$ref": "#/$defs/absent"}, UnresolvableReference),
    ],
)
def test_a_fetched_document_is_checked_like_any_other(
    serve: Serve, body: object, error: type[Exception]
) -> None:
    server = serve({"/a.json": reply(body)})
    with pytest.raises(error):
        compile({"$ref": uri_of(server)}, remote=permit(server))


@pytest.mark.parametrize(
    ("body", "limit"),
    [
        (b'{"not":' * 300 + b"true" + b"}" * 300, "depth"),
        (json.dumps({"anyOf": [{"const": n} for n in range(11_000)]}).encode(), "subschemas"),
        (json.dumps({"title": "x" * 1_100_000}).encode(), "document_bytes"),
        (json.dumps({"pattern": "a" * 5_000}).encode(), "pattern_length"),
    ],
)
def test_a_fetched_document_counts_against_the_limits(
    serve: Serve, body: bytes, limit: str
) -> None:
    server = serve({"/a.json": reply(body)})
    with pytest.raises(LimitExceeded) as caught:
        compile({"$ref": uri_of(server)}, remote=permit(server, max_bytes=2_000_000))
    assert caught.value.limit == limit


def test_a_document_that_the_operator_supplies_is_not_fetched(serve: Serve) -> None:
    server = serve({"/b.json": reply({"type": "integer"})})
    schema = compile(
        {"$ref": uri_of(server)},
        resources={uri_of(server): {"items": {"$ref": "b.json"}}},
        remote=permit(server),
    )
    assert server.paths == ["/b.json"]
    assert (schema.accepts([1]), schema.accepts(["1"])) == (True, False)


GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "remote-references.md"


def test_the_guide_lists_every_setting_with_its_default() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (.+?) \|", GUIDE.read_text(), flags=re.MULTILINE)
    remote = RemoteReferences(allow_hosts=(NAME,))
    defaults = {field.name: repr(getattr(remote, field.name)) for field in fields(remote)}
    defaults["allow_hosts"] = "required"
    assert {name: default.strip("`") for name, default in rows} == defaults


def test_the_code_of_the_guide_makes_valid_settings() -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", GUIDE.read_text(), flags=re.MULTILINE | re.DOTALL)
    settings = [block for block in blocks if "RemoteReferences(" in block]
    assert settings
    for block in settings:
        calls = [node for node in ast.walk(ast.parse(block)) if isinstance(node, ast.Call)]
        made = [
            {keyword.arg or "": ast.literal_eval(keyword.value) for keyword in call.keywords}
            for call in calls
            if ast.unparse(call.func).endswith("RemoteReferences")
        ]
        assert made
        for options in made:
            RemoteReferences(**options)
