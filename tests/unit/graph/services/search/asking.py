"""Short words for the search tests: ask, browse, set a setting, talk."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from graph.model.ids import NodeId, node_id
from graph.model.nodes.people import SettingValue
from graph.model.time import Millis
from graph.rules.ingest import IncomingMessage
from graph.services.access.commands import command
from graph.services.access.session import read
from graph.services.knowledge.conversations import open_conversation
from graph.services.knowledge.ingest import ingest_messages
from graph.services.search.browse import memory_browse
from graph.services.search.pages import BrowsePage
from graph.services.search.search import memory_search
from graph.services.search.values import SearchAnswer, SearchQuestion
from graph.store.port import Writer
from tests.support.world import TeamWorld


async def ask(world: TeamWorld, query: str, *, by: NodeId | None = None, **more: Any) -> SearchAnswer:
    """Search as a person over all he may read of Atlas, or as told."""
    if not more.keys() & {"owner_id", "conversation_id"}:
        more["owner_id"] = world.atlas
    question = SearchQuestion(query=query, **more)
    answer, _ = await read(world.deps, world.caller(by or world.ana), lambda s: memory_search(s, question))
    return answer


async def browse(world: TeamWorld, ref: NodeId, *, by: NodeId | None = None, **more: Any) -> BrowsePage:
    """Open a ref as a person."""
    page, _ = await read(world.deps, world.caller(by or world.ana), lambda s: memory_browse(s, ref, **more))
    return page


async def set_to(world: TeamWorld, name: str, value: Any) -> None:
    """Store a setting of the workspace."""
    setting = SettingValue(
        id=node_id(SettingValue.PREFIX, f"{world.name}/{name}"),
        workspace=world.workspace,
        created_at=world.deps.now(),
        scope_id=world.node,
        name=name,
        value=value,
    )

    async def work(writer: Writer) -> None:
        await writer.put([setting])

    await world.deps.store.transact(work)


async def talk(world: TeamWorld, channel: NodeId, lines: Sequence[str], *, thread: str | None = None) -> list[NodeId]:
    """Report lines a minute apart, in one call, and return their sources."""
    conversation = await command(world.deps, world.caller(world.host), lambda c: open_conversation(c, channel))
    start = world.deps.now()
    messages = [
        IncomingMessage(
            external_id=f"{thread or ''}{start}-{number}",
            sent_at=Millis(start + 60_000 * number),
            text=line,
            speaker_id=world.ana,
            thread=thread,
        )
        for number, line in enumerate(lines)
    ]
    receipt = await command(
        world.deps, world.caller(world.host), lambda c: ingest_messages(c, conversation.id, messages)
    )
    return list(receipt.source_ids)


def days(count: float) -> timedelta:
    """Return so many days."""
    return timedelta(days=count)
