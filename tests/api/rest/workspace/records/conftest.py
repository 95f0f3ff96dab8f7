"""A mem0 server on loopback, and clients that speak of its records, in this process."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from api.adapters.blobs import open_blobs
from api.bootstrap import Ports
from graph.store.port import Store
from tests.support.held_clock import HeldClock
from tests.support.keyring import FixedKeyring
from tests.support.mem0_server import Mem0Server
from tests.support.memory_client import MemoryClient
from tests.support.record_room import RecordRoom, wire_to
from tests.support.world import TeamWorld


@pytest.fixture
def clock() -> HeldClock:
    return HeldClock()


@pytest.fixture
async def mem0() -> AsyncIterator[Mem0Server]:
    async with Mem0Server(key="own-key") as server:
        yield server


@pytest.fixture
def ports(store: Store, clock: HeldClock, mem0: Mem0Server) -> Ports:
    wire = wire_to(mem0)
    return Ports(clock=clock, store=store, blobs=open_blobs("memory:///"), keyring=FixedKeyring(), record_wire=wire)


@pytest.fixture
def room(world: TeamWorld, mem0: Mem0Server, writer: MemoryClient) -> RecordRoom:
    return RecordRoom(world=world, server=mem0, ana=writer)


@pytest.fixture
async def facts(room: RecordRoom) -> MemoryClient:
    """Ana, in a new record memory."""
    return await room.memory()
