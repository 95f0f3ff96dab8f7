"""What Stage B and the learning of materials have in common: open, ask for operations, apply them.

A learner does this, for one knowledge base at a time::

    async def look(session):                      # a read: open_material narrows the session to the base
        return await open_material(session, base, Wanted(sources=(material,), entries=(...), skills=("deploy",)))

    async def attempt() -> Report:
        opened, _ = await read(work.deps, agent_caller(base), look)
        request = curation_request(opened, purpose="learn.decide", prompt=load_prompt("learn_material"),
                                   run_at=run.started_at, agent=name)
        answer = await ask_for_operations(work, light, f"{batch}/decide", request, opened)
        actor = ActorRules(id=base.owner_id, kind=ModifierKind.AGENT, name="Learning", dream_run_id=run.id,
                           run_started_at=run.started_at)
        return await commit_answer(work, opened, answer.operations, actor, hold=[material], also=end)

    report = await on_fresh_state(attempt)        # DR-78: twice more on fresh state, then VersionConflict

`also(cmd, report)` writes progress, end of batch (`rejections=list(report.rejections)`, `tx_id`) and end of run with
the numbers of `report` in the same transaction (DR-76). `AllRejected` (DR-55) and `ModelAnswerInvalid` fail the batch;
`AllRejected.report.rejections` still say why. Ids of nodes never reach the model: it uses the names of `Opened.names`,
which `commit_answer` turns back. A text that is too long for one prompt is shown in parts by `Wanted.stretches`.
The texts are `dreaming/prompts/curation.md` (the rules of every operation list, in the order of DR-38) and one prompt
of the learner's own. Source: DR-33 to DR-55, DR-76 to DR-78, MA-7, KN-54, KN-106.
"""

from dreaming.curation.answer import OperationList as OperationList
from dreaming.curation.applying import FRESH_TRIES as FRESH_TRIES
from dreaming.curation.applying import AllRejected as AllRejected
from dreaming.curation.applying import Report as Report
from dreaming.curation.applying import commit_answer as commit_answer
from dreaming.curation.applying import fail_batch as fail_batch
from dreaming.curation.applying import on_fresh_state as on_fresh_state
from dreaming.curation.applying import produced as produced
from dreaming.curation.asking import ask_for_operations as ask_for_operations
from dreaming.curation.asking import curation_request as curation_request
from dreaming.curation.opening import Opened as Opened
from dreaming.curation.opening import Wanted as Wanted
from dreaming.curation.opening import open_material as open_material
from dreaming.curation.reading import agent_caller as agent_caller
from dreaming.curation.reading import agent_name as agent_name
from dreaming.curation.reading import read_as_base as read_as_base
