"""A reader cannot tell a store with hidden knowledge from its twin that never held it (attack case 4).

The twin holds the same rows but for nodes that the naive law hides from the reader, and what hangs on them. Every
answer must be equal: values, order, places of cursors, whether more follows, counts, errors. The one exception is in
the contract: to auditors and admins `explainVisibility` tells why a node is hidden (KN-120).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import Any

import pytest

from graph.model.ids import NodeId, prefix_of
from graph.model.schema import kind_of
from graph.rules.as_of import AsOf
from graph.rules.rights import may_administer
from graph.services.access.session import Session
from graph.services.deps import Deps
from graph.services.knowledge.audit_log import AuditFilter, audit_log, entry_audit, restored_by
from graph.services.knowledge.blocks import block_versions, blocks_of
from graph.services.knowledge.entries import attributes_of, entry_views
from graph.services.knowledge.entry_list import EntryFilter, entries
from graph.services.knowledge.explain import explain_visibility
from graph.services.knowledge.listing import Listing
from graph.services.knowledge.neighborhood import neighborhood
from graph.services.knowledge.nodes import node_view
from graph.services.knowledge.owners import knowledge_bases, owners
from graph.services.knowledge.projection import projection
from graph.services.knowledge.provenance import provenance
from graph.services.knowledge.relations import relations
from graph.services.knowledge.sources import citing_statements, conversations, entry_sources, messages
from graph.store.query import After
from tests.property.knowledge.conftest import NewStore, deps_of
from tests.support.clock import FakeClock
from tests.support.profile import sized
from tests.support.random_library import Ask, Asker, RandomLibrary, Truth, ask_all, copy_of, random_library

pytestmark = pytest.mark.req("KN-60", "KN-61", "KN-113", "KN-114")

WORLDS = sized(small=1, full=20)


def paged(ask: Callable[[Session, After | None], Awaitable[Listing[Any]]]) -> Ask:
    """Return a question for all pages, each with items, places, whether more follows, and the count."""

    async def pages(session: Session) -> object:
        found: list[object] = []
        after: After | None = None
        while True:
            page = await ask(session, after)
            found.append((page.items, page.places, page.more, await page.count()))
            if not page.more:
                return found
            after = page.places[-1]

    return pages


def questions(library: RandomLibrary, truth: Truth) -> Iterator[Ask]:
    """Yield what is asked, the same of both stores."""
    agent, ids = library.world.atlas, [entry.id for entry in library.entries]
    then = AsOf(recorded=library.entries[len(ids) // 2].created_at)
    yield from _lists(library, agent)
    for as_of in (AsOf(), then):
        yield partial(_views, ids=ids, as_of=as_of)
    for id_ in ids:
        yield lambda s, id_=id_: projection(s, id_)  # type: ignore[misc]
        yield lambda s, id_=id_: neighborhood(s, id_, depth=3, limit=5)  # type: ignore[misc]
        yield paged(lambda s, after, id_=id_: relations(s, id_, first=2, after=after))  # type: ignore[misc]
        yield paged(lambda s, after, id_=id_: relations(s, id_, as_of=then, first=2, after=after))  # type: ignore[misc]
        yield paged(lambda s, after, id_=id_: entry_sources(s, id_, first=2, after=after))  # type: ignore[misc]
        yield paged(lambda s, after, id_=id_: entry_audit(s, id_, first=3, after=after))  # type: ignore[misc]
    for source in library.sources:
        yield lambda s, id_=source.id: citing_statements(s, id_)  # type: ignore[misc]
    guarded = sorted(id_ for id_ in truth.nodes if (spec := kind_of(id_)) and spec.guarded)
    for id_ in guarded:
        yield lambda s, id_=id_: node_view(s, id_)  # type: ignore[misc]
        if prefix_of(id_) == "blk":
            yield paged(lambda s, after, id_=id_: block_versions(s, id_, first=1, after=after))  # type: ignore[misc]
    for id_ in guarded[:: max(1, len(guarded) // 60)]:
        yield lambda s, id_=id_: provenance(s, id_, depth=16)  # type: ignore[misc]
        yield lambda s, id_=id_: _explained(s, id_)  # type: ignore[misc]


def _lists(library: RandomLibrary, agent: NodeId) -> Iterator[Ask]:
    filters = [
        EntryFilter(types=("person",)),
        EntryFilter(author_ids=(agent,)),
        EntryFilter(kb_ids=library.pools[2:]),
        *(EntryFilter(cites_source_id=source.id) for source in library.sources[::4]),
        *(EntryFilter(text=word) for word in list(library.words.values())[::2]),
    ]
    for first in (1, 2, 5, 53):
        yield paged(lambda s, after, n=first: entries(s, agent, first=n, after=after))  # type: ignore[misc]
        yield paged(lambda s, after, n=first: audit_log(s, AuditFilter(), first=n, after=after))  # type: ignore[misc]
    for filter in filters:
        yield paged(lambda s, after, f=filter: entries(s, agent, f, first=2, after=after))  # type: ignore[misc]
    for pool in library.pools:
        only = AuditFilter(kb_ids=(pool,))
        yield paged(lambda s, after, f=only: audit_log(s, f, first=4, after=after))  # type: ignore[misc]
    for channel in (library.world.ops, library.world.chat):
        yield paged(lambda s, after, c=channel: conversations(s, c, first=1, after=after))  # type: ignore[misc]
        yield paged(lambda s, after, c=channel: messages(s, c, first=2, after=after))  # type: ignore[misc]
    yield paged(lambda s, after: owners(s, first=1, after=after))
    yield paged(lambda s, after: knowledge_bases(s, agent, first=2, after=after))


async def _explained(session: Session, id_: NodeId) -> object:
    proof = await explain_visibility(session, id_)
    if may_administer(session.facts) or session.viewer.audits:
        return proof is not None and proof.visible
    return proof


async def _views(session: Session, ids: list[NodeId], as_of: AsOf) -> object:
    records = await audit_log(session, AuditFilter(), first=100)
    return (
        dict(await entry_views(session, ids, as_of)),
        dict(await blocks_of(session, ids, as_of)),
        dict(await attributes_of(session, ids, as_of)),
        dict(await restored_by(session, [record.id for record in records.items])),
    )


async def hidden_from(asker: Asker, truth: Truth, deps: Deps) -> set[NodeId]:
    async with asker.session(deps) as session:
        visible = truth.visible(session.viewer)
    return {id_ for id_ in truth.nodes if (spec := kind_of(id_)) and spec.guarded} - visible - {asker.caller.principal}


async def test_twin_without_the_hidden_rows_answers_the_same(new_store: NewStore, clock: FakeClock) -> None:
    for seed in range(100, 100 + WORLDS):
        deps = deps_of(await new_store(), clock)
        library = await random_library(deps, clock, seed)
        await library.world.say(library.world.ops, "hello")
        await library.world.say(library.world.chat, "a secret")
        truth = await Truth.of(deps.store)
        asks = list(questions(library, truth))
        for asker in library.askers:
            hidden = await hidden_from(asker, truth, deps)
            twin = deps_of(await copy_of(truth.without(hidden), await new_store()), clock)
            here, there = await ask_all(deps, asker, asks), await ask_all(twin, asker, asks)
            for number, (with_hidden, without) in enumerate(zip(here, there, strict=True)):
                assert with_hidden == without, (asker.name, number)
