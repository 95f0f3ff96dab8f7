"""The Curation Guide: one a principal, by people only, enforced from the next list on."""

from __future__ import annotations

import pytest

from graph.model.errors import BadInput, NotFound, OperationRejected, VersionConflict
from graph.model.ids import NodeId
from graph.model.nodes.knowledge import CurationGuide
from graph.services.access.commands import command
from graph.services.access.session import read
from graph.services.knowledge.guide import GuideResult, set_curation_guide
from graph.store.query import Find
from tests.support.operations import apply, block, cite, create, outcomes
from tests.support.world import TeamWorld


async def write(
    world: TeamWorld, text: str, version: int, *, by: NodeId | None = None, of: NodeId | None = None
) -> GuideResult:
    return await command(
        world.deps,
        world.caller(by or world.ana),
        lambda cmd: set_curation_guide(cmd, of or world.atlas, text, expected_version=version),
    )


@pytest.mark.req("KN-104", "KN-87", "KN-84")
async def test_there_is_one_guide_a_principal_and_it_has_versions(world: TeamWorld) -> None:
    first = await write(world, "# Keep facts", 0)
    with pytest.raises(VersionConflict) as caught:
        await write(world, "# Another", 0)
    assert caught.value.details["current"] == {"version": 1, "text": "# Keep facts"}
    second = await write(world, "# Keep facts short", 1)
    assert (second.guide.id, second.guide.version, second.guide.pool) == (first.guide.id, 2, first.guide.pool)
    assert [(r.operation, r.before, r.after) for r in second.records] == [
        ("guide.write", {"text": "# Keep facts"}, {"text": "# Keep facts short"})
    ]
    page, _ = await read(
        world.deps, world.caller(world.ben), lambda s: s.reader.find(s.viewer, Find(kind=CurationGuide))
    )
    assert [guide.text for guide in page.nodes] == ["# Keep facts short"]


@pytest.mark.req("KN-105")
async def test_only_people_write_a_guide(world: TeamWorld) -> None:
    for other in (world.atlas, world.host):
        with pytest.raises(OperationRejected) as caught:
            await write(world, "# Mine", 0, by=other)
        assert caught.value.wire_code == "GUIDE_HUMAN_ONLY"
    with pytest.raises(OperationRejected) as reader:
        await write(world, "# Mine", 0, by=world.ben)
    assert reader.value.wire_code == "SCOPE_FORBIDDEN"
    with pytest.raises(NotFound):
        await write(world, "# Mine", 0, by=world.eve)


@pytest.mark.req("KN-104")
async def test_the_guide_of_a_person_is_his_alone(world: TeamWorld) -> None:
    own = await write(world, "# How I like it", 0, by=world.ana, of=world.ana)
    page, _ = await read(
        world.deps, world.caller(world.ana), lambda s: s.reader.find(s.viewer, Find(kind=CurationGuide))
    )
    assert [guide.id for guide in page.nodes] == [own.guide.id]
    for other in (world.ben, world.cleo, world.dan):
        with pytest.raises(NotFound):
            await write(world, "# Not mine", 1, by=other, of=world.ana)
        theirs, _ = await read(
            world.deps, world.caller(other), lambda s: s.reader.find(s.viewer, Find(kind=CurationGuide))
        )
        assert theirs.nodes == ()


@pytest.mark.req("KN-107", "KN-108")
async def test_front_matter_is_enforced_from_the_next_list_on(world: TeamWorld) -> None:
    source = await world.say(world.ops, "Helio builds kilns.")
    content = create("Helio", block("Builds kilns.", cite(source, "builds kilns")), type="vendor")
    assert outcomes(await apply(world, content, dry_run=True)) == ["UNKNOWN_TYPE"]
    await write(world, "---\ntypes: [vendor]\nminEvidence: 2\n---\n# Guide", 0)
    assert outcomes(await apply(world, content, dry_run=True)) == ["NOT_ENOUGH_EVIDENCE"]
    await write(world, "---\ntypes: [vendor]\n---\n# Guide", 1)
    assert outcomes(await apply(world, content)) == ["accepted"]


@pytest.mark.req("KN-107")
async def test_a_malformed_guide_is_not_written(world: TeamWorld) -> None:
    with pytest.raises(BadInput):
        await write(world, "---\nminEvidence: 99\n---", 0)
    assert (await write(world, "", 0)).guide.version == 1
