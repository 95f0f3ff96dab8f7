"""Closes a sandbox session under the lease of a job: both phases, each step committed with how far it came.

Models are asked without a saved call: what they answer is committed at once as files, which are the only copy of it in
the service (SB-100). Killed in between, the next worker goes on with the first conversation that is not extracted.
Source: SB-60 to SB-91, SB-113 to SB-116.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dreaming.jobs import WorkContext, guarded_commit
from dreaming.sandbox.instants import instant
from dreaming.sandbox.works import dumped, loaded
from dreaming.sandbox.workspace import StagedWorkspace
from graph.model.fields import Json
from graph.model.ids import NodeId
from graph.model.nodes.knowledge import ModifierKind
from graph.model.nodes.sandbox import SandboxSession
from graph.rules.workspace_ids import outside
from graph.services.sandbox.acting import Act, forget
from graph.services.sandbox.closing import closing_session, end_close
from graph.services.sandbox.files import apply_files
from graph.services.sandbox.stored import Stored, with_bytes
from graph.store.port import Writer
from rootward.models import Model, ModelRef
from rootward.sandbox.engine import SandboxMemory
from rootward.sandbox.report import MemoryReport
from rootward.sandbox.work import LayoutWork


async def close_sandbox(work: WorkContext) -> Json:
    """Make memory of what was recorded in the session of a job; return in numbers what came of it.

    Raises:
        LeaseLost, StoreError: what was committed stays; the job goes on with the rest.
    """
    id_ = work.job.subject_id
    assert id_ is not None, "the job names its session"
    async with work.deps.store.reading() as reader:
        session = await closing_session(reader, id_)
    if session is None:
        return {}
    try:
        return _numbers(await _Closing.of(work, session).run())
    except _Gone:
        return {}


class _Gone(Exception):
    """The session was deleted meanwhile."""


@dataclass(kw_only=True, slots=True)
class _Closing:
    """One try of closing a session."""

    work: WorkContext
    session_id: NodeId
    files: StagedWorkspace
    works: list[LayoutWork]

    @classmethod
    def of(cls, work: WorkContext, session: SandboxSession) -> _Closing:
        files = StagedWorkspace(deps=work.deps, session_id=session.id)
        return cls(work=work, session_id=session.id, files=files, works=loaded(session))

    async def run(self) -> MemoryReport:
        """Do what is left to do."""
        memory = SandboxMemory(
            workspace=self.files,
            session_id=outside(self.session_id),
            find_model=self._model,
            limits=self.work.sandbox.limits,
            now=lambda: instant(self.work.deps.now()),
            works=self.works,
        )

        async def save() -> None:
            await self._save(memory.report)

        memory.save = save
        return await memory.close()

    def _model(self, ref: ModelRef) -> Model:
        return self.work.sandbox.model(ref, self.work.deps.figures)

    async def _save(self, report: MemoryReport | None) -> None:
        """Commit what was written since the last time, with how far the work is, and its end."""
        changes = self.files.take()
        contents = {path: data for path, data in changes.items() if data is not None}

        async def commit(stored: Mapping[str, Stored]) -> list[str]:
            made = {path: stored.get(path) for path in sorted(changes)}
            return await guarded_commit(self.work, lambda writer: self._commit(writer, made, report))

        gone = await with_bytes(self.work.deps, contents, commit)
        self.files.staged.clear()
        await forget(self.work.deps, gone)

    async def _commit(
        self, writer: Writer, changes: Mapping[str, Stored | None], report: MemoryReport | None
    ) -> list[str]:
        await writer.lock([self.session_id])
        session = await closing_session(writer, self.session_id)
        if session is None:
            raise _Gone
        act = self._act(writer, session)
        await apply_files(act, session, changes)
        if changes:
            session = await act.note(session, "sandbox.memory.write", codes={"paths": list(changes)})
        if report is None:
            await act.set(session, works=dumped(self.works))
        else:
            await end_close(act, session, dumped(self.works), report.as_dict())
        return act.gone

    def _act(self, writer: Writer, session: SandboxSession) -> Act:
        deps = self.work.deps
        return Act(
            deps=deps,
            writer=writer,
            actor=session.closed_by or session.created_by,
            actor_kind=ModifierKind.SYSTEM,
            tx_id=deps.ids.new(),
            at=deps.now(),
        )


def _numbers(report: MemoryReport) -> Json:
    """Return how many conversations and layouts there were, by what became of them."""
    counts: dict[str, int] = {}
    for layout in report.layouts:
        for status in (*(one.status for one in layout.phase_one), layout.phase_two.status):
            counts[str(status)] = counts.get(str(status), 0) + 1
    return counts
