"""Entries as different readers see them, now and at other times."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from graph.model.ids import NodeId
from graph.model.nodes.knowledge import EntryVersion, Facet, FacetField
from graph.model.time import Millis, parse
from graph.rules.as_of import NOW, AsOf
from graph.services.access.commands import command
from graph.services.access.session import Session, read
from graph.services.knowledge.blocks import block_versions, block_views, blocks_of
from graph.services.knowledge.entries import attributes_of, entry, entry_views
from graph.services.knowledge.sources import entry_sources, source_versions
from graph.services.knowledge.withdrawal import return_source, withdraw_source
from graph.store.observing import ObservingStore, counting_round_trips
from tests.unit.graph.services.knowledge.reading.conftest import Library


@pytest.mark.req("KN-124", "KN-62")
async def test_summary_and_alias_are_left_out_when_their_evidence_is_hidden(library: Library) -> None:
    open_, secret = await library.source(library.shared), await library.source(library.private)
    made = library.write.entry(
        library.shared, "Lin", rests_on=[open_.id], aliases={"Linny": [secret.id], "L.": [open_.id]}
    )
    seen, hidden = library.write.block(made, "a", [open_.id]), library.write.block(made, "b", [secret.id])
    library.write.facet(made, FacetField.SUMMARY, "Both.", [seen.id, hidden.id])
    await library.write.save(library.shared)

    by_ana = await library.read(library.world.ana, lambda s: entry(s, made.id))
    by_ben = await library.read(library.world.ben, lambda s: entry(s, made.id))

    assert by_ana is not None
    assert (by_ana.aliases, by_ana.summary) == (("Linny", "L."), "Both.")
    assert by_ben is not None
    assert (by_ben.aliases, by_ben.summary) == (("L.",), None)


@pytest.mark.req("KN-124", "KN-60")
async def test_entry_is_hidden_when_its_name_rests_on_hidden_evidence(library: Library) -> None:
    secret = await library.source(library.private)
    made = library.write.entry(library.shared, "Lin", rests_on=[secret.id])
    await library.write.save(library.shared)

    assert await library.read(library.world.ana, lambda s: entry(s, made.id)) is not None
    assert await library.read(library.world.ben, lambda s: entry(s, made.id)) is None
    assert await library.read(library.world.ben, lambda s: entry(s, NodeId("ent_none"))) is None


@pytest.mark.req("KN-76")
async def test_name_is_the_one_believed_at_the_asked_time(library: Library) -> None:
    source = await library.source(library.shared)
    made = library.write.entry(library.shared, "Helios", rests_on=[source.id])
    name = next(n for n in library.write.changes.puts if isinstance(n, Facet))
    version = next(n for n in library.write.changes.puts if isinstance(n, EntryVersion))
    await library.write.save(library.shared)
    born = library.clock.now()
    library.clock.advance(timedelta(days=1))
    library.write.rename(made, version, name, "Helio", [source.id])
    await library.write.save(library.shared)

    async def name_at(recorded: Millis | None) -> tuple[str, int] | None:
        found = await library.read(library.world.ben, lambda s: entry(s, made.id, AsOf(recorded=recorded)))
        return None if found is None else (found.name, found.version)

    assert await name_at(None) == ("Helio", 2)
    assert await name_at(born) == ("Helios", 1)
    assert await name_at(Millis(library.clock.now() - 1)) == ("Helios", 1)
    assert await name_at(library.clock.now()) == ("Helio", 2)
    assert await name_at(Millis(born - 1)) is None


@pytest.mark.req("KN-36")
async def test_deleted_entry_is_gone_now_and_readable_at_an_earlier_time(library: Library) -> None:
    source = await library.source(library.shared)
    made = library.write.entry(library.shared, "Lin", rests_on=[source.id])
    version = library.write.block(made, "Text", [source.id])
    await library.write.save(library.shared)
    before = library.clock.now()
    deleted_at = library.clock.advance(timedelta(hours=1))
    library.write.delete(made, [version])
    await library.write.save(library.shared)

    then = AsOf(recorded=before)
    assert await library.read(library.world.ben, lambda s: entry(s, made.id)) is None
    past = await library.read(library.world.ben, lambda s: entry(s, made.id, then))
    assert past is not None
    assert past.deleted_at == deleted_at
    blocks = await library.read(library.world.ben, lambda s: blocks_of(s, [made.id], then))
    assert [b.current.node.text for b in blocks[made.id] if b.current] == ["Text"]
    assert await library.read(library.world.ben, lambda s: blocks_of(s, [made.id])) == {made.id: ()}


@pytest.mark.req("KN-22", "KN-76", "KN-75")
async def test_blocks_come_by_position_in_the_version_of_the_asked_time(library: Library) -> None:
    source = await library.source(library.shared)
    made = library.write.entry(library.shared, "Lin", rests_on=[source.id])
    second = library.write.block(made, "second", [source.id], position=2)
    library.write.block(
        made,
        "barbecue",
        [source.id],
        position=1,
        valid_from=parse("2023-06-01T00:00:00Z"),
        valid_to=parse("2025-04-01T00:00:00Z"),
    )
    await library.write.save(library.shared)
    before = library.clock.now()
    library.clock.advance(timedelta(hours=1))
    library.write.edit(second, "second, changed", [source.id], valid_from=parse("2025-04-01T00:00:00Z"))
    await library.write.save(library.shared)

    async def texts(as_of: AsOf) -> list[str]:
        found = await library.read(library.world.ben, lambda s: blocks_of(s, [made.id], as_of))
        return [block.current.node.text for block in found[made.id] if block.current]

    assert await texts(AsOf()) == ["barbecue", "second, changed"]
    assert await texts(AsOf(recorded=before)) == ["barbecue", "second"]
    assert await texts(AsOf(valid=parse("2024-01-01T00:00:00Z"))) == ["barbecue"]
    assert await texts(AsOf(valid=parse("2025-04-01T00:00:00Z"))) == ["second, changed"]
    versions = await library.listed(library.world.ben, lambda s: block_versions(s, second.block_id, first=10))
    assert [v.node.version for v in versions.items] == [2, 1]
    assert await versions.count() == 2


@pytest.mark.req("KN-62", "KN-125")
async def test_version_that_cited_a_hidden_source_is_hidden_in_history_too(library: Library) -> None:
    open_, secret = await library.source(library.shared), await library.source(library.private)
    made = library.write.entry(library.shared, "Lin", rests_on=[open_.id])
    first = library.write.block(made, "secret", [secret.id])
    await library.write.save(library.shared)
    before = library.clock.now()
    library.clock.advance(timedelta(hours=1))
    library.write.edit(first, "open", [open_.id])
    await library.write.save(library.shared)

    versions = await library.listed(library.world.ben, lambda s: block_versions(s, first.block_id, first=10))
    past = await library.read(library.world.ben, lambda s: blocks_of(s, [made.id], AsOf(recorded=before)))

    assert [v.node.text for v in versions.items] == ["open"]
    assert await versions.count() == 1
    assert past == {made.id: ()}


@pytest.mark.req("KN-64", "MA-10")
async def test_block_is_stale_until_it_cites_the_new_version_or_a_human_confirms(library: Library) -> None:
    old = await library.source(library.shared)
    made = library.write.entry(library.shared, "Lin", rests_on=[old.id])
    version = library.write.block(made, "text", [old.id])
    await library.write.save(library.shared)
    library.clock.advance(timedelta(hours=1))
    new = library.write.source(library.shared, series=old.id, version=2)
    library.write.changes.patch(old.id, latest=False, invalidated_at=library.clock.now())
    await library.write.save(library.shared)

    async def stale() -> bool:
        views = await library.read(library.world.ben, lambda s: block_views(s, [version.block_id]))
        current = views[version.block_id].current
        assert current is not None
        return current.stale

    assert await stale()
    library.write.changes.patch(version.id, confirmed_at=library.clock.now())
    await library.write.save(library.shared)
    assert not await stale()
    library.clock.advance(timedelta(hours=1))
    library.write.source(library.shared, series=old.id, version=3)
    library.write.changes.patch(new.id, latest=False)
    await library.write.save(library.shared)
    assert await stale()
    versions = await library.read(library.world.ben, lambda s: source_versions(s, old.id, first=5))
    assert [v.version for v in versions.items] == [3, 2, 1]


@pytest.mark.req("DR-60")
async def test_deduction_is_stale_when_its_basis_is_no_longer_current(library: Library) -> None:
    source = await library.source(library.shared)
    made = library.write.entry(library.shared, "Lin", rests_on=[source.id])
    basis = library.write.block(made, "basis", [source.id])
    deduced = library.write.block(made, "If a: b", [basis.id], basis="deduced", standing="inferred")
    await library.write.save(library.shared)

    async def is_stale() -> bool:
        found = await library.read(library.world.ben, lambda s: block_views(s, [deduced.block_id]))
        current = found[deduced.block_id].current
        assert current is not None
        return current.stale

    assert not await is_stale()
    library.clock.advance(timedelta(hours=1))
    library.write.edit(basis, "other", [source.id])
    await library.write.save(library.shared)
    assert await is_stale()


@pytest.mark.req("KN-32", "KN-75")
async def test_attributes_come_by_key_and_hide_with_their_evidence(library: Library) -> None:
    open_, secret = await library.source(library.shared), await library.source(library.private)
    made = library.write.entry(library.shared, "Lin", rests_on=[open_.id])
    library.write.attribute(made, "city", "Rome", [secret.id], valid_to=parse("2024-01-01T00:00:00Z"))
    library.write.attribute(made, "city", "Berlin", [open_.id], version=2, valid_from=parse("2024-01-01T00:00:00Z"))
    library.write.attribute(made, "born", 1990, [open_.id])
    await library.write.save(library.shared)

    async def values(who: NodeId, as_of: AsOf = NOW) -> list[object]:
        found = await library.read(who, lambda s: attributes_of(s, [made.id], as_of))
        return [attribute.node.value for attribute in found[made.id]]

    assert await values(library.world.ana) == [1990, "Rome", "Berlin"]
    assert await values(library.world.ben) == [1990, "Berlin"]
    assert await values(library.world.ana, AsOf(valid=parse("2023-01-01T00:00:00Z"))) == [1990, "Rome"]


@pytest.mark.req("MA-24", "KN-62")
async def test_block_and_deduction_vanish_with_their_source_and_return(library: Library) -> None:
    document, message = await library.source(library.shared), await library.source(library.shared)
    made = library.write.entry(library.shared, "Lin", rests_on=[message.id])
    block = library.write.block(made, "from the document", [document.id])
    library.write.block(made, "If a: b", [block.id], basis="deduced", standing="inferred", position=1)
    await library.write.save(library.shared)

    async def texts() -> list[str]:
        found = await library.read(library.world.ben, lambda s: blocks_of(s, [made.id]))
        return [b.current.node.text for b in found[made.id] if b.current]

    dan = library.world.caller(library.world.dan)
    assert await texts() == ["from the document", "If a: b"]
    await command(library.world.deps, dan, lambda c: withdraw_source(c, document.id, "gone"))
    assert await texts() == []
    sources = await library.listed(library.world.ben, lambda s: entry_sources(s, made.id, first=5))
    assert [s.id for s in sources.items] == [message.id]
    assert await sources.count() == 1
    await command(library.world.deps, dan, lambda c: return_source(c, document.id, "back"))
    assert await texts() == ["from the document", "If a: b"]


@pytest.mark.req("KN-69", "KN-25")
async def test_citations_name_source_speaker_and_time(library: Library) -> None:
    source = await library.source(library.shared)
    made = library.write.entry(library.shared, "Lin", rests_on=[source.id])
    version = library.write.block(made, "text", [source.id])
    await library.write.save(library.shared)

    views = await library.read(library.world.ben, lambda s: block_views(s, [version.block_id]))

    current = views[version.block_id].current
    assert current is not None
    (citation,) = current.support.citations
    assert (citation.source.id, citation.source.speaker, citation.quote) == (source.id, "Ana", "words")
    assert (citation.start, citation.end, citation.role) == (0, 5, "supports")


@pytest.mark.req("KN-117")
async def test_round_trips_do_not_grow_with_the_number_of_entries(library: Library) -> None:
    source = await library.source(library.shared)
    made = []
    for number in range(50):
        one = library.write.entry(library.shared, f"Entry {number}", rests_on=[source.id])
        library.write.block(one, f"text {number}", [source.id])
        made.append(one.id)
    await library.write.save(library.shared)

    deps = replace(library.world.deps, store=ObservingStore(library.world.deps.store))

    async def trips(ids: list[NodeId]) -> int:
        async def work(session: Session) -> int:
            with counting_round_trips() as counts:
                assert len(await entry_views(session, ids)) == len(ids)
                assert all((await blocks_of(session, ids)).values())
            return counts.total()

        return (await read(deps, library.world.caller(library.world.ben), work))[0]

    assert await trips(made[:1]) == await trips(made)
