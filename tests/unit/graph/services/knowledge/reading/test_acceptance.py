"""Acceptance examples and public bug cases, from the side of reading."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial

import pytest

from graph.model.edges import Edge, EdgeType
from graph.model.errors import RootwardError
from graph.model.ids import NodeId
from graph.model.nodes.knowledge import KbKind
from graph.rules.as_of import AsOf
from graph.rules.pools import base_id
from graph.services.access.commands import command
from graph.services.access.session import Session, read
from graph.services.knowledge.audit_log import AuditFilter, audit_log, entry_audit, restored_by
from graph.services.knowledge.blocks import block_versions, block_views, blocks_of
from graph.services.knowledge.entries import attributes_of, entry, known_entry
from graph.services.knowledge.entry_list import EntryFilter, entries
from graph.services.knowledge.erasure import erase_source
from graph.services.knowledge.explain import explain_visibility
from graph.services.knowledge.listing import Listing
from graph.services.knowledge.neighborhood import neighborhood
from graph.services.knowledge.nodes import node_view
from graph.services.knowledge.projection import projection
from graph.services.knowledge.provenance import provenance
from graph.services.knowledge.provenance_export import ProvenanceFormat, provenance_export
from graph.services.knowledge.relations import relation_versions, relation_views, relations
from graph.services.knowledge.same_topic import same_topic
from graph.services.knowledge.sources import citing_statements, conversations, entry_sources, messages, source_versions
from graph.services.knowledge.views import BlockVersionView, RelationView
from graph.services.knowledge.withdrawal import withdraw_source
from tests.support.operations import apply, block, cite, create, dream, made, on_entry, relate
from tests.support.world import TeamWorld
from tests.unit.graph.services.knowledge.reading.conftest import Library


async def ask(world: TeamWorld, who: NodeId, work: Callable[[Session], Awaitable[object]]) -> object:
    """Return an answer in a form that can be compared: a page with its count, an error as code and words."""

    async def whole(session: Session) -> object:
        try:
            found = await work(session)
        except RootwardError as error:
            return error.wire_code, error.message, dict(error.details)
        if isinstance(found, Listing):
            return found.items, found.places, found.more, await found.count()
        return found

    return (await read(world.deps, world.caller(who), whole))[0]


async def ask_of(world: TeamWorld, work: Callable[[Session, NodeId], Awaitable[object]], id_: NodeId) -> object:
    """Return what Ben gets when he asks about an id."""
    return await ask(world, world.ben, lambda s: work(s, id_))


async def _of_one(
    many: Callable[[Session, list[NodeId]], Awaitable[Mapping[NodeId, object]]], id_: NodeId, session: Session
) -> Mapping[NodeId, object]:
    return await many(session, [id_])


async def withdraw(world: TeamWorld, source: NodeId) -> None:
    await command(world.deps, world.caller(world.dan), lambda cmd: withdraw_source(cmd, source, "deleted"))


@pytest.mark.req("KN-60", "KN-61", "KN-52", "KN-44")
async def test_11_private_chat_never_leaks(world: TeamWorld) -> None:
    open_ = await world.say(world.ops, "Helio builds kilns.")
    await dream(world, create("Helio", block("Builds kilns.", cite(open_, "builds kilns"))))

    async def seen_by_ben() -> list[object]:
        pages = [
            lambda s: entries(s, world.atlas, first=50),
            lambda s: entries(s, world.atlas, EntryFilter(text="salary 90k"), first=50),
            lambda s: audit_log(s, AuditFilter(), first=50),
        ]
        return [await ask(world, world.ben, page) for page in pages]

    before = await seen_by_ben()
    secret = await world.say(world.chat, "my salary is 90k")
    private = await world.open(world.chat)
    result = await dream(
        world, create("Pay", block("Earns 90k.", cite(secret, "salary is 90k"))), conversation=private.id
    )
    hidden, block_id = result.verdicts[0].created[:2]

    assert await seen_by_ben() == before
    works: tuple[Callable[[Session, NodeId], Awaitable[object]], ...] = (node_view, explain_visibility, provenance)
    for id_ in (hidden, block_id, secret, private.id, private.pool or secret):
        unknown = NodeId(id_[:4] + "0" * 26)
        for work in works:
            assert await ask_of(world, work, id_) == await ask_of(world, work, unknown)
    by_ana = await ask(world, world.ana, lambda s: entries(s, world.atlas, EntryFilter(text="90k"), first=5))
    assert [view.id for view in by_ana[0]] == [hidden]  # type: ignore[index]


@pytest.mark.req("KN-60", "KN-110")
async def test_every_read_answers_a_hidden_id_like_one_that_never_was(library: Library) -> None:
    world, write = library.world, library.write
    secret = await library.source(library.private)
    one = write.entry(library.private, "One", rests_on=[secret.id])
    other = write.entry(library.private, "Other", rests_on=[secret.id])
    version = write.block(one, "text", [secret.id])
    relation, relation_version = write.relate(one, "knows", other, [secret.id])
    attribute = write.attribute(one, "city", "Rome", [secret.id])
    await write.save(library.private)
    conversation = await world.open(world.chat)
    records = await library.listed(world.ana, lambda s: audit_log(s, AuditFilter(kb_ids=(library.private,)), first=9))
    then = AsOf(recorded=library.clock.now())
    reads: list[tuple[NodeId, Callable[[Session, NodeId], Awaitable[object]]]] = [
        (one.id, entry),
        (one.id, lambda s, i: entry(s, i, then)),
        (one.id, known_entry),
        (one.id, projection),
        (one.id, neighborhood),
        (one.id, lambda s, i: relations(s, i, first=5)),
        (one.id, lambda s, i: relations(s, i, first=5, as_of=then)),
        (one.id, lambda s, i: entry_sources(s, i, first=5)),
        (one.id, lambda s, i: entry_audit(s, i, first=5)),
        (one.id, lambda s, i: entries(s, world.atlas, EntryFilter(ids=(i,)), first=5)),
        (library.private, lambda s, i: entries(s, world.atlas, EntryFilter(kb_ids=(i,)), first=5)),
        (library.private, lambda s, i: audit_log(s, AuditFilter(kb_ids=(i,)), first=5)),
        (library.private, lambda s, i: projection(s, one.id, read_set_of=i)),
        (secret.id, lambda s, i: entries(s, world.atlas, EntryFilter(cites_source_id=i), first=5)),
        (secret.id, lambda s, i: source_versions(s, i, first=5)),
        (secret.id, citing_statements),
        (version.block_id, lambda s, i: block_versions(s, i, first=5)),
        (relation.id, lambda s, i: relation_versions(s, i, first=5)),
        (conversation.id, lambda s, i: messages(s, i, first=5)),
        (one.id, lambda s, i: audit_log(s, AuditFilter(target_id=i), first=5)),
        *((id_, work) for id_ in (one.id, version.id, secret.id) for work in (provenance, explain_visibility)),
        *((id_, _exported) for id_ in (one.id, version.id)),
        *(
            (id_, node_view)
            for id_ in (one.id, version.block_id, version.id, relation.id, relation_version.id, attribute.id)
        ),
        *((id_, node_view) for id_ in (secret.id, conversation.id, library.private, records.items[0].id)),
    ]
    for id_, work in reads:
        unknown = NodeId(f"{id_.partition('_')[0]}_unknown")
        assert await ask_of(world, work, id_) == await ask_of(world, work, unknown), (work, id_)
    maps: list[tuple[NodeId, Callable[[Session, list[NodeId]], Awaitable[Mapping[NodeId, object]]]]] = [
        (one.id, blocks_of),
        (one.id, attributes_of),
        (one.id, same_topic),
        (version.block_id, block_views),
        (relation.id, relation_views),
        (records.items[0].id, restored_by),
    ]
    for id_, many in maps:
        found = await library.read(world.ben, partial(_of_one, many, id_))
        assert not any(found.values())


async def _exported(session: Session, id_: NodeId) -> object:
    return await provenance_export(session, id_, format=ProvenanceFormat.GRAPHML)


@pytest.mark.req("KN-29", "MA-24")
@pytest.mark.parametrize("first", [0, 1])
async def test_bug_8_relation_outlives_either_of_its_sources(world: TeamWorld, first: int) -> None:
    sources = [
        await world.say(world.ops, "Mei leads the Kyoto office."),
        await world.say(world.ops, "As I said, Mei leads the Kyoto office!", speaker=world.ben),
    ]
    both = [cite(source, "Mei leads the Kyoto office") for source in sources]
    result = await dream(
        world,
        create("Mei", block("Leads the office.", both[0]), type="person", ref="mei"),
        create("Kyoto office", block("Led by Mei.", *both), ref="kyoto"),
        relate("mei", "leads", "kyoto", sources[0], "Mei leads the Kyoto office"),
        relate("mei", "leads", "kyoto", sources[1], "Mei leads the Kyoto office"),
    )
    relation, kyoto = made(result, 2), made(result, 1)
    # Both names rest on both sources now, so that the entries survive as the relation does.
    await withdraw(world, sources[first])

    view = await ask(world, world.ben, lambda s: node_view(s, relation))
    assert isinstance(view, RelationView)
    assert [citation.source.id for citation in view.support.citations] == [sources[1 - first]]
    blocks = await ask(world, world.ben, lambda s: blocks_of(s, [kyoto]))
    assert blocks == {kyoto: ()}
    await withdraw(world, sources[1 - first])
    for id_ in (relation, kyoto, made(result, 0)):
        assert await ask_of(world, node_view, id_) is None


@pytest.mark.req("KN-124", "KN-81", "KN-62")
@pytest.mark.parametrize("how", ["withdraw", "erase"])
async def test_bug_9_no_output_holds_a_deleted_word(world: TeamWorld, how: str) -> None:
    s1 = await world.say(world.ops, "Project Heron's launch code word is MARMALADE-7.")
    s2 = await world.say(world.ops, "Project Heron is run by Ana.")
    result = await dream(
        world,
        create(
            "Project Heron",
            block("The code word is MARMALADE-7.", cite(s1, "launch code word is MARMALADE-7")),
            block("Run by Ana.", cite(s2, "Project Heron is run by Ana")),
            type="project",
        ),
    )
    heron, code, run_by = result.verdicts[0].created[:3]
    await dream(
        world, on_entry("setSummary", heron, 1, summary="Code word MARMALADE-7, run by Ana.", fromBlocks=[code, run_by])
    )
    assert "MARMALADE" in str(await ask(world, world.ben, lambda s: projection(s, heron)))
    if how == "withdraw":
        await withdraw(world, s1)
    else:
        await command(world.deps, world.caller(world.dan), lambda cmd: erase_source(cmd, s1, "asked for"))

    for who in (world.ana, world.ben, world.cleo, world.dan):
        outputs = [
            await ask(world, who, lambda s: node_view(s, heron)),
            await ask(world, who, lambda s: projection(s, heron)),
            await ask(world, who, lambda s: blocks_of(s, [heron])),
            await ask(world, who, lambda s: provenance(s, heron, depth=16)),
            await ask(world, who, lambda s: _exported(s, heron)),
            await ask(world, who, lambda s: entries(s, world.atlas, first=50)),
            await ask(world, who, lambda s: entries(s, world.atlas, EntryFilter(text="marmalade"), first=50)),
            await ask(world, who, lambda s: audit_log(s, AuditFilter(), first=50)),
            await ask(world, who, lambda s: messages(s, world.ops, first=50)),
            await ask(world, who, lambda s: conversations(s, world.ops, first=50)),
        ]
        assert "MARMALADE" not in str(outputs)
        assert ("Run by Ana." in str(outputs)) == (who != world.dan)  # an admin is no member of the channel


@pytest.mark.req("KN-34")
async def test_same_topic_is_seen_from_the_wider_entry_only_by_who_reads_the_narrower(library: Library) -> None:
    open_, secret = await library.source(library.shared), await library.source(library.private)
    wide = library.write.entry(library.shared, "Chen", rests_on=[open_.id])
    await library.write.save(library.shared)
    narrow = library.write.entry(library.private, "Dr Chen", rests_on=[secret.id])
    library.write.changes.links.append(Edge(type=EdgeType.SAME_AS, source=narrow.id, target=wide.id))
    await library.write.save(library.private)

    by_ana = await library.read(library.world.ana, lambda s: same_topic(s, [wide.id, narrow.id]))
    by_ben = await library.read(library.world.ben, lambda s: same_topic(s, [wide.id, narrow.id]))

    assert by_ana == {wide.id: (narrow.id,), narrow.id: (wide.id,)}
    assert by_ben == {wide.id: (), narrow.id: ()}


@pytest.mark.req("KN-64")
async def test_edited_message_makes_what_cites_it_stale(world: TeamWorld) -> None:
    old = await world.say(world.ops, "Launch is 1 June")
    result = await dream(world, create("Launch", block("Launch is 1 June.", cite(old, "Launch is 1 June"))))
    block_id = result.verdicts[0].created[1]

    async def current() -> BlockVersionView:
        found = await ask(world, world.ben, lambda s: block_views(s, [block_id]))
        version = found[block_id].current  # type: ignore[index]
        assert isinstance(version, BlockVersionView)
        return version

    assert not (await current()).stale
    await world.say(world.ops, "Launch is 2 June", external_id="m1")
    assert (await current()).stale
    assert "[stale]" in str(await ask(world, world.ben, lambda s: projection(s, made(result))))


@pytest.mark.req("KN-68", "KN-25")
async def test_authored_text_shows_its_author_as_source(world: TeamWorld) -> None:
    await world.say(world.ops, "hello")
    kb = base_id(world.name, world.atlas, KbKind.CHANNEL, world.ops)
    result = await apply(world, create("Helio", block("Builds kilns.", basis="authored")), by=world.ana, kb=kb)

    text = str(await ask(world, world.ben, lambda s: projection(s, made(result))))

    assert 'human_note, "Ana"' in text
