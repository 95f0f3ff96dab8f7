"""Copies of whole workspaces: rows alone, the bytes are shared (SB-98, SB-118)."""

from __future__ import annotations

from dataclasses import replace

from graph.model.ids import NodeId
from graph.model.nodes.sandbox import SandboxFile, SandboxPart, SandboxSession, SandboxSnapshot
from graph.services.sandbox.acting import Act
from graph.services.sandbox.files import all_files
from graph.services.sandbox.stored import parts_of


async def copy_files(act: Act, source: NodeId, target: SandboxSession | SandboxSnapshot) -> set[str]:
    """Copy all files of a session or snapshot that is held locked, and return their paths.

    What is copied is named by the source until the end of the transaction, so its bytes stay.
    """
    files = await all_files(act.writer, source)
    parts = await parts_of(act.writer, [file.id for file in files])
    copies = {file.id: _file(act, file, target.id) for file in files}
    await act.put(list(copies.values()))
    await act.writer.put([_part(act, part, copies[id_]) for id_, found in parts.items() for part in found])
    return {file.path for file in files}


def _file(act: Act, file: SandboxFile, place_id: NodeId) -> SandboxFile:
    id_ = act.deps.new_id(SandboxFile.PREFIX)
    return replace(file, id=id_, pool=place_id, place_id=place_id, created_at=act.at, updated_at=act.at, version=1)


def _part(act: Act, part: SandboxPart, file: SandboxFile) -> SandboxPart:
    id_ = act.deps.new_id(SandboxPart.PREFIX)
    return replace(part, id=id_, pool=file.pool, file_id=file.id, created_at=act.at)
