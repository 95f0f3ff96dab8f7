"""The job `reseal`: after a rotation, seals with the new key what older keys sealed (AD-30)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from dreaming.jobs import WorkContext, guarded_commit
from graph.model.fields import Json
from graph.model.ids import NodeId
from graph.services.admin.resealing import Resealed, reseal_workspace
from graph.store.port import Writer

_MOST_NAMED = 100
"""So many nodes whose texts no key opens are named in the job's result."""


async def reseal(work: WorkContext) -> Json:
    """Seal anew all that is sealed with another key than the one the job names; goes on where an earlier try ended."""
    job, key_id = work.job, str(work.job.arguments["key"])
    await asyncio.to_thread(work.deps.vault.keyring.use, job.workspace, key_id)

    async def commit(write: Callable[[Writer], Awaitable[Resealed]]) -> Resealed:
        return await guarded_commit(work, write)

    async def note(writer: Writer, state: Resealed) -> None:
        await writer.patch(job.id, {"result": _told(key_id, state)})

    newest = work.deps.vault.keyring.newest(job.workspace).id
    begun = _begun(key_id, job.result)
    return _told(key_id, await reseal_workspace(work.deps, job.workspace, newest, commit, begun=begun, note=note))


def _told(key_id: str, state: Resealed) -> Json:
    named = [str(id_) for id_ in state.broken[:_MOST_NAMED]]
    return {
        "key": key_id,
        "kind": state.kind,
        "after": state.after,
        "done": state.done,
        "total": state.total,
        "moved": state.moved,
        "broken": len(state.broken),
        "nodes": named,
    }


def _begun(key_id: str, told: Json) -> Resealed | None:
    """Return how far an earlier try of the same rotation came."""
    if not isinstance(told, dict) or told.get("key") != key_id:
        return None
    return Resealed(
        kind=told["kind"],
        after=told["after"],
        done=told["done"],
        total=told["total"],
        moved=told["moved"],
        broken=tuple(map(NodeId, told["nodes"])),
    )
