"""The law of restore, case by case."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from graph.model.errors import NameTaken, NotRestorable, PreviewStale, RestoreConflict
from graph.model.fields import Json
from graph.model.ids import NodeId
from graph.model.time import Millis
from graph.rules import images
from graph.rules.audit_chain import SealedAudit, erase_images
from graph.rules.images import Image
from graph.rules.restore import needs, newest_first, plan_restore, require_restorable, restore_drafts
from tests.support.audit_chains import make_chain, make_draft


def text(value: str) -> Image:
    return {"text": value}


def block(value: str, entry: str = "ent_1", position: int = 1) -> Image:
    place = images.block_place(entry_id=entry, position=position)
    return images.block_image(value, basis="stated", standing="settled", place=place)


def entry(name: str = "Lin", **fields: Any) -> Image:
    return images.entry_fields(name=images.name_fields(name), type="person", **fields)


def relation(subject: str, object_: str, **validity: Any) -> Image:
    valid = images.validity_fields(**validity)
    return images.relation_image(subject_id=subject, type="knows", object_id=object_, validity=valid)


def edits(*values: str, target: str = "blk_1") -> list[SealedAudit]:
    return make_chain([make_draft(target=target, before=text(old), after=text(new)) for old, new in pairwise(values)])


@pytest.mark.req("KN-93", "KN-94")
def test_one_record_goes_back_to_its_before_image() -> None:
    (record,) = edits("v1", "v2")
    plan = plan_restore([record], {"blk_1": block("v2")})
    (step,) = plan.steps
    assert (step.current, step.restored, step.conflict) == (text("v2"), text("v1"), False)
    assert step.writes() == {"blk_1": text("v1")}
    require_restorable(plan, plan.preview_hash)


@pytest.mark.req("KN-94")
def test_a_later_change_of_a_touched_field_conflicts_and_of_another_field_does_not() -> None:
    (record,) = edits("v1", "v2")
    changed = plan_restore([record], {"blk_1": block("v3")})
    assert changed.steps[0].current == text("v3")
    with pytest.raises(RestoreConflict) as error:
        require_restorable(changed)
    assert error.value.details["conflicts"] == (record.id,)
    assert plan_restore([record], {"blk_1": block("v2", position=7)}).restorable


@pytest.mark.req("KN-94")
def test_a_target_that_is_gone_conflicts() -> None:
    (record,) = edits("v1", "v2")
    plan = plan_restore([record], {"blk_1": None})
    assert (plan.steps[0].current, plan.restorable) == (None, False)


@pytest.mark.req("KN-97")
def test_one_overtaken_record_spoils_the_whole_batch() -> None:
    """Acceptance example 15."""
    first, second = make_chain(
        [make_draft(target=target, before=text("old"), after=text("new")) for target in ("blk_x", "blk_y")]
    )
    plan = plan_restore([first, second], {"blk_x": block("new"), "blk_y": block("human")})
    assert (plan.restorable, plan.conflicts) == (False, (second.id,))


@pytest.mark.req("KN-96", "KN-98")
def test_a_chain_of_edits_is_undone_together_newest_first() -> None:
    """Acceptance example 16."""
    first, second = edits("v1", "v2", "v3")
    present = {"blk_1": block("v3")}
    plan = plan_restore([first, second], present)
    assert [(step.record.seq, step.restored) for step in plan.steps] == [(2, text("v2")), (1, text("v1"))]
    assert plan.restorable
    assert plan_restore([second, first, second], present) == plan
    assert plan_restore([first], present).conflicts == (first.id,)


@pytest.mark.req("KN-98")
def test_every_conflicting_record_is_told_and_only_those() -> None:
    chain = edits("v1", "v2", "v3", "v4")
    assert plan_restore(chain, {"blk_1": block("human")}).conflicts == (chain[2].id,)
    assert plan_restore([chain[0], chain[2]], {"blk_1": block("human")}).conflicts == (chain[2].id, chain[0].id)


@pytest.mark.req("KN-96")
def test_order_of_a_pool_is_kept_even_if_the_clock_went_back() -> None:
    late = make_chain([make_draft(), make_draft()], start=5_000_000)
    late[1] = replace(late[1], recorded_at=Millis(1))
    other = make_chain([make_draft(), make_draft()], pool="knb_2", start=3_000_000)
    ordered = newest_first([late[0], other[0], late[1], other[1], late[0]])
    assert [(record.pool, record.seq) for record in ordered] == [
        ("knb_2", 2),
        ("knb_2", 1),
        ("knb_1", 2),
        ("knb_1", 1),
    ]


@pytest.mark.req("KN-99", "KN-100")
def test_a_restore_writes_a_record_each_and_can_be_restored_in_turn() -> None:
    chain = edits("v1", "v2", "v3")
    plan = plan_restore(chain, {"blk_1": block("v3")})
    drafts = restore_drafts(plan, actor_id=NodeId("prn_ben"), actor_kind="human", reason="wrong")
    assert [(draft.operation, draft.restores_id) for draft in drafts] == [
        ("restore", chain[1].id),
        ("restore", chain[0].id),
    ]
    records = make_chain(drafts, head=chain[-1].head)
    back = plan_restore(records, {"blk_1": block("v1")})
    assert back.restorable
    assert back.steps[-1].restored == text("v3")


@pytest.mark.req("KN-103")
@pytest.mark.parametrize("operation", ["mirror.sync", "source.erase", "access.read", "settings.write", "bot.remember"])
def test_some_operations_cannot_be_restored(operation: str) -> None:
    good, bad = make_chain([make_draft(), make_draft(operation)])
    with pytest.raises(NotRestorable) as error:
        plan_restore([good, bad], {"blk_1": block("new")})
    assert error.value.details["records"] == (bad.id,)


@pytest.mark.req("KN-81", "KN-103")
def test_what_was_erased_cannot_be_brought_back() -> None:
    (record,) = edits("v1", "v2")
    with pytest.raises(NotRestorable):
        plan_restore([erase_images(record)], {"blk_1": block("v2")})


@pytest.mark.req("KN-94", "KN-103")
def test_a_record_without_images_or_with_other_ones_than_it_commits_to_is_refused() -> None:
    bare = make_chain([make_draft("block.create", before=None, after=None), make_draft("entry.delete", after=None)])
    forged: list[Json] = [None, "[erased]", 7, [], {}, {"text": "v9"}]
    made = edits("v1", "v2")[0]
    changed = [replace(made, draft=replace(made.draft, before=image)) for image in forged]
    for record in (bare[0], *changed, replace(made, salt=""), replace(made, salt="x"), replace(made, tx_id="other")):
        with pytest.raises(NotRestorable) as error:
            plan_restore([record], {"blk_1": block("v2")})
        assert error.value.details["records"] == (record.id,)
    assert plan_restore([made], {"blk_1": block("v2")}).restorable


@pytest.mark.req("KN-92", "KN-95")
def test_a_preview_goes_stale_when_the_present_moves_and_says_so_before_the_conflict() -> None:
    (record,) = edits("v1", "v2")
    seen = plan_restore([record], {"blk_1": block("v2")})
    now = plan_restore([record], {"blk_1": block("human")})
    with pytest.raises(PreviewStale):
        require_restorable(now, seen.preview_hash)
    again = plan_restore([record], {"blk_1": block("v2", position=9)})
    assert again.preview_hash == seen.preview_hash


def deleted_entry() -> SealedAudit:
    blocks = {f"blk_{n}": block(f"fact {n}", position=n) for n in range(3)}
    aliases = images.aliases_fields([("L", images.support()), ("林", images.support())])
    relations = {"rel_1": relation("ent_1", "ent_2"), "rel_2": relation("ent_3", "ent_1")}
    whole = images.whole_entry(entry(aliases=aliases), blocks=blocks, relations=relations)
    (record,) = make_chain([make_draft("entry.delete", "ent_1", before=whole, after=None)])
    return record


@pytest.mark.req("KN-101", "KN-102")
def test_a_deleted_entry_comes_back_whole_without_relations_whose_other_end_is_gone() -> None:
    """Acceptance example 17."""
    record = deleted_entry()
    asked = needs([record])
    assert asked.whole_entries == {"ent_1"}
    assert asked.live >= {"ent_2", "ent_3"}
    (step,) = plan_restore([record], {"ent_2": {}, "ent_3": None}).steps
    assert (step.conflict, step.omitted_relations) == (False, ("rel_2",))
    writes = step.writes()
    assert set(writes) == {"ent_1", "blk_0", "blk_1", "blk_2", "rel_1"}
    assert [alias["alias"] for alias in (writes["ent_1"] or {})["aliases"]] == ["L", "林"]


@pytest.mark.req("KN-102")
def test_a_name_taken_meanwhile_stops_the_return_of_an_entry() -> None:
    record = deleted_entry()
    assert needs([record]).names == {("knb_1", "lin")}
    plan = plan_restore([record], {"ent_2": {}, "ent_3": {}}, {("knb_1", "lin"): "ent_7"})
    assert (plan.restorable, plan.conflicts, plan.steps[0].name_taken_by) == (False, (), "ent_7")
    with pytest.raises(NameTaken) as error:
        require_restorable(plan)
    assert error.value.details["entry_id"] == "ent_7"
    assert plan_restore([record], {}, {("knb_2", "lin"): "ent_7"}).restorable


@pytest.mark.req("KN-98", "KN-102")
def test_a_name_that_the_same_batch_frees_is_free() -> None:
    (old,) = [deleted_entry()]
    made = make_draft("entry.create", "ent_7", before=None, after=images.whole_entry(entry("LIN")))
    (new,) = make_chain([made], head=old.head)
    plan = plan_restore([old, new], {"ent_7": entry("LIN")}, {("knb_1", "lin"): "ent_7"})
    assert plan.restorable


@pytest.mark.req("KN-94")
def test_undoing_the_making_of_an_entry_never_takes_later_blocks_along_unseen() -> None:
    whole = images.whole_entry(entry(), blocks={"blk_1": block("a")})
    make, add = make_chain(
        [
            make_draft("entry.create", "ent_1", before=None, after=whole),
            make_draft("block.create", "blk_2", before=None, after=block("b")),
        ]
    )
    present = {"ent_1": entry(), "blk_1": block("a"), "blk_2": block("b")}
    assert plan_restore([make], present).conflicts == (make.id,)
    together = plan_restore([make, add], present)
    assert together.restorable
    assert together.steps[1].writes() == {"ent_1": None, "blk_1": None}


@pytest.mark.req("KN-94")
def test_a_block_does_not_return_into_an_entry_that_is_gone_unless_the_batch_brings_it_back() -> None:
    drafts = [
        make_draft("block.delete", "blk_1", before=block("a"), after=None),
        make_draft("entry.delete", "ent_1", before=images.whole_entry(entry()), after=None),
    ]
    gone, ended = make_chain(drafts)
    assert plan_restore([gone], {"ent_1": None}).conflicts == (gone.id,)
    assert plan_restore([gone], {"ent_1": entry()}).restorable
    assert plan_restore([gone, ended], {}).restorable


@pytest.mark.req("KN-30", "KN-94")
def test_a_relation_does_not_return_beside_an_equal_one() -> None:
    (record,) = make_chain([make_draft("relation.remove", "rel_1", before=relation("ent_1", "ent_2"), after=None)])
    ends: dict[str, Image | None] = {"ent_1": {}, "ent_2": {}}
    assert needs([record]).triples == {("ent_1", "knows", "ent_2")}
    assert plan_restore([record], ends).restorable
    assert not plan_restore([record], {**ends, "rel_9": relation("ent_1", "ent_2")}).restorable
    assert plan_restore([record], {**ends, "rel_9": relation("ent_2", "ent_1")}).restorable
    bounded = make_draft("relation.remove", "rel_1", before=relation("ent_1", "ent_2", valid_to=Millis(5)), after=None)
    later = {**ends, "rel_9": relation("ent_1", "ent_2", valid_from=Millis(5))}
    assert plan_restore(make_chain([bounded]), later).restorable


@pytest.mark.req("KN-94")
def test_attributes_of_different_keys_do_not_meet() -> None:
    founded = {"attributes.founded": images.attribute_value(1999)}
    (record,) = make_chain(
        [make_draft("entry.set_attributes", "ent_1", before={"attributes.founded": None}, after=founded)]
    )
    present = entry(attributes={"founded": images.attribute_value(1999), "size": images.attribute_value(4)})
    (step,) = plan_restore([record], {"ent_1": present}).steps
    assert (step.conflict, step.restored) == (False, {"attributes.founded": None})
    changed = entry(attributes={"founded": images.attribute_value(True)})
    assert plan_restore([record], {"ent_1": changed}).conflicts == (record.id,)


@pytest.mark.req("KN-94")
def test_memo_lesson_and_guide_are_restored_like_any_target() -> None:
    lesson = images.lesson_image("Ask first", overlay_id="ovl_1", origin="human_edit")
    memos = [images.memo_image([(line, images.support())]) for line in ("one", "two")]
    chain = make_chain(
        [
            make_draft("lesson.delete", "les_1", before=lesson, after=None),
            make_draft("memo.write", "mem_1", before=memos[0], after=memos[1]),
            make_draft("guide.write", "gui_1", before=None, after=images.guide_image("Keep names.")),
        ]
    )
    plan = plan_restore(chain, {"mem_1": memos[1], "gui_1": images.guide_image("Keep names.")})
    assert plan.restorable
    assert [step.restored for step in plan.steps] == [None, memos[0], lesson]
