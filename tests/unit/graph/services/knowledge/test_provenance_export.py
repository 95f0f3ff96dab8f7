"""Provenance leaves in forms that other tools read, and never with what the caller may not see."""

from __future__ import annotations

import io
import json

import networkx as nx
import pytest
from prov.model import ProvDocument

from graph.model.errors import NotFound
from graph.model.ids import NodeId
from graph.rules.provenance import Direction
from graph.services.access.commands import command
from graph.services.access.session import read
from graph.services.knowledge.provenance_export import ProvenanceFormat, provenance_export
from graph.services.knowledge.withdrawal import withdraw_source
from tests.support.operations import add, apply, block, cite, create, deduction, made
from tests.support.world import TeamWorld


async def exported(
    world: TeamWorld,
    id_: NodeId,
    format: ProvenanceFormat,
    by: NodeId | None = None,
    direction: Direction = Direction.UPSTREAM,
) -> str:
    text, _ = await read(
        world.deps,
        world.caller(by or world.ben),
        lambda s: provenance_export(s, id_, direction=direction, format=format),
    )
    return text


async def filled(world: TeamWorld) -> tuple[NodeId, NodeId, NodeId]:
    """An entry with a block and a deduction from it; returns the entry, the deduced version and the source."""
    source = await world.say(world.ops, "Orion runs on Postgres.", speaker=world.ben)
    result = await apply(world, create("Orion", block("Runs on Postgres.", cite(source, "Orion runs on Postgres"))))
    based = await apply(world, add(made(result), deduction("if so", "an upgrade is due", made(result, 0, 1))))
    return made(result), made(based, 0, 1), source


@pytest.mark.req("KN-122")
async def test_prov_json_is_read_by_the_library_and_written_again_equal(world: TeamWorld) -> None:
    entry, _, source = await filled(world)
    text = await exported(world, entry, ProvenanceFormat.PROV_JSON)
    document = ProvDocument.deserialize(content=text, format="json")
    assert json.loads(str(document.serialize(format="json"))) == json.loads(text)
    assert f"{source}" in text
    assert "Orion runs on Postgres" in text


@pytest.mark.req("KN-122", "KN-7")
async def test_graphml_leads_from_the_deduction_to_the_source(world: TeamWorld) -> None:
    _, version, source = await filled(world)
    text = await exported(world, version, ProvenanceFormat.GRAPHML)
    graph = nx.read_graphml(io.BytesIO(text.encode()), force_multigraph=True)
    assert nx.has_path(graph, version, source)
    assert graph.nodes[source]["kind"] == "Source"
    assert graph.nodes[source]["label"] == "Orion runs on Postgres."
    down = await exported(world, source, ProvenanceFormat.GRAPHML, direction=Direction.DOWNSTREAM)
    assert version in down


@pytest.mark.req("KN-122", "KN-80", "KN-60")
@pytest.mark.parametrize("format", list(ProvenanceFormat))
async def test_what_is_hidden_is_not_exported(world: TeamWorld, format: ProvenanceFormat) -> None:
    entry, version, source = await filled(world)
    gone = await world.say(world.ops, "Orion is old.", speaker=world.ben)
    more = await apply(world, add(entry, block("Is old.", cite(gone, "Orion is old"))))
    assert gone in await exported(world, entry, format)
    await command(world.deps, world.caller(world.dan), lambda cmd: withdraw_source(cmd, gone, "a mistake"))
    for who in (world.ana, world.ben, world.cleo):
        text = await exported(world, entry, format, who)
        assert version in text
        assert source in text
        assert not any(hidden in text for hidden in (gone, made(more), made(more, 0, 1), "Orion is old"))
    for who, id_ in ((world.eve, entry), (world.ben, gone), (world.ben, NodeId("ent_nothing"))):
        with pytest.raises(NotFound):
            await exported(world, id_, format, who)
