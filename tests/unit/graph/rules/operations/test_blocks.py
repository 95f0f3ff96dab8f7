"""Blocks: versions, places, evidence that is new, duplicates, what passes, what is said twice."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graph.model.ids import NodeId
from graph.model.nodes.knowledge import BlockVersion
from graph.rules.knowledge_settings import TRANSIENT_PATTERNS
from graph.rules.operations.block_places import GAP
from tests.support.desk import AGENT, ANA, DREAMING, HUMAN, Desk
from tests.support.operations import add, block, cite, create, delete, edit


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture
def source(desk: Desk) -> NodeId:
    return desk.source("Helio builds kilns in Berlin.")


@pytest.fixture
def newer(desk: Desk) -> NodeId:
    return desk.source("Helio builds kilns and ovens in Berlin and Graz.")


@pytest.fixture
def entry(desk: Desk, source: NodeId) -> NodeId:
    return desk.made(create("Helio", block("Builds kilns.", cite(source, "builds kilns"))))


def first(desk: Desk, entry: NodeId) -> NodeId:
    return desk.blocks(entry)[0].id


@pytest.mark.req("KN-22", "KN-23", "KN-83", "KN-84")
def test_an_edit_adds_a_version_and_leaves_the_old_one(desk: Desk, entry: NodeId, newer: NodeId) -> None:
    id_ = first(desk, entry)
    old = desk.block(id_)
    text = block("Builds kilns and ovens.", cite(newer, "kilns and ovens"))
    assert desk.code(edit(id_, 1, text, reason="they said so")) == "accepted"
    new = desk.block(id_)
    assert (new.version.version, new.block.current_version, new.version.modifier_id) == (2, 2, DREAMING.id)
    assert desk.last is not None
    assert desk.last.changes.patches[old.version.id] == {"invalidated_at": desk.at}
    assert [(e.source, e.target) for e in desk.links("SUPERSEDES")] == [(new.version.id, old.version.id)]
    (record,) = desk.drafts
    assert (record.operation, record.target_id, record.reason) == ("block.edit", id_, "they said so")
    assert (record.before["text"], record.after["text"]) == ("Builds kilns.", "Builds kilns and ovens.")
    assert "position" not in record.after
    assert set(record.image_sources) == {newer, *(c.source for c in old.rests_on.citations)}


@pytest.mark.req("KN-87")
def test_an_edit_names_the_current_version_and_is_told_the_current_text(
    desk: Desk, entry: NodeId, newer: NodeId
) -> None:
    text = block("Builds ovens.", cite(newer, "kilns and ovens"))
    (verdict,) = desk.apply(edit(first(desk, entry), 2, text)).verdicts
    assert verdict.code == "VERSION_CONFLICT"
    assert verdict.details == {"current": {"version": 1, "text": "Builds kilns."}}


@pytest.mark.req("DR-42", "KN-87")
def test_the_second_edit_of_a_list_builds_on_the_first(desk: Desk, entry: NodeId, newer: NodeId) -> None:
    id_ = first(desk, entry)
    ovens = block("Builds ovens.", cite(newer, "kilns and ovens"))
    graz = block("Builds ovens in Graz.", cite(newer, "Graz"))
    assert desk.codes(edit(id_, 1, ovens), edit(id_, 1, graz)) == ["accepted", "VERSION_CONFLICT"]
    assert desk.codes(edit(id_, 1, ovens), edit(id_, 2, graz)) == ["accepted", "accepted"]
    assert desk.last is not None
    put = [n for n in desk.last.changes.puts if isinstance(n, BlockVersion)]
    assert [(v.version, v.invalidated_at) for v in put] == [(2, desk.at), (3, None)]
    assert [t.text for t in desk.last.changes.texts] == ["Builds ovens in Graz."]


@pytest.mark.req("KN-86")
@pytest.mark.parametrize("reason", ["", "  "])
def test_a_persons_correction_carries_a_reason(desk: Desk, entry: NodeId, reason: str) -> None:
    silent = replace(HUMAN, reason=reason)
    id_ = first(desk, entry)
    fixed = block("Builds ovens.", basis="authored", standing="corrected", change="correction")
    assert desk.code(edit(id_, 1, fixed), by=silent) == "REASON_REQUIRED"
    assert desk.code(delete(id_, 1, reason=reason), by=silent) == "REASON_REQUIRED"
    assert desk.code(edit(id_, 1, fixed, reason="a typo"), by=silent) == "accepted"


@pytest.mark.req("DR-52", "KN-111")
def test_another_text_needs_evidence_that_the_old_one_did_not_have(
    desk: Desk, entry: NodeId, source: NodeId, newer: NodeId
) -> None:
    id_ = first(desk, entry)
    same_quote = block("Makes kilns.", cite(source, "builds kilns"))
    shifted = block("Makes kilns.", cite(source, "builds kilns in"))
    assert desk.code(edit(id_, 1, same_quote)) == "NO_NEW_EVIDENCE"
    assert desk.code(edit(id_, 1, shifted)) == "NO_NEW_EVIDENCE"
    assert desk.code(edit(id_, 1, same_quote), by=AGENT) == "NO_NEW_EVIDENCE"
    assert desk.code(edit(id_, 1, same_quote), by=HUMAN) == "accepted"
    assert desk.code(
        edit(first(desk, entry), 2, block("Makes kilns.", cite(newer, "kilns and"), change="evolution"))
    ) != ("NO_NEW_EVIDENCE")


@pytest.mark.req("DR-52")
def test_a_compression_keeps_all_old_citations_and_needs_no_new_one(
    desk: Desk, entry: NodeId, source: NodeId, newer: NodeId
) -> None:
    id_ = first(desk, entry)
    both = [cite(source, "builds kilns"), cite(newer, "kilns and ovens")]
    desk.made(edit(id_, 1, block("Builds kilns; builds ovens too.", *both)))
    shorter = block("Builds kilns and ovens.", change="compression")
    assert desk.code(edit(id_, 2, {**shorter, "citations": both[:1]})) == "NO_NEW_EVIDENCE"
    assert desk.code(edit(id_, 2, {**shorter, "citations": both})) == "accepted"


@pytest.mark.req("DR-52")
def test_a_compression_of_several_blocks_takes_their_place(
    desk: Desk, entry: NodeId, source: NodeId, newer: NodeId
) -> None:
    other = desk.made(add(entry, block("Builds ovens.", cite(newer, "kilns and ovens"))))
    id_ = first(desk, entry)
    both = [cite(source, "builds kilns"), cite(newer, "kilns and ovens")]
    one = block("Builds kilns and ovens.", change="compression", supersedes=[id_, other])
    assert desk.code(add(entry, {**one, "citations": both[:1]})) == "NO_NEW_EVIDENCE"
    assert desk.code(add(entry, {**one, "supersedes": []}, citations=both)) == "SCHEMA_INVALID"
    made = desk.made(add(entry, {**one, "citations": both}))
    assert [state.id for state in desk.blocks(entry)] == [made]
    assert sorted(record.operation for record in desk.drafts) == ["block.create", "block.delete", "block.delete"]


@pytest.mark.req("DR-43", "DR-52")
def test_a_block_is_deleted_by_new_evidence_or_as_a_duplicate(
    desk: Desk, entry: NodeId, source: NodeId, newer: NodeId
) -> None:
    id_ = first(desk, entry)
    assert desk.code(delete(id_, 1, cite(source, "builds kilns"))) == "NO_NEW_EVIDENCE"
    assert desk.code(delete(id_, 1)) == "NO_NEW_EVIDENCE"
    assert desk.code(delete(id_, 1, cite(newer, "kilns and ovens"), reason="")) == "SCHEMA_INVALID"
    assert desk.code(delete(id_, 1, cite(newer, "kilns and ovens"))) == "accepted"
    assert desk.blocks(entry) == []
    assert [(r.operation, r.after) for r in desk.drafts] == [("block.delete", None)]
    assert desk.last is not None
    assert desk.last.changes.patches[id_] == {"deleted_at": desk.at}


@pytest.mark.req("DR-43")
def test_the_sources_of_a_duplicate_move_to_the_block_that_stays(
    desk: Desk, entry: NodeId, source: NodeId, newer: NodeId
) -> None:
    twin = desk.made(add(entry, block("It builds kilns.", cite(newer, "builds kilns and"))))
    id_ = first(desk, entry)
    assert desk.code(delete(id_, 1, duplicateOf=id_)) == "EVIDENCE_NOT_FOUND"
    assert desk.code(delete(id_, 1, duplicateOf=twin)) == "accepted"
    (left,) = desk.blocks(entry)
    assert (left.id, left.version.version, left.version.text) == (twin, 2, "It builds kilns.")
    assert {cited.source for cited in left.rests_on.citations} == {source, newer}
    assert [record.operation for record in desk.drafts] == ["block.edit", "block.delete"]
    third = desk.made(add(entry, block("Yes, kilns.", cite(source, "kilns in"))))
    assert desk.code(delete(twin, 2, duplicateOf=id_)) == "EVIDENCE_NOT_FOUND"
    assert third in desk.state.blocks


@pytest.mark.req("KN-9", "DR-50", "KN-111")
@pytest.mark.parametrize(
    "text",
    [
        "The migration is 60 % done.",
        "The build is currently running.",
        "Traceback (most recent call last): x",
        "It failed with HTTP 503",
        "The stock level is 40",
        "There are 40 kilns in stock.",
        "A kiln costs 1,200 EUR.",
        "Step 3 of 7 is finished.",
        "Done 3/10 tasks",
        "The build failed with error code E1234.",
        "Error 0x80070005",
        "ERR_CONNECTION_RESET",
        "迁移完成了 60%",
        "余额 300 元",
    ],
)
def test_a_passing_state_is_not_kept_unless_a_person_writes_it(
    desk: Desk, entry: NodeId, source: NodeId, text: str
) -> None:
    passing = add(entry, block(text, cite(source, "builds kilns")))
    assert desk.code(passing) == "TRANSIENT_STATE"
    assert desk.code(passing, by=AGENT) == "TRANSIENT_STATE"
    assert desk.code(add(entry, block(text, basis="authored")), by=HUMAN) == "accepted"


@pytest.mark.req("DR-50")
@pytest.mark.parametrize(
    "text",
    [
        "Prices are kept in the ERP.",
        "Stock options are granted to staff.",
        "Helio has 400 staff and 3 of 7 kilns are in Graz.",
        "Exit codes of the deploy tool are listed in its manual.",
        "Moving a kiln costs 3 days.",
        "价格 2025 年起由总部决定",
    ],
)
def test_what_lasts_is_kept_though_it_has_numbers_and_such_words(
    desk: Desk, entry: NodeId, source: NodeId, text: str
) -> None:
    assert desk.code(add(entry, block(text, cite(source, "builds kilns")))) == "accepted"


@pytest.mark.req("DR-50", "MA-18")
def test_a_current_value_is_kept_with_its_validity_and_authority(desk: Desk, entry: NodeId, source: NodeId) -> None:
    price = block("The price is 40 $ a kiln.", cite(source, "builds kilns"), authority="ERP")
    assert desk.code(add(entry, price)) == "TRANSIENT_STATE"
    assert desk.code(add(entry, {**price, "validFrom": "2025-05-01"})) == "accepted"


@pytest.mark.req("DR-50")
def test_what_the_writer_calls_transient_is_not_kept(desk: Desk, entry: NodeId, source: NodeId) -> None:
    content = block("Builds many kilns.", cite(source, "builds kilns"))
    assert desk.code(add(entry, content, durability="transient")) == "TRANSIENT_STATE"
    assert desk.code(add(entry, {k: v for k, v in content.items() if k != "durability"})) == "SCHEMA_INVALID"
    assert desk.code(add(entry, content)) == "accepted"


@pytest.mark.req("DR-50", "KN-119")
def test_patterns_of_passing_states_are_a_setting(desk: Desk, entry: NodeId, source: NodeId) -> None:
    desk.set(dream__transient_patterns=(*TRANSIENT_PATTERNS, r"\bkilns today\b"))
    assert desk.code(add(entry, block("Many kilns today.", cite(source, "builds kilns")))) == "TRANSIENT_STATE"


@pytest.mark.req("DR-50")
def test_a_pattern_that_would_search_for_ever_finds_nothing(desk: Desk, entry: NodeId, source: NodeId) -> None:
    desk.set(dream__transient_patterns=(r"(a|aa)+$",))
    assert desk.code(add(entry, block(f"{'a' * 80}b", cite(source, "builds kilns")))) == "accepted"


def test_blocks_stand_in_order_and_one_can_come_between(desk: Desk, entry: NodeId, source: NodeId) -> None:
    last = desk.made(add(entry, block("In Berlin.", cite(source, "in Berlin"))))
    between = desk.made(add(entry, block("Kilns for glass.", cite(source, "kilns in")), after=first(desk, entry)))
    assert [state.id for state in desk.blocks(entry)] == [first(desk, entry), between, last]
    assert [record.operation for record in desk.drafts] == ["block.create"]


def test_neighbours_move_on_where_no_place_is_left(desk: Desk, entry: NodeId, source: NodeId) -> None:
    last = desk.made(add(entry, block("In Berlin.", cite(source, "in Berlin"))))
    state = desk.block(last)
    close = replace(state, block=replace(state.block, position=GAP + 1))
    desk.state = replace(desk.state, blocks={**desk.state.blocks, last: close})
    between = desk.made(add(entry, block("For glass.", cite(source, "kilns in")), after=first(desk, entry)))
    assert [s.id for s in desk.blocks(entry)] == [first(desk, entry), between, last]
    assert [record.operation for record in desk.drafts] == ["block.move", "block.create"]


@pytest.mark.req("KN-84")
def test_an_edit_may_move_a_block(desk: Desk, entry: NodeId, source: NodeId) -> None:
    id_ = first(desk, entry)
    last = desk.made(add(entry, block("In Berlin.", cite(source, "in Berlin"))))
    unchanged = block("Builds kilns.", cite(source, "builds kilns"), after=last)
    assert desk.code(edit(id_, 1, unchanged)) == "accepted"
    assert [state.id for state in desk.blocks(entry)] == [last, id_]
    assert [(r.operation, set(r.after)) for r in desk.drafts] == [("block.move", {"entryId", "position"})]
    assert desk.code(edit(id_, 1, unchanged)) == "noop"


def test_an_edit_that_says_nothing_else_changes_nothing(desk: Desk, entry: NodeId, source: NodeId) -> None:
    same = block("Builds kilns.", cite(source, "builds kilns"))
    assert desk.code(edit(first(desk, entry), 1, same)) == "noop"
    assert desk.last is not None
    assert not desk.last.changes.puts


def test_the_same_statement_twice_is_one_statement(desk: Desk, entry: NodeId, source: NodeId, newer: NodeId) -> None:
    id_ = first(desk, entry)
    again = add(entry, block("builds  KILNS.", cite(source, "builds kilns")))
    assert (desk.code(again), desk.last.verdicts[0].created[0]) == ("noop", id_)  # type: ignore[union-attr]
    assert list(desk.drafts) == []
    other = add(entry, block("Builds kilns.", cite(newer, "builds kilns")))
    assert (desk.code(other), desk.last.verdicts[0].created[0]) == ("merged", id_)  # type: ignore[union-attr]
    assert {cited.source for cited in desk.block(id_).rests_on.citations} == {source, newer}
    assert [record.operation for record in desk.drafts] == ["block.edit"]
    assert desk.code(other) == "noop"


def test_what_a_person_types_twice_is_one_statement_with_one_note(desk: Desk, entry: NodeId) -> None:
    typed = add(entry, block("Makes glass.", basis="authored"))
    assert desk.codes(typed, by=HUMAN) == ["accepted"]
    assert desk.codes(typed, by=replace(HUMAN, id=NodeId("prn_w/human/cleo"))) == ["noop"]
    assert desk.last is not None
    assert not desk.last.changes.puts


def test_equal_words_about_another_time_are_another_statement(desk: Desk, entry: NodeId, source: NodeId) -> None:
    then = add(entry, block("Builds kilns.", cite(source, "builds kilns"), validFrom="2001", validTo="2003"))
    assert desk.code(then) == "accepted"
    assert len(desk.blocks(entry)) == 2


@pytest.mark.req("KN-73")
def test_validity_ends_after_it_begins(desk: Desk, entry: NodeId, source: NodeId) -> None:
    wrong = block("Built ovens.", cite(source, "builds kilns"), validFrom="2003", validTo="2001")
    assert desk.code(add(entry, wrong)) == "SCHEMA_INVALID"


@pytest.mark.req("DR-44")
def test_a_block_that_is_hidden_or_elsewhere_is_not_found(desk: Desk, entry: NodeId, source: NodeId) -> None:
    other = desk.made(create("Orion", block("Sells kilns.", cite(source, "builds kilns"))))
    elsewhere = first(desk, other)
    content = block("In Berlin.", cite(source, "in Berlin"))
    assert desk.code(add(entry, content, after=elsewhere)) == "EVIDENCE_NOT_FOUND"
    assert desk.code(edit("blk_nowhere", 1, content)) == "EVIDENCE_NOT_FOUND"
    desk.state = replace(desk.state, visible=desk.state.visible - {elsewhere})
    assert desk.code(edit(elsewhere, 1, content)) == "EVIDENCE_NOT_FOUND"


@pytest.mark.req("KN-83")
def test_a_record_says_who_did_it_in_which_run_and_why(desk: Desk, entry: NodeId, source: NodeId) -> None:
    run = NodeId("run_1")
    actor = replace(DREAMING, dream_run_id=run, reason="batch 7", on_behalf_of=ANA)
    desk.made(add(entry, block("In Berlin.", cite(source, "in Berlin"))), by=actor)
    (record,) = desk.drafts
    assert (record.actor_id, record.actor_kind, record.dream_run_id, record.reason, record.on_behalf_of) == (
        DREAMING.id,
        "dreaming",
        run,
        "batch 7",
        ANA,
    )
