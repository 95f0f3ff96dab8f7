"""What a read as of a moment says equals the audit replayed up to that moment (goal C4).

Where a block stands is a place in a list and has no history (see `graph.services.knowledge.blocks`); it is left out.
Source: KN-75, KN-76, KN-83.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

import pytest

from graph.model.nodes.knowledge import Block, BlockVersion, Entry, Relation
from graph.model.nodes.work import AuditRecord
from graph.model.time import Millis, render
from graph.rules.as_of import AsOf
from graph.rules.images import Image, parts
from graph.rules.restore_past import attributes_of_image, past_of_image
from graph.services.access.session import Session, read
from graph.services.knowledge.blocks import block_views
from graph.services.knowledge.entries import attributes_of, entry_views
from graph.services.knowledge.relations import relation_views
from graph.store.memory import MemoryStore
from tests.property.services.test_restore import TickingClock, world_on
from tests.support.history import History
from tests.support.profile import sized
from tests.support.restoring import ids_of, undo
from tests.support.world import TeamWorld

HISTORIES = sized(small=4, full=60)
POINTS = sized(small=8, full=20)
CHANGES = 15


def replay(records: Iterable[AuditRecord], until: Millis) -> dict[str, Any]:
    """Return what the images of all records up to a moment leave, by object."""
    state: dict[str, Image] = {}
    for record in records:
        if record.recorded_at > until:
            continue
        before, after = parts(record.target_id, record.before), parts(record.target_id, record.after)
        if record.before is not None and record.after is not None:
            state[record.target_id] = {**state[record.target_id], **record.after}
            continue
        for id_, image in {**(before if record.after is None else after)}.items():
            if record.after is None:
                state.pop(id_, None)
            elif image is not None:
                state[id_] = image
    return {id_: said(image) for id_, image in state.items()}


def said(image: Image) -> Any:
    """Return what a reader is told of an object."""
    if "subjectId" in image:
        return (image["subjectId"], image["type"], image["objectId"], image["validFrom"], image["validTo"])
    if "text" in image:
        return (image["text"], image["standing"], image["validFrom"], image["validTo"])
    values = [(key, value) for key, value in attributes_of_image(image).items() if value is not None]
    values += [(key, value) for key, past in past_of_image(image).items() for value in past]
    return {
        "name": image["name"],
        "type": image["type"],
        "aliases": [alias["alias"] for alias in image["aliases"]],
        "summary": image["summary"] or None,
        "attributes": sorted((key, value["value"], value["validFrom"] or "") for key, value in values),
    }


async def told(session: Session, history: History, at: Millis) -> dict[str, Any]:
    """Return what the reads say as of a moment."""
    as_of = AsOf(recorded=at)
    entries = [entry.id for entry in await history.all(Entry)]
    attributes = await attributes_of(session, entries, as_of)
    found: dict[str, Any] = {}
    for id_, view in (await entry_views(session, entries, as_of)).items():
        values = [(a.node.key, a.node.value, time(a.node.valid_from) or "") for a in attributes[id_]]
        found[id_] = {
            "name": view.name,
            "type": view.type,
            "aliases": list(view.aliases),
            "summary": view.summary,
            "attributes": sorted(values),
        }
    blocks = await block_views(session, [block.id for block in await history.all(Block)], as_of)
    for block_id, block in blocks.items():
        if block.current is not None:
            version: BlockVersion = block.current.node
            found[block_id] = (version.text, version.standing, time(version.valid_from), time(version.valid_to))
    relations = await relation_views(session, [relation.id for relation in await history.all(Relation)], as_of)
    for relation_id, relation in relations.items():
        node, when = relation.node, relation.version
        found[relation_id] = (node.subject_id, node.type, node.object_id, time(when.valid_from), time(when.valid_to))
    return found


async def asked(history: History, at: Millis) -> dict[str, Any]:
    world = history.world
    found, _ = await read(world.deps, world.caller(world.ana), lambda s: told(s, history, at))
    return found


def time(value: Millis | None) -> str | None:
    return None if value is None else render(value)


async def changed(world: TeamWorld, seed: int) -> History:
    """Return a history with some of it undone, and some of that undone again."""
    history = History(world=world, rng=random.Random(seed))
    while len(history.records) < CHANGES:
        await history.step()
    last = [id_ for step in history.records[-history.rng.randrange(1, CHANGES) :] for id_ in step]
    done = await undo(world, *last)
    if seed % 2:
        await undo(world, *ids_of(done.records))
    for _ in range(CHANGES // 2):
        await history.step()
    return history


@pytest.mark.req("KN-75", "KN-76", "KN-83")
@pytest.mark.soak
async def test_the_replayed_audit_equals_the_read_as_of_the_same_moment() -> None:
    for seed in range(HISTORIES):
        clock = TickingClock()
        world = await world_on(MemoryStore(clock=clock), clock)
        history = await changed(world, seed)
        trail = await history.trail()
        moments = history.rng.sample([record.recorded_at for record in trail], min(POINTS, len(trail)))
        for moment in (*moments, Millis(trail[-1].recorded_at + 1)):
            at = Millis(moment)
            found = await asked(history, at)
            assert found == replay(trail, at), (seed, at)
