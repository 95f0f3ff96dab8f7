"""The audit as different readers see it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from graph.model.errors import NotFound
from graph.model.ids import NodeId
from graph.model.time import Millis
from graph.services.knowledge.audit_log import AuditFilter, audit_log, entry_audit, restored_by
from graph.store.query import After
from tests.unit.graph.services.knowledge.reading.conftest import Library

pytestmark = pytest.mark.req("KN-88", "KN-89")


async def log(library: Library, who: NodeId, **filter: object) -> list[tuple[str, int]]:
    """Return operation and seq of all records on one page."""
    asked = AuditFilter(**filter)  # type: ignore[arg-type]
    found = await library.listed(who, lambda s: audit_log(s, asked, first=100))
    assert await found.count() == len(found.items)
    return [(record.operation, record.seq) for record in found.items]


async def fill(library: Library) -> tuple[NodeId, NodeId]:
    """Write records into two bases, several in one moment; return an entry and its block."""
    source = await library.source(library.shared)
    lin = library.write.entry(library.shared, "Lin", rests_on=[source.id])
    version = library.write.block(lin, "text", [source.id])
    await library.write.save(library.shared)
    library.write.entry(library.channel, "Ops", rests_on=[source.id])
    await library.write.save(library.channel)
    library.clock.advance(timedelta(minutes=1))
    library.write.actor, library.write.actor_kind = library.world.ana, "human"
    library.write.edit(version, "other", [source.id])
    await library.write.save(library.shared)
    return lin.id, version.block_id


async def test_records_come_newest_first_in_one_base_and_across(library: Library) -> None:
    await fill(library)
    ben = library.world.ben

    assert await log(library, ben, kb_ids=(library.shared,)) == [
        ("block.edit", 3),
        ("block.create", 2),
        ("entry.create", 1),
    ]
    across = await log(library, ben)
    assert across[0] == ("block.edit", 3)
    assert [row for row in across if row != ("entry.create", 1)] == [("block.edit", 3), ("block.create", 2)]
    assert len(across) == 4


@pytest.mark.req("KN-113")
@pytest.mark.parametrize("first", [1, 2, 3])
@pytest.mark.parametrize("one_base", [True, False])
async def test_pages_are_the_whole_log_cut(library: Library, first: int, one_base: bool) -> None:
    await fill(library)
    asked = AuditFilter(kb_ids=(library.shared,) if one_base else None)
    whole = await library.listed(library.world.ben, lambda s: audit_log(s, asked, first=100))
    paged: list[NodeId] = []
    after: After | None = None
    while True:
        page = await library.listed(
            library.world.ben,
            lambda s, at=after: audit_log(s, asked, first=first, after=at),  # type: ignore[misc]
        )
        paged += [record.id for record in page.items]
        if not page.more:
            break
        after = page.places[-1]

    assert paged == [record.id for record in whole.items]


async def test_filters_combine_and_the_end_is_exclusive(library: Library) -> None:
    entry, block = await fill(library)
    ben, now = library.world.ben, library.clock.now()

    assert await log(library, ben, operations=("block.edit", "block.create")) == [
        ("block.edit", 3),
        ("block.create", 2),
    ]
    assert await log(library, ben, operations=("block.edit",), actor_ids=(library.world.atlas,)) == []
    assert await log(library, ben, actor_ids=(library.world.ana,)) == [("block.edit", 3)]
    assert await log(library, ben, actor_kinds=("human",)) == [("block.edit", 3)]
    assert await log(library, ben, target_id=block) == [("block.edit", 3), ("block.create", 2)]
    assert await log(library, ben, target_id=entry) == [("entry.create", 1)]
    assert len(await log(library, ben, to_at=now)) == 3
    assert await log(library, ben, from_at=now) == [("block.edit", 3)]
    assert await log(library, ben, from_at=now, to_at=Millis(now + 1)) == [("block.edit", 3)]
    assert await log(library, ben, dream_run_id=NodeId("run_none")) == []


@pytest.mark.req("KN-60", "KN-83")
async def test_records_of_hidden_bases_and_hidden_images_are_not_there(library: Library) -> None:
    open_, secret = await library.source(library.shared), await library.source(library.private)
    lin = library.write.entry(library.shared, "Lin", rests_on=[open_.id])
    library.write.block(lin, "secret", [secret.id])
    await library.write.save(library.shared)
    library.write.entry(library.private, "Private", rests_on=[secret.id])
    await library.write.save(library.private)

    assert len(await log(library, library.world.ana)) == 3
    assert await log(library, library.world.ben) == [("entry.create", 1)]
    assert await log(library, library.world.ben, kb_ids=(library.private,)) == []
    assert await log(library, library.world.eve) == []


@pytest.mark.req("KN-90", "KN-25")
async def test_trail_of_a_deleted_entry_is_reached_by_its_id(library: Library) -> None:
    source = await library.source(library.shared)
    lin = library.write.entry(library.shared, "Lin", rests_on=[source.id])
    version = library.write.block(lin, "text", [source.id])
    await library.write.save(library.shared)
    library.clock.advance(timedelta(minutes=1))
    library.write.delete(lin, [version])
    await library.write.save(library.shared)
    ben = library.world.ben

    assert [op for op, _ in await log(library, ben, target_id=lin.id)] == ["entry.delete", "entry.create"]
    trail = await library.listed(ben, lambda s: entry_audit(s, lin.id, first=10))
    assert [record.operation for record in trail.items] == ["entry.delete", "block.create", "entry.create"]
    with pytest.raises(NotFound):
        await library.read(library.world.eve, lambda s: entry_audit(s, lin.id, first=10))


async def test_restores_are_found_from_what_they_restored(library: Library) -> None:
    await fill(library)
    records = await library.listed(library.world.ben, lambda s: audit_log(s, AuditFilter(), first=1))
    undone = records.items[0]
    library.write.audit("restore", undone.target_id, restores_id=undone.id)
    await library.write.save(library.shared)

    found = await library.read(library.world.ben, lambda s: restored_by(s, [undone.id, NodeId("aud_none")]))

    assert [record.operation for record in found[undone.id]] == ["restore"]
    assert found[NodeId("aud_none")] == ()
