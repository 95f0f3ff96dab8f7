"""Relations and neighbourhoods as different readers see them."""

from __future__ import annotations

import itertools
from datetime import timedelta

import pytest

from graph.model.errors import LimitExceeded, NotFound
from graph.model.ids import NodeId
from graph.model.nodes.knowledge import Entry
from graph.model.time import parse
from graph.rules.as_of import NOW, AsOf
from graph.services.access.commands import command
from graph.services.knowledge.neighborhood import Neighborhood, neighborhood
from graph.services.knowledge.nodes import node_view
from graph.services.knowledge.relations import RelationDirection, relation_versions, relations
from graph.services.knowledge.views import RelationView
from graph.services.knowledge.withdrawal import withdraw_source
from tests.unit.graph.services.knowledge.reading.conftest import Library


async def entry_of(library: Library, name: str, rests_on: NodeId, pool: NodeId | None = None) -> Entry:
    made = library.write.entry(pool or library.shared, name, rests_on=[rests_on])
    await library.write.save(pool or library.shared)
    return made


async def types_of(
    library: Library,
    who: NodeId,
    entry: Entry,
    direction: RelationDirection = RelationDirection.BOTH,
    types: list[str] | None = None,
    as_of: AsOf = NOW,
) -> list[str]:
    found = await library.listed(
        who, lambda s: relations(s, entry.id, direction=direction, types=types, as_of=as_of, first=50)
    )
    assert await found.count() == len(found.items)
    return [view.node.type for view in found.items]


@pytest.mark.req("KN-29", "MA-24")
async def test_relation_keeps_the_evidence_that_is_left(library: Library) -> None:
    document, message = await library.source(library.shared), await library.source(library.shared)
    lin, helio = await entry_of(library, "Lin", message.id), await entry_of(library, "Helio", message.id)
    relation, _ = library.write.relate(lin, "member_of", helio, [document.id, message.id])
    await library.write.save(library.shared)

    async def evidence() -> list[NodeId] | None:
        view = await library.read(library.world.ben, lambda s: node_view(s, relation.id))
        assert view is None or isinstance(view, RelationView)
        return None if view is None else [citation.source.id for citation in view.support.citations]

    dan = library.world.caller(library.world.dan)
    assert await evidence() == [document.id, message.id]
    await command(library.world.deps, dan, lambda c: withdraw_source(c, document.id, "gone"))
    assert await evidence() == [message.id]
    await command(library.world.deps, dan, lambda c: withdraw_source(c, message.id, "gone"))
    assert await evidence() is None


@pytest.mark.req("KN-29", "KN-62", "KN-60")
async def test_relation_shows_only_visible_evidence_and_hides_with_an_end(library: Library) -> None:
    open_, secret = await library.source(library.shared), await library.source(library.private)
    lin, helio = await entry_of(library, "Lin", open_.id), await entry_of(library, "Helio", open_.id)
    hidden = await entry_of(library, "Hidden", secret.id)
    library.write.relate(lin, "member_of", helio, [open_.id, secret.id])
    library.write.relate(lin, "knows", hidden, [open_.id])
    library.write.relate(lin, "leads", helio, [secret.id])
    await library.write.save(library.shared)

    by_ben = await library.listed(library.world.ben, lambda s: relations(s, lin.id, first=9))

    assert await types_of(library, library.world.ana, lin) == ["member_of", "knows", "leads"]
    assert [[c.source.id for c in view.support.citations] for view in by_ben.items] == [[open_.id]]
    assert await by_ben.count() == 1
    with pytest.raises(NotFound):
        await library.read(library.world.ben, lambda s: relations(s, hidden.id, first=9))


@pytest.mark.req("KN-76", "KN-31")
async def test_direction_type_and_time_narrow_relations(library: Library) -> None:
    source = await library.source(library.shared)
    lin, helio = await entry_of(library, "Lin", source.id), await entry_of(library, "Helio", source.id)
    start = parse("2024-01-01T00:00:00Z")
    library.write.relate(lin, "member_of", helio, [source.id], valid_from=start)
    await library.write.save(library.shared)
    library.clock.advance(timedelta(minutes=1))
    wrong, version = library.write.relate(helio, "employs", lin, [source.id])
    await library.write.save(library.shared)
    before = library.clock.now()
    library.clock.advance(timedelta(minutes=1))
    library.write.retract(wrong, version)
    await library.write.save(library.shared)
    ben = library.world.ben

    assert await types_of(library, ben, lin) == ["member_of"]
    assert await types_of(library, ben, lin, RelationDirection.IN) == []
    assert await types_of(library, ben, helio, RelationDirection.IN) == ["member_of"]
    assert await types_of(library, ben, lin, types=["employs"]) == []
    assert await types_of(library, ben, lin, as_of=AsOf(recorded=before)) == ["employs", "member_of"]
    assert await types_of(library, ben, lin, RelationDirection.IN, as_of=AsOf(recorded=before)) == ["employs"]
    assert await types_of(library, ben, lin, as_of=AsOf(valid=parse("2023-01-01T00:00:00Z"))) == []
    assert await types_of(library, ben, lin, as_of=AsOf(valid=start)) == ["member_of"]
    versions = await library.listed(ben, lambda s: relation_versions(s, wrong.id, first=5))
    assert [v.version for v in versions.items] == [1]


@pytest.mark.req("KN-113")
async def test_pages_of_relations_are_complete(library: Library) -> None:
    source = await library.source(library.shared)
    hub = await entry_of(library, "Hub", source.id)
    made = []
    for number in range(5):
        other = library.write.entry(library.shared, f"Other {number}", rests_on=[source.id])
        made.append(library.write.relate(other, "part_of", hub, [source.id])[0].id)
        await library.write.save(library.shared)
        library.clock.advance(timedelta(minutes=number % 2))

    for as_of in (NOW, AsOf(recorded=library.clock.now())):
        pages: list[NodeId] = []
        after = None
        while True:
            page = await library.listed(
                library.world.ben,
                lambda s, at=after, then=as_of: relations(s, hub.id, as_of=then, first=2, after=at),  # type: ignore[misc]
            )
            pages += [view.id for view in page.items]
            if not page.more:
                break
            after = page.places[-1]
        assert sorted(pages) == sorted(made)
        assert await page.count() == 5


def shape(library: Library, found: Neighborhood) -> dict[str, int]:
    return {view.name: found.depths[view.id] for view in found.nodes}


@pytest.mark.req("KN-118")
async def test_neighbourhood_is_nearest_first_and_bounded(library: Library) -> None:
    source = await library.source(library.shared)
    chain = [await entry_of(library, name, source.id) for name in ("A", "B", "C", "D", "E")]
    for one, other in itertools.pairwise(chain):
        library.write.relate(one, "near", other, [source.id])
    await library.write.save(library.shared)
    ben = library.world.ben

    near = await library.read(ben, lambda s: neighborhood(s, chain[0].id, depth=2))
    middle = await library.read(ben, lambda s: neighborhood(s, chain[2].id, depth=1))
    cut = await library.read(ben, lambda s: neighborhood(s, chain[2].id, depth=3, limit=2))

    assert shape(library, near) == {"A": 0, "B": 1, "C": 2}
    assert (len(near.relations), near.truncated) == (2, False)
    assert set(shape(library, middle)) == {"B", "C", "D"}
    assert (len(cut.nodes), cut.truncated) == (2, True)
    assert all({r.node.subject_id, r.node.object_id} <= cut.depths.keys() for r in cut.relations)
    for wrong in ({"depth": 0}, {"depth": 4}, {"limit": 0}, {"limit": 201}):
        with pytest.raises(LimitExceeded):
            await library.read(ben, lambda s, w=wrong: neighborhood(s, chain[0].id, **w))  # type: ignore[misc]


@pytest.mark.req("KN-118", "KN-60")
async def test_neighbourhood_does_not_walk_through_what_is_hidden(library: Library) -> None:
    open_, secret = await library.source(library.shared), await library.source(library.private)
    a, b = await entry_of(library, "A", open_.id), await entry_of(library, "B", open_.id)
    bridge = await entry_of(library, "Bridge", secret.id)
    library.write.relate(a, "near", bridge, [open_.id])
    library.write.relate(bridge, "near", b, [open_.id])
    library.write.relate(a, "whispers_to", b, [secret.id])
    await library.write.save(library.shared)

    by_ana = await library.read(library.world.ana, lambda s: neighborhood(s, a.id, depth=3))
    by_ben = await library.read(library.world.ben, lambda s: neighborhood(s, a.id, depth=3))

    assert set(shape(library, by_ana)) == {"A", "B", "Bridge"}
    assert (shape(library, by_ben), by_ben.relations, by_ben.truncated) == ({"A": 0}, (), False)


@pytest.mark.req("KN-118", "KN-76")
async def test_neighbourhood_of_an_earlier_time(library: Library) -> None:
    source = await library.source(library.shared)
    a, b = await entry_of(library, "A", source.id), await entry_of(library, "B", source.id)
    relation, version = library.write.relate(a, "near", b, [source.id])
    await library.write.save(library.shared)
    before = library.clock.now()
    library.clock.advance(timedelta(minutes=1))
    library.write.retract(relation, version)
    await library.write.save(library.shared)
    ben = library.world.ben

    assert shape(library, await library.read(ben, lambda s: neighborhood(s, a.id))) == {"A": 0}
    past = await library.read(ben, lambda s: neighborhood(s, a.id, as_of=AsOf(recorded=before)))
    assert shape(library, past) == {"A": 0, "B": 1}
