"""What may be cited, where, and by whom."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import pytest

from graph.model.ids import NodeId
from graph.model.nodes.evidence import SourceKind
from graph.model.nodes.knowledge import KbKind, KnowledgeBase
from graph.rules.operations.evidence import distinct_evidence
from graph.rules.operations.state import cited_of
from tests.support.desk import AGENT, ANA, ATLAS, DREAMING, HUMAN, Desk, base
from tests.support.operations import add, block, cite, create, delete, edit, on_entry

OPS = NodeId("chn_w/atlas/ops")


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.mark.req("KN-69", "KN-70", "KN-71")
def test_a_citation_keeps_source_speaker_time_and_place(desk: Desk) -> None:
    source = desk.source("Yes.\r\nHelio builds kilns.", at="2025-05-09T12:00:00Z")
    desk.made(create("Helio", block("Builds kilns.", cite(source, "builds kilns"))))
    (cited,) = [cited_of(edge) for edge in desk.links("CITES")]
    assert (cited.quote, cited.start, cited.end, cited.speaker_id) == (
        "builds kilns",
        11,
        23,
        desk_author(desk, source),
    )
    assert cited.said_at == desk.state.sources[source].occurred_at


def desk_author(desk: Desk, source: NodeId) -> NodeId | None:
    return desk.state.sources[source].author_id


@pytest.mark.req("KN-70", "DR-46")
@pytest.mark.parametrize("quote", ["Helios", "helio builds", "builds  kilns", "kil", "x" * 501])
def test_a_quote_stands_in_the_source_as_it_is(desk: Desk, quote: str) -> None:
    source = desk.source("Helio builds kilns.")
    assert desk.code(create("Helio", block("Builds kilns.", cite(source, quote)))) == "QUOTE_NOT_VERBATIM"


@pytest.mark.req("KN-70")
def test_a_short_source_is_quoted_whole(desk: Desk) -> None:
    source = desk.source("Yes")
    assert desk.code(create("Helio", block("Agreed.", cite(source, "Yes")))) == "accepted"


@pytest.mark.req("DR-44")
def test_missing_and_hidden_evidence_answer_alike(desk: Desk) -> None:
    hidden = desk.source("Helio builds kilns.", visible=False)
    answers = [
        desk.apply(create("Helio", block("Builds kilns.", cite(source, "builds kilns")))).verdicts[0]
        for source in (hidden, "src_nowhere", "nonsense")
    ]
    assert {(a.code, a.reason, tuple(a.details)) for a in answers} == {("EVIDENCE_NOT_FOUND", answers[0].reason, ())}


@pytest.mark.req("DR-5")
def test_a_statement_is_no_evidence_but_a_hidden_one_is_not_even_found(desk: Desk) -> None:
    source = desk.source("Helio builds kilns.")
    entry = desk.made(create("Helio", block("Builds kilns.", cite(source, "builds kilns"))))
    said = desk.blocks(entry)[0].id
    again = add(entry, block("Builds many kilns.", cite(said, "Builds kilns.")))
    assert desk.code(again) == "DERIVED_NOT_EVIDENCE"
    desk.state = replace(desk.state, visible=desk.state.visible - {said})
    assert desk.code(again) == "EVIDENCE_NOT_FOUND"


@pytest.mark.req("DR-23")
def test_an_episode_is_no_evidence(desk: Desk) -> None:
    desk.state = replace(desk.state, visible=frozenset({NodeId("eps_1")}))
    assert desk.code(create("Helio", block("Builds.", cite("eps_1", "about kilns")))) == "EPISODE_NOT_EVIDENCE"


@pytest.mark.req("DR-45")
def test_a_model_cites_only_what_it_was_shown(desk: Desk) -> None:
    shown, unseen = desk.source("Helio builds kilns."), desk.source("Helio sells kilns.")
    actor = replace(DREAMING, opened=frozenset({shown}))
    good = create("Helio", block("Builds kilns.", cite(shown, "builds kilns")))
    assert desk.code(create("Orion", block("Sells.", cite(unseen, "sells kilns"))), by=actor) == "EVIDENCE_NOT_FOUND"
    entry = desk.made(good, by=actor)
    block_id = desk.blocks(entry)[0].id
    other = replace(DREAMING, opened=frozenset({unseen}))
    edited = block("Builds and sells kilns.", cite(shown, "builds kilns"), cite(unseen, "sells kilns"))
    assert desk.code(edit(block_id, 1, edited), by=other) == "accepted"


@pytest.mark.req("KN-53", "DR-33")
@pytest.mark.parametrize(
    ("target", "source", "code"),
    [
        (KbKind.SHARED, KbKind.AGENT, "accepted"),
        (KbKind.AGENT, KbKind.SHARED, "accepted"),
        (KbKind.CHANNEL, KbKind.SHARED, "accepted"),
        (KbKind.CHANNEL, KbKind.CHANNEL, "accepted"),
        (KbKind.SHARED, KbKind.CHANNEL, "SCOPE_FORBIDDEN"),
        (KbKind.AGENT, KbKind.PRIVATE, "SCOPE_FORBIDDEN"),
        (KbKind.CHANNEL, KbKind.PRIVATE, "SCOPE_FORBIDDEN"),
    ],
)
def test_evidence_comes_from_a_scope_that_the_base_reads(target: KbKind, source: KbKind, code: str) -> None:
    desk = Desk(base=_base(target))
    said = desk.source("Helio builds kilns.", pool=_base(source))
    assert desk.code(create("Helio", block("Builds kilns.", cite(said, "builds kilns")))) == code


@pytest.mark.req("KN-55")
def test_granted_shared_knowledge_of_another_agent_is_no_evidence(desk: Desk) -> None:
    other = replace(base(), id=NodeId("knb_w/orion/shared"), owner_id=NodeId("prn_w/agent/orion"))
    said = desk.source("Helio builds kilns.", pool=other)
    assert desk.code(create("Helio", block("Builds.", cite(said, "builds kilns")))) == "SCOPE_FORBIDDEN"


def _base(kind: KbKind) -> KnowledgeBase:
    return base(kind, OPS if kind in (KbKind.CHANNEL, KbKind.PRIVATE) else None)


@pytest.mark.req("DR-40", "DR-47")
def test_an_agent_does_not_prove_itself(desk: Desk) -> None:
    own = desk.source("You work at Google, right?", by=ATLAS, speaker="Atlas")
    other = desk.source("I work at Google.", by=ANA, speaker="Ana")
    alone = create("Ana", block("Works at Google.", cite(own, "work at Google")), type="person")
    both = create(
        "Ana", block("Works at Google.", cite(own, "work at Google"), cite(other, "work at Google")), type="person"
    )
    assert desk.code(alone) == "AGENT_SELF_EVIDENCE"
    assert desk.code(both) == "accepted"


@pytest.mark.req("DR-41", "DR-48")
def test_a_task_result_tells_how_work_goes_and_nothing_else(desk: Desk) -> None:
    result = desk.task_result("Restarted the cache before the tests.", "Orion has 400 staff.")
    orion = create("Orion", block("Has 400 staff.", cite(result, "Orion has 400 staff")), type="organization")
    final = create("Testing", block("Has 400 staff.", cite(result, "Orion has 400 staff")), type="practice")
    steps = create("Testing", block("Restart the cache first.", cite(result, "Restarted the cache")), type="practice")
    wrong = create("Testing", block("Restart it.", cite(result, "Restarted the cash")), type="practice")
    assert desk.code(orion) == "TASK_RESULT_NOT_EVIDENCE"
    assert desk.code(final) == "OUTCOME_NOT_EVIDENCE"
    assert desk.code(wrong) == "QUOTE_NOT_VERBATIM"
    assert desk.code(steps) == "accepted"


@pytest.mark.req("DR-62", "DR-63")
def test_a_pattern_needs_two_distinct_pieces_of_evidence(desk: Desk) -> None:
    first = desk.source("The invoice was late again.")
    edited = desk.source("The invoice was late again!", series=first, version=2)
    same_words = desk.source("  THE invoice was late again. ")
    second = desk.source("April's bill came a week late.")
    induced = {"basis": "induced", "standing": "inferred", "change": "inference"}

    def pattern(*sources: NodeId) -> str:
        quotes = {second: "a week late"}
        text = desk.state.sources
        cited = [cite(s, quotes.get(s) or text[s].text.strip()[4:20]) for s in sources]
        return desk.code(create("Kilnworks", block("Bills late.", *cited, **induced)))

    assert pattern(first, first) == "NOT_ENOUGH_EVIDENCE"
    assert pattern(first, edited) == "NOT_ENOUGH_EVIDENCE"
    assert pattern(first, same_words) == "NOT_ENOUGH_EVIDENCE"
    assert pattern(first, second) == "accepted"


@pytest.mark.req("DR-63")
def test_distinct_evidence_is_counted_whatever_its_order(desk: Desk) -> None:
    first = desk.source("The invoice was late again.")
    edited = desk.source("April's bill came a week late.", series=first, version=2)
    same_as_edited = desk.source("April's bill came a week late.")
    induced = {"basis": "induced", "standing": "inferred", "change": "inference"}
    quotes = {first: "late again", edited: "a week late", same_as_edited: "a week late"}
    entry = desk.made(create("Kilnworks", block("Bills.", cite(first, "invoice was late"))))
    for number, order in enumerate(permutations(quotes)):
        cited = [cite(source, quotes[source]) for source in order]
        assert desk.code(add(entry, block(f"Bills late, as pattern {number} says.", *cited, **induced))) == "accepted"


@pytest.mark.req("DR-63")
def test_a_further_version_makes_no_further_source_of_two_with_equal_text(desk: Desk) -> None:
    first = desk.source("The invoice was late again.")
    edited = desk.source("April's bill came a week late.", series=first, version=2)
    others = [desk.source("May's bill was late too.") for _ in range(2)]
    sources = [desk.state.sources[source] for source in (first, edited, *others)]
    assert distinct_evidence(sources) == 2  # though there are three sources, and three texts


@pytest.mark.req("DR-48")
def test_what_rests_on_a_task_result_stays_in_practices(desk: Desk) -> None:
    result = desk.task_result("Restarted the cache before the tests.", "All is well.")
    said = desk.source("Restart the cache first.")
    step = block("Restart the cache first.", cite(result, "Restarted the cache"))
    practice = desk.made(create("Testing", step, type="practice"))
    orion = desk.made(create("Orion", block("Its cache is restarted.", cite(said, "Restart the cache")), type="system"))
    here, there = (desk.blocks(entry)[0].id for entry in (practice, orion))
    assert desk.code(on_entry("setType", practice, 1, type="system")) == "TASK_RESULT_NOT_EVIDENCE"
    assert desk.code(delete(here, 1, duplicateOf=there)) == "TASK_RESULT_NOT_EVIDENCE"
    assert desk.code(delete(there, 1, duplicateOf=here)) == "accepted"
    assert desk.code(on_entry("setType", orion, 1, type="practice")) == "accepted"


@pytest.mark.req("KN-68", "KN-111")
def test_what_a_person_types_is_kept_as_his_note_and_cited(desk: Desk) -> None:
    typed = create("Helio", block("Builds kilns.", basis="authored"))
    assert desk.code(typed, by=AGENT) == "SCHEMA_INVALID"
    desk.made(typed, by=HUMAN)
    (edge,) = desk.links("CITES")
    note = desk.state.sources[edge.target]
    assert (note.kind, note.text, note.author_id, note.speaker) == (
        SourceKind.HUMAN_NOTE,
        "Builds kilns.",
        ANA,
        "Ana",
    )
    assert edge.props["quote"] == "Builds kilns."


@pytest.mark.req("KN-68", "KN-70")
def test_a_long_note_is_quoted_by_its_beginning(desk: Desk) -> None:
    desk.made(create("Helio", block("k" * 1_999, basis="authored")), by=HUMAN)
    (edge,) = desk.links("CITES")
    assert len(edge.props["quote"]) == 500


@pytest.mark.req("DR-46")
def test_everyone_else_cites(desk: Desk) -> None:
    assert desk.code(create("Helio", block("Builds kilns."))) == "SCHEMA_INVALID"
