"""Restoring what an entry says of itself beside its names: values of attributes, marks, its principal.

Source: KN-32 to KN-34, KN-75, KN-94.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from graph.model.edges import Edge, EdgeType
from graph.model.ids import NodeId
from graph.rules.images import Image, same_image
from graph.rules.operations import imaging
from graph.rules.operations.entry_writing import end_attribute, make_attribute
from graph.rules.operations.state import AttributeState, EntryState
from graph.rules.restore_past import EntryPast, attributes_of_image, past_of_image, support_of_image, validity_of_image
from graph.rules.restore_step import Step


class ValueStep(Step):
    """Writes the values of an entry's attributes."""

    def set(self, state: EntryState, known: EntryPast, key: str, image: Image) -> EntryState:
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


class PointerStep(Step):
    """Points an entry to others, and to a principal."""

    def point(self, state: EntryState, image: Image) -> EntryState:
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
        return self._identify(state, optional_id(image["principalId"])) if "principalId" in image else state

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


def optional_id(value: str | None) -> NodeId | None:
    """Return the id that an image names, if it names one."""
    return None if value is None else NodeId(value)
