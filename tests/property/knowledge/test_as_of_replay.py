"""A read of an earlier time tells what the audit log, replayed up to that time, tells (attack goal C4)."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest

from graph.model.errors import RootwardError
from graph.model.ids import NodeId
from graph.model.nodes.knowledge import Entry, KbKind, Relation
from graph.model.nodes.work import AuditRecord
from graph.model.time import Millis, render
from graph.rules.as_of import AsOf
from graph.rules.images import parts
from graph.services.access.commands import command
from graph.services.access.session import Session, read
from graph.services.knowledge.blocks import blocks_of
from graph.services.knowledge.entries import attributes_of, entry_views
from graph.services.knowledge.entries_write import delete_entry
from graph.services.knowledge.relations import relation_views
from graph.services.knowledge.restore import restore
from graph.store.port import Store
from graph.store.query import Find
from tests.property.knowledge.conftest import NewStore, deps_of
from tests.support.clock import FakeClock
from tests.support.entry_writer import TEST, EntryWriter
from tests.support.operations import add, apply, block, create, delete, edit, on_entry, relate, unrelate
from tests.support.profile import sized
from tests.support.world import TeamWorld

pytestmark = pytest.mark.req("KN-76", "KN-73", "KN-22", "KN-83")

WORLDS = sized(small=2, full=10)
STEPS = sized(small=60, full=150)
POINTS = sized(small=40, full=100)

State = dict[str, dict[str, Any]]
"""Fields of every live object by id, as images write them."""


def replay(records: Sequence[AuditRecord], until: int) -> State:
    """Return what the images of the records up to a time add up to."""
    state: State = {}
    for record in records:
        if record.recorded_at > until:
            break
        if record.after is None:
            for part in parts(record.target_id, record.before):
                state.pop(part, None)
            continue
        for part, fields in parts(record.target_id, record.after).items():
            state.setdefault(part, {}).update(fields or {})
    return state


def told_by_log(state: State) -> dict[str, Any]:
    """Return the state in the words of `told_by_reads`."""
    told: dict[str, Any] = {}
    for id_, fields in state.items():
        if "name" in fields:
            told[id_] = _entry_of_image(fields)
        elif "subjectId" in fields:
            told[id_] = (fields["subjectId"], fields["type"], fields["objectId"], _validity(fields))
        elif fields.get("text") is not None:
            told[id_] = (fields["entryId"], fields["text"], fields["basis"], fields["standing"], _validity(fields))
    return told


def _entry_of_image(fields: Mapping[str, Any]) -> Any:
    values: list[tuple[str, str]] = []
    for key, value in fields.items():
        kind, _, name = key.partition(".")
        if kind == "attributes" and value is not None:
            values.append((name, str(value["value"])))
        if kind == "pastAttributes":
            values += [(name, str(past["value"])) for past in value or ()]
    aliases = [alias["alias"] for alias in fields.get("aliases", ())]
    return fields["name"], fields["type"], aliases, fields.get("summary") or "", sorted(values)


def _validity(fields: Mapping[str, Any]) -> tuple[Any, ...]:
    return fields.get("validFrom"), fields.get("validTo"), fields.get("fromPrecision"), fields.get("toPrecision")


async def told_by_reads(
    session: Session, entries: Sequence[NodeId], relations: Sequence[NodeId], at: int
) -> dict[str, Any]:
    """Return what reads of a time show of these entries and relations."""
    as_of = AsOf(recorded=Millis(at))
    told: dict[str, Any] = {}
    views = await entry_views(session, entries, as_of)
    attributes = await attributes_of(session, list(views), as_of)
    for id_, view in views.items():
        values = sorted((a.node.key, str(a.node.value)) for a in attributes[id_])
        told[id_] = (view.name, view.type, list(view.aliases), view.summary or "", values)
    for id_, blocks in (await blocks_of(session, entries, as_of)).items():
        for shown in blocks:
            if shown.current is not None:
                node = shown.current.node
                told[node.block_id] = (id_, node.text, node.basis, node.standing, _stored_validity(node))
    for id_, relation in (await relation_views(session, relations, as_of)).items():
        node_ = relation.node
        told[id_] = (node_.subject_id, node_.type, node_.object_id, _stored_validity(relation.version))
    return told


def _stored_validity(node: Any) -> tuple[Any, ...]:
    times = [None if at is None else render(at) for at in (node.valid_from, node.valid_to)]
    return (*times, node.from_precision, node.to_precision)


@dataclass
class Editor:
    """Ana, who changes a knowledge base at random; what the service refuses is simply not done."""

    world: TeamWorld
    clock: FakeClock
    kb: NodeId
    rng: random.Random
    done: int = 0
    names: int = 0
    kinds: dict[str, int] = field(default_factory=dict)

    async def step(self) -> None:
        live = [e for e in await self._all(Entry) if e.deleted_at is None]
        move = self.rng.choice([self._create, self._block, self._entry, self._relation, self._remove, self._restore])
        if len(live) < 3:
            move = self._create
        try:
            await move(live)
            self.done += 1
            self.kinds[move.__name__] = self.kinds.get(move.__name__, 0) + 1
        except RootwardError:
            pass
        self.clock.advance(timedelta(milliseconds=self.rng.choice((0, 1, 5_000))))

    async def _create(self, live: list[Entry]) -> None:
        self.names += 1
        blocks = [self._text() for _ in range(self.rng.randint(1, 3))]
        await self._apply(create(f"Topic {self._word()}", *blocks, aliases=self._aliases(), summary=self._word()))

    async def _block(self, live: list[Entry]) -> None:
        entry = self.rng.choice(live)
        blocks = [b for b in await self._blocks(entry) if b is not None]
        if not blocks or self.rng.random() < 0.4:
            await self._apply(add(entry.id, self._text()))
            return
        at = self.rng.choice(blocks)
        number = at.current.node.version
        if self.rng.random() < 0.3:
            await self._apply(delete(at.node.id, number))
        else:
            await self._apply(edit(at.node.id, number, self._text(standing="corrected", change="correction")))

    async def _entry(self, live: list[Entry]) -> None:
        entry = self.rng.choice(live)
        version = entry.current_version
        blocks = [b.node.id for b in await self._blocks(entry)]
        operations = [
            on_entry("renameEntry", entry.id, version, name=f"Topic {self._word()}"),
            on_entry("setType", entry.id, version, type=self.rng.choice(["person", "project", "concept"])),
            on_entry("setAliases", entry.id, version, aliases=self._aliases()),
            on_entry("setSummary", entry.id, version, summary=self._word(), fromBlocks=blocks[:1]),
            on_entry(
                "setAttributes",
                entry.id,
                version,
                set=[{"key": self.rng.choice(["city", "size"]), "value": self._word(), "change": self._change()}],
            ),
            on_entry("setAttributes", entry.id, version, unset=["city"]),
        ]
        await self._apply(self.rng.choice(operations))

    async def _relation(self, live: list[Entry]) -> None:
        current = [r for r in await self._all(Relation) if r.current]
        if current and self.rng.random() < 0.4:
            found = self.rng.choice(current)
            how = self.rng.choice(["ended", "retracted"])
            await self._apply(unrelate(found.id, found.current_version, how))
            return
        subject, object_ = self.rng.sample(live, 2)
        await self._apply(relate(subject.id, self.rng.choice(["knows", "leads"]), object_.id))

    async def _remove(self, live: list[Entry]) -> None:
        if self.rng.random() < 0.5:
            return
        entry = self.rng.choice(live)
        ana = self.world.caller(self.world.ana)
        await command(
            self.world.deps,
            ana,
            lambda c: delete_entry(c, entry.id, expected_version=entry.current_version, reason="gone"),
        )

    async def _restore(self, live: list[Entry]) -> None:
        records = await self._all(AuditRecord)
        found = self.rng.choice(records[-12:])
        ana = self.world.caller(self.world.ana)
        await command(self.world.deps, ana, lambda c: restore(c, [found.id], reason="back"))

    async def _apply(self, operation: dict[str, Any]) -> None:
        await apply(self.world, operation, by=self.world.ana, kb=self.kb)

    async def _blocks(self, entry: Entry) -> Sequence[Any]:
        found, _ = await read(self.world.deps, self.world.caller(self.world.ana), lambda s: blocks_of(s, [entry.id]))
        return found[entry.id]

    async def _all(self, kind: type[Any]) -> list[Any]:
        return await stored(self.world.deps.store, kind)

    def _text(self, **fields: Any) -> dict[str, Any]:
        return block(self._word(), basis="authored", **fields)

    def _aliases(self) -> list[str]:
        return [self._word() for _ in range(self.rng.randrange(3))]

    def _change(self) -> str:
        return self.rng.choice(["addition", "evolution", "correction"])

    def _word(self) -> str:
        self.names += 1
        return f"word{self.names}"


async def stored(store: Store, kind: type[Any]) -> list[Any]:
    async with store.reading() as reader:
        nodes = (await reader.find(TEST, Find(kind=kind))).nodes
    return sorted(nodes, key=lambda node: getattr(node, "seq", 0))


async def told_at(world: TeamWorld, entries: Sequence[NodeId], relations: Sequence[NodeId], at: int) -> dict[str, Any]:
    ana = world.caller(world.ana)
    return (await read(world.deps, ana, lambda s: told_by_reads(s, entries, relations, at)))[0]


async def test_reads_of_the_past_equal_the_replayed_log(new_store: NewStore, clock: FakeClock) -> None:
    for seed in range(WORLDS):
        deps = deps_of(await new_store(), clock)
        world = await TeamWorld(deps=deps, name=f"w{seed}").make()
        writer = EntryWriter(deps=deps, workspace=world.workspace, owner=world.atlas, actor=world.atlas)
        rng = random.Random(seed)
        editor = Editor(world=world, clock=clock, kb=await writer.base(KbKind.SHARED), rng=rng)
        start = clock.now()
        for _ in range(STEPS):
            await editor.step()
        records = await stored(deps.store, AuditRecord)
        entries = [entry.id for entry in await stored(deps.store, Entry)]
        relations = [relation.id for relation in await stored(deps.store, Relation)]
        times = [record.recorded_at for record in records]
        points = [start - 1, clock.now(), *(rng.choice(times) + rng.choice((-1, 0, 1)) for _ in range(POINTS))]

        for at in points:
            told = await told_at(world, entries, relations, at)
            assert told == told_by_log(replay(records, at)), at
        assert len(records) > STEPS // 2
        assert len(entries) > 2
