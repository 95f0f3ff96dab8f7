"""The keys of the workspaces: made with them, asked for at every start, rotated and retired (AD-14, AD-29, AD-30).

A workspace names the newest key that may have sealed something in its store. A key seals only once its workspace
names it, so a keyring that is older than the store is told from the right one before anything is read.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from graph.model.access import SystemScope
from graph.model.errors import BadState, NotFound
from graph.model.ids import WorkspaceId
from graph.model.nodes.people import Workspace
from graph.model.nodes.work import Job
from graph.rules.admin_chain import AdminOperation, AdminStep
from graph.rules.jobs import JobState, released
from graph.services.access.admin_log import append_step
from graph.services.access.caller import workspace_node
from graph.services.admin.resealing import Resealed, reseal_workspace
from graph.services.deps import Deps
from graph.services.learning.jobs import enqueue, find_job, job_id
from graph.store.port import Reader, Writer
from graph.store.query import Find
from graph.store.sealing import KeyState

RESEAL = "reseal"
KEYS = SystemScope(reason="keys of the workspaces")
GRACE_MS = 60_000
"""So long after a rotation no key is retired: what a transaction under way sealed with the old key has come by then."""
_UNFINISHED = (JobState.QUEUED, JobState.RUNNING, JobState.PARKED)


@dataclass(frozen=True, kw_only=True, slots=True)
class Rotation:
    """How far a rotation has come.

    Attributes:
        key_id: the key that seals now.
        state: of the job that seals anew: ``queued``, ``running``, ``succeeded``, …
        done, total: nodes looked at, of how many; 0 until that is known.
        broken: so many sealed texts cannot be opened by any key of the keyring.
        reason: code of the last failure.
    """

    key_id: str
    state: str
    done: int = 0
    total: int = 0
    broken: int = 0
    reason: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Retirement:
    """What became of the old keys.

    Attributes:
        dropped: ids of the keys that are gone for good.
        wait_ms: nothing was done yet: ask again after this time.
    """

    dropped: tuple[str, ...] = ()
    wait_ms: int = 0


async def first_key(deps: Deps, workspace: WorkspaceId) -> str:
    """Return the id of the key that seals for a workspace that is being made; a key of an earlier try is taken.

    Raises:
        StoreKeyMissing: the keyring is locked with another root key.
    """
    return await asyncio.to_thread(_first_key, deps, workspace)


async def unlock(deps: Deps) -> None:
    """Make sure that every needed key is there, before anything is read or written; a workspace of a store from
    before there were keys gets one.

    Raises:
        StoreKeyMissing: a key is missing, wrong or older than the store; details: `key_id`. Nothing was changed.
    """
    async with deps.store.reading() as reader:
        found = (await reader.find(KEYS, Find(kind=Workspace))).nodes
    for one in found:
        if one.key_id is not None:
            await asyncio.to_thread(deps.vault.keyring.find, one.workspace, one.key_id)
    named = {one.workspace: await asyncio.to_thread(agreed_key, deps, one) for one in found}
    changed = {one.workspace: named[one.workspace] for one in found if one.key_id != named[one.workspace]}
    if changed:
        await deps.store.transact(lambda writer: _name(writer, changed))


def agreed_key(deps: Deps, workspace: Workspace) -> str:
    """Return the key that store and keyring shall both name: the newer one, if a rotation or a backup came between.

    Raises:
        StoreKeyMissing: the keyring does not have the key that the workspace names.
    """
    if workspace.key_id is not None:
        deps.vault.keyring.find(workspace.workspace, workspace.key_id)
    keyring, name = deps.vault.keyring, workspace.workspace
    keys = keyring.keys(name)
    newest, ids = _newest(keys), [key.id for key in keys]
    if newest is None or workspace.key_id is None or ids.index(workspace.key_id) < ids.index(newest.id):
        return _first_key(deps, name)
    if workspace.key_id != newest.id:
        keyring.use(name, workspace.key_id)
    return workspace.key_id


async def rotate(deps: Deps, workspace: WorkspaceId) -> Rotation:
    """Begin to seal with a new key, and ask for the job that seals anew what older keys sealed; go on with a rotation
    that is under way.

    Raises:
        NotFound: there is no such workspace.
        StoreKeyMissing, StoreUnavailable: the keyring cannot be used, or not be written.
    """
    under_way = await rotation(deps, workspace)
    if under_way.state in _UNFINISHED:
        return await _go_on(deps, workspace, under_way)
    key_id = await asyncio.to_thread(deps.vault.keyring.make, workspace)
    tx_id = deps.ids.new()

    async def write(writer: Writer) -> Job:
        await _name(writer, {workspace: key_id})
        await append_step(writer, deps, _step(deps, workspace, tx_id, AdminOperation.KEY_ROTATE, {"key": key_id}))
        return await enqueue(
            writer,
            RESEAL,
            workspace=workspace,
            unique_key=_job_key(workspace),
            due_at=deps.now(),
            now=deps.now(),
            arguments={"key": key_id},
        )

    job = await deps.store.transact(write, tx_id=tx_id)
    await asyncio.to_thread(deps.vault.keyring.use, workspace, key_id)
    return _progress(key_id, job)


async def rotation(deps: Deps, workspace: WorkspaceId) -> Rotation:
    """Return how far the last rotation of a workspace has come.

    Raises:
        NotFound: there is no such workspace.
    """
    async with deps.store.reading() as reader:
        named = await _named(reader, workspace)
        job = await find_job(reader, _job_key(workspace))
    return _progress(named.key_id or "", job)


async def retire(deps: Deps, workspace: WorkspaceId) -> Retirement:
    """Forget all keys but the newest, once nothing is sealed with them: older copies of the store stay shut for good.

    Raises:
        BadState: a rotation is under way, or something cannot be sealed anew; `details["nodes"]` names it.
        NotFound: there is no such workspace.
    """
    if (await rotation(deps, workspace)).state in _UNFINISHED:
        raise BadState("the rotation is under way: let `rootward keys rotate` end first")
    keys = deps.vault.keyring.keys(workspace)
    newest = _newest(keys)
    old = [key.id for key in keys if key.seals_since is not None and key.id != (newest and newest.id)]
    if newest is None or newest.seals_since is None or not old:
        return Retirement()
    wait_ms = newest.seals_since + GRACE_MS - deps.now()
    if wait_ms > 0:
        return Retirement(wait_ms=wait_ms)
    _refuse_broken(await reseal_workspace(deps, workspace, newest.id, deps.store.transact))
    await asyncio.to_thread(deps.vault.keyring.drop, workspace, old)
    await _record_retirement(deps, workspace, old)
    return Retirement(dropped=tuple(old))


async def _go_on(deps: Deps, workspace: WorkspaceId, under_way: Rotation) -> Rotation:
    """Go on with a rotation that was cut off, or given up after too many failures."""
    await asyncio.to_thread(deps.vault.keyring.use, workspace, under_way.key_id)
    if under_way.state == JobState.PARKED:
        await deps.store.transact(lambda writer: writer.patch(job_id(_job_key(workspace)), released(deps.now())))
        return await rotation(deps, workspace)
    return under_way


def _refuse_broken(resealed: Resealed) -> None:
    if resealed.broken:
        raise BadState(
            f"{len(resealed.broken)} objects hold texts that no key opens: restore them from a backup, or remove them",
            nodes=list(resealed.broken[:20]),
        )


async def _record_retirement(deps: Deps, workspace: WorkspaceId, old: Sequence[str]) -> None:
    tx_id = deps.ids.new()
    step = _step(deps, workspace, tx_id, AdminOperation.KEY_RETIRE, {"keys": list(old)})
    await deps.store.transact(lambda writer: append_step(writer, deps, step), tx_id=tx_id)


def _first_key(deps: Deps, workspace: WorkspaceId) -> str:
    keyring = deps.vault.keyring
    newest = _newest(keyring.keys(workspace))
    key_id = keyring.make(workspace) if newest is None else newest.id
    keyring.use(workspace, key_id)
    return keyring.find(workspace, key_id).id


async def _name(writer: Writer, key_ids: Mapping[WorkspaceId, str]) -> None:
    """Let workspaces name their keys; call it before a key seals."""
    await writer.lock([workspace_node(workspace) for workspace in key_ids])
    await writer.patch_many({workspace_node(workspace): {"key_id": key_id} for workspace, key_id in key_ids.items()})


async def _named(reader: Reader, workspace: WorkspaceId) -> Workspace:
    node = workspace_node(workspace)
    found = (await reader.get(replace(KEYS, workspace=workspace), [node])).get(node)
    if not isinstance(found, Workspace):
        raise NotFound("there is no such workspace")
    return found


def _newest(keys: Collection[KeyState]) -> KeyState | None:
    sealing = [key for key in keys if key.seals_since is not None]
    return sealing[-1] if sealing else None


def _job_key(workspace: WorkspaceId) -> str:
    return f"{RESEAL}:{workspace}"


def _step(
    deps: Deps, workspace: WorkspaceId, tx_id: str, operation: AdminOperation, codes: dict[str, object]
) -> AdminStep:
    return AdminStep(
        workspace=workspace,
        actor_id=workspace_node(workspace),  # the operator of the machine, who is no principal
        tx_id=tx_id,
        at=deps.now(),
        operation=operation,
        target_id=workspace_node(workspace),
        codes=codes,
    )


def _progress(key_id: str, job: Job | None) -> Rotation:
    if job is None:
        return Rotation(key_id=key_id, state="none")
    told = job.result if isinstance(job.result, dict) and job.result.get("key") == key_id else {}
    numbers = {name: int(told.get(name, 0)) for name in ("done", "total", "broken")}
    return Rotation(key_id=key_id, state=job.state, reason=job.last_error, **numbers)
