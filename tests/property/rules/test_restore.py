"""The law of restore against a naive model, over random histories and random batches.

Full size is the 5,000 histories of goal C1. Source: KN-92 to KN-102, goals C1, C2, C5.
"""

from __future__ import annotations

import copy
import random
from collections import Counter
from typing import Any

import pytest

from graph.model.ids import NodeId
from graph.rules.audit_chain import SealedAudit
from graph.rules.audit_following import verify_chain
from graph.rules.images import Image
from graph.rules.restore import RestorePlan, needs, plan_restore, restore_drafts
from tests.reference.book import Book, plain
from tests.support.profile import sized

HISTORIES = sized(small=150, full=5_000)


def told(book: Book, batch: list[SealedAudit]) -> tuple[dict[str, Image | None], dict[tuple[str, str], str]]:
    """Return no more of the present than the law asks for."""
    state, asked = book.state(), needs(batch)
    given: dict[str, Image | None] = {key: {} for key in asked.live if key in state}
    given.update({key: state[key] for key in asked.objects if key in state})
    for entry in asked.whole_entries & book.entries.keys():
        tree = book.tree(entry)
        given.update({entry: state[entry], **tree["blocks"], **tree["relations"]})
    triples = asked.triples | {triple_of(record, book) for record in batch if "rel" in record.draft.target_id[:3]}
    given.update({key: image for key, image in book.relations.items() if ends_of(image) in triples})
    return given, {key: owner for key, owner in book.names().items() if key in asked.names}


def triple_of(record: SealedAudit, book: Book) -> tuple[str, str, str]:
    """Return the ends of a relation, which its node keeps whether it is current or not."""
    first = next(made for made in book.history if made.draft.target_id == record.draft.target_id)
    return ends_of(first.draft.after)


def ends_of(image: Image) -> tuple[str, str, str]:
    return (image["subjectId"], image["type"], image["objectId"])


def random_batch(book: Book, rng: random.Random) -> list[SealedAudit]:
    size = rng.randrange(1, min(100, len(book.history)) + 1)
    if rng.random() < 0.4:
        return book.history[-size:]
    if rng.random() < 0.4:
        return rng.sample(book.history, min(size, 4))
    return rng.sample(book.history, size)


def check_plan(book: Book, batch: list[SealedAudit], plan: RestorePlan) -> Book:
    """Compare the plan step by step with the naive model; return the model after the batch."""
    after = book.copy()
    expected = after.undo_all(batch)
    assert [step.record.id for step in plan.steps] == [step["record"] for step in expected]
    for step, wanted in zip(plan.steps, expected, strict=True):
        assert plain(step.current) == plain(wanted["current"]), wanted
        assert plain(step.restored) == plain(wanted["restored"]), wanted
        assert step.conflict == wanted["conflict"], wanted
        assert list(step.omitted_relations) == wanted["omitted"], wanted
        assert step.name_taken_by == wanted["taken"], wanted
    return after


def carry_out(book: Book, plan: RestorePlan) -> dict[str, Image | None]:
    """Write the steps as a service would, object by object, and return the state of live objects."""
    state = book.state()
    for step in plan.steps:
        edit = step.record.draft.before is not None and step.record.draft.after is not None
        for key, image in step.writes().items():
            state[key] = {**(state[key] or {}), **(image or {})} if edit else copy.deepcopy(image)
    return {key: image for key, image in state.items() if image is not None}


def changed_fields(before: dict[str, Any], after: dict[str, Any]) -> set[tuple[str, str]]:
    ids = before.keys() | after.keys()
    found = set()
    for key in ids:
        one, other = before.get(key) or {}, after.get(key) or {}
        found |= {
            (key, field) for field in one.keys() | other.keys() if plain(one.get(field)) != plain(other.get(field))
        }
    return found


def named_fields(batch: list[SealedAudit]) -> set[tuple[str, str]]:
    """Return every field of every object that the images of a batch speak of."""
    found = set()
    for record in batch:
        for image in (record.draft.before, record.draft.after):
            spoken = dict(image or {})
            inside = {**spoken.pop("blocks", {}), **spoken.pop("relations", {})}
            for key, fields in {**inside, record.draft.target_id: spoken}.items():
                found |= {(key, field) for field in fields}
    return found


def restore(book: Book, after: Book, plan: RestorePlan) -> list[SealedAudit]:
    """Let the book be the state after a restore, with the records it writes; return those."""
    drafts = restore_drafts(plan, actor_id=NodeId("prn_w/human/ben"), actor_kind="human", reason="undo")
    book.entries, book.relations = copy.deepcopy(after.entries), copy.deepcopy(after.relations)
    return [book.record(copy.deepcopy(draft)) for draft in drafts]


def one_history(seed: int, seen: Counter[str]) -> None:
    rng, book = random.Random(seed), Book()
    snapshots = []
    for _ in range(rng.randrange(5, 60)):
        before = len(book.history)
        snapshot = book.state()
        book.change(rng)
        snapshots += [snapshot] * (len(book.history) - before)
    for _ in range(4 if book.history else 0):
        batch = random_batch(book, rng)
        shuffled = rng.sample(batch, len(batch))
        state, names = told(book, batch)
        plan = plan_restore(shuffled, state, names)
        assert plan.preview_hash == plan_restore(batch, book.state(), book.names()).preview_hash
        before_restore = book.state()
        after = check_plan(book, batch, plan)
        assert plan.restorable == (not plan.conflicts and not any(step.name_taken_by for step in plan.steps))
        is_suffix = {record.id for record in batch} == {record.id for record in book.history[-len(batch) :]}
        seen.update(told=bool(plan.conflicts), taken=any(step.name_taken_by for step in plan.steps))
        if not plan.restorable:
            assert not is_suffix, "a batch of the newest records can always be undone"
            continue
        assert plain(carry_out(book, plan)) == plain(after.state())
        assert changed_fields(before_restore, after.state()) <= named_fields(batch)
        if is_suffix:
            assert plain(after.state()) == plain(snapshots[len(book.history) - len(batch)])
        omitted = any(step.omitted_relations for step in plan.steps)
        records = restore(book, after, plan)
        snapshots += snapshots_of(before_restore, plan)
        seen.update(restored=True, suffix=is_suffix, omitted=omitted, chain=len(plan.steps) > 1)

        back = plan_restore(records, *told(book, records))
        assert back.restorable
        again = check_plan(book, records, back)
        assert plain(again.state()) == plain(before_restore)
        if rng.random() < 0.3:
            before_back = book.state()
            restore(book, again, back)
            snapshots += snapshots_of(before_back, back)
            seen.update(twice=True)
    assert verify_chain(book.history, book.history[-1].head if book.history else None).ok


def snapshots_of(state: dict[str, Image | None], plan: RestorePlan) -> list[dict[str, Any]]:
    """Return the state before each step."""
    found, state = [], dict(state)
    for step in plan.steps:
        found.append({key: image for key, image in copy.deepcopy(state).items() if image is not None})
        edit = step.record.draft.before is not None and step.record.draft.after is not None
        for key, image in step.writes().items():
            state[key] = {**(state[key] or {}), **(image or {})} if edit else image
    return found


@pytest.mark.req("KN-92", "KN-94", "KN-96", "KN-97", "KN-98", "KN-100", "KN-101", "KN-102")
def test_preview_is_the_effect_undo_is_exact_and_every_conflict_is_told() -> None:
    seen: Counter[str] = Counter()
    for seed in range(HISTORIES):
        try:
            one_history(seed, seen)
        except AssertionError as error:
            raise AssertionError(f"history {seed}: {error}") from error
    rare = [what for what in ("told", "taken", "restored", "suffix", "omitted", "chain", "twice") if not seen[what]]
    assert not rare, f"no history showed {rare}: {seen}"
