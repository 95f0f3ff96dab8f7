"""The Markdown that Agents read, for different readers."""

from __future__ import annotations

from datetime import timedelta

import pytest

from graph.model.errors import NotFound
from graph.model.ids import GlobalId, NodeId
from graph.model.nodes.evidence import Source
from graph.model.nodes.knowledge import FacetField
from graph.model.time import parse
from graph.rules.as_of import AsOf
from graph.services.access.session import read
from graph.services.knowledge.projection import projection
from tests.unit.graph.services.knowledge.reading.conftest import Library

pytestmark = pytest.mark.req("KN-37", "KN-38")


def shown(source: Source) -> str:
    return GlobalId(kind="Source", workspace=source.workspace, node=source.id).encode()


async def text_of(library: Library, who: NodeId, entry: NodeId, read_set_of: NodeId | None = None) -> str:
    return await library.read(who, lambda s: projection(s, entry, read_set_of=read_set_of))


@pytest.mark.req("KN-2", "DR-69", "KN-74")
async def test_diet_case_shows_what_held_and_what_holds(library: Library) -> None:
    first, second = await library.source(library.shared), await library.source(library.shared)
    lin = library.write.entry(library.shared, "Lin", rests_on=[first.id], aliases={"Lin Chen": [first.id]})
    start, change = parse("2023-06-01T00:00:00Z"), parse("2025-04-01T00:00:00Z")
    barbecue = library.write.block(
        lin, "Likes barbecue", [first.id], valid_from=start, from_precision="day", valid_to=change, to_precision="month"
    )
    library.write.block(
        lin, "Vegetarian", [second.id], position=1, valid_from=change, from_precision="month", standing="corrected"
    )
    library.write.facet(lin, FacetField.SUMMARY, "Eats no meat.", [barbecue.id])
    helio = library.write.entry(library.shared, "Helio", type="organization", rests_on=[second.id])
    library.write.relate(
        lin, "member_of", helio, [second.id], valid_from=parse("2024-01-01T00:00:00Z"), from_precision="year"
    )
    await library.write.save(library.shared)

    assert await text_of(library, library.world.ben, lin.id) == (
        "# Lin\n"
        'person · aliases: "Lin Chen" · updated 2025-05-10T09:00:00.000Z\n'
        "\n"
        "Eats no meat.\n"
        "\n"
        "## Facts\n"
        "\n"
        "Likes barbecue [2023-06-01 to 2025-04] [^1]\n"
        "\n"
        "Vegetarian [since 2025-04] [corrected] [^2]\n"
        "\n"
        "## Relations\n"
        "\n"
        '- "Lin" member_of "Helio" [since 2024] [^2]\n'
        "\n"
        "## Sources\n"
        "\n"
        f'[^1]: message, "Ana", 2025-05-10, {shown(first)}\n'
        f'[^2]: message, "Ana", 2025-05-10, {shown(second)}\n'
    )


@pytest.mark.req("KN-62", "KN-60")
async def test_hidden_parts_leave_no_trace(library: Library) -> None:
    open_, secret = await library.source(library.shared), await library.source(library.private)
    lin = library.write.entry(library.shared, "Lin", rests_on=[open_.id], aliases={"Secret": [secret.id]})
    library.write.block(lin, "secret", [secret.id])
    library.write.block(lin, "open", [open_.id], position=1)
    await library.write.save(library.shared)

    assert await text_of(library, library.world.ben, lin.id) == (
        "# Lin\nperson · updated 2025-05-10T09:00:00.000Z\n\n## Facts\n\nopen [^1]\n\n## Sources\n\n"
        f'[^1]: message, "Ana", 2025-05-10, {shown(open_)}\n'
    )


@pytest.mark.req("DR-58", "DR-60")
async def test_deduction_names_its_author_date_and_basis(library: Library) -> None:
    one, two = await library.source(library.shared), await library.source(library.shared)
    lin = library.write.entry(library.shared, "Mia", rests_on=[one.id])
    works = library.write.block(lin, "Works in Berlin", [one.id])
    office = library.write.block(lin, "Berlin belongs to Orion", [two.id], position=1)
    library.write.block(
        lin,
        "If the office is staffed by Orion: Mia is Orion staff",
        [works.id, office.id],
        position=2,
        basis="deduced",
        standing="inferred",
        condition="the office is staffed by Orion",
        conclusion="Mia is Orion staff",
        inferred_at=library.clock.now(),
    )
    await library.write.save(library.shared)

    text = await text_of(library, library.world.ben, lin.id)
    assert (
        "If the office is staffed by Orion: Mia is Orion staff (Dreaming, 2025-05-10; basis [^1], [^2]) [inferred]\n"
    ) in text
    library.clock.advance(timedelta(minutes=1))
    library.write.edit(works, "Works in Rome", [one.id])
    await library.write.save(library.shared)
    assert "[inferred, stale]" in await text_of(library, library.world.ben, lin.id)


@pytest.mark.req("CO-22")
async def test_read_set_of_a_base_shows_what_it_reads(library: Library) -> None:
    shared, private = await library.source(library.shared), await library.source(library.private)
    lin = library.write.entry(library.shared, "Lin", rests_on=[shared.id])
    library.write.block(lin, "said in private", [private.id])
    library.write.block(lin, "said openly", [shared.id], position=1)
    await library.write.save(library.shared)
    ana, ben = library.world.ana, library.world.ben

    assert "said in private" in await text_of(library, ana, lin.id)
    assert "said in private" in await text_of(library, ana, lin.id, library.private)
    for base in (library.shared, library.own, library.channel):
        assert await text_of(library, ana, lin.id, base) == await text_of(library, ben, lin.id)
    with pytest.raises(NotFound):
        await text_of(library, ben, lin.id, library.private)
    with pytest.raises(NotFound):
        await text_of(library, ben, lin.id, NodeId("knb_none"))


@pytest.mark.req("KN-59")
async def test_auditor_who_reads_as_a_private_chat_leaves_a_record(library: Library) -> None:
    source = await library.source(library.shared)
    lin = library.write.entry(library.shared, "Lin", rests_on=[source.id])
    await library.write.save(library.shared)
    cleo = library.world.caller(library.world.cleo)

    _, session = await read(library.world.deps, cleo, lambda s: projection(s, lin.id, read_set_of=library.private))

    assert session.recorded == {library.private}


@pytest.mark.req("KN-76")
async def test_projection_of_an_earlier_time(library: Library) -> None:
    source = await library.source(library.shared)
    lin = library.write.entry(library.shared, "Lin", rests_on=[source.id])
    version = library.write.block(lin, "before", [source.id])
    await library.write.save(library.shared)
    then = library.clock.now()
    library.clock.advance(timedelta(days=1))
    library.write.edit(version, "after", [source.id])
    library.write.changes.patch(lin.id, updated_at=library.clock.now())
    await library.write.save(library.shared)

    past = await library.read(library.world.ben, lambda s: projection(s, lin.id, AsOf(recorded=then)))

    assert "before [^1]" in past
    assert "updated 2025-05-10T09:00:00.000Z" in past
    assert "after [^1]" in await text_of(library, library.world.ben, lin.id)
