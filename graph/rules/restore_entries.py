"""Restoring an entry: its name, aliases, summary and type return as its next version. Source: KN-23, KN-94, KN-101."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from graph.model.edges import Edge, EdgeType
from graph.model.ids import NodeId
from graph.model.nodes.knowledge import FacetField
from graph.rules.images import BLOCKS, RELATIONS, Image, same_image
from graph.rules.operations import imaging
from graph.rules.operations.drafting import supersedes
from graph.rules.operations.ending import end_entry
from graph.rules.operations.entry_writing import next_entry_version, put_entry_version, touch_entry
from graph.rules.operations.facet_writing import end_facet, make_facet
from graph.rules.operations.naming import take_name
from graph.rules.operations.state import EntryState, FacetState, Support
from graph.rules.restore_blocks import BlockStep
from graph.rules.restore_past import EntryPast, attributes_of_image, past_of_image, support_of_image
from graph.rules.restore_relations import RelationStep
from graph.rules.restore_step import Step
from graph.rules.restore_values import PointerStep, ValueStep, optional_id
from graph.rules.restore_world import is_edit


class EntryStep(Step):
    """A step on an entry."""

    def run(self) -> None:
        """End, edit or revive the entry."""
        restored = self.step.restored
        if restored is None:
            self._end_entry()
        elif is_edit(self.step.record):
            self._edit_entry(self.work.entries[self.target], restored)
        else:
            self._revive_entry(restored)

    def _end_entry(self) -> None:
        state = self.work.entries[self.target]
        for block in self.work.blocks_of(state.id):
            self.past.note_block(block)
        for relation in self.work.relations_of(state.id):
            self.past.note_relation(relation)
        self.past.note_entry(state)
        end_entry(self.work, state)

    def _revive_entry(self, image: Image) -> None:
        known = self.past.entries[self.target]
        name = self._facet(known, FacetField.NAME, image["name"], image["nameSupport"])
        entry = replace(
            known.entry,
            name=image["name"],
            live_name=take_name(self.work, self.target, image["name"]),
            type=image["type"],
            current_version=known.version.version + 1,
            deleted_at=None,
            principal_id=optional_id(image.get("principalId")),
        )
        state = EntryState(
            entry=entry,
            version=known.version,
            name=name,
            aliases=tuple(self._aliases(known, image["aliases"])),
            summary=self._summary(known, image),
            distinct_from=known.distinct_from,
            same_as=known.same_as,
        )
        self._show_by(known.shown_by, name)
        state = self._pointers.point(state, image)
        for key in sorted({*attributes_of_image(image), *past_of_image(image)}):
            state = self._values.set(state, known, key, image)
        version = put_entry_version(self.work, state, entry.current_version)
        self.work.changes.links.append(supersedes(version.id, known.version.id, None, self.work.reason))
        self.work.changes.patch(
            entry.id,
            name=entry.name,
            live_name=entry.live_name,
            type=entry.type,
            current_version=entry.current_version,
            deleted_at=None,
            principal_id=entry.principal_id,
        )
        self.work.entries[entry.id] = replace(state, version=version)
        touch_entry(self.work, entry.id)
        self._revive_parts(image)
        self.past.note_entry(self.work.entries[entry.id])

    def _revive_parts(self, image: Image) -> None:
        blocks = BlockStep(self.work, self.past, self.step)
        relations = RelationStep(self.work, self.past, self.step)
        for id_, block in image[BLOCKS].items():
            blocks.revive(NodeId(id_), block)
        for id_, relation in image[RELATIONS].items():
            relations.revive(NodeId(id_), relation)

    def _edit_entry(self, state: EntryState, image: Image) -> None:
        known = self.past.entries[self.target]
        after = self._renamed(state, known, image)
        if "aliases" in image:
            after = replace(after, aliases=tuple(self._aliases(known, image["aliases"], after.aliases)))
        if "summary" in image and not same_image(imaging.summary(after.summary), _summary_image(image)):
            if after.summary is not None:
                end_facet(self.work, after.summary)
            after = replace(after, summary=self._summary(known, image))
        if "type" in image:
            after = replace(after, entry=replace(after.entry, type=image["type"]))
        for key in sorted({*attributes_of_image(image), *past_of_image(image)}):
            after = self._values.set(after, known, key, image)
        after = self._pointers.point(after, image)
        next_entry_version(self.work, after)
        self.past.note_entry(self.work.entries[self.target])

    def _renamed(self, state: EntryState, known: EntryPast, image: Image) -> EntryState:
        if "name" not in image or same_image(imaging.name(state.name), _only(image, "name", "nameSupport")):
            return state
        more = state.name.gathered
        name = self._facet(known, FacetField.NAME, image["name"], image["nameSupport"], more)
        end_facet(self.work, state.name)
        self._show_by((state.name.facet.id,), name)
        live_name = take_name(self.work, state.id, image["name"], old=state.entry.name)
        return replace(state, name=name, entry=replace(state.entry, name=image["name"], live_name=live_name))

    def _show_by(self, old: Iterable[NodeId], name: FacetState) -> None:
        changes = self.work.changes
        shown_by = [Edge(type=EdgeType.SHOWN_BY, source=self.target, target=facet) for facet in old]
        changes.unlinks += shown_by
        changes.links.append(Edge(type=EdgeType.SHOWN_BY, source=self.target, target=name.facet.id))
        changes.touched.add(self.target)

    def _facet(
        self, known: EntryPast, kind: FacetField, value: str, rests_on: Image, gathered: Support | None = None
    ) -> FacetState:
        """Put a name or alias again, with the evidence that its last life had gathered, and `gathered` besides."""
        last = known.last_facet(kind, value, rests_on)
        more = (last.gathered if last else Support()).union(gathered or Support())
        return make_facet(self.work, self.target, kind, value, support_of_image(rests_on), more)

    def _aliases(
        self, known: EntryPast, images: Sequence[Image], present: Sequence[FacetState] = ()
    ) -> list[FacetState]:
        """Return the aliases of an image; those that are there already stay, others of the present end."""
        kept: list[FacetState] = []
        for image in images:
            rests_on = _only(image, "citations", "derivedFrom")
            same = (s for s in present if s.facet.value == image["alias"] and s not in kept)
            found = next((s for s in same if same_image(imaging.support(s.rests_on), rests_on)), None)
            kept.append(found or self._facet(known, FacetField.ALIAS, image["alias"], rests_on))
        for state in present:
            if state not in kept:
                end_facet(self.work, state)
        return kept

    def _summary(self, known: EntryPast, image: Image) -> FacetState | None:
        """Put a summary again; one that a person typed rests on his note, which no image of a summary names."""
        value = image.get("summary") or ""
        if not value:
            return None
        last = known.last_facet(FacetField.SUMMARY, value, _summary_image(image))
        rests_on = last.rests_on if last else Support(derived_from=tuple(map(NodeId, image["summaryFrom"])))
        return make_facet(self.work, self.target, FacetField.SUMMARY, value, rests_on)

    @property
    def _values(self) -> ValueStep:
        return ValueStep(self.work, self.past, self.step)

    @property
    def _pointers(self) -> PointerStep:
        return PointerStep(self.work, self.past, self.step)


def _summary_image(image: Image) -> Image:
    return _only(image, "summary", "summaryFrom")


def _only(image: Mapping[str, Any], *keys: str) -> Image:
    return {key: image[key] for key in keys if key in image}
