"""Handing in material: files, texts, pages, and what tasks did."""

from __future__ import annotations

from typing import Any

import strawberry
from starlette.datastructures import UploadFile
from strawberry.file_uploads import Upload
from strawberry.types import Info

from api.graphql.context import RequestContext, context
from api.graphql.mutations.conversations import IngestPayload
from api.graphql.types.knowledge import Entry, entry_at
from api.graphql.types.materials import Material
from graph.model.errors import BadInput
from graph.model.ids import NodeId
from graph.model.nodes.evidence import Source
from graph.model.time import Millis
from graph.rules.task_results import StepOutcome, TaskResult, TaskState, TaskStep
from graph.services.access.commands import command
from graph.services.access.session import read
from graph.services.knowledge.materials import (
    PreparedFile,
    prepare_file,
    replace_material,
    retry_learning,
    submit_file,
)
from graph.services.knowledge.submissions import Submitted, prepare_page, submit_text, submit_url
from graph.services.knowledge.task_results import record_task_result

strawberry.enum(TaskState, name="TaskState")
strawberry.enum(StepOutcome, name="StepOutcome")


@strawberry.input
class TaskStepInput:
    """One step of a task: what was done, how it ended, what it showed."""

    action: str
    outcome: StepOutcome
    text: str = ""


@strawberry.input
class TaskResultInput:
    """What a task did (KN-66): in a conversation, or else of an agent."""

    task_id: str
    state: TaskState
    steps: list[TaskStepInput]
    final_answer: str = ""
    conversation_id: strawberry.ID | None = None
    agent_id: strawberry.ID | None = None
    ended_at: Millis | None = None


@strawberry.type
class MaterialMutations:
    """Handing in material."""

    @strawberry.mutation
    async def record_task_result(self, info: Info[Any, Any], input: TaskResultInput) -> IngestPayload:
        ctx = context(info)
        result = _task_result(input)
        receipt = await ctx.run(
            info,
            lambda cmd: record_task_result(
                cmd,
                result,
                conversation_id=_given(ctx, input.conversation_id),
                agent_id=_given(ctx, input.agent_id),
            ),
        )
        return IngestPayload.from_domain(ctx, receipt)

    @strawberry.mutation
    async def submit_file(
        self,
        info: Info[Any, Any],
        owner_id: strawberry.ID,
        kb_id: strawberry.ID,
        file: Upload,
        title: str | None = None,
    ) -> Material:
        ctx = context(info)
        owner, base = ctx.id(owner_id), _named(ctx, kb_id)

        async def act() -> Source:
            prepared = await _prepared(ctx, base, owner, file)
            return await command(
                ctx.deps, ctx.caller, lambda cmd: submit_file(cmd, base, prepared, owner_id=owner, title=title)
            )

        return Material.from_domain(await ctx.once(info, act))

    @strawberry.mutation
    async def submit_text(
        self,
        info: Info[Any, Any],
        owner_id: strawberry.ID,
        kb_id: strawberry.ID,
        text: str,
        title: str | None = None,
        entry_id: strawberry.ID | None = None,
    ) -> Entry:
        ctx = context(info)
        made = await ctx.run(
            info,
            lambda cmd: submit_text(
                cmd,
                _named(ctx, kb_id),
                text,
                owner_id=ctx.id(owner_id),
                title=title,
                entry_id=_given(ctx, entry_id),
            ),
        )
        return await entry_at(ctx, made.entry_id)

    @strawberry.mutation
    async def submit_url(
        self,
        info: Info[Any, Any],
        owner_id: strawberry.ID,
        kb_id: strawberry.ID,
        url: str,
        title: str | None = None,
        entry_id: strawberry.ID | None = None,
    ) -> Entry:
        ctx = context(info)
        owner, base, entry = ctx.id(owner_id), _named(ctx, kb_id), _given(ctx, entry_id)

        async def act() -> Submitted:
            page = await prepare_page(ctx.deps, ctx.caller, base, url, owner_id=owner)
            return await command(
                ctx.deps,
                ctx.caller,
                lambda cmd: submit_url(cmd, base, page, owner_id=owner, title=title, entry_id=entry),
            )

        return await entry_at(ctx, (await ctx.once(info, act)).entry_id)

    @strawberry.mutation
    async def replace_material(self, info: Info[Any, Any], id: strawberry.ID, file: Upload) -> Material:
        ctx = context(info)
        material = ctx.id(id)

        async def act() -> Source:
            old, _ = await read(ctx.deps, ctx.caller, lambda session: session.open_one(material, Source))
            prepared = await _prepared(ctx, old.pool or NodeId(""), None, file)
            return await command(ctx.deps, ctx.caller, lambda cmd: replace_material(cmd, material, prepared))

        return Material.from_domain(await ctx.once(info, act))

    @strawberry.mutation
    async def retry_learning(self, info: Info[Any, Any], material_id: strawberry.ID) -> Material:
        ctx = context(info)
        return Material.from_domain(await ctx.run(info, lambda cmd: retry_learning(cmd, ctx.id(material_id))))


async def _prepared(ctx: RequestContext, base: NodeId, owner: NodeId | None, file: Any) -> PreparedFile:
    if not isinstance(file, UploadFile):
        raise BadInput("upload the file as a GraphQL multipart request", field="file")
    return await prepare_file(
        ctx.deps,
        ctx.caller,
        base,
        await file.read(),
        owner_id=owner,
        filename=file.filename,
        media_type=file.content_type,
    )


def _named(ctx: RequestContext, kb_id: str) -> NodeId:
    """Return the knowledge base that is named; a blank or a wildcard names none (MA-14)."""
    if not kb_id.strip("*%? \t\n"):
        raise BadInput("name the knowledge base by its id", field="kbId")
    return ctx.id(kb_id)


def _given(ctx: RequestContext, id_: strawberry.ID | None) -> NodeId | None:
    return None if id_ is None else ctx.id(id_)


def _task_result(given: TaskResultInput) -> TaskResult:
    return TaskResult(
        task_id=given.task_id,
        state=given.state,
        steps=tuple(TaskStep(action=one.action, outcome=one.outcome, text=one.text) for one in given.steps),
        final=given.final_answer,
        ended_at=given.ended_at,
    )
