"""Recalling records for the input of a run: all memories at once, within one short wait (RM-53 to RM-60)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final

from graph.model.errors import RootwardError
from graph.model.nodes.workspace import WorkspaceMemory
from graph.rules.run_context import recall_block, recall_query
from graph.services.deps import Deps
from graph.services.workspace.records_port import Record, RecordBackend

RECALLED: Final = "recalled"
TIMEOUT: Final = "timeout"
FAILED: Final = "failed"


async def recall(
    deps: Deps, memories: Mapping[str, WorkspaceMemory], text: str
) -> tuple[Sequence[str], Mapping[str, str]]:
    """Return the blocks of records near to an input, and what became of each memory, both by the names of mounts.

    Args:
        deps: of the service.
        memories: record memories by the names of their mounts, which give the order.
        text: of the input; a blank one recalls nothing.
    """
    query = recall_query(text)
    if not query or not memories:
        return [], {}
    if deps.records is None:
        return [], dict.fromkeys(memories, FAILED)
    limits = deps.memory_limits
    found = await _search(deps, deps.records, memories, query)
    states = {name: _state(result) for name, result in found.items()}
    blocks = [recall_block(name, _shown(result), limits.recall_bytes) for name, result in found.items()]
    return [block for block in blocks if block is not None], states


async def _search(
    deps: Deps, backend: RecordBackend, memories: Mapping[str, WorkspaceMemory], query: str
) -> dict[str, Sequence[Record] | str]:
    """Search all memories at once; who is not done when the time is over is left alone."""
    limits = deps.memory_limits
    tasks = {
        name: asyncio.create_task(_one(backend, memory, query, limits.recall_limit))
        for name, memory in memories.items()
    }
    timer = asyncio.create_task(deps.clock.sleep(limits.recall_seconds))
    waiting = set(tasks.values())
    try:
        while waiting and not timer.done():
            done, _ = await asyncio.wait({timer, *waiting}, return_when=asyncio.FIRST_COMPLETED)
            waiting -= done
        return {name: task.result() if task.done() else TIMEOUT for name, task in tasks.items()}
    finally:
        for task in (timer, *tasks.values()):
            task.cancel()


async def _one(backend: RecordBackend, memory: WorkspaceMemory, query: str, limit: int) -> Sequence[Record] | str:
    try:
        return (await backend.search(memory, query, limit=limit))[:limit]
    except RootwardError:
        return FAILED


def _state(result: Sequence[Record] | str) -> str:
    return result if isinstance(result, str) else RECALLED


def _shown(result: Sequence[Record] | str) -> list[dict[str, object]]:
    if isinstance(result, str):
        return []
    return [{"id": record.id, "text": record.text, "score": record.score} for record in result]
