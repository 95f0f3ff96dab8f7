"""Consolidating a session at once, for who waits for it.

A Refresh takes the job of the session, as a worker would, so that no two consolidations overlap in any process; if
another one runs, it waits until that has ended and reads what is still unread. Source: SM-46 to SM-52, SM-114, SM-116.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from dreaming.jobs import ModelMaker, WorkContext
from dreaming.named_model import named_model
from dreaming.sessions.learner import learn_session
from dreaming.taking import LOOK_AGAIN_S, take
from dreaming.worker import Worker
from graph.model.errors import LeaseLost, MissingObject, ModelError, ModelFailed, StoreUnavailable, SurfaceConflict
from graph.model.fields import Json
from graph.model.ids import NodeId
from graph.model.nodes.sessions import Session
from graph.model.nodes.work import Job
from graph.model.time import Millis
from graph.rules.session_memory import CONFLICT, NOT_FOUND
from graph.services.access.caller import Caller
from graph.services.access.session import Session as Reading
from graph.services.access.session import read
from graph.services.deps import Deps
from graph.services.learning.jobs import job_id
from graph.services.sessions.consolidations import LEARN_SESSION
from graph.services.sessions.finding import find_session, open_session, require_write
from graph.services.sessions.learning_due import session_key
from graph.services.sessions.state import switches_of
from graph.store.port import Writer


async def refresh_session(deps: Deps, models: ModelMaker, caller: Caller, session_id: NodeId) -> Session:
    """Consolidate a session; return it as it is once that was committed.

    Nothing happens while `generate` is off, or if no item is unread. A running consolidation is waited for.

    Raises:
        MissingObject: ``SessionNotFound``.
        Forbidden: the caller may read but not write it.
        SurfaceConflict: ``SessionConflict`` with the reason ``no_model``.
        ModelFailed: the model gave no answer that can be used; nothing changed, and the error was recorded.
    """
    (session, generate), _ = await read(deps, caller, lambda reading: _writable(reading, session_id))
    if not generate:
        return session
    if await named_model(deps, models, session.workspace, session.agent_id, session.model) is None:
        raise SurfaceConflict(CONFLICT, "no_model", "the session has no model that can be asked")
    await _Refresh(deps=deps, models=models, session=session).run()
    return await _present(deps, session_id)


async def _writable(reading: Reading, session_id: NodeId) -> tuple[Session, bool]:
    session = await open_session(reading, session_id)
    require_write(reading.facts, session)
    return session, (await switches_of(reading.reader, session)).generate


async def _present(deps: Deps, session_id: NodeId) -> Session:
    async with deps.store.reading() as reader:
        found = await find_session(reader, session_id)
    if found is None:
        raise MissingObject(NOT_FOUND)
    return found


@dataclass(kw_only=True, slots=True)
class _Refresh:
    """One Refresh.

    Attributes:
        failed: why it failed, if it did.
    """

    deps: Deps
    models: ModelMaker
    session: Session
    failed: Exception | None = field(default=None, init=False)

    async def run(self) -> None:
        """Take the job of the session and do it.

        Raises:
            ModelFailed: the model failed.
            MissingObject: the session was deleted meanwhile.
            StoreUnavailable: it ended otherwise than well, and nothing was written.
        """
        worker = Worker(deps=self.deps, anchor_minutes=0, handlers={LEARN_SESSION: self._learn}, models=self.models)
        outcome = await worker.do(await self._claimed(worker.owner))
        if isinstance(self.failed, ModelError):
            raise ModelFailed from self.failed
        if self.failed is not None and not isinstance(self.failed, LeaseLost):
            raise self.failed
        if outcome != "done":
            await _present(self.deps, self.session.id)
            raise StoreUnavailable("the consolidation was interrupted: try again")

    async def _learn(self, work: WorkContext) -> Json:
        try:
            return await learn_session(work)
        except Exception as error:
            self.failed = error
            raise

    async def _claimed(self, owner: str) -> Job:
        """Return the job of the session, claimed; wait while another has it."""
        while True:
            job = await self.deps.store.transact(lambda writer: self._claim(writer, owner))
            if job is not None:
                return job
            await self.deps.clock.sleep(LOOK_AGAIN_S)

    async def _claim(self, writer: Writer, owner: str) -> Job | None:
        key, now = session_key(self.session.id), self.deps.now()
        return await take(writer, self._made(key, now), owner, now)

    def _made(self, key: str, now: Millis) -> Job:
        return Job(
            id=job_id(key),
            workspace=self.session.workspace,
            created_at=now,
            kind=LEARN_SESSION,
            subject_id=self.session.id,
            agent_id=self.session.agent_id,
            unique_key=key,
            arguments={"turn": None, "model": self.session.model},
            due_at=now,
        )
