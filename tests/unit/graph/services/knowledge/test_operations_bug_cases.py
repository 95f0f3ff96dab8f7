"""Cases 2, 5, 6, 7, 8, 9 and 15 of the public bug reports, with the operation list."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest

from graph.model.errors import NameTaken
from graph.model.ids import NodeId
from graph.model.nodes.knowledge import Block, Entry, Relation
from graph.model.nodes.work import AuditRecord
from graph.rules.audit_chain import SealedAudit
from graph.rules.audit_following import verify_chain
from graph.services.access.commands import command
from graph.services.access.session import Session, read
from graph.services.knowledge.blocks import blocks_of
from graph.services.knowledge.entries import entry as entry_view
from graph.services.knowledge.operations import ApplyResult
from graph.services.knowledge.projection import projection
from graph.services.knowledge.relations import relations
from graph.services.knowledge.withdrawal import return_source, withdraw_source
from graph.store.query import By, Find, Match, TextIndex
from tests.support.operations import add, apply, block, cite, create, dream, made, on_entry, outcomes, relate, unrelate
from tests.support.profile import is_soak
from tests.support.world import TeamWorld

T = TypeVar("T")

WRITERS, EACH = (8, 50) if is_soak() else (8, 6)


async def ask(world: TeamWorld, question: Callable[[Session], Awaitable[T]]) -> T:
    answer, _ = await read(world.deps, world.caller(world.ben), question)
    return answer


async def withdraw(world: TeamWorld, source: NodeId) -> None:
    await command(world.deps, world.caller(world.host), lambda cmd: withdraw_source(cmd, source, "gone"))


@pytest.mark.req("KN-82", "KN-83")
async def test_2_many_writers_on_one_popular_entity(world: TeamWorld) -> None:
    """Every statement is stored once, the chain has no gap, nobody sees a transient error."""
    said = await world.say(world.ops, "Acme employs everyone.")
    acme = made(await apply(world, create("Acme", block("Employs everyone.", cite(said, "Acme employs everyone")))))
    conversation = (await world.open(world.ops)).id
    text = " ".join(f"P{w}x{n} joined Acme." for w in range(WRITERS) for n in range(EACH))
    source = await world.say(world.ops, text)

    async def writer(number: int) -> None:
        for n in range(EACH):
            name = f"P{number}x{n}"
            quote = f"{name} joined Acme."
            await apply(
                world,
                create(name, block(quote, cite(source, quote)), type="person", ref="p"),
                relate("p", "member_of", acme, source, quote),
                conversation=conversation,
            )

    await asyncio.gather(*(writer(number) for number in range(WRITERS)))
    found = await ask(world, lambda s: s.reader.find(s.viewer, Find(kind=Relation)))
    assert len(found.nodes) == WRITERS * EACH
    assert len({relation.subject_id for relation in found.nodes}) == WRITERS * EACH
    records = await ask(world, lambda s: s.reader.find(s.viewer, Find(kind=AuditRecord, order=By("seq"))))
    assert verify_chain(SealedAudit.from_node(record) for record in records.nodes).ok
    assert len(records.nodes) == 1 + 2 * WRITERS * EACH


@pytest.mark.req("KN-18")
@pytest.mark.parametrize(
    ("first", "second"),
    [("DGIA", "DGIA"), ("스코프랩스", "스코프 랩스"), ("Ångström Labs", "ångström labs"), ("Wren", "Wren 🕯️")],
)
async def test_5_names_that_must_become_one_entity(world: TeamWorld, first: str, second: str) -> None:
    source = await world.say(world.ops, f"{first} and {second} build kilns.")
    quote = cite(source, "build kilns")
    entry = made(await apply(world, create(first, block("Builds kilns.", quote))))
    with pytest.raises(NameTaken) as caught:
        await apply(world, create(second, block("Builds kilns too.", quote)))
    assert caught.value.details["entry_id"] == entry
    assert outcomes(await apply(world, add(entry, block("Builds kilns too.", quote)))) == ["accepted"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Room 101", "Room 102"),
        ("UA123", "UA124"),
        ("2023 Tax Return", "2024 Tax Return"),
        ("Dr John Richardson", "Dr Jane Richardson"),
        ("김민수", "김민석"),
        ("Q3 revenue report", "Q4 revenue report"),
        ("Тигран", "Иран"),
        ("Iran", "Tigran"),
    ],
)
@pytest.mark.parametrize("together", [True, False])
async def test_6_names_that_must_stay_apart(world: TeamWorld, first: str, second: str, together: bool) -> None:
    source = await world.say(world.ops, f"{first} is one thing. {second} is another thing.")
    one = create(first, block(f"{first} is one thing.", cite(source, f"{first} is one thing")))
    other = create(second, block(f"{second} is another.", cite(source, f"{second} is another")))
    if together:
        result = await apply(world, one, other)
        entries = [made(result, 0), made(result, 1)]
    else:
        entries = [made(await apply(world, one)), made(await apply(world, other))]
    found = await ask(world, lambda s: blocks_of(s, entries))
    assert [[v.current.node.text for v in found[e] if v.current] for e in entries] == [
        [f"{first} is one thing."],
        [f"{second} is another."],
    ]


@pytest.mark.req("KN-31", "DR-68")
async def test_7_a_relation_may_hold_many_values(world: TeamWorld) -> None:
    """A second test retires nothing; a move ends one relation, which keeps its history and says why."""
    source = await world.say(
        world.ops,
        "The benchmark was tested with A-3B. The benchmark was tested with B-7B. helper.py was ported to helper.rs. "
        "Kiran lives in Whitefield.",
    )
    names = ("benchmark", "A-3B", "B-7B", "helper.py", "helper.rs", "Kiran", "Whitefield", "Electronic City")
    made_ = await apply(world, *(create(n, block(f"About {n}.", cite(source, "was tested with"))) for n in names))
    of = {name: made(made_, place) for place, name in enumerate(names)}
    first = await apply(
        world,
        relate(of["benchmark"], "tested_with", of["A-3B"], source, "The benchmark was tested with A-3B"),
        relate(of["benchmark"], "tested_with", of["B-7B"], source, "The benchmark was tested with B-7B"),
        relate(of["helper.py"], "ported_to", of["helper.rs"], source, "helper.py was ported to helper.rs"),
        relate(of["Kiran"], "lives_in", of["Whitefield"], source, "Kiran lives in Whitefield"),
    )
    moved = await world.say(world.ops, "Kiran moved from Whitefield to Electronic City.")
    quote = "Kiran moved from Whitefield to Electronic City"
    await apply(
        world,
        unrelate(made(first, 3), 1, "ended", cite(moved, quote), validTo="2025-05-01"),
        relate(of["Kiran"], "lives_in", of["Electronic City"], moved, quote, validFrom="2025-05-01"),
    )
    tests = (await ask(world, lambda s: relations(s, of["benchmark"], first=9))).items
    assert [view.version.valid_to for view in tests] == [None, None]
    assert [v.version.valid_to for v in (await ask(world, lambda s: relations(s, of["helper.py"], first=9))).items] == [
        None
    ]
    homes = (await ask(world, lambda s: relations(s, of["Kiran"], first=9))).items
    (old,) = [view for view in homes if view.node.object_id == of["Whitefield"]]
    (new,) = [view for view in homes if view.node.object_id == of["Electronic City"]]
    assert old.version.valid_to == new.version.valid_from
    assert new.version.valid_to is None
    assert moved in {cited.source.id for cited in old.support.citations}


@pytest.mark.req("KN-29", "KN-62", "KN-124")
@pytest.mark.parametrize("gone", [0, 1])
async def test_8_deleting_one_of_two_sources(world: TeamWorld, gone: int) -> None:
    """The relation survives with exactly one source; the block comes back with its source; then all is gone."""
    texts = ("Mei leads the Kyoto office.", "As I said, Mei leads the Kyoto office.")
    sources = [await world.say(world.ops, text) for text in texts]
    quote = "Mei leads the Kyoto office"
    first = await apply(
        world,
        create("Mei", block("Leads the Kyoto office.", cite(sources[0], quote)), type="person", ref="m"),
        create("Kyoto office", block("Led by Mei.", cite(sources[0], quote)), type="place", ref="k"),
        relate("m", "leads", "k", sources[0], quote),
    )
    mei, kyoto = made(first, 0), made(first, 1)
    again = await apply(
        world,
        relate(mei, "leads", kyoto, sources[1], quote),
        add(mei, block("Leads it, said again.", cite(sources[1], quote))),
        add(kyoto, block("Led by Mei, said again.", cite(sources[1], quote))),
    )
    assert outcomes(again) == ["merged", "accepted", "accepted"]

    await withdraw(world, sources[gone])
    (left,) = (await ask(world, lambda s: relations(s, mei, first=9))).items
    assert [cited.source.id for cited in left.support.citations] == [sources[1 - gone]]
    assert len((await ask(world, lambda s: blocks_of(s, [mei])))[mei]) == 1

    await withdraw(world, sources[1 - gone])
    assert await ask(world, lambda s: entry_view(s, mei)) is None
    assert (await ask(world, lambda s: s.reader.find(s.viewer, Find(kind=Entry)))).nodes == ()
    assert (await ask(world, lambda s: s.reader.find(s.viewer, Find(kind=Relation)))).nodes == ()
    assert (await ask(world, lambda s: s.reader.find(s.viewer, Find(kind=Block)))).nodes == ()
    await command(world.deps, world.caller(world.host), lambda cmd: return_source(cmd, sources[gone], "back"))
    assert len((await ask(world, lambda s: relations(s, mei, first=9))).items) == 1


@pytest.mark.req("KN-29", "KN-124")
async def test_8_the_evidence_of_a_relation_alone_keeps_both_entries(world: TeamWorld) -> None:
    sources = [await world.say(world.ops, f"{n}: Mei leads the Kyoto office.") for n in ("One", "Two")]
    quote = "Mei leads the Kyoto office"
    first = await apply(
        world,
        create("Mei", block("Leads it.", cite(sources[0], quote)), type="person", ref="m"),
        create("Kyoto office", block("Led by Mei.", cite(sources[0], quote)), type="place", ref="k"),
        relate("m", "leads", "k", sources[0], quote),
    )
    await apply(world, relate(made(first, 0), "leads", made(first, 1), sources[1], quote))
    await withdraw(world, sources[0])
    (left,) = (await ask(world, lambda s: relations(s, made(first, 0), first=9))).items
    assert [cited.source.id for cited in left.support.citations] == [sources[1]]


@pytest.mark.req("KN-62", "KN-124")
async def test_9_a_deleted_fact_inside_a_surviving_summary(world: TeamWorld) -> None:
    secret = await world.say(world.ops, "Project Heron's launch code word is MARMALADE-7.")
    fact = await world.say(world.ops, "Project Heron is run by Ana.")
    result = await apply(
        world,
        create(
            "Heron",
            block("The code word is MARMALADE-7.", cite(secret, "code word is MARMALADE-7")),
            block("Run by Ana.", cite(fact, "run by Ana")),
            summary="Run by Ana; the code word is MARMALADE-7.",
            type="project",
        ),
    )
    heron = made(result)
    await withdraw(world, secret)
    text = await ask(world, lambda s: projection(s, heron))
    shown = await ask(world, lambda s: entry_view(s, heron))
    assert "MARMALADE" not in text
    assert "Run by Ana." in text
    assert shown is not None
    assert shown.summary is None
    matches = await ask(world, lambda s: s.reader.match(s.viewer, Match(index=TextIndex.ENTRY, words=("marmalade",))))
    assert matches.hits == ()
    records = await ask(world, lambda s: s.reader.find(s.viewer, Find(kind=AuditRecord)))
    assert "MARMALADE" not in repr([(record.before, record.after) for record in records.nodes])
    rest = made(result, place=2)
    await apply(world, on_entry("setSummary", heron, 1, summary="Run by Ana.", fromBlocks=[rest]))
    again = await ask(world, lambda s: entry_view(s, heron))
    assert again is not None
    assert again.summary == "Run by Ana."


@pytest.mark.parametrize("copies", [2, 20])
async def test_15_the_same_write_twice_at_the_same_time(world: TeamWorld, copies: int) -> None:
    """One statement, and the same id for every caller."""
    start = await world.say(world.ops, "We track invoices here.")
    entry = made(await apply(world, create("Invoices", block("Are tracked.", cite(start, "track invoices")))))
    conversation = (await world.open(world.ops)).id
    source = await world.say(world.ops, "Invoice 17 was paid on 3 May")
    paid = add(entry, block("Invoice 17 was paid on 3 May.", cite(source, "Invoice 17 was paid on 3 May")))

    async def send() -> ApplyResult:
        return await apply(world, paid, conversation=conversation)

    results = await asyncio.gather(*(send() for _ in range(copies)))
    assert len({made(result) for result in results}) == 1
    assert sorted({code for result in results for code in outcomes(result)}) == ["accepted", "noop"]
    found = await ask(world, lambda s: blocks_of(s, [entry]))
    assert len(found[entry]) == 2


async def test_15_two_sources_that_say_the_same_are_under_one_statement(world: TeamWorld) -> None:
    start = await world.say(world.ops, "We track invoices here.")
    entry = made(await apply(world, create("Invoices", block("Are tracked.", cite(start, "track invoices")))))
    conversation = (await world.open(world.ops)).id
    sources = [await world.say(world.ops, "Invoice 17 was paid on 3 May") for _ in range(2)]
    results = await asyncio.gather(
        *(
            apply(
                world, add(entry, block("Was paid on 3 May.", cite(s, "was paid on 3 May"))), conversation=conversation
            )
            for s in sources
        )
    )
    assert len({made(result) for result in results}) == 1
    assert sorted(code for result in results for code in outcomes(result)) == ["accepted", "merged"]
    found = await ask(world, lambda s: blocks_of(s, [entry]))
    (_, statement) = [view.current for view in found[entry]]
    assert statement is not None
    assert {cited.source.id for cited in statement.support.citations} == set(sources)


async def test_15_two_that_create_the_same_entry_make_one(world: TeamWorld) -> None:
    source = await world.say(world.ops, "Helio builds kilns.")
    conversation = (await world.open(world.ops)).id
    content = create("Helio", block("Builds kilns.", cite(source, "builds kilns")))
    results = await asyncio.gather(
        *(apply(world, content, conversation=conversation) for _ in range(8)), return_exceptions=True
    )
    created = [result for result in results if isinstance(result, ApplyResult)]
    taken = [result for result in results if isinstance(result, NameTaken)]
    assert (len(created), len(taken)) == (1, 7)
    assert {error.details["entry_id"] for error in taken} == {made(created[0])}


@pytest.mark.req("DR-69")
async def test_16_what_changed_begins_on_the_day_of_who_said_so(world: TeamWorld) -> None:
    old = await world.say(world.ops, "Lin smokes a pipe.", speaker=world.ben, sent_at="2023-05-24T10:00:00Z")
    start = block("Smokes a pipe", cite(old, "Lin smokes a pipe"), validFrom="2023-05-24")
    first = await dream(world, create("Lin", start, type="person"))
    new = await world.say(world.ops, "Lin quit smoking.", speaker=world.ben, sent_at="2024-01-01T00:30:00+09:00")
    quits = block("Does not smoke", cite(new, "Lin quit smoking"), change="evolution")
    assert outcomes(await dream(world, add(made(first), quits, supersedes=[made(first, 0, 1)]))) == ["accepted"]
    text, _ = await read(world.deps, world.caller(world.ben), lambda s: projection(s, made(first)))
    assert "since 2024-01-01" in text
    assert "2023-12-31" not in text


@pytest.mark.req("KN-19", "KN-21", "KN-27")
async def test_3_hostile_names_of_types_relations_and_keys_are_refused(world: TeamWorld) -> None:
    source = await world.say(world.ops, "Helio builds kilns.")
    content = block("Builds kilns.", cite(source, "builds kilns"))
    entry = made(await apply(world, create("Helio", content)))
    for name in ("x` SET n.admin = true //", "x`) DETACH DELETE n //"):
        operations = (
            create("Orion", content, type=name),
            relate(entry, name, entry, source, "builds kilns"),
            on_entry("setAttributes", entry, 1, set={name: {"value": 1, "citations": []}}),
        )
        result = await apply(world, *operations, dry_run=True)
        assert outcomes(result) == ["UNKNOWN_TYPE", "SCHEMA_INVALID", "LIMIT_EXCEEDED"]
