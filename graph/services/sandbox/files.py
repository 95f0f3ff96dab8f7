"""Files of a sandbox session: reading them, and one function for each change.

Changes take a session that is held locked (`finding.hold_sandbox`); what they write was put before (`stored`). They can
be made also after closing. Source: SB-40, SB-49, SB-50, SB-117.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from graph.model.ids import NodeId, WorkspaceId
from graph.model.nodes.sandbox import SandboxFile, SandboxPart, SandboxSession
from graph.rules.memory_paths import paths_under
from graph.rules.memory_refusals import missing, stale, untagged
from graph.rules.sandbox import NEWLINE, Counts, appended, sandbox_path, sandbox_prefix
from graph.rules.workspace_ids import tag_of
from graph.services.access.session import Session as Reading
from graph.services.blob_rows import hold_blobs
from graph.services.sandbox.acting import Act
from graph.services.sandbox.stored import FILES, Stored, bytes_of, parts_of
from graph.store.port import Reader
from graph.store.query import After, And, By, Eq, Find, Page, Range, Where, both

KIND: Final = "sandbox_file"


def file_tag(file: SandboxFile) -> str:
    """Return the ETag of a file (FM-12)."""
    return tag_of(file.id, file.version)


async def find_file(reader: Reader, place_id: NodeId, path: str) -> SandboxFile | None:
    """Return the file at a checked path of a session or snapshot; the caller has checked the verb."""
    where = And((Eq("place_id", place_id), Eq("path", path)))
    return next(iter((await reader.find(FILES, Find(kind=SandboxFile, where=where))).nodes), None)


async def all_files(reader: Reader, place_id: NodeId, prefix: str = "") -> tuple[SandboxFile, ...]:
    """Return every file below a directory prefix, ordered by path; the caller has checked the verb."""
    query = Find(kind=SandboxFile, where=_under(place_id, prefix), order=By("path"))
    return (await reader.find(FILES, query)).nodes


async def list_files(
    reading: Reading, place_id: NodeId, prefix: str = "", *, first: int, after: After | None = None
) -> Page[SandboxFile]:
    """Return the files of a `files_query`.

    Raises:
        WorkspaceRefused: ``invalid_argument`` at `prefix`.
    """
    return await reading.page(files_query(place_id, prefix, first=first, after=after))


def files_query(place_id: NodeId, prefix: str = "", *, first: int, after: After | None = None) -> Find[SandboxFile]:
    """Return the question for files of a session or snapshot under a directory, in code-point order of their paths.

    Raises:
        WorkspaceRefused: ``invalid_argument`` at `prefix`.
    """
    where = _under(place_id, sandbox_prefix(prefix))
    return Find(kind=SandboxFile, where=where, order=By("path"), first=first, after=after)


async def read_file(reading: Reading, session: SandboxSession, path: str) -> tuple[SandboxFile, Sequence[SandboxPart]]:
    """Return a file that the caller may read, and the parts that `stored.bytes_of` makes its bytes of.

    Raises:
        WorkspaceRefused: ``invalid_argument`` at `path`, ``not_found`` of kind ``sandbox_file``.
    """
    wanted = sandbox_path(path)
    where = And((Eq("place_id", session.id), Eq("path", wanted)))
    found = (await reading.page(Find(kind=SandboxFile, where=where))).nodes
    if not found:
        raise missing(KIND, wanted)
    return found[0], (await parts_of(reading.reader, [found[0].id]))[found[0].id]


async def put_file(
    act: Act, session: SandboxSession, path: str, stored: Stored, tags: Collection[str] | None
) -> tuple[SandboxFile, bool]:
    """Make a file, or replace the one that a tag names; return it, and whether it is new (SB-117).

    The content it has already is no change (FM-13).

    Args:
        act: of the change.
        session: held locked.
        path: of the file.
        stored: the new bytes.
        tags: of `If-Match`; None: there were none, so no file may be there.

    Raises:
        WorkspaceRefused: ``invalid_argument``, ``precondition_required``, ``not_found``, ``precondition_failed``.
    """
    wanted = sandbox_path(path)
    file = await find_file(act.writer, session.id, wanted)
    if file is None and tags is not None:
        raise missing(KIND, wanted)
    if file is not None and tags is None:
        raise untagged()
    if file is not None:
        _check_tags(file, tags or ())
        if await _is_same(act, file, stored):
            return file, False
    await hold_blobs(act.writer, act.deps, [stored.sha256])
    made = await set_file(act, session, wanted, stored, file)
    operation = "sandbox.file.create" if file is None else "sandbox.file.update"
    await act.note(session, operation, made.id, {"path": wanted, "version": made.version})
    return made, file is None


async def delete_file(act: Act, session: SandboxSession, path: str, tags: Collection[str]) -> None:
    """Delete the file that one of the tags names.

    Raises:
        WorkspaceRefused: ``invalid_argument``, ``not_found``, ``precondition_failed``.
    """
    wanted = sandbox_path(path)
    file = await find_file(act.writer, session.id, wanted)
    if file is None:
        raise missing(KIND, wanted)
    _check_tags(file, tags)
    await act.note(session, "sandbox.file.delete", file.id, {"path": wanted})
    await remove_files(act, [file])


async def apply_files(act: Act, session: SandboxSession, changes: Mapping[str, Stored | None]) -> None:
    """Replace files, or delete them where the value is None, whatever is there; the caller records it.

    Args:
        act: of the change.
        session: held locked.
        changes: by checked path.
    """
    await hold_blobs(act.writer, act.deps, [stored.sha256 for stored in changes.values() if stored is not None])
    for path, stored in changes.items():
        file = await find_file(act.writer, session.id, path)
        if stored is not None:
            await set_file(act, session, path, stored, file)
        elif file is not None:
            await remove_files(act, [file])


async def set_file(
    act: Act, session: SandboxSession, path: str, stored: Stored, file: SandboxFile | None = None
) -> SandboxFile:
    """Write a file at a checked path over `file`, which is what is there; its blob is held."""
    if file is None:
        made = new_file(act, session.workspace, session.id, path, stored.counts)
        await act.put([made])
    else:
        await _drop_parts(act, [file.id])
        made = await _patch(act, file, stored.counts, more=1)
    await act.writer.put([new_part(act, made, made.next_part - 1, stored.sha256)])
    return made


async def append_line(act: Act, session: SandboxSession, path: str, line: Stored) -> SandboxFile:
    """Append a line, whole, to the file at a checked path; its blob is held, and earlier bytes stay (SB-49, SB-50)."""
    file = await find_file(act.writer, session.id, path)
    if file is None:
        return await set_file(act, session, path, line)
    before = Counts(size=file.size, lines=file.lines, ends_open=file.ends_open)
    pieces = [line.sha256]
    if file.ends_open:
        pieces.insert(0, (await act.deps.blobs.put(NEWLINE)).sha256)
        await hold_blobs(act.writer, act.deps, pieces[:1])
    made = await _patch(act, file, appended(before, line.counts), more=len(pieces))
    await act.writer.put([new_part(act, made, file.next_part + n, sha256) for n, sha256 in enumerate(pieces)])
    return made


async def create_empty(act: Act, session: SandboxSession, paths: Collection[str], nothing: Stored) -> None:
    """Make empty files at those of the checked paths where nothing is; the blob of no bytes is held (SB-22)."""
    for path in paths:
        if await find_file(act.writer, session.id, path) is None:
            await set_file(act, session, path, nothing)


async def remove_files(act: Act, files: Sequence[SandboxFile]) -> None:
    """Delete files with their parts."""
    await _drop_parts(act, [file.id for file in files])
    await act.writer.delete([file.id for file in files])


def new_file(act: Act, workspace: WorkspaceId, place_id: NodeId, path: str, counts: Counts) -> SandboxFile:
    """Return a file of one part."""
    return SandboxFile(
        id=act.deps.new_id(SandboxFile.PREFIX),
        workspace=workspace,
        pool=place_id,
        created_at=act.at,
        place_id=place_id,
        path=path,
        size=counts.size,
        lines=counts.lines,
        ends_open=counts.ends_open,
        next_part=1,
        updated_at=act.at,
    )


def new_part(act: Act, file: SandboxFile, number: int, sha256: str) -> SandboxPart:
    """Return a part of a file."""
    return SandboxPart(
        id=act.deps.new_id(SandboxPart.PREFIX),
        workspace=file.workspace,
        pool=file.pool,
        created_at=act.at,
        file_id=file.id,
        number=number,
        blob_ref=sha256,
    )


def _under(place_id: NodeId, prefix: str) -> Where | None:
    low, high = paths_under(prefix)
    return both(Eq("place_id", place_id), None if low is None else Range("path", low, high))


def _check_tags(file: SandboxFile, tags: Collection[str]) -> None:
    if file_tag(file) not in tags:
        raise stale(file_tag(file), current={"path": file.path, "version": file.version, "size": file.size})


async def _is_same(act: Act, file: SandboxFile, stored: Stored) -> bool:
    if file.size != stored.counts.size:
        return False
    parts = (await parts_of(act.writer, [file.id]))[file.id]
    if len(parts) == 1:
        return parts[0].blob_ref == stored.sha256
    return await bytes_of(act.deps, parts) == await act.deps.blobs.read(stored.sha256)


async def _patch(act: Act, file: SandboxFile, counts: Counts, *, more: int) -> SandboxFile:
    changed: dict[str, Any] = {
        "size": counts.size,
        "lines": counts.lines,
        "ends_open": counts.ends_open,
        "next_part": file.next_part + more,
        "version": file.version + 1,
        "updated_at": act.at,
    }
    await act.writer.patch_many({file.id: changed})
    return replace(file, **changed)


async def _drop_parts(act: Act, files: Collection[NodeId]) -> None:
    parts = [part for found in (await parts_of(act.writer, files)).values() for part in found]
    act.gone.extend(part.blob_ref for part in parts)
    await act.writer.delete([part.id for part in parts])
