"""Lists of entries: order, filters, pages and counts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest

from graph.model.ids import NodeId
from graph.model.nodes.knowledge import Entry, FacetField
from graph.model.time import Millis
from graph.services.knowledge.entry_list import EntryFilter, entries
from graph.services.knowledge.listing import Listing
from graph.services.knowledge.owners import knowledge_bases, owners
from graph.services.knowledge.views import EntryView
from graph.store.query import After
from tests.unit.graph.services.knowledge.reading.conftest import Library

pytestmark = pytest.mark.req("KN-117")


async def names(library: Library, who: NodeId, filter: EntryFilter | None = None, first: int = 50) -> list[str]:
    """Return the names on the first page, after checking that the count fits it."""
    found = await library.listed(who, lambda s: entries(s, library.world.atlas, filter, first=first))
    assert await found.count() == len(found.items)
    assert not found.more
    return [view.name for view in found.items]


async def put(library: Library, pool: NodeId, name: str, rests_on: Sequence[NodeId], type: str = "person") -> Entry:
    made = library.write.entry(pool, name, rests_on=rests_on, type=type)
    await library.write.save(pool)
    library.clock.advance(timedelta(minutes=1))
    return made


async def test_last_changed_comes_first_and_only_what_the_caller_sees_counts(library: Library) -> None:
    open_, secret = await library.source(library.shared), await library.source(library.private)
    await put(library, library.shared, "Old", [open_.id])
    await put(library, library.private, "Secret", [secret.id])
    await put(library, library.shared, "Hidden name", [secret.id])
    await put(library, library.channel, "New", [open_.id])

    assert await names(library, library.world.ana) == ["New", "Hidden name", "Secret", "Old"]
    assert await names(library, library.world.ben) == ["New", "Old"]
    assert await names(library, library.world.eve) == []


async def test_words_in_the_name_come_before_alias_summary_and_body(library: Library) -> None:
    source = await library.source(library.shared)
    body = library.write.entry(library.shared, "One", rests_on=[source.id])
    library.write.block(body, "the harbour project", [source.id])
    named = library.write.entry(library.shared, "Harbour project", rests_on=[source.id])
    aliased = library.write.entry(library.shared, "Two", rests_on=[source.id], aliases={"harbour project": [source.id]})
    summed = library.write.entry(
        library.shared, "Three", rests_on=[source.id], summary=("A harbour project", [source.id])
    )
    both = library.write.entry(library.shared, "Harbour", rests_on=[source.id])
    library.write.block(both, "a project", [source.id])
    library.write.entry(library.shared, "Harbour alone", rests_on=[source.id])
    await library.write.save(library.shared)

    found = await library.read(
        library.world.ben, lambda s: entries(s, library.world.atlas, EntryFilter(text="harbour Projects"), first=9)
    )

    assert [view.id for view in found.items] == [named.id, aliased.id, summed.id, *sorted([body.id, both.id])]


async def test_hidden_words_do_not_match(library: Library) -> None:
    open_, secret = await library.source(library.shared), await library.source(library.private)
    made = library.write.entry(library.shared, "Lin", rests_on=[open_.id], aliases={"marmalade": [secret.id]})
    library.write.block(made, "salary 90k", [secret.id])
    await library.write.save(library.shared)

    for text in ("marmalade", "salary 90k"):
        assert await names(library, library.world.ana, EntryFilter(text=text)) == ["Lin"]
        assert await names(library, library.world.ben, EntryFilter(text=text)) == []


@pytest.mark.parametrize("text", ["a AND (", '"', "*", "C++ && !x", "field:value", "?!", "  "])
async def test_hostile_texts_are_only_words(library: Library, text: str) -> None:
    source = await library.source(library.shared)
    await put(library, library.shared, "Lin", [source.id])

    assert await names(library, library.world.ben, EntryFilter(text=text)) == (["Lin"] if not text.strip() else [])


async def test_filters_combine(library: Library) -> None:
    source = await library.source(library.shared)
    start = library.clock.now()
    lin = await put(library, library.shared, "Lin", [source.id], type="person")
    helio = await put(library, library.shared, "Helio", [source.id], type="organization")
    await put(library, library.channel, "Ops", [source.id], type="project")
    ana, ben = library.world.ana, library.world.ben

    assert await names(library, ben, EntryFilter(types=("person", "project"))) == ["Ops", "Lin"]
    assert await names(library, ben, EntryFilter(kb_ids=(library.channel,))) == ["Ops"]
    assert await names(library, ben, EntryFilter(kb_ids=(library.private,))) == []
    assert await names(library, ben, EntryFilter(ids=(lin.id, helio.id), types=("person",))) == ["Lin"]
    assert await names(library, ben, EntryFilter(updated_to=Millis(start + 1))) == ["Lin"]
    assert await names(library, ben, EntryFilter(updated_from=Millis(start + 1))) == ["Ops", "Helio"]
    assert await names(library, ana, EntryFilter(types=())) == []
    assert await names(library, ana, EntryFilter(ids=())) == []


async def test_author_is_who_changed_the_entry_or_a_current_block_last(library: Library) -> None:
    source = await library.source(library.shared)
    await put(library, library.shared, "By Atlas", [source.id])
    library.write.actor = library.world.ana
    await put(library, library.shared, "By Ana", [source.id])
    library.write.actor = library.world.atlas
    mixed = library.write.entry(library.shared, "Block by Ana", rests_on=[source.id])
    version = library.write.block(mixed, "text", [source.id], modifier_id=library.world.ana)
    await library.write.save(library.shared)

    ana = EntryFilter(author_ids=(library.world.ana,))
    assert await names(library, library.world.ben, ana) == ["Block by Ana", "By Ana"]
    library.clock.advance(timedelta(minutes=1))
    library.write.edit(version, "other", [source.id])
    await library.write.save(library.shared)
    assert await names(library, library.world.ben, ana) == ["By Ana"]


async def test_entries_are_found_by_the_source_they_cite(library: Library) -> None:
    source, other = await library.source(library.shared), await library.source(library.shared)
    secret = await library.source(library.private)
    lin = library.write.entry(library.shared, "Lin", rests_on=[other.id])
    helio = library.write.entry(library.shared, "Helio", rests_on=[other.id])
    cited = library.write.block(lin, "text", [source.id])
    library.write.block(helio, "text", [source.id, secret.id])
    await library.write.save(library.shared)

    citing = EntryFilter(cites_source_id=source.id)
    assert await names(library, library.world.ana, citing) == ["Lin", "Helio"]
    assert await names(library, library.world.ben, citing) == ["Lin"]
    assert await names(library, library.world.ben, EntryFilter(cites_source_id=secret.id)) == []
    library.clock.advance(timedelta(minutes=1))
    library.write.end(cited)
    await library.write.save(library.shared)
    assert await names(library, library.world.ben, citing) == []


async def page_of(library: Library, filter: EntryFilter, after: After | None) -> Listing[EntryView]:
    return await library.listed(
        library.world.ben, lambda s: entries(s, library.world.atlas, filter, first=2, after=after)
    )


@pytest.mark.req("KN-113")
@pytest.mark.parametrize("text", [None, "entry"])
async def test_pages_neither_repeat_nor_miss_when_entries_come_and_go(library: Library, text: str | None) -> None:
    source = await library.source(library.shared)
    made = [await put(library, library.shared, f"Entry {number}", [source.id]) for number in range(7)]
    filter = EntryFilter(text=text)
    seen: list[NodeId] = []
    after: After | None = None
    for step in range(9):
        page = await page_of(library, filter, after)
        seen += [view.id for view in page.items]
        if not page.more:
            break
        after = page.places[-1]
        if step == 0:
            library.write.delete(made[3])
            library.write.entry(library.shared, "Entry new", rests_on=[source.id])
            await library.write.save(library.shared)

    old = [one.id for one in made if one.id != made[3].id]
    assert [id_ for id_ in seen if id_ in old] == (sorted(old) if text else old[::-1])
    assert len(seen) == len(set(seen))


@pytest.mark.req("KN-60", "KN-58")
async def test_owners_and_bases_are_those_the_caller_reads(library: Library) -> None:
    async def listed(who: NodeId) -> tuple[list[NodeId], set[NodeId]]:
        agents = await library.listed(who, lambda s: owners(s, first=10))
        bases = await library.listed(who, lambda s: knowledge_bases(s, library.world.atlas, first=10))
        assert await bases.count() == len(bases.items)
        return [agent.id for agent in agents.items], {base.id for base in bases.items}

    everything = {library.shared, library.own, library.channel, library.private}
    assert await listed(library.world.ana) == ([library.world.atlas], everything)
    assert await listed(library.world.ben) == ([library.world.atlas], everything - {library.private})
    assert await listed(library.world.eve) == ([], set())


async def test_summary_words_vanish_with_one_of_its_blocks(library: Library) -> None:
    secret, open_ = await library.source(library.private), await library.source(library.shared)
    made = library.write.entry(library.shared, "Heron", rests_on=[open_.id])
    code, ana = (
        library.write.block(made, "MARMALADE-7", [secret.id]),
        library.write.block(made, "Run by Ana", [open_.id]),
    )
    library.write.facet(made, FacetField.SUMMARY, "Code MARMALADE-7, run by Ana", [code.id, ana.id])
    await library.write.save(library.shared)

    assert await names(library, library.world.ana, EntryFilter(text="marmalade")) == ["Heron"]
    assert await names(library, library.world.ben, EntryFilter(text="marmalade")) == []
    assert await names(library, library.world.ben, EntryFilter(text="Ana")) == ["Heron"]
