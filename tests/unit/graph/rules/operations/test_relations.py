"""Relations: said in so many words, merged when said again, ended or retracted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graph.model.ids import NodeId
from graph.model.nodes.evidence import SourceKind
from graph.model.nodes.knowledge import KbKind
from graph.model.time import parse
from graph.rules.operations.state import GATHERED
from tests.support.desk import ANA, ATLAS, HUMAN, LIN, Desk, base
from tests.support.ids import SequentialIds
from tests.support.operations import Json, add, block, cite, create, relate, unrelate

OPS = NodeId("chn_w/atlas/ops")


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture
def said(desk: Desk) -> NodeId:
    return desk.source("Ana joined Helio, the kiln maker.")


@pytest.fixture
def ana(desk: Desk, said: NodeId) -> NodeId:
    desk.state = replace(desk.state, principals=frozenset({ANA}))
    return desk.made(
        create("Ana", block("Joined Helio.", cite(said, "Ana joined Helio")), type="person", principal=ANA), by=HUMAN
    )


@pytest.fixture
def helio(desk: Desk, said: NodeId) -> NodeId:
    return desk.made(create("Helio GmbH", block("Makes kilns.", cite(said, "the kiln maker")), aliases=["Helio"]))


def member(ana: str, helio: str, source: str, quote: str = "Ana joined Helio", **fields: object) -> Json:
    return relate(ana, "member_of", helio, source, quote, **fields)


@pytest.mark.req("KN-13", "KN-29", "KN-84")
def test_a_relation_has_a_quote_ends_a_version_and_one_shortcut(
    desk: Desk, ana: NodeId, helio: NodeId, said: NodeId
) -> None:
    made = desk.made(member(ana, helio, said, validFrom="2024-05"))
    state = desk.relation(made)
    assert [cited.quote for cited in state.evidence] == ["Ana joined Helio"]
    assert {(e.type.value, e.source, e.target) for t in ("SUBJECT", "OBJECT") for e in desk.links(t)} == {
        ("SUBJECT", made, ana),
        ("OBJECT", made, helio),
    }
    (shortcut,) = desk.links("RELATES")
    assert (shortcut.source, shortcut.target, shortcut.key) == (ana, helio, made)
    assert shortcut.props == {
        "relationId": made,
        "type": "member_of",
        "validFrom": parse("2024-05-01T00:00:00Z"),
        "validTo": None,
    }
    assert [(r.operation, r.before, r.target_id) for r in desk.drafts] == [("relation.add", None, made)]


@pytest.mark.req("DR-49", "KN-28")
@pytest.mark.parametrize(
    ("text", "quote", "code"),
    [
        ("Ana joined Helio.", "Ana joined Helio", "accepted"),
        ("ANA is at helio gmbh now", "ANA is at helio gmbh", "accepted"),
        ("She joined Helio.", "She joined Helio", "RELATION_NOT_EXPLICIT"),
        ("Ana joined the kiln maker.", "Ana joined the kiln maker", "RELATION_NOT_EXPLICIT"),
        ("Ana joined. Helio grew.", "Ana joined", "RELATION_NOT_EXPLICIT"),
        ("Ana joined Helios.", "Ana joined Helios", "RELATION_NOT_EXPLICIT"),
        ("Ana joined Helio.", "Ana joined Helios", "QUOTE_NOT_VERBATIM"),
    ],
)
def test_the_quote_names_both_ends(desk: Desk, ana: NodeId, helio: NodeId, text: str, quote: str, code: str) -> None:
    source = desk.source(text, at="2025-05-09T13:00:00Z")
    assert desk.code(member(ana, helio, source, quote)) == code


@pytest.mark.req("DR-49", "KN-119")
def test_the_linked_speaker_may_say_i(desk: Desk, ana: NodeId, helio: NodeId) -> None:
    own = desk.source("I joined Helio.", by=ANA, speaker="Ana")
    others = desk.source("I joined Helio.", by=LIN, speaker="Lin")
    no_pronoun = desk.source("Joined Helio!", by=ANA, speaker="Ana")
    german = desk.source("Ich bin bei Helio.", by=ANA, speaker="Ana")
    assert desk.code(member(ana, helio, others, "I joined Helio")) == "RELATION_NOT_EXPLICIT"
    assert desk.code(member(ana, helio, no_pronoun, "Joined Helio")) == "RELATION_NOT_EXPLICIT"
    assert desk.code(member(ana, helio, own, "I joined Helio")) == "accepted"
    assert desk.code(relate(ana, "at", helio, german, "Ich bin bei Helio")) == "RELATION_NOT_EXPLICIT"
    desk.set(dream__first_person=("Ich",))
    assert desk.code(relate(ana, "at", helio, german, "Ich bin bei Helio")) == "accepted"


@pytest.mark.req("DR-49", "DR-59")
def test_task_results_and_statements_carry_no_relation(desk: Desk, ana: NodeId, helio: NodeId) -> None:
    result = desk.task_result("Ana joined Helio", "done")
    statement = desk.blocks(ana)[0].id
    assert desk.code(member(ana, helio, result)) == "RELATION_NOT_EXPLICIT"
    assert desk.code(member(ana, helio, statement, "Joined Helio.")) == "RELATION_NOT_EXPLICIT"
    assert desk.code(member(ana, helio, "src_nowhere")) == "EVIDENCE_NOT_FOUND"


@pytest.mark.req("DR-73")
def test_the_words_of_a_rumour_carry_no_relation(desk: Desk, ana: NodeId, helio: NodeId) -> None:
    heard = desk.source("I heard Ana left Helio.")
    rumour = block(
        "Ben heard on 9 May 2025 that Ana left Helio.",
        cite(heard, "Ana left Helio"),
        change="rumour",
        standing="unconfirmed",
    )
    id_ = desk.made(add(ana, rumour))
    desk.state = replace(desk.state, rumours={heard: desk.block(id_).rests_on.citations})
    left = relate(ana, "left", helio, heard, "heard Ana left Helio")
    assert desk.code(left) == "RUMOUR_OVERRIDE"
    assert desk.code(left, by=HUMAN) == "accepted"


@pytest.mark.req("DR-47")
def test_an_agents_word_alone_carries_no_relation(desk: Desk, ana: NodeId, helio: NodeId) -> None:
    own = desk.source("Ana joined Helio.", by=ATLAS, speaker="Atlas")
    assert desk.code(member(ana, helio, own)) == "AGENT_SELF_EVIDENCE"


@pytest.mark.req("KN-27")
@pytest.mark.parametrize(
    "type_", ["m", "Member", "member of", "9th", "m" * 65, "x` SET n.admin = true //", "member_of\n"]
)
def test_a_relation_type_is_a_plain_word(desk: Desk, ana: NodeId, helio: NodeId, said: NodeId, type_: str) -> None:
    assert desk.code(relate(ana, type_, helio, said, "Ana joined Helio")) == "SCHEMA_INVALID"


@pytest.mark.req("KN-27")
def test_a_relation_has_two_ends(desk: Desk, ana: NodeId, said: NodeId) -> None:
    assert desk.code(member(ana, ana, said)) == "SCHEMA_INVALID"


@pytest.mark.req("KN-27", "KN-53")
def test_the_object_is_here_or_in_a_base_that_is_read(desk: Desk, ana: NodeId, helio: NodeId, said: NodeId) -> None:
    narrow = Desk(base=base(KbKind.CHANNEL, OPS), ids=SequentialIds(1_000))
    told = narrow.source("Lin joined Helio.")
    lin = narrow.made(create("Lin", block("Joined Helio.", cite(told, "Lin joined Helio"))))
    both = {**narrow.state.entries, **desk.state.entries}
    seen, scopes = narrow.state.visible | desk.state.visible, {**narrow.state.scopes, **desk.state.scopes}
    narrow.state = replace(narrow.state, entries=both, visible=seen, scopes=scopes)
    desk.state = replace(desk.state, entries=both, visible=seen, scopes=scopes)
    assert narrow.code(relate(lin, "member_of", helio, told, "Lin joined Helio")) == "accepted"
    assert desk.code(relate(ana, "knows", lin, said, "Ana joined Helio")) == "SCOPE_FORBIDDEN"
    assert narrow.code(relate(ana, "knows", lin, told, "Lin joined Helio")) == "SCOPE_FORBIDDEN"


@pytest.mark.req("KN-30", "KN-84")
def test_the_same_relation_again_adds_evidence_or_nothing(desk: Desk, ana: NodeId, helio: NodeId, said: NodeId) -> None:
    made = desk.made(member(ana, helio, said))
    other = desk.source("Yes, Ana joined Helio in May.")
    assert desk.code(member(ana, helio, other)) == "merged"
    (record,) = desk.drafts
    assert (record.operation, record.target_id) == ("relation.add_evidence", made)
    assert (len(record.before["evidence"]), len(record.after["evidence"])) == (1, 2)
    assert desk.code(member(ana, helio, other)) == "noop"
    assert list(desk.drafts) == []
    assert list(desk.state.relations) == [made]


@pytest.mark.req("KN-30")
def test_a_relation_at_another_time_is_another_relation(desk: Desk, ana: NodeId, helio: NodeId, said: NodeId) -> None:
    first = desk.made(member(ana, helio, said, validFrom="2001", validTo="2003"))
    second = desk.made(member(ana, helio, said, validFrom="2003"))
    assert first != second
    assert desk.code(member(ana, helio, said, validFrom="2002", validTo="2004")) == "noop"


def test_a_relation_may_hold_many_values(desk: Desk, ana: NodeId, helio: NodeId) -> None:
    told = desk.source("Ana tested model A-3B, and later Ana tested model B-7B.")
    one = desk.made(create("A-3B", block("A model.", cite(told, "model A-3B"))))
    two = desk.made(create("B-7B", block("A model.", cite(told, "model B-7B"))))
    desk.made(relate(ana, "tested", one, told, "Ana tested model A-3B"))
    desk.made(relate(ana, "tested", two, told, "Ana tested model B-7B"))
    assert [state.version.valid_to for state in desk.state.relations.values()] == [None, None]


@pytest.mark.req("KN-31", "KN-23")
def test_an_ended_relation_gets_a_version_with_its_end(desk: Desk, ana: NodeId, helio: NodeId, said: NodeId) -> None:
    made = desk.made(member(ana, helio, said, validFrom="2024-05"))
    left = desk.source("Ana left Helio.", at="2025-05-01T10:00:00Z")
    was = desk.relation(made).version
    assert desk.code(unrelate(made, 1, "ended", cite(left, "Ana left Helio"), validTo="2025-05")) == "accepted"
    state = desk.relation(made)
    assert (state.version.version, state.version.valid_to) == (2, parse("2025-05-01T00:00:00Z"))
    assert (state.version.to_precision, state.version.valid_from) == ("month", was.valid_from)
    assert desk.last is not None
    assert desk.last.changes.patches[was.id] == {"invalidated_at": desk.at}
    (record,) = desk.drafts
    assert record.operation == "relation.remove"
    assert (record.before["validTo"], record.after["validTo"]) == (None, "2025-05-01T00:00:00.000Z")
    assert [e.props["validTo"] for e in desk.links("RELATES")] == [state.version.valid_to]
    assert [cited.source for cited in state.evidence] == [said, left]


@pytest.mark.req("KN-31")
def test_without_a_date_a_relation_ends_when_its_end_was_told(
    desk: Desk, ana: NodeId, helio: NodeId, said: NodeId
) -> None:
    made = desk.made(member(ana, helio, said))
    left = desk.source("Ana left Helio.", at="2025-05-01T10:00:00Z")
    desk.made(unrelate(made, 1, "ended", cite(left, "Ana left Helio")))
    version = desk.relation(made).version
    assert (version.valid_to, version.to_precision) == (parse("2025-05-01T10:00:00Z"), "day")


@pytest.mark.req("KN-13", "KN-31")
def test_a_retracted_relation_is_gone_with_its_shortcut(desk: Desk, ana: NodeId, helio: NodeId, said: NodeId) -> None:
    made = desk.made(member(ana, helio, said))
    was = desk.relation(made).version
    wrong = desk.source("Ana never joined Helio.")
    assert desk.code(unrelate(made, 1, "retracted", cite(wrong, "Ana never joined"))) == "accepted"
    assert desk.last is not None
    changes = desk.last.changes
    assert [(e.type.value, e.key) for e in changes.unlinks] == [("RELATES", made)]
    assert changes.patches[was.id] == {"invalidated_at": desk.at}
    assert changes.patches[made] == {"current": False}
    assert not changes.puts
    assert [(r.operation, r.after) for r in desk.drafts] == [("relation.remove", None)]
    assert desk.state.relations == {}


@pytest.mark.req("KN-31", "DR-43", "KN-87")
def test_removing_says_how_why_and_from_which_version(desk: Desk, ana: NodeId, helio: NodeId, said: NodeId) -> None:
    made = desk.made(member(ana, helio, said, validFrom="2024"))
    quote = cite(said, "Ana joined Helio")
    assert desk.code(unrelate(made, 1, "gone", quote)) == "SCHEMA_INVALID"
    assert desk.code(unrelate(made, 1, "ended")) == "SCHEMA_INVALID"
    assert desk.code(unrelate(made, 2, "ended", quote)) == "VERSION_CONFLICT"
    assert desk.code(unrelate(made, 1, "ended", quote, validTo="2023")) == "SCHEMA_INVALID"
    assert desk.code(unrelate("rel_nowhere", 1, "ended", quote)) == "EVIDENCE_NOT_FOUND"
    assert desk.code(unrelate(made, 1, "retracted"), by=replace(HUMAN, reason="")) == "REASON_REQUIRED"
    assert desk.code(unrelate(made, 1, "retracted"), by=HUMAN) == "accepted"


@pytest.mark.req("KN-68", "KN-111")
def test_a_person_states_a_relation_by_his_note(desk: Desk, ana: NodeId, helio: NodeId) -> None:
    assert desk.code(relate(ana, "leads", helio)) == "SCHEMA_INVALID"
    desk.made(relate(ana, "leads", helio), by=HUMAN)
    (edge,) = [e for e in desk.links("CITES") if e.source.startswith("rel_")]
    assert edge.props["quote"] == "Ana leads Helio GmbH"
    assert desk.state.sources[edge.target].kind == SourceKind.HUMAN_NOTE
    assert desk.code(relate(ana, "leads", helio), by=HUMAN) == "noop"
    desk.made(relate(ana, "advises", helio, None, "see the org chart"), by=HUMAN)
    assert "Ana advises Helio GmbH: see the org chart" in {s.text for s in desk.state.sources.values()}


def test_a_name_that_a_relation_quotes_outlives_its_first_evidence(
    desk: Desk, ana: NodeId, helio: NodeId, said: NodeId
) -> None:
    told = desk.source("Ana has joined Helio.")
    desk.made(member(ana, helio, told, "Ana has joined Helio"))
    assert [c.source for c in desk.entry(ana).name.gathered.citations] == [told]
    assert [c.source for c in desk.entry(helio).aliases[0].gathered.citations] == [told]
    assert desk.entry(helio).name.gathered.is_empty
    assert all(e.props.get(GATHERED) for e in desk.links("CITES") if e.source.startswith("fct_"))
