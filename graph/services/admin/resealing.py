"""Sealing anew what an older key sealed: only data keys are wrapped anew, no text is opened (AD-30).

It goes through all nodes with sealed fields in the order of their ids, a batch a transaction, while others read and
write. What was done shows in the nodes themselves, so that it may be cut off and begun again anywhere.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from graph.model.access import SystemScope
from graph.model.errors import SealBroken, StoreKeyMissing
from graph.model.fields import Node
from graph.model.ids import NodeId, WorkspaceId
from graph.model.schema import KindSpec, kinds
from graph.model.sealed import Sealed
from graph.services.deps import Deps
from graph.store.port import Reader, Writer
from graph.store.query import After, Find
from graph.store.sealing import Vault, key_id_of

T = TypeVar("T")

RESEALING = SystemScope(reason="sealing with a newer key")
BATCH = 500
"""So many nodes a transaction: other writers wait for no more than these."""

Commit = Callable[[Callable[[Writer], Awaitable["Resealed"]]], Awaitable["Resealed"]]
"""Runs work in a transaction; a job's checks its lease."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Resealed:
    """How far it has come.

    Attributes:
        kind, after: the place to go on from: a kind and the id of the last node that was looked at; empty: the begin.
        done, total: nodes looked at, of how many.
        moved: nodes that were sealed anew.
        broken: ids of nodes that hold a text which no key of the keyring opens.
    """

    kind: str = ""
    after: str = ""
    done: int = 0
    total: int = 0
    moved: int = 0
    broken: tuple[NodeId, ...] = ()


def sealing_kinds() -> Sequence[KindSpec]:
    """Return the kinds of nodes that have sealed fields, in the order of their names."""
    return [spec for _, spec in sorted(kinds().items()) if any(field.sealed for field in spec.fields)]


async def reseal_workspace(
    deps: Deps,
    workspace: WorkspaceId,
    key_id: str,
    commit: Commit,
    *,
    begun: Resealed | None = None,
    note: Callable[[Writer, Resealed], Awaitable[None]] | None = None,
) -> Resealed:
    """Seal everything of a workspace with its newest key.

    Args:
        deps: whose keyring has `key_id` as its newest key.
        workspace: whose nodes.
        key_id: the key that everything shall be sealed with.
        commit: runs a batch in a transaction.
        begun: how far an earlier try came.
        note: writes down in the transaction of a batch how far it came.
    """
    scope = replace(RESEALING, workspace=workspace)
    state = begun or Resealed(total=await _count(deps, scope))
    for spec in sealing_kinds():
        if spec.name < state.kind:
            continue
        more = True
        while more:
            state, more = await _batch(deps, scope, spec, key_id, state, commit, note)
    return state


async def _batch(
    deps: Deps,
    scope: SystemScope,
    spec: KindSpec,
    key_id: str,
    state: Resealed,
    commit: Commit,
    note: Callable[[Writer, Resealed], Awaitable[None]] | None,
) -> tuple[Resealed, bool]:
    """Look at the next nodes of a kind; return the new state and whether others follow."""
    after = After(NodeId(state.after), NodeId(state.after)) if state.kind == spec.name and state.after else None
    async with deps.store.reading() as reader:
        page = await reader.find(scope, Find(kind=spec.node, first=BATCH, after=after))
    if not page.nodes:
        return replace(state, kind=spec.name, after=""), False
    old = [node.id for node in page.nodes if any(_needs(sealed, key_id) for _, sealed in sealed_fields(spec, node))]
    seen = replace(state, kind=spec.name, after=page.nodes[-1].id, done=state.done + len(page.nodes))
    if not old:
        return seen, page.more

    async def write(writer: Writer) -> Resealed:
        await writer.lock(old)
        changes, broken = await _rewrapped(writer, deps.vault, scope, spec, old, key_id)
        await writer.patch_many(changes)
        now = replace(seen, moved=seen.moved + len(changes), broken=(*seen.broken, *broken))
        if note is not None:
            await note(writer, now)
        return now

    return await commit(write), page.more


async def _rewrapped(
    reader: Reader, vault: Vault, scope: SystemScope, spec: KindSpec, ids: Sequence[NodeId], key_id: str
) -> tuple[dict[NodeId, Mapping[str, Any]], list[NodeId]]:
    """Return the fields to set, read under the lock, and the nodes that no key opens."""
    changes: dict[NodeId, Mapping[str, Any]] = {}
    broken = []
    for node in (await reader.get(scope, ids)).values():
        fields: dict[str, Any] = {}
        for name, sealed in sealed_fields(spec, node):
            if not _needs(sealed, key_id):
                continue
            try:
                fields[name] = vault.rewrap(node.workspace, node.id, name, sealed)
            except (SealBroken, StoreKeyMissing):
                broken.append(node.id)
        if fields:
            changes[node.id] = fields
    return changes, broken


def sealed_fields(spec: KindSpec, node: Node) -> list[tuple[str, Sealed]]:
    """Return the sealed values of a node by the names of their fields."""
    values = ((field.name, getattr(node, field.name)) for field in spec.fields if field.sealed)
    return [(name, value) for name, value in values if isinstance(value, Sealed)]


def _needs(sealed: Sealed, key_id: str) -> bool:
    try:
        return key_id_of(sealed) != key_id
    except SealBroken:
        return True


async def _count(deps: Deps, scope: SystemScope) -> int:
    async with deps.store.reading() as reader:
        return sum([(await reader.aggregate(scope, spec.node)).get(None, 0) for spec in sealing_kinds()])
