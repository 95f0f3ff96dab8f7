"""Acceptance examples 1 to 8, 11, 13, 14 and 19 to 21 as Dreaming makes them come true.

People speak over HTTP, a worker dreams with a scripted model over both stages, and everything is read over HTTP.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from graph.model.errors import StoreUnavailable
from graph.model.nodes.knowledge import Entry
from graph.model.nodes.learning import Lesson, Progress
from graph.model.nodes.work import AuditRecord
from graph.services.learning.stage_a import arrange_stage_a
from tests.acceptance.stage import NODE, Stage, made
from tests.acceptance.test_changing_knowledge import BLOCK_VERSIONS, TASK_RESULT
from tests.acceptance.test_scopes import COUNTS
from tests.acceptance.test_skills import RULE, load, provision
from tests.api.conftest import ENGINES
from tests.support.held_clock import HeldClock
from tests.support.night import DECIDE, Decides, Night, Shown
from tests.support.operations import add, block, cite, create, deduction, edit, relate

pytestmark = [
    pytest.mark.parametrize("engine", [e for e in ENGINES if e != "memory"], indirect=True),
    pytest.mark.usefixtures("alone"),
]

RUNS = """
query($agent: ID!) { dreamRuns(agentId: $agent, first: 50) { edges { node {
  id stage trigger state materialsProcessed operations skillUpdates rejected error
  rejections(first: 50) { edges { node { index op code reason } } } } } } }
"""
AUDIT = "query($run: ID!) { auditLog(filter: {dreamRunId: $run}) { edges { node { operation actorKind } } } }"
WITHDRAW = 'mutation($id: ID!) { withdrawSource(id: $id, reason: "gone") { txId } }'
RETURN = 'mutation($id: ID!) { returnSource(id: $id, reason: "back") { txId } }'
CITED_SEARCH = """
query($owner: ID!) { memorySearch(input: {query: "Berlin office", ownerId: $owner}) {
  items { ref text sources { quote source { id } } } } }
"""
CITED_BROWSE = "query($ref: ID!) { memoryBrowse(ref: $ref) { text sources { quote source { id } } } }"
ENTRIES = "query($owner: ID!) { entries(ownerId: $owner) { edges { node { id name } } } }"


@pytest.fixture
def clock() -> HeldClock:
    return HeldClock()


async def sleep(night: Night, *answers: Decides) -> list[str]:
    """Let Stage A read what was said, then start Stage B by hand; return how its job ended."""
    if answers:
        night.decides(*answers)
    night.clock.advance(timedelta(minutes=30))
    await arrange_stage_a(night.world.deps)
    await night.work()
    await night.by_hand()
    return await night.work()


async def entry_id(stage: Stage, name: str, *, by: Any = None) -> str:
    """Return the id of an entry by its name."""
    found = await (by or stage.ana).ok(ENTRIES, owner=stage.gid(stage.world.atlas))
    return str(next(e["node"]["id"] for e in found["entries"]["edges"] if e["node"]["name"] == name))


async def last_run(stage: Stage, *, by: Any = None) -> Any:
    """Return the newest run of Stage B, with index, operation and code of what it rejected."""
    found = await (by or stage.ana).ok(RUNS, agent=stage.gid(stage.world.atlas))
    run = next(e["node"] for e in found["dreamRuns"]["edges"] if e["node"]["stage"] == "B")
    rows = [edge["node"] for edge in run["rejections"]["edges"]]
    assert all(row["reason"] for row in rows)
    return {**run, "codes": [(row["index"], row["op"], row["code"]) for row in rows]}


def says(name: str, text: str, quote: str, **fields: Any) -> Decides:
    """Make an entry with one block that says this."""
    return lambda s: [create(name, block(text, cite(s.source(quote), quote)), **fields)]


@pytest.mark.req("KN-1", "KN-2", "KN-4", "DR-69", "DR-70", "KN-76", "DR-67")
async def test_1_diet_changes(stage: Stage, night: Night) -> None:
    lin = stage.world.ben
    stage.clock.set("2023-06-01T10:00:00Z")
    m1 = await stage.say("Lin says: I like barbecue.", speaker=lin)
    likes = {"validFrom": "2023-06-01"}
    await sleep(
        night,
        lambda s: [
            create("Lin", block("Likes barbecue", cite(s.source("like"), "I like barbecue"), **likes), type="person")
        ],
    )
    stage.clock.set("2025-05-10T10:00:00Z")
    m2 = await stage.say("I went vegetarian last month", speaker=lin)

    def became(s: Shown, *supersedes: str) -> Sequence[Any]:
        cited = cite(s.source("vegetarian"), "went vegetarian last month")
        since = {"change": "evolution", "validFrom": "2025-04-01", "fromPrecision": "month"}
        return [add(s.entry("Lin")["id"], block("Vegetarian", cited, **since, supersedes=list(supersedes)))]

    assert await sleep(night, became, lambda s: became(s, s.block("Likes barbecue")["id"])) == ["failed"]
    assert (await last_run(stage))["codes"] == [(0, "addBlock", "CONFLICT_UNEXPLAINED")]
    assert await sleep(night) == ["done"]
    entry = await entry_id(stage, "Lin")
    text = (await stage.entry(entry))["projection"]
    assert "Likes barbecue [2023-06-01 to 2025-04]" in text
    assert "Vegetarian [since 2025-04]" in text
    assert await stage.texts(entry, valid="2024-01-01T00:00:00Z") == ["Likes barbecue"]
    assert {m1, m2} <= await stage.sources(entry)


@pytest.mark.req("DR-71", "DR-40")
async def test_2_explicit_correction(stage: Stage, night: Night) -> None:
    await stage.say("Lin's birthday is 3 May", speaker=stage.world.ben)
    await sleep(night, says("Lin", "Birthday is 3 May.", "birthday is 3 May", type="person"))
    await stage.say("No, it is 5 May", by_agent=True)
    await stage.say("No, it is 5 May!", speaker=stage.world.ben)

    def corrected(s: Shown, source: str) -> Any:
        old = s.block("Birthday is 3 May.")
        quote = cite(source, "it is 5 May", "corrects")
        return edit(old["id"], 1, block("Birthday is 5 May.", quote, change="correction", standing="corrected"))

    by = {True: "No, it is 5 May", False: "No, it is 5 May!"}

    def both(s: Shown) -> Sequence[Any]:
        lines = {line["text"]: line for line in s.lines("Evidence") if line["kind"] == "message"}
        assert lines[by[True]]["agent"] is True
        return [corrected(s, lines[by[True]]["id"]), corrected(s, lines[by[False]]["id"])]

    assert await sleep(night, both) == ["done"]
    [(index, op, code)] = (await last_run(stage))["codes"]
    assert (index, op) == (0, "editBlock")
    assert code in ("AGENT_SELF_EVIDENCE", "CONFLICT_UNEXPLAINED")
    lin = await entry_id(stage, "Lin")
    block_id = (await stage.entry(lin))["blocks"][0]["id"]
    shown = await stage.ana.ok(BLOCK_VERSIONS, id=block_id)
    old, new = sorted((e["node"] for e in shown["node"]["versions"]["edges"]), key=lambda node: node["version"])
    assert (new["text"], new["standing"], new["invalidatedAt"]) == ("Birthday is 5 May.", "CORRECTED", None)
    assert old["invalidatedAt"] is not None
    assert old["validTo"] is None
    for day in ("2001-05-03", "2025-05-10", "2030-01-01"):
        assert await stage.texts(lin, valid=f"{day}T00:00:00Z") == ["Birthday is 5 May."]


@pytest.mark.req("DR-72", "DR-68")
async def test_3_sources_disagree(stage: Stage, night: Night) -> None:
    stage.clock.set("2025-04-02T09:00:00Z")
    m1 = await stage.say("Launch is 1 June")
    await sleep(night, says("Launch", "Launch is 1 June.", "Launch is 1 June"))
    stage.clock.set("2025-04-04T09:00:00Z")
    m2 = await stage.say("Launch is 15 June", speaker=stage.world.ben)

    def dispute(s: Shown) -> Sequence[Any]:
        told = block(
            "Ana said on 2 April 2025 that launch is 1 June; Ben said on 4 April 2025 that it is 15 June.",
            cite(s.block("Launch is 1 June.")["sources"][0]["source"], "Launch is 1 June"),
            cite(s.source("15 June"), "Launch is 15 June", "contradicts"),
            change="dispute",
            standing="disputed",
        )
        return [add(s.entry("Launch")["id"], told)]

    assert await sleep(night, dispute) == ["done"]
    launch = await entry_id(stage, "Launch")
    text = (await stage.entry(launch))["projection"]
    for part in ("Ana said on 2 April 2025", "Ben said on 4 April 2025", "disputed", m1, m2):
        assert part in text
    assert {m1, m2} <= await stage.sources(launch)


@pytest.mark.req("DR-73", "KN-9")
async def test_4_rumour(stage: Stage, night: Night) -> None:
    await stage.say("Kai leads Atlas")
    await sleep(night, says("Kai", "Kai leads Atlas", "Kai leads Atlas", type="person"))
    await stage.say("I heard Kai may leave Atlas", speaker=stage.world.ben)
    told = "Ben said on 10 May 2025 that he heard Kai may leave Atlas."

    def rumour(s: Shown) -> Sequence[Any]:
        words = cite(s.source("may leave"), "Kai may leave Atlas")
        said = block(told, words, change="rumour", standing="unconfirmed")
        return [edit(s.block("Kai leads Atlas")["id"], 1, said), add(s.entry("Kai")["id"], said)]

    assert await sleep(night, rumour) == ["done"]
    assert (await last_run(stage))["codes"] == [(0, "editBlock", "RUMOUR_OVERRIDE")]
    assert await stage.texts(await entry_id(stage, "Kai")) == ["Kai leads Atlas", told]


@pytest.mark.req("DR-49", "DR-57", "DR-58", "DR-59", "KN-28")
async def test_5_inference_is_no_relation(stage: Stage, night: Night) -> None:
    m1, m2 = await stage.talk(["Mia works in the Berlin office", "The Berlin office belongs to Orion"])
    await sleep(
        night,
        lambda s: [
            *says("Mia", "Mia works in the Berlin office", "Mia works in the Berlin office")(s),
            *says("Orion", "The Berlin office belongs to Orion", "The Berlin office belongs to Orion")(s),
        ],
    )
    await stage.say("who works for Orion?")

    def infers(s: Shown) -> Sequence[Any]:
        mia, orion = s.entry("Mia"), s.entry("Orion")
        words = mia["blocks"][0]["sources"][0]
        basis = (mia["blocks"][0]["id"], orion["blocks"][0]["id"])
        judged = deduction("the office belongs to Orion", "Mia works for Orion", *basis)
        return [
            relate(mia["id"], "member_of", orion["id"], words["source"], words["quote"]),
            add(mia["id"], deduction("", "Mia works for Orion", *basis)),
            add(mia["id"], judged),
        ]

    assert await sleep(night, infers) == ["done"]
    codes = [code for _, _, code in (await last_run(stage))["codes"]]
    assert codes == ["RELATION_NOT_EXPLICIT", "NOT_CONDITIONAL"]
    shown = await stage.entry(await entry_id(stage, "Mia"))
    assert shown["relations"]["totalCount"] == 0
    assert "If the office belongs to Orion: Mia works for Orion (Dreaming, 2025-05-10; basis [" in shown["projection"]
    assert {m1, m2} <= await stage.sources(shown["blocks"][1]["id"])


@pytest.mark.req("DR-56", "KN-25")
async def test_what_was_learned_comes_with_the_citations_to_reason_with(stage: Stage, night: Night) -> None:
    m1 = await stage.say("Mia works in the Berlin office")
    await sleep(night, says("Mia", "Works in the Berlin office.", "Mia works in the Berlin office"))
    entry = await entry_id(stage, "Mia")
    found = (await stage.ana.ok(CITED_SEARCH, owner=stage.gid(stage.world.atlas)))["memorySearch"]["items"]
    [hit] = [item for item in found if item["ref"] == entry]
    page = (await stage.ana.ok(CITED_BROWSE, ref=entry))["memoryBrowse"]
    for shown in (hit, page):
        assert "Berlin office" in shown["text"]
        assert [(c["quote"], c["source"]["id"]) for c in shown["sources"]] == [("Mia works in the Berlin office", m1)]


@pytest.mark.req("DR-61", "DR-62", "DR-63", "DR-64")
async def test_6_one_event_is_no_pattern(stage: Stage, night: Night) -> None:
    await stage.say("The invoice of Kilnworks was late again", external_id="late")
    await sleep(night, says("Kilnworks", "Sends invoices.", "invoice of Kilnworks"))
    await stage.say("The invoice of Kilnworks was late again, sadly", external_id="late")
    await stage.say("Kilnworks billed us a week late in April")
    induced = {"basis": "induced", "standing": "inferred", "change": "inference"}

    def patterns(s: Shown) -> Sequence[Any]:
        entry, first = s.entry("Kilnworks"), s.block("Sends invoices.")["sources"][0]["source"]
        late = cite(first, "was late again")
        others = (
            cite(first, "The invoice of Kilnworks"),
            cite(s.source("sadly"), "late again, sadly"),
            cite(s.source("a week late"), "a week late in April"),
        )
        return [add(entry["id"], block("Bills late.", late, other, **induced)) for other in others]

    assert await sleep(night, patterns) == ["done"]
    codes = (await last_run(stage))["codes"]
    assert codes == [(0, "addBlock", "NOT_ENOUGH_EVIDENCE"), (1, "addBlock", "NOT_ENOUGH_EVIDENCE")]
    assert await stage.texts(await entry_id(stage, "Kilnworks")) == ["Sends invoices.", "Bills late."]
    assert len((await stage.ana.ok(ENTRIES, owner=stage.gid(stage.world.atlas)))["entries"]["edges"]) == 1


def joined(s: Shown) -> list[Any]:
    words = cite(s.source("Ana joined Helio"), "Ana joined Helio")
    return [
        create("Ana", block("Joined Helio.", words), ref="new1"),
        create("Helio", block("Has Ana.", words), ref="new2"),
    ]


@pytest.mark.req("KN-70", "DR-54", "DR-81")
async def test_7_invented_quote(stage: Stage, night: Night) -> None:
    await stage.say("Ana joined Helio")
    invented = lambda s: [*joined(s), relate("new1", "member_of", "new2", s.source("Ana"), "Ana joined Helios")]  # noqa: E731
    assert await sleep(night, invented) == ["done"]
    run = await last_run(stage)
    assert run["codes"] == [(2, "addRelation", "QUOTE_NOT_VERBATIM")]
    assert (run["state"], run["trigger"], run["operations"], run["rejected"]) == ("SUCCEEDED", "MANUAL", 2, 1)
    assert (await stage.entry(await entry_id(stage, "Ana")))["relations"]["totalCount"] == 0
    found = {item["kind"] for item in (await stage.search("Helio"))["items"]}
    assert "ENTRY" in found


@pytest.mark.req("KN-29", "KN-30")
async def test_8_duplicate_relation(stage: Stage, night: Night) -> None:
    m1 = await stage.say("Ana joined Helio")
    await sleep(night, lambda s: [*joined(s), relate("new1", "member_of", "new2", s.source("Ana"), "Ana joined Helio")])
    m2 = await stage.say("Yes, Ana joined Helio in May")

    def again(s: Shown) -> Sequence[Any]:
        ends = (s.entry("Ana")["id"], s.entry("Helio")["id"])
        more = relate(ends[0], "member_of", ends[1], s.source("in May"), "Ana joined Helio in May")
        return [more, more]

    assert await sleep(night, again) == ["done"]
    run = await last_run(stage)
    records = (await stage.ana.ok(AUDIT, run=run["id"]))["auditLog"]["edges"]
    assert [r["node"] for r in records] == [{"operation": "relation.add_evidence", "actorKind": "DREAMING"}]
    relations = (await stage.entry(await entry_id(stage, "Ana")))["relations"]
    assert relations["totalCount"] == 1
    assert {one["source"]["id"] for one in relations["edges"][0]["node"]["evidence"]} == {m1, m2}


@pytest.mark.req("KN-54", "KN-60", "SK-8")
async def test_11_private_chat_never_leaks(stage: Stage, night: Night) -> None:
    await provision(stage, "deploy", enabled=True)
    await stage.say("Helio builds kilns.")
    await sleep(night, says("Helio", "Builds kilns.", "builds kilns"))
    owner = stage.gid(stage.world.atlas)
    before = await stage.ben.ok(COUNTS, owner=owner)
    runs = await stage.ben.ok(RUNS, agent=owner)
    await stage.say("my salary is 90k, leave it out of notes", channel=stage.world.chat)
    await stage.say("Helio builds ovens too.")

    def decide(s: Shown) -> Sequence[Any]:
        if "salary" not in s.text:
            return []
        words = cite(s.source("salary"), "leave it out of notes")
        lesson = {"op": "updateSkillOverlay", "skill": "deploy", "action": "add", "origin": "human_correction"}
        return [
            create("Pay", block("Earns 90k.", cite(s.source("salary"), "salary is 90k"))),
            {**lesson, "text": "Leave salaries out of notes", "citations": [words]},
        ]

    night.decides(decide)
    night.clock.advance(timedelta(minutes=30))
    await arrange_stage_a(stage.world.deps)
    await night.work()
    assert await night.later() == ["done"]
    # no prompt held both
    prompts = [next(m.text for m in request.messages if m.role == "user") for request in night.model.asked]
    assert any("salary" in prompt for prompt in prompts)
    assert not any("salary" in prompt and "Helio" in prompt for prompt in prompts)
    # the shared conversation finds nothing, and nothing of it is there for Ben: no entry, no count, no run
    shared = await stage.open()
    found = await stage.search("salary 90k", by=stage.agent(shared), conversationId=shared)
    assert found["items"] == []
    pay = await stage.entry(await entry_id(stage, "Pay"))
    for hidden in (pay["id"], pay["blocks"][0]["id"]):
        assert await stage.ben.ok(NODE, id=hidden) == {"node": None}
    after = await stage.ben.ok(COUNTS, owner=owner)
    assert after["entries"] == before["entries"]
    assert after["auditLog"] == before["auditLog"]
    told = (await stage.ben.ok(RUNS, agent=owner))["dreamRuns"]["edges"]
    new = [edge["node"] for edge in told if edge["node"] not in [e["node"] for e in runs["dreamRuns"]["edges"]]]
    assert [(r["materialsProcessed"], r["operations"]) for r in new if r["stage"] == "B"] == [(1, 0)]
    mine = await last_run(stage)
    assert (mine["materialsProcessed"], mine["operations"], mine["skillUpdates"]) == (2, 1, 1)
    # and the lesson is loaded in the chat alone
    private = await stage.open(stage.world.chat)
    assert "salaries" in (await load(stage, private))["text"]
    assert "salaries" not in (await load(stage, shared))["text"]


@pytest.mark.req("DR-76", "DR-77", "DR-83")
async def test_13_dream_failure(stage: Stage, night: Night, monkeypatch: pytest.MonkeyPatch) -> None:
    await provision(stage, "deploy", enabled=True)
    await stage.say("No, run the migrations first", speaker=stage.world.ben)

    def decide(s: Shown) -> Sequence[Any]:
        words = cite(s.source("migrations"), "run the migrations first")
        lesson = {"op": "updateSkillOverlay", "skill": "deploy", "action": "add", "text": RULE}
        return [
            {**lesson, "origin": "human_correction", "citations": [words]},
            create("Migrations", block("Run first.", words), type="practice"),
        ]

    async def fails(*given: Any) -> None:
        raise StoreUnavailable("the disk is gone")

    # Given a batch whose commit fails after the Skill update was applied
    with monkeypatch.context() as patch:
        patch.setattr("dreaming.stage_b.batch.consume", fails)
        assert await sleep(night, decide) == ["failed"]
    # then no entry, lesson, audit record or progress of that batch exists
    assert await night.all(Lesson) == []
    assert await night.all(Entry) == []
    assert [r for r in await night.all(AuditRecord) if r.actor_kind == "dreaming"] == []
    rows = [row for row in await night.all(Progress) if row.stage == "b" and ":" in row.key]
    assert rows == []
    [waiting] = await night.pending()
    # and the next run takes the same items, and asks nobody again
    asked = len(night.model.asked)
    night.clock.advance(timedelta(seconds=60))
    assert await night.work() == ["done"]
    assert len(night.model.asked) == asked
    assert await night.pending() == []
    conversation = await stage.open()
    assert RULE in (await load(stage, conversation))["text"]
    assert await stage.texts(await entry_id(stage, "Migrations")) == ["Run first."]
    assert (await last_run(stage))["materialsProcessed"] == 1
    assert waiting.item_id in {id_ for batch in await night.batches() for id_ in batch.item_ids}


class Interrupted:
    """A model during whose next decision something happens."""

    def __init__(self, night: Night, happens: Any) -> None:
        self.name, self.inner, self.happens = "scripted", night.model, happens

    async def complete(self, request: Any) -> Any:
        answer = await self.inner.complete(request)
        if request.purpose == DECIDE and self.happens is not None:
            happens, self.happens = self.happens, None
            await happens()
        return answer


@pytest.mark.req("DR-78", "KN-87")
async def test_14_human_edits_during_a_run(stage: Stage, night: Night) -> None:
    m1 = await stage.say("Helio builds kilns")
    first = await stage.write(create("Helio", block("Builds kilns.", cite(m1, "builds kilns"))))
    block_id = made(first, place=1)

    async def person_writes(version: int, text: str) -> None:
        await stage.write(edit(block_id, version, block(text, basis="authored")), by=stage.ana)

    # Given a batch that read version 3
    await person_writes(1, "Builds good kilns.")
    await person_writes(2, "Builds better kilns.")
    await stage.say("Helio builds kilns and ovens since May")
    seen: list[tuple[str, int]] = []

    def decide(s: Shown) -> Sequence[Any]:
        [now] = s.entry("Helio")["blocks"]
        seen.append((now["text"], now["version"]))
        words = cite(s.source("ovens"), "kilns and ovens since May")
        old = [cite(c["source"], c["quote"], c["role"]) for c in now["sources"]]
        new = block(f"{now['text'][:-1]} and ovens.", words, *old, change="evolution", validFrom="2025-05-01")
        return [edit(now["id"], now["version"], new)]

    # and a human who saves version 4 before the commit
    night.instead = Interrupted(night, lambda: person_writes(3, "Builds the best kilns."))
    assert await sleep(night, decide) == ["done"]
    # then the batch is run again on version 4 and the human text is not lost
    assert seen == [("Builds better kilns.", 3), ("Builds the best kilns.", 4)]
    assert await stage.texts(made(first)) == ["Builds the best kilns and ovens."]
    shown = await stage.ana.ok(BLOCK_VERSIONS, id=block_id)
    versions = sorted((e["node"] for e in shown["node"]["versions"]["edges"]), key=lambda node: node["version"])
    assert [v["text"] for v in versions][3:] == ["Builds the best kilns.", "Builds the best kilns and ovens."]


@pytest.mark.req("MA-24", "KN-29", "KN-62")
async def test_19_what_rests_on_withdrawn_evidence_is_written_anew_from_other(stage: Stage, night: Night) -> None:
    d, m = await stage.talk(["The kiln of Helio is lit on 3 June by Mei", "Mei works for Helio"])

    def learns(s: Shown) -> Sequence[Any]:
        lit = block("The kiln is lit on 3 June.", cite(s.source("3 June"), "kiln of Helio is lit on 3 June"))
        works = block("Mei works there.", cite(s.source("Mei works"), "Mei works for Helio"))
        return [
            create("Helio", works, lit, ref="new1"),
            create("Mei", block("Works for Helio.", cite(s.source("Mei works"), "Mei works for Helio")), ref="new2"),
            relate("new2", "works_for", "new1", s.source("Mei works"), "Mei works for Helio"),
        ]

    await sleep(night, learns)
    helio = await entry_id(stage, "Helio")
    lit = "The kiln is lit on 3 June."
    # When D is withdrawn, then B is in no read or search, R remains
    await stage.dan.ok(WITHDRAW, id=d)
    assert await stage.texts(helio) == ["Mei works there."]
    assert [i for i in (await stage.search("kiln lit June"))["items"] if "3 June" in i["text"]] == []
    # and the next batch may write it anew from other evidence, without seeing it
    await stage.say("Ben told me: Helio fires its kiln in summer")

    def anew(s: Shown) -> Sequence[Any]:
        assert "3 June" not in s.text
        [hidden] = s.hidden()
        assert "text" not in hidden
        fresh = block("The kiln is fired in summer.", cite(s.source("in summer"), "fires its kiln in summer"))
        return [edit(hidden["id"], hidden["version"], fresh)]

    assert await sleep(night, anew) == ["done"]
    assert (await last_run(stage))["codes"] == []
    assert await stage.texts(helio) == ["Mei works there.", "The kiln is fired in summer."]
    # and when D comes back, what was written from other evidence stays
    await stage.dan.ok(RETURN, id=d)
    assert await stage.texts(helio) == ["Mei works there.", "The kiln is fired in summer."]
    assert lit not in (await stage.entry(helio))["projection"]
    assert m in await stage.sources(helio)


@pytest.mark.req("SK-9", "SK-10", "SK-13", "SK-15", "SK-17", "SK-14")
async def test_20_skill_rules(stage: Stage, night: Night) -> None:
    await provision(stage, "deploy", enabled=True)
    await provision(stage, "audit", enabled=False)
    await stage.say("No, run the migrations first", speaker=stage.world.ben)
    conversation = await stage.open()
    task = {
        "taskId": "t1",
        "conversationId": conversation,
        "state": "SUCCEEDED",
        "steps": [{"action": "deploy", "outcome": "OK", "text": "deployed the service"}],
        "finalAnswer": "done",
    }
    await stage.host.ok(TASK_RESULT, input=task)

    def learns(s: Shown) -> Sequence[Any]:
        words = cite(s.source("migrations"), "run the migrations first")
        done = cite(s.source("deployed the service"), "deployed the service")

        def lesson(skill: str, text: str, citation: Any, origin: str = "human_correction") -> Any:
            given = {"op": "updateSkillOverlay", "action": "add", "skill": skill, "text": text, "origin": origin}
            return {**given, "citations": [citation]}

        return [
            lesson("deploy", RULE, words),
            lesson("audit", RULE, words),
            lesson("nosuch", RULE, words),
            lesson("deploy", "Deploy at night", done, "nonobvious_success"),
            lesson("deploy", "before you deploy the service, run the migrations", words),
        ]

    assert await sleep(night, learns) == ["done"]
    run = await last_run(stage)
    codes = ["SKILL_NOT_ENABLED", "SKILL_NOT_FOUND", "ORDINARY_SUCCESS", "DUPLICATE_LESSON"]
    assert [code for _, _, code in run["codes"]] == codes
    assert (run["operations"], run["skillUpdates"], run["rejected"]) == (0, 1, 4)
    assert RULE in (await load(stage, conversation))["text"]


@pytest.mark.req("DR-41", "DR-48")
async def test_21_task_result_is_no_proof(stage: Stage, night: Night) -> None:
    await stage.say("Orion counts its staff")
    conversation = await stage.open()
    task = {
        "taskId": "t1",
        "conversationId": conversation,
        "state": "SUCCEEDED",
        "steps": [{"action": "count", "outcome": "OK", "text": "asked the directory for a list"}],
        "finalAnswer": "Orion has 400 staff",
    }
    await stage.host.ok(TASK_RESULT, input=task)

    def learns(s: Shown) -> Sequence[Any]:
        [result] = [line for line in s.lines("Evidence") if line["kind"] == "task_result"]
        assert result["finalAnswer"] == "Orion has 400 staff"
        answer = block("Orion has 400 staff.", cite(result["id"], "Orion has 400 staff"))
        step = block("Ask the directory.", cite(result["id"], "asked the directory"))
        words = block("Counts its staff.", cite(s.source("counts"), "Orion counts its staff"))
        return [
            create("Orion", words, type="organization", ref="new1"),
            create("Counting staff", step, type="practice", ref="new2"),
            add("new1", answer),
            add("new2", answer),
        ]

    assert await sleep(night, learns) == ["done"]
    codes = [code for _, _, code in (await last_run(stage))["codes"]]
    assert codes == ["TASK_RESULT_NOT_EVIDENCE", "OUTCOME_NOT_EVIDENCE"]
