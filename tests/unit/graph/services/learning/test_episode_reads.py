"""Episodes in reads: the originals behind them, hidden with any of their messages, never evidence."""

from __future__ import annotations

import pytest

from graph.model.edges import EdgeType
from graph.model.errors import NotFound
from graph.model.ids import GlobalId, NodeId
from graph.rules.knowledge_settings import defaults
from graph.rules.ranking import ItemKind
from graph.services.access.commands import command
from graph.services.access.session import Session, read
from graph.services.knowledge.nodes import node_view
from graph.services.knowledge.provenance import provenance
from graph.services.knowledge.withdrawal import withdraw_source
from graph.services.learning.episode_messages import conclusion_messages, episode_messages
from graph.services.search.candidates import scored
from graph.services.search.expand import Expanded, expand
from graph.services.search.values import Ranking
from tests.support.learning import code_of, episode
from tests.support.operations import block, cite, create
from tests.support.world import TeamWorld
from tests.unit.graph.services.search.asking import browse


async def lunch(world: TeamWorld) -> tuple[NodeId, NodeId, NodeId]:
    """Two messages and the episode of them."""
    first = await world.say(world.ops, "shall we have lunch", speaker=world.ben)
    second = await world.say(world.ops, "at noon in the garden", speaker=world.ana)
    return first, second, await episode(world, "lunch", first, second, concluded="Lunch is at noon")


@pytest.mark.req("DR-20", "DR-23", "KN-60")
async def test_an_episode_gives_its_messages_and_is_hidden_with_any_of_them(world: TeamWorld) -> None:
    first, second, id_ = await lunch(world)
    ben = world.caller(world.ben)
    messages, _ = await read(world.deps, ben, lambda s: episode_messages(s, [id_]))
    assert [message.id for message in messages[id_]] == [first, second]
    behind, _ = await read(world.deps, ben, lambda s: conclusion_messages(s, [id_]))
    assert [message.id for message in behind[id_][0]] == [first]
    assert (await read(world.deps, ben, lambda s: node_view(s, id_)))[0] is not None
    assert (await read(world.deps, world.caller(world.eve), lambda s: node_view(s, id_)))[0] is None
    await command(world.deps, world.caller(world.host), lambda cmd: withdraw_source(cmd, second, None))
    assert (await read(world.deps, ben, lambda s: node_view(s, id_)))[0] is None
    with pytest.raises(NotFound):
        await browse(world, id_)


@pytest.mark.req("KN-79", "KN-7")
async def test_provenance_leads_from_an_episode_to_its_messages(world: TeamWorld) -> None:
    first, second, id_ = await lunch(world)
    graph, _ = await read(world.deps, world.caller(world.ben), lambda s: provenance(s, id_))
    assert {(found.edge.target, found.edge.type) for found in graph.edges} == {
        (m, EdgeType.SUMMARIZES) for m in (first, second)
    }


@pytest.mark.req("RE-34", "DR-23")
async def test_browse_opens_the_originals_behind_an_episode(world: TeamWorld) -> None:
    first, second, id_ = await lunch(world)
    page = await browse(world, id_, by=world.ben)
    assert page.text.startswith("lunch (")
    assert page.text.index("shall we have lunch") < page.text.index("at noon in the garden")
    assert [citation.source.id for citation in page.sources] == [first, second]


@pytest.mark.req("RE-21", "RE-17", "RE-27")
async def test_a_found_episode_expands_into_its_messages(world: TeamWorld) -> None:
    first, second, id_ = await lunch(world)
    ranking = Ranking(items=(id_,), matched={id_: (id_,)}, strengths={id_: 1.0})
    said_so = Ranking(items=(first,), matched={}, strengths={first: 1.0})
    rankings = {"episode_vector": ranking, "message_keyword": said_so}

    async def work(session: Session) -> list[Expanded]:
        ranked, rerank = await scored(session, "lunch with Ben", rankings, defaults(), rerank=True)
        assert rerank.applied
        assert [candidate.kind for candidate in ranked] == [ItemKind.EPISODE, ItemKind.MESSAGE]
        return await expand(session, session.viewer, ranked[:1], ["lunch"], defaults())

    (found,), _ = await read(world.deps, world.caller(world.ben), work)
    named = GlobalId.decode(found.item.ref)
    assert named is not None
    assert named.node == id_  # what the mark of a cut names, clients can browse (RE-27)
    heading, *said = found.item.parts
    assert (heading.own, heading.message_id) == (False, None)
    assert [part.message_id for part in said] == [first, second]
    assert [citation.source.id for citation in found.sources] == [first, second]


@pytest.mark.req("DR-23")
async def test_an_episode_is_no_evidence(world: TeamWorld) -> None:
    _, _, id_ = await lunch(world)
    given = create("Lunch", block("At noon", cite(id_, "They spoke about lunch.")))
    assert await code_of(world, given) == "EPISODE_NOT_EVIDENCE"
