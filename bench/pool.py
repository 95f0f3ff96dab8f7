"""A person reads what is his in the pool of a bot: 50 entries of 10,000, and 50 of 100.

    python -m bench.pool [--scale 1]

The whole read is measured: his rights, the entries by the index, the proof of each down to its items, and every content
decrypted. The reference is the same read of the small pool: what others keep there should cost him nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from bench._engines import Engine, engines
from bench._table import Goal, Table, Timing, arguments, scaled, timed
from graph.model.ids import NodeId, hosted_id
from graph.model.nodes.bots import ChatItem
from graph.model.nodes.knowledge import ModifierKind
from graph.model.nodes.sessions import ItemType
from graph.rules import bot_entries, bot_tags
from graph.rules.bot_entries import ItemSource
from graph.rules.guarding import guard_of, own_audience
from graph.rules.scopes import session_rule
from graph.services.access.session import Session, read
from graph.services.bots.pool import hold_pool
from graph.services.bots.reading import caller_reads
from graph.services.bots.write import ChangeSet, Maker, Step, write_changes
from graph.store.port import Writer
from tests.support.bot_room import BotRoom
from tests.support.world import TeamWorld

SMALL, LARGE, SEEN, BATCH = 100, 10_000, 50, 500
READER = "u_1"
TEXT = "Somebody said something of about a hundred characters, which is what an ordinary chat message holds."
GOAL = Goal(most_ratio=1.5)


async def filled(engine: Engine, name: str, entries: int) -> BotRoom:
    """Return a bot whose pool holds so many facts, `SEEN` of them the reader's, spread over all the time."""
    room = await BotRoom(await TeamWorld(deps=engine.deps, name=name).make()).make()
    every = max(1, entries // SEEN)
    owners = [READER if number % every == 0 else f"other_{number % 997}" for number in range(entries)]
    for first in range(0, entries, BATCH):
        await _write(room, owners[first : first + BATCH], first)
    return room


async def seen(room: BotRoom) -> int:
    """Read all that is the reader's, contents included, as the route does; return how many entries that are."""

    async def work(session: Session) -> int:
        reads = caller_reads(session, room.bot)
        return len([reads.open(entry) for entry in await reads.entries()])

    return (await read(room.deps, room.caller(READER), work))[0]


async def measure(engine: Engine, scale: float, table: Table) -> None:
    """Add the rows of one engine."""
    rounds, large = scaled(200, scale, least=10), scaled(LARGE, scale, SMALL * 2)
    times: dict[int, Timing] = {}
    for entries in (SMALL, large):
        room = await filled(engine, f"pool{entries}", entries)
        count = await seen(room)
        if count != SEEN:
            raise SystemExit(f"{engine.name}: {count} entries are seen of {entries}, not {SEEN}")
        times[entries] = await timed(lambda room=room: seen(room), rounds, warm_up=5)  # type: ignore[misc]
    what = f"{SEEN} entries of a pool of"
    table.add(f"{what} {SMALL}, {engine.name}", times[SMALL])
    table.add_growth(f"{what} {large:,}, {engine.name}", times[SMALL], times[large], of=f"{SMALL} entries", goal=GOAL)


async def _write(room: BotRoom, owners: Sequence[str], first: int) -> None:
    """Write one change set of facts, each over an item of its own."""
    items = [_item(room, owner, f"i{first + number}") for number, owner in enumerate(owners)]
    drafts = tuple(draft for item in items if (draft := bot_entries.fact(TEXT, ["talk"], [item])) is not None)
    step = Step(operation="bot.learn", by=Maker.MEMORY_BOT, actor=room.bot.id, actor_kind=ModifierKind.AGENT)

    async def work(writer: Writer) -> None:
        at = room.deps.now()
        pool = await hold_pool(writer, room.bot, at)
        await _put_items(writer, room, [item.node for item in items])
        await write_changes(writer, room.deps, pool, ChangeSet(drafts=drafts), step, tx_id=f"tx{first}", at=at)

    await room.deps.store.transact(work)


def _item(room: BotRoom, owner: str, local: str) -> ItemSource:
    rule = bot_tags.item_rule(operator=room.person(owner), group=None, open_to_all=False, bot=room.bot.id)
    tags = frozenset({f"from:{owner}", "org:o_4", "chat:chat_61"})
    node = hosted_id(ChatItem.PREFIX, room.workspace, local, container="chat_61")
    return ItemSource(node=node, chat="chat_61", item=local, rule=rule, tags=tags)


async def _put_items(writer: Writer, room: BotRoom, ids: Sequence[NodeId]) -> None:
    at, chat = room.deps.now(), room.chat_id("chat_61")
    items = [
        ChatItem(
            id=id_,
            workspace=room.workspace,
            pool=room.bot.pool,
            created_at=at,
            chat_id=chat,
            seq=1,
            type=str(ItemType.PERSON_MESSAGE),
            occurred_at=at,
        )
        for id_ in ids
    ]
    await writer.put(items)
    guards = [guard_of(item, frozenset({session_rule(chat, room.person(READER))})) for item in items]
    await writer.guard(guards)
    await writer.admit([own_audience(guard) for guard in guards])


async def main() -> None:
    """Measure all engines."""
    scale = arguments(__doc__).scale
    table = Table("A read of a bot's pool", scale)
    async with engines(heap_mb=1_024) as found:
        for engine in found:
            await measure(engine, scale, table)
    table.print()


if __name__ == "__main__":
    asyncio.run(main())
