"""Change over time, correction, dispute, rumour, own inference: what each may do. Recency decides nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graph.model.ids import NodeId
from graph.model.nodes.evidence import SourceKind
from graph.model.nodes.knowledge import ModifierKind
from graph.model.time import parse
from tests.support.desk import AGENT, ANA, ATLAS, BEN, HUMAN, LIN, Desk
from tests.support.operations import Json, add, block, cite, create, delete, edit

EVOLVED = {"change": "evolution"}
CORRECTED = {"change": "correction", "standing": "corrected"}
DISPUTED = {"change": "dispute", "standing": "disputed"}
RUMOURED = {"change": "rumour", "standing": "unconfirmed"}
INDUCED = {"change": "inference", "basis": "induced", "standing": "inferred"}


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture
def old(desk: Desk) -> NodeId:
    return desk.source("Launch is 1 June.", by=ANA, speaker="Ana", at="2025-04-02T09:00:00Z")


@pytest.fixture
def new(desk: Desk) -> NodeId:
    return desk.source("No, launch is 15 June.", by=BEN, speaker="Ben", at="2025-04-04T09:00:00Z")


@pytest.fixture
def entry(desk: Desk, old: NodeId) -> NodeId:
    return desk.made(
        create("Launch", block("Launch is 1 June.", cite(old, "Launch is 1 June"), validFrom="2025-01-01"))
    )


def first(desk: Desk, entry: NodeId) -> NodeId:
    return desk.blocks(entry)[0].id


def june15(source: str, role: str = "supports", **fields: object) -> Json:
    return block("Launch is 15 June.", cite(source, "launch is 15 June", role), **fields)


@pytest.mark.req("DR-68", "DR-69", "KN-4")
def test_a_change_over_time_names_what_it_changes(desk: Desk, entry: NodeId, new: NodeId) -> None:
    assert desk.code(add(entry, june15(new, **EVOLVED))) == "CONFLICT_UNEXPLAINED"
    made = desk.made(add(entry, june15(new, **EVOLVED, validFrom="2025-04-01", supersedes=[first(desk, entry)])))
    before, after = desk.blocks(entry)
    assert (before.version.text, before.version.valid_to) == ("Launch is 1 June.", parse("2025-04-01T00:00:00Z"))
    assert before.version.invalidated_at is None
    assert before.version.to_precision == "day"
    assert (after.id, after.version.valid_from) == (made, parse("2025-04-01T00:00:00Z"))
    assert [record.operation for record in desk.drafts] == ["block.create", "block.edit"]


@pytest.mark.req("DR-69", "KN-23")
def test_the_closed_version_has_the_same_text_and_citations(desk: Desk, entry: NodeId, new: NodeId) -> None:
    id_ = first(desk, entry)
    was = desk.block(id_)
    desk.made(add(entry, june15(new, **EVOLVED, validFrom="2025-04-01", supersedes=[id_])))
    closed = desk.block(id_)
    assert (closed.version.version, closed.version.text, closed.rests_on) == (2, was.version.text, was.rests_on)
    assert closed.version.valid_from == was.version.valid_from
    assert desk.last is not None
    assert desk.last.changes.patches[was.version.id] == {"invalidated_at": desk.at}


@pytest.mark.req("DR-69")
def test_without_a_date_the_change_begins_when_its_newest_citation_was_said(
    desk: Desk, entry: NodeId, old: NodeId, new: NodeId
) -> None:
    content = block("Launch is 15 June.", cite(old, "Launch is"), cite(new, "launch is 15 June"), **EVOLVED)
    desk.made(add(entry, content, supersedes=[first(desk, entry)]))
    before, after = desk.blocks(entry)
    said = parse("2025-04-04T09:00:00Z")
    assert (before.version.valid_to, before.version.to_precision) == (said, "day")
    assert (after.version.valid_from, after.version.from_precision) == (said, "day")


@pytest.mark.req("DR-69")
def test_a_change_does_not_begin_before_what_it_changes(desk: Desk, entry: NodeId, new: NodeId) -> None:
    early = june15(new, **EVOLVED, validFrom="2024-12-01", supersedes=[first(desk, entry)])
    assert desk.code(add(entry, early)) == "CONFLICT_UNEXPLAINED"
    assert desk.block(first(desk, entry)).version.version == 1


@pytest.mark.req("DR-69")
def test_what_had_ended_before_keeps_its_end(desk: Desk, old: NodeId, new: NodeId) -> None:
    done = block("Launch is 1 June.", cite(old, "Launch is 1 June"), validTo="2025-02-01")
    entry = desk.made(create("Launch", done))
    desk.made(add(entry, june15(new, **EVOLVED, validFrom="2025-04-01", supersedes=[first(desk, entry)])))
    assert desk.block(first(desk, entry)).version.version == 1


@pytest.mark.req("DR-69")
def test_an_edit_over_time_sets_its_beginning_and_keeps_the_evidence(
    desk: Desk, entry: NodeId, old: NodeId, new: NodeId
) -> None:
    id_ = first(desk, entry)
    both = [cite(old, "Launch is 1 June"), cite(new, "launch is 15 June")]
    told = block("Was 1 June; 15 June since April.", *both, **EVOLVED)
    assert desk.code(edit(id_, 1, told)) == "CONFLICT_UNEXPLAINED"
    assert desk.code(edit(id_, 1, {**told, "citations": both[1:]}, validFrom="2025-04-04")) == "CONFLICT_UNEXPLAINED"
    assert desk.code(edit(id_, 1, told, validFrom="2025-04-04")) == "accepted"


@pytest.mark.req("DR-71", "KN-5")
def test_only_a_persons_word_corrects(desk: Desk, entry: NodeId, new: NodeId) -> None:
    id_ = first(desk, entry)
    agent = desk.source("No, launch is 15 June.", by=ATLAS, speaker="Atlas")
    file = desk.source("launch is 15 June.", kind=SourceKind.FILE)
    assert desk.code(edit(id_, 1, june15(new, **CORRECTED))) == "CONFLICT_UNEXPLAINED"
    assert desk.code(edit(id_, 1, june15(file, "corrects", **CORRECTED))) == "CONFLICT_UNEXPLAINED"
    assert desk.code(edit(id_, 1, june15(agent, "corrects", **CORRECTED))) in (
        "AGENT_SELF_EVIDENCE",
        "CONFLICT_UNEXPLAINED",
    )
    assert desk.code(edit(id_, 1, june15(new, "corrects", **CORRECTED))) == "accepted"


@pytest.mark.req("DR-71")
def test_what_was_wrong_is_believed_no_more_but_not_said_to_have_ended(desk: Desk, entry: NodeId, new: NodeId) -> None:
    id_ = first(desk, entry)
    was = desk.block(id_)
    desk.made(edit(id_, 1, june15(new, "corrects", **CORRECTED)))
    assert desk.last is not None
    assert desk.last.changes.patches[was.version.id] == {"invalidated_at": desk.at}
    assert (desk.block(id_).version.standing, desk.block(id_).version.text) == ("corrected", "Launch is 15 June.")


@pytest.mark.req("DR-71")
def test_a_correction_beside_the_wrong_block_ends_it(desk: Desk, entry: NodeId, new: NodeId) -> None:
    id_ = first(desk, entry)
    made = desk.made(add(entry, june15(new, "corrects", **CORRECTED, supersedes=[id_])))
    assert [state.id for state in desk.blocks(entry)] == [made]
    assert [record.operation for record in desk.drafts] == ["block.create", "block.delete"]


@pytest.mark.req("DR-71", "KN-68")
def test_a_persons_own_correction_is_the_word_that_corrects(desk: Desk, entry: NodeId) -> None:
    fixed = block("Launch is 15 June.", basis="authored", **CORRECTED)
    desk.made(edit(first(desk, entry), 1, fixed), by=HUMAN)
    (edge,) = desk.links("CITES")
    assert (edge.props["role"], edge.props["speaker_id"]) == ("corrects", ANA)


@pytest.mark.req("DR-72", "DR-68")
def test_a_dispute_cites_both_sides_and_replaces_neither(desk: Desk, entry: NodeId, old: NodeId, new: NodeId) -> None:
    id_ = first(desk, entry)
    text = "Ana said on 2 April 2025 that launch is 1 June; Ben said on 4 April 2025 that it is 15 June."
    both = [cite(old, "Launch is 1 June"), cite(new, "launch is 15 June", "contradicts")]
    dispute = block(text, *both, **DISPUTED)
    assert desk.code(add(entry, {**dispute, "citations": both[1:]})) == "NOT_ENOUGH_EVIDENCE"
    agreeing = [both[0], cite(new, "launch is 15 June")]
    assert desk.code(add(entry, {**dispute, "citations": agreeing})) == "CONFLICT_UNEXPLAINED"
    assert desk.code(add(entry, dispute, supersedes=[id_])) == "SCHEMA_INVALID"
    assert desk.code(add(entry, {**dispute, "text": "Launch is 1 or 15 June."})) == "CONFLICT_UNEXPLAINED"
    assert desk.code(add(entry, {**dispute, "text": "Ana says 1 June, Ben says 15 June."})) == "CONFLICT_UNEXPLAINED"
    made = desk.made(add(entry, dispute))
    assert {state.id for state in desk.blocks(entry)} == {id_, made}
    assert desk.block(id_).version.version == 1


@pytest.mark.req("DR-72")
def test_an_edit_that_tells_of_a_dispute_keeps_the_evidence_of_the_position(
    desk: Desk, entry: NodeId, old: NodeId, new: NodeId
) -> None:
    third = desk.source("Launch is in July.", by=LIN, speaker="Lin", at="2025-04-05T09:00:00Z")
    id_ = first(desk, entry)
    text = "Ben said on 4 April 2025 it is 15 June, Lin on 5 April 2025 in July, Ana on 2 April 2025 1 June."
    sides = [cite(new, "launch is 15 June"), cite(third, "Launch is in July", "contradicts")]
    assert desk.code(edit(id_, 1, block(text, *sides, **DISPUTED))) == "CONFLICT_UNEXPLAINED"
    assert desk.code(edit(id_, 1, block(text, *sides, cite(old, "Launch is 1 June"), **DISPUTED))) == "accepted"


@pytest.mark.req("DR-72")
@pytest.mark.parametrize("at", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z"])
def test_a_dispute_of_the_first_or_last_day_of_all_is_judged_like_any(
    desk: Desk, entry: NodeId, old: NodeId, at: str
) -> None:
    odd = desk.source("No, launch is 15 June.", by=BEN, speaker="Ben", at=at)
    both = [cite(old, "Launch is 1 June"), cite(odd, "launch is 15 June", "contradicts")]
    day = "1 January" if at.startswith("0001") else "31 December"
    for said, code in ((day, "accepted"), ("2 April 2025", "CONFLICT_UNEXPLAINED")):
        text = f"Ana said on 2 April 2025 that launch is 1 June; Ben said on {said} that it is 15 June."
        assert desk.code(add(entry, block(text, *both, **DISPUTED))) == code


@pytest.mark.req("DR-72", "DR-67")
def test_a_dispute_is_resolved_by_a_correction_or_by_one_of_the_parties(
    desk: Desk, entry: NodeId, old: NodeId, new: NodeId
) -> None:
    text = "Ana said on 2 April 2025 that launch is 1 June; Ben said on 4 April 2025 that it is 15 June."
    both = [cite(old, "Launch is 1 June"), cite(new, "launch is 15 June", "contradicts")]
    disputed = desk.made(add(entry, block(text, *both, **DISPUTED)))
    outsider = desk.source("It is 15 June, I think.", by=LIN, speaker="Lin")
    party = desk.source("Fine, it is 15 June.", by=ANA, speaker="Ana")
    settled = block("Launch is 15 June.", cite(outsider, "is 15 June"))
    assert desk.code(edit(disputed, 1, settled)) == "CONFLICT_UNEXPLAINED"
    assert desk.code(delete(disputed, 1, cite(outsider, "is 15 June"))) == "CONFLICT_UNEXPLAINED"
    assert desk.code(edit(disputed, 1, block("Launch is 15 June.", cite(party, "is 15 June")))) == "accepted"


@pytest.mark.req("DR-73", "KN-111")
def test_a_rumour_stands_beside_what_is_settled_never_in_its_place(desk: Desk, entry: NodeId) -> None:
    heard = desk.source("I heard it may slip to July.", at="2025-05-09T12:00:00Z")
    id_ = first(desk, entry)
    rumour = block("Ben heard on 9 May 2025 that it may slip.", cite(heard, "may slip to July"), **RUMOURED)
    assert desk.code(edit(id_, 1, rumour)) == "RUMOUR_OVERRIDE"
    assert desk.code(add(entry, rumour, supersedes=[id_])) == "RUMOUR_OVERRIDE"
    assert desk.code(edit(id_, 1, rumour), by=AGENT) == "RUMOUR_OVERRIDE"
    assert desk.code(add(entry, rumour)) == "accepted"
    assert desk.code(edit(id_, 1, rumour), by=HUMAN) == "accepted"


@pytest.mark.req("DR-73")
@pytest.mark.parametrize("text", ["It may slip.", "Ben heard that it may slip.", "On 9 May 2025 it was said to slip."])
def test_a_rumour_says_who_said_it_and_when(desk: Desk, entry: NodeId, text: str) -> None:
    heard = desk.source("I heard it may slip to July.")
    rumour = block(text, cite(heard, "may slip to July"), **RUMOURED)
    assert desk.code(add(entry, rumour)) == "CONFLICT_UNEXPLAINED"


@pytest.mark.req("DR-73")
def test_a_rumour_may_replace_a_rumour(desk: Desk, entry: NodeId) -> None:
    heard = desk.source("I heard it may slip to July.")
    later = desk.source("I heard it may slip to August.", at="2025-05-10T08:00:00Z")
    july = block("Ben heard on 9 May 2025 that it may slip to July.", cite(heard, "slip to July"), **RUMOURED)
    august = block("Ben heard on 10 May 2025 that it may slip to August.", cite(later, "slip to August"), **RUMOURED)
    id_ = desk.made(add(entry, july))
    assert desk.code(edit(id_, 1, august)) == "accepted"


@pytest.mark.req("DR-74", "KN-111")
def test_an_inference_replaces_nothing_that_was_said(desk: Desk, entry: NodeId, new: NodeId) -> None:
    id_ = first(desk, entry)
    other = desk.source("Another launch slipped.")
    trend = block("Launches slip.", cite(new, "launch is 15"), cite(other, "launch slipped"), **INDUCED)
    assert desk.code(edit(id_, 1, trend)) == "INFERENCE_OVERRIDE"
    assert desk.code(add(entry, trend, supersedes=[id_])) == "INFERENCE_OVERRIDE"
    assert desk.code(edit(id_, 1, {**trend, "change": "evolution"})) == "INFERENCE_OVERRIDE"
    inferred = desk.made(add(entry, trend))
    third = desk.source("Every launch of ours slips.")
    again = block(
        "Launches slip by weeks.", cite(third, "launch of ours slips"), cite(other, "launch slipped"), **INDUCED
    )
    assert desk.code(edit(inferred, 1, again)) == "accepted"


@pytest.mark.req("KN-24", "DR-75")
@pytest.mark.parametrize(
    "fields",
    [
        {"standing": "corrected"},
        {"standing": "inferred"},
        {"basis": "induced"},
        {"change": "rumour"},
        {"change": "dispute"},
        {"change": "inference"},
        {"change": "correction"},
        {"change": "rumour", "standing": "inferred", "basis": "induced"},
        {"change": "compression"},
        {"basis": "authored"},
    ],
)
def test_a_change_fits_basis_and_standing(desk: Desk, entry: NodeId, new: NodeId, fields: Json) -> None:
    assert desk.code(add(entry, june15(new), **fields)) == "SCHEMA_INVALID"


@pytest.mark.req("DR-75", "DR-78")
def test_what_a_person_wrote_is_edited_by_correction_or_evolution_alone(desk: Desk, entry: NodeId, new: NodeId) -> None:
    id_ = first(desk, entry)
    desk.made(edit(id_, 1, block("Launch is 2 June.", basis="authored")), by=HUMAN)
    assert desk.block(id_).version.modifier_kind == ModifierKind.HUMAN
    kept = [cite(c.source, c.quote, c.role) for c in desk.block(id_).rests_on.citations]
    assert desk.code(edit(id_, 2, june15(new))) == "SCHEMA_INVALID"
    assert desk.code(delete(id_, 2, cite(new, "launch is 15 June"))) == "CONFLICT_UNEXPLAINED"
    assert desk.code(edit(id_, 2, june15(new)), by=AGENT) == "SCHEMA_INVALID"
    evolved = block("Was 2 June, is 15 June.", *kept, cite(new, "launch is 15 June"), **EVOLVED, validFrom="2025-04-04")
    assert desk.code(edit(id_, 2, evolved)) == "accepted"


@pytest.mark.req("DR-52")
def test_a_compression_makes_no_rumour_firm(desk: Desk, entry: NodeId) -> None:
    heard = desk.source("I heard it may slip to July.")
    quote = cite(heard, "may slip to July")
    id_ = desk.made(add(entry, block("Ben heard on 9 May 2025 that it may slip.", quote, **RUMOURED)))
    firm = block("It slips.", quote, change="compression")
    assert desk.code(edit(id_, 1, firm)) == "SCHEMA_INVALID"
    assert desk.code(edit(id_, 1, {**firm, "standing": "unconfirmed"})) == "accepted"


@pytest.mark.req("DR-75", "DR-73")
@pytest.mark.parametrize("standing", ["unconfirmed", "disputed", "inferred"])
def test_a_compression_takes_no_firmness_from_what_is_settled(
    desk: Desk, entry: NodeId, old: NodeId, standing: str
) -> None:
    weaker = block("Launch is perhaps 1 June.", cite(old, "Launch is 1 June"), change="compression", standing=standing)
    assert desk.code(edit(first(desk, entry), 1, weaker)) == "SCHEMA_INVALID"
    rumour = desk.made(add(entry, block("Ana said on 2 April 2025 it is 1 June.", cite(old, "is 1 June"), **RUMOURED)))
    both = [first(desk, entry), rumour]
    quotes = [cite(old, "Launch is 1 June"), cite(old, "is 1 June")]
    mixed = block("Launch is 1 June.", *quotes, change="compression", standing=standing, supersedes=both)
    assert desk.code(add(entry, mixed)) == "SCHEMA_INVALID"


@pytest.mark.req("DR-73", "KN-111")
def test_a_rumour_deletes_nothing_that_is_settled(desk: Desk, entry: NodeId) -> None:
    heard = desk.source("I heard it may slip to July.")
    said = desk.source("It was moved to July, I have it in writing.")
    id_ = first(desk, entry)
    rumour = add(entry, block("Ben heard on 9 May 2025 that it may slip.", cite(heard, "may slip to July"), **RUMOURED))
    by_rumour = delete(id_, 1, cite(heard, "it may slip"))
    assert desk.codes(rumour, by_rumour) == ["accepted", "RUMOUR_OVERRIDE"]
    told = desk.made(rumour)
    assert desk.code(delete(id_, 1, duplicateOf=told)) == "RUMOUR_OVERRIDE"
    assert desk.code(delete(id_, 1, duplicateOf=told), by=AGENT) == "RUMOUR_OVERRIDE"
    assert desk.code(delete(told, 1, duplicateOf=id_)) == "accepted"
    by_both = delete(
        id_, desk.block(id_).block.current_version, cite(heard, "it may slip"), cite(said, "moved to July")
    )
    assert desk.code(by_both) == "accepted"


@pytest.mark.req("DR-74", "DR-72", "DR-75", "KN-111")
def test_a_duplicate_says_what_may_take_its_place(desk: Desk, entry: NodeId, old: NodeId, new: NodeId) -> None:
    id_ = first(desk, entry)
    other = desk.source("Another launch slipped.")
    trend = block("Launches slip.", cite(new, "launch is 15"), cite(other, "launch slipped"), **INDUCED)
    inferred = desk.made(add(entry, trend))
    assert desk.code(delete(id_, 1, duplicateOf=inferred)) == "INFERENCE_OVERRIDE"
    text = "Ana said on 2 April 2025 that launch is 1 June; Ben said on 4 April 2025 that it is 15 June."
    sides = [cite(old, "Launch is 1 June"), cite(new, "launch is 15 June", "contradicts")]
    disputed = desk.made(add(entry, block(text, *sides, **DISPUTED)))
    assert desk.code(delete(disputed, 1, duplicateOf=id_)) == "CONFLICT_UNEXPLAINED"
    typed = desk.made(add(entry, block("It is on 1 June.", basis="authored")), by=HUMAN)
    assert desk.code(delete(typed, 1, duplicateOf=id_)) == "CONFLICT_UNEXPLAINED"
    assert desk.code(delete(typed, 1, duplicateOf=id_), by=HUMAN) == "accepted"


@pytest.mark.req("DR-52", "KN-111")
def test_a_person_condenses_without_the_old_citations(desk: Desk, entry: NodeId, new: NodeId) -> None:
    second = desk.made(add(entry, june15(new)))
    shorter = block("1 or 15 June.", basis="authored", change="compression", supersedes=[first(desk, entry), second])
    assert desk.code(add(entry, shorter), by=HUMAN) == "accepted"


@pytest.mark.req("DR-68")
def test_a_newer_word_alone_settles_nothing(desk: Desk, entry: NodeId, new: NodeId) -> None:
    added = desk.made(add(entry, june15(new)))
    assert {state.id for state in desk.blocks(entry)} == {first(desk, entry), added}
    assert all(state.version.valid_to is None for state in desk.blocks(entry))


def test_a_person_keeps_the_evidence_when_he_only_words_it_better(desk: Desk, entry: NodeId, old: NodeId) -> None:
    id_ = first(desk, entry)
    desk.made(edit(id_, 1, block("The launch is on 1 June.", basis="authored")), by=HUMAN)
    cited = [c.source for c in desk.block(id_).rests_on.citations]
    assert cited[0] == old
    assert desk.state.sources[cited[1]].kind == SourceKind.HUMAN_NOTE
    other = replace(HUMAN, id=BEN)
    assert desk.code(edit(id_, 2, block("The launch is on 1 June.", basis="authored")), by=other) == "noop"
