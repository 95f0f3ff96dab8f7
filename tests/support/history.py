"""Random changes of knowledge through the real services, by a person: histories for tests of the audit and restore."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from graph.model.access import SystemScope
from graph.model.errors import RootwardError
from graph.model.fields import Node
from graph.model.ids import NodeId
from graph.model.nodes.knowledge import Block, Entry, Relation
from graph.model.nodes.work import AuditRecord
from graph.services.access.commands import command
from graph.services.knowledge.entries_write import delete_entry, mark_distinct, merge_entries
from graph.store.query import By, Eq, Find, Where
from tests.support.operations import add, apply, block, create, delete, edit, on_entry, relate, unrelate
from tests.support.world import TeamWorld

SYSTEM = SystemScope(reason="looking in a test")
NAMES = ("Orion", "Helio", "Kite", "Vega", "Lyra", "Rigel")
WORDS = ("runs on Postgres", "is hosted in Berlin", "uses Kafka", "belongs to the north team", "ships on Fridays")
TYPES = ("system", "product", "concept", "person")


@dataclass
class History:
    """Changes a world at random and notes the audit records of each change, in order."""

    world: TeamWorld
    rng: random.Random
    records: list[list[NodeId]] = field(default_factory=list)
    refused: int = 0

    async def step(self) -> bool:
        """Try one change; return whether it wrote something."""
        kinds: list[Callable[[], Awaitable[Any]]] = [
            self.create,
            self.create,
            self.create,
            self.rename,
            self.set_type,
            self.set_summary,
            self.set_aliases,
            self.set_attribute,
            self.set_attribute,
            self.unset_attribute,
            self.add_block,
            self.add_block,
            self.edit_block,
            self.edit_block,
            self.supersede,
            self.delete_block,
            self.relate,
            self.relate,
            self.unrelate,
            self.delete_entry,
            self.merge,
            self.mark_distinct,
        ]
        before = await self.count()
        try:
            await self.rng.choice(kinds)()
        except RootwardError:
            self.refused += 1
        written = (await self.trail())[before:]
        if written:
            self.records.append([record.id for record in written])
        return bool(written)

    async def count(self) -> int:
        return len(await self.trail())

    async def trail(self) -> list[AuditRecord]:
        return await self.all(AuditRecord, order="seq")

    async def all(self, kind: type[Any], where: Where | None = None, order: str = "id") -> list[Any]:
        async with self.world.deps.store.reading() as reader:
            return list((await reader.find(SYSTEM, Find(kind=kind, where=where, order=By(order)))).nodes)

    async def some(self, kind: type[Any], where: Where | None = None) -> Any:
        """Return any node of a kind, or give up this step."""
        found: list[Node] = await self.all(kind, where)
        if not found:
            raise RootwardError("there is none")
        return self.rng.choice(found)

    async def entry(self) -> Entry:
        found: Entry = await self.some(Entry, Eq("deleted_at", None))
        return found

    async def two_entries(self) -> tuple[Entry, Entry]:
        found: list[Entry] = await self.all(Entry, Eq("deleted_at", None))
        if len(found) < 2:
            raise RootwardError("there are not two")
        one, other = self.rng.sample(found, 2)
        return one, other

    async def block(self) -> Block:
        found: Block = await self.some(Block, Eq("deleted_at", None))
        return found

    def text(self) -> str:
        return f"It {self.rng.choice(WORDS)}, says note {self.rng.randrange(1000)}."

    async def apply(self, *operations: dict[str, Any]) -> None:
        await apply(self.world, *operations, by=self.world.ana, reason="a change")

    async def create(self) -> None:
        name = self.rng.choice(NAMES)
        blocks = [block(f"{name} {self.rng.choice(WORDS)}.") for _ in range(self.rng.randrange(1, 4))]
        attributes = [{"key": "size", "value": self.rng.randrange(9)}] if self.rng.random() < 0.3 else []
        aliases = [f"{name} core"] if self.rng.random() < 0.4 else []
        summary = f"{name} in short." if self.rng.random() < 0.4 else ""
        await self.apply(
            create(
                name,
                *blocks,
                type=self.rng.choice(TYPES),
                aliases=aliases,
                summary=summary,
                attributes=attributes,
            )
        )

    async def on_entry(self, op: str, **fields: Any) -> None:
        entry = await self.entry()
        await self.apply(on_entry(op, entry.id, entry.current_version, **fields))

    async def rename(self) -> None:
        await self.on_entry("renameEntry", name=self.rng.choice(NAMES))

    async def set_type(self) -> None:
        await self.on_entry("setType", type=self.rng.choice(TYPES))

    async def set_summary(self) -> None:
        found = await self.block()
        owner = next(entry for entry in await self.all(Entry) if entry.id == found.entry_id)
        summary = self.rng.choice(["", self.text()])
        basis = [found.id] if summary and self.rng.random() < 0.7 else []
        await self.apply(on_entry("setSummary", owner.id, owner.current_version, summary=summary, fromBlocks=basis))

    async def set_aliases(self) -> None:
        count = self.rng.randrange(3)
        await self.on_entry("setAliases", aliases=[f"alias {n}" for n in self.rng.sample(range(6), count)])

    async def set_attribute(self) -> None:
        value: dict[str, Any] = {
            "key": self.rng.choice(["size", "color"]),
            "value": self.rng.randrange(4),
            "change": self.rng.choice(["addition", "evolution", "correction"]),
        }
        if self.rng.random() < 0.5:
            value["validFrom"] = f"202{self.rng.randrange(6)}-01"
        await self.on_entry("setAttributes", set=[value])

    async def unset_attribute(self) -> None:
        await self.on_entry("setAttributes", unset=[self.rng.choice(["size", "color"])])

    async def add_block(self) -> None:
        entry = await self.entry()
        await self.apply(add(entry.id, block(self.text())))

    async def edit_block(self) -> None:
        found = await self.block()
        content = block(self.text(), change="correction", standing="corrected")
        beside = [b.id for b in await self.all(Block, Eq("entry_id", found.entry_id)) if b.id != found.id]
        after = {"after": self.rng.choice(beside)} if beside and self.rng.random() < 0.4 else {}
        await self.apply(edit(found.id, found.current_version, content, **after))

    async def supersede(self) -> None:
        found = await self.block()
        content = block(self.text(), change="evolution", supersedes=[found.id], validFrom="2025-03")
        await self.apply(add(found.entry_id, content))

    async def delete_block(self) -> None:
        found = await self.block()
        await self.apply(delete(found.id, found.current_version))

    async def relate(self) -> None:
        one, other = await self.two_entries()
        valid = {"validFrom": f"202{self.rng.randrange(6)}"} if self.rng.random() < 0.4 else {}
        source = await self.world.say(self.world.ops, f"{one.name} knows {other.name}.", speaker=self.world.ben)
        quote = f"{one.name} knows {other.name}"
        await self.apply(relate(one.id, self.rng.choice(["knows", "uses"]), other.id, source, quote, **valid))

    async def unrelate(self) -> None:
        found = await self.some(Relation, Eq("current", True))
        how = self.rng.choice(["ended", "retracted"])
        await self.apply(unrelate(found.id, found.current_version, how, reason="it is over"))

    async def delete_entry(self) -> None:
        entry = await self.entry()
        await command(
            self.world.deps,
            self.world.caller(self.world.ana),
            lambda cmd: delete_entry(cmd, entry.id, expected_version=entry.current_version, reason="gone"),
        )

    async def merge(self) -> None:
        one, other = await self.two_entries()
        await command(
            self.world.deps,
            self.world.caller(self.world.ana),
            lambda cmd: merge_entries(cmd, one.id, other.id, reason="the same"),
        )

    async def mark_distinct(self) -> None:
        one, other = await self.two_entries()
        await command(
            self.world.deps, self.world.caller(self.world.ana), lambda cmd: mark_distinct(cmd, one.id, other.id)
        )
