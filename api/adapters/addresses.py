"""Which addresses of the internet a fetch may connect to, and how a URL is read for it.

Pure: no name is resolved and nothing is connected here. Everything that is not clearly public is refused,
so a new special range is refused before anyone hears of it. Source: MA-13, attack case 14.
"""

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import quote, urljoin, urlsplit

import idna

from graph.model.errors import FetchRefused

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
IPNetwork = ipaddress.IPv4Network | ipaddress.IPv6Network

MAX_URL_LENGTH = 4_096


class Refusal(StrEnum):
    """Why a page was not fetched; `details["reason"]` of `FetchRefused`."""

    URL = "url"
    SCHEME = "scheme"
    USERINFO = "userinfo"
    HOST = "host"
    PORT = "port"
    ADDRESS = "address"
    REDIRECTS = "redirects"
    TIMEOUT = "timeout"
    TOO_LARGE = "too_large"
    ENCODING = "encoding"
    STATUS = "status"
    NETWORK = "network"


_MESSAGES = {
    Refusal.URL: "the address is not a valid URL; give one such as https://example.org/page",
    Refusal.SCHEME: "only http and https addresses are fetched",
    Refusal.USERINFO: "the address holds a user name or password; give it without",
    Refusal.HOST: "the host of the address is not a valid name or literal address",
    Refusal.PORT: "the port of the address belongs to another protocol",
    Refusal.ADDRESS: "the host does not lie on the public internet; submit the page as a file or text",
    Refusal.REDIRECTS: "the page redirects too often",
    Refusal.TIMEOUT: "the page took too long; try again, or submit it as a file or text",
    Refusal.TOO_LARGE: "the page is too large; submit the part that matters as a file or text",
    Refusal.ENCODING: "the page is compressed in a way that is not understood",
    Refusal.STATUS: "the server did not answer with a page",
    Refusal.NETWORK: "the server could not be reached; check the address and try again",
}


def refused(reason: Refusal, **details: object) -> FetchRefused:
    """Return the error for one reason; it never holds the address or anything of the page."""
    return FetchRefused(_MESSAGES[reason], reason=reason.value, **details)


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """One URL, read once: everything later uses these parts, never the text again."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        """The `Host` header: the port only where it is not the scheme's own."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.authority}{self.path}"


_DEFAULT_PORTS = {"http": 80, "https": 443}
_BAD_URL_CHARACTERS = re.compile(r"[\x00-\x20\x7f\\\u2028\u2029\ufffd]")
_HOST_NAME = re.compile(
    r"(?=.{1,253}\Z)[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
    r"(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*\Z"
)
_NUMBER = re.compile(r"(?:[0-9]+|0x[0-9a-f]*)\Z")
_PATH_SAFE = "/:@!$&'()*+,;=-._~%?"

# Ports below 1024 that speak HTTP by custom; above it, those of the Fetch standard's list of bad ports.
_LOW_PORTS = frozenset({80, 81, 443, 591, 593})
_BAD_HIGH_PORTS = frozenset(
    {1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, *range(6665, 6670), 6679, 6697, 10080}
)


def parse_target(url: str) -> Target:
    """Read a URL strictly.

    The fragment is dropped. A host that ends in a number but is not four plain decimal parts (decimal,
    octal, hexadecimal and short forms of IPv4) is refused, because programs disagree on what it means.

    Raises:
        FetchRefused: reasons `url`, `scheme`, `userinfo`, `host`, `port`.

    >>> parse_target("HTTPS://Example.ORG/a b?q=ü#part")
    Traceback (most recent call last):
    graph.model.errors.FetchRefused
    >>> parse_target("HTTPS://Example.ORG/a?q=ü#part").url
    'https://example.org/a?q=%C3%BC'
    """
    if not 0 < len(url) <= MAX_URL_LENGTH or _BAD_URL_CHARACTERS.search(url):
        raise refused(Refusal.URL)
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise refused(Refusal.URL) from None
    if parts.scheme not in _DEFAULT_PORTS:
        raise refused(Refusal.SCHEME)
    if "@" in parts.netloc:
        raise refused(Refusal.USERINFO)
    path = quote(parts.path or "/", safe=_PATH_SAFE)
    query = "?" + quote(parts.query, safe=_PATH_SAFE + "[]") if parts.query else ""
    return Target(
        scheme=parts.scheme,
        host=_host(parts.hostname or ""),
        port=_port(parts.scheme, port),
        path=(path if path.startswith("/") else "/" + path) + query,
    )


def follow(base: Target, location: str) -> Target:
    """Return the target of a redirect, read by the same rules.

    Raises:
        FetchRefused: as `parse_target`.
    """
    try:
        joined = urljoin(base.url, location)
    except ValueError:
        raise refused(Refusal.URL) from None
    return parse_target(joined)


def _host(raw: str) -> str:
    literal = _literal(raw)
    if literal is not None:
        return str(literal)
    name = _to_ascii(raw).removesuffix(".")
    # A name that became an address by Unicode mapping is an address as well.
    literal = _literal(name)
    if literal is not None:
        return str(literal)
    if not _HOST_NAME.match(name) or _NUMBER.match(name.rpartition(".")[2]):
        raise refused(Refusal.HOST)
    return name


def _literal(host: str) -> IPAddress | None:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address) and address.scope_id is not None:
        raise refused(Refusal.HOST)
    return address


def _to_ascii(host: str) -> str:
    if host.isascii():
        return host.lower()
    try:
        return idna.encode(host, uts46=True, transitional=False).decode("ascii").lower()
    except (idna.IDNAError, UnicodeError):
        raise refused(Refusal.HOST) from None


def _port(scheme: str, port: int | None) -> int:
    number = _DEFAULT_PORTS[scheme] if port is None else port
    allowed = number in _LOW_PORTS if number < 1024 else number not in _BAD_HIGH_PORTS
    if not allowed:
        raise refused(Refusal.PORT)
    return number


_REFUSED_V4 = tuple(
    ipaddress.ip_network(net)
    for net in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
        "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15",
        "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3",
        "168.63.129.16/32",  # a cloud's host agent answers there, on a public number
    )
)  # fmt: skip
_GLOBAL_V6 = ipaddress.ip_network("2000::/3")
_REFUSED_V6 = tuple(
    ipaddress.ip_network(net)
    for net in (
        "2001::/23", "2001:db8::/32", "2002::/16", "3ffe::/16", "3fff::/20",  # tunnels, papers, tests
    )
)  # fmt: skip


def is_public(address: IPAddress) -> bool:
    """Tell whether an address lies on the public internet.

    IPv6 counts only inside 2000::/3 and outside its special ranges, so mapped, compatible, translated,
    6to4 and Teredo forms of IPv4 are all refused, whatever they hold. Source: IANA special-purpose
    registries (RFC 6890 and its updates).

    >>> is_public(ipaddress.ip_address("::ffff:8.8.8.8"))
    False
    """
    if isinstance(address, ipaddress.IPv4Address):
        return address.is_global and not any(address in net for net in _REFUSED_V4)
    return address.is_global and address in _GLOBAL_V6 and not any(address in net for net in _REFUSED_V6)


def check_addresses(answers: Iterable[str], *, also_allowed: Iterable[IPNetwork] = ()) -> tuple[IPAddress, ...]:
    """Return the addresses of one host, in order, if every one of them may be connected to.

    One private address among public ones refuses all: it is the mark of an attempt to rebind.

    Raises:
        FetchRefused: reason `address`; reason `network` if there is no answer.
    """
    allowed = tuple(also_allowed)
    addresses = []
    for answer in answers:
        try:
            address = ipaddress.ip_address(answer)
        except ValueError:
            raise refused(Refusal.ADDRESS) from None
        if not is_public(address) and not any(address in net for net in allowed):
            raise refused(Refusal.ADDRESS)
        addresses.append(address)
    if not addresses:
        raise refused(Refusal.NETWORK)
    return tuple(addresses)
