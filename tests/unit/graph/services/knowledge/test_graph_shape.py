"""The links that the services really write, against the table of KN-11; every difference stands here by name."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

import pytest

from graph.model.edges import Edge
from graph.model.ids import NodeId
from graph.model.schema import kind_of
from graph.rules.task_results import StepOutcome, TaskResult, TaskState, TaskStep
from graph.services.access.commands import command
from graph.services.knowledge.entries_write import delete_entry, mark_distinct, merge_entries
from graph.services.knowledge.guide import set_curation_guide
from graph.services.knowledge.materials import prepare_file, replace_material, submit_file
from graph.services.knowledge.submissions import submit_text
from graph.services.knowledge.task_results import record_task_result
from tests.support.operations import add, apply, block, cite, create, deduction, edit, made, on_entry, relate
from tests.support.restoring import undo
from tests.support.world import TeamWorld
from tests.unit.graph.model.test_contract_tables import table, without_remarks

Pair = tuple[str, str, str]

SOURCES = ("Message", "TaskResult")

MORE: dict[str, str] = {
    "CITES Facet Source": "docs/adr/0005: the evidence of a name, alias or summary hangs on the facet, not the version",
    "DERIVED_FROM Facet BlockVersion": "docs/adr/0005",
    "HAS_FACET Entry Facet": "docs/adr/0005",
    "SHOWN_BY Entry Facet": "docs/adr/0006",
    "SHOWN_BY EntryVersion Facet": "docs/adr/0006",
    "SHOWN_BY Block BlockVersion": "docs/adr/0006",
    "SHOWN_BY RelationVersion Relation": "docs/adr/0006",
    "IMAGES AuditRecord Source": "docs/adr/0007",
    "MEMBER_OF Principal Channel": "admin.md: members of a group (AD-18)",
    "HAS_VERSION Entry EntryVersion": "KN-76: name, type, aliases and summary are versioned like blocks",
    "SUPERSEDES EntryVersion EntryVersion": "KN-76",
}


def allowed() -> set[Pair]:
    """Return type, start and end of every row; "*" stands for any node."""
    found: set[Pair] = set()
    for types, ends, _ in table("KN-11", "KN-12"):
        names = [name.strip() for name in types.split(",")]
        for type_ in names:
            found |= {(type_, start, end) for start, end in pairs(without_remarks(ends))}
    return found


def pairs(text: str) -> Iterator[tuple[str, str]]:
    """Read ``A, B → C or D``, ``A → B, C → D`` and ``newer → older A, B``."""
    if text.startswith("newer"):
        yield from ((name, name) for name in kinds_in(text))
        return
    for part in text.split(";"):
        sides = part.split("→")
        if len(sides) == 2:
            yield from ((s, e) for s in kinds_in(sides[0]) for e in kinds_in(sides[1]))
        else:
            for left, right in itertools.pairwise(sides):
                ends = kinds_in(right)
                yield from ((kinds_in(left)[-1], end) for end in ends[: max(1, len(ends) - 1)])


def kinds_in(text: str) -> list[str]:
    names = re.findall(r"any node|[A-Z][A-Za-z]+", text)
    return ["*" if name == "any node" else "Source" if name in SOURCES else name for name in names]


def pair_of(edge: Edge) -> Pair:
    start, end = kind_of(edge.source), kind_of(edge.target)
    assert start is not None
    assert end is not None
    return edge.type.value, start.name, end.name


async def life(world: TeamWorld) -> None:
    """Let everything happen once that the services can do to knowledge."""
    m1 = await world.say(world.ops, "Orion belongs to Helio. Helio builds kilns. Ana leads Orion.", speaker=world.ben)
    m2 = await world.say(world.ops, "Orion belongs to Helio since May.", speaker=world.ben)
    first = await apply(
        world,
        create("Orion", block("Belongs to Helio.", cite(m1, "Orion belongs to Helio")), aliases=["O"], ref="o"),
        create("Helio", block("Builds kilns.", cite(m1, "Helio builds kilns")), ref="h", summary="Kilns."),
        create("Helios", block("Has a name like Helio.", cite(m1, "Helio builds kilns"))),
        relate("o", "belongs_to", "h", m1, "Orion belongs to Helio"),
        relate("o", "belongs_to", "h", m2, "Orion belongs to Helio since May"),
    )
    orion, helio, helios = made(first), made(first, 1), made(first, 2)
    basis, text = made(first, 0, 1), block("Belongs to Helio since May.", cite(m2, "since May"))
    await apply(world, add(orion, deduction("Helio moves", "Orion moves", basis)))
    evolved = {
        **text,
        "change": "correction",
        "standing": "corrected",
        "citations": [cite(m2, "since May", "corrects")],
    }
    await apply(world, edit(basis, 1, evolved))
    await apply(world, on_entry("renameEntry", orion, 1, name="Orion One"), by=world.ana)
    await apply(world, on_entry("setSummary", orion, 2, summary="Of Helio.", fromBlocks=[basis]))
    seat = {"seat": {"value": "Bonn", "citations": [cite(m1, "Helio builds kilns")], "change": "addition"}}
    await apply(world, on_entry("setAttributes", orion, 3, set=seat))
    await apply(world, create("Ana", block("Leads Orion.", cite(m1, "Ana leads Orion")), type="person"))

    async def run(work: object, by: NodeId = world.ana) -> object:
        return await command(world.deps, world.caller(by), work)  # type: ignore[arg-type]

    await run(lambda cmd: mark_distinct(cmd, helio, helios))
    await run(lambda cmd: merge_entries(cmd, helio, helios, reason="the same"))
    gone = await run(lambda cmd: delete_entry(cmd, orion, expected_version=4, reason="gone"))
    await undo(world, gone.records[0].id)  # type: ignore[attr-defined]
    await run(lambda cmd: set_curation_guide(cmd, world.atlas, text="Be brief.", expected_version=0))
    base = NodeId(str((await world.open(world.ops)).pool))
    await run(lambda cmd: submit_text(cmd, base, "A pasted text.", title="Paste"))
    file = await prepare_file(world.deps, world.caller(world.ana), base, b"one", filename="a.txt")
    source = await run(lambda cmd: submit_file(cmd, base, file))
    newer = await prepare_file(world.deps, world.caller(world.ana), base, b"two", filename="a.txt")
    await run(lambda cmd: replace_material(cmd, source.id, newer))  # type: ignore[attr-defined]
    step = TaskStep(action="look", outcome=StepOutcome.OK, text="seen")
    result = TaskResult(task_id="t", state=TaskState.SUCCEEDED, steps=(step,), final="done")
    conversation = (await world.open(world.ops)).id
    await run(lambda cmd: record_task_result(cmd, result, conversation_id=conversation), world.host)


@pytest.mark.req("KN-11", "KN-13")
async def test_the_services_link_as_the_contract_says(world: TeamWorld) -> None:
    await life(world)
    edges = [row async for row in world.deps.store.export_rows() if isinstance(row, Edge)]
    rows = allowed()
    anything = {type_ for type_, _, end in rows if end == "*"}
    written = {pair_of(edge) for edge in edges}
    differing = {" ".join(pair) for pair in written - rows if pair[0] not in anything or pair[1] != "AuditRecord"}
    assert differing == MORE.keys()
    assert {"CITES", "DERIVED_FROM", "SUPERSEDES", "RELATES", "SUBJECT", "SCOPED_TO", "TARGETS", "RESTORES"} <= {
        type_ for type_, _, _ in written
    }


@pytest.mark.req("KN-11")
async def test_links_carry_the_properties_of_the_contract(world: TeamWorld) -> None:
    await life(world)
    edges = [row async for row in world.deps.store.export_rows() if isinstance(row, Edge)]
    wanted = {
        "CITES": {"quote", "start", "end", "role", "speaker_id", "said_at", "recorded_at"},
        "RELATES": {"relationId", "type", "validFrom", "validTo"},
    }
    for type_, names in wanted.items():
        found = [edge for edge in edges if edge.type.value == type_]
        assert found
        assert all(names <= edge.props.keys() for edge in found), (type_, found[0].props)
    changes = [edge.props.get("change") for edge in edges if edge.type.value == "SUPERSEDES"]
    assert "correction" in changes
