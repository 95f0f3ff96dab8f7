"""What Ana has on the other surfaces: a session and a chat with a turn each, memories, a run, a sandbox."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from graph.model.edges import Edge, EdgeType
from graph.model.fields import Node
from graph.model.ids import NodeId, hosted_id, node_id
from graph.model.nodes.bots import BotPool, Chat
from graph.model.nodes.people import Grant, Organization, Right
from graph.model.nodes.sandbox import SandboxFile, SandboxSession, SandboxSnapshot
from graph.model.nodes.sessions import Session, Turn
from graph.model.nodes.workspace import (
    AgentProfile,
    MemoryFile,
    MemoryProvider,
    MemoryRevision,
    RunThread,
    ThreadMount,
    WorkspaceMemory,
    WorkspaceRun,
)
from graph.rules.bot_entries import pool_of
from graph.rules.run_mounts import Mount
from graph.rules.scopes import session_rule, workspace_rule
from graph.services.access.guards import put_alone
from graph.store.port import Writer
from graph.store.sealing import Place
from tests.support.world import TeamWorld


async def places_of(world: TeamWorld) -> dict[str, NodeId]:
    """Write them in one transaction and return their ids; Atlas is agent and bot, Ana may read and write it."""
    ids = {
        "session": hosted_id(Session.PREFIX, world.name, "s1"),
        "talk": hosted_id(Chat.PREFIX, world.name, "c1"),
        "agent": world.atlas,
        "memory": node_id(WorkspaceMemory.PREFIX, f"{world.name}/m1"),
        "facts": node_id(WorkspaceMemory.PREFIX, f"{world.name}/m2"),
        "provider": node_id(MemoryProvider.PREFIX, f"{world.name}/p1"),
        "thread": node_id(RunThread.PREFIX, f"{world.name}/t1"),
        "profile": node_id(AgentProfile.PREFIX, f"{world.name}/a1"),
        "work": node_id(WorkspaceRun.PREFIX, f"{world.name}/r1"),
        "sandbox": node_id(SandboxSession.PREFIX, f"{world.name}/s1"),
        "snapshot": node_id(SandboxSnapshot.PREFIX, f"{world.name}/s1"),
        "organization": hosted_id(Organization.PREFIX, world.name, "o1"),
    }
    await world.deps.store.transact(lambda writer: _write(world, writer, ids))
    return ids


async def _write(world: TeamWorld, writer: Writer, ids: dict[str, NodeId]) -> None:
    now = world.deps.now()
    base: dict[str, Any] = {"workspace": world.workspace, "created_at": now}
    rights = [
        Grant(
            id=node_id("gra", f"{world.name}{right}"),
            principal_id=world.ana,
            right=right,
            object_id=world.atlas,
            **base,
        )
        for right in (Right.READ, Right.WRITE)
    ]
    rights.append(replace(rights[-1], id=node_id("gra", f"{world.name}memory"), object_id=world.node))
    await writer.put([Organization(id=ids["organization"], display_name="O", **base), *rights])
    await writer.link([Edge(type=EdgeType.MEMBER_OF, source=world.ana, target=ids["organization"])])
    await writer.increment(world.ana, "access_version")
    await _put_memory(world, writer, ids["memory"], base)
    await _put_records(world, writer, ids, base)
    await _put_run(world, writer, ids, base)
    await _put_sandbox(world, writer, ids, base)
    pool = pool_of(world.workspace, world.atlas)
    await writer.put([BotPool(id=pool, pool=pool, bot_id=world.atlas, **base)])
    for node in _places(world, ids, base, pool):
        place = getattr(node, "place_id", node.id)
        await put_alone(writer, node, frozenset({session_rule(place, world.ana)}))


async def _put_memory(world: TeamWorld, writer: Writer, memory: NodeId, base: dict[str, Any]) -> None:
    """Write a file memory with one file and its revision."""
    given: dict[str, Any] = {"pool": memory, **base}
    nodes = [
        WorkspaceMemory(
            id=memory,
            name="Team",
            kind="file",
            type="postgres",
            file_count=1,
            content_bytes=1,
            history_bytes=0,
            seq=1,
            created_by=world.ana,
            updated_by=world.ana,
            updated_at=base["created_at"],
            **given,
        ),
        MemoryFile(
            id=node_id(MemoryFile.PREFIX, f"{world.name}/f1"),
            memory_id=memory,
            path="a.md",
            content="x",
            size=1,
            version=1,
            updated_by=world.ana,
            updated_at=base["created_at"],
            **given,
        ),
        MemoryRevision(
            id=node_id(MemoryRevision.PREFIX, f"{world.name}/r1"),
            memory_id=memory,
            seq=1,
            path="a.md",
            op="create",
            principal_id=world.ana,
            **given,
        ),
    ]
    for node in nodes:
        await put_alone(writer, node, frozenset({workspace_rule(world.node, memory)}))


async def _put_records(world: TeamWorld, writer: Writer, ids: dict[str, NodeId], base: dict[str, Any]) -> None:
    """Write a record memory and the account of its records, which no outbound policy lets be reached."""
    at = base["created_at"]
    config = {"base_url": "http://127.0.0.1:9"}
    provider = MemoryProvider(id=ids["provider"], type="mem0_oss", name="Ours", config=config, updated_at=at, **base)
    facts = WorkspaceMemory(
        id=ids["facts"],
        pool=ids["facts"],
        name="Facts",
        kind="record",
        type="mem0_oss",
        provider_id=provider.id,
        namespace="facts",
        created_by=world.ana,
        updated_by=world.ana,
        updated_at=at,
        **base,
    )
    await put_alone(writer, provider, frozenset({workspace_rule(world.node)}))
    await put_alone(writer, facts, frozenset({workspace_rule(world.node, facts.id)}))


async def _put_run(world: TeamWorld, writer: Writer, ids: dict[str, NodeId], base: dict[str, Any]) -> None:
    """Write an agent, a thread that mounts the file memory, and its run, which is unfinished."""
    at, mount = base["created_at"], Mount(name="team", memory_id=ids["memory"])
    nodes: list[Node] = [
        AgentProfile(id=ids["profile"], created_by=world.ana, name="Scout", updated_at=at, **base),
        RunThread(id=ids["thread"], started=True, active_run=ids["work"], updated_at=at, **base),
        WorkspaceRun(
            id=ids["work"],
            thread_id=ids["thread"],
            agent_id=ids["profile"],
            principal_id=world.ana,
            input="Go on.",
            state="accepted",
            mounts=[mount.kept()],
            **base,
        ),
        ThreadMount(
            id=node_id(ThreadMount.PREFIX, f"{world.name}/t1/team"),
            thread_id=ids["thread"],
            **mount.kept(),
            **base,
        ),
    ]
    for node in nodes:
        await put_alone(writer, node, frozenset({workspace_rule(world.node)}))


async def _put_sandbox(world: TeamWorld, writer: Writer, ids: dict[str, NodeId], base: dict[str, Any]) -> None:
    """Write an open sandbox with an empty file, and an empty snapshot of it."""
    session = ids["sandbox"]
    nodes: list[Node] = [
        SandboxSession(id=session, pool=session, status="open", created_by=world.ana, **base),
        SandboxSnapshot(id=ids["snapshot"], session_id=session, created_by=world.ana, **base),
        SandboxFile(
            id=node_id(SandboxFile.PREFIX, f"{world.name}/s1"),
            pool=session,
            place_id=session,
            path="a.md",
            size=0,
            lines=0,
            next_part=0,
            updated_at=base["created_at"],
            **base,
        ),
    ]
    for node in nodes:
        await put_alone(writer, node, frozenset({workspace_rule(world.node)}))


def _places(world: TeamWorld, ids: dict[str, NodeId], base: dict[str, Any], pool: NodeId) -> list[Node]:
    session, chat = ids["session"], ids["talk"]
    given = hosted_id(Turn.PREFIX, world.name, "t1", container="cht:c1")
    text = world.deps.vault.seal(Place(workspace=world.name, node=given, field="text"), '[["person", "Hi."]]')
    turn: dict[str, Any] = {"agent_id": world.atlas, "person_id": world.ana, "state": "running", **base}
    return [
        Session(
            id=session,
            pool=session,
            agent_id=world.atlas,
            person_id=world.ana,
            head="v0",
            root_head="v0",
            updated_at=base["created_at"],
            **base,
        ),
        Chat(id=chat, pool=pool, bot_id=world.atlas, organization_id=ids["organization"], person_id=world.ana, **base),
        Turn(id=hosted_id(Turn.PREFIX, world.name, "t1", container="ses:s1"), pool=session, place_id=session, **turn),
        Turn(id=given, pool=pool, place_id=chat, text=text, **turn),
    ]
