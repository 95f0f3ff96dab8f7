"""An RSS or Atom feed, fetched like any page of the public internet and never from the server's own network (MA-13).

An item is what the feed says of it; with `pages` it is the page behind its link. A feed forgets its old items: that
they are not listed any more says nothing about them. With `pages` each is asked for by its link now and then.
Source: MA-19, docs/adr/0019.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from api.adapters.addresses import Refusal, parse_target
from api.adapters.bounded import Exceeded, Limits, run_bounded
from graph.model.errors import BadInput, FetchRefused, SyncFailed
from graph.model.fields import Json
from graph.model.time import Millis
from graph.ports import FetchedPage, ListedDocument, Look, Loss, OpenedDocument, PageFetcher

LIMITS = Limits(memory_mib=512, cpu_s=20, wall_s=30.0)
ASK_AGAIN = timedelta(days=1)
_LOSSES: Mapping[int, Loss] = {
    401: Loss.FORBIDDEN,
    403: Loss.FORBIDDEN,
    404: Loss.NOT_FOUND,
    410: Loss.NOT_FOUND,
    451: Loss.FORBIDDEN,
}
_REASONS: Mapping[str, str] = {
    Refusal.TOO_LARGE: "too_large",
    Refusal.ADDRESS: "not_public",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedPlaces:
    """Feeds. Options: `url` of the feed; `pages`, true for the pages behind its items."""

    fetcher: PageFetcher

    def check(self, options: Mapping[str, Json]) -> Mapping[str, Json]:
        """Return the options in full.

        Raises:
            BadInput: there is no address, or it is not one of the public internet.
        """
        url, pages = options.get("url"), options.get("pages", False)
        if not isinstance(url, str) or not isinstance(pages, bool) or not set(options) <= {"url", "pages"}:
            raise BadInput("give the address of the feed as url and, if you like, pages: true", field="options")
        try:
            parse_target(url)
        except FetchRefused as error:
            raise BadInput(error.message, field="options") from error
        return {"url": url, "pages": pages}

    async def look(self, options: Mapping[str, Json], *, max_bytes: int) -> Look:
        """Return the items of the feed, the newest first as it gives them.

        Raises:
            SyncFailed: the feed was not got, or is none. That a feed is gone is no loss of its items.
        """
        try:
            page = await self.fetcher.fetch(str(options["url"]))
        except FetchRefused as error:
            loss = _loss(error)
            raise SyncFailed(_PLACE_LOST[loss] if loss else _reason(error)) from error
        items = await asyncio.to_thread(_items, page)
        listed = [_listed(item, pages=bool(options.get("pages"))) for item in items]
        ask = ASK_AGAIN if options.get("pages") else None
        documents = tuple(one for one in listed if one is not None)
        return Look(documents=documents, ask_for_others=ask, ask_for_listed=ask)

    async def open(self, options: Mapping[str, Json], external_id: str, *, max_bytes: int) -> OpenedDocument | Loss:
        """Return the page behind an item; its id is its link then.

        Raises:
            SyncFailed: no answer.
        """
        try:
            page = await self.fetcher.fetch(external_id)
        except FetchRefused as error:
            loss = _loss(error)
            if loss is not None:
                return loss
            raise SyncFailed(_reason(error)) from error
        if len(page.body) > max_bytes:
            raise SyncFailed("too_large")
        return OpenedDocument(
            version=hashlib.sha256(page.body).hexdigest(),
            body=page.body,
            media_type=page.media_type,
            address=page.final_url,
            modified_at=page.fetched_at,
        )


_PLACE_LOST: Mapping[Loss, str] = {Loss.NOT_FOUND: "place_gone", Loss.FORBIDDEN: "place_forbidden"}


def _loss(error: FetchRefused) -> Loss | None:
    """Return the explicit answer that something is gone or forbidden; None for every other failure (MA-25)."""
    if error.details.get("reason") != Refusal.STATUS:
        return None
    return _LOSSES.get(int(error.details.get("status", 0)))


def _reason(error: FetchRefused) -> str:
    return _REASONS.get(str(error.details.get("reason")), "network")


def _items(page: FetchedPage) -> list[dict[str, Any]]:
    """Return the items of a feed, read in a process with limits.

    Raises:
        SyncFailed: ``not_a_feed``, ``too_large``.
    """
    facts = {"media_type": page.media_type, "address": page.final_url}
    try:
        answer = run_bounded("feed", facts, page.body, LIMITS)
    except Exceeded:
        raise SyncFailed("too_large") from None
    if "reason" in answer:
        raise SyncFailed("too_large")
    if answer["items"] is None:
        raise SyncFailed("not_a_feed")
    items: list[dict[str, Any]] = answer["items"]
    return items


def _listed(item: dict[str, Any], *, pages: bool) -> ListedDocument | None:
    """Return an item; None for one without any name of its own."""
    own = item["link"] if pages else item["id"] or item["link"]
    if not own:
        return None
    said = json.dumps([item["title"], item["stamp"], item["body"]], ensure_ascii=False)
    version = hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()
    if pages:
        return ListedDocument(external_id=own, version=version)
    content = OpenedDocument(
        version=version,
        body=_page_of(item).encode("utf-8", "replace"),
        media_type="text/html; charset=utf-8",
        title=item["title"] or None,
        address=item["link"] or None,
        modified_at=None if item["time"] is None else Millis(item["time"]),
    )
    return ListedDocument(external_id=own, version=version, content=content)


def _page_of(item: dict[str, Any]) -> str:
    """Return an item as a page: its title, then what the feed says of it."""
    return f"<h1>{item['title']}</h1>\n<div>{item['body']}</div>"
