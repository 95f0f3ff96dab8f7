"""Threads, mounts and runs through the library's client."""

from __future__ import annotations

import pytest

from graph.model.nodes.people import Right
from rootward.service import Conflict, NotFound, PreconditionFailed
from rootward.service.threads import Mount
from tests.client.conftest import As
from tests.support.memory_client import allow
from tests.support.world import TeamWorld


@pytest.mark.req("MT-66")
async def test_memories_are_mounted_on_threads_by_name(world: TeamWorld, as_: As) -> None:
    await allow(world, world.ana, Right.WRITE)
    ana = as_(await world.token(world.ana))
    one, two = [(await ana(ana.memories.create, name)).id for name in ("One", "Two")]
    thread = await ana(ana.threads.create, memories=[Mount(name="one", memory_id=one)])
    assert thread.memories == (Mount(name="one", memory_id=one, access="read", recall=True),)
    mounted = await ana(ana.threads.mount, thread.id, Mount(name="two", memory_id=two, recall=False), etag=thread.etag)
    assert mounted.mount == Mount(name="two", memory_id=two, recall=False)
    with pytest.raises(PreconditionFailed) as stale:
        await ana(ana.threads.change_mount, thread.id, "two", etag=thread.etag, access="write")
    assert stale.value.current_etag == mounted.thread_etag
    changed = await ana(ana.threads.change_mount, thread.id, "two", etag=mounted.thread_etag, access="write")
    assert (changed.mount.access, changed.mount.recall) == ("write", False)
    page = await ana(ana.threads.mounts, thread.id)
    assert ([mount.name for mount in page.items], page.etag) == (["one", "two"], changed.thread_etag)
    left = await ana(ana.threads.unmount, thread.id, "one", etag=page.etag)
    now = await ana(ana.threads.read, thread.id)
    assert (now.etag, [mount.name for mount in now.memories]) == (left, ["two"])
    archived = await ana(ana.threads.archive, thread.id)
    assert (archived.memories, archived.archived_at is None) == ((), False)
    assert (await ana(ana.threads.unarchive, thread.id)).archived_at is None
    assert await ana(ana.threads.compact, thread.id) is None


@pytest.mark.req("MT-66")
async def test_a_run_is_driven_with_its_tools(world: TeamWorld, as_: As) -> None:
    await allow(world, world.ana, Right.WRITE)
    ana = as_(await world.token(world.ana))
    memory = (await ana(ana.memories.create, "Team", always_load=["style.md"])).id
    file = await ana(ana.files.create, memory, "style.md", "Write in English.\n")
    mount = Mount(name="team", memory_id=memory, access="write")
    agent = await ana(ana.runs.create_agent, "Writer", memory_mounts=[mount])
    assert await ana(ana.runs.agent, agent.id) == agent
    renamed = await ana(ana.runs.update_agent, agent.id, etag=agent.etag, name="Editor")
    assert (renamed.name, renamed.memory_mounts) == ("Editor", (mount,))
    thread = await ana(ana.threads.create)
    run = await ana(ana.runs.accept, thread.id, agent_id=agent.id, input="Write.")
    assert (run.status, run.memory_mounts) == ("accepted", (mount,))
    with pytest.raises(Conflict) as active:
        await ana(ana.runs.accept, thread.id, agent_id=agent.id, input="Write.")
    assert active.value.reason == "run_active"
    attempt = await ana(ana.runs.attempt, run.id)
    assert attempt.number == 1
    assert "Write in English." in attempt.preamble[0]
    assert [(report.memory, report.status) for report in attempt.reports] == [("team", "full")]
    offered = {tool.name: tool for tool in attempt.tools}
    assert offered["memory_file_view"].permission_id == "memory.file.view"
    view = {"memory": "team", "path": "style.md"}
    shown = await ana(ana.runs.call_tool, run.id, "memory_file_view", tool_call_id="c1", arguments=view)
    assert (shown.error, shown.output["content"]) == (None, "Write in English.\n")
    edit = {**view, "old_string": "German", "new_string": "French"}
    failed = await ana(ana.runs.call_tool, run.id, "memory_file_edit", tool_call_id="c2", arguments=edit)
    assert failed.output is None
    assert (failed.error.error, failed.error.current["version"]) == ("no_match", file.version)
    with pytest.raises(NotFound) as unknown:
        await ana(ana.runs.call_tool, run.id, "memory_record_add", tool_call_id="c3", arguments={})
    assert unknown.value.details["kind"] == "tool"
    assert (await ana(ana.runs.checkpoint, run.id)).status == "accepted"
    ended = await ana(ana.runs.complete, run.id)
    assert (ended.status, ended.ended_at is None) == ("completed", False)
    assert await ana(ana.runs.read, run.id) == ended
    fork = await ana(ana.runs.fork, run.id)
    assert [mounted.name for mounted in fork.memories] == ["team"]
