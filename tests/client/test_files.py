"""Memories, their files and their history through the library's client."""

from __future__ import annotations

import pytest

from graph.model.nodes.people import Right
from rootward.service import Conflict, Forbidden, InvalidRequest, NotFound, PreconditionFailed
from rootward.service.files import MemoryFile
from tests.client.conftest import As
from tests.support.memory_client import allow
from tests.support.world import TeamWorld


@pytest.mark.req("MT-66")
async def test_memories_are_made_listed_changed_and_deleted(world: TeamWorld, as_: As) -> None:
    await allow(world, world.ana, Right.WRITE)
    await allow(world, world.ben, Right.READ)
    ana, ben = as_(await world.token(world.ana)), as_(await world.token(world.ben))
    made = await ana(ana.memories.create, "Team", labels={"team": "a&b"}, always_load=["house.md"])
    other = await ana(ana.memories.create, "Other")
    assert (made.kind, made.type, made.labels, made.file_count) == ("file", "postgres", {"team": "a&b"}, 0)
    assert made == await ben(ben.memories.read, made.id)
    page = await ben(ben.memories.list, limit=1)
    rest = await ben(ben.memories.list, limit=1, cursor=page.next_cursor)
    assert {one.id for one in (*page.items, *rest.items)} == {made.id, other.id}
    assert rest.next_cursor is None
    assert (await ben(ben.memories.list, labels={"team": "a&b"}, kind="file")).items == (made,)
    changed = await ana(ana.memories.update, made.id, etag=made.etag, guide="", always_load=["a.md"])
    assert (changed.guide, changed.always_load, changed.name) == ("", ("a.md",), "Team")
    back = await ana(ana.memories.update, made.id, etag=changed.etag, guide=None)
    assert (back.guide, back.always_load) == (None, ("a.md",))
    with pytest.raises(PreconditionFailed) as stale:
        await ana(ana.memories.delete, made.id, etag=made.etag)
    assert (stale.value.current_etag, stale.value.status) == (back.etag, 412)
    assert await ana(ana.memories.delete, made.id, etag=back.etag) is None
    with pytest.raises(NotFound) as gone:
        await ana(ana.memories.read, made.id)
    assert gone.value.details == {"kind": "memory", "id": made.id}
    with pytest.raises(Forbidden) as denied:
        await ben(ben.memories.create, "Mine")
    assert denied.value.details == {"verb": "write"}
    events = await ana(ana.memories.audit_events, target_id=made.id)
    assert [event.action for event in events.items] == ["memory.delete", *["memory.update"] * 2, "memory.create"]


@pytest.mark.req("MT-66")
async def test_files_are_made_read_replaced_moved_restored_and_deleted(world: TeamWorld, as_: As) -> None:
    await allow(world, world.ana, Right.WRITE)
    ana = as_(await world.token(world.ana))
    memory = (await ana(ana.memories.create, "Team")).id
    made = await ana(ana.files.create, memory, "notes/sty le%2F.md", "en\n")
    assert isinstance(made, MemoryFile)
    assert await ana(ana.files.read, memory, "notes/sty le%2F.md") == made
    assert await ana(ana.files.read_newer, memory, made.path, etag=made.etag) is None
    newer = await ana(ana.files.replace, memory, made.path, "zh\n", etag=made.etag)
    assert await ana(ana.files.read_newer, memory, made.path, etag=made.etag) == newer
    moved = await ana(ana.files.move, memory, made.path, "style.md", etag=newer.etag)
    assert (moved.id, moved.path, moved.content) == (made.id, "style.md", "zh\n")
    assert (await ana(ana.files.list, memory, prefix="notes/")).items == ()
    [row] = (await ana(ana.files.list, memory)).items
    assert (row.path, row.etag) == ("style.md", moved.etag)
    assert await ana(ana.files.delete, memory, "style.md", etag=moved.etag) is None
    history = (await ana(ana.files.revisions, memory, path="style.md")).items
    assert [change.op for change in history] == ["delete", "move_in"]
    detail = await ana(ana.files.revision, memory, history[0].seq)
    assert (detail.previous_content, detail.content, detail.hunks[0].lines) == ("zh\n", None, ("-zh",))
    restored = await ana(ana.files.restore, memory, history[0].seq)
    assert restored.file.content == "zh\n"
    assert await ana(ana.files.purge_history, memory, path=made.path) == 3
    with pytest.raises(InvalidRequest) as wrong:
        await ana(ana.files.create, memory, "/a", "x")
    assert (wrong.value.code, wrong.value.path) == ("invalid_argument", "path")
    with pytest.raises(Conflict) as taken:
        await ana(ana.files.create, memory, "style.md", "x")
    assert (taken.value.code, taken.value.details["key"]) == ("already_exists", "style.md")


@pytest.mark.req("MT-66", "FM-57")
async def test_a_stale_change_of_a_file_tells_the_current_file(world: TeamWorld, as_: As) -> None:
    await allow(world, world.ana, Right.WRITE)
    ana = as_(await world.token(world.ana))
    memory = (await ana(ana.memories.create, "Team")).id
    first = await ana(ana.files.create, memory, "notes/style.md", "en\n")
    second = await ana(ana.files.replace, memory, "notes/style.md", "zh\n", etag=first.etag)
    with pytest.raises(PreconditionFailed) as stale:
        await ana(ana.files.replace, memory, "notes/style.md", "fr\n", etag=first.etag)
    told = stale.value
    assert (told.code, told.status, told.current_etag) == ("precondition_failed", 412, second.etag)
    assert told.current == {"path": "notes/style.md", "version": second.version, "size": 3, "content": "zh\n"}
    assert told.request_id
    await ana(ana.files.delete, memory, "notes/style.md", etag=second.etag)
    deleted = (await ana(ana.files.revisions, memory)).items[0]
    with pytest.raises(PreconditionFailed) as gone:
        await ana(ana.files.restore, memory, deleted.seq, etag=second.etag)
    assert gone.value.current is None
