"""Asks a model for an answer of a shape; an answer that does not fit is asked for again with what was wrong (DR-27)."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from pydantic import BaseModel

from dreaming.jobs import WorkContext
from dreaming.models.answers import Good, Problem, Unusable, read_answer
from dreaming.models.port import ChatMessage, Finish, ModelAnswer, ModelRequest, Role
from dreaming.saved_calls import LightModel, discard, saved_call
from graph.model.errors import ModelAnswerInvalid

M = TypeVar("M", bound=BaseModel)

_WORTH_ASKING_AGAIN = frozenset({Problem.EMPTY, Problem.NO_JSON, Problem.SCHEMA_ECHO, Problem.INVALID})


async def ask(work: WorkContext, light: LightModel, key: str, request: ModelRequest, shape: type[M]) -> M:
    """Return the model's answer in the shape that was asked for, saved before it is used.

    Args:
        work: the job under its lease.
        light: the model with the settings in force; `dream.output_retries` says how often invalid output is asked for
            again.
        key: names the question within its work; tries of it get ``/1``, ``/2``, ….
        request: the first question; `request.schema` should be that of the shape (`shape.model_json_schema()`).
        shape: what the answer has to be.

    Raises:
        ModelAnswerInvalid: no try fitted; the next run asks anew. If `was_cut`, it should ask for less.
        ModelUnavailable, ModelBudgetSpent, LeaseLost: as `saved_call`.
    """
    tries = 1 + light.settings["dream.output_retries"]
    number, question, since = 1, request, work.deps.now()
    asked: dict[str, ModelRequest] = {}
    while True:
        asked[f"{key}/{number}"] = question
        answer = await saved_call(work, light, f"{key}/{number}", question, since=since)
        read = read_answer(answer, shape)
        if isinstance(read, Good):
            return read.value
        work.deps.figures.count("model_answers_unusable", purpose=request.purpose, problem=str(read.problem))
        if number >= tries or not _is_worth_asking_again(answer, read):
            await discard(work, asked)
            raise ModelAnswerInvalid(_ADVICE.get(read.problem, _NO_USE), problem=str(read.problem))
        number, question = number + 1, _again(request, answer, read)


_NO_USE = "the model's answer cannot be used: it is asked again later, or choose another model"
_ADVICE = {
    Problem.CUT: "the model's answer was cut: the next try asks for less",
    Problem.REFUSED: "the model refused to answer: it is asked again later, or choose another model",
}


def _is_worth_asking_again(answer: ModelAnswer, read: Unusable) -> bool:
    """Tell whether another try may fit: what a limit cut would be cut again, half an object need not be half again."""
    half = read.problem is Problem.CUT and answer.finish is Finish.STOP
    return half or read.problem in _WORTH_ASKING_AGAIN


def _again(request: ModelRequest, answer: ModelAnswer, read: Unusable) -> ModelRequest:
    """Return the question with the answer and what was wrong with it."""
    wrong = "\n".join(f"- {error}" for error in read.errors) or f"- {read.problem}"
    said = [ChatMessage(role=Role.ASSISTANT, text=answer.text)] if answer.text.strip() else []
    told = f"That answer cannot be used:\n{wrong}\nAnswer again: one JSON object of the given schema, nothing else."
    return replace(request, messages=(*request.messages, *said, ChatMessage(role=Role.USER, text=told)))
