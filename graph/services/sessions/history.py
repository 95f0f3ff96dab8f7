"""Versions of a session as they are stored: loading one, returning to it, copying it into a fork.

The pure tree is in `graph.rules.session_memory_history`; all of it works in batches of some hundred nodes.
Source: SM-70 to SM-74, AD-3, ADR 0032.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from graph.model.errors import MissingObject
from graph.model.fields import Node
from graph.model.ids import NodeId, local_part
from graph.model.nodes.sessions import Session, SessionChange, SessionFact, SessionItem
from graph.rules.session_memory_history import Version, latest, version_at
from graph.services.deps import Deps
from graph.services.sessions.changing import citations, put_in
from graph.services.sessions.state import MEMORY, item_id
from graph.store.port import Reader, Writer
from graph.store.query import After, Eq, Find

VERSION_NOT_FOUND: Final = "VersionNotFound"
_BATCH: Final = 500
N = TypeVar("N", bound=Node)
T = TypeVar("T")


async def load_version(reader: Reader, session: Session, head: str) -> Version:
    """Return a version of a session with the items that lead to it and the changes that count at it.

    Raises:
        MissingObject: ``VersionNotFound``.
    """
    items = await all_of(reader, SessionItem, session.id)
    changes = await all_of(reader, SessionChange, session.id)
    found = version_at(head, session.root_head, items, changes)
    if found is None:
        raise MissingObject(VERSION_NOT_FOUND)
    return found


async def go_to(writer: Writer, session: Session, version: Version) -> None:
    """Set the marks of items and facts to what they were at a version; the caller moves the head."""
    path, read = {item.id for item in version.path}, version.processed
    items = await all_of(writer, SessionItem, session.id)
    await _set(writer, items, {item.id: _item_marks(item, path, read) for item in items})
    facts = await all_of(writer, SessionFact, session.id)
    held = {fact.id for fact in latest(version, facts).values()}
    await _set(writer, facts, {fact.id: {"current": fact.id in held} for fact in facts})


async def copy_version(writer: Writer, deps: Deps, source: Session, fork: Session, version: Version) -> None:
    """Copy the versions that lead to one, and it, with their memory into a fork that was just written.

    Local ids of items, heads, times and what was read of them stay; states of facts get ids of their own.
    """
    read = version.processed
    await put_in(writer, fork, [_copied_item(fork, item, read) for item in version.path])
    made = {fact for change in version.kept for fact in change.facts}
    facts = [fact for fact in await all_of(writer, SessionFact, source.id) if fact.id in made]
    held = {fact.id for fact in latest(version, facts).values()}
    copies = {fact.id: _copied_fact(deps, fork, fact, current=fact.id in held) for fact in facts}
    await put_in(writer, fork, list(copies.values()))
    for links in _batches(citations(fork, copies.values())):
        await writer.link(links)
    new_ids: Mapping[str, str] = {old: copy.id for old, copy in copies.items()}
    for changes in _batches([_copied_change(deps, fork, change, new_ids) for change in version.kept]):
        await writer.put(changes)


async def all_of(reader: Reader, kind: type[N], session_id: NodeId) -> list[N]:
    """Return all nodes of a kind in a session, of every version."""
    found: list[N] = []
    after: After | None = None
    while True:
        query = Find(kind=kind, where=Eq("session_id", session_id), first=_BATCH, after=after)
        page = await reader.find(MEMORY, query)
        found += page.nodes
        if not page.more:
            return found
        after = page.places[-1]


def _item_marks(item: SessionItem, path: Collection[NodeId], read: Collection[str]) -> dict[str, bool]:
    current = item.id in path
    return {"current": current, "processed": current and local_part(item.id) in read}


async def _set(writer: Writer, nodes: Iterable[Node], marks: Mapping[NodeId, Mapping[str, bool]]) -> None:
    """Write the marks of those nodes whose marks change."""
    moved = [node.id for node in nodes if any(getattr(node, name) != value for name, value in marks[node.id].items())]
    for batch in _batches(moved):
        await writer.patch_many({id_: marks[id_] for id_ in batch})


def _copied_item(fork: Session, item: SessionItem, read: Collection[str]) -> SessionItem:
    local = local_part(item.id)
    return replace(
        item, id=item_id(fork, local), pool=fork.id, session_id=fork.id, current=True, processed=local in read
    )


def _copied_fact(deps: Deps, fork: Session, fact: SessionFact, *, current: bool) -> SessionFact:
    return replace(fact, id=deps.new_id(SessionFact.PREFIX), pool=fork.id, session_id=fork.id, current=current)


def _copied_change(deps: Deps, fork: Session, change: SessionChange, new_ids: Mapping[str, str]) -> SessionChange:
    return replace(
        change,
        id=deps.new_id(SessionChange.PREFIX),
        pool=fork.id,
        session_id=fork.id,
        facts=tuple(new_ids[fact] for fact in change.facts),
    )


def _batches(rows: Sequence[T]) -> Iterator[Sequence[T]]:
    return (rows[start : start + _BATCH] for start in range(0, len(rows), _BATCH))
