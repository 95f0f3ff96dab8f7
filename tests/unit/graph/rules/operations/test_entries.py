"""Entries: create, rename, type, summary, aliases; what their names rest on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graph.model.ids import NodeId
from graph.model.nodes.knowledge import Entry, EntryVersion, Facet, KbKind
from graph.rules.names import NamedEntry
from graph.rules.operations.facet_writing import MAX_GATHERED
from graph.rules.operations.naming import has_word, mentions
from graph.rules.operations.state import GATHERED, NameOwner
from tests.support.desk import BEN, DREAMING, HUMAN, LIN, Desk, base
from tests.support.ids import SequentialIds
from tests.support.operations import Json, add, block, cite, create, deduction, edit, on_entry

OPS = NodeId("chn_w/atlas/ops")
INDUCED = {"basis": "induced", "standing": "inferred", "change": "inference"}


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture
def source(desk: Desk) -> NodeId:
    return desk.source("Helio GmbH, or HLO, builds kilns in Berlin.")


def kilns(source: str, **fields: object) -> Json:
    return block("Helio GmbH builds kilns.", cite(source, "builds kilns"), **fields)


@pytest.mark.req("KN-16", "KN-17", "KN-124")
def test_names_and_summary_of_a_new_entry_rest_on_its_blocks(desk: Desk, source: NodeId) -> None:
    entry = desk.made(create("Helio GmbH", kilns(source), aliases=["HLO"], summary="A builder of kilns."))
    state = desk.entry(entry)
    (version,) = [s.version.id for s in desk.blocks(entry)]
    assert state.name.rests_on.derived_from == (version,)
    assert state.aliases[0].rests_on.derived_from == (version,)
    assert state.summary is not None
    assert state.summary.rests_on.derived_from == (version,)
    assert {(e.source, e.target) for e in desk.links("SHOWN_BY") if e.source == entry} == {(entry, state.name.facet.id)}


@pytest.mark.req("KN-83", "KN-84")
def test_a_new_entry_is_one_audit_record_with_its_blocks(desk: Desk, source: NodeId) -> None:
    entry = desk.made(create("Helio GmbH", kilns(source)))
    (record,) = desk.drafts
    assert (record.operation, record.target_id, record.before) == ("entry.create", entry, None)
    assert record.after["name"] == "Helio GmbH"
    assert [image["text"] for image in record.after["blocks"].values()] == ["Helio GmbH builds kilns."]
    assert record.image_sources == (source,)


@pytest.mark.req("KN-18")
@pytest.mark.parametrize("name", ["Helio GmbH", " helio   gmbh ", "ＨＥＬＩＯ GMBH"])
def test_two_live_entries_share_no_normalised_name(desk: Desk, source: NodeId, name: str) -> None:
    first = desk.made(create("Helio GmbH", kilns(source)))
    (verdict,) = desk.apply(create(name, kilns(source)), by=HUMAN).verdicts
    assert (verdict.code, verdict.details) == ("NAME_TAKEN", {"entry_id": first})


@pytest.mark.req("KN-18")
def test_an_entry_whose_evidence_is_gone_gives_up_its_name(desk: Desk, source: NodeId) -> None:
    gone = NodeId("ent_gone")
    desk.state = replace(desk.state, names={"helio gmbh": NameOwner(entry=gone, live=False)})
    entry = desk.made(create("Helio GmbH", kilns(source)))
    assert desk.last is not None
    assert desk.last.changes.patches[gone] == {"live_name": None}
    assert desk.entry(entry).entry.live_name == "helio gmbh"


@pytest.mark.parametrize("name", ["Helio-GmbH", "Helio GmbH ☀", "HelioGmbH"])
def test_signs_and_spaces_alone_make_no_other_topic_but_a_person_may(desk: Desk, source: NodeId, name: str) -> None:
    first = desk.made(create("Helio GmbH", kilns(source)))
    (verdict,) = desk.apply(create(name, kilns(source))).verdicts
    assert (verdict.code, verdict.details) == ("NAME_TAKEN", {"entry_id": first})
    assert desk.code(create(name, kilns(source)), by=HUMAN) == "accepted"


@pytest.mark.req("DR-51", "KN-111")
def test_a_dated_name_is_for_events_and_people(desk: Desk, source: NodeId) -> None:
    standup = create("Standup 2025-05-10", kilns(source))
    assert desk.code(standup) == "DATED_NAME"
    assert desk.code({**standup, "name": "Offsite 2025-06-01", "type": "event"}) == "accepted"
    assert desk.code(standup, by=HUMAN) == "accepted"
    entry = desk.made(create("Plan", kilns(source)))
    assert desk.code(on_entry("renameEntry", entry, 1, name="Plan of May 2025")) == "DATED_NAME"


@pytest.mark.req("KN-19", "KN-107")
def test_types_are_built_in_or_named_by_the_guide(desk: Desk, source: NodeId) -> None:
    entry = create("Helio", kilns(source), type="vendor")
    assert desk.code(entry) == "UNKNOWN_TYPE"
    assert desk.code({**entry, "type": "x` SET n.admin = true //"}) == "UNKNOWN_TYPE"
    desk.guide("vendor")
    assert desk.code(entry) == "accepted"


@pytest.mark.req("KN-107")
def test_a_new_entry_needs_as_many_distinct_sources_as_the_guide_says(desk: Desk, source: NodeId) -> None:
    desk.guide(min_evidence=2)
    other = desk.source("Helio sells ovens.")
    assert desk.code(create("Helio", kilns(source))) == "NOT_ENOUGH_EVIDENCE"
    assert desk.code(create("Helio", kilns(source), block("Sells ovens.", cite(other, "sells ovens")))) == "accepted"


@pytest.mark.req("KN-21")
@pytest.mark.parametrize(
    "fields",
    [
        {"name": ""},
        {"name": " \t "},
        {"name": "n" * 201},
        {"aliases": [f"a{n}" for n in range(21)]},
        {"aliases": ["a" * 101]},
        {"aliases": [""]},
        {"summary": "s" * 601},
        {"blocks": [block("t" * 2_001, cite("src", "builds kilns"))]},
        {"blocks": [block(" ", cite("src", "builds kilns"))]},
    ],
)
def test_sizes_have_limits(desk: Desk, source: NodeId, fields: dict[str, object]) -> None:
    assert desk.code({**create("Helio", kilns(source)), **fields}) == "LIMIT_EXCEEDED"


@pytest.mark.req("KN-21")
def test_the_largest_sizes_are_taken_and_counted_after_composition(desk: Desk, source: NodeId) -> None:
    largest = create(
        "e\u0301" * 200,
        block("t" * 2_000, cite(source, "builds kilns")),
        aliases=["a" * 100, *(f"a{n}" for n in range(19))],
        summary="s" * 600,
    )
    assert desk.code(largest) == "accepted"


@pytest.mark.req("DR-43", "DR-54")
def test_an_entry_is_made_of_the_blocks_that_are_in_order(desk: Desk, source: NodeId) -> None:
    bad = block("Sells ovens.", cite(source, "sells ovens"))
    skipping = replace(DREAMING, skip_rejected=True)
    (verdict,) = desk.apply(create("Helio", bad, kilns(source)), by=skipping).verdicts
    assert [(part.part, part.index, part.code) for part in verdict.left_out] == [("blocks", 0, "QUOTE_NOT_VERBATIM")]
    assert [state.version.text for state in desk.blocks(verdict.created[0])] == ["Helio GmbH builds kilns."]
    assert desk.code(create("Orion", bad), by=skipping) == "QUOTE_NOT_VERBATIM"
    assert desk.code(create("Orion", bad, kilns(source))) == "QUOTE_NOT_VERBATIM"


@pytest.mark.req("DR-64", "DR-65")
def test_inductions_alone_make_no_entry_beside_one_of_a_near_name(desk: Desk, source: NodeId) -> None:
    other = desk.source("Kilnworks billed late in April.")
    late = block("Bills late.", cite(source, "builds kilns"), cite(other, "billed late"), **INDUCED)
    near = NamedEntry(id="ent_near", names=("Kilnworks Ltd", "Kilnwork"))
    desk.state = replace(desk.state, readable=(near,))
    (verdict,) = desk.apply(create("Kilnworks", late)).verdicts
    assert (verdict.code, verdict.details) == ("NAME_TAKEN", {"entry_id": "ent_near"})
    refused = {**kilns(source), "durability": "transient"}
    skipping = replace(DREAMING, skip_rejected=True)
    left = desk.code(create("Kilnworks", late, refused), by=skipping)
    assert left == "NAME_TAKEN", "inductions alone would be left of it"
    assert desk.code(create("Kilnworks", late, kilns(source))) == "accepted"


@pytest.mark.req("KN-34", "DR-66")
def test_an_entry_points_to_the_same_topic_in_a_wider_base_only() -> None:
    wide, narrow = Desk(), Desk(base=base(KbKind.CHANNEL, OPS), ids=SequentialIds(1_000))
    shared = wide.made(create("Helio", kilns(wide.source("Helio builds kilns."))))
    said = narrow.source("Helio builds kilns.")
    narrow.state = replace(
        narrow.state,
        entries=wide.state.entries,
        visible=narrow.state.visible | {shared},
        scopes={**narrow.state.scopes, **wide.state.scopes},
    )
    entry = narrow.made(create("Helio", kilns(said), sameAs=shared))
    assert [(e.source, e.target) for e in narrow.links("SAME_AS")] == [(entry, shared)]
    own = narrow.made(create("Orion", kilns(said)))
    assert narrow.code(create("Kepler", kilns(said), sameAs=own)) == "SCOPE_FORBIDDEN"
    assert narrow.code(create("Kepler", kilns(said), sameAs="ent_nowhere")) == "EVIDENCE_NOT_FOUND"


@pytest.mark.req("DR-53", "DR-66")
def test_evidence_of_a_narrower_scope_never_edits_a_wider_entry() -> None:
    wide, narrow = Desk(), Desk(base=base(KbKind.CHANNEL, OPS), ids=SequentialIds(1_000))
    shared = wide.made(create("Helio", kilns(wide.source("Helio builds kilns."))))
    said = narrow.source("Helio builds ovens.")
    narrow.state = replace(
        narrow.state,
        entries=wide.state.entries,
        blocks=wide.state.blocks,
        visible=narrow.state.visible | {shared, *wide.state.blocks},
        scopes={**narrow.state.scopes, **wide.state.scopes},
    )
    ovens = block("Builds ovens.", cite(said, "builds ovens"))
    assert narrow.code(add(shared, ovens)) == "SCOPE_FORBIDDEN"
    assert narrow.code(edit(next(iter(wide.state.blocks)), 1, ovens)) == "SCOPE_FORBIDDEN"


@pytest.mark.req("KN-33")
def test_only_the_speaker_of_a_cited_message_is_linked_to_a_person_entry(desk: Desk) -> None:
    said = desk.source("I build kilns.", by=LIN, speaker="Lin")
    desk.state = replace(desk.state, principals=frozenset({LIN, BEN}))
    lin = create("Lin", block("Builds kilns.", cite(said, "build kilns")), type="person", principal=LIN)
    assert desk.code({**lin, "principal": BEN}) == "EVIDENCE_NOT_FOUND"
    assert desk.code({**lin, "principal": "prn_w/human/nobody"}) == "EVIDENCE_NOT_FOUND"
    assert desk.code({**lin, "type": "concept"}) == "SCHEMA_INVALID"
    entry = desk.made(lin)
    assert [(e.source, e.target) for e in desk.links("IDENTIFIES")] == [(entry, LIN)]
    assert desk.code({**lin, "name": "Ben", "principal": BEN}, by=HUMAN) == "accepted"


@pytest.mark.req("MA-21", "DR-53")
def test_a_mirror_is_written_by_nobody(desk: Desk, source: NodeId) -> None:
    entry = desk.made(create("Handbook", kilns(source)))
    state = desk.entry(entry)
    mirror = replace(state, entry=replace(state.entry, read_only=True))
    desk.state = replace(desk.state, entries={**desk.state.entries, entry: mirror})
    block_id = desk.blocks(entry)[0].id
    for operation in (
        add(entry, kilns(source)),
        edit(block_id, 1, block("Other.", basis="authored")),
        on_entry("renameEntry", entry, 1, name="Manual"),
        on_entry("setAttributes", entry, 1),
    ):
        assert desk.code(operation, by=HUMAN) == "READ_ONLY_MIRROR"


@pytest.mark.req("DR-43", "KN-76", "KN-124")
def test_a_renamed_entry_keeps_its_old_name_as_an_alias_with_its_evidence(desk: Desk, source: NodeId) -> None:
    entry = desk.made(create("Helio", kilns(source)))
    before = desk.entry(entry)
    assert desk.code(on_entry("renameEntry", entry, 1, name="Helio GmbH")) == "accepted"
    after = desk.entry(entry)
    assert (after.entry.name, after.entry.live_name) == ("Helio GmbH", "helio gmbh")
    assert [alias.facet.value for alias in after.aliases] == ["Helio"]
    assert after.aliases[0].rests_on == before.name.rests_on
    assert desk.last is not None
    assert desk.last.changes.patches[before.name.facet.id] == {"invalidated_at": desk.at}
    (record,) = desk.drafts
    assert (record.before["name"], record.after["name"]) == ("Helio", "Helio GmbH")
    assert [image["alias"] for image in record.after["aliases"]] == ["Helio"]
    versions = [node for node in desk.last.changes.puts if isinstance(node, EntryVersion)]
    assert [(v.version, v.name, v.aliases) for v in versions] == [(2, "Helio GmbH", ("Helio",))]


@pytest.mark.req("KN-18")
def test_a_name_that_was_given_up_is_free(desk: Desk, source: NodeId) -> None:
    entry = desk.made(create("Helio", kilns(source)))
    desk.made(on_entry("renameEntry", entry, 1, name="Helio GmbH"))
    assert desk.code(create("Helio", kilns(source))) == "accepted"
    assert desk.code(on_entry("renameEntry", entry, 2, name="Helio")) == "NAME_TAKEN"


def test_an_alias_that_becomes_the_name_is_one_no_more(desk: Desk, source: NodeId) -> None:
    entry = desk.made(create("Helio", kilns(source), aliases=["HLO", "Helio Works"]))
    desk.made(on_entry("renameEntry", entry, 1, name="HLO"))
    assert [alias.facet.value for alias in desk.entry(entry).aliases] == ["Helio Works", "Helio"]


@pytest.mark.req("KN-87")
@pytest.mark.parametrize("expected", [0, 2])
def test_an_edit_of_an_entry_names_the_current_version(desk: Desk, source: NodeId, expected: int) -> None:
    entry = desk.made(create("Helio", kilns(source)))
    for operation in (
        on_entry("renameEntry", entry, expected, name="Other"),
        on_entry("setType", entry, expected, type="project"),
        on_entry("setAliases", entry, expected, aliases=[]),
        on_entry("setSummary", entry, expected, summary="x", fromBlocks=[desk.blocks(entry)[0].id]),
        on_entry("setAttributes", entry, expected),
    ):
        (verdict,) = desk.apply(operation).verdicts
        assert verdict.code == "VERSION_CONFLICT"
        assert verdict.details["current"]["version"] == 1


@pytest.mark.req("DR-43")
def test_a_type_is_set_and_setting_it_again_changes_nothing(desk: Desk, source: NodeId) -> None:
    entry = desk.made(create("Helio", kilns(source)))
    assert desk.code(on_entry("setType", entry, 1, type="starship")) == "UNKNOWN_TYPE"
    assert desk.code(on_entry("setType", entry, 1, type="organization")) == "accepted"
    assert [(r.operation, r.before, r.after) for r in desk.drafts] == [
        ("entry.set_type", {"type": "concept"}, {"type": "organization"})
    ]
    assert desk.code(on_entry("setType", entry, 2, type="organization")) == "noop"
    assert list(desk.drafts) == []


@pytest.mark.req("DR-43", "KN-124")
def test_a_summary_is_made_from_current_blocks_of_its_entry(desk: Desk, source: NodeId) -> None:
    entry = desk.made(create("Helio", kilns(source), summary="Old."))
    other = desk.made(create("Orion", kilns(source)))
    here, elsewhere = desk.blocks(entry)[0], desk.blocks(other)[0]
    assert desk.code(on_entry("setSummary", entry, 1, summary="New.", fromBlocks=[])) == "SCHEMA_INVALID"
    assert (
        desk.code(on_entry("setSummary", entry, 1, summary="New.", fromBlocks=[elsewhere.id])) == "EVIDENCE_NOT_FOUND"
    )
    assert desk.code(on_entry("setSummary", entry, 1, summary="New.", fromBlocks=[here.id])) == "accepted"
    state = desk.entry(entry)
    assert state.summary is not None
    assert (state.summary.facet.value, state.summary.rests_on.derived_from) == ("New.", (here.version.id,))
    (record,) = desk.drafts
    assert (record.before["summary"], record.after["summary"]) == ("Old.", "New.")
    assert record.after["summaryFrom"] == [here.version.id]


@pytest.mark.req("KN-68", "KN-124")
def test_a_person_may_write_a_summary_as_his_own_word(desk: Desk, source: NodeId) -> None:
    entry = desk.made(create("Helio", kilns(source)))
    assert desk.code(on_entry("setSummary", entry, 1, summary="A builder.", fromBlocks=[]), by=HUMAN) == "accepted"
    summary = desk.entry(entry).summary
    assert summary is not None
    assert [cited.quote for cited in summary.rests_on.citations] == ["A builder."]


@pytest.mark.req("DR-43", "KN-124")
def test_a_new_alias_is_said_by_a_block_or_source_of_the_entry(desk: Desk, source: NodeId) -> None:
    entry = desk.made(create("Helio GmbH", kilns(source)))
    assert desk.code(on_entry("setAliases", entry, 1, aliases=["Sunny"])) == "EVIDENCE_NOT_FOUND"
    assert desk.code(on_entry("setAliases", entry, 1, aliases=["Helio", "HLO"])) == "accepted"
    helio, hlo = desk.entry(entry).aliases
    assert helio.rests_on.derived_from == (desk.blocks(entry)[0].version.id,)
    (cited,) = hlo.rests_on.citations
    assert (cited.source, "HLO" in cited.quote, len(cited.quote) >= 4) == (source, True, True)
    assert desk.code(on_entry("setAliases", entry, 2, aliases=["HLO", "Sunny"]), by=HUMAN) == "accepted"
    assert [alias.facet.value for alias in desk.entry(entry).aliases] == ["HLO", "Sunny"]
    assert desk.last is not None
    assert desk.last.changes.patches[helio.facet.id] == {"invalidated_at": desk.at}


@pytest.mark.req("DR-43")
def test_the_whole_list_of_aliases_is_set(desk: Desk, source: NodeId) -> None:
    entry = desk.made(create("Helio GmbH", kilns(source), aliases=["HLO", "Helio"]))
    assert desk.code(on_entry("setAliases", entry, 1, aliases=["HLO", "Helio"])) == "noop"
    assert desk.code(on_entry("setAliases", entry, 1, aliases=["Helio", "HLO", "Helio"])) == "accepted"
    assert [alias.facet.value for alias in desk.entry(entry).aliases] == ["Helio", "HLO"]
    assert not [node for node in desk.last.changes.puts if isinstance(node, Facet)]  # type: ignore[union-attr]


@pytest.mark.req("KN-124")
def test_a_name_gains_the_support_of_later_blocks_but_its_image_stays(desk: Desk, source: NodeId) -> None:
    entry = desk.made(create("Helio", kilns(source)))
    first = desk.entry(entry).name
    desk.made(add(entry, block("In Berlin.", cite(source, "in Berlin"))))
    assert desk.entry(entry).name.gathered.is_empty, "another quote of the same source is no other support"
    other = desk.source("Helio sells ovens.")
    added = desk.made(add(entry, block("Sells ovens.", cite(other, "sells ovens"))), place=1)
    name = desk.entry(entry).name
    assert name.rests_on == first.rests_on
    assert name.gathered.derived_from == (added,)
    assert [e.key for e in desk.links("DERIVED_FROM") if e.source == name.facet.id] == [GATHERED]


@pytest.mark.req("KN-124")
def test_a_popular_name_keeps_the_newest_support(desk: Desk, source: NodeId) -> None:
    entry = desk.made(create("Helio", kilns(source)))
    versions = []
    for n in range(MAX_GATHERED + 2):
        said = desk.source(f"Fact {n} is true.")
        versions.append(desk.made(add(entry, block(f"Fact {n}.", cite(said, f"Fact {n} is"))), place=1))
    assert desk.entry(entry).name.gathered.derived_from == tuple(versions[2:])
    assert desk.last is not None
    assert [e.target for e in desk.last.changes.unlinks] == [versions[1]]


def test_a_deduction_alone_may_begin_an_entry_only_on_something_current(desk: Desk, source: NodeId) -> None:
    entry = desk.made(create("Helio", kilns(source)))
    basis = desk.blocks(entry)[0].id
    judged = create("Supply", deduction("demand doubles", "Helio is short of kilns", basis))
    assert desk.code(judged) == "accepted"


def test_entry_nodes_say_who_made_them(desk: Desk, source: NodeId) -> None:
    desk.made(create("Helio", kilns(source)))
    assert desk.last is not None
    (entry,) = [node for node in desk.last.changes.puts if isinstance(node, Entry)]
    assert (entry.origin, entry.owner_id, entry.last_modifier_id) == ("dreaming", desk.base.owner_id, DREAMING.id)


@pytest.mark.parametrize(
    ("text", "name", "found"),
    [
        ("Ana joined HELIO.", "Helio", True),
        ("Ana joined Helios", "Helio", False),
        ("Helio's kilns", "helio", True),
        ("C++ is used", "C++", True),
        ("海洋公司在上海", "海洋", True),
        ("also", "Al", False),
        ("text", " ", False),
    ],
)
def test_a_name_is_found_as_a_word_of_its_own(text: str, name: str, found: bool) -> None:
    assert mentions(text, name) is found


def test_first_person_is_no_part_of_another_word() -> None:
    assert has_word("My team", ["my"])
    assert not has_word("It is Amy's", ["my", "I"])
