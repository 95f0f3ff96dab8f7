"""Record memories as resources: making one claims a namespace, deleting one leaves its records to a purge.

Source: RM-16 to RM-27, RM-44 to RM-46.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from graph.model.access import SystemScope
from graph.model.ids import NodeId
from graph.model.nodes.workspace import MemoryKind, MemoryProvider, NamespaceClaim, WorkspaceMemory
from graph.rules.jobs import PURGE_RECORDS
from graph.rules.memory_refusals import conflicting, invalid, occupied
from graph.rules.record_namespaces import checked_namespace, claim_id, default_namespace
from graph.rules.workspace_ids import outside
from graph.services.access.commands import Command
from graph.services.learning.jobs import enqueue
from graph.services.workspace.providers import KIND, disabled, find_provider
from graph.store.port import Reader

if TYPE_CHECKING:
    from graph.services.workspace.kinds import NewMemory

CLAIMS: Final = SystemScope(reason="which memory has a namespace")


async def make_records(cmd: Command, id_: NodeId, new: NewMemory) -> Mapping[str, Any]:
    """Return the fields of a record memory and claim its namespace; no backend is called (RM-27).

    Raises:
        WorkspaceRefused: ``invalid_argument`` at the field, ``not_found``, ``disabled``, ``already_exists``,
            ``conflict`` with reason ``namespace_purging``.
    """
    if new.always_load:
        raise invalid("always_load", "is for file memories only")
    if new.provider_id is None:
        raise invalid("provider_id", "is required for a record memory")
    provider = await find_provider(cmd.writer, cmd.caller.workspace, new.provider_id)
    if not provider.enabled:
        raise disabled(provider)
    if new.type != provider.type:
        raise invalid("type", "is the type of the provider")
    namespace = default_namespace(id_) if new.namespace is None else checked_namespace(new.namespace)
    await _claim(cmd, provider, namespace, id_)
    return {"kind": MemoryKind.RECORD, "provider_id": provider.id, "namespace": namespace}


async def purge_later(cmd: Command, memory: WorkspaceMemory) -> None:
    """Ask for the records of a memory to be deleted; its namespace stays taken until that ended (RM-44 to RM-46)."""
    assert memory.provider_id is not None
    assert memory.namespace is not None
    id_ = claim_id(memory.provider_id, memory.namespace)
    await cmd.writer.lock([id_])
    await cmd.writer.patch_many({id_: {"purging": True}})
    await enqueue(
        cmd.writer,
        PURGE_RECORDS,
        workspace=memory.workspace,
        unique_key=f"{PURGE_RECORDS}:{memory.id}",
        subject=memory.id,
        arguments={"claim": id_},
        due_at=cmd.at,
        now=cmd.at,
    )


async def find_claim(reader: Reader, id_: NodeId) -> NamespaceClaim | None:
    """Return a claim, if there is one."""
    found = (await reader.get(CLAIMS, [id_])).get(id_)
    return found if isinstance(found, NamespaceClaim) else None


async def _claim(cmd: Command, provider: MemoryProvider, namespace: str, memory: NodeId) -> None:
    id_ = claim_id(provider.id, namespace)
    await cmd.writer.lock([id_])
    held = await find_claim(cmd.writer, id_)
    if held is not None and held.purging:
        raise conflicting(KIND, outside(provider.id), "namespace_purging", namespace=namespace)
    if held is not None:
        raise occupied("memory", namespace)
    claim = NamespaceClaim(
        id=id_,
        workspace=cmd.caller.workspace,
        created_at=cmd.at,
        provider_id=provider.id,
        namespace=namespace,
        memory_id=memory,
    )
    await cmd.writer.put([claim])
