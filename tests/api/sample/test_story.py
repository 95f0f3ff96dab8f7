"""The sample story is true to itself: every quote stands in its source, every name leads somewhere, and the
rules for operations that can be told from the story alone are kept."""

import itertools
import re
from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest

from api.adapters.extract import DocumentExtractor
from api.sample.story import (
    SHARED,
    AddBlock,
    AddRelation,
    Batch,
    Block,
    Citation,
    CreateEntry,
    EditBlock,
    Operation,
    SetSummary,
    labels,
    load_messages,
    load_story,
    read_file,
    resolve,
)
from graph.rules.operations.parsing import parse_operations
from graph.text.quotes import Quote, find_quote

STORY = load_story()
MESSAGES = {f"message:{m.external_id}": m for m in load_messages(STORY)}
DOCUMENTS = {f"document:{d.key}": d for d in STORY.documents}
PEOPLE = {p.key: p for p in STORY.people}
TEXTS = {name: m.text for name, m in MESSAGES.items()} | {
    name: DocumentExtractor().extract(read_file(d.file), media_type=d.media_type, filename=d.file).text
    for name, d in DOCUMENTS.items()
}
POOL_OF = {name: next(c.pool for c in STORY.channels if c.key == m.channel) for name, m in MESSAGES.items()} | {
    name: d.pool for name, d in DOCUMENTS.items()
}
FIRST_PERSON = re.compile(r"\b(?:I|me|my|we|us|our)\b|我|我们|本人", re.IGNORECASE)

BlockLike = Block | AddBlock | EditBlock


def operations() -> Iterator[tuple[Batch, Operation]]:
    for batch in STORY.batches:
        for operation in batch.operations:
            yield batch, operation


def blocks() -> Iterator[tuple[Batch, BlockLike]]:
    for batch, operation in operations():
        if isinstance(operation, CreateEntry):
            yield from ((batch, block) for block in operation.blocks)
        elif isinstance(operation, AddBlock | EditBlock):
            yield batch, operation


def citations() -> Iterator[tuple[Batch, Citation]]:
    for batch, block in blocks():
        yield from ((batch, citation) for citation in block.citations)
    for batch, operation in operations():
        if isinstance(operation, AddRelation):
            yield batch, Citation(source=operation.source, quote=operation.quote, role="supports")


def entries() -> dict[str, CreateEntry]:
    return {op.ref: op for _, op in operations() if isinstance(op, CreateEntry)}


def with_change(change: str) -> list[BlockLike]:
    return [block for _, block in blocks() if block.change == change]


def said_at(source: str) -> datetime:
    if source in DOCUMENTS:
        return DOCUMENTS[source].submitted_at
    return datetime.fromtimestamp(MESSAGES[source].sent_at / 1_000).astimezone()


def is_human(source: str) -> bool:
    return source in DOCUMENTS or not MESSAGES[source].speaker_is_agent


def names_of(entry: str) -> set[str]:
    created = entries()[entry]
    return {created.name.casefold(), *(alias.casefold() for alias in created.aliases)}


@pytest.mark.req("AD-43")
def test_it_has_a_team_a_shared_channel_a_private_chat_and_documents() -> None:
    assert [p.name for p in STORY.people if p.prints_token and p.role != "auditor"] == ["Mei Lin", "Jonas Berg"]
    assert [p.name for p in STORY.people if p.prints_token and p.role == "auditor"] == ["Noor Haddad"]
    assert {(c.kind, c.memory_scope) for c in STORY.channels} == {
        ("shared_channel", "shared"),
        ("shared_channel", "channel"),
        ("private_chat", None),
    }
    assert 120 <= len(MESSAGES) <= 200
    assert len(DOCUMENTS) == 3


@pytest.mark.req("AD-43", "KN-5")
def test_statements_evolve_are_corrected_disputed_heard_and_inferred() -> None:
    least = {"evolution": 4, "correction": 1, "dispute": 1, "rumour": 2, "inference": 4}
    assert all(len(with_change(change)) >= count for change, count in least.items())
    assert any(block.deduction for _, block in blocks())
    assert any(block.basis == "authored" for _, block in blocks())


@pytest.mark.req("AD-43")
def test_it_is_told_in_english_and_chinese() -> None:
    chinese = re.compile(r"[\u4e00-\u9fff]")
    assert sum(bool(chinese.search(text)) for text in TEXTS.values()) >= 25
    assert any(chinese.search(entry.name) for entry in entries().values())
    assert sum(bool(chinese.search(block.text or "")) for _, block in blocks()) >= 6


@pytest.mark.req("KN-70")
def test_every_quote_stands_in_its_source() -> None:
    for _, citation in citations():
        assert isinstance(find_quote(citation.quote, TEXTS[citation.source]), Quote), citation


def test_messages_are_in_order_and_by_members_of_their_channel() -> None:
    times = [m.sent_at for m in MESSAGES.values()]
    assert times == sorted(times)
    members = {c.key: {*c.members, STORY.agent.key} for c in STORY.channels}
    assert all(m.speaker in members[m.channel] for m in MESSAGES.values())
    assert all(m.speaker_is_agent == (m.speaker == STORY.agent.key) for m in MESSAGES.values())
    private = {c.key for c in STORY.channels if c.kind == "private_chat"}
    assert all((m.channel_kind == "private_chat") == (m.channel in private) for m in MESSAGES.values())
    assert max(times) - min(times) > timedelta(days=200).total_seconds() * 1_000


def test_a_conversation_has_no_pause_that_would_close_it() -> None:
    for _, talk in itertools.groupby(MESSAGES.values(), key=lambda m: m.conversation_key):
        turns = list(talk)
        assert turns[-1].sent_at - turns[0].sent_at < 24 * 3_600_000


def test_batches_are_in_order_and_rest_only_on_what_was_said_before() -> None:
    assert all(a.at <= b.at for a, b in itertools.pairwise(STORY.batches))
    for batch, citation in citations():
        assert said_at(citation.source) <= batch.at, (batch.key, citation.source)


def test_every_name_is_made_once_and_before_it_is_used() -> None:
    known = {*MESSAGES, *DOCUMENTS, *(f"person:{key}" for key in PEOPLE)}
    for batch in STORY.batches:
        made: set[str] = set()
        for operation in batch.operations:
            used = set(
                re.findall(
                    r"\b(?:message|document|person|entry|block|relation):[a-z0-9-]+",
                    operation.model_dump_json(exclude={"label", "ref"}),
                )
            )
            new = set(labels(operation))
            assert used - new <= known | {name for name in made if name.startswith("entry:")}, batch.key
            assert not new & (known | made)
            made |= new
        known |= made
        assert batch.pool == SHARED or batch.pool in {c.key for c in STORY.channels}
        assert batch.actor in PEOPLE
    tried = set(re.findall(r"\b(?:message|document|block|relation):[a-z0-9-]+", STORY.things_to_try.model_dump_json()))
    assert tried <= known


@pytest.mark.req("KN-53")
def test_a_pool_rests_on_itself_and_on_shared_evidence_only() -> None:
    for batch, citation in citations():
        assert POOL_OF[citation.source] in (SHARED, batch.pool)
    made_in = {name: batch.pool for batch, op in operations() for name in labels(op)}
    for batch, operation in operations():
        if isinstance(operation, AddBlock | AddRelation):
            home = operation.entry if isinstance(operation, AddBlock) else operation.subject
            assert made_in[home] == batch.pool


@pytest.mark.req("KN-18")
def test_no_two_entries_of_a_pool_share_a_name() -> None:
    named = [(batch.pool, op.name.casefold()) for batch, op in operations() if isinstance(op, CreateEntry)]
    assert len(set(named)) == len(named)


@pytest.mark.req("KN-24", "DR-75")
def test_change_basis_and_standing_fit_each_other() -> None:
    standing_of = {
        "addition": "settled", "evolution": "settled", "correction": "corrected",
        "dispute": "disputed", "rumour": "unconfirmed", "inference": "inferred",
    }  # fmt: skip
    for _, block in blocks():
        assert block.standing == standing_of[block.change]
        assert (block.basis in ("deduced", "induced")) == (block.standing == "inferred")
        assert (block.deduction is not None) == (block.basis == "deduced") == (block.text is None)


@pytest.mark.req("DR-47")
def test_no_statement_rests_on_the_agent_alone() -> None:
    assert all(any(is_human(c.source) for c in block.citations) for _, block in blocks())
    assert all(is_human(op.source) for _, op in operations() if isinstance(op, AddRelation))


@pytest.mark.req("DR-49")
def test_the_words_of_a_relation_name_both_ends() -> None:
    linked = {ref: entry.principal for ref, entry in entries().items()}
    for _, op in operations():
        if isinstance(op, AddRelation):
            quote = op.quote.casefold()
            speaker = f"person:{MESSAGES[op.source].speaker}" if op.source in MESSAGES else None
            by_itself = linked[op.subject] == speaker and FIRST_PERSON.search(op.quote)
            assert any(name in quote for name in names_of(op.object)), op
            assert by_itself or any(name in quote for name in names_of(op.subject)), op


@pytest.mark.req("KN-33")
def test_a_person_is_linked_by_words_of_his_own() -> None:
    for _, op in operations():
        if isinstance(op, CreateEntry) and op.principal:
            speakers = {MESSAGES[c.source].speaker for block in op.blocks for c in block.citations}
            assert op.type == "person"
            assert op.principal.removeprefix("person:") in speakers


def test_every_alias_occurs_in_the_blocks_or_their_sources() -> None:
    for entry in entries().values():
        words = [block.text or "" for block in entry.blocks]
        words += [TEXTS[c.source] for block in entry.blocks for c in block.citations]
        assert all(any(alias in text for text in words) for alias in entry.aliases), entry.name


@pytest.mark.req("DR-69")
def test_what_evolves_says_since_when_and_what_held_before() -> None:
    made = {block.label for _, block in blocks() if not isinstance(block, EditBlock)}
    for block in with_change("evolution"):
        assert block.valid_from
        assert block.supersedes
        assert set(block.supersedes) <= made


@pytest.mark.req("DR-71")
def test_a_correction_cites_a_person_who_corrects() -> None:
    for block in with_change("correction"):
        assert any(c.role == "corrects" and is_human(c.source) for c in block.citations)


@pytest.mark.req("DR-72")
def test_a_dispute_names_both_positions_with_their_dates() -> None:
    for block in with_change("dispute"):
        assert len({c.source for c in block.citations}) >= 2
        assert any(c.role == "contradicts" for c in block.citations)
        speakers = {PEOPLE[MESSAGES[c.source].speaker].name for c in block.citations if c.source in MESSAGES}
        assert all(name.split()[0] in (block.text or "") for name in speakers)
        assert len(re.findall(r"\d+ \w+ 2026", block.text or "")) >= 2


@pytest.mark.req("DR-73")
def test_a_rumour_says_who_told_it_when_and_replaces_nothing() -> None:
    for block in with_change("rumour"):
        first = MESSAGES[block.citations[0].source]
        assert PEOPLE[first.speaker].name.split()[0] in (block.text or "")
        assert re.search(r"\d+ \w+ 2026", block.text or "")
        assert not block.supersedes


@pytest.mark.req("DR-58", "DR-73")
def test_a_deduction_names_a_basis_that_is_no_rumour_and_the_day_of_its_batch() -> None:
    standing = {block.label: block.standing for _, block in blocks() if not isinstance(block, EditBlock)}
    for batch, block in blocks():
        if block.deduction:
            assert all(standing[name] != "unconfirmed" for name in block.deduction.basis)
            assert block.deduction.date == batch.at.date().isoformat()


@pytest.mark.req("DR-63")
def test_an_induction_rests_on_two_different_sources() -> None:
    for _, block in blocks():
        if block.basis == "induced":
            assert len({TEXTS[c.source] for c in block.citations}) >= 2


@pytest.mark.req("AD-44")
def test_the_trace_leads_to_a_message_of_the_block() -> None:
    trace = STORY.things_to_try.trace
    block = next(b for _, b in blocks() if not isinstance(b, EditBlock) and b.label == trace.block)
    assert trace.source in {c.source for c in block.citations}
    assert PEOPLE[trace.viewer].prints_token


@pytest.mark.req("AD-44")
def test_one_of_the_two_people_sees_less() -> None:
    compare = STORY.things_to_try.compare
    readable = {
        key: {SHARED, *(c.pool for c in STORY.channels if key in c.members)}
        for key in (compare.sees_more, compare.sees_less)
    }
    pool_of = {name: batch.pool for batch, op in operations() for name in labels(op)}
    assert all(pool_of[name] in readable[compare.sees_more] & readable[compare.sees_less] for name in compare.both_see)
    assert all(pool_of[name] in readable[compare.sees_more] - readable[compare.sees_less] for name in compare.only_more)


@pytest.mark.req("AD-44")
def test_the_source_to_withdraw_hides_just_what_the_story_says() -> None:
    withdraw = STORY.things_to_try.withdraw
    hidden = {
        b.label
        for _, b in blocks()
        if not isinstance(b, EditBlock) and withdraw.source in {c.source for c in b.citations}
    }
    hidden |= {
        b.label for _, b in blocks() if not isinstance(b, EditBlock) and b.deduction and set(b.deduction.basis) & hidden
    }
    assert hidden == set(withdraw.hides)
    kept = next(op for _, op in operations() if isinstance(op, AddRelation) and op.label == withdraw.keeps)
    evidence = {
        op.source
        for _, op in operations()
        if isinstance(op, AddRelation) and (op.subject, op.type, op.object) == (kept.subject, kept.type, kept.object)
    }
    assert evidence == {withdraw.source, withdraw.keeps_by}
    ends = {block.label for ref in (kept.subject, kept.object) for block in entries()[ref].blocks}
    assert not ends & hidden


@pytest.mark.req("DR-42", "DR-43")
def test_every_operation_has_the_form_that_the_service_takes() -> None:
    for batch in STORY.batches:
        versions = {name: 1 for _, op in operations() for name in labels(op)}
        raw = [resolve(op, {}, versions) for op in batch.operations]
        parsed = parse_operations(raw, max_operations=200)
        assert [item.error for item in parsed] == [None] * len(raw), batch.key
        assert all(len(block.text or "") <= 2_000 for _, block in blocks())


def test_resolving_puts_ids_for_names_and_leaves_labels_out() -> None:
    batch = next(b for b in STORY.batches if b.key == "introductions")
    created = resolve(batch.operations[1], {"person:mei": "P1", "message:t004": "S4"}, {})
    assert created["principal"] == "P1"
    assert created["ref"] == "entry:mei"
    assert created["blocks"][0]["citations"][0]["source"] == "S4"
    assert "label" not in str(created)
    summary = next(op for _, op in operations() if isinstance(op, SetSummary))
    found = resolve(summary, {summary.entry: "E9"}, {summary.entry: 3})
    assert (found["entry"], found["expectedVersion"]) == ("E9", 3)
