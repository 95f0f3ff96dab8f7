"""A small library: the knowledge bases of Atlas, and a writer that puts whatever a test says."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TypeVar

import pytest

from graph.model.ids import NodeId
from graph.model.nodes.evidence import Source
from graph.model.nodes.knowledge import KbKind
from graph.services.access.session import Session, read
from graph.services.knowledge.listing import Listing
from graph.services.knowledge.listing import counted as known
from tests.support.clock import FakeClock
from tests.support.entry_writer import EntryWriter
from tests.support.world import TeamWorld

T = TypeVar("T")


@dataclass
class Library:
    """Knowledge bases of one world.

    Attributes:
        shared, own, channel, private: ids of the knowledge bases; Ben is no part of the private chat.
    """

    world: TeamWorld
    write: EntryWriter
    clock: FakeClock
    shared: NodeId
    own: NodeId
    channel: NodeId
    private: NodeId

    async def read(self, who: NodeId, work: Callable[[Session], Awaitable[T]]) -> T:
        """Return what a person reads."""
        result, _ = await read(self.world.deps, self.world.caller(who), work)
        return result

    async def listed(self, who: NodeId, work: Callable[[Session], Awaitable[Listing[T]]]) -> Listing[T]:
        """Return a page that a person reads; if it is the first and only one, its count fits it."""

        async def counted(session: Session) -> tuple[Listing[T], int]:
            listing = await work(session)
            return listing, await listing.count()

        listing, count = await self.read(who, counted)
        assert count >= len(listing.items) + listing.more
        return replace(listing, count=known(count))

    async def source(self, pool: NodeId, text: str = "words") -> Source:
        """Store a source and return it."""
        source = self.write.source(pool, text)
        await self.write.save(pool)
        return source


@pytest.fixture
async def library(world: TeamWorld, clock: FakeClock) -> Library:
    writer = EntryWriter(
        deps=world.deps, workspace=world.workspace, owner=world.atlas, actor=world.atlas, actor_kind="dreaming"
    )
    return Library(
        world=world,
        write=writer,
        clock=clock,
        shared=await writer.base(KbKind.SHARED),
        own=await writer.base(KbKind.AGENT),
        channel=await writer.base(KbKind.CHANNEL, world.ops),
        private=await writer.base(KbKind.PRIVATE, world.chat),
    )
