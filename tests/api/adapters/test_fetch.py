import asyncio
import contextlib
import datetime
import gzip
import ipaddress
import ssl
import zlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from api.adapters.addresses import Refusal
from api.adapters.fetch import FetchLimits, SafeFetcher
from graph.model.errors import FetchRefused
from graph.model.time import Millis
from graph.ports import FetchedPage, PageFetcher
from tests.api.adapters.web import Names, Recorder, Site, http, redirect, serving

SITE_NET = (ipaddress.ip_network("127.0.0.2/32"),)
PAGE = http("200 OK", {"Content-Type": "text/html; charset=UTF-8"}, b"<p>Hello</p>")


class FixedClock:
    def now(self) -> Millis:
        return Millis(1_746_835_200_000)

    async def sleep(self, seconds: float) -> None:
        raise AssertionError("nothing waits here")


@dataclass
class Net:
    """A site on 127.0.0.2, which is allowed, and a sentinel on the other loopback addresses, which are not."""

    site: Site
    sentinel: Site
    connector: Recorder

    def fetcher(self, names: Names | None = None, **limits: float) -> SafeFetcher:
        return SafeFetcher(
            clock=FixedClock(),
            resolver=names or Names({"site.example": [["127.0.0.2"]]}),
            limits=FetchLimits(**limits),  # type: ignore[arg-type]
            also_allowed=SITE_NET,
            connector=self.connector,
        )

    def url(self, path: str) -> str:
        return f"http://site.example:{self.site.port}{path}"

    async def get(self, path: str, names: Names | None = None, **limits: float) -> FetchedPage:
        return await self.fetcher(names, **limits).fetch(self.url(path))

    async def refusal(self, path: str, names: Names | None = None, **limits: float) -> str:
        with pytest.raises(FetchRefused) as caught:
            await self.get(path, names, **limits)
        return str(caught.value.details["reason"])


@pytest.fixture
async def net() -> AsyncIterator[Net]:
    site, sentinel = Site(), Site()
    async with contextlib.AsyncExitStack() as stack:
        await stack.enter_async_context(serving(site, "127.0.0.2"))
        await stack.enter_async_context(serving(sentinel, "127.0.0.1"))
        with contextlib.suppress(OSError):
            await stack.enter_async_context(serving(sentinel, "::1", sentinel.port))
        yield Net(site, sentinel, Recorder())


@pytest.mark.req("MA-13")
async def test_a_page_comes_with_its_type_and_the_time_of_fetching(net: Net) -> None:
    net.site.pages["/a"] = PAGE
    assert await net.get("/a") == FetchedPage(
        final_url=net.url("/a"),
        media_type="text/html; charset=utf-8",
        body=b"<p>Hello</p>",
        fetched_at=Millis(1_746_835_200_000),
    )
    assert net.site.hosts == [f"site.example:{net.site.port}"]


@pytest.mark.req("MA-13")
async def test_five_redirects_are_followed_and_six_are_not(net: Net) -> None:
    net.site.pages["/0"] = PAGE
    for n in range(1, 7):
        net.site.pages[f"/{n}"] = redirect(f"/{n - 1}", "308 Permanent Redirect")
    assert (await net.get("/5")).final_url == net.url("/0")
    assert await net.refusal("/6") == Refusal.REDIRECTS


DIRECT = [
    "http://127.0.0.1:{p}/", "http://127.0.0.1.:{p}/", "http://127.8.8.8:{p}/", "http://localhost:{p}/",
    "http://LOCALHOST.:{p}/", "http://127.1:{p}/", "http://127.0.1:{p}/", "http://2130706433:{p}/",
    "http://0x7f000001:{p}/", "http://0x7F.0.0.1:{p}/", "http://0177.0.0.1:{p}/", "http://017700000001:{p}/",
    "http://0:{p}/", "http://0.0.0.0:{p}/", "http://127.0.0.1%2f:{p}/", "http://%31%32%37.0.0.1:{p}/",
    "http://１２７.０.０.１:{p}/", "http://①②⑦.⓪.⓪.①:{p}/", "http://127。0。0。1:{p}/",
    "http://[::1]:{p}/", "http://[::]:{p}/", "http://[0:0:0:0:0:0:0:1]:{p}/", "http://[::127.0.0.1]:{p}/",
    "http://[::ffff:127.0.0.1]:{p}/", "http://[::ffff:7f00:1]:{p}/", "http://[0:0:0:0:0:ffff:7f00:0001]:{p}/",
    "http://[64:ff9b::127.0.0.1]:{p}/", "http://[2002:7f00:1::]:{p}/", "http://[::1%25lo]:{p}/",
    "http://[fe80::1]:{p}/", "http://[fd00:ec2::254]/", "http://[ff02::1]:{p}/",
    "http://good.example@127.0.0.1:{p}/", "http://good.example:80@127.0.0.1:{p}/",
    "http://127.0.0.1:{p}\\@good.example/", "http://127.0.0.1\t:{p}/", " http://127.0.0.1:{p}/",
    "http:\\\\127.0.0.1:{p}\\", "http:/127.0.0.1:{p}/", "http:127.0.0.1:{p}/", "//127.0.0.1:{p}/",
    "ftp://127.0.0.1:{p}/", "file:///etc/passwd", "file://127.0.0.1/etc/passwd", "gopher://127.0.0.1:{p}/_x",
    "dict://127.0.0.1:{p}/", "ldap://127.0.0.1:{p}/", "ws://127.0.0.1:{p}/", "data:text/html,x",
    "jar:http://127.0.0.1:{p}/!/", "http+unix://%2Fvar%2Frun%2Fx.sock/",
    "http://169.254.169.254/latest/meta-data/", "http://0xa9fea9fe/", "http://[::ffff:169.254.169.254]/",
    "http://100.100.100.200/", "http://168.63.129.16/", "http://192.0.0.192/", "http://10.0.0.1/",
    "http://172.16.0.1/", "http://192.168.0.1/", "http://198.18.0.1/", "http://224.0.0.1/",
    "http://255.255.255.255/", "https://127.0.0.1:{p}/",
    "http://loop.example:{p}/", "http://mapped.example:{p}/", "http://metadata.internal/",
    "http://mixed.example:{p}/", "http://private.example:{p}/", "http://six.example:{p}/",
]  # fmt: skip


def hostile_names() -> Names:
    return Names(
        {
            "site.example": [["127.0.0.2"]],
            "localhost": [["127.0.0.1", "::1"]],
            "loop.example": [["127.0.0.1"]],
            "mapped.example": [["::ffff:127.0.0.1"]],
            "metadata.internal": [["169.254.169.254"]],
            "mixed.example": [["93.184.215.14", "127.0.0.1"]],
            "private.example": [["10.0.0.7"]],
            "six.example": [["::1"]],
        }
    )


def test_there_are_at_least_sixty_payloads() -> None:
    assert len(set(DIRECT)) >= 60


@pytest.mark.req("MA-13")
@pytest.mark.parametrize("template", DIRECT)
async def test_no_payload_reaches_the_network_of_the_server(net: Net, template: str) -> None:
    with pytest.raises(FetchRefused):
        await net.fetcher(hostile_names()).fetch(template.format(p=net.sentinel.port))
    assert net.connector.attempts == []
    assert net.sentinel.connections == 0


@pytest.mark.req("MA-13")
@pytest.mark.parametrize("template", [t for t in DIRECT if t.isascii()])
async def test_no_payload_reaches_it_behind_a_redirect(net: Net, template: str) -> None:
    net.site.pages["/go"] = redirect(template.format(p=net.sentinel.port))
    with pytest.raises(FetchRefused):
        await net.fetcher(hostile_names()).fetch(net.url("/go"))
    assert set(net.connector.attempts) == {"127.0.0.2"}
    assert net.sentinel.connections == 0


def test_it_is_the_port() -> None:
    port: PageFetcher = SafeFetcher(clock=FixedClock())
    assert isinstance(port, SafeFetcher)
    assert port.also_allowed == ()


async def test_the_sentinel_would_have_been_reached_without_the_rule(net: Net) -> None:
    net.sentinel.pages["/"] = PAGE
    open_fetcher = SafeFetcher(clock=FixedClock(), also_allowed=(ipaddress.ip_network("127.0.0.0/8"),))
    assert (await open_fetcher.fetch(f"http://127.0.0.1:{net.sentinel.port}/")).body == b"<p>Hello</p>"
    assert net.sentinel.connections == 1


@pytest.mark.req("MA-13")
async def test_a_name_is_looked_up_once_for_each_connection_and_pinned(net: Net) -> None:
    names = Names({"rebind.example": [["93.184.215.14"], ["127.0.0.1"]]})
    with pytest.raises(FetchRefused):
        await net.fetcher(names).fetch(f"http://rebind.example:{net.sentinel.port}/")
    assert (names.asked, net.connector.attempts) == (["rebind.example"], ["93.184.215.14"])
    assert net.sentinel.connections == 0


@pytest.mark.req("MA-13")
async def test_a_name_that_answers_otherwise_after_a_redirect_is_refused(net: Net) -> None:
    names = Names({"site.example": [["127.0.0.2"], ["127.0.0.1"]]})
    net.site.pages["/go"] = redirect(f"http://site.example:{net.sentinel.port}/")
    assert await net.refusal("/go", names) == Refusal.ADDRESS
    assert net.sentinel.connections == 0


async def test_the_next_address_is_tried_when_the_first_does_not_answer(net: Net) -> None:
    net.site.pages["/a"] = PAGE
    names = Names({"site.example": [["93.184.215.14", "127.0.0.2"]]})
    assert (await net.get("/a", names)).body == b"<p>Hello</p>"


@pytest.mark.parametrize("status", ["404 Not Found", "500 Oops", "204 No Content", "206 Partial Content"])
async def test_an_answer_that_is_no_page_is_refused(net: Net, status: str) -> None:
    net.site.pages["/a"] = http(status)
    assert await net.refusal("/a") == Refusal.STATUS


@pytest.mark.req("MA-13")
async def test_a_body_of_the_limit_is_taken_and_one_byte_more_is_not(net: Net) -> None:
    net.site.pages["/a"] = http("200 OK", {}, b"x" * 1_000)
    assert len((await net.get("/a", max_bytes=1_000)).body) == 1_000
    assert await net.refusal("/a", max_bytes=999) == Refusal.TOO_LARGE


@pytest.mark.req("MA-13")
async def test_an_endless_body_is_cut_off(net: Net) -> None:
    async def endless(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
        while not writer.is_closing():
            writer.write(b"x" * 10_000)
            await writer.drain()

    net.site.pages["/a"] = endless
    assert await net.refusal("/a", max_bytes=100_000) == Refusal.TOO_LARGE


async def test_an_endless_head_is_cut_off(net: Net) -> None:
    async def endless(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n")
        while not writer.is_closing():
            writer.write(b"X-Y: " + b"x" * 1_000 + b"\r\n")
            await writer.drain()

    net.site.pages["/a"] = endless
    assert await net.refusal("/a") == Refusal.NETWORK


@pytest.mark.req("MA-13")
@pytest.mark.parametrize("begin", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nx"])
async def test_a_server_that_dawdles_runs_into_the_total_time(net: Net, begin: bytes) -> None:
    async def dawdle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(begin)
        await reader.read()

    net.site.pages["/a"] = dawdle
    assert await net.refusal("/a", total_s=0.2) == Refusal.TIMEOUT


def packed(body: bytes) -> bytes:
    return http("200 OK", {"Content-Type": "text/plain", "Content-Encoding": "gzip"}, body)


async def test_gzip_is_undone_in_one_or_several_members(net: Net) -> None:
    net.site.pages["/a"] = packed(gzip.compress(b"one ") + gzip.compress(b"two" * 100_000))
    assert (await net.get("/a")).body == b"one " + b"two" * 100_000


@pytest.mark.req("MA-13")
async def test_a_gzip_bomb_is_cut_while_it_unfolds(net: Net) -> None:
    net.site.pages["/a"] = packed(gzip.compress(b"\0" * 50_000_000))
    assert await net.refusal("/a", max_bytes=1_000_000) == Refusal.TOO_LARGE


@pytest.mark.parametrize("body", [b"not gzip", gzip.compress(b"x" * 1_000)[:-9]])
async def test_damaged_gzip_is_refused(net: Net, body: bytes) -> None:
    net.site.pages["/a"] = packed(body)
    assert await net.refusal("/a") == Refusal.ENCODING


async def test_an_unknown_content_coding_is_refused(net: Net) -> None:
    net.site.pages["/a"] = http("200 OK", {"Content-Encoding": "gzip, gzip"}, zlib.compress(b"x"))
    assert await net.refusal("/a") == Refusal.ENCODING


async def test_proxy_variables_are_not_read(net: Net, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{net.sentinel.port}")
    net.site.pages["/a"] = PAGE
    await net.get("/a")
    assert net.sentinel.connections == 0


def certificate(folder: Path, name: str) -> Path:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    day = datetime.timedelta(days=1)
    now = datetime.datetime.now(datetime.UTC)
    signed = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number(), now - day, now + day)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    file = folder / "site.pem"
    pem = serialization.Encoding.PEM
    plain = serialization.NoEncryption()
    file.write_bytes(key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain) + signed.public_bytes(pem))
    return file


@pytest.mark.parametrize(("host", "accepted"), [("site.example", True), ("other.example", False)])
async def test_tls_checks_the_name_although_the_address_is_pinned(tmp_path: Path, host: str, accepted: bool) -> None:
    file = certificate(tmp_path, "site.example")
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(file)
    trust = ssl.create_default_context(cafile=str(file))
    async with serving(Site(), "127.0.0.2", tls=server) as site:
        site.pages["/"] = PAGE
        fetcher = SafeFetcher(
            clock=FixedClock(),
            resolver=Names({"site.example": [["127.0.0.2"]], "other.example": [["127.0.0.2"]]}),
            also_allowed=SITE_NET,
            ssl_context=trust,
        )
        call = fetcher.fetch(f"https://{host}:{site.port}/")
        if accepted:
            assert (await call).body == b"<p>Hello</p>"
        else:
            with pytest.raises(FetchRefused) as caught:
                await call
            assert caught.value.details["reason"] == Refusal.NETWORK
