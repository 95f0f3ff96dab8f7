"""Carrying out the steps of a restore: every value that returns is a new version of the same object.

`graph.rules.restore` has decided what may return; here nothing is checked. Made of the same steps as the operations
(`graph.rules.operations`). Source: KN-23, KN-94, KN-101, KN-102.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from graph.model.edges import Edge, EdgeType
from graph.model.ids import NodeId, prefix_of
from graph.model.nodes.knowledge import Block, CurationGuide, Entry, FacetField, Relation
from graph.model.nodes.learning import Lesson, ResidentMemo
from graph.rules.images import BLOCKS, RELATIONS, Image, same_image
from graph.rules.operations import imaging
from graph.rules.operations.block_writing import TEXT_OF_BLOCK, edit_block, end_block, put_version
from graph.rules.operations.drafting import supersedes
from graph.rules.operations.ending import end_entry
from graph.rules.operations.entry_writing import (
    end_attribute,
    make_attribute,
    next_entry_version,
    put_entry_version,
    touch_entry,
)
from graph.rules.operations.facet_writing import end_facet, gather, make_facet
from graph.rules.operations.memo import check_budget, put_lines
from graph.rules.operations.naming import take_name
from graph.rules.operations.relation_writing import put_relation_version, relates, retract_relation, revise_relation
from graph.rules.operations.skills import check_room, end_lesson, put_lesson
from graph.rules.operations.state import (
    AttributeState,
    BlockState,
    Cited,
    EntryState,
    FacetState,
    RelationState,
    Support,
    cites,
)
from graph.rules.operations.work import Work
from graph.rules.restore_past import (
    EntryPast,
    Past,
    attributes_of_image,
    content_of_image,
    evidence_of,
    past_of_image,
    support_of_image,
    validity_of_image,
)
from graph.rules.restore_world import RestoreStep, is_edit


def carry_out(work: Work, past: Past, steps: Iterable[RestoreStep]) -> None:
    """Put the changes of all steps into `work`, each on what the ones before it left.

    Args:
        work: on the present of everything that the steps touch; it lives in one knowledge base.
        past: the ended parts of the same objects; kept up.
        steps: of a plan that may be carried out, in its order.
    """
    for step in steps:
        part = work.fork(step.record.draft.reason)
        part.reason = work.reason
        _Step(part, past, step).run()
        work.adopt(part)


class _Step:
    """One step, on a copy of what the ones before it left."""

    def __init__(self, work: Work, past: Past, step: RestoreStep) -> None:
        self.work = work
        self.past = past
        self.step = step
        self.target = step.record.draft.target_id

    def run(self) -> None:
        kind = prefix_of(self.target)
        restored = self.step.restored
        if kind == Entry.PREFIX:
            self._entry(restored)
        elif kind == Block.PREFIX:
            self._block(restored)
        elif kind == Relation.PREFIX:
            self._relation(restored)
        elif kind == CurationGuide.PREFIX:
            self._guide(restored)
        elif kind == Lesson.PREFIX:
            self._lesson(restored)
        elif kind == ResidentMemo.PREFIX:
            self._memo(restored)

    # Entries

    def _entry(self, restored: Image | None) -> None:
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
            principal_id=_optional(image.get("principalId")),
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
        state = self._point(state, image)
        for key in sorted({*attributes_of_image(image), *past_of_image(image)}):
            state = self._set_attribute(state, known, key, image)
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
        for id_, block in image[BLOCKS].items():
            self._revive_block(NodeId(id_), block)
        for id_, relation in image[RELATIONS].items():
            self._revive_relation(NodeId(id_), relation)

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
            after = self._set_attribute(after, known, key, image)
        after = self._point(after, image)
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

    def _set_attribute(self, state: EntryState, known: EntryPast, key: str, image: Image) -> EntryState:
        """Let the present and past values of a key be those of the image, where it names them.

        The value written last is the present one; so if a past one is written now, the present one is written anew.
        """
        old = state.attributes.get(key)
        past = [s for s in state.closed_attributes if s.attribute.key == key]
        others = [s for s in state.closed_attributes if s.attribute.key != key]
        number = max((s.attribute.version for s in (*known.values_of(key), *past, *([old] if old else []))), default=0)
        wanted = past_of_image(image).get(key, [imaging.attribute(s) for s in past])
        kept, missing = _matched(past, wanted)
        made = [self._put_value(key, value, number + place) for place, value in enumerate(missing, start=1)]
        for gone in past:
            if gone not in kept:
                end_attribute(self.work, gone)
        present = attributes_of_image(image).get(key, imaging.attribute(old) if old else None)
        values = {name: value for name, value in state.attributes.items() if name != key}
        if old is not None and _is_value(old, present) and not made:
            values[key] = old
        else:
            if old is not None:
                end_attribute(self.work, old)
            if present is not None:
                values[key] = self._put_value(key, present, number + len(made) + 1)
            elif made:
                self._leave_unset(key, missing[-1], number + len(made) + 1)
        return replace(state, attributes=values, closed_attributes=(*others, *kept, *made))

    def _put_value(self, key: str, image: Image, number: int) -> AttributeState:
        validity, rests_on = validity_of_image(image), support_of_image(image)
        return make_attribute(self.work, self.target, key, image["value"], validity, rests_on, number=number)

    def _leave_unset(self, key: str, image: Image, number: int) -> None:
        """Write a value that ends at once: a key whose last value ended is not set, whatever past ones it has."""
        end_attribute(self.work, self._put_value(key, image, number))

    def _point(self, state: EntryState, image: Image) -> EntryState:
        """Let the edges to other entries and to a principal be those of the image, where it names them."""
        if "distinctFrom" in image:
            wanted = [NodeId(id_) for id_ in image["distinctFrom"]]
            present = imaging.marked_by(state)
            self._mark(EdgeType.DISTINCT_FROM, present, wanted)
            others = [other for other in state.distinct_from if other not in present]
            state = replace(state, distinct_from=tuple(sorted((*others, *wanted))))
        if "sameAs" in image:
            wanted = [NodeId(id_) for id_ in image["sameAs"]]
            self._mark(EdgeType.SAME_AS, state.same_as, wanted)
            state = replace(state, same_as=tuple(wanted))
        return self._identify(state, _optional(image["principalId"])) if "principalId" in image else state

    def _mark(self, type_: EdgeType, present: Sequence[NodeId], wanted: Sequence[NodeId]) -> None:
        changes, props = self.work.changes, {"recorded_at": self.work.at}
        gone, new = set(present) - set(wanted), set(wanted) - set(present)
        changes.unlinks += [Edge(type=type_, source=self.target, target=other) for other in sorted(gone)]
        changes.links += [Edge(type=type_, source=self.target, target=other, props=props) for other in sorted(new)]

    def _identify(self, state: EntryState, principal: NodeId | None) -> EntryState:
        old, changes = self.past.entries[state.id].entry.principal_id, self.work.changes
        if old is not None and old != principal:
            changes.unlinks.append(Edge(type=EdgeType.IDENTIFIES, source=state.id, target=old))
        if principal is not None and old != principal:
            props = {"recorded_at": self.work.at}
            changes.links.append(Edge(type=EdgeType.IDENTIFIES, source=state.id, target=principal, props=props))
        if state.entry.principal_id != principal:
            changes.patch(state.id, principal_id=principal)
        return replace(state, entry=replace(state.entry, principal_id=principal))

    # Blocks

    def _block(self, restored: Image | None) -> None:
        if restored is None:
            state = self.work.blocks[self.target]
            self.past.note_block(state)
            end_block(self.work, state)
            touch_entry(self.work, state.entry_id)
        elif is_edit(self.step.record):
            self._edit_block(self.work.blocks[self.target], restored)
        else:
            self._revive_block(self.target, restored)
            touch_entry(self.work, NodeId(restored["entryId"]))

    def _revive_block(self, id_: NodeId, image: Mapping[str, Any]) -> None:
        known = self.past.blocks[id_]
        number, entry = known.version.version + 1, NodeId(image["entryId"])
        block = replace(
            known.block, entry_id=entry, position=image["position"], current_version=number, deleted_at=None
        )
        self._belong(known.block, entry)
        self.work.changes.patch(id_, entry_id=entry, position=block.position, current_version=number, deleted_at=None)
        made = put_version(self.work, block, content_of_image(image), number=number)
        self.work.changes.links.append(supersedes(made.version.id, known.version.id, None, self.work.reason))
        self.work.changes.touched.add(id_)
        self._said_by(made)

    def _edit_block(self, state: BlockState, image: Image) -> None:
        if "text" in image:
            state = edit_block(self.work, state, content_of_image(image), change=None)
            self._said_by(state)
        if "position" in image:
            self._move_block(state, NodeId(image["entryId"]), image["position"])
        touch_entry(self.work, self.work.blocks[self.target].entry_id)

    def _move_block(self, state: BlockState, entry: NodeId, position: int) -> None:
        block = replace(state.block, entry_id=entry, position=position)
        version = replace(state.version, entry_id=entry)
        self._belong(state.block, entry)
        self.work.changes.patch(state.id, entry_id=entry, position=position)
        if entry != state.entry_id:
            for id_ in self.past.blocks[state.id].versions:
                self.work.changes.patch(id_, entry_id=entry)
            self.work.changes.text(version.id, entry, TEXT_OF_BLOCK, version.text)
            touch_entry(self.work, state.entry_id)
        self.work.blocks[state.id] = replace(state, block=block, version=version)

    def _belong(self, block: Block, entry: NodeId) -> None:
        if block.entry_id != entry:
            changes = self.work.changes
            changes.unlinks.append(Edge(type=EdgeType.HAS_BLOCK, source=block.entry_id, target=block.id))
            changes.links.append(Edge(type=EdgeType.HAS_BLOCK, source=entry, target=block.id))

    def _said_by(self, made: BlockState) -> None:
        """Let the name of the entry rest on the returning block too, as after every write of one."""
        self.past.note_block(made)
        entry = self.work.entries[made.entry_id]
        gather(self.work, made.entry_id, entry.name, Support(derived_from=(made.version.id,)))

    # Relations

    def _relation(self, restored: Image | None) -> None:
        if restored is None:
            state = self.work.relations[self.target]
            self.past.note_relation(state)
            retract_relation(self.work, state)
            self._touch_subject(state.relation)
        elif is_edit(self.step.record):
            self._edit_relation(self.work.relations[self.target], restored)
        else:
            self._revive_relation(self.target, restored)
            self._touch_subject(self.work.relations[self.target].relation)

    def _revive_relation(self, id_: NodeId, image: Mapping[str, Any]) -> None:
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

    # Guides

    def _lesson(self, restored: Image | None) -> None:
        """End what a lesson says now, and let it say what it said before as its next version."""
        current = self.work.lessons.get(self.target)
        last = current.lesson if current else self.past.lessons[self.target]
        if current is not None:
            end_lesson(self.work, current)
        if restored is not None:
            overlay, rests_on = NodeId(restored["overlayId"]), support_of_image(restored)
            made = put_lesson(self.work, overlay, restored["text"], restored["origin"], rests_on, before=last)
            check_room(self.work, overlay)
            last = made.lesson
        self.past.lessons[self.target] = last

    def _memo(self, restored: Image | None) -> None:
        """Write the lines of a memo again; a memo that was not there yet becomes empty."""
        lines = [(line["text"], support_of_image(line)) for line in (restored or {}).get("lines", ())]
        check_budget(self.work, [text for text, _ in lines])
        put_lines(self.work, self.work.memo, lines)

    def _guide(self, restored: Image | None) -> None:
        """Write the text of a guide again; a guide that was not there yet becomes empty."""
        guide = self.past.guides[self.target]
        changed = replace(guide, text=(restored or {}).get("text", ""), version=guide.version + 1)
        self.past.guides[self.target] = changed
        self.work.changes.patch(
            guide.id,
            text=changed.text,
            version=changed.version,
            modifier_id=self.work.actor.id,
            updated_at=self.work.at,
        )


def _is_value(state: AttributeState, image: Image | None) -> bool:
    return image is not None and same_image(imaging.attribute(state), image)


def _matched(present: Sequence[AttributeState], wanted: Sequence[Image]) -> tuple[list[AttributeState], list[Image]]:
    """Return which values are there as wanted, and which wanted ones are missing."""
    kept: list[AttributeState] = []
    missing = []
    for image in wanted:
        found = next((s for s in present if s not in kept and _is_value(s, image)), None)
        if found is None:
            missing.append(image)
        else:
            kept.append(found)
    return kept, missing


def _summary_image(image: Image) -> Image:
    return _only(image, "summary", "summaryFrom")


def _only(image: Mapping[str, Any], *keys: str) -> Image:
    return {key: image[key] for key in keys if key in image}


def _optional(value: str | None) -> NodeId | None:
    return None if value is None else NodeId(value)
