from __future__ import annotations

from collections.abc import Mapping

import pytest

from graph.model.access import SystemScope
from graph.model.edges import Edge, EdgeType
from graph.model.errors import BadInput, FetchRefused, LimitExceeded, NotFound, OperationRejected, UnsupportedType
from graph.model.ids import NodeId
from graph.model.nodes.evidence import Source
from graph.model.nodes.knowledge import Block, BlockVersion, Entry
from graph.model.nodes.people import Right
from graph.model.nodes.work import AuditRecord
from graph.rules.scopes import MemoryScope
from graph.services.knowledge.conversations import set_routing_rule
from graph.services.knowledge.materials import job_of
from graph.services.knowledge.submissions import Submitted, prepare_page, submit_text, submit_url
from graph.store.query import Direction, Eq, Find
from graph.text.quotes import normalise_source
from tests.support.pages import FakeFetcher
from tests.support.world import TeamWorld
from tests.unit.graph.services.asking import ask, run, sees

SYSTEM = SystemScope(reason="test")
URL = "https://kiln.example/notes"
PAGE = b"<html><head><title>Kiln notes</title></head><body><p>The kiln is hot.</p><p>No.</p></body></html>"


@pytest.fixture
async def kb(world: TeamWorld) -> NodeId:
    conversation = await world.open(world.chat)
    assert conversation.pool is not None
    return conversation.pool


async def paste(world: TeamWorld, kb: NodeId, text: str, **more: str | NodeId) -> Submitted:
    return await run(world, world.ana, lambda cmd: submit_text(cmd, kb, text, **more))  # type: ignore[arg-type]


async def blocks_of(world: TeamWorld, entry: NodeId) -> list[BlockVersion]:
    """Return the current versions of an entry's blocks in their order, as Ana sees them."""

    async def work(session: object) -> list[BlockVersion]:
        blocks = await session.page(Find(kind=Block, where=Eq("entry_id", entry)))  # type: ignore[attr-defined]
        versions = await session.page(Find(kind=BlockVersion, where=Eq("entry_id", entry)))  # type: ignore[attr-defined]
        places = {b.id: b.position for b in blocks.nodes}
        return sorted((v for v in versions.nodes if v.invalidated_at is None), key=lambda v: places[v.block_id])

    return await ask(world, world.ana, work)


async def citation_of(world: TeamWorld, version: BlockVersion) -> Edge:
    async with world.deps.store.reading() as reader:
        [edge] = await reader.edges(SYSTEM, [version.id], [EdgeType.CITES], Direction.OUT)
    return edge


async def entry_of(world: TeamWorld, made: Submitted) -> Entry:
    return await ask(world, world.ana, lambda s: s.open_one(made.entry_id, Entry))


@pytest.mark.req("MA-11", "MA-12", "KN-70")
async def test_each_paragraph_is_a_settled_block_that_cites_its_place(world: TeamWorld, kb: NodeId) -> None:
    text = "The kiln is hot.\r\n\r\nNo.\r\n\r\n" + "A long line of the notes. " * 120
    made = await paste(world, kb, text, title="Kiln")
    found = await blocks_of(world, made.entry_id)
    whole = normalise_source(made.source.text)
    assert [v.text for v in found][:2] == ["The kiln is hot.", "No."]
    assert all(len(v.text) <= 2_000 and (v.basis, v.standing) == ("stated", "settled") for v in found)
    for version in found:
        edge = await citation_of(world, version)
        quote, start, end = edge.props["quote"], edge.props["start"], edge.props["end"]
        assert edge.target == made.source.id
        assert whole[start:end] == quote
        assert 4 <= len(quote) <= 500
        assert quote in version.text or version.text in quote
    assert await job_exists(world, made.source)


async def job_exists(world: TeamWorld, source: Source) -> bool:
    async with world.deps.store.reading() as reader:
        job = await job_of(reader, source.id)
    return job is not None and job.state == "queued"


@pytest.mark.req("MA-12")
async def test_equal_paragraphs_each_cite_their_own_place(world: TeamWorld, kb: NodeId) -> None:
    made = await paste(world, kb, "Hot kiln.\n\nCold yard.\n\nHot kiln.")
    starts = [(await citation_of(world, v)).props["start"] for v in await blocks_of(world, made.entry_id)]
    assert starts == [0, 11, 23]


@pytest.mark.req("MA-12")
@pytest.mark.parametrize(
    ("text", "more", "name"),
    [
        ("The kiln is hot.", {"title": " Kiln "}, "Kiln"),
        ("The kiln\nis  hot.", {}, "The kiln is hot."),
        ("x" * 200, {}, "x" * 80),
        ("短文", {}, "短文"),
    ],
)
async def test_the_name_is_the_title_or_the_beginning(
    world: TeamWorld, kb: NodeId, text: str, more: Mapping[str, str], name: str
) -> None:
    entry = await entry_of(world, await paste(world, kb, text, **more))
    assert (entry.name, entry.type, entry.origin, entry.pool) == (name, "other", "submission", kb)


@pytest.mark.req("MA-12")
@pytest.mark.parametrize("title", [None, "Stand-up of 2025-05-10"])
async def test_a_service_hands_in_what_calls_itself_by_a_date(world: TeamWorld, title: str | None) -> None:
    await world.grant(world.host, Right.CURATOR, world.atlas)
    await run(world, world.dan, lambda cmd: set_routing_rule(cmd, world.ops, MemoryScope.SHARED, isolated=False))
    shared = (await world.open(world.ops)).pool
    assert shared is not None
    text = "2025-05-10: the kiln is hot."
    made = await run(world, world.host, lambda cmd: submit_text(cmd, shared, text, title=title))
    assert (await entry_of(world, made)).name == (title or text)


@pytest.mark.req("MA-12", "KN-18")
async def test_a_taken_name_is_refused_with_the_entry_that_has_it(world: TeamWorld, kb: NodeId) -> None:
    first = await paste(world, kb, "The kiln is hot.", title="Kiln")
    with pytest.raises(OperationRejected) as refused:
        await paste(world, kb, "Another text.", title="KILN")
    assert refused.value.rule_code == "NAME_TAKEN"
    assert refused.value.details["entry_id"] == first.entry_id


@pytest.mark.req("MA-12")
async def test_a_text_may_go_into_a_chosen_entry(world: TeamWorld, kb: NodeId) -> None:
    first = await paste(world, kb, "The kiln is hot.", title="Kiln")
    more = await paste(world, kb, "It has two doors.\n\nOne sticks.", title="Kiln", entry_id=first.entry_id)
    assert more.entry_id == first.entry_id
    found = await blocks_of(world, first.entry_id)
    assert [v.text for v in found] == ["The kiln is hot.", "It has two doors.", "One sticks."]
    assert {(await citation_of(world, v)).target for v in found[1:]} == {more.source.id}


@pytest.mark.req("MA-12", "KN-82")
async def test_source_entry_audit_and_job_are_one_transaction(world: TeamWorld, kb: NodeId) -> None:
    made = await paste(world, kb, "The kiln is hot.", title="Kiln")
    async with world.deps.store.reading() as reader:
        records = (await reader.find(SYSTEM, Find(kind=AuditRecord, where=Eq("pool", kb)))).nodes
    assert [(r.operation, r.target_id, r.tx_id, r.actor_id) for r in records] == [
        ("entry.create", made.entry_id, made.tx_id, world.ana)
    ]
    assert records[0].image_sources == (made.source.id,)


@pytest.mark.req("MA-2", "MA-11", "MA-12")
async def test_a_page_is_kept_with_address_and_time_and_becomes_an_entry(
    world: TeamWorld, kb: NodeId, fetcher: FakeFetcher
) -> None:
    fetcher.pages[URL] = PAGE
    page = await prepare_page(world.deps, world.caller(world.ana), kb, URL)
    made = await run(world, world.ana, lambda cmd: submit_url(cmd, kb, page))
    entry = await entry_of(world, made)
    assert entry.name == "Kiln notes"
    assert made.source.meta == {"address": URL, "fetchedAt": "2025-05-10T09:00:00.000Z"}
    assert made.source.blob_ref is not None
    assert await world.deps.blobs.read(made.source.blob_ref) == PAGE
    assert "The kiln is hot." in [v.text for v in await blocks_of(world, made.entry_id)]


@pytest.mark.req("MA-13")
async def test_a_refused_or_unreadable_page_leaves_nothing(world: TeamWorld, kb: NodeId, fetcher: FakeFetcher) -> None:
    fetcher.pages[URL] = b"\x89PNG\r\n\x1a\n" + bytes(64)
    with pytest.raises(FetchRefused):
        await prepare_page(world.deps, world.caller(world.ana), kb, "http://127.0.0.1/")
    with pytest.raises(UnsupportedType):
        await prepare_page(world.deps, world.caller(world.ana), kb, URL)
    assert not [sha async for sha, _ in world.deps.blobs.list()]


@pytest.mark.req("KN-58", "MA-13")
async def test_nothing_is_fetched_for_who_may_not_submit_there(
    world: TeamWorld, kb: NodeId, fetcher: FakeFetcher
) -> None:
    fetcher.pages[URL] = PAGE
    for who in (world.ben, world.eve, world.dan):
        with pytest.raises(NotFound):
            await prepare_page(world.deps, world.caller(who), kb, URL)
    with pytest.raises(OperationRejected):
        await prepare_page(world.deps, world.caller(world.cleo), kb, URL)
    assert fetcher.asked == []


@pytest.mark.req("MA-14")
@pytest.mark.parametrize("kb_id", ["", " ", "*"])
async def test_no_default_points_anywhere(world: TeamWorld, kb_id: str) -> None:
    with pytest.raises(BadInput):
        await paste(world, NodeId(kb_id), "The kiln is hot.")


@pytest.mark.req("KN-60")
async def test_a_hidden_entry_is_chosen_like_an_unknown_one(world: TeamWorld, kb: NodeId) -> None:
    made = await paste(world, kb, "The kiln is hot.", title="Kiln")
    shared = (await world.open(world.ops)).pool
    assert shared is not None
    for entry in (made.entry_id, NodeId("ent_unknown")):
        with pytest.raises(NotFound) as refused:
            await run(world, world.ben, lambda cmd, e=entry: submit_text(cmd, kb, "x", entry_id=e))  # type: ignore[misc]
        assert str(refused.value) == str(NotFound())
    with pytest.raises(OperationRejected) as elsewhere:
        await paste(world, shared, "The yard.", entry_id=made.entry_id)
    assert elsewhere.value.rule_code == "SCOPE_FORBIDDEN"
    assert not await sees(world, world.ben, made.entry_id)


async def test_empty_and_endless_texts_are_refused(world: TeamWorld, kb: NodeId) -> None:
    with pytest.raises(BadInput):
        await paste(world, kb, " \n ")
    with pytest.raises(LimitExceeded):
        await paste(world, kb, "a\n\n" * 1_001)
