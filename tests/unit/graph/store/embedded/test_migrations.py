"""Numbered steps. Source: AD-40."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from graph.model.access import SystemScope
from graph.model.errors import StoreNewer
from graph.model.ids import NodeId, WorkspaceId
from graph.model.nodes.learning import ModelCall
from graph.model.nodes.work import AuditRecord
from graph.model.schema import SCHEMA_VERSION, kinds
from graph.rules.audit_chain import SealedAudit
from graph.rules.audit_following import verify_chain
from graph.store.embedded import EmbeddedStore
from graph.store.embedded.migrations import STEPS, Step
from graph.store.embedded.tables import sync_declared, table_of
from graph.store.query import By, Find
from tests.support.audit_chains import make_chain, make_draft
from tests.support.builders import World
from tests.support.clock import FakeClock
from tests.unit.graph.store.embedded.disk import content

pytestmark = pytest.mark.req("AD-40")

SYSTEM = SystemScope(reason="looking in a test")


def add_extra(db: apsw.Connection) -> None:
    db.execute("CREATE TABLE extra(a)")
    db.execute("INSERT INTO extra VALUES (1)")


def die(db: apsw.Connection) -> None:
    add_extra(db)
    raise KeyboardInterrupt


NEXT = SCHEMA_VERSION + 1
LATER = Step(number=NEXT, name="add extra", apply=add_extra)
TAKEN = [(step.number, True) for step in STEPS]


async def applied(store: EmbeddedStore) -> list[tuple[int, bool]]:
    return [(migration.number, migration.applied) for migration in await store.migrations()]


def test_the_last_step_has_the_number_of_the_schema() -> None:
    assert [step.number for step in STEPS] == list(range(1, SCHEMA_VERSION + 1))


async def test_steps_are_listed_before_they_are_taken_and_nothing_is_touched(path: Path, clock: FakeClock) -> None:
    store = EmbeddedStore(path, clock=clock)
    assert await applied(store) == [(step.number, False) for step in STEPS]
    assert list(path.parent.iterdir()) == []


async def test_a_later_step_is_taken_when_the_store_is_opened_again(
    store: EmbeddedStore, path: Path, clock: FakeClock, world: World
) -> None:
    entry = world.make_entry()
    await store.transact(lambda writer: writer.put([entry]))
    await store.close()
    later = EmbeddedStore(path, clock=clock, steps=(*STEPS, LATER))
    assert await applied(later) == [*TAKEN, (NEXT, False)]
    await later.open()
    assert await applied(later) == [*TAKEN, (NEXT, True)]
    async with later.reading() as reader:
        assert await reader.get(world.system, [entry.id]) == {entry.id: entry}
    await later.close()


async def test_a_step_that_dies_leaves_the_file_before_it(store: EmbeddedStore, path: Path, clock: FakeClock) -> None:
    await store.close()
    dying = EmbeddedStore(path, clock=clock, steps=(*STEPS, Step(number=NEXT, name="dies", apply=die)))
    with pytest.raises(KeyboardInterrupt):
        await dying.open()
    assert await applied(dying) == [*TAKEN, (NEXT, False)]
    again = EmbeddedStore(path, clock=clock, steps=(*STEPS, LATER))
    await again.open()
    assert await applied(again) == [*TAKEN, (NEXT, True)]
    await again.close()


async def test_a_newer_store_is_refused_and_left_untouched(store: EmbeddedStore, path: Path, clock: FakeClock) -> None:
    await store.close()
    newer = EmbeddedStore(path, clock=clock, steps=(*STEPS, LATER))
    await newer.open()
    await newer.close()
    before = content(path)
    with pytest.raises(StoreNewer):
        await EmbeddedStore(path, clock=clock).open()
    assert content(path) == before


async def test_a_newer_store_is_recognised_by_what_is_still_in_its_log(
    store: EmbeddedStore, path: Path, clock: FakeClock
) -> None:
    await store.close()
    newer = EmbeddedStore(path, clock=clock, steps=(*STEPS, LATER))
    await newer.open()
    copy = path.with_name("copy.db")
    for suffix in ("", "-wal"):
        copy.with_name(copy.name + suffix).write_bytes(path.with_name(path.name + suffix).read_bytes())
    await newer.close()
    before = [file.read_bytes() for file in (copy, copy.with_name("copy.db-wal"))]
    with pytest.raises(StoreNewer):
        await EmbeddedStore(copy, clock=clock).open()
    assert [file.read_bytes() for file in (copy, copy.with_name("copy.db-wal"))] == before


async def test_a_file_of_the_first_form_opens_and_its_records_still_hold(path: Path, clock: FakeClock) -> None:
    """The first form had neither commitments to reasons nor time zones of what was said."""
    first = EmbeddedStore(path, clock=clock, steps=STEPS[:1])
    await first.open()
    chain = make_chain([make_draft(reason="old"), make_draft(reason=None)], first_form=True)
    workspace = WorkspaceId("w")
    await first.transact(lambda writer: writer.put([record.to_node(workspace) for record in chain]))
    await first.close()
    db = apsw.Connection(str(path))
    db.execute("ALTER TABLE n_AuditRecord DROP COLUMN reason_commitment")
    db.execute("ALTER TABLE n_Source DROP COLUMN said_offset")
    db.close()
    store = EmbeddedStore(path, clock=clock)
    await store.open()
    async with store.reading() as reader:
        nodes = (await reader.find(SYSTEM, Find(kind=AuditRecord, order=By("seq")))).nodes
    await store.close()
    assert [SealedAudit.from_node(node) for node in nodes] == chain
    assert verify_chain(chain).ok


def test_a_field_that_is_new_in_the_declaration_gets_its_column() -> None:
    db = apsw.Connection(":memory:")
    sync_declared(db)
    db.execute("ALTER TABLE n_Block DROP COLUMN position")
    sync_declared(db)
    columns = {name for (name,) in db.execute("SELECT name FROM pragma_table_info('n_Block')")}
    assert columns == {f.name for f in table_of("Block").spec.fields}


def test_every_kind_has_a_table_with_its_unique_keys() -> None:
    db = apsw.Connection(":memory:")
    sync_declared(db)
    for name, spec in kinds().items():
        found = db.execute(
            "SELECT count(*) FROM pragma_index_list(?) WHERE \"unique\" AND origin = 'c'", (f"n_{name}",)
        )
        assert found.get == len(spec.unique), name


@pytest.mark.req("BM-186")
async def test_answers_of_models_that_were_kept_plainly_are_gone_from_the_file(path: Path, clock: FakeClock) -> None:
    """Up to the fifth form they were; what still needs one asks anew."""
    store = EmbeddedStore(path, clock=clock)
    await store.open()
    workspace = WorkspaceId("w")
    call = ModelCall(
        id=NodeId("mcl_1"),
        workspace=workspace,
        created_at=clock.now(),
        call_key="k",
        purpose="p",
        prompt="p@1",
        model="m",
        state="answered",
    )
    await store.transact(lambda writer: writer.put([call]))
    await store.close()
    db = apsw.Connection(str(path))
    db.execute("UPDATE n_ModelCall SET answer = 'the canary sings'")
    db.execute("DELETE FROM migration WHERE number > 5")
    db.pragma("user_version", 5)
    db.close()
    assert _holds(path, b"canary")
    await store.open()
    async with store.reading() as reader:
        found = (await reader.get(SYSTEM, [call.id]))[call.id]
    await store.close()
    assert isinstance(found, ModelCall)
    assert (found.answer, found.state) == (None, "unusable")
    assert not _holds(path, b"canary")


def _holds(path: Path, data: bytes) -> bool:
    """Tell whether a file of the store, or one beside it, holds these bytes."""
    return any(data in file.read_bytes() for file in path.parent.iterdir())
