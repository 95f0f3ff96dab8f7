"""Cases of public bug reports, as background learning meets them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from dreaming.models.port import ModelRequest
from dreaming.models.scripted import fails
from graph.model.errors import VersionConflict
from graph.model.ids import NodeId
from graph.model.nodes.evidence import Source
from graph.model.nodes.knowledge import BlockVersion, Entry, Relation, RelationVersion
from graph.model.nodes.learning import ModelCall, PendingItem
from graph.model.time import parse, render
from graph.rules.jobs import counts_as_parked
from graph.services.access.commands import command
from graph.services.access.session import read
from graph.services.knowledge.entries import entry
from graph.services.knowledge.erasure import erase_source
from graph.services.learning.operating import cancel_job, list_jobs
from graph.services.learning.pending import release_parked
from tests.support.channel_room import Room
from tests.support.learning import episode, waiting
from tests.support.model_calls import answer_of, request_of
from tests.support.night import DECIDE, SELECT, Night, Shown
from tests.support.operations import add, block, cite, create, on_entry, relate, unrelate
from tests.unit.graph.services.search.asking import ask


async def believed(night: Night) -> list[str]:
    return sorted(v.text for v in await night.all(BlockVersion) if v.invalidated_at is None)


async def erase(night: Night, source: NodeId) -> None:
    world = night.world
    await command(world.deps, world.caller(world.dan), lambda cmd: erase_source(cmd, source, "asked for"))


async def found(night: Night, words: str) -> str:
    """Return all that a search shows Ana, as text."""
    return " ".join(item.text for item in (await ask(night.world, words, max_items=50, total_tokens=32_000)).items)


async def shown_entry(night: Night, name: str) -> Any:
    [node] = [e for e in await night.all(Entry) if e.name == name and e.deleted_at is None]
    view, _ = await read(night.world.deps, night.world.caller(night.world.ana), lambda s: entry(s, node.id))
    return view


@pytest.mark.req("KN-30", "KN-31", "DR-69")
async def test_7_a_write_ends_only_the_relation_that_it_names(night: Night) -> None:
    first, second, third = (
        "Bench was tested with A-3B",
        "Bench was tested with B-7B",
        "helper.py was ported to helper.rs",
    )
    home, moved = (
        "Kiran lives in Whitefield",
        "Kiran moved from Whitefield to Electronic City, Kiran lives in Electronic City",
    )
    lines = {first: ("Bench", "tested_with", "A-3B"), second: ("Bench", "tested_with", "B-7B")}
    lines |= {third: ("helper.py", "ported_to", "helper.rs"), home: ("Kiran", "lives_in", "Whitefield")}

    def notes(text: str) -> Any:
        def decide(s: Shown) -> Sequence[Any]:
            words = cite(s.source(text), text)
            subject, type_, object_ = lines[text]
            names = {line["name"]: line["id"] for line in s.lines("Entries")}
            made = [
                create(n, block(f"{n} was named.", words), ref=f"new{i}")
                for i, n in enumerate((subject, object_))
                if n not in names
            ]
            ends = [names.get(n, f"new{i}") for i, n in enumerate((subject, object_))]
            return [*made, relate(ends[0], type_, ends[1], s.source(text), text)]

        return decide

    for text in lines:
        night.decides(notes(text))
        await night.talk(text)
        assert await night.later() == ["done"]
        assert await night.rejected() == []
    assert {r.current for r in await night.all(Relation)} == {True}, "nothing was retired"

    def moves(s: Shown) -> Sequence[Any]:
        old, words = s.relation("lives_in"), s.source(moved)
        ended = unrelate(
            old["id"], old["version"], "ended", cite(words, "Kiran moved from Whitefield"), validTo="2025-05-10"
        )
        city = create("Electronic City", block("A place.", cite(words, "Electronic City")), ref="new1", type="place")
        return [
            ended,
            city,
            relate(old["subject"], "lives_in", "new1", words, "Kiran lives in Electronic City", validFrom="2025-05-10"),
        ]

    night.decides(moves)
    await night.talk(moved)
    assert await night.later() == ["done"]
    versions = {r.id: r for r in await night.all(Relation)}
    names = {e.id: e.name for e in await night.all(Entry)}
    last: dict[str, Any] = {}
    for version in sorted(await night.all(RelationVersion), key=lambda v: v.version):
        last[version.relation_id] = version
    told = {(versions[id_].type, names[versions[id_].object_id]): (v.valid_from, v.valid_to) for id_, v in last.items()}
    day = parse("2025-05-10T00:00:00Z")
    assert told[("lives_in", "Whitefield")] == (None, day)
    assert told[("lives_in", "Electronic City")] == (day, None)
    assert (
        told[("tested_with", "A-3B")]
        == told[("tested_with", "B-7B")]
        == told[("ported_to", "helper.rs")]
        == (None, None)
    )


SECRET = "Project Heron's launch code word is MARMALADE-7"
RUN_BY = "Project Heron is run by Ana"


def heron(s: Shown) -> Sequence[Any]:
    secret, run = cite(s.source(SECRET), SECRET), cite(s.source(RUN_BY), RUN_BY)
    blocks = (block("The code word is MARMALADE-7.", secret), block("Is run by Ana.", run))
    return [create("Heron", *blocks, type="project", summary="Run by Ana, code word MARMALADE-7.")]


@pytest.mark.req("KN-81", "KN-124", "MA-24")
async def test_9_an_erased_fact_is_in_no_prompt_and_the_summary_is_made_anew(night: Night) -> None:
    secret, _ = await night.talk(SECRET, RUN_BY)
    night.decides(heron)
    assert await night.later() == ["done"]
    assert "MARMALADE-7" in (await shown_entry(night, "Heron")).summary
    await erase(night, secret)
    view = await shown_entry(night, "Heron")
    assert view.summary is None
    assert "MARMALADE" not in await found(night, "MARMALADE code word")
    asked = len(night.model.asked)

    def anew(s: Shown) -> Sequence[Any]:
        line = s.entry("Heron")
        return [
            on_entry(
                "setSummary",
                line["id"],
                line["version"],
                summary="Run by Ana.",
                fromBlocks=[s.block("Is run by Ana.")["id"]],
            )
        ]

    night.decides(anew)
    await night.talk("how is Heron?")
    assert await night.later() == ["done"]
    assert await night.rejected() == []
    assert (await shown_entry(night, "Heron")).summary == "Run by Ana."
    prompts = "".join(message.text for request in night.model.asked[asked:] for message in request.messages)
    assert "MARMALADE" not in prompts
    kept = [(answer_of(night.world.deps, c), request_of(night.world.deps, c)) for c in await night.all(ModelCall)]
    assert any(answer for answer, _ in kept)
    assert "MARMALADE" not in json.dumps(kept)


@pytest.mark.req("KN-81", "DR-44", "DR-45")
async def test_10_background_work_does_not_write_back_what_was_forgotten(night: Night) -> None:
    name, language = await night.talk("My name is Pahwa.", "I prefer Python over JavaScript.")

    def learns(s: Shown) -> Sequence[Any]:
        called = block("Is called Pahwa.", cite(s.source("Pahwa"), "My name is Pahwa"))
        likes = block("Prefers Python.", cite(s.source("Python"), "I prefer Python over JavaScript"))
        return [create("The user", likes, called, type="person")]

    night.decides(learns)
    await night.later()
    for _ in range(2):  # so that whatever keeps answers has them
        assert "Pahwa" in await found(night, "What is the user's name and language?")
    await erase(night, name)
    for words in ("What is the user's name and language?", "How is the user called?"):
        assert "Pahwa" not in await found(night, words)
    # background work runs, with a model that has not forgotten
    asked = len(night.model.asked)

    def remembers(s: Shown) -> Sequence[Any]:
        [user] = s.lines("Entries")
        called = "Is called Pahwa."
        said = [line["id"] for line in s.lines("Evidence") if line["kind"] == "message"]
        ways = [add(user["id"], block(called, cite(source, "My name is Pahwa"))) for source in [*said, "s9", name]]
        return [*ways, *(create("Pahwa", block(called, cite(source, "My name is Pahwa"))) for source in said)]

    night.decides(remembers)
    await night.talk("what do I like?")
    assert await night.later() == ["failed"]
    codes = {code for _, _, code in await night.rejected()}
    assert codes == {"QUOTE_NOT_VERBATIM", "EVIDENCE_NOT_FOUND"}
    prompts = "".join(message.text for request in night.model.asked[asked:] for message in request.messages)
    assert "Pahwa" not in prompts
    assert "Pahwa" not in await found(night, "What is the user's name and language?")
    assert "Python" in await found(night, "Which language is preferred, Python?")
    assert language in {node.id for node in await night.all(Source)}


@pytest.mark.req("DR-47", "DR-5")
async def test_14_the_recall_loop_adds_nothing(night: Night) -> None:
    await night.talk("I prefer Vim.")
    night.decides(
        lambda s: [create("Ana", block("Prefers Vim.", cite(s.source("Vim"), "I prefer Vim")), type="person")]
    )
    await night.later()
    echo = [f"Recalled: User prefers Vim. You work at Google. ({turn})" for turn in range(50)]
    said = [await night.world.say(night.world.ops, line, by_agent=True) for line in echo]
    await night.talk("thanks", topic="Fifty turns")
    await episode(night.world, "Echo", *said)

    def believes(s: Shown) -> Sequence[Any]:
        ana = s.entry("Ana")
        lines = [line["id"] for line in s.lines("Evidence") if line.get("agent")]
        assert len(lines) == 50
        again = [add(ana["id"], block("Prefers Vim.", cite(source, "User prefers Vim"))) for source in lines]
        google = [add(ana["id"], block("Works at Google.", cite(lines[0], "You work at Google")))]
        loop = [add(ana["id"], block("Prefers Vim.", cite(ana["blocks"][0]["id"], "Prefers Vim")))]
        return [*again, *google, *loop]

    night.decides(believes)
    assert await night.later() == ["failed"]
    codes = [code for _, _, code in await night.rejected()]
    assert set(codes[:-1]) == {"AGENT_SELF_EVIDENCE"}
    assert codes[-1] == "DERIVED_NOT_EVIDENCE"
    assert await believed(night) == ["Prefers Vim."]
    [entry_line] = [shown.entry("Ana") for shown in night.asked()[-1:]]
    assert len(entry_line["blocks"][0]["sources"]) == 1


@pytest.mark.req("KN-73", "KN-74")
async def test_16_old_letters_are_dated_from_when_they_were_written(night: Night) -> None:
    night.clock.set("2026-11-29T09:00:00Z")
    room = Room(night.world, night.clock)
    sent = [parse("2023-05-24T10:00:00+00:00"), parse("2024-01-01T00:30:00+09:00")]
    said = await room.talk(["I went to Paris last week.", "Yesterday I quit smoking."], sent=sent)
    await episode(night.world, "Letters", *said)

    def dates(s: Shown) -> Sequence[Any]:
        paris, smoking = [line for line in s.lines("Evidence") if line["kind"] == "message"]
        assert paris["at"].startswith("2023-05-24 10:00")
        assert smoking["at"].startswith(("2023-12-31 15:30", "2024-01-01 00:30"))
        day = {"fromPrecision": "day", "toPrecision": "day"}
        went = block(
            "Was in Paris.",
            cite(paris["id"], "I went to Paris last week"),
            validFrom="2023-05-15",
            validTo="2023-05-22",
            **day,
        )
        quit_ = block(
            "Quit smoking.",
            cite(smoking["id"], "Yesterday I quit smoking"),
            validFrom="2023-12-31",
            fromPrecision="day",
        )
        return [create("Ana", went, quit_, type="person")]

    night.decides(dates)
    assert await night.later() == ["done"]
    versions = {v.text: v for v in await night.all(BlockVersion)}
    went, stopped = versions["Was in Paris."], versions["Quit smoking."]
    assert [render(at)[:10] for at in (went.valid_from, went.valid_to, stopped.valid_from)] == [
        "2023-05-15",
        "2023-05-22",
        "2023-12-31",
    ]
    assert render(went.recorded_at)[:10] == "2026-11-29", "known since is kept apart"


@pytest.mark.req("DR-27", "DR-54", "DR-55")
async def test_17_the_model_answers_badly(night: Night) -> None:
    def good(s: Shown, name: str) -> str:
        return json.dumps(
            {"operations": [create(name, block(f"{name} ships.", cite(s.source(name), f"{name} ships")))]}
        )

    def wrapped(name: str, form: Callable[[str], str], request: ModelRequest) -> str:
        return form(good(Shown(request), name))

    forms: dict[str, Callable[[str], str]] = {
        "Fenced": lambda text: f"```json\n{text}\n```",
        "Thinking": lambda text: f'<think>{{"operations": 1}} hm</think>\n{text}',
        "Prose": lambda text: f"Here is what I found:\n{text}\nI hope this helps!",
    }
    for name, form in forms.items():
        night.model.on(DECIDE, partial(wrapped, name, form))
        await night.talk(f"{name} ships on Friday")
        assert await night.later() == ["done"], name
    assert await believed(night) == ["Fenced ships.", "Prose ships.", "Thinking ships."]
    # the others end as failed with a reason, the source is safe, and it is processed once the model behaves
    await night.talk("Last ships on Friday")
    schema = {"type": "object", "properties": {"operations": {"type": "array"}}}
    for bad in (schema, '{"operations": [{"op": "cre', ""):
        night.model.on(DECIDE, bad if isinstance(bad, str) else json.dumps(bad))
        assert await night.later() == ["failed"]
        assert str((await night.runs())[-1].error).startswith("MODEL_ANSWER_")
    [item] = [item for item in await night.all(PendingItem) if item.state == "parked"]
    world = night.world
    assert await command(world.deps, world.caller(world.ana), lambda cmd: release_parked(cmd, item.id))

    def mixed(request: Any) -> Any:
        s = Shown(request)
        words = cite(s.source("Last"), "Last ships on Friday")
        fine = [create(n, block(f"{n} ships.", words)) for n in ("Last", "Lasting")]
        return {"operations": [fine[0], {"op": "createEntry", "name": "No blocks"}, fine[1]]}

    night.model.on(DECIDE, mixed)
    assert await night.later() == ["done"]
    assert await night.rejected() == [(1, "createEntry", "SCHEMA_INVALID")]
    assert await believed(night) == [
        "Fenced ships.",
        "Last ships.",
        "Lasting ships.",
        "Prose ships.",
        "Thinking ships.",
    ]


async def a_day(night: Night) -> None:
    """Let a day go by in which a pass is asked for every five minutes; on a file every hour, which is quicker."""
    passes = 288 if night.world.deps.store.engine == "memory" else 24
    for _ in range(passes):
        await night.by_hand()
        await night.work()
        night.clock.advance(timedelta(days=1) / passes)


@pytest.mark.req("AD-33", "DR-27")
async def test_20_a_model_that_never_answers_is_asked_within_the_budget_of_the_day(night: Night) -> None:
    await Room(night.world, night.clock).set_to(dream__daily_calls=20)
    night.clock.set("2025-05-10T00:00:00Z")
    await night.talk("Orion ships on Friday")
    night.model.on(SELECT, *fails("timeout"), last_stays=True)
    await a_day(night)
    assert 3 <= len(night.model.asked) <= 20
    [call, *_] = await night.all(ModelCall)
    assert call.state == "failed"
    job = await night.job()
    assert job is not None
    # an operator sees the reason and can end it; reads go on, nothing is lost
    world = night.world
    [view], _ = await read(world.deps, world.caller(world.dan), lambda s: list_jobs(s, agent=world.atlas))
    assert view.reason in ("MODEL_TIMEOUT", "MODEL_BUDGET_SPENT")
    await command(world.deps, world.caller(world.dan), lambda cmd: cancel_job(cmd, job.id, "too_expensive"))
    assert len(await waiting(world)) == 1
    assert "Orion" in await found(night, "Orion")


@pytest.mark.req("DR-78", "DR-79")
async def test_20_a_result_that_is_always_stale_is_parked_within_the_budget(
    night: Night, monkeypatch: pytest.MonkeyPatch
) -> None:
    await Room(night.world, night.clock).set_to(dream__daily_calls=40)
    night.clock.set("2025-05-10T00:00:00Z")
    await night.talk("Orion ships on Friday")
    night.decides(lambda s: [create("Orion", block("Ships.", cite(s.source("Orion"), "Orion ships")))])

    async def moved(*given: Any) -> None:
        raise VersionConflict("it is always another one")

    monkeypatch.setattr("dreaming.curation.applying.check_unmoved", moved)
    for _ in range(3):
        await night.later()
    job = await night.job()
    assert job is not None
    assert counts_as_parked(job)
    assert job.last_error == "VERSION_CONFLICT"
    await a_day(night)
    assert len(night.model.asked) <= 40
    assert [item.state for item in await night.all(PendingItem)] == ["parked"]
    assert await night.all(Entry) == []
    assert "Orion" in await found(night, "Orion")
