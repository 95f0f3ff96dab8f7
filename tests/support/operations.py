"""Short forms of operations, so that a test shows only what it is about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graph.model.ids import NodeId
from graph.model.nodes.knowledge import ModifierKind
from graph.rules.operations.actors import ActorRules
from graph.services.access.commands import Command, command
from graph.services.knowledge.operations import ApplyResult, apply_operations, apply_to_base
from graph.services.knowledge.targets import write_target
from tests.support.world import TeamWorld

Json = dict[str, Any]


def cite(source: str, quote: str, role: str = "supports") -> Json:
    return {"source": source, "quote": quote, "role": role}


def block(text: str | None, *citations: Json, **fields: Any) -> Json:
    """A stated, settled, lasting addition."""
    given = {
        "text": text,
        "basis": "stated",
        "standing": "settled",
        "change": "addition",
        "durability": "durable",
        "citations": list(citations),
        **fields,
    }
    return {key: value for key, value in given.items() if value is not None}


def deduction(condition: str, conclusion: str, *basis: str, date: str = "2025-05-10", **fields: Any) -> Json:
    content = {"condition": condition, "conclusion": conclusion, "basis": list(basis), "date": date}
    inferred = {"basis": "deduced", "standing": "inferred", "change": "inference", **fields}
    return block(None, deduction=content, **inferred)


def create(name: str, *blocks: Json, type: str = "concept", **fields: Any) -> Json:
    return {"op": "createEntry", "name": name, "type": type, "summary": "", "blocks": list(blocks), **fields}


def add(entry: str, content: Json, **fields: Any) -> Json:
    return {"op": "addBlock", "entry": entry, **content, **fields}


def edit(block_id: str, version: int, content: Json, **fields: Any) -> Json:
    return {"op": "editBlock", "block": block_id, "expectedVersion": version, **content, **fields}


def delete(block_id: str, version: int, *citations: Json, reason: str = "it is wrong", **fields: Any) -> Json:
    given: Json = {"op": "deleteBlock", "block": block_id, "expectedVersion": version, "reason": reason}
    return {**given, "citations": list(citations), **fields}


def relate(
    subject: str, type: str, object_: str, source: str | None = None, quote: str | None = None, **f: Any
) -> Json:
    given = {"op": "addRelation", "subject": subject, "type": type, "object": object_, "source": source, "quote": quote}
    return {key: value for key, value in {**given, **f}.items() if value is not None}


def unrelate(relation: str, version: int, how: str, *citations: Json, **fields: Any) -> Json:
    given: Json = {"op": "removeRelation", "relation": relation, "expectedVersion": version, "how": how}
    return {**given, "citations": list(citations), **fields}


def on_entry(op: str, entry: str, version: int, **fields: Any) -> Json:
    """One of the edits of an entry: renameEntry, setType, setSummary, setAliases, setAttributes."""
    return {"op": op, "entry": entry, "expectedVersion": version, **fields}


async def apply(
    world: TeamWorld,
    *operations: Json,
    by: NodeId | None = None,
    conversation: NodeId | None = None,
    kb: NodeId | None = None,
    reason: str = "a test",
    dry_run: bool = False,
) -> ApplyResult:
    """Apply operations as the agent in the channel's conversation, unless the test says otherwise."""
    who = by or world.atlas
    where = conversation or (None if kb else (await world.open(world.ops)).id)
    return await command(
        world.deps,
        world.caller(who),
        lambda cmd: apply_operations(
            cmd, operations=operations, reason=reason, conversation_id=where, kb_id=kb, dry_run=dry_run
        ),
    )


async def dream(
    world: TeamWorld,
    *operations: Json,
    conversation: NodeId | None = None,
    run: NodeId | None = None,
    kind: ModifierKind = ModifierKind.DREAMING,
) -> ApplyResult:
    """Apply operations as Dreaming does, or as an agent in a learning task.

    It reads as a conversation does and leaves out what is rejected.
    """
    where = conversation or (await world.open(world.ops)).id

    async def work(cmd: Command) -> ApplyResult:
        base = await write_target(cmd, conversation_id=where, kb_id=None)
        actor = ActorRules(id=world.atlas, kind=kind, name="Dreaming", skip_rejected=True, dream_run_id=run)
        return await apply_to_base(cmd, base, operations, actor)

    return await command(world.deps, world.caller(world.atlas), work)


def made(result: ApplyResult, index: int = 0, place: int = 0) -> NodeId:
    """The id of what an operation made: its main object first."""
    return result.verdicts[index].created[place]


def outcomes(result: ApplyResult) -> Sequence[str]:
    """Code of each rejection, else the outcome."""
    return [verdict.code or str(verdict.outcome) for verdict in result.verdicts]
