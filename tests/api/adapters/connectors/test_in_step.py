"""Real places under a real sync: a feed that is read, changes, vanishes and comes back; pages that are lost."""

from __future__ import annotations

import ipaddress
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import pytest

from api.adapters.connectors.feed import FeedPlaces
from api.adapters.fetch import SafeFetcher
from graph.model.nodes.knowledge import Entry, KbKind
from graph.ports import DocumentPlaces
from graph.services.access.commands import command
from graph.services.deps import Deps
from graph.services.knowledge.connectors_provisioning import create_connector
from tests.api.adapters.web import Names, Site, http, serving
from tests.support.connected import Connected
from tests.support.held_clock import HeldClock
from tests.support.world import TeamWorld
from tests.unit.graph.services.asking import sees
from tests.unit.graph.services.conftest import deps, engine, fetcher, store, world

__all__ = ["deps", "engine", "fetcher", "store", "world"]
pytestmark = pytest.mark.parametrize("engine", ["embedded"], indirect=True)

DAY = timedelta(days=1, minutes=1)


def rss(*items: tuple[str, str]) -> bytes:
    shown = "".join(
        f'<item><guid isPermaLink="false">{name}</guid><title>{name}</title><link>/{name}</link>'
        f"<description>{text}</description></item>"
        for name, text in items
    )
    return http("200 OK", {}, f'<rss version="2.0"><channel>{shown}</channel></rss>'.encode())


class Feed(Connected):
    """A connector to a feed on a loopback address that this test alone allows."""

    places: DocumentPlaces

    @property
    def deps(self) -> Deps:
        return replace(self.world.deps, places={"feed": self.places})

    async def read_from(self, site: Site, *, pages: bool) -> Feed:
        fetcher = SafeFetcher(
            clock=self.clock,
            resolver=Names({"feeds.example": [["127.0.0.4"]]}),
            also_allowed=(ipaddress.ip_network("127.0.0.4/32"),),
        )
        self.places = FeedPlaces(fetcher=fetcher)
        options = {"url": f"http://feeds.example:{site.port}/feed", "pages": pages}
        dan = self.world.caller(self.world.dan)
        made = await command(
            self.deps,
            dan,
            lambda cmd: create_connector(cmd, self.world.atlas, "News", "feed", options, KbKind.SHARED),
        )
        self.id = made.id
        return self

    async def names(self) -> set[str]:
        """Return the names of the entries that Ben sees."""
        entries = [entry for entry in await self.all(Entry) if entry.deleted_at is None]
        return {entry.name for entry in entries if await sees(self.world, self.world.ben, entry.id)}


@pytest.fixture
def clock() -> HeldClock:
    return HeldClock()


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with serving(Site(), "127.0.0.4") as made:
        yield made


@pytest.mark.req("MA-19", "MA-22", "MA-25")
async def test_items_stay_when_the_feed_forgets_them_and_when_it_vanishes(
    world: TeamWorld, clock: HeldClock, site: Site
) -> None:
    site.pages["/feed"] = rss(("orion", "Orion ships in May."), ("helio", "Helio is a team."))
    feed = await Feed(world, clock).read_from(site, pages=False)
    assert await feed.sync() == {"created": 2}
    site.pages["/feed"] = rss(("orion", "Orion ships in June."), ("vega", "Vega is new."))
    assert await feed.sync() == {"replaced": 1, "created": 1}
    assert await feed.names() == {"orion", "helio", "vega"}
    site.pages["/feed"] = http("404 Not Found")
    for _ in range(3):
        await feed.sync(after=timedelta(hours=2))
    assert (await feed.connector()).last_error == "SYNC_PLACE_GONE"
    assert await feed.names() == {"orion", "helio", "vega"}
    site.pages["/feed"] = rss(("vega", "Vega is new."))
    assert await feed.sync(after=timedelta(hours=2)) == {}
    assert (await feed.connector()).last_error is None


@pytest.mark.req("MA-23", "MA-24", "MA-25")
async def test_a_page_that_is_gone_twice_is_withdrawn_and_comes_back(
    world: TeamWorld, clock: HeldClock, site: Site
) -> None:
    site.pages["/feed"] = rss(("orion", "1"), ("helio", "1"))
    site.pages["/orion"] = http("200 OK", {"Content-Type": "text/html"}, b"<title>Orion</title><p>Orion ships.</p>")
    site.pages["/helio"] = http("200 OK", {"Content-Type": "text/html"}, b"<title>Helio</title><p>A team.</p>")
    feed = await Feed(world, clock).read_from(site, pages=True)
    assert await feed.sync() == {"created": 2}
    assert await feed.names() == {"Orion", "Helio"}
    kept = site.pages["/orion"]
    site.pages |= {"/feed": rss(("helio", "1")), "/orion": http("503 Busy")}
    assert await feed.sync() == {}
    assert await feed.sync(after=DAY) == {"no_answer": 1, "unchanged": 1}
    site.pages["/orion"] = http("410 Gone")
    assert await feed.sync() == {"missed": 1}
    assert await feed.names() == {"Orion", "Helio"}
    assert await feed.sync() == {"withdrawn": 1}
    assert await feed.names() == {"Helio"}
    site.pages["/orion"] = kept
    assert await feed.sync(after=DAY) == {"returned": 1, "unchanged": 1}
    assert await feed.names() == {"Orion", "Helio"}
    # (a page that is still listed is asked for as well)
    site.pages["/helio"] = http("403 Forbidden")
    assert (await feed.sync(after=DAY))["missed"] == 1
    assert (await feed.sync())["withdrawn"] == 1
    assert await feed.names() == {"Orion"}
