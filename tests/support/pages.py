"""Web pages that a test writes itself."""

from __future__ import annotations

from dataclasses import dataclass, field

from graph.model.errors import FetchRefused
from graph.model.time import Clock
from graph.ports import FetchedPage


@dataclass
class FakeFetcher:
    """Gives the pages it was given and refuses every other address."""

    clock: Clock
    pages: dict[str, bytes] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    async def fetch(self, url: str) -> FetchedPage:
        self.asked.append(url)
        if url not in self.pages:
            raise FetchRefused("only public http and https addresses are fetched")
        return FetchedPage(final_url=url, media_type="text/html", body=self.pages[url], fetched_at=self.clock.now())
