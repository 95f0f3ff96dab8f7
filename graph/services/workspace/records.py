"""The records of record memories, which the service keeps no copy of (RM-16, RM-29 to RM-43, RM-70 to RM-76).

A write is sent once, read back, and audited only then; what the backend does not confirm is told as such.
"""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from graph.model.access import SystemScope
from graph.model.errors import RecordsFailed, RootwardError, StoreError
from graph.model.nodes.workspace import MemoryProvider, WorkspaceMemory
from graph.ports import RecordAccount, RecordWire, StoredRecord
from graph.rules.memory_refusals import conflicting, missing
from graph.rules.record_texts import (
    KIND,
    checked_nearest,
    checked_query,
    checked_record_id,
    checked_text,
    cursor_of,
    offset_of,
)
from graph.rules.workspace_ids import outside
from graph.services.access.commands import Command, command
from graph.services.deps import Deps
from graph.services.workspace.changing import Actor, note
from graph.services.workspace.finding import find_memory
from graph.services.workspace.providers import account_of, disabled, unavailable, wire_of
from graph.services.workspace.records_port import Record, RecordActor, RecordPage

T = TypeVar("T")

BACKENDS: Final = SystemScope(reason="the backend of a memory whose verbs are checked")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Backend:
    """Where the records of one memory are."""

    memory: WorkspaceMemory
    wire: RecordWire
    account: RecordAccount
    namespace: str

    def owns(self, record: StoredRecord | None) -> bool:
        """Return whether a record is one of the memory: ids of a backend know no namespace (RM-73)."""
        return record is not None and record.namespace == self.namespace

    async def reading(self, call: Awaitable[T]) -> T:
        """Return what a read gives (RM-76)."""
        try:
            return await call
        except RecordsFailed:
            raise unavailable(self.memory.type) from None

    async def writing(self, call: Awaitable[T], record_id: str = "") -> T:
        """Return what a write gives; unless it was refused, its outcome is open (RM-37, RM-76)."""
        try:
            return await call
        except RecordsFailed as error:
            if error.status == 404 and record_id:
                raise missing(KIND, record_id) from None
            refused = error.status is not None and 400 <= error.status < 500
            if refused or error.reason == "denied":
                raise unavailable(self.memory.type) from None
            raise self.unconfirmed() from None

    async def confirm(self, record_id: str, text: str | None) -> StoredRecord | None:
        """Read a record back and see that it is there with this text, or gone for None (RM-72)."""
        try:
            found = await self.wire.find(self.account, record_id)
        except RecordsFailed:
            raise self.unconfirmed() from None
        if (None if found is None else found.text) != text or (found is not None and not self.owns(found)):
            raise self.unconfirmed()
        return found

    async def must_own(self, record_id: str) -> None:
        """Refuse a record that is not there, or another namespace's; nothing else was sent (RM-40, RM-73)."""
        if not self.owns(await self.reading(self.wire.find(self.account, record_id))):
            raise missing(KIND, record_id)

    def unconfirmed(self) -> RootwardError:
        """Return the refusal of a write whose outcome is open."""
        return conflicting("memory", outside(self.memory.id), "write_unconfirmed")


@dataclass(frozen=True, kw_only=True, slots=True)
class ProviderRecords:
    """The records of memories at their providers: the port `RecordBackend`."""

    deps: Deps

    async def search(self, memory: WorkspaceMemory, query: str, *, limit: int) -> Sequence[Record]:
        """Return the records nearest to a query, nearest first."""
        asked, most = checked_query(query), checked_nearest(limit)
        at = await self._backend(memory)
        found = await at.reading(at.wire.search(at.account, at.namespace, asked, limit=most))
        own = sorted(filter(at.owns, found), key=_nearness, reverse=True)
        return [_shown(record) for record in own[:most]]

    async def list(self, memory: WorkspaceMemory, *, limit: int, cursor: str | None = None) -> RecordPage:
        """Return records in the order of the backend."""
        offset = offset_of(memory.id, cursor)
        at = await self._backend(memory)
        part = await at.reading(at.wire.browse(at.account, at.namespace, offset=offset, limit=limit))
        owned = [(record, place) for place, record in enumerate(part.records, offset + 1) if at.owns(record)]
        return RecordPage(
            records=[replace(_shown(record), score=None) for record, _ in owned],
            places=[cursor_of(memory.id, place) for _, place in owned],
            next_cursor=cursor_of(memory.id, offset + limit) if part.more else None,
        )

    async def add(self, memory: WorkspaceMemory, text: str, actor: RecordActor) -> Record:
        """Add a record, verbatim."""
        given = checked_text(text, self.deps.memory_limits)
        at = await self._backend(memory)
        record_id = await at.writing(at.wire.add(at.account, at.namespace, given))
        return await self._confirmed(at, record_id, given, actor, "memory.record.create")

    async def update(self, memory: WorkspaceMemory, record_id: str, text: str, actor: RecordActor) -> Record:
        """Replace the whole text of a record."""
        id_, given = checked_record_id(record_id), checked_text(text, self.deps.memory_limits)
        at = await self._backend(memory)
        await at.must_own(id_)
        await at.writing(at.wire.update(at.account, id_, given), id_)
        return await self._confirmed(at, id_, given, actor, "memory.record.update")

    async def delete(self, memory: WorkspaceMemory, record_id: str, actor: RecordActor) -> None:
        """Delete a record."""
        id_ = checked_record_id(record_id)
        at = await self._backend(memory)
        await at.must_own(id_)
        await at.writing(at.wire.delete(at.account, id_), id_)
        await at.confirm(id_, None)
        await self._note(at, actor, "memory.record.delete", id_)

    async def _backend(self, memory: WorkspaceMemory) -> _Backend:
        """Return where the records of a memory are.

        Raises:
            WorkspaceRefused: ``disabled``, ``unavailable``.
        """
        assert memory.provider_id is not None, "a file memory has no records"
        assert memory.namespace is not None
        async with self.deps.store.reading() as reader:
            provider = (await reader.get(BACKENDS, [memory.provider_id])).get(memory.provider_id)
        if not isinstance(provider, MemoryProvider):
            raise unavailable(memory.type)
        if not provider.enabled:
            raise disabled(provider)
        try:
            wire = wire_of(self.deps)
        except RecordsFailed:
            raise unavailable(memory.type) from None
        account = account_of(self.deps, provider)
        return _Backend(memory=memory, wire=wire, account=account, namespace=memory.namespace)

    async def _confirmed(self, at: _Backend, id_: str, text: str, actor: RecordActor, operation: str) -> Record:
        found = await at.confirm(id_, text)
        await self._note(at, actor, operation, id_)
        updated_at = None if found is None else found.updated_at
        return Record(id=id_, text=text, updated_at=updated_at)

    async def _note(self, at: _Backend, actor: RecordActor, operation: str, record_id: str) -> None:
        """Audit a change that the backend confirmed, whatever rights were lost meanwhile (RM-43).

        Where that fails nobody may be told to send the change again, as of a store that is away (RM-37).
        """
        memory = at.memory
        who = Actor(principal_id=actor.principal_id, run_id=actor.run_id, tool_call_id=actor.tool_call_id)

        async def work(cmd: Command) -> None:
            await cmd.writer.lock([memory.id])
            held = await find_memory(cmd.writer, cmd.facts, memory.id)
            await note(cmd, held, who, operation, memory.id, {"record_id": record_id})

        try:
            await command(self.deps, actor.caller, work)
        except StoreError as error:
            raise at.unconfirmed() from error


def _nearness(record: StoredRecord) -> float:
    return -1.0 if record.score is None else record.score


def _shown(record: StoredRecord) -> Record:
    return Record(id=record.id, text=record.text, score=record.score, updated_at=record.updated_at)
