"""Restoring a relation: its validity and its evidence. Source: KN-26 to KN-31, KN-94."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from graph.model.ids import NodeId
from graph.model.nodes.knowledge import Relation
from graph.rules.images import Image
from graph.rules.operations.drafting import supersedes
from graph.rules.operations.entry_writing import touch_entry
from graph.rules.operations.relation_writing import put_relation_version, relates, retract_relation, revise_relation
from graph.rules.operations.state import Cited, RelationState, Support, cites
from graph.rules.restore_past import evidence_of, validity_of_image
from graph.rules.restore_step import Step
from graph.rules.restore_world import is_edit


class RelationStep(Step):
    """A step on a relation."""

    def run(self) -> None:
        """End, edit or revive the relation."""
        restored = self.step.restored
        if restored is None:
            state = self.work.relations[self.target]
            self.past.note_relation(state)
            retract_relation(self.work, state)
            self._touch_subject(state.relation)
        elif is_edit(self.step.record):
            self._edit_relation(self.work.relations[self.target], restored)
        else:
            self.revive(self.target, restored)
            self._touch_subject(self.work.relations[self.target].relation)

    def revive(self, id_: NodeId, image: Mapping[str, Any]) -> None:
        """Give a relation that ended its next version."""
        known = self.past.relations[id_]
        number = known.version.version + 1
        relation = replace(known.relation, current=True, current_version=number)
        self.work.changes.patch(id_, current=True, current_version=number)
        validity = validity_of_image(image)
        version = put_relation_version(self.work, relation, validity, image.get("attributes"), number=number)
        self.work.changes.links.append(supersedes(version.id, known.version.id, None, self.work.reason))
        evidence = self._cite(id_, known.evidence, evidence_of(image["evidence"]))
        state = RelationState(relation=relation, version=version, evidence=evidence)
        self.work.changes.links.append(relates(state))
        self.work.relations[id_] = state
        self.work.visible.add(id_)

    def _edit_relation(self, state: RelationState, image: Image) -> None:
        if "evidence" in image:
            evidence = self._cite(state.id, state.evidence, evidence_of(image["evidence"]))
            state = replace(state, evidence=evidence)
            self.work.relations[state.id] = state
        if "validFrom" in image:
            state = revise_relation(self.work, state, validity_of_image(image))
        self._touch_subject(state.relation)

    def _cite(self, holder: NodeId, present: Sequence[Cited], wanted: tuple[Cited, ...]) -> tuple[Cited, ...]:
        changes = self.work.changes
        changes.unlinks += [cites(holder, cited, self.work.at) for cited in present if cited not in wanted]
        changes.links += [cites(holder, cited, self.work.at) for cited in wanted if cited not in present]
        changes.touched.add(holder)
        self.work.remember_roots(holder, Support(citations=wanted))
        return wanted

    def _touch_subject(self, relation: Relation) -> None:
        if relation.subject_id in self.work.entries:
            touch_entry(self.work, relation.subject_id)
