"""The state that a restore works on: what undoing one record does to it, and whether anything is in the way.

`graph.rules.restore` runs a batch over one such state. Source: KN-94, KN-98, KN-101, KN-102, KN-30.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from graph.rules.audit_chain import SealedAudit
from graph.rules.images import RELATIONS, Image, is_whole, parts, same_image, whole_entry
from graph.rules.names import normalised_name

Triple = tuple[str, str, str]
"""Subject, type and object of a relation."""

ENDS = ("subjectId", "objectId")
CONTAINERS = ("entryId", *ENDS)
"""Fields that name an entry which must be live for the target to be."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RestoreStep:
    """What undoing one record does, after the newer ones of its batch.

    Attributes:
        current: the present value of the touched fields; None: not live.
        restored: their value afterwards; None: not live.
        conflict: the present value is not the record's `after`, or something is in the way of what returns: the
            entry it belongs to is gone, or an equal relation took its place.
        omitted_relations: relations of a whole entry that cannot return, because their other end is not live or an
            equal relation took their place.
        name_taken_by: another live entry that has the name.
    """

    record: SealedAudit
    current: Image | None
    restored: Image | None
    conflict: bool
    omitted_relations: tuple[str, ...] = ()
    name_taken_by: str | None = None

    def writes(self) -> dict[str, Image | None]:
        """Return the fields to write by object, None for objects to end; a whole entry comes apart."""
        target = self.record.draft.target_id
        ended = dict.fromkeys(parts(target, self.current)) if self.restored is None else {}
        return {**ended, **parts(target, self.restored)}


@dataclass(kw_only=True, slots=True)
class World:
    """Fields of live objects by id, and which live entries have a name (by pool and normal name).

    After a step whose name is taken, two have the same one; no such plan is carried out.
    """

    objects: dict[str, Image | None]
    names: dict[tuple[str, str], frozenset[str]] = field(default_factory=dict)

    def undo(self, record: SealedAudit) -> RestoreStep:
        """Undo one record and return what that did.

        A value that was changed since is overwritten here all the same, so that older records are judged by
        themselves; what has no room is left undone.
        """
        current = self._present(record)
        restored, omitted = self._returning(record.draft.target_id, record.draft.before)
        has_room = self._has_room(record, restored)
        step = RestoreStep(
            record=record,
            current=current,
            restored=restored,
            conflict=not (has_room and same_image(current, record.draft.after)),
            omitted_relations=omitted,
            name_taken_by=self._name_owner(record, restored),
        )
        if has_room:
            self._apply(step)
        return step

    def _present(self, record: SealedAudit) -> Image | None:
        """Return the present value in the shape of the record: its fields for an edit, else the whole target."""
        draft = record.draft
        fields = self.objects.get(draft.target_id)
        if fields is None:
            return None
        if is_edit(record):
            return {key: fields.get(key) for key in {**draft.before, **draft.after}}
        if is_whole_change(record):
            blocks = self._where(lambda image: image.get("entryId") == draft.target_id)
            relations = self._where(lambda image: draft.target_id in _ends(image))
            return whole_entry(fields, blocks=blocks, relations=relations)
        return fields

    def _returning(self, target: str, before: Image | None) -> tuple[Image | None, tuple[str, ...]]:
        """Return what comes back of `before`, and the relations that cannot."""
        if before is None or not is_whole(before):
            return before, ()
        every = before[RELATIONS]
        kept = {key: image for key, image in every.items() if self._may_join(target, key, image)}
        return {**before, RELATIONS: kept}, tuple(sorted(every.keys() - kept.keys()))

    def _has_room(self, record: SealedAudit, restored: Image | None) -> bool:
        """Tell whether what the target belongs to is live and nothing stands where it returns."""
        if restored is None:
            return True
        target = record.draft.target_id
        if not is_edit(record) and any(self._is_live(key) for key in parts(target, restored)):
            return False
        image = {**(self.objects.get(target) or {}), **restored}
        homes = [restored[key] for key in CONTAINERS if key in restored]
        return all(self._is_live(home) for home in homes) and not self._has_rival(target, image)

    def _may_join(self, entry: str, relation_id: str, image: Image) -> bool:
        """Tell whether a relation may return with its entry: the other end is live, and no equal one holds."""
        others = [end for end in _ends(image) if end != entry]
        return all(self._is_live(end) for end in others) and not self._has_rival(relation_id, image)

    def _has_rival(self, relation_id: str, image: Image) -> bool:
        """Tell whether another current relation says the same of an overlapping time (KN-30)."""
        if not is_relation(image):
            return False
        equal = self._where(lambda other: is_relation(other) and triple(other) == triple(image))
        return any(key != relation_id and _overlap(image, other) for key, other in equal.items())

    def _name_owner(self, record: SealedAudit, restored: Image | None) -> str | None:
        if restored is None or "name" not in restored:
            return None
        owners = self.names.get((record.pool, normalised_name(restored["name"])), frozenset())
        return min(owners - {record.draft.target_id}, default=None)

    def _apply(self, step: RestoreStep) -> None:
        target = step.record.draft.target_id
        old = self.objects.get(target)
        if not is_edit(step.record):
            self.objects.update(step.writes())
        elif old is not None:
            self.objects[target] = {**old, **(step.restored or {})}
        self._rename(step.record.pool, target, old, self.objects.get(target))

    def _rename(self, pool: str, target: str, old: Image | None, new: Image | None) -> None:
        for image, owned in ((old, False), (new, True)):
            if image and "name" in image:
                key = (pool, normalised_name(image["name"]))
                others = self.names.get(key, frozenset()) - {target}
                self.names[key] = others | {target} if owned else others

    def _where(self, holds: Callable[[Image], bool]) -> dict[str, Image]:
        return {key: image for key, image in self.objects.items() if image is not None and holds(image)}

    def _is_live(self, target: str) -> bool:
        return self.objects.get(target) is not None


def is_edit(record: SealedAudit) -> bool:
    """Tell whether the target lived before and after the change."""
    return record.draft.before is not None and record.draft.after is not None


def is_whole_change(record: SealedAudit) -> bool:
    """Tell whether the change made or ended a whole entry."""
    return is_whole(record.draft.before) or is_whole(record.draft.after)


def is_relation(image: Image) -> bool:
    """Tell whether an image is one of `relation_image`."""
    return "subjectId" in image


def triple(image: Image) -> Triple:
    """Return what makes two relations equal."""
    return (image["subjectId"], image["type"], image["objectId"])


def _ends(image: Image) -> tuple[str, ...]:
    return tuple(image[key] for key in ENDS if key in image)


def _overlap(one: Image, other: Image) -> bool:
    """Tell whether two validities share a moment; times of one form compare as text, a missing bound is open."""
    return _begins_before_end(one, other) and _begins_before_end(other, one)


def _begins_before_end(one: Image, other: Image) -> bool:
    begin, end = one.get("validFrom"), other.get("validTo")
    return begin is None or end is None or begin < end
