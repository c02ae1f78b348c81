"""The rules that need no network: which URIs, hosts and addresses a schema may be fetched from."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from anyshape.addresses import special_use
from anyshape.schema._remote.vetting import (
    Destination,
    Refused,
    admits,
    read_entry,
    read_network,
    read_target,
    shorten,
)

PUBLIC = [
    "1.1.1.1",
    "8.8.8.8",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.0",
    "168.63.129.15",
    "169.253.255.255",
    "169.255.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "192.0.1.0",
    "192.0.3.0",
    "192.167.255.255",
    "192.169.0.0",
    "198.17.255.255",
    "198.20.0.0",
    "223.255.255.255",
    "2001:200::1",
    "2001:db7:ffff::1",
    "2001:db9::1",
    "2003::1",
    "2606:4700:4700::1111",
    "2a00:1450:4001:80b::200e",
    "3ffe:ffff::1",
]

NOT_PUBLIC = [
    ("0.0.0.0", "unspecified"),
    ("0.1.2.3", "unspecified"),
    ("::", "unspecified"),
    ("127.0.0.1", "loopback"),
    ("127.255.255.255", "loopback"),
    ("::1", "loopback"),
    ("10.0.0.0", "private"),
    ("10.255.255.255", "private"),
    ("172.16.0.0", "private"),
    ("172.31.255.255", "private"),
    ("192.168.0.0", "private"),
    ("192.168.255.255", "private"),
    ("fc00::1", "private"),
    ("fd00:ec2::254", "private"),
    ("fec0::1", "private"),
    ("100.64.0.0", "CGNAT"),
    ("100.100.100.200", "CGNAT"),
    ("100.127.255.255", "CGNAT"),
    ("169.254.0.0", "link-local"),
    ("169.254.169.254", "link-local"),
    ("fe80::1", "link-local"),
    ("febf::1", "link-local"),
    ("224.0.0.1", "multicast"),
    ("239.255.255.255", "multicast"),
    ("ff02::1", "multicast"),
    ("240.0.0.0", "reserved"),
    ("255.255.255.255", "reserved"),
    ("192.0.0.192", "reserved"),
    ("2001::1", "reserved"),
    ("2001:0:4136:e378:8000:63bf:3fff:fdd2", "reserved"),
    ("2001:10::1", "reserved"),
    ("2001:2::1", "reserved"),
    ("100::1", "reserved"),
    ("192.0.2.1", "documentation"),
    ("198.51.100.1", "documentation"),
    ("203.0.113.1", "documentation"),
    ("2001:db8::1", "documentation"),
    ("3fff::1", "documentation"),
    ("198.18.0.1", "benchmarking"),
    ("198.19.255.255", "benchmarking"),
    ("192.88.99.1", "infrastructure"),
    ("192.175.48.1", "infrastructure"),
    ("168.63.129.16", "cloud"),
    ("::ffff:127.0.0.1", "IPv4 inside IPv6"),
    ("::ffff:8.8.8.8", "IPv4 inside IPv6"),
    ("::ffff:a9fe:a9fe", "IPv4 inside IPv6"),
    ("::ffff:0:127.0.0.1", "IPv4 inside IPv6"),
    ("::127.0.0.1", "IPv4 inside IPv6"),
    ("::8.8.8.8", "IPv4 inside IPv6"),
    ("64:ff9b::127.0.0.1", "IPv4 inside IPv6"),
    ("64:ff9b:1::a00:1", "IPv4 inside IPv6"),
    ("2002:7f00:1::", "IPv4 inside IPv6"),
    ("2002:808:808::1", "IPv4 inside IPv6"),
    ("1::1", "outside"),
    ("4000::1", "outside"),
    ("5f00::1", "outside"),
    ("fe00::1", "outside"),
    ("fe80::1%eth0", "interface"),
    ("2606:4700::1%eth0", "interface"),
    ("", "not an IP address"),
    ("localhost", "not an IP address"),
    ("127.1", "not an IP address"),
    ("010.0.0.1", "not an IP address"),
    ("0x7f000001", "not an IP address"),
    ("8.8.8.8 ", "not an IP address"),
    ("[::1]", "not an IP address"),
]


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_is_accepted(address: str) -> None:
    assert special_use(address, ()) is None


@pytest.mark.parametrize(("address", "kind"), NOT_PUBLIC)
def test_an_address_that_is_not_public_is_refused_by_its_kind(address: str, kind: str) -> None:
    assert kind in (special_use(address, ()) or "")


@given(st.ip_addresses())
@example(ipaddress.ip_address("192.0.0.9"))
def test_nothing_the_standard_library_calls_special_is_accepted(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> None:
    special = (
        address.is_private
        or address.is_loopback
        or address.is_link_local
        or address.is_multicast
        or address.is_reserved
        or address.is_unspecified
    )
    if special:
        assert special_use(str(address), ()) is not None


@given(st.ip_addresses(v=4))
def test_an_ipv4_address_inside_an_ipv6_address_is_refused_whatever_it_is(
    address: ipaddress.IPv4Address,
) -> None:
    number = int(address)
    for inside in (
        0xFFFF << 32 | number,  # mapped
        number,  # compatible
        0xFFFF << 48 | number,  # translated
        0x64FF9B << 96 | number,  # NAT64
        0x2002 << 112 | number << 80,  # 6to4
        0x20010000 << 96 | number ^ 0xFFFFFFFF,  # Teredo
    ):
        assert special_use(str(ipaddress.IPv6Address(inside)), ()) is not None


def test_the_operator_can_permit_a_network_and_only_that_network() -> None:
    allowed = ("10.20.0.0/24", "::1/128")
    verdicts = {
        address: special_use(address, allowed) is None
        for address in ("10.20.0.7", "10.20.1.7", "::1", "::ffff:10.20.0.7", "127.0.0.1")
    }
    assert verdicts == {
        "10.20.0.7": True,
        "10.20.1.7": False,
        "::1": True,
        "::ffff:10.20.0.7": False,
        "127.0.0.1": False,
    }


@pytest.mark.parametrize(
    ("uri", "target"),
    [
        ("https://a.example", Destination("https", "a.example", 443, "/")),
        ("https://A.Example/x?y=1#z", Destination("https", "a.example", 443, "/x?y=1")),
        ("HTTPS://a.example:8443/%7Ex", Destination("https", "a.example", 8443, "/%7Ex")),
        ("https://a.example:/x", Destination("https", "a.example", 443, "/x")),
        ("http://a.example/x", Destination("http", "a.example", 80, "/x")),
        ("https://192.0.2.1/x", Destination("https", "192.0.2.1", 443, "/x")),
        ("https://[2001:DB8:0::1]:8443/x", Destination("https", "2001:db8::1", 8443, "/x")),
        (
            "https://xn--bcher-kva.example/x",
            Destination("https", "xn--bcher-kva.example", 443, "/x"),
        ),
    ],
)
def test_an_absolute_uri_is_taken_apart(uri: str, target: Destination) -> None:
    assert read_target(uri) == target


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "a.json",
        "//a.example/x",
        "/a.json",
        "file:///etc/passwd",
        "ftp://a.example/x",
        "gopher://a.example:70/x",
        "urn:example:x",
        "data:application/json,{}",
        "javascript:0",
        "https:a.example/x",
        "https:///x",
        "https://",
        "https://:443/x",
        "https://user@a.example/x",
        "https://user:secret@a.example/x",
        "https://a.example@b.example/x",
        "https://@a.example/x",
        "https://a.example:99999/x",
        "https://a.example:8o/x",
        "https://a.example:-1/x",
        "https://a.example\\@b.example/x",
        "https://a.example/x y",
        "https://a.example/x\r\nHost: b.example",
        "https://a.example/x\ty",
        " https://a.example/x",
        "\x00https://a.example/x",
        "https://a.example/%",
        "https://a.example/%zz",
        "https://a%2eexample/x",
        "https://bücher.example/x",
        "https://a.example/ü",
        "https://a..example/x",
        "https://.example/x",
        "https://a.example./x",
        "https://-a.example/x",
        "https://a-.example/x",
        f"https://{'a' * 64}.example/x",
        f"https://{'a.' * 130}example/x",
        "https://127.1/x",
        "https://2130706433/x",
        "https://0x7f000001/x",
        "https://0177.0.0.1/x",
        "https://a.0x7f/x",
        "https://1.2.3.4.5/x",
        "https://[::1/x",
        "https://[::1%25eth0]/x",
        "https://[v1.a]/x",
        "https://[127.0.0.1]/x",
        f"https://a.example/{'x' * 2048}",
    ],
)
def test_a_uri_that_could_be_read_in_two_ways_is_refused(uri: str) -> None:
    with pytest.raises(Refused):
        read_target(uri)


@pytest.mark.parametrize(
    ("entry", "uri", "verdict"),
    [
        ("a.example", "https://a.example/x", True),
        ("A.Example", "https://a.EXAMPLE/x", True),
        ("a.example", "http://a.example/x", True),
        ("a.example", "https://a.example:443/x", True),
        ("a.example", "https://a.example:8443/x", False),
        ("a.example", "https://b.a.example/x", False),
        ("a.example", "https://a.example.evil.test/x", False),
        ("a.example", "https://xa.example/x", False),
        ("a.example:8443", "https://a.example:8443/x", True),
        ("a.example:8443", "https://a.example/x", False),
        ("a.example:443", "https://a.example/x", True),
        ("*.a.example", "https://b.a.example/x", True),
        ("*.a.example", "https://c.b.a.example/x", True),
        ("*.a.example", "https://a.example/x", False),
        ("*.a.example", "https://xa.example/x", False),
        ("*.a.example:8443", "https://b.a.example:8443/x", True),
        ("*.a.example:8443", "https://b.a.example/x", False),
        ("10.0.0.5", "https://10.0.0.5/x", True),
        ("[2001:db8::1]:8443", "https://[2001:DB8:0:0::1]:8443/x", True),
        ("[2001:db8::1]", "https://[2001:db8::2]/x", False),
    ],
)
def test_an_allowlist_entry_admits_its_host_and_port_only(
    entry: str, uri: str, verdict: bool
) -> None:
    assert admits(read_entry(entry), read_target(uri)) is verdict


@pytest.mark.parametrize(
    "entry",
    [
        "",
        "*",
        "*.",
        "*.*.example",
        "a.*.example",
        "*a.example",
        "https://a.example",
        "a.example/x",
        "user@a.example",
        "a.example:",
        "a.example:0",
        "a.example:65536",
        "a.example:https",
        "a.example.",
        "bücher.example",
        "::1",
        "[a.example]",
        "127.1",
        "*.1.2.3",
        " a.example",
    ],
)
def test_a_malformed_allowlist_entry_is_an_error(entry: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        read_entry(entry)


@pytest.mark.parametrize(
    "text", ["", "a.example", "10.0.0.0/33", "10.0.0.1/8", "0.0.0.0/0", "::/0"]
)
def test_a_malformed_or_boundless_network_is_an_error(text: str) -> None:
    with pytest.raises(ValueError):
        read_network(text)


@given(st.text())
def test_any_text_is_shown_as_one_short_printable_line(text: str) -> None:
    line = shorten(text)
    assert len(line) <= 200
    assert line.isprintable()


def test_a_password_is_not_shown() -> None:
    assert shorten("https://user:secret@a.example/x") == "https://…@a.example/x"


@given(st.text())
def test_any_text_is_a_target_or_refused(text: str) -> None:
    for uri in (text, f"https://{text}", f"https://a.example/{text}"):
        try:
            target = read_target(uri)
        except Refused:
            continue
        assert target.path.isascii()
        assert target.path.isprintable()
        assert " " not in target.path
