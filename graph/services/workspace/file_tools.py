"""The tools of a run on its file memories (MT-57 to MT-61); each acts with the rights that the principal has now."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from graph.model.errors import WorkspaceRefused
from graph.model.ids import NodeId
from graph.model.nodes.people import Right
from graph.model.nodes.workspace import MemoryFile, MemoryKind, WorkspaceMemory
from graph.rules.memory_paths import checked_path, checked_prefix
from graph.rules.memory_refusals import missing
from graph.rules.run_file_text import FileRow, appended, directory, edited, matcher, matches
from graph.rules.run_tool_errors import ToolFailed, code_of
from graph.services.access.caller import Caller
from graph.services.access.commands import Command, command
from graph.services.access.session import Session as Reading
from graph.services.access.session import read
from graph.services.deps import Deps
from graph.services.workspace.changing import Actor
from graph.services.workspace.files import (
    KIND,
    all_files,
    create_file,
    delete_file,
    file_tag,
    find_file,
    indexed_files,
    move_file,
    replace_file,
)
from graph.services.workspace.finding import hold_memory, open_memory

T = TypeVar("T")
Arguments = Mapping[str, Any]
_STALE: Final = "precondition_failed"


@dataclass(frozen=True, kw_only=True, slots=True)
class FileCall:
    """A call on one file memory.

    Attributes:
        principal: who accepted the run, as a caller.
        actor: the same, with run and call.
    """

    deps: Deps
    principal: Caller
    actor: Actor
    memory_id: NodeId

    async def look(self, work: Callable[[Reading, WorkspaceMemory], Awaitable[T]]) -> T:
        """Read in the memory, with the verb `read`."""

        async def run(reading: Reading) -> T:
            return await work(reading, await open_memory(reading, self.memory_id, Right.READ, MemoryKind.FILE))

        return (await read(self.deps, self.principal, run))[0]

    async def change(self, work: Callable[[Command, WorkspaceMemory], Awaitable[T]]) -> T:
        """Change the memory, held locked, with the verb `run`."""

        async def run(cmd: Command) -> T:
            return await work(cmd, await hold_memory(cmd, self.memory_id, Right.RUN, MemoryKind.FILE))

        return await command(self.deps, self.principal, run)

    async def file(self, path: str) -> MemoryFile | None:
        """Return the file at a checked path, if one is there."""
        return await self.look(lambda reading, memory: find_file(reading.reader, memory.id, path))


async def view(call: FileCall, given: Arguments) -> Any:
    """Return a file with its version, or one level of a directory."""
    prefix, name = _place(call, given["path"])
    file = await call.file(name) if name else None
    if file is not None:
        return {**_shown(file), "description": file.description}
    files = await call.look(lambda reading, memory: indexed_files(reading.reader, memory.id, prefix))
    if prefix and not files:
        raise missing(KIND, prefix)
    return directory(
        prefix, (FileRow(path=f.path, description=f.description, size=f.size, version=f.version) for f in files)
    )


async def grep(call: FileCall, given: Arguments) -> Any:
    """Return lines that match."""
    fits = matcher(given["pattern"], is_regex=given["regex"], case_sensitive=given["case_sensitive"])
    prefix, name = _place(call, given["path"])
    file = await call.file(name) if name else None
    if file is None:
        files = await call.look(lambda reading, memory: all_files(reading.reader, memory.id, prefix))
    else:
        files = (file,)
    if prefix and not files:
        raise missing(KIND, prefix)
    # An expression may take its time; others go on meanwhile.
    return await asyncio.to_thread(matches, [(one.path, one.content) for one in files], fits, given["limit"])


async def create(call: FileCall, given: Arguments) -> Any:
    """Make a file."""
    path, content = given["path"], given["content"]
    return _changed(await call.change(lambda cmd, memory: create_file(cmd, memory, call.actor, path, content)))


async def edit(call: FileCall, given: Arguments) -> Any:
    """Replace the one occurrence of a text."""
    return await _rewrite(
        call, given["path"], lambda content: edited(content, given["old_string"], given["new_string"])
    )


async def append(call: FileCall, given: Arguments) -> Any:
    """Add text at the end, on a new line."""
    return await _rewrite(call, given["path"], lambda content: appended(content, given["text"]))


async def move(call: FileCall, given: Arguments) -> Any:
    """Move a file to a free path."""
    source = checked_path(given["source"], call.deps.memory_limits, "source")

    async def once(file: MemoryFile) -> MemoryFile:
        return await call.change(
            lambda cmd, memory: move_file(cmd, memory, call.actor, source, given["destination"], {file_tag(file)})
        )

    return await _until_won(call, source, once)


async def delete(call: FileCall, given: Arguments) -> Any:
    """Delete a file in the version that was viewed; it is never tried again."""
    path = checked_path(given["path"], call.deps.memory_limits)
    file = await _there(call, path)
    if file.version != given["version"]:
        raise ToolFailed("version_mismatch")
    await call.change(lambda cmd, memory: delete_file(cmd, memory, call.actor, path, {file_tag(file)}))
    return {"path": path, "deleted": True}


CALLS: Final[Mapping[str, Callable[[FileCall, Arguments], Awaitable[Any]]]] = {
    "file_view": view,
    "file_grep": grep,
    "file_create": create,
    "file_edit": edit,
    "file_append": append,
    "file_move": move,
    "file_delete": delete,
}
_WITH_CURRENT: Final = frozenset(
    {
        "not_found",
        "already_exists",
        "version_mismatch",
        "invalid_file",
        "too_large",
        "memory_full",
        "no_match",
        "ambiguous_match",
        "conflict_retries_exhausted",
    }
)


async def call_file_tool(call: FileCall, key: str, given: Arguments, *, writes: bool) -> Any:
    """Run a file tool; a change that fails tells the present file (MT-57).

    Raises:
        ToolFailed: the call failed and changed nothing.
        WorkspaceRefused: what is no failure of a tool.
    """
    try:
        return await CALLS[key](call, given)
    except ToolFailed as failure:
        code = failure.code
    except WorkspaceRefused as refusal:
        known = code_of(refusal)
        if known is None:
            raise
        code = known
    if not writes or code not in _WITH_CURRENT:
        raise ToolFailed(code)
    path = given["destination" if code == "already_exists" else "source"] if key == "file_move" else given["path"]
    raise ToolFailed(code, current=await _current(call, path), has_current=True)


async def _current(call: FileCall, path: str) -> dict[str, Any] | None:
    """Return the present file at a path, None if none is there, or the memory is gone by now."""
    try:
        file = await call.file(checked_path(path, call.deps.memory_limits))
    except WorkspaceRefused:
        return None
    return None if file is None else _shown(file)


async def _rewrite(call: FileCall, path: str, change: Callable[[str], str]) -> Any:
    checked = checked_path(path, call.deps.memory_limits)

    async def once(file: MemoryFile) -> MemoryFile:
        content = change(file.content)
        return await call.change(
            lambda cmd, memory: replace_file(cmd, memory, call.actor, checked, content, {file_tag(file)})
        )

    return await _until_won(call, checked, once)


async def _until_won(call: FileCall, path: str, once: Callable[[MemoryFile], Awaitable[MemoryFile]]) -> Any:
    """Change a file as it is; who loses a race reads again and retries, so many times and no more (MT-61)."""
    for _ in range(call.deps.memory_limits.write_retries + 1):
        try:
            return _changed(await once(await _there(call, path)))
        except WorkspaceRefused as refusal:
            if refusal.refusal != _STALE:
                raise
            call.deps.figures.count("file_tool_retried")
    raise ToolFailed("conflict_retries_exhausted")


async def _there(call: FileCall, path: str) -> MemoryFile:
    file = await call.file(path)
    if file is None:
        raise missing(KIND, path)
    return file


def _place(call: FileCall, given: str) -> tuple[str, str]:
    """Return the directory, and the file, that a path may mean; a path that ends in ``/`` means no file."""
    limits = call.deps.memory_limits
    if not given or given.endswith("/"):
        return checked_prefix(given, limits), ""
    path = checked_path(given, limits)
    return f"{path}/", path


def _changed(file: MemoryFile) -> dict[str, Any]:
    return {"path": file.path, "version": file.version, "size": file.size}


def _shown(file: MemoryFile) -> dict[str, Any]:
    return {"path": file.path, "version": file.version, "size": file.size, "content": file.content}
