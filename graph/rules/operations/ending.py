"""Ending a whole entry with its blocks and relations, for a deletion, a merge or a restore. Source: KN-36."""

from __future__ import annotations

from graph.rules.operations.block_writing import end_block
from graph.rules.operations.entry_writing import end_attribute
from graph.rules.operations.facet_writing import end_facet
from graph.rules.operations.relation_writing import retract_relation
from graph.rules.operations.state import EntryState
from graph.rules.operations.work import Work


def end_entry(work: Work, state: EntryState) -> None:
    """End an entry with everything that is current in it; it gives up its name and leaves lists and search.

    Nothing is removed: history stays readable, and a restore brings all of it back. Relations of other knowledge
    bases that lead here stay as they are; they show only where both ends are live.
    """
    for block in work.blocks_of(state.id):
        end_block(work, block)
    for relation in work.relations_of(state.id):
        retract_relation(work, relation)
    for facet in (*state.facets, *([state.summary] if state.summary else [])):
        end_facet(work, facet)
    for value in state.values:
        end_attribute(work, value)
    work.changes.patch(state.version.id, invalidated_at=work.at)
    work.changes.patch(state.id, live_name=None, deleted_at=work.at, updated_at=work.at, last_modifier_id=work.actor.id)
    work.changes.reguard.add(state.id)
    del work.entries[state.id]
    work.names = {name: owner for name, owner in work.names.items() if owner.entry != state.id}
    work.same_names = {key: owner for key, owner in work.same_names.items() if owner != state.id}
