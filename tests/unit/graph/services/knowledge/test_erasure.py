from __future__ import annotations

from dataclasses import replace

import pytest

from graph.model.access import SystemScope
from graph.model.edges import Edge, EdgeType
from graph.model.errors import BadState, Forbidden, NotFound, OperationRejected, StoreUnavailable
from graph.model.fields import Node
from graph.model.ids import NodeId
from graph.model.nodes.evidence import Source
from graph.model.nodes.knowledge import BlockVersion, EntryVersion
from graph.model.nodes.people import Right
from graph.services.access.grants import revoke
from graph.services.access.workspaces import add_workspace
from graph.services.knowledge.audit_verify import verify_audit
from graph.services.knowledge.entries import entry
from graph.services.knowledge.erasure import ErasureReceipt, erase, erase_source
from graph.services.knowledge.materials import job_of, prepare_file, submit_file
from graph.services.knowledge.projection import projection
from graph.services.knowledge.relations import relations
from graph.services.knowledge.submissions import submit_text
from graph.services.knowledge.withdrawal import return_source, withdraw_source
from graph.store.port import Row
from graph.store.query import Direction, Eq, Find, TextRow
from tests.support.operations import add, apply, block, cite, create, edit, made, on_entry, relate
from tests.support.world import TeamWorld
from tests.unit.graph.services.asking import ask, run, sees
from tests.unit.graph.services.knowledge.test_withdrawal import Kyoto, found

SYSTEM = SystemScope(reason="test")
WORD = "MARMALADE"


async def wipe(world: TeamWorld, source: NodeId, reason: str = "asked to") -> ErasureReceipt:
    return await erase(world.deps, world.caller(world.dan), source, reason)


async def everything(world: TeamWorld) -> str:
    """Return all that the store holds of the workspace, as one text."""
    rows = [row async for row in world.deps.store.export_rows()]
    own = {row.id for row in rows if isinstance(row, Node) and row.workspace == world.workspace}
    return "\n".join(repr(row) for row in rows if _about(row) in own).lower()


def _about(row: Row) -> NodeId:
    match row:
        case Node():
            return row.id
        case Edge():
            return row.source
        case TextRow():
            return row.guard
        case _:
            return row.node


class Heron:
    """A project whose summary and aliases come from a secret and from something harmless."""

    def __init__(self, world: TeamWorld) -> None:
        self.world = world

    async def make(self) -> Heron:
        world = self.world
        self.s1 = await world.say(
            world.ops, f"Project Heron's launch code word is {WORD}-7; some say {WORD} Bird.", speaker=world.ben
        )
        self.s2 = await world.say(world.ops, "Project Heron is run by Ana.", speaker=world.ana)
        made_by = await apply(
            world,
            create(
                "Project Heron",
                block("Project Heron is run by Ana.", cite(self.s2, "Project Heron is run by Ana")),
                type="project",
                ref="h",
            ),
            add("h", block(f"The code word is {WORD}-7.", cite(self.s1, f"launch code word is {WORD}-7"))),
        )
        self.heron = made(made_by)
        self.plain, self.secret = made(made_by, 0, 1), made(made_by, 1)
        summary = f"Run by Ana; its code word is {WORD}-7."
        await apply(
            world,
            on_entry("setSummary", self.heron, 1, summary=summary, fromBlocks=[self.plain, self.secret]),
            on_entry("setAliases", self.heron, 2, aliases=[f"{WORD} Bird"]),
        )
        return self


@pytest.fixture
async def heron(world: TeamWorld) -> Heron:
    return await Heron(world).make()


@pytest.fixture
async def kyoto(world: TeamWorld) -> Kyoto:
    return await Kyoto(world).make()


@pytest.mark.req("KN-81", "KN-62")
async def test_no_output_and_no_copy_holds_a_word_of_an_erased_source(world: TeamWorld, heron: Heron) -> None:
    """Bug case 9: the word is in a block, a summary, an alias, the audit and the index."""
    assert WORD in await ask(world, world.ben, lambda s: projection(s, heron.heron))
    receipt = await wipe(world, heron.s1)
    shown = await ask(world, world.ben, lambda s: projection(s, heron.heron))
    assert WORD not in shown
    assert "Project Heron is run by Ana." in shown
    assert await found(world, WORD) == []
    assert WORD.lower() not in await everything(world)
    assert receipt.counts["sources"] == 1
    assert all(receipt.counts[kind] > 0 for kind in ("quotes", "audit_images", "keyword_texts", "statements"))
    assert WORD not in repr(receipt)


@pytest.mark.req("KN-62", "AD-7")
async def test_who_lost_the_right_to_the_source_sees_no_word_of_it_either(world: TeamWorld) -> None:
    """Bug case 9 for a reader who merely lost a right: the secret was said in Ana's private chat."""
    secret = await world.say(world.chat, f"The code word is {WORD}-7.", speaker=world.ana)
    chat = await world.open(world.chat)
    result = await apply(
        world,
        create("Heron", block(f"Its code word is {WORD}-7.", cite(secret, f"code word is {WORD}-7"))),
        conversation=chat.id,
    )
    heron = made(result)
    assert WORD in await ask(world, world.ana, lambda s: projection(s, heron))
    await run(world, world.dan, lambda c: revoke(c, world.ana, Right.CURATOR, world.atlas))
    assert await ask(world, world.ana, lambda s: entry(s, heron)) is None
    assert not await sees(world, world.ana, heron)


@pytest.mark.req("KN-81", "KN-85", "AD-28")
async def test_the_audit_chain_still_verifies(world: TeamWorld, heron: Heron) -> None:
    await wipe(world, heron.s1)
    report = await ask(world, world.cleo, verify_audit)
    assert report.ok
    assert sum(pool.report.erased for pool in report.pools) >= 2


@pytest.mark.req("KN-81")
async def test_ids_hashes_and_times_stay(world: TeamWorld, heron: Heron) -> None:
    async with world.deps.store.reading() as reader:
        before = (await reader.get(SYSTEM, [heron.s1]))[heron.s1]
        await_edges = await reader.edges(SYSTEM, [heron.s1], [EdgeType.CITES], Direction.IN)
    await wipe(world, heron.s1)
    async with world.deps.store.reading() as reader:
        after = (await reader.get(SYSTEM, [heron.s1]))[heron.s1]
        edges = await reader.edges(SYSTEM, [heron.s1], [EdgeType.CITES], Direction.IN)
    assert isinstance(before, Source)
    assert after == replace(before, text="[erased]", state="erased", title=before.title and "[erased]")
    assert [blank(edge) for edge in await_edges] == list(edges)


def blank(edge: Edge) -> Edge:
    return replace(edge, props={**edge.props, "quote": "[erased]"})


@pytest.mark.req("KN-81", "KN-29")
async def test_what_another_source_supports_lives_on_and_is_found(world: TeamWorld, kyoto: Kyoto) -> None:
    """Bug case 8, for erasure: exactly one source is left, and the name is still in the index."""
    await wipe(world, kyoto.s1)
    [shown] = (await ask(world, world.ben, lambda s: relations(s, kyoto.mei, first=10))).items
    assert [c.source.id for c in shown.support.citations] == [kyoto.s2]
    found_entry = await ask(world, world.ben, lambda s: entry(s, kyoto.mei))
    assert found_entry is not None
    assert found_entry.name == "Mei"
    assert any(text.startswith("Mei") for text in await found(world, "Mei"))


@pytest.mark.req("KN-81")
async def test_after_the_second_erasure_nothing_of_the_entry_is_left(world: TeamWorld, kyoto: Kyoto) -> None:
    await wipe(world, kyoto.s1)
    await wipe(world, kyoto.s2)
    assert await ask(world, world.ben, lambda s: entry(s, kyoto.mei)) is None
    assert "kyoto" not in await everything(world)


@pytest.mark.req("KN-81", "KN-62")
async def test_what_rests_on_a_merely_withdrawn_source_keeps_its_content(world: TeamWorld, kyoto: Kyoto) -> None:
    await run(world, world.host, lambda c: withdraw_source(c, kyoto.s2, None))
    await wipe(world, kyoto.s1)
    assert await ask(world, world.ben, lambda s: entry(s, kyoto.mei)) is None
    await run(world, world.host, lambda c: return_source(c, kyoto.s2, None))
    back = await ask(world, world.ben, lambda s: entry(s, kyoto.mei))
    assert back is not None
    assert back.name == "Mei"
    assert any(text.startswith("Mei") for text in await found(world, "Mei"))


@pytest.mark.req("KN-81")
async def test_vectors_of_what_is_lost_are_dropped(world: TeamWorld, heron: Heron) -> None:
    async with world.deps.store.reading() as reader:
        versions = (await reader.find(SYSTEM, Find(kind=BlockVersion, where=Eq("entry_id", heron.heron)))).nodes
    vectors = {v.id: {"embedding": b"\0\0\0\0", "embedding_model": "m"} for v in versions}
    await world.deps.store.transact(lambda writer: writer.patch_many(vectors))
    receipt = await wipe(world, heron.s1)
    async with world.deps.store.reading() as reader:
        left = (await reader.find(SYSTEM, Find(kind=BlockVersion, where=Eq("entry_id", heron.heron)))).nodes
    assert receipt.counts["vectors"] == 1
    assert {v.block_id for v in left if v.embedding is not None} == {heron.plain}


@pytest.mark.req("KN-81", "AD-32")
async def test_the_bytes_go_unless_another_material_has_them(world: TeamWorld) -> None:
    conversation = await world.open(world.chat)
    other = await world.open(world.ops)
    sources = []
    for kb in (conversation.pool, other.pool):
        assert kb is not None
        file = await prepare_file(world.deps, world.caller(world.ana), kb, WORD.encode(), filename=f"{WORD}.txt")
        sources.append(await run(world, world.ana, lambda c, k=kb, f=file: submit_file(c, k, f)))  # type: ignore[misc]
    sha = sources[0].blob_ref
    assert sha is not None
    await run(world, world.host, lambda c: withdraw_source(c, sources[1].id, None))
    first = await wipe(world, sources[0].id)
    assert (first.orphaned_blobs, await world.deps.blobs.exists(sha)) == ((), True)
    second = await wipe(world, sources[1].id)
    assert (second.orphaned_blobs, await world.deps.blobs.exists(sha)) == ((sha,), False)
    assert WORD.lower() not in await everything(world)
    async with world.deps.store.reading() as reader:
        job = await job_of(reader, sources[0].id)
    assert job is not None
    assert (job.state, job.last_error) == ("failed", "ERASED")


@pytest.mark.req("KN-81", "MA-12")
async def test_an_entry_of_a_pasted_text_goes_with_it(world: TeamWorld) -> None:
    kb = (await world.open(world.ops)).pool
    assert kb is not None
    pasted = await run(world, world.ana, lambda c: submit_text(c, kb, f"The word is {WORD}.\n\nAnd {WORD} again."))
    await wipe(world, pasted.source.id)
    assert not await sees(world, world.ana, pasted.entry_id)
    assert WORD.lower() not in await everything(world)


@pytest.mark.req("KN-81", "KN-58")
async def test_only_admins_erase_and_say_why(world: TeamWorld, heron: Heron) -> None:
    for who in (world.ana, world.ben, world.cleo, world.host, world.eve):
        with pytest.raises(Forbidden):
            await run(world, who, lambda c: erase_source(c, heron.s1, "x"))
    with pytest.raises(OperationRejected) as refused:
        await wipe(world, heron.s1, "  ")
    assert refused.value.rule_code == "REASON_REQUIRED"
    assert await sees(world, world.ben, heron.s1)


@pytest.mark.req("KN-57", "KN-60")
async def test_nothing_of_another_workspace_is_erased(world: TeamWorld, heron: Heron) -> None:
    other = await add_workspace(world.deps, f"{world.name}-b")
    with pytest.raises(NotFound):
        await erase(world.deps, other.caller, heron.s1, "x")
    assert await sees(world, world.ben, heron.s1)


@pytest.mark.req("KN-81")
async def test_what_is_erased_does_not_come_back(world: TeamWorld, heron: Heron) -> None:
    await wipe(world, heron.s1)
    with pytest.raises(BadState):
        await run(world, world.host, lambda c: return_source(c, heron.s1, None))
    with pytest.raises(BadState):
        await run(world, world.host, lambda c: withdraw_source(c, heron.s1, None))


@pytest.mark.req("KN-81", "KN-29", "KN-124")
async def test_an_entry_that_another_source_names_keeps_its_name_and_relation_alone(world: TeamWorld) -> None:
    s1 = await world.say(world.ops, f"The code book says {WORD}.", speaker=world.ben)
    s2 = await world.say(world.ops, "Heron uses the code book.", speaker=world.ben)
    result = await apply(
        world,
        create("Code book", block(f"It says {WORD}.", cite(s1, f"says {WORD}")), ref="b"),
        create("Heron", block("Heron uses it.", cite(s2, "Heron uses the code book")), type="project", ref="h"),
        relate("h", "uses", "b", s2, "Heron uses the code book"),
    )
    assert await sees(world, world.ben, made(result, 2))
    await wipe(world, s1)
    assert await sees(world, world.ben, made(result, 2))
    assert "Code book" in await ask(world, world.ben, lambda s: projection(s, made(result, 0)))
    assert WORD.lower() not in await everything(world)


@pytest.mark.req("KN-81")
async def test_the_store_is_scrubbed_and_a_failure_of_it_does_not_undo_the_erasure(
    world: TeamWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    async def scrub() -> None:
        asked.append("scrub")
        raise StoreUnavailable("the disk is full")

    monkeypatch.setattr(world.deps.store, "scrub", scrub)
    source = await world.say(world.ops, f"The code is {WORD}.", speaker=world.ben)
    await wipe(world, source)
    assert asked == ["scrub"]
    assert WORD.lower() not in await everything(world)


@pytest.mark.req("KN-81")
async def test_the_reason_of_a_lost_version_goes_with_it(world: TeamWorld) -> None:
    source = await world.say(world.ops, f"The code is {WORD}.", speaker=world.ben)
    content = create("Code", block(f"It is {WORD}.", cite(source, f"code is {WORD}")))
    result = await apply(world, content, reason=f"said as {WORD}")
    later = edit(made(result, 0, 1), 1, block(f"It was {WORD}.", cite(source, WORD), basis="authored"))
    await apply(world, later, by=world.ana, reason=f"heard of {WORD}")
    assert f"heard of {WORD}".lower() in await everything(world)
    await wipe(world, source)
    assert WORD.lower() not in await everything(world), "no version, link or audit record keeps it"
    rows = [row async for row in world.deps.store.export_rows()]
    versions = [
        row for row in rows if isinstance(row, BlockVersion | EntryVersion) and row.pool == world_pool(rows, source)
    ]
    assert versions
    assert {version.reason for version in versions} == {"[erased]"}
    assert (await ask(world, world.dan, verify_audit)).ok


def world_pool(rows: list[Row], source: NodeId) -> NodeId | None:
    return next(row.pool for row in rows if isinstance(row, Source) and row.id == source)
