"""The present that a restore is decided on: images of what the records speak of, and who has which name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graph.model.ids import NodeId, prefix_of
from graph.model.nodes.knowledge import Block, CurationGuide, Entry, Relation
from graph.model.nodes.learning import Lesson, ResidentMemo
from graph.rules.audit_chain import SealedAudit
from graph.rules.images import Image, guide_image
from graph.rules.operations import imaging
from graph.rules.operations.memo import memo_image
from graph.rules.operations.skills import lesson_image
from graph.rules.operations.state import NameOwner
from graph.rules.restore import RestoreNeeds, needs, newest_first
from graph.services.knowledge.statements import PRESENT, find_all
from graph.services.knowledge.states import States, read_states
from graph.services.learning.learned import Learned, read_learned
from graph.store.port import Reader
from graph.store.query import And, In, Where

_KINDS = frozenset(
    {Entry.PREFIX, Block.PREFIX, Relation.PREFIX, CurationGuide.PREFIX, Lesson.PREFIX, ResidentMemo.PREFIX}
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Present:
    """What is now.

    Attributes:
        images: of every live object that the records need; None for those that are not live.
        names: pool and normal name to the live entry that has it.
        owners: by pool, who has the names; an entry whose evidence is gone gives its name up.
    """

    states: States
    learned: Learned
    images: Mapping[str, Image | None]
    names: Mapping[tuple[str, str], str]
    owners: Mapping[NodeId, Mapping[str, NameOwner]]


async def read_present(reader: Reader, records: Sequence[SealedAudit]) -> Present:
    """Return the present of all that the records need; a constant number of round trips."""
    asked = needs(records)
    ids = _of_kinds(asked.objects | asked.whole_entries | asked.live)
    ids |= await _around(reader, ids)
    whole = _of_kinds(asked.whole_entries)
    pools = sorted({record.pool for record in records})
    states = await read_states(reader, ids, whole=whole, relations_where=await _rivals(reader, asked, ids, pools))
    learned = await read_learned(reader, ids)
    states.past.lessons = dict(learned.last)
    owners = await _owners(reader, asked)
    return Present(
        states=states,
        learned=learned,
        images={**_images(states), **_learned_images(learned, records), **_guide_images(states, records)},
        names={(pool, name): o.entry for pool, named in owners.items() for name, o in named.items() if o.live},
        owners=owners,
    )


async def named_objects(reader: Reader, records: Sequence[SealedAudit]) -> set[NodeId]:
    """Return the ids of the objects that undoing the records may change, those they hang on included."""
    asked = needs(records)
    ids = _of_kinds(asked.objects | asked.whole_entries | asked.live)
    return ids | await _around(reader, ids)


def sources_named(image: Any) -> set[NodeId]:
    """Return the ids of the sources and statements that an image says it rests on, at any depth of it."""
    return set(_sources(image))


def _sources(value: Any) -> Iterator[NodeId]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            if key == "sourceId" and isinstance(item, str):
                yield NodeId(item)
            elif key in ("derivedFrom", "summaryFrom") and isinstance(item, list | tuple):
                yield from (NodeId(id_) for id_ in item if isinstance(id_, str))
            else:
                yield from _sources(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _sources(item)


def _of_kinds(ids: Iterable[str]) -> set[NodeId]:
    return {NodeId(id_) for id_ in ids if prefix_of(id_) in _KINDS}


async def _around(reader: Reader, ids: Iterable[NodeId]) -> set[NodeId]:
    """Return the entries that blocks stand in and relations join: a change of these is a change of those."""
    found: set[NodeId] = set()
    for node in (await reader.get(PRESENT, sorted(ids))).values():
        match node:
            case Block():
                found.add(node.entry_id)
            case Relation():
                found |= {node.subject_id, node.object_id}
    return found


async def _rivals(reader: Reader, asked: RestoreNeeds, ids: Iterable[NodeId], pools: Sequence[NodeId]) -> list[Where]:
    """Return a condition that holds for every current relation which might say the same as one of these."""
    nodes = (await reader.get(PRESENT, sorted(id_ for id_ in ids if prefix_of(id_) == Relation.PREFIX))).values()
    triples = {(node.subject_id, node.type, node.object_id) for node in nodes if isinstance(node, Relation)}
    triples |= {(NodeId(subject), type_, NodeId(object_)) for subject, type_, object_ in asked.triples}
    if not triples:
        return []
    subjects, objects = sorted({one for one, _, _ in triples}), sorted({other for _, _, other in triples})
    return [And((In("subject_id", subjects), In("object_id", objects), In("pool", pools)))]


async def _owners(reader: Reader, asked: RestoreNeeds) -> dict[NodeId, dict[str, NameOwner]]:
    if not asked.names:
        return {}
    pools, names = sorted({pool for pool, _ in asked.names}), sorted({name for _, name in asked.names})
    entries = await find_all(reader, Entry, And((In("pool", pools), In("live_name", names))))
    audiences = await reader.audiences([entry.id for entry in entries])
    owners: dict[NodeId, dict[str, NameOwner]] = {}
    for entry in entries:
        if entry.pool is not None and entry.live_name is not None:
            live = entry.id in audiences and audiences[entry.id].live
            owners.setdefault(entry.pool, {})[entry.live_name] = NameOwner(entry=entry.id, live=live)
    return owners


def _images(states: States) -> dict[str, Image | None]:
    images: dict[str, Image | None] = {id_: imaging.entry(state) for id_, state in states.entries.items()}
    for id_, block in states.blocks.items():
        if block.entry_id in states.entries:
            images[id_] = imaging.block(block, placed=True)
    images |= {id_: imaging.relation(state) for id_, state in states.relations.items()}
    return images


def _guide_images(states: States, records: Sequence[SealedAudit]) -> dict[str, Image | None]:
    """Return the images of guides; an empty one is what the newest of its records left: an empty text, or none yet."""
    unmade = _unmade(records)
    return {
        id_: None if not guide.text and unmade.get(id_, False) else guide_image(guide.text)
        for id_, guide in states.past.guides.items()
    }


def _learned_images(learned: Learned, records: Sequence[SealedAudit]) -> dict[str, Image | None]:
    """Return the images of lessons and memos; of an empty memo as of an empty guide."""
    unmade = _unmade(records)
    images: dict[str, Image | None] = {id_: lesson_image(state) for id_, state in learned.lessons.items()}
    for id_, memo in learned.memos.items():
        images[id_] = None if not memo.lines and unmade.get(id_, False) else memo_image(memo)
    return images


def _unmade(records: Sequence[SealedAudit]) -> dict[NodeId, bool]:
    """Return of each target whether the newest of its records left nothing of it."""
    return {record.draft.target_id: record.draft.after is None for record in reversed(newest_first(records))}
