from __future__ import annotations

import ipaddress
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest

from api.adapters.connectors.feed import FeedPlaces
from api.adapters.fetch import SafeFetcher
from graph.model.errors import BadInput, SyncFailed
from graph.model.time import Millis, parse
from graph.ports import DocumentPlaces, Loss, OpenedDocument
from tests.api.adapters.test_fetch import FixedClock
from tests.api.adapters.web import Names, Site, http, serving

MAX = 100_000
RSS = """<?xml version="1.0"?><rss version="2.0"><channel><title>News</title><link>/</link>
<item><guid isPermaLink="false">n2</guid><title>Orion ships</title><link>/orion</link>
<description>&lt;p&gt;Orion ships in &lt;b&gt;May&lt;/b&gt;.&lt;/p&gt;&lt;script&gt;evil()&lt;/script&gt;</description>
<pubDate>Sat, 10 May 2025 09:00:00 GMT</pubDate></item>
<item><guid isPermaLink="false">n1</guid><title>六月三日发布</title><description>短</description></item>
<item><title>nameless</title></item></channel></rss>"""
ATOM = """<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><title>News</title>
<entry><id>urn:1</id><title>Helio</title><link href="/helio"/><updated>2025-05-10T09:00:00Z</updated>
<summary>short</summary><content type="html">A team of &lt;i&gt;nine&lt;/i&gt; people.</content></entry></feed>"""


class Web:
    def __init__(self, site: Site) -> None:
        self.site = site
        fetcher = SafeFetcher(
            clock=FixedClock(),
            resolver=Names({"feeds.example": [["127.0.0.3"]]}),
            also_allowed=(ipaddress.ip_network("127.0.0.3/32"),),
        )
        self.places: DocumentPlaces = FeedPlaces(fetcher=fetcher)

    def url(self, path: str) -> str:
        return f"http://feeds.example:{self.site.port}{path}"

    def options(self, path: str = "/feed", *, pages: bool = False) -> dict[str, Any]:
        return {"url": self.url(path), "pages": pages}

    async def reason(self, path: str = "/feed") -> str:
        with pytest.raises(SyncFailed) as caught:
            await self.places.look(self.options(path), max_bytes=MAX)
        assert len(caught.value.message) > 20
        return caught.value.reason


@pytest.fixture
async def web() -> AsyncIterator[Web]:
    async with serving(Site(), "127.0.0.3") as site:
        yield Web(site)


@pytest.mark.req("MA-19")
async def test_an_rss_feed_gives_its_items_as_documents(web: Web) -> None:
    web.site.pages["/feed"] = http("200 OK", {"Content-Type": "application/rss+xml"}, RSS.encode())
    look = await web.places.look(web.options(), max_bytes=MAX)
    assert [one.external_id for one in look.documents] == ["n2", "n1"]
    first = look.documents[0].content
    assert isinstance(first, OpenedDocument)
    assert (first.title, first.modified_at) == ("Orion ships", parse("2025-05-10T09:00:00Z"))
    assert b"Orion ships in <b>May</b>." in first.body
    assert b"evil" not in first.body
    second = look.documents[1].content
    assert second is not None
    assert second.title == "六月三日发布"


@pytest.mark.req("MA-19", "MA-22")
async def test_an_atom_item_has_a_version_that_moves_with_what_it_says(web: Web) -> None:
    web.site.pages["/feed"] = http("200 OK", {}, ATOM.encode())
    (before,) = (await web.places.look(web.options(), max_bytes=MAX)).documents
    (same,) = (await web.places.look(web.options(), max_bytes=MAX)).documents
    assert before == same
    assert before.content is not None
    assert b"A team of <i>nine</i> people." in before.content.body
    web.site.pages["/feed"] = http("200 OK", {}, ATOM.replace("nine", "ten").encode())
    (after,) = (await web.places.look(web.options(), max_bytes=MAX)).documents
    assert (after.external_id, after.version == before.version) == ("urn:1", False)


@pytest.mark.req("MA-25")
@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (http("404 Not Found"), "place_gone"),
        (http("410 Gone"), "place_gone"),
        (http("403 Forbidden"), "place_forbidden"),
        (http("429 Too Many Requests"), "network"),
        (http("503 Service Unavailable"), "network"),
        (http("200 OK", {"Content-Length": "99999999"}), "too_large"),
        (http("200 OK", {}, b"<html><body>Gone fishing</body></html>"), "not_a_feed"),
        (http("200 OK", {}, b""), "not_a_feed"),
        (b"nonsense\r\n\r\n", "network"),
    ],
)
async def test_a_feed_that_vanishes_is_a_failed_sync_and_says_why(web: Web, answer: bytes, reason: str) -> None:
    web.site.pages["/feed"] = answer
    assert await web.reason() == reason


ITEM = '<rss version="2.0"><channel><item><guid>x</guid><title>&{};</title></item></channel></rss>'
LEVELS = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 9))
UNFOLDING = f'<?xml version="1.0"?><!DOCTYPE r [<!ENTITY a0 "lol">{LEVELS}]>{ITEM.format("a8")}'
REACHING = f'<?xml version="1.0"?><!DOCTYPE r [<!ENTITY f SYSTEM "file:///etc/passwd">]>{ITEM.format("f")}'


@pytest.mark.parametrize("text", [UNFOLDING, REACHING])
async def test_entities_of_a_feed_neither_unfold_nor_reach_files(web: Web, text: str) -> None:
    web.site.pages["/feed"] = http("200 OK", {}, text.encode())
    try:
        look = await web.places.look(web.options(), max_bytes=MAX)
    except SyncFailed:
        return
    bodies = [one.content.body for one in look.documents if one.content]
    assert all(len(body) < 10_000 and b"root:" not in body for body in bodies)


@pytest.mark.req("MA-13")
async def test_neither_the_feed_nor_its_links_reach_into_the_servers_own_network(web: Web) -> None:
    with pytest.raises(SyncFailed) as caught:
        await web.places.look({"url": "http://127.0.0.1:80/feed", "pages": False}, max_bytes=MAX)
    assert caught.value.reason == "not_public"
    for address in ("http://127.0.0.1/", "http://169.254.169.254/latest", "file:///etc/passwd"):
        with pytest.raises(SyncFailed):
            await web.places.open(web.options(pages=True), address, max_bytes=MAX)


@pytest.mark.req("MA-25")
@pytest.mark.parametrize(
    ("status", "loss"),
    [
        ("404 Not Found", Loss.NOT_FOUND),
        ("410 Gone", Loss.NOT_FOUND),
        ("403 Forbidden", Loss.FORBIDDEN),
        ("401 No", Loss.FORBIDDEN),
    ],
)
async def test_the_page_behind_an_item_is_lost_by_an_explicit_answer_alone(web: Web, status: str, loss: Loss) -> None:
    web.site.pages["/feed"] = http("200 OK", {}, RSS.encode())
    look = await web.places.look(web.options(pages=True), max_bytes=MAX)
    assert [one.external_id for one in look.documents] == [web.url("/orion")]
    assert look.ask_for_others == timedelta(days=1)
    web.site.pages["/orion"] = http("200 OK", {"Content-Type": "text/html"}, b"<p>It ships.</p>")
    found = await web.places.open(web.options(pages=True), web.url("/orion"), max_bytes=MAX)
    assert isinstance(found, OpenedDocument)
    assert (found.body, found.modified_at) == (b"<p>It ships.</p>", Millis(FixedClock().now()))
    web.site.pages["/orion"] = http(status)
    assert await web.places.open(web.options(pages=True), web.url("/orion"), max_bytes=MAX) is loss
    web.site.pages["/orion"] = http("500 Oh")
    with pytest.raises(SyncFailed):
        await web.places.open(web.options(pages=True), web.url("/orion"), max_bytes=MAX)


async def test_old_items_of_a_feed_without_pages_are_not_asked_for(web: Web) -> None:
    web.site.pages["/feed"] = http("200 OK", {}, RSS.encode())
    assert (await web.places.look(web.options(), max_bytes=MAX)).ask_for_others is None


def test_options_are_checked_before_anything_is_fetched() -> None:
    places = Web(Site()).places
    assert places.check({"url": "https://example.org/feed"}) == {"url": "https://example.org/feed", "pages": False}
    wrong: list[dict[str, Any]] = [
        {},
        {"url": 1},
        {"url": "ftp://example.org/feed"},
        {"url": "https://example.org", "pages": "yes"},
        {"url": "https://u:p@example.org/"},
        {"url": "https://example.org", "token": "x"},
    ]
    for given in wrong:
        with pytest.raises(BadInput):
            places.check(given)


@pytest.mark.req("MA-19", "MA-25")
@pytest.mark.parametrize("date", ["0000-01-01T00:00:00Z", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
async def test_an_item_of_no_year_keeps_its_feed(web: Web, date: str) -> None:
    web.site.pages["/feed"] = http("200 OK", {}, RSS.replace("Sat, 10 May 2025 09:00:00 GMT", date).encode())
    look = await web.places.look(web.options(), max_bytes=MAX)
    assert [one.external_id for one in look.documents] == ["n2", "n1"]
    first = look.documents[0].content
    assert isinstance(first, OpenedDocument)
    assert first.modified_at is None


@pytest.mark.req("MA-19")
@pytest.mark.parametrize("reference", ["&#xD800;", "&#55296;", "&#0;", "&#x110000;", f"&#{'9' * 5_000};"])
async def test_a_reference_to_no_character_ends_no_feed(web: Web, reference: str) -> None:
    feed = RSS.replace("Orion ships<", f"Orion{reference} ships &#x41;<")
    web.site.pages["/feed"] = http("200 OK", {"Content-Type": "application/rss+xml"}, feed.encode())
    look = await web.places.look(web.options(), max_bytes=MAX)
    first, *others = look.documents
    assert first.content is not None
    assert (first.content.title, len(others)) == ("Orion\ufffd ships A", 1)
