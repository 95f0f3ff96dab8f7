"""What Stage B is shown: the guide, what is stale, what nobody sees any more, and nothing of other bases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from graph.model.edges import Edge, EdgeType
from graph.model.ids import NodeId, hosted_id
from graph.model.nodes.evidence import Source
from graph.model.nodes.knowledge import BlockVersion, Entry, KbKind
from graph.model.nodes.learning import MemoLine
from graph.model.nodes.people import Principal, PrincipalKind
from graph.rules.pools import base_id, new_base
from graph.services.access.commands import command
from graph.services.knowledge.bases import ensure_base
from graph.services.knowledge.guide import set_curation_guide
from graph.services.knowledge.withdrawal import return_source, withdraw_source
from tests.support.channel_room import Room
from tests.support.night import LOOK, SELECT, Night, Shown, nothing
from tests.support.operations import add, apply, block, cite, create, deduction, delete, edit, made

SOLO = "Mei leads the Kyoto office"
BOTH = "Yes, Mei leads the Kyoto office since March"


async def withdraw(night: Night, source: NodeId) -> None:
    world = night.world
    await command(world.deps, world.caller(world.dan), lambda cmd: withdraw_source(cmd, source, "a test"))


async def give_back(night: Night, source: NodeId) -> None:
    world = night.world
    await command(world.deps, world.caller(world.dan), lambda cmd: return_source(cmd, source, "a test"))


async def current(night: Night) -> list[str]:
    """What is believed now, seen or not."""
    return sorted(v.text for v in await night.all(BlockVersion) if v.invalidated_at is None)


async def seen(night: Night) -> list[str]:
    """What is believed now and can be seen by somebody."""
    versions = {v.id: v.text for v in await night.all(BlockVersion) if v.invalidated_at is None}
    async with night.world.deps.store.reading() as reader:
        audiences = await reader.audiences(list(versions))
    return sorted(versions[id_] for id_, audience in audiences.items() if audience.live)


@pytest.mark.req("KN-106", "KN-108", "DR-35")
async def test_guide_is_an_instruction_of_both_calls(night: Night) -> None:
    world = night.world
    await night.talk("Orion ships on Friday")
    text = "---\ntypes: [vendor]\n---\nMake an entry for every supplier."
    guide = lambda cmd: set_curation_guide(cmd, world.atlas, text, expected_version=0)  # noqa: E731
    await command(world.deps, world.caller(world.ana), guide)
    night.decides(lambda s: [create("Orion", block("Ships.", cite(s.source("Orion"), "Orion ships")), type="vendor")])
    assert await night.later() == ["done"]
    for shown in (*night.asked(SELECT), *night.asked()):
        assert "Make an entry for every supplier." in shown.system
        assert "Make an entry for every supplier." not in shown.text
    assert [entry.type for entry in await night.all(Entry)] == ["vendor"]


@pytest.mark.req("DR-60", "DR-57")
async def test_deduction_whose_basis_is_gone_is_offered_as_stale(night: Night) -> None:
    [said] = await night.talk("Mia works in Berlin")
    first = await apply(night.world, create("Mia", block("Works in Berlin.", cite(said, "works in Berlin"))))
    mia, basis = made(first), made(first, place=1)
    await apply(night.world, add(mia, deduction("she works in Berlin", "she speaks German", basis)))
    await night.later()
    assert [b.get("stale") for b in night.asked()[0].entry("Mia")["blocks"]] == [None, None]
    moved = block("Works in Rome.", change="correction", standing="corrected")
    await apply(night.world, edit(basis, 1, moved), by=night.world.ana)
    await night.talk("Mia is in Rome now")

    def renew(s: Shown) -> Sequence[Any]:
        [stale] = [b for b in s.entry("Mia")["blocks"] if b.get("stale")]
        now = s.block("Works in Rome.")["id"]
        judged = deduction("she works in Rome", "she speaks Italian", now, date=s.text.split("run: ")[1][:10])
        return [edit(stale["id"], stale["version"], judged)]

    night.decides(renew)
    assert await night.later() == ["done"]
    assert await current(night) == ["If she works in Rome: she speaks Italian", "Works in Rome."]


@pytest.mark.req("MA-24", "DR-52")
async def test_block_that_lost_one_of_two_sources_is_written_anew_from_the_other(night: Night) -> None:
    solo, both = await night.talk(SOLO, BOTH)
    cited = (cite(solo, SOLO), cite(both, "Mei leads the Kyoto office since March"))
    await apply(
        night.world, create("Mei", block("Is a person.", cite(both, "Yes, Mei")), block("Leads Kyoto.", *cited))
    )
    await night.later()
    await withdraw(night, solo)
    await night.talk("anything else?")

    def anew(s: Shown) -> Sequence[Any]:
        [hidden] = s.hidden()
        [left] = hidden["sources"]
        assert left["quote"] == "Mei leads the Kyoto office since March"
        return [
            edit(hidden["id"], hidden["version"], block("Leads the Kyoto office.", cite(left["source"], left["quote"])))
        ]

    night.decides(anew)
    assert await night.later() == ["done"]
    assert await night.rejected() == []
    assert "Leads Kyoto." not in night.asked()[-1].text
    assert await seen(night) == ["Is a person.", "Leads the Kyoto office."]
    await give_back(night, solo)
    assert await seen(night) == ["Is a person.", "Leads the Kyoto office."]
    night.decides(lambda s: [])
    await night.talk("nothing new")
    await night.later()
    assert night.asked()[-1].hidden() == [], "what is seen is offered no more"


@pytest.mark.req("MA-24", "DR-35")
async def test_hidden_block_is_offered_though_nothing_was_opened_if_evidence_of_it_is_left(night: Night) -> None:
    solo, both = await night.talk(SOLO, BOTH)
    cited = (cite(solo, SOLO), cite(both, "Mei leads the Kyoto office since March"))
    await apply(
        night.world, create("Mei", block("Is a person.", cite(both, "Yes, Mei")), block("Leads Kyoto.", *cited))
    )
    alone = create("Kai", block("Is known.", cite(both, "Yes, Mei")), block("Is gone.", cite(solo, SOLO)))
    await apply(night.world, alone)
    await night.later()
    night.model.on(SELECT, nothing)
    await night.talk("lol")
    asked = len(night.asked())
    assert await night.later() == ["done"]
    assert len(night.asked()) == asked, "nothing is hidden yet"
    await withdraw(night, solo)
    night.decides(
        lambda s: [
            edit(h["id"], h["version"], block("Leads it.", cite(c["source"], c["quote"])))
            for h in s.hidden()
            for c in h["sources"]
        ]
    )
    await night.talk("lol again")
    assert await night.later() == ["done"]
    assert "Leads it." in await seen(night)
    asked = len(night.asked())
    await night.talk("and again")
    assert await night.later() == ["done"]
    assert len(night.asked()) == asked, "of what is left hidden nothing can be told"


@pytest.mark.req("MA-24")
async def test_hidden_block_may_be_ended_but_never_taken_for_a_duplicate(night: Night) -> None:
    solo, both = await night.talk(SOLO, BOTH)
    await apply(
        night.world,
        create(
            "Mei", block("Leads it.", cite(both, "Mei leads the Kyoto office")), block("Leads Kyoto.", cite(solo, SOLO))
        ),
    )
    await night.later()
    await withdraw(night, solo)
    await night.talk("Mei leads nothing else")

    def end(s: Shown) -> Sequence[Any]:
        [hidden] = s.hidden()
        words = cite(s.source("nothing else"), "Mei leads nothing else")
        same = delete(hidden["id"], 1, duplicateOf=s.block("Leads it.")["id"])
        return [same, delete(hidden["id"], 1), delete(hidden["id"], 1, words)]

    night.decides(end)
    assert await night.later() == ["done"]
    assert [code for _, _, code in await night.rejected()] == ["EVIDENCE_NOT_FOUND", "NO_NEW_EVIDENCE"]
    assert await current(night) == ["Leads it."]


@pytest.mark.req("MA-24", "DR-75")
async def test_hidden_text_of_a_person_takes_a_correction(night: Night) -> None:
    solo, both = await night.talk(SOLO, BOTH)
    first = await apply(
        night.world,
        create("Mei", block("Is a person.", cite(both, "Yes, Mei")), block("Leads Kyoto.", cite(solo, SOLO))),
    )
    theirs = block("Leads Kyoto alone.", cite(solo, SOLO), change="evolution", validFrom="2025-01-01")
    await apply(night.world, edit(made(first, place=2), 1, theirs), by=night.world.ana)
    await night.later()
    await withdraw(night, solo)
    await night.talk("No, Mei leads Osaka")

    def anew(s: Shown) -> Sequence[Any]:
        [hidden] = s.hidden()
        words, mends = s.source("Osaka"), {"change": "correction", "standing": "corrected"}
        return [
            edit(hidden["id"], hidden["version"], block("Leads Osaka.", cite(words, "Mei leads Osaka"))),
            edit(
                hidden["id"],
                hidden["version"],
                block("Leads Osaka.", cite(words, "Mei leads Osaka", "corrects"), **mends),
            ),
        ]

    night.decides(anew)
    assert await night.later() == ["done"]
    assert await night.rejected() == [(0, "editBlock", "SCHEMA_INVALID")]
    assert await seen(night) == ["Is a person.", "Leads Osaka."]


@pytest.mark.req("MA-24", "DR-78")
async def test_source_that_comes_back_during_the_run_is_seen_before_anything_is_written(night: Night) -> None:
    solo, both = await night.talk(SOLO, BOTH)
    await apply(
        night.world,
        create("Mei", block("Is a person.", cite(both, "Yes, Mei")), block("Leads Kyoto.", cite(solo, SOLO))),
    )
    await night.later()
    await withdraw(night, solo)
    await night.talk("Mei leads Osaka")
    offered: list[int] = []

    def anew(s: Shown) -> Sequence[Any]:
        offered.append(len(s.hidden()))
        words = cite(s.source("Osaka"), "Mei leads Osaka")
        return [edit(h["id"], h["version"], block("Leads Osaka.", words)) for h in s.hidden()]

    night.decides(anew)

    class Returning:
        name = "scripted"

        async def complete(self, request: Any) -> Any:
            answer = await night.model.complete(request)
            if request.purpose == "stage_b.decide" and len(offered) == 1:
                await give_back(night, solo)
            return answer

    night.instead = Returning()
    assert await night.later() == ["done"]
    assert offered == [1, 0]
    assert await seen(night) == ["Is a person.", "Leads Kyoto."]


@pytest.mark.req("MA-24", "DR-44")
async def test_hidden_block_that_is_not_offered_is_not_there(night: Night) -> None:
    [secret] = await night.talk("my salary is 90k", channel=night.world.chat)
    chat = (await night.world.open(night.world.chat)).id
    first = await apply(
        night.world, create("Pay", block("Earns 90k.", cite(secret, "salary is 90k"))), conversation=chat
    )
    await night.talk("hello there")
    guess = made(first, place=1)

    def guesses(s: Shown) -> Sequence[Any]:
        if "hello" not in s.text:
            return []
        return [edit(guess, 1, block("Nothing.", cite(s.source("hello"), "hello there")))]

    night.decides(guesses)
    assert await night.later() == ["failed"]
    codes = [row["code"] for batch in await night.batches() for row in batch.rejections or ()]
    assert codes == ["EVIDENCE_NOT_FOUND"]


@pytest.mark.req("DR-66", "DR-53")
async def test_private_evidence_goes_to_an_entry_of_its_own_beside_the_shared_one(night: Night) -> None:
    world = night.world
    await night.talk("Helio builds kilns")
    own = await base_made(night, world.atlas, KbKind.AGENT)
    first = await apply(world, create("Helio", block("Builds kilns.")), by=world.ana, kb=own)
    await night.talk("Helio owes me money", channel=world.chat)

    def decide(s: Shown) -> Sequence[Any]:
        if "owes" not in s.text:
            return []
        wider = s.entry("Helio")
        assert wider["scope"] == "agent"
        owes = block("Owes Ana money.", cite(s.source("owes"), "Helio owes me money"))
        return [add(wider["id"], owes), create("Helio", owes, sameAs=wider["id"])]

    night.decides(decide)
    assert await night.later() == ["done"]
    rows = [(row["index"], row["code"]) for batch in await night.batches() for row in batch.rejections or ()]
    assert rows == [(0, "SCOPE_FORBIDDEN")]
    [beside] = [entry for entry in await night.all(Entry) if entry.id != made(first)]
    assert beside.pool == base_id(world.name, world.atlas, KbKind.PRIVATE, world.chat)


async def base_made(night: Night, owner: NodeId, kind: KbKind) -> NodeId:
    """Make a base of an agent, as its first use does."""
    base = new_base(night.world.name, owner, kind, night.clock.now())
    await night.world.deps.store.transact(lambda writer: ensure_base(writer, base))
    return base.id


@pytest.mark.req("KN-55", "DR-33")
async def test_what_another_agent_granted_is_not_shown(night: Night) -> None:
    world = night.world
    other = hosted_id(Principal.PREFIX, world.name, "vega", container="agent")
    vega = Principal(
        id=other,
        workspace=world.workspace,
        created_at=night.clock.now(),
        kind=PrincipalKind.AGENT,
        display_name="Vega",
    )
    await world.deps.store.transact(lambda writer: writer.put([vega]))
    shared = await base_made(night, other, KbKind.SHARED)
    granted = Edge(type=EdgeType.READS_SHARED, source=world.atlas, target=shared)
    await world.deps.store.transact(lambda writer: writer.link([granted]))
    await apply(world, create("Vega", block("Shines.")), by=world.dan, kb=shared)
    await night.talk("hello there")
    await night.later()
    assert night.asked(SELECT)[0].lines("Entries") == []


@pytest.mark.req("DR-37", "RE-2", "RE-3", "RE-5")
async def test_memo_is_shown_with_its_budget_and_written_as_a_whole(night: Night) -> None:
    await night.talk("Always answer Ana in French")

    def writes(s: Shown) -> Sequence[Any]:
        [memo] = s.lines("Memo")
        assert (memo["version"], memo["budgetTokens"]) == (0, 200)
        words = cite(s.source("French"), "Always answer Ana in French")
        return [
            {"op": "writeMemo", "expectedVersion": 0, "lines": [{"text": "Answer in French.", "citations": [words]}]}
        ]

    night.decides(writes)
    assert await night.later() == ["done"]
    assert [line.text for line in await night.all(MemoLine)] == ["Answer in French."]
    night.decides(lambda s: [])
    await night.talk("bonjour")
    await night.later()
    [memo] = night.asked()[-1].lines("Memo")
    assert (memo["version"], [line["text"] for line in memo["lines"]]) == (1, ["Answer in French."])
    assert "Only rules that bind in every turn" in night.asked()[-1].system


@pytest.mark.req("DR-45", "DR-33")
async def test_evidence_without_room_is_left_out_and_cannot_be_cited(night: Night) -> None:
    await Room(night.world, night.clock).set_to(stage_b__max_tokens=100)
    await night.talk("a long story " * 60, "the end of it")
    shown: list[Shown] = []

    def cites(s: Shown) -> Sequence[Any]:
        shown.append(s)
        [left] = [line for line in s.lines("Evidence") if line.get("leftOut")]
        return [create("End", block("It ended.", cite(left["id"], "the end of it")))]

    night.decides(cites)
    assert await night.later() == ["failed"]
    assert await night.rejected() == [(0, "createEntry", "EVIDENCE_NOT_FOUND")]
    assert [line for line in shown[0].lines("Evidence") if line.get("shortened")]


@pytest.mark.req("DR-33", "DR-4")
async def test_what_a_batch_takes_in_is_shown_in_it(night: Night) -> None:
    """Short messages: what is quoted around them takes more room than their words."""
    await Room(night.world, night.clock).set_to(stage_b__max_tokens=150)
    for number in range(6):
        await night.talk(f"line {number}", topic=f"topic {number}")
    assert await night.later() == ["done"]
    assert await night.pending() == []
    shown = [line for s in night.asked() for line in s.lines("Evidence") if line["kind"] == "message"]
    assert sorted(str(line.get("text")) for line in shown) == [f"line {number}" for number in range(6)]
    assert not [line for line in shown if line.get("shortened")]


@pytest.mark.req("KN-64", "DR-4")
async def test_older_version_of_a_message_is_marked(night: Night) -> None:
    [said] = await night.talk("Orion ships on Friday", external_id="o1")
    await night.world.say(night.world.ops, "Orion ships on Monday", external_id="o1")
    await night.later()
    [line] = [line for line in night.asked()[0].lines("Evidence") if line["kind"] == "message"]
    assert (line["text"], line["newerVersion"]) == ("Orion ships on Friday", True)
    async with night.world.deps.store.reading() as reader:
        old = (await reader.get(LOOK, [said]))[said]
    assert isinstance(old, Source)
    assert not old.latest
