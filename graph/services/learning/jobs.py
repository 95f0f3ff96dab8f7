"""Making jobs in the transaction that made them necessary (AD-33).

A job is named by its unique key, so there is one for each thing to do: one Stage A for a channel and base, one Stage B
for an agent (DR-8). Asking for it again wakes or moves it; see `graph.rules.jobs.asked_again`.
"""

from __future__ import annotations

from dataclasses import replace

from graph.model.access import SystemScope
from graph.model.errors import BadInput
from graph.model.fields import Json
from graph.model.ids import NodeId, WorkspaceId, node_id
from graph.model.nodes.work import Job
from graph.model.time import Millis
from graph.rules.jobs import JOB_KINDS, Due, asked_again
from graph.store.port import Reader, Writer

JOBS = SystemScope(reason="background work")


def job_id(unique_key: str) -> NodeId:
    """Return the id of the job of a unique key."""
    return node_id(Job.PREFIX, unique_key)


async def enqueue(
    writer: Writer,
    kind: str,
    *,
    workspace: WorkspaceId,
    unique_key: str,
    due_at: Millis,
    now: Millis,
    subject: NodeId | None = None,
    agent: NodeId | None = None,
    arguments: Json = None,
    due: Due = Due.EARLIER,
) -> Job:
    """Ask for a job inside a transaction and return it as it is then.

    Call it after other locks were taken: it locks the job's id, and those come last everywhere.

    Args:
        writer: of the transaction that made the job necessary.
        kind: one of `JOB_KINDS`.
        workspace: whose work it is.
        unique_key: names the work, such as ``stage_b:<agent id>``; begin it with the kind.
        due_at: not before this time.
        now: time of the commit.
        subject: what it is about, for people to read: a channel, an agent, a source.
        agent: whose budget and model profile it uses.
        arguments: ids and codes, never content; None leaves those of a job that is there.
        due: whether the earlier or the new time counts if the job waits already.

    Raises:
        BadInput: there is no such kind.
    """
    if kind not in JOB_KINDS:
        raise BadInput("there is no such kind of job", field="kind")
    id_ = job_id(unique_key)
    await writer.lock([id_])
    found = await find_job(writer, unique_key)
    if found is not None:
        changes = asked_again(found, due_at, due, arguments)
        await writer.patch_many({id_: changes} if changes else {})
        return replace(found, **changes)
    made = Job(
        id=id_,
        workspace=workspace,
        created_at=now,
        kind=kind,
        subject_id=subject,
        agent_id=agent,
        unique_key=unique_key,
        arguments=arguments,
        due_at=due_at,
    )
    await writer.put([made])
    return made


async def find_job(reader: Reader, unique_key: str) -> Job | None:
    """Return the job of a unique key, if there is one."""
    id_ = job_id(unique_key)
    found = (await reader.get(JOBS, [id_])).get(id_)
    return found if isinstance(found, Job) else None
