"""The law of restore: what undoing some audit records would do, and whether it may.

A restore writes back `before` if the present value still equals `after`. Records of a batch run from newest to
oldest, each compared with the state that the newer ones leave, so that a chain of edits can be undone together; the
batch is done whole or not at all. Pure: the caller loads what `needs` asks for and carries out the plan in one
transaction. Images are those of `graph.rules.images`. Source: KN-91 to KN-103.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from graph.model.errors import NameTaken, NotRestorable, PreviewStale, RestoreConflict
from graph.model.ids import NodeId
from graph.rules.audit_chain import AuditDraft, SealedAudit
from graph.rules.audit_following import keeps_images
from graph.rules.audit_operations import AuditOperation, is_restorable
from graph.rules.canonical import digest
from graph.rules.images import Image, parts
from graph.rules.names import normalised_name
from graph.rules.restore_world import CONTAINERS, RestoreStep, Triple, World, is_relation, is_whole_change, triple

__all__ = [
    "LiveNames",
    "RestoreNeeds",
    "RestorePlan",
    "RestoreStep",
    "State",
    "may_be_undone",
    "needs",
    "newest_first",
    "plan_restore",
    "require_restorable",
    "require_undoable",
    "restore_drafts",
    "without_current",
]

State = Mapping[str, Image | None]
"""Present fields of objects by id; None or absent: not live. A block or relation of a dead entry is not live."""

LiveNames = Mapping[tuple[str, str], str]
"""Pool and normal name to the live entry that has it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RestoreNeeds:
    """What a plan must know of the present.

    Attributes:
        objects: give their present fields.
        whole_entries: give their fields, and those of all their live blocks and current relations.
        live: say only whether they live (any image, such as {}, or None), unless they are needed more fully.
        triples: give every current relation with such subject, type and object; do the same for every relation
            among `objects`, since an edit of a relation does not name its ends.
        names: pool and normal name; say which live entry has it.
    """

    objects: frozenset[str]
    whole_entries: frozenset[str]
    live: frozenset[str]
    triples: frozenset[Triple]
    names: frozenset[tuple[str, str]]


@dataclass(frozen=True, kw_only=True, slots=True)
class RestorePlan:
    """All steps, in the order of execution.

    Attributes:
        restorable: no step has a conflict or a taken name.
        preview_hash: SHA-256 of the canonical steps, in hexadecimal; another present gives another hash.
    """

    steps: tuple[RestoreStep, ...]
    restorable: bool
    preview_hash: str

    @property
    def conflicts(self) -> tuple[str, ...]:
        """Ids of the records in conflict."""
        return tuple(step.record.id for step in self.steps if step.conflict)


def needs(records: Iterable[SealedAudit]) -> RestoreNeeds:
    """Return what `plan_restore` must be told of the present to undo these records."""
    listed = list(records)
    touched = [(record, spoken) for record in listed for spoken in _spoken(record).items()]
    images = [image for _, (_, image) in touched if image is not None]
    return RestoreNeeds(
        objects=frozenset(target for _, (target, _) in touched),
        whole_entries=frozenset(record.draft.target_id for record in listed if is_whole_change(record)),
        live=frozenset(image[key] for image in images for key in CONTAINERS if key in image),
        triples=frozenset(triple(image) for image in images if is_relation(image)),
        names=frozenset((record.pool, normalised_name(name)) for record in listed for name in _names(record)),
    )


def newest_first(records: Iterable[SealedAudit]) -> list[SealedAudit]:
    """Return the records in the order of execution, each once.

    Within a pool by falling `seq`; among pools the later `recorded_at` goes first, then the greater pool id. The
    clock never turns the order of a pool around. Source: KN-96.
    """
    chains: dict[str, list[SealedAudit]] = {}
    for record in sorted({found.id: found for found in records}.values(), key=lambda found: found.seq):
        chains.setdefault(record.pool, []).append(record)
    ordered = []
    while chains:
        pool = max(chains, key=lambda found: (chains[found][-1].recorded_at, found))
        ordered.append(chains[pool].pop())
        if not chains[pool]:
            del chains[pool]
    return ordered


def may_be_undone(record: SealedAudit) -> bool:
    """Tell whether a record is of an operation that can be undone, and still has the images that it commits to."""
    return is_restorable(record.draft.operation) and keeps_images(record)


def require_undoable(records: Iterable[SealedAudit]) -> None:
    """Return if each of these records tells what was before, and may be undone at all. Ask before anything else.

    Raises:
        NotRestorable: an operation of KN-103, or a record whose images were erased, never were, or are no longer those
            that it commits to; details: `records`.
    """
    refused = [record.id for record in records if not may_be_undone(record)]
    if refused:
        raise NotRestorable("leave out the records that cannot be restored", records=tuple(refused))


def plan_restore(records: Iterable[SealedAudit], present: State, live_names: LiveNames | None = None) -> RestorePlan:
    """Return what undoing the records would do now; writes nothing.

    After a conflict the older records are still compared with what the newer ones would have left, so that exactly
    the records whose own fields were changed since are told.

    Args:
        records: in any order.
        present: at least what `needs` asks for.
        live_names: at least the names that `needs` asks for.

    Raises:
        NotRestorable: as `require_undoable` says.
    """
    ordered = newest_first(records)
    require_undoable(ordered)
    names = {key: frozenset({owner}) for key, owner in (live_names or {}).items()}
    world = World(objects=dict(present), names=names)
    steps = tuple(world.undo(record) for record in ordered)
    return RestorePlan(
        steps=steps,
        restorable=not any(step.conflict or step.name_taken_by for step in steps),
        preview_hash=digest([_shown(step) for step in steps]),
    )


def without_current(plan: RestorePlan, hidden: Collection[str]) -> RestorePlan:
    """Return the plan as one may see it who may not see the present value of these records' targets (KN-60).

    Only a record in conflict can be among them: otherwise the present value is the record's own `after` image.

    Args:
        plan: as it was worked out.
        hidden: ids of records.
    """
    if not hidden:
        return plan
    steps = tuple(replace(step, current=None) if step.record.id in hidden else step for step in plan.steps)
    return replace(plan, steps=steps, preview_hash=digest([_shown(step) for step in steps]))


def require_restorable(plan: RestorePlan, expected_preview_hash: str | None = None) -> None:
    """Return if the plan may be carried out.

    Raises:
        PreviewStale: the caller confirmed another preview; asked first, so that a new preview shows the conflict.
        RestoreConflict: lists every conflicting record.
        NameTaken: another live entry has the name; details: `entry_id`.
    """
    if expected_preview_hash is not None and expected_preview_hash != plan.preview_hash:
        raise PreviewStale("what the preview showed has changed; look at a new preview and confirm that")
    if plan.conflicts:
        raise RestoreConflict("these records were overtaken; leave them out", conflicts=plan.conflicts)
    for step in plan.steps:
        if step.name_taken_by:
            raise NameTaken("another entry has the name now; rename it first", entry_id=step.name_taken_by)


def restore_drafts(
    plan: RestorePlan,
    *,
    actor_id: NodeId,
    actor_kind: str,
    reason: str | None = None,
    on_behalf_of: NodeId | None = None,
) -> list[AuditDraft]:
    """Return the records that carrying out the plan writes, one a step, in the same order (KN-99, KN-100)."""
    return [
        AuditDraft(
            operation=AuditOperation.RESTORE,
            actor_id=actor_id,
            actor_kind=actor_kind,
            on_behalf_of=on_behalf_of,
            target_id=step.record.draft.target_id,
            target_kind=step.record.draft.target_kind,
            before=step.current,
            after=step.restored,
            reason=reason,
            restores_id=step.record.id,
            image_sources=step.record.draft.image_sources,
        )
        for step in plan.steps
    ]


def _spoken(record: SealedAudit) -> dict[str, Image | None]:
    """Return every object that the record speaks of with the fields it names, `before` first."""
    target, draft = record.draft.target_id, record.draft
    before, after = parts(target, draft.before), parts(target, draft.after)
    return {key: before.get(key) or after.get(key) for key in {**after, **before}}


def _names(record: SealedAudit) -> Sequence[str]:
    images = (record.draft.before, record.draft.after)
    return [image["name"] for image in images if image is not None and "name" in image]


def _shown(step: RestoreStep) -> dict[str, object]:
    return {
        "record": step.record.id,
        "current": step.current,
        "restored": step.restored,
        "conflict": step.conflict,
        "omittedRelations": list(step.omitted_relations),
        "nameTakenBy": step.name_taken_by,
    }
