"""A read proves each node once; a write proves it again whenever it asks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graph.services.access.commands import Command, command
from graph.services.access.session import Session, read
from graph.services.knowledge.withdrawal import withdraw_source
from graph.store.observing import ObservingStore, counting_round_trips
from tests.unit.graph.services.knowledge.reading.conftest import Library

pytestmark = pytest.mark.req("KN-116", "KN-62")


async def test_what_was_proved_in_a_read_is_not_walked_again(library: Library) -> None:
    source = await library.source(library.shared)
    lin = library.write.entry(library.shared, "Lin", rests_on=[source.id])
    version = library.write.block(lin, "text", [source.id])
    await library.write.save(library.shared)
    deps = replace(library.world.deps, store=ObservingStore(library.world.deps.store))

    async def work(session: Session) -> list[int]:
        walks = []
        for id_ in (version.id, source.id, version.id, lin.id):
            with counting_round_trips() as counts:
                assert await session.prove([id_]) == {id_}
            walks.append(counts["closure"])
        return walks

    assert (await read(deps, library.world.caller(library.world.ben), work))[0] == [1, 0, 0, 1]


async def test_another_viewer_in_the_same_read_proves_for_himself(library: Library) -> None:
    secret = await library.source(library.private)

    async def work(session: Session) -> tuple[bool, bool]:
        shown = bool(await session.prove([secret.id]))
        other = replace(session, own_viewer=replace(session.viewer, held=frozenset()))
        return shown, bool(await other.prove([secret.id]))

    assert await library.read(library.world.ana, work) == (True, False)


async def test_a_write_sees_at_once_what_it_hid_itself(library: Library) -> None:
    source = await library.source(library.shared)

    async def work(cmd: Command) -> tuple[bool, bool]:
        before = bool(await cmd.session.prove([source.id]))
        await withdraw_source(cmd, source.id, "gone")
        return before, bool(await cmd.session.prove([source.id]))

    assert await command(library.world.deps, library.world.caller(library.world.dan), work) == (True, False)
