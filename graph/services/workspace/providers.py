"""Memory providers: accounts of record backends, managed per workspace (RM-1 to RM-15).

Their steps are in the chain of administration. The credential is sealed, and opened for a call alone.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from graph.model.access import SystemScope
from graph.model.errors import RecordsFailed, WorkspaceRefused
from graph.model.ids import NodeId
from graph.model.nodes.people import Right
from graph.model.nodes.workspace import MemoryProvider, WorkspaceMemory
from graph.model.sealed import Sealed
from graph.ports import RecordAccount, RecordWire
from graph.rules.admin_chain import AdminOperation
from graph.rules.memory_fields import checked_name
from graph.rules.memory_refusals import invalid, missing, stale
from graph.rules.record_namespaces import PROBE
from graph.rules.record_providers import checked_config, checked_key, checked_type
from graph.rules.scopes import workspace_rule
from graph.rules.workspace_ids import inside, outside, tag_of
from graph.services.access.admin_log import record_admin
from graph.services.access.caller import workspace_node
from graph.services.access.commands import Command
from graph.services.access.guards import put_alone
from graph.services.access.session import Session as Reading
from graph.services.deps import Deps
from graph.services.knowledge.listing import Listing
from graph.services.workspace.finding import require_verb
from graph.services.workspace.records_port import RecordBackend
from graph.store.port import Reader
from graph.store.query import After, Eq, Find
from graph.store.sealing import Place

KIND: Final = "memory_provider"
PROVIDERS: Final = SystemScope(reason="a memory provider of a workspace whose verbs are checked")
DENIED: Final = "provider_endpoint_denied"
_REJECTED: Final = (401, 403)


@dataclass(frozen=True, kw_only=True, slots=True)
class NewProvider:
    """What a client asks for (RM-2).

    Attributes:
        key: its `credential.api_key`.
    """

    type: str
    name: str
    config: Mapping[str, Any]
    key: str | None = None
    enabled: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Probe:
    """What a test of a provider found; `message` is a code of ours (RM-14)."""

    provider: MemoryProvider
    status: str
    message: str


def provider_tag(provider: MemoryProvider) -> str:
    """Return the ETag of a provider."""
    return tag_of(provider.id, provider.version)


async def find_provider(reader: Reader, workspace: str, given: str) -> MemoryProvider:
    """Return a provider by the id that clients see.

    Raises:
        WorkspaceRefused: ``not_found``: unknown, or of another workspace.
    """
    id_ = inside(MemoryProvider.PREFIX, given)
    found = (await reader.get(PROVIDERS, [id_])).get(id_) if id_ else None
    if not isinstance(found, MemoryProvider) or found.workspace != workspace:
        raise missing(KIND, given)
    return found


async def open_provider(reading: Reading, given: str, verb: Right) -> MemoryProvider:
    """Return a provider for a caller with a verb on the workspace.

    Raises:
        WorkspaceRefused: ``not_found``, ``forbidden``, in this order.
    """
    found = await find_provider(reading.reader, reading.facts.workspace, given)
    require_verb(reading.facts, None, verb)
    return found


async def list_providers(reading: Reading, *, first: int, after: After | None = None) -> Listing[MemoryProvider]:
    """Return the providers of the workspace by id.

    Raises:
        WorkspaceRefused: ``forbidden``.
    """
    require_verb(reading.facts, None, Right.READ)
    where = Eq("workspace", reading.facts.workspace)
    page = await reading.reader.find(PROVIDERS, Find(kind=MemoryProvider, where=where, first=first, after=after))

    async def count() -> int:
        return (await reading.reader.aggregate(PROVIDERS, MemoryProvider, where)).get(None, 0)

    return Listing(items=page.nodes, places=page.places, more=page.more, count=count)


async def create_provider(cmd: Command, new: NewProvider) -> MemoryProvider:
    """Make a provider; nothing is connected to.

    Raises:
        WorkspaceRefused: ``forbidden``, ``invalid_argument`` at the field.
    """
    require_verb(cmd.facts, None, Right.WRITE)
    type_ = checked_type(new.type)
    name, config = checked_name(new.name), checked_config(type_, new.config)
    key = checked_key(type_, new.key)
    id_ = cmd.deps.new_id(MemoryProvider.PREFIX)
    provider = MemoryProvider(
        id=id_,
        workspace=cmd.caller.workspace,
        created_at=cmd.at,
        type=type_,
        name=name,
        config=config,
        credential=_sealed(cmd.deps, cmd.caller.workspace, id_, key, 1),
        credential_version=int(key is not None),
        enabled=new.enabled,
        updated_at=cmd.at,
    )
    await put_alone(cmd.writer, provider, frozenset({workspace_rule(workspace_node(provider.workspace))}))
    await record_admin(cmd, AdminOperation.MEMORY_PROVIDER_CREATE, id_, {"type": type_})
    return provider


async def change_provider(cmd: Command, id_: NodeId, tags: Collection[str], given: Mapping[str, Any]) -> MemoryProvider:
    """Change some of `name`, `config`, `key` (None removes it), `enabled`; what is the same is no change.

    Raises:
        WorkspaceRefused: ``not_found``, ``forbidden``, ``precondition_failed``, ``invalid_argument`` at the field.
    """
    await find_provider(cmd.writer, cmd.caller.workspace, outside(id_))  # nothing is locked for ids that name nothing
    await cmd.writer.lock([id_])
    provider = await find_provider(cmd.writer, cmd.caller.workspace, outside(id_))
    require_verb(cmd.facts, None, Right.WRITE)
    if provider_tag(provider) not in tags:
        raise stale(provider_tag(provider))
    changes = _changes(cmd.deps, provider, given)
    if not changes:
        return provider
    fields = {**changes, "version": provider.version + 1, "updated_at": cmd.at}
    await cmd.writer.patch_many({id_: fields})
    codes = {"fields": sorted(changes.keys() - {"credential_version"})}
    await record_admin(cmd, AdminOperation.MEMORY_PROVIDER_SET, id_, codes)
    return replace(provider, **fields)


async def probe_provider(deps: Deps, provider: MemoryProvider) -> Probe:
    """List one page of a namespace that no memory has, to see whether address and key are right (RM-13, RM-14)."""
    try:
        await wire_of(deps).browse(account_of(deps, provider), PROBE, offset=0, limit=1)
    except RecordsFailed as error:
        status = "unsupported" if error.reason == "unsupported" else "failed"
        return Probe(provider=provider, status=status, message=_message(error))
    return Probe(provider=provider, status="succeeded", message="the provider answered")


def wire_of(deps: Deps) -> RecordWire:
    """Return what speaks to backends.

    Raises:
        RecordsFailed: ``unsupported``: this process has nothing that does.
    """
    if deps.record_wire is None:
        raise RecordsFailed("unsupported")
    return deps.record_wire


def account_of(deps: Deps, provider: MemoryProvider) -> RecordAccount:
    """Return the account that a provider is, with its key."""
    config = provider.config if isinstance(provider.config, dict) else {}
    return RecordAccount(type=provider.type, base_url=str(config["base_url"]), key=_key_of(deps, provider))


def backend_of(deps: Deps, memory: WorkspaceMemory) -> RecordBackend:
    """Return what reads and changes the records of a memory.

    Raises:
        WorkspaceRefused: ``unavailable``: this process has nothing that does.
    """
    if deps.records is None:
        raise unavailable(memory.type)
    return deps.records


def unavailable(type_: str) -> WorkspaceRefused:
    """Return the refusal of a backend that cannot answer (RM-38)."""
    return WorkspaceRefused("unavailable", "the backend of the records cannot answer", dependency=f"memory:{type_}")


def disabled(provider: MemoryProvider) -> WorkspaceRefused:
    """Return the refusal of a provider that is switched off (RM-39)."""
    return WorkspaceRefused("disabled", "the memory provider is disabled", kind=KIND, id=outside(provider.id))


def _changes(deps: Deps, provider: MemoryProvider, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the new values of fields that differ."""
    wanted: dict[str, Any] = {}
    if "name" in given:
        wanted["name"] = checked_name(given["name"])
    if "config" in given:
        wanted["config"] = checked_config(provider.type, given["config"])
    if "enabled" in given:
        wanted["enabled"] = given["enabled"]
    changes = {name: value for name, value in wanted.items() if value != getattr(provider, name)}
    # A key must not go to an address that whoever gave it never saw (RM-11).
    if "config" in changes and provider.credential is not None and "key" not in given:
        raise invalid("credential", "is given again when config changes")
    if "key" in given:
        changes |= _new_key(deps, provider, checked_key(provider.type, given["key"]))
    return changes


def _new_key(deps: Deps, provider: MemoryProvider, key: str | None) -> dict[str, Any]:
    if key == _key_of(deps, provider):
        return {}
    version = provider.credential_version + 1
    sealed = _sealed(deps, provider.workspace, provider.id, key, version)
    return {"credential": sealed, "credential_version": version}


def _key_of(deps: Deps, provider: MemoryProvider) -> str | None:
    if provider.credential is None:
        return None
    return deps.vault.open(_place(provider.workspace, provider.id, provider.credential_version), provider.credential)


def _sealed(deps: Deps, workspace: str, id_: NodeId, key: str | None, version: int) -> Sealed | None:
    return None if key is None else deps.vault.seal(_place(workspace, id_, version), key)


def _place(workspace: str, id_: NodeId, version: int) -> Place:
    return Place(workspace=workspace, node=id_, field="credential", version=version)


def _message(error: RecordsFailed) -> str:
    if error.reason == "denied":
        return DENIED
    if error.status in _REJECTED:
        return "provider_credential_rejected"
    return "provider_unsupported" if error.reason == "unsupported" else "provider_unavailable"
