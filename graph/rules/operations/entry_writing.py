"""The steps that versions of entries and values of attributes are made of, put into a `Work`.

Nothing is checked here. Source: KN-31 to KN-33.
"""

from __future__ import annotations

from dataclasses import replace

from graph.model.edges import Edge, EdgeType
from graph.model.fields import Json
from graph.model.ids import NodeId
from graph.model.nodes.knowledge import Attribute, Entry, EntryVersion
from graph.rules.names import normalised_name
from graph.rules.operations.content import Validity
from graph.rules.operations.drafting import modified, placed, supersedes
from graph.rules.operations.naming import take_name
from graph.rules.operations.state import AttributeState, EntryState, FacetState, Support, support_edges
from graph.rules.operations.work import Work


def make_attribute(
    work: Work, entry: NodeId, key: str, value: Json, validity: Validity, rests_on: Support, *, number: int
) -> AttributeState:
    """Put a value of an attribute."""
    attribute = Attribute(
        id=work.new_id(Attribute.PREFIX),
        **placed(work),
        **modified(work),
        **validity.fields(),
        entry_id=entry,
        key=key,
        version=number,
        value=value,
        recorded_at=work.at,
    )
    work.changes.puts.append(attribute)
    work.changes.links.append(Edge(type=EdgeType.HAS_ATTRIBUTE, source=entry, target=attribute.id))
    work.changes.links += support_edges(attribute.id, rests_on, work.at)
    work.remember_roots(attribute.id, rests_on)
    return AttributeState(attribute=attribute, rests_on=rests_on)


def end_attribute(work: Work, state: AttributeState) -> None:
    """Believe a value of an attribute no more."""
    work.changes.patch(state.attribute.id, invalidated_at=work.at)


def touch_entry(work: Work, entry: NodeId) -> EntryState:
    """Note that an entry or a block of it was changed now."""
    state = work.entries[entry]
    changed = replace(state.entry, updated_at=work.at, last_modifier_id=work.actor.id)
    work.changes.patch(entry, updated_at=work.at, last_modifier_id=work.actor.id)
    work.changes.reguard.add(entry)
    work.entries[entry] = replace(state, entry=changed)
    return work.entries[entry]


def next_entry_version(work: Work, state: EntryState) -> EntryState:
    """Give an entry whose name, type, aliases, summary or attributes changed its next version."""
    number = state.entry.current_version + 1
    work.changes.patch(state.version.id, invalidated_at=work.at)
    version = put_entry_version(work, state, number)
    work.changes.links.append(supersedes(version.id, state.version.id, None, work.reason))
    work.changes.patch(
        state.id,
        name=state.entry.name,
        live_name=state.entry.live_name,
        type=state.entry.type,
        current_version=number,
    )
    work.entries[state.id] = replace(state, version=version, entry=replace(state.entry, current_version=number))
    return touch_entry(work, state.id)


def place_entry(
    work: Work,
    id_: NodeId,
    name: str,
    type_: str,
    *,
    origin: str,
    read_only: bool = False,
    principal: NodeId | None = None,
) -> Entry:
    """Put a new entry into the base that is written, and take its name."""
    entry = Entry(
        id=id_,
        **placed(work),
        owner_id=work.state.base.owner_id,
        live_name=take_name(work, id_, name),
        name=name,
        type=type_,
        origin=origin,
        read_only=read_only,
        updated_at=work.at,
        last_modifier_id=work.actor.id,
        principal_id=principal,
    )
    work.changes.puts.append(entry)
    work.changes.links.append(Edge(type=EdgeType.CONTAINS, source=work.pool, target=id_))
    return entry


def with_first_version(
    work: Work, entry: Entry, name: FacetState, aliases: tuple[FacetState, ...] = (), summary: FacetState | None = None
) -> EntryState:
    """Return the state of a new entry, and put its first version."""
    unversioned = EntryVersion(
        id=NodeId(""),
        workspace=entry.workspace,
        created_at=work.at,
        entry_id=entry.id,
        version=0,
        name=entry.name,
        norm_name=normalised_name(entry.name),
        type=entry.type,
        recorded_at=work.at,
        modifier_id=work.actor.id,
        modifier_kind=work.actor.kind,
    )
    state = EntryState(entry=entry, version=unversioned, name=name, aliases=aliases, summary=summary)
    return replace(state, version=put_entry_version(work, state, 1))


def put_entry_version(work: Work, state: EntryState, number: int) -> EntryVersion:
    """Put the version that says what an entry is called and what it is now."""
    version = EntryVersion(
        id=work.new_id(EntryVersion.PREFIX),
        **placed(work),
        **modified(work),
        entry_id=state.id,
        version=number,
        name=state.entry.name,
        norm_name=normalised_name(state.entry.name),
        type=state.entry.type,
        aliases=tuple(alias.facet.value for alias in state.aliases),
        summary=state.summary.facet.value if state.summary else "",
        recorded_at=work.at,
    )
    work.changes.puts.append(version)
    work.changes.links.append(Edge(type=EdgeType.HAS_VERSION, source=state.id, target=version.id))
    work.changes.links.append(Edge(type=EdgeType.SHOWN_BY, source=version.id, target=state.name.facet.id))
    return version
