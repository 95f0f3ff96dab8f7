"""Entries and sources as resources, each as its reader sees it (KN-37)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from api.cursors import after_of, cursor_of
from api.mcp.place import Readable, ReadableText, Template
from api.mcp.reading import Reading
from graph.model.errors import CursorInvalid, NotFound
from graph.model.nodes.evidence import Source
from graph.model.nodes.knowledge import Entry
from graph.model.time import render_said
from graph.rules.guarding import LIVE_ENTRY
from graph.services.access.session import Session
from graph.services.knowledge.entries import entry_views
from graph.services.knowledge.projection import projection
from graph.services.knowledge.views import EntryView
from graph.store.query import After, Find, Newest, Tagged

PAGE: Final = 50
ENTRIES: Final = "rootward://entries/"
SOURCES: Final = "rootward://sources/"
MARKDOWN: Final = "text/markdown"
PLAIN: Final = "text/plain"
MAX_SOURCE_CHARACTERS: Final = 100_000
_LIST: Final = hashlib.sha256(b"entries as resources, newest first").digest()


@dataclass(frozen=True, kw_only=True, slots=True)
class KnowledgeShelf:
    """All live entries that the caller sees, newest first; entries and sources by their ids."""

    templates: ClassVar[Sequence[Template]] = (
        Template(
            uri=f"{ENTRIES}{{ref}}",
            name="entry",
            description="What is known about one topic, with the sources of each statement.",
            media_type=MARKDOWN,
        ),
        Template(
            uri=f"{SOURCES}{{ref}}",
            name="source",
            description="A message, file, page or note, as it was said or handed in.",
            media_type=PLAIN,
        ),
    )
    reading: Reading

    async def page(self, cursor: str | None) -> tuple[Sequence[Readable], str | None]:
        """Return a page of entries, and the cursor of the next."""
        after = None if cursor is None else _place(cursor)
        query = Find(kind=Entry, where=Tagged((LIVE_ENTRY,)), order=Newest(), first=PAGE, after=after)

        async def work(session: Session) -> tuple[Sequence[Readable], str | None]:
            page = await session.page(query)
            views = await entry_views(session, [entry.id for entry in page.nodes])
            shown = [self._listed(views[entry.id]) for entry in page.nodes if entry.id in views]
            return shown, _cursor(page.places[-1]) if page.more and page.places else None

        return await self.reading.run(work)

    async def text(self, uri: str) -> ReadableText:
        """Return the Markdown of an entry, or the text of a source."""
        if uri.startswith(ENTRIES):
            entry = self.reading.inside(uri.removeprefix(ENTRIES))
            return ReadableText(
                text=await self.reading.run(lambda session: projection(session, entry)), media_type=MARKDOWN
            )
        if not uri.startswith(SOURCES):
            raise NotFound
        source = self.reading.inside(uri.removeprefix(SOURCES))
        found = await self.reading.run(lambda session: session.open_one(source, Source))
        return ReadableText(text=_source_text(found), media_type=PLAIN)

    def _listed(self, view: EntryView) -> Readable:
        return Readable(uri=f"{ENTRIES}{self.reading.outside(view.id)}", name=view.name, description=view.summary)


def _source_text(source: Source) -> str:
    """Return who said something and when, and what; of a very long one the beginning."""
    said_at = render_said(source.occurred_at, source.said_offset)
    heading = " · ".join(part for part in (source.kind, source.title, source.speaker, said_at) if part)
    text, most = source.text, MAX_SOURCE_CHARACTERS
    rest = "" if len(text) <= most else "\n\n[cut here; the tool browse goes on page by page]"
    return f"{heading}\n\n{text[:most]}{rest}"


def _cursor(place: After) -> str:
    return cursor_of(_LIST, [place.value, place.id])


def _place(cursor: str) -> After:
    try:
        return after_of(_LIST, cursor)
    except ValueError as error:
        raise CursorInvalid("take the cursor of an earlier page", field="cursor") from error
