"""Facts in search and browse: what held once and what holds now are told apart, a judgement brings its evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from graph.model.ids import NodeId
from graph.rules.ranking import ItemKind
from graph.services.access.session import Session, read
from graph.services.knowledge.projection import projection
from graph.services.knowledge.views import BlockView
from tests.support.operations import add, apply, block, cite, create, deduction, made
from tests.support.world import TeamWorld
from tests.unit.graph.services.search.asking import ask, browse


async def lin(world: TeamWorld) -> NodeId:
    """The entry of somebody who liked barbecue and became a vegetarian, as Lin said himself."""
    m1 = await world.say(world.ops, "I like barbecue", speaker=world.ben)
    likes = block("Likes barbecue.", cite(m1, "I like barbecue"), validFrom="2023-06-01")
    first = await apply(world, create("Lin", likes, type="person"))
    m2 = await world.say(world.ops, "I went vegetarian last month", speaker=world.ben)
    since = {"change": "evolution", "validFrom": "2025-04-01", "fromPrecision": "month"}
    became = block("Vegetarian.", cite(m2, "went vegetarian"), **since, supersedes=[made(first, place=1)])
    await apply(world, add(made(first), became))
    return made(first)


@pytest.mark.req("KN-1", "KN-2", "RE-24", "RE-34")
async def test_what_held_once_and_what_holds_now_are_no_equals(world: TeamWorld) -> None:
    entry = await lin(world)
    wanted = ["Likes barbecue. [2023-06-01 to 2025-04]", "Vegetarian. [since 2025-04]"]
    found = next(item for item in (await ask(world, "barbecue")).items if item.kind is ItemKind.ENTRY)
    assert found.text.splitlines()[-2:] == wanted
    page = await browse(world, entry)
    assert all(fact in page.text for fact in wanted)
    assert len(page.sources) == 2


@pytest.mark.req("KN-37", "RE-34")
async def test_browse_shows_the_bytes_of_the_projection_page_by_page(world: TeamWorld) -> None:
    entry = await lin(world)
    text, _ = await read(world.deps, world.caller(world.ana), lambda session: projection(session, entry))
    whole = await browse(world, entry)
    assert f"{whole.text}\n" == text
    assert (whole.next, whole.previous) == (None, None)
    read_so_far, cursor = "", None
    for _ in range(40):
        page = await browse(world, entry, max_tokens=20, after=cursor)
        read_so_far, cursor = read_so_far + page.text, page.next
        if cursor is None:
            break
    assert "".join(read_so_far.split()) == "".join(text.split())


@pytest.mark.req("RE-34", "KN-113")
async def test_facts_that_go_while_an_entry_is_opened_bring_no_fault(
    world: TeamWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store without snapshots gives the text with facts of which it tells nothing any more a moment later."""
    entry = await lin(world)
    whole = await browse(world, entry)

    async def none_left(session: Session, ids: Sequence[NodeId]) -> Mapping[NodeId, tuple[BlockView, ...]]:
        return dict.fromkeys(ids, ())

    monkeypatch.setattr("graph.services.search.browse.blocks_of", none_left)
    page = await browse(world, entry)
    assert (page.text, page.sources) == (whole.text, ())
    shown, cursor = page.text.split(), (first := await browse(world, entry, max_tokens=8)).next
    read_so_far = first.text.split()
    for _ in shown:
        if cursor is None:
            break
        following = await browse(world, entry, max_tokens=8, after=cursor)
        read_so_far, cursor = [*read_so_far, *following.text.split()], following.next
    assert "".join(read_so_far) == "".join(shown)


@pytest.mark.req("KN-5", "RE-29")
async def test_a_rumour_is_marked_in_search_and_browse(world: TeamWorld) -> None:
    source = await world.say(world.ops, "I heard that Kai may leave", speaker=world.ben)
    said = "Ben heard on 2025-05-10 that Kai may leave."
    rumour = block(said, cite(source, "Kai may leave"), change="rumour", standing="unconfirmed")
    entry = made(await apply(world, create("Kai", rumour, type="person")))
    found = next(item for item in (await ask(world, "leave")).items if item.kind is ItemKind.ENTRY)
    for text in (found.text, (await browse(world, entry)).text):
        assert f"{said} [unconfirmed]" in text


@pytest.mark.req("DR-56", "DR-58", "RE-29")
async def test_a_judgement_names_its_maker_and_brings_the_words_behind_its_basis(world: TeamWorld) -> None:
    source = await world.say(world.ops, "Mia works in the Berlin office", speaker=world.ben)
    works = block("Works in the Berlin office.", cite(source, "works in the Berlin office"))
    mia = await apply(world, create("Mia", works, type="person"))
    judged = deduction("the office closes", "somebody must move", made(mia, place=1))
    plans = made(await apply(world, create("Plans", judged)))
    found = next(item for item in (await ask(world, "somebody must move")).items if item.ref == plans)
    page = await browse(world, plans)
    assert "If the office closes: somebody must move (agent, 2025-05-10) [inferred]" in found.text
    assert "If the office closes: somebody must move (Atlas, 2025-05-10; basis [^1]) [inferred]" in page.text
    for sources in (found.sources, page.sources):
        assert [(cited.source.id, cited.quote) for cited in sources] == [(source, "works in the Berlin office")]
