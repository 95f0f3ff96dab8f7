"""What a sync makes of a place: mirrors, new versions, losses and returns, and nothing where nothing changed."""

from __future__ import annotations

from datetime import timedelta

import pytest

from graph.model.errors import OperationRejected
from graph.model.ids import NodeId
from graph.model.nodes.evidence import SourceKind, SourceState
from graph.model.nodes.knowledge import Entry, KbKind
from graph.model.nodes.work import AuditRecord
from graph.ports import Loss
from graph.rules.connectors import ConnectorState
from graph.rules.pending import pending_id
from graph.rules.pools import base_id
from graph.services.access.settings_write import set_setting
from graph.services.knowledge.blocks import blocks_of
from graph.services.knowledge.connectors_provisioning import set_connector_state, sync_now
from graph.services.knowledge.entries_write import delete_entry
from graph.services.knowledge.erasure import erase_source
from graph.services.knowledge.operations import apply_operations
from graph.services.knowledge.withdrawal import return_source, withdraw_source
from tests.support.connected import Connected
from tests.support.held_clock import HeldClock
from tests.support.operations import add, block, cite, create
from tests.support.world import TeamWorld
from tests.unit.dreaming.conftest import ENGINES
from tests.unit.graph.services.asking import ask, run, sees

PLAN = "# Plan\n\nWe ship in May.\n\nThen we rest."


@pytest.fixture
async def connected(world: TeamWorld, clock: HeldClock) -> Connected:
    made = await Connected(world, clock).make()
    made.place.documents = {"plan.md": PLAN, "names.txt": "Helio is a team of nine."}
    return made


async def texts(world: TeamWorld, entry: NodeId, who: NodeId | None = None) -> list[str]:
    blocks = await ask(world, who or world.ben, lambda s: blocks_of(s, [entry]))
    return [one.current.node.text for one in blocks[entry] if one.current]


@pytest.mark.req("MA-19", "MA-21", "KN-82")
async def test_each_document_appears_as_a_read_only_entry_with_its_source(
    world: TeamWorld, connected: Connected
) -> None:
    assert await connected.sync() == {"created": 2}
    entry = await connected.mirror("plan.md")
    shown = await ask(world, world.ben, lambda s: s.open_one(entry, Entry))
    assert (shown.name, shown.origin, shown.read_only) == ("Plan", "mirror", True)
    assert await texts(world, entry) == ["# Plan\n\nWe ship in May.", "Then we rest."]
    (source,) = await connected.versions("plan.md")
    assert (source.kind, source.source_version, source.pool) == (
        SourceKind.CONNECTOR_DOC,
        PLAN,
        base_id(world.name, world.atlas, KbKind.SHARED),
    )
    assert await world.deps.blobs.read(source.content_hash) == PLAN.encode()
    records = [r for r in await connected.all(AuditRecord) if r.target_id == entry]
    connector = await connected.connector()
    assert [(r.operation, r.actor_kind, r.actor_id) for r in records] == [
        ("mirror.sync", "connector", connector.actor_id)
    ]


@pytest.mark.req("MA-19", "DR-31")
async def test_its_documents_wait_for_stage_b(connected: Connected) -> None:
    await connected.sync()
    sources = [*await connected.versions("plan.md"), *await connected.versions("names.txt")]
    assert {row.item_id for row in await connected.pending()} == {source.id for source in sources}
    assert {row.agent_id for row in await connected.pending()} == {connected.world.atlas}


@pytest.mark.req("MA-22")
async def test_an_unchanged_version_writes_nothing(connected: Connected) -> None:
    await connected.sync()
    before = await connected.all(AuditRecord), await connected.mirrors(), await connected.pending()
    opened = list(connected.place.opened)
    assert await connected.sync() == {}
    assert connected.place.opened == opened
    assert (await connected.all(AuditRecord), await connected.mirrors(), await connected.pending()) == before


@pytest.mark.req("MA-22")
async def test_another_version_of_equal_bytes_makes_no_new_source(connected: Connected) -> None:
    await connected.sync()
    connected.place.versions["plan.md"] = "touched"
    assert await connected.sync() == {"unchanged": 1}
    assert len(await connected.versions("plan.md")) == 1
    assert (await connected.mirrors())["plan.md"].source_version == "touched"


@pytest.mark.req("MA-22", "KN-64")
async def test_a_changed_document_replaces_its_mirror_as_a_whole(world: TeamWorld, connected: Connected) -> None:
    await connected.sync()
    entry = await connected.mirror("plan.md")
    connected.place.documents["plan.md"] = "# The plan\n\nWe ship in June."
    assert await connected.sync() == {"replaced": 1}
    assert await connected.mirror("plan.md") == entry
    assert await texts(world, entry) == ["# The plan\n\nWe ship in June."]
    shown = await ask(world, world.ben, lambda s: s.open_one(entry, Entry))
    assert (shown.name, shown.live_name) == ("The plan", "the plan")
    old, new = await connected.versions("plan.md")
    assert (old.latest, new.latest, new.version, new.series) == (False, True, 2, old.id)
    rows = {row.item_id: row.state for row in await connected.pending()}
    assert (rows[old.id], rows[new.id]) == ("consumed", "pending")
    synced = [r for r in await connected.all(AuditRecord) if r.target_id == entry]
    assert [r.operation for r in synced] == ["mirror.sync"] * 2
    assert len({r.tx_id for r in synced}) == 2


@pytest.mark.req("MA-21")
@pytest.mark.parametrize("who", ["ana", "atlas"])
async def test_nobody_else_writes_to_a_mirror(world: TeamWorld, clock: HeldClock, who: str) -> None:
    connected = await Connected(world, clock).make(KbKind.CHANNEL, world.ops)
    connected.place.documents = {"plan.md": PLAN}
    await connected.sync()
    entry = await connected.mirror("plan.md")
    writer = world.ana if who == "ana" else world.atlas
    said = await world.say(world.ops, "We ship in July.")
    content = add(entry, block("We ship in July.", cite(said, "We ship in July")))
    kb = base_id(world.name, world.atlas, KbKind.CHANNEL, world.ops) if who == "ana" else None
    conversation = None if kb else (await world.open(world.ops)).id
    with pytest.raises(OperationRejected) as refused:
        await run(
            world,
            writer,
            lambda cmd: apply_operations(cmd, operations=[content], reason="r", kb_id=kb, conversation_id=conversation),
        )
    assert refused.value.rule_code == "READ_ONLY_MIRROR"
    if who == "ana":
        with pytest.raises(OperationRejected, match="mirror"):
            await run(world, writer, lambda cmd: delete_entry(cmd, entry, expected_version=1, reason="gone"))


@pytest.mark.req("MA-23", "MA-25")
@pytest.mark.parametrize("answer", [Loss.FORBIDDEN, Loss.NOT_FOUND])
async def test_two_explicit_answers_in_a_row_are_loss_and_one_is_not(
    world: TeamWorld, connected: Connected, answer: Loss
) -> None:
    await connected.sync()
    entry = await connected.mirror("plan.md")
    connected.place.unlisted, connected.place.answers = {"plan.md"}, {"plan.md": answer}
    assert await connected.sync() == {"missed": 1}
    assert await sees(world, world.ben, entry)
    assert await connected.sync() == {"withdrawn": 1}
    assert not await sees(world, world.ben, entry)
    assert [s.state for s in await connected.versions("plan.md")] == [SourceState.WITHDRAWN]
    assert await sees(world, world.ben, await connected.mirror("names.txt"))


@pytest.mark.req("MA-25")
@pytest.mark.parametrize("reason", ["network", "too_large"])
async def test_no_answer_about_a_document_is_never_loss(world: TeamWorld, connected: Connected, reason: str) -> None:
    await connected.sync()
    connected.place.unlisted, connected.place.answers = {"plan.md"}, {"plan.md": reason}
    for _ in range(4):
        assert await connected.sync() == {"no_answer": 1}
    assert (await connected.mirrors())["plan.md"].misses == 0
    assert await sees(world, world.ben, await connected.mirror("plan.md"))
    assert (await connected.connector()).last_error == f"SYNC_{reason.upper()}"


@pytest.mark.req("MA-25")
async def test_an_answer_of_good_health_in_between_begins_the_count_anew(
    world: TeamWorld, connected: Connected
) -> None:
    await connected.sync()
    for answers in ({"plan.md": Loss.FORBIDDEN}, {}, {"plan.md": Loss.FORBIDDEN}):
        connected.place.answers = dict(answers)
        connected.place.unlisted = set(answers)
        await connected.sync()
    assert (await connected.mirrors())["plan.md"].misses == 1
    assert await sees(world, world.ben, await connected.mirror("plan.md"))


@pytest.mark.req("MA-25")
@pytest.mark.parametrize("reason", ["network", "place_gone", "place_forbidden", "not_a_feed"])
async def test_a_place_that_cannot_be_read_loses_no_document(
    world: TeamWorld, connected: Connected, reason: str
) -> None:
    await connected.sync()
    connected.place.down = reason
    for _ in range(3):
        await connected.sync(after=timedelta(hours=2))
    assert connected.outcomes == ["done", "failed", "failed", "failed"]
    found = await connected.connector()
    assert (found.failures, found.last_error) == (3, f"SYNC_{reason.upper()}")
    assert {mirror.state for mirror in (await connected.mirrors()).values()} == {"live"}
    connected.place.down = None
    await connected.sync(after=timedelta(hours=2))
    assert ((await connected.connector()).failures, (await connected.connector()).last_error) == (0, None)


@pytest.mark.req("MA-24")
async def test_regained_access_brings_the_same_document_back(world: TeamWorld, connected: Connected) -> None:
    await connected.sync()
    entry = await connected.mirror("plan.md")
    connected.place.answers = {"plan.md": Loss.FORBIDDEN}
    connected.place.unlisted = {"plan.md"}
    await connected.sync()
    await connected.sync()
    connected.place.answers, connected.place.unlisted = {}, set()
    assert await connected.sync() == {"returned": 1}
    assert await texts(world, entry) == ["# Plan\n\nWe ship in May.", "Then we rest."]
    assert len(await connected.versions("plan.md")) == 1


@pytest.mark.req("MA-24", "MA-22")
async def test_a_document_may_come_back_changed(world: TeamWorld, connected: Connected) -> None:
    await connected.sync()
    entry = await connected.mirror("plan.md")
    kept = connected.place.documents.pop("plan.md")
    await connected.sync()
    await connected.sync()
    assert not await sees(world, world.ben, entry)
    connected.place.documents["plan.md"] = f"{kept}\n\nAnd start anew."
    assert await connected.sync() == {"returned": 1}
    assert await texts(world, entry) == ["# Plan\n\nWe ship in May.", "Then we rest.", "And start anew."]
    assert [s.state for s in await connected.versions("plan.md")] == [SourceState.LIVE] * 2


@pytest.mark.req("MA-24")
async def test_what_a_loss_hides_is_offered_to_be_written_from_other_evidence(
    world: TeamWorld, connected: Connected
) -> None:
    await connected.sync()
    plan, names = (await connected.versions("plan.md"))[0], (await connected.versions("names.txt"))[0]
    base = base_id(world.name, world.atlas, KbKind.SHARED)
    both = block("Helio ships in May.", cite(plan.id, "We ship in May"), cite(names.id, "Helio is a team"))
    await run(
        world,
        world.ana,
        lambda cmd: apply_operations(cmd, operations=[create("Helio", both)], reason="r", kb_id=base),
    )
    used = {pending_id(id_): {"state": "consumed"} for id_ in (plan.id, names.id)}
    await world.deps.store.transact(lambda writer: writer.patch_many(used))
    del connected.place.documents["plan.md"]
    await connected.sync()
    await connected.sync()
    states = {row.item_id: row.state for row in await connected.pending()}
    assert (states[names.id], states[plan.id]) == ("pending", "consumed")


@pytest.mark.req("KN-81")
async def test_what_was_erased_here_is_not_brought_back_by_its_place(world: TeamWorld, connected: Connected) -> None:
    await connected.sync()
    (source,) = await connected.versions("plan.md")
    await run(world, world.dan, lambda cmd: erase_source(cmd, source.id, "a right to be forgotten"))
    connected.place.documents["plan.md"] = f"{PLAN} Again."
    assert await connected.sync() == {"unchanged": 1}
    (kept,) = await connected.versions("plan.md")
    assert (kept.state, kept.text) == (SourceState.ERASED, "[erased]")
    assert (await connected.mirrors())["plan.md"].problem == "erased"
    assert await connected.sync() == {}


@pytest.mark.req("MA-24")
async def test_what_a_person_withdrew_stays_so_whatever_its_place_says(world: TeamWorld, connected: Connected) -> None:
    await connected.sync()
    entry = await connected.mirror("plan.md")
    (source,) = await connected.versions("plan.md")
    await run(world, world.dan, lambda cmd: withdraw_source(cmd, source.id, "not for us"))
    connected.place.documents["plan.md"] = f"{PLAN} Again."
    assert await connected.sync() == {"replaced": 1}
    assert not await sees(world, world.ben, entry)
    await run(world, world.dan, lambda cmd: return_source(cmd, source.id, "for us after all"))
    assert (await texts(world, entry))[-1] == "Then we rest. Again."


@pytest.mark.req("MA-24")
async def test_what_a_person_withdrew_does_not_come_back_with_access(world: TeamWorld, connected: Connected) -> None:
    await connected.sync()
    entry = await connected.mirror("plan.md")
    (source,) = await connected.versions("plan.md")
    await run(world, world.dan, lambda cmd: withdraw_source(cmd, source.id, "not for us"))
    connected.place.unlisted, connected.place.answers = {"plan.md"}, {"plan.md": Loss.FORBIDDEN}
    assert [await connected.sync() for _ in range(3)] == [{"missed": 1}] * 3
    connected.place.unlisted, connected.place.answers = set(), {}
    await connected.sync()
    assert not await sees(world, world.ben, entry)
    await run(world, world.dan, lambda cmd: return_source(cmd, source.id, "for us after all"))
    assert await sees(world, world.ben, entry)


@pytest.mark.req("MA-20")
async def test_it_is_looked_at_every_sync_minutes_and_on_notice(world: TeamWorld, connected: Connected) -> None:
    await connected.sync()
    looks = connected.place.looks
    await connected.sync(after=timedelta(minutes=14))
    assert connected.place.looks == looks
    await run(world, world.host, lambda cmd: sync_now(cmd, connected.id))
    await connected.sync(after=timedelta(0))
    assert connected.place.looks == looks + 1
    await connected.sync(after=timedelta(minutes=15))
    assert connected.place.looks == looks + 2
    await run(world, world.dan, lambda cmd: set_setting(cmd, "connector.sync_minutes", 5))
    await connected.sync(after=timedelta(minutes=5))
    assert connected.place.looks == looks + 3


@pytest.mark.req("MA-20")
async def test_its_documents_land_in_its_own_base_alone(world: TeamWorld, clock: HeldClock) -> None:
    connected = await Connected(world, clock).make(KbKind.CHANNEL, world.ops)
    connected.place.documents = {"plan.md": PLAN}
    await connected.sync()
    (source,) = await connected.versions("plan.md")
    assert source.pool == base_id(world.name, world.atlas, KbKind.CHANNEL, world.ops)
    assert await sees(world, world.ben, await connected.mirror("plan.md"))
    assert not await sees(world, world.eve, await connected.mirror("plan.md"))


async def test_a_paused_connector_rests_and_a_removed_one_withdraws_what_it_brought(
    world: TeamWorld, connected: Connected
) -> None:
    await connected.sync()
    entries = [await connected.mirror(name) for name in ("plan.md", "names.txt")]
    await run(world, world.dan, lambda cmd: set_connector_state(cmd, connected.id, ConnectorState.PAUSED))
    looks = connected.place.looks
    await connected.sync()
    assert connected.place.looks == looks
    assert all([await sees(world, world.ben, entry) for entry in entries])
    await run(world, world.dan, lambda cmd: set_connector_state(cmd, connected.id, ConnectorState.REMOVED))
    assert await connected.sync(after=timedelta(0)) == {"withdrawn": 2}
    assert not any([await sees(world, world.ben, entry) for entry in entries])


async def test_a_document_that_cannot_be_read_is_told_and_asked_for_once_a_version(
    world: TeamWorld, connected: Connected
) -> None:
    connected.place.documents = {"image.md": "a\x00b", "good.md": "It is good."}
    assert await connected.sync() == {"refused": 1, "created": 1}
    row = (await connected.mirrors())["image.md"]
    assert (row.state, row.problem, row.entry_id) == ("refused", "unknown", None)
    assert await connected.sync() == {}
    connected.place.documents["image.md"] = "Now it is text."
    assert await connected.sync() == {"created": 1}


async def test_a_version_that_cannot_be_read_leaves_the_mirror_as_it_was(
    world: TeamWorld, connected: Connected
) -> None:
    await connected.sync()
    connected.place.documents["plan.md"] = "\x00\x01"
    assert await connected.sync() == {"refused": 1}
    assert await texts(world, await connected.mirror("plan.md")) == ["# Plan\n\nWe ship in May.", "Then we rest."]
    assert (await connected.mirrors())["plan.md"].problem == "unknown"


async def test_two_documents_of_one_title_have_two_names(world: TeamWorld, connected: Connected) -> None:
    connected.place.documents = {"a/plan.md": PLAN, "b/plan.md": "Another plan."}
    connected.place.titles = {"a/plan.md": "Plan", "b/plan.md": "Plan"}
    await connected.sync()
    shown = {}
    for name in ("a/plan.md", "b/plan.md"):
        entry = await connected.mirror(name)
        shown[name] = (await ask(world, world.ben, lambda s, id_=entry: s.open_one(id_, Entry))).name  # type: ignore[misc]
    assert shown == {
        "a/plan.md": "Plan",
        "b/plan.md": "Plan (b/plan.md)",
    }


@pytest.mark.parametrize("engine", ENGINES, indirect=True)
@pytest.mark.req("MA-19", "MA-22", "MA-24")
async def test_a_document_lives_through_all_its_states_on_every_store(
    world: TeamWorld, connected: Connected, engine: str
) -> None:
    await connected.sync()
    entry = await connected.mirror("plan.md")
    connected.place.documents["plan.md"] = "We ship in June."
    await connected.sync()
    kept = connected.place.documents.pop("plan.md")
    assert [await connected.sync(), await connected.sync()] == [{"missed": 1}, {"withdrawn": 1}]
    assert not await sees(world, world.ben, entry)
    connected.place.documents["plan.md"] = kept
    assert await connected.sync() == {"returned": 1}
    assert await texts(world, entry) == ["We ship in June."]
