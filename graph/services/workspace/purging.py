"""The end of the records of a deleted memory: the job `purge_records`, and when their namespace is free again.

Source: RM-44 to RM-52.
"""

from __future__ import annotations

from graph.model.errors import RecordsFailed
from graph.model.ids import NodeId
from graph.model.nodes.work import Job
from graph.model.nodes.workspace import MemoryProvider, NamespaceClaim
from graph.rules.jobs import PURGE_RECORDS
from graph.services.deps import Deps
from graph.services.workspace.namespaces import CLAIMS, find_claim
from graph.services.workspace.providers import account_of, wire_of
from graph.store.port import Reader, Writer


async def claim_to_purge(reader: Reader, job: Job) -> NamespaceClaim | None:
    """Return the claim whose records a job is to delete; None once its namespace is free, whoever has it now."""
    given = job.arguments.get("claim") if isinstance(job.arguments, dict) else None
    claim = await find_claim(reader, NodeId(str(given)))
    ours = claim is not None and claim.purging and claim.memory_id == job.subject_id
    return claim if ours else None


async def purge(deps: Deps, claim: NamespaceClaim) -> None:
    """Delete the records of a namespace, also where the provider was disabled meanwhile (RM-52).

    Raises:
        RecordsFailed: the backend did not do it.
    """
    async with deps.store.reading() as reader:
        provider = (await reader.get(CLAIMS, [claim.provider_id])).get(claim.provider_id)
    if not isinstance(provider, MemoryProvider):
        raise RecordsFailed("unsupported")
    await wire_of(deps).purge(account_of(deps, provider), claim.namespace)


async def free(writer: Writer, job: Job) -> None:
    """Let the namespace of a job be taken again (RM-49); does nothing for other jobs, or if it is free already."""
    if job.kind != PURGE_RECORDS:
        return
    claim = await claim_to_purge(writer, job)
    if claim is not None:
        await writer.lock([claim.id])
        await writer.delete([claim.id])
