"""Which Host and Origin headers pass, where."""

import pytest

from anyshape.server.guard import Guard, is_local

LOOPBACK = "127.0.0.1"
PUBLIC = "10.0.0.5"


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("127.0.0.1", True),
        ("127.8.9.10", True),
        ("::1", True),
        ("::ffff:127.0.0.1", True),
        ("::ffff:10.0.0.5", False),
        ("[::1]", True),
        ("localhost", True),
        ("LOCALHOST", True),
        ("app.localhost", True),
        ("0.0.0.0", False),
        ("192.168.1.1", False),
        ("localhost.evil.example", False),
        ("127.0.0.1.evil.example", False),
        ("", False),
    ],
)
def test_only_names_of_this_machine_are_local(host: str, local: bool) -> None:
    assert is_local(host) is local


@pytest.mark.behaviour("transport.http.origin-validated")
@pytest.mark.parametrize(
    ("host", "origin", "served"),
    [
        (b"127.0.0.1:8000", None, True),
        (b"localhost", None, True),
        (b"[::1]:8000", None, True),
        (b"evil.example.com", None, False),
        (b"evil.example.com:8000", b"http://evil.example.com:8000", False),
        (None, None, False),
        (b"[::1]evil.example:8000", b"http://[::1]evil.example:8000", False),
        (b"127.0.0.1:evil.example", None, False),
        (b"localhost:8000", b"http://localhost:8000", True),
        (b"localhost:8000", b"http://localhost:3000", True),
        (b"localhost:8000", b"http://localhost:.evil.example", False),
        (b"localhost:8000", b"http://[::1]:3000", True),
        (b"localhost:8000", b"http://evil.example.com", False),
        (b"localhost:8000", b"null", False),
        (b"localhost:8000", b"file://", False),
        (b"localhost:8000", b"", False),
    ],
)
def test_at_a_loopback_address_only_local_names_pass(
    host: bytes | None, origin: bytes | None, served: bool
) -> None:
    assert (Guard().refusal(host, origin, LOOPBACK) is None) is served


@pytest.mark.parametrize(
    ("host", "origin", "served"),
    [
        (b"mcp.example.com", None, True),
        (None, None, True),
        (b"mcp.example.com", b"https://mcp.example.com", False),
        (b"evil.example.com:8000", b"http://evil.example.com:8000", False),
        (b"localhost:8000", b"http://localhost:8000", False),
        (b"10.0.0.5:8000", b"http://10.0.0.5:8000", True),
        (b"10.0.0.5", b"http://10.0.0.5:80", True),
        (b"[fd00::5]:8000", b"http://[fd00::5]:8000", True),
        (b"10.0.0.5:8000", b"http://10.0.0.6:8000", False),
        (b"10.0.0.5:8000", b"http://evil.example.com:8000", False),
    ],
)
def test_elsewhere_a_page_may_only_call_the_address_it_came_from(
    host: bytes | None, origin: bytes | None, served: bool
) -> None:
    assert (Guard().refusal(host, origin, PUBLIC) is None) is served


@pytest.mark.parametrize(
    ("host", "origin", "served"),
    [
        (b"mcp.example.com", None, True),
        (b"mcp.example.com", b"https://mcp.example.com", True),
        (b"mcp.example.com:443", b"https://mcp.example.com", True),
        (b"mcp.example.com", b"https://elsewhere.example.com", False),
        (b"mcp.example.com", b"https://mcp.example.com.evil.example", False),
        (b"mcp.example.com:8443", b"https://mcp.example.com", False),
        (b"evil.example.com", b"https://evil.example.com", False),
    ],
)
@pytest.mark.parametrize("bound", [LOOPBACK, PUBLIC])
def test_a_page_may_call_the_host_it_came_from_by_a_name_that_was_allowed(
    host: bytes | None, origin: bytes | None, served: bool, bound: str
) -> None:
    guard = Guard(hosts=["mcp.example.com"])
    assert (guard.refusal(host, origin, bound) is None) is served


def test_named_hosts_replace_the_default_even_at_a_loopback_address() -> None:
    guard = Guard(hosts=["MCP.example.com", "localhost:8000"])
    assert guard.refusal(b"mcp.example.com", None, LOOPBACK) is None
    assert guard.refusal(b"mcp.example.com:444", None, LOOPBACK) is None
    assert guard.refusal(b"localhost:8000", None, LOOPBACK) is None
    assert guard.refusal(b"localhost:9000", None, LOOPBACK) is not None
    assert guard.refusal(b"127.0.0.1:8000", None, LOOPBACK) is not None


def test_named_origins_may_call_from_anywhere() -> None:
    guard = Guard(origins=["https://app.example.com/"])
    assert guard.refusal(b"localhost", b"https://app.example.com", LOOPBACK) is None
    assert guard.refusal(b"localhost", b"https://APP.example.com", LOOPBACK) is None
    assert guard.refusal(b"localhost", b"http://app.example.com", LOOPBACK) is not None


def test_a_star_allows_everyone() -> None:
    guard = Guard(hosts=["*"], origins=["*"])
    assert guard.refusal(b"evil.example.com", b"https://evil.example.com", LOOPBACK) is None


def test_a_server_that_knows_it_is_local_takes_no_public_name_anywhere() -> None:
    assert Guard(is_local=True).refusal(b"mcp.example.com", None, PUBLIC) is not None


def test_a_refusal_shows_a_short_value_and_the_way_out() -> None:
    reason = Guard().refusal(b"x" * 10_000, None, LOOPBACK)
    assert reason is not None
    assert len(reason) < 300
    assert "allowed_hosts" in reason
