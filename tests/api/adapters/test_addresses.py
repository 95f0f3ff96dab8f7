import ipaddress

import pytest

from api.adapters.addresses import Refusal, check_addresses, follow, is_public, parse_target
from graph.model.errors import FetchRefused


def reason_of(url: str) -> str:
    with pytest.raises(FetchRefused) as caught:
        parse_target(url)
    assert caught.value.code == "FETCH_REFUSED"
    return str(caught.value.details["reason"])


@pytest.mark.parametrize(
    ("url", "read"),
    [
        ("http://example.org", "http://example.org/"),
        ("HTTP://EXAMPLE.org:80/A?b=c#d", "http://example.org/A?b=c"),
        ("https://example.org:8443/x", "https://example.org:8443/x"),
        ("https://example.org./x", "https://example.org/x"),
        ("https://例え.jp/道?x=[1]", "https://xn--r8jz45g.jp/%E9%81%93?x=[1]"),
        ("http://[2606:4700::1111]/", "http://[2606:4700::1111]/"),
        ("http://8.8.8.8/%7Ea%20b", "http://8.8.8.8/%7Ea%20b"),
        ("http://example.org?q", "http://example.org/?q"),
    ],
)
def test_an_ordinary_url_is_read_into_its_parts(url: str, read: str) -> None:
    assert parse_target(url).url == read


@pytest.mark.req("MA-13")
@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("", Refusal.URL),
        ("http://example.org/" + "a" * 4_096, Refusal.URL),
        ("http://exam ple.org/", Refusal.URL),
        ("http://example.org/\r\nHost: x", Refusal.URL),
        ("http://good.example\\@127.0.0.1/", Refusal.URL),
        ("http://[::1", Refusal.URL),
        ("http://example.org:port/", Refusal.URL),
        ("file:///etc/passwd", Refusal.SCHEME),
        ("gopher://example.org/", Refusal.SCHEME),
        ("javascript:alert(1)", Refusal.SCHEME),
        ("//example.org/", Refusal.SCHEME),
        ("http://user:secret@example.org/", Refusal.USERINFO),
        ("http://@example.org/", Refusal.USERINFO),
        ("http:///path", Refusal.HOST),
        ("http://2130706433/", Refusal.HOST),
        ("http://0x7f000001/", Refusal.HOST),
        ("http://0177.0.0.1/", Refusal.HOST),
        ("http://127.1/", Refusal.HOST),
        ("http://example.0x1/", Refusal.HOST),
        ("http://a..b/", Refusal.HOST),
        ("http://%31%32%37.0.0.1/", Refusal.HOST),
        ("http://[fe80::1%25eth0]/", Refusal.HOST),
        ("http://example.org:22/", Refusal.PORT),
        ("http://example.org:6667/", Refusal.PORT),
        ("http://example.org:0/", Refusal.PORT),
    ],
)
def test_a_strange_url_is_refused_with_its_reason(url: str, reason: Refusal) -> None:
    assert reason_of(url) == reason


def test_unicode_digits_become_the_address_they_stand_for() -> None:
    assert parse_target("http://１２７.０.０.１/").host == "127.0.0.1"
    assert parse_target("http://127。0。0。1/").host == "127.0.0.1"


def test_a_relative_redirect_stays_on_its_host() -> None:
    base = parse_target("https://example.org/a/b")
    assert follow(base, "../c?d").url == "https://example.org/c?d"
    assert follow(base, "//other.example/x").url == "https://other.example/x"


def test_a_redirect_is_read_as_strictly_as_the_first_url() -> None:
    with pytest.raises(FetchRefused):
        follow(parse_target("https://example.org/"), "file:///etc/passwd")


@pytest.mark.req("MA-13")
@pytest.mark.parametrize(
    "address",
    [
        "0.0.0.0", "10.1.2.3", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.255.254",
        "169.254.169.254", "172.31.0.1", "192.0.0.192", "192.0.2.1", "192.88.99.1", "192.168.1.1",
        "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.1.1.1", "240.0.0.1",
        "255.255.255.255", "168.63.129.16",
        "::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "64:ff9b::7f00:1",
        "64:ff9b:1::1", "100::1", "2001::1", "2001:db8::1", "2002:7f00:1::", "3fff::1", "5f00::1",
        "fc00::1", "fd00:ec2::254", "fe80::1", "fec0::1", "ff02::1",
    ],
)  # fmt: skip
def test_special_addresses_are_not_public(address: str) -> None:
    assert not is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize("address", ["8.8.8.8", "1.1.1.1", "172.32.0.1", "2606:4700::1111", "2a00:1450::1"])
def test_ordinary_addresses_are_public(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))


def test_one_private_answer_among_public_ones_refuses_all() -> None:
    assert [str(a) for a in check_addresses(["8.8.8.8", "1.1.1.1"])] == ["8.8.8.8", "1.1.1.1"]
    with pytest.raises(FetchRefused):
        check_addresses(["8.8.8.8", "10.0.0.1"])


def test_no_answer_is_refused_as_unreachable() -> None:
    with pytest.raises(FetchRefused) as caught:
        check_addresses([])
    assert caught.value.details["reason"] == Refusal.NETWORK
