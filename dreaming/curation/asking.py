"""The question that ends in an operation list: rules, guide, quoted data (DR-38, DR-39, KN-106)."""

from __future__ import annotations

from dreaming.asking import ask
from dreaming.curation.answer import OperationList, operation_list
from dreaming.curation.opening import Opened
from dreaming.jobs import WorkContext
from dreaming.models.port import ChatMessage, ModelRequest, Role
from dreaming.prompts import Prompt, load_prompt
from dreaming.saved_calls import LightModel
from graph.model.time import Millis
from graph.rules.validity import shown_day

MAX_OUTPUT_TOKENS = 16_384
"""An operation list says as much as the entries it writes."""

_GUIDE = (
    "# Curation Guide\n\nThe people who look after this knowledge ask you to work as follows. Do as they say; "
    "where it contradicts the rules above, those win.\n\n"
)


def curation_request(
    opened: Opened, *, purpose: str, prompt: Prompt, run_at: Millis, agent: str, asked: str = ""
) -> ModelRequest:
    """Return the question about what was opened.

    Args:
        opened: what is shown.
        purpose: of the call, such as ``stage_b.decide``.
        prompt: what the learner says beside the rules that hold for every operation list.
        run_at: when the run began; a deduction is dated with its day (DR-58).
        agent: what the agent is called.
        asked: said before the quoted data.
    """
    rules = load_prompt("curation")
    system = [part for part in (prompt.text, rules.text, guide_text(opened.guide)) if part]
    facts = f"Agent: {agent}\nKnowledge base that you write: {opened.base.kind}\nDate of this run: {shown_day(run_at)}"
    told = "\n\n".join(part for part in (asked, facts, opened.text) if part)
    return ModelRequest(
        purpose=purpose,
        prompt=f"{prompt.id}+{rules.id}",
        messages=(ChatMessage(role=Role.SYSTEM, text="\n\n".join(system)), ChatMessage(role=Role.USER, text=told)),
        schema=OperationList.model_json_schema(),
        max_output_tokens=MAX_OUTPUT_TOKENS,
        source_ids=opened.shown,
    )


def guide_text(guide: str) -> str:
    """Return the guide as a part of the instructions; empty if there is none (KN-106)."""
    return _GUIDE + guide if guide else ""


async def ask_for_operations(
    work: WorkContext, light: LightModel, key: str, request: ModelRequest, opened: Opened
) -> OperationList:
    """Return the operations that the model answers, saved before they are used.

    Raises:
        ModelAnswerInvalid, ModelUnavailable, ModelBudgetSpent, LeaseLost: as `dreaming.asking.ask`.
    """
    shape = operation_list(opened.names, light.settings["dream.max_operations"])
    return await ask(work, light, key, request, shape)
