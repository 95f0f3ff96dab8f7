"""Commands on sandbox memory, as runtimes and people give them (AD-22, AD-23, SB-104 to SB-118)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

import strawberry
from starlette.datastructures import UploadFile
from strawberry.file_uploads import Upload
from strawberry.types import Info

from api.bodies import parsed
from api.graphql.acting import act_on
from api.graphql.context import RequestContext, context
from api.graphql.tagging import refusing
from api.graphql.types.sandbox_inputs import (
    SandboxManifestInput,
    SandboxMemoryInput,
    SandboxRolloutInput,
    options_of,
    segment_mapping,
)
from api.graphql.types.sandboxes import SandboxFile, SandboxRollout, SandboxRunStart, SandboxSession, SandboxSnapshot
from dreaming.sandbox.closing import ask_to_close, close_at_once
from dreaming.sandbox.options import memory_of
from dreaming.sandbox.recording import begin_run, record_run
from dreaming.sandbox.refusals import refusing as refusing_memory
from graph.model.errors import InvalidRequest, WorkspaceRefused
from graph.model.nodes import sandbox
from graph.model.nodes.people import Right
from graph.rules.memory_refusals import invalid
from graph.rules.sandbox import manifest_paths, sandbox_path
from graph.services.access.commands import Command
from graph.services.access.session import Session, read
from graph.services.sandbox.acting import Act, change
from graph.services.sandbox.files import delete_file, put_file
from graph.services.sandbox.finding import hold_sandbox, open_sandbox
from graph.services.sandbox.sessions import create_sandbox, delete_sandbox
from graph.services.sandbox.snapshots import delete_snapshot, take_snapshot
from graph.services.sandbox.stored import Stored, with_bytes
from graph.services.workspace.finding import require_verb
from rootward.sandbox.identity import ConversationRef
from rootward.sandbox.segments import Segment

T = TypeVar("T")
_BESIDE: Final = 65_536
"""Bytes of an uploaded segment that are no segment; JSON may write a character of three bytes in six."""


@strawberry.type
class SandboxMutations:
    """What is done to sandboxes."""

    @strawberry.mutation(description="Make a session: the files of a snapshot, then those of a manifest at free paths.")
    async def create_sandbox_session(
        self,
        info: Info[Any, Any],
        manifest: SandboxManifestInput | None = None,
        snapshot_id: strawberry.ID | None = None,
    ) -> SandboxSession:
        ctx = context(info)
        entries = manifest.entries if manifest else []

        async def may(reading: Session) -> None:
            require_verb(reading.facts, None, Right.RUN)

        async def act() -> sandbox.SandboxSession:
            await read(ctx.deps, ctx.caller, may)  # before bytes are put
            paths = manifest_paths([entry.path for entry in entries])
            contents = {path: entry.content.encode() for path, entry in zip(paths, entries, strict=True)}
            start = ctx.id_or_none(snapshot_id)
            return await with_bytes(
                ctx.deps,
                contents,
                lambda stored: change(ctx.deps, ctx.caller, lambda cmd, act: create_sandbox(cmd, act, stored, start)),
            )

        with refusing():
            return SandboxSession.from_domain(await ctx.once(info, act))

    @strawberry.mutation(description="Delete a session with its workspace and memory; snapshots stay.")
    async def delete_sandbox_session(self, info: Info[Any, Any], session_id: strawberry.ID) -> bool:
        id_ = context(info).id(session_id)
        await _changed(info, sandbox.SandboxSession, lambda cmd, act: delete_sandbox(cmd, act, id_))
        return True

    @strawberry.mutation(description="Begin a run: what it is told of memory, and what its agent needs.")
    async def begin_sandbox_run(
        self, info: Info[Any, Any], session_id: strawberry.ID, memory: SandboxMemoryInput
    ) -> SandboxRunStart:
        ctx = context(info)
        id_ = ctx.id(session_id)

        async def act() -> SandboxRunStart:
            with refusing_memory(id_):
                wanted = memory_of(options_of(memory), ctx.sandbox)
            return SandboxRunStart.from_domain(await begin_run(ctx.deps, ctx.caller, ctx.sandbox, id_, wanted))

        return await act_on(info, sandbox.SandboxSession, act)

    @strawberry.mutation(description="Record a run that ended; a segment beyond the limit of variables is uploaded.")
    async def record_sandbox_run(
        self,
        info: Info[Any, Any],
        session_id: strawberry.ID,
        rollout: SandboxRolloutInput,
        segment_file: Upload | None = None,
    ) -> SandboxRollout:
        ctx = context(info)
        id_ = ctx.id(session_id)

        async def act() -> SandboxRollout:
            with refusing_memory(id_):
                memory = memory_of(options_of(rollout), ctx.sandbox)
                segment = await _segment(ctx, rollout, segment_file)
            ref = ConversationRef(
                conversation_id=rollout.conversation_id, session_id=rollout.session_id, group_id=rollout.group_id
            )
            made = await record_run(ctx.deps, ctx.caller, ctx.sandbox, id_, memory, ref, segment)
            return SandboxRollout.from_domain(made)

        return await act_on(info, sandbox.SandboxSession, act)

    @strawberry.mutation(description="Make memory of what was recorded; without waiting, a worker does it.")
    async def close_sandbox_session(
        self, info: Info[Any, Any], session_id: strawberry.ID, wait: bool = True
    ) -> SandboxSession:
        ctx = context(info)
        id_ = ctx.id(session_id)

        async def act() -> sandbox.SandboxSession:
            if wait:
                return await close_at_once(ctx.deps, ctx.caller, ctx.sandbox, id_)
            return await ask_to_close(ctx.deps, ctx.caller, id_)

        return SandboxSession.from_domain(await act_on(info, sandbox.SandboxSession, act))

    @strawberry.mutation(description="Make a file at a free path.")
    async def create_sandbox_file(
        self, info: Info[Any, Any], session_id: strawberry.ID, path: str, content: str
    ) -> SandboxFile:
        return await _written(info, session_id, path, content, None)

    @strawberry.mutation(description="Replace the content of a file, also after the session was closed.")
    async def write_sandbox_file(
        self, info: Info[Any, Any], session_id: strawberry.ID, path: str, content: str, expected_etag: str
    ) -> SandboxFile:
        return await _written(info, session_id, path, content, [expected_etag])

    @strawberry.mutation
    async def delete_sandbox_file(
        self, info: Info[Any, Any], session_id: strawberry.ID, path: str, expected_etag: str
    ) -> bool:
        id_ = context(info).id(session_id)

        async def work(cmd: Command, act: Act) -> None:
            await delete_file(act, await hold_sandbox(cmd, id_, Right.RUN), path, [expected_etag])

        await _changed(info, sandbox.SandboxSession, work)
        return True

    @strawberry.mutation(description="Copy the workspace of a session, open or closed, as it is.")
    async def take_sandbox_snapshot(self, info: Info[Any, Any], session_id: strawberry.ID) -> SandboxSnapshot:
        id_ = context(info).id(session_id)
        return SandboxSnapshot.from_domain(
            await _changed(info, sandbox.SandboxSession, lambda cmd, act: take_snapshot(cmd, act, id_))
        )

    @strawberry.mutation(description="Delete a snapshot; sessions that began as it keep their files.")
    async def delete_sandbox_snapshot(self, info: Info[Any, Any], snapshot_id: strawberry.ID) -> bool:
        id_ = context(info).id(snapshot_id)
        await _changed(info, sandbox.SandboxSnapshot, lambda cmd, act: delete_snapshot(cmd, act, id_))
        return True


async def _changed(
    info: Info[Any, Any],
    kind: type[sandbox.SandboxSession | sandbox.SandboxSnapshot],
    work: Callable[[Command, Act], Awaitable[T]],
) -> T:
    ctx = context(info)
    return await act_on(info, kind, lambda: change(ctx.deps, ctx.caller, work))


async def _written(
    info: Info[Any, Any], session_id: strawberry.ID, path: str, content: str, tags: list[str] | None
) -> SandboxFile:
    ctx = context(info)
    id_ = ctx.id(session_id)

    async def work(cmd: Command, act: Act, stored: Stored) -> sandbox.SandboxFile:
        return (await put_file(act, await hold_sandbox(cmd, id_, Right.RUN), path, stored, tags))[0]

    async def act() -> sandbox.SandboxFile:
        await read(ctx.deps, ctx.caller, lambda reading: open_sandbox(reading, id_, Right.RUN))
        wanted = sandbox_path(path)
        return await with_bytes(
            ctx.deps,
            {wanted: content.encode()},
            lambda stored: change(ctx.deps, ctx.caller, lambda cmd, act: work(cmd, act, stored[wanted])),
        )

    return SandboxFile.from_domain(await act_on(info, sandbox.SandboxSession, act))


async def _segment(ctx: RequestContext, rollout: SandboxRolloutInput, file: Any) -> Segment:
    """Return the segment of a run, given among the variables or uploaded.

    Raises:
        InvalidSegment: it is none.
        WorkspaceRefused: ``invalid_argument`` at `segment` or `segment_file`, ``payload_too_large``.
    """
    if (rollout.segment is None) is (file is None):
        raise invalid("segment", "is given, or uploaded")
    if rollout.segment is not None:
        return Segment.from_mapping(segment_mapping(rollout.segment))
    if not isinstance(file, UploadFile):
        raise invalid("segment_file", "is uploaded as a GraphQL multipart request")
    limit = ctx.sandbox.limits.max_segment_bytes
    data = await file.read(2 * limit + _BESIDE + 1)
    if len(data) > 2 * limit + _BESIDE:
        raise WorkspaceRefused("payload_too_large", "the segment is too large", limit=limit)
    return await asyncio.to_thread(_parsed, data)  # it takes long enough for others to notice


def _parsed(data: bytes) -> Segment:
    try:
        found = parsed(data)
    except InvalidRequest:
        raise invalid("segment_file", "is no JSON") from None
    if not isinstance(found, dict):
        raise invalid("segment_file", "is an object")
    return Segment.from_mapping(found)
