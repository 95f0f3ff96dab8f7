"""Skills and their Overlays: rules of lessons, where they are loaded, how people mend them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from graph.model.errors import BadState, Forbidden, NotFound, OperationRejected
from graph.model.ids import NodeId
from graph.model.nodes.evidence import ChannelKind
from graph.model.nodes.knowledge import KbKind
from graph.model.nodes.learning import Skill
from graph.model.nodes.people import PrincipalKind
from graph.rules.audit_chain import ERASED
from graph.rules.pools import base_id
from graph.services.access.agents import create_agent
from graph.services.access.caller import Caller
from graph.services.access.commands import command
from graph.services.access.provisioning import create_channel
from graph.services.access.session import read
from graph.services.knowledge.erasure import erase
from graph.services.knowledge.restore import restore
from graph.services.knowledge.withdrawal import return_source, withdraw_source
from graph.services.learning.learned import skill_id
from graph.services.learning.skill_provisioning import provision_skill, set_skill_enabled
from graph.services.learning.skills import lesson_versions, skill_context, skill_overlays
from graph.services.ledger import COMMIT_GUARD
from tests.support.learning import (
    BASE_TEXT,
    code_of,
    enable,
    lesson,
    load,
    memo,
    overlays,
    provision,
    remove_lesson,
    replace_lesson,
    task,
)
from tests.support.operations import apply, cite, dream, made, outcomes
from tests.support.world import TeamWorld

RULE = "Run the migrations before you deploy the service"


@pytest.fixture
async def skilled(world: TeamWorld) -> TeamWorld:
    await provision(world, "deploy")
    return world


def channel_base(world: TeamWorld) -> NodeId:
    return base_id(world.name, world.atlas, KbKind.CHANNEL, world.ops)


@pytest.mark.req("SK-9", "SK-10", "SK-13", "SK-14", "SK-15", "SK-17", "SK-5")
async def test_acceptance_20_skill_rules(skilled: TeamWorld) -> None:
    """Acceptance example 20."""
    world = skilled
    await provision(world, "audit", enabled=False)
    said = await world.say(world.ops, "No, always run the migrations first", speaker=world.ben)
    short = await task(world, ("ok", "deployed the service"))
    correction = {"origin": "human_correction"}
    words = cite(said, "run the migrations first")

    result = await dream(
        world,
        lesson("deploy", RULE, words, **correction),
        lesson("audit", RULE, words, **correction),
        lesson("nosuch", RULE, words, **correction),
        lesson("deploy", "Deploy at night", cite(short, "deployed the service"), origin="nonobvious_success"),
        lesson("deploy", "before you deploy the service, run the MIGRATIONS", words, **correction),
    )
    assert outcomes(result) == [
        "accepted",
        "SKILL_NOT_ENABLED",
        "SKILL_NOT_FOUND",
        "ORDINARY_SUCCESS",
        "DUPLICATE_LESSON",
    ]
    assert result.verdicts[4].details["lesson"] == made(result)
    assert [record.operation for record in result.records] == ["lesson.add"]

    context = await load(world, "deploy")
    assert context.text == f"{BASE_TEXT}\n\n## Experience\n\n- {RULE}"
    await enable(world, "deploy", False)
    context = await load(world, "deploy")
    assert (context.enabled, context.text, context.lessons) == (False, BASE_TEXT, ())
    kept = (await overlays(world, world.ben))["deploy"]
    assert [view.node.text for view in kept.lessons] == [RULE]
    await enable(world, "deploy")
    assert RULE in (await load(world, "deploy")).text


@pytest.mark.req("SK-15")
@pytest.mark.parametrize(
    ("steps", "origin", "outcome"),
    [
        ((("error", "it broke first"), ("ok", "it ran then")), "failure_recovery", "accepted"),
        ((("ok", "it ran then"), ("error", "it broke first")), "failure_recovery", "ORDINARY_SUCCESS"),
        ((("ok", "it ran then"), ("ok", "and then"), ("ok", "and more")), "nonobvious_success", "accepted"),
        ((("ok", "it ran then"), ("ok", "and then")), "nonobvious_success", "ORDINARY_SUCCESS"),
        ((("ok", "it ran then"),), "agent_added", "ORDINARY_SUCCESS"),
        ((("error", "it broke first"), ("ok", "it ran then")), "agent_added", "accepted"),
        ((("error", "it broke first"), ("ok", "it ran then")), "human_correction", "ORDINARY_SUCCESS"),
        ((("error", "it broke first"), ("ok", "it ran then")), "human_edit", "SCHEMA_INVALID"),
    ],
)
async def test_the_origin_must_fit_the_evidence(
    skilled: TeamWorld, steps: tuple[tuple[str, str], ...], origin: str, outcome: str
) -> None:
    result = await task(skilled, *steps)
    given = lesson("deploy", "Try it twice", cite(result, "it ran then"), origin=origin)
    assert await code_of(skilled, given) == outcome


@pytest.mark.req("DR-48")
async def test_a_lesson_quotes_steps_and_never_the_final_answer(skilled: TeamWorld) -> None:
    result = await task(skilled, ("error", "it broke first"), ("ok", "it ran then"))
    given = lesson("deploy", "Try it twice", cite(result, "all done"), origin="failure_recovery")
    assert await code_of(skilled, given) == "OUTCOME_NOT_EVIDENCE"


@pytest.mark.req("SK-14")
async def test_an_agents_own_words_teach_nothing(skilled: TeamWorld) -> None:
    own = await skilled.say(skilled.ops, "I think I should always wait", by_agent=True)
    assert await code_of(skilled, lesson("deploy", "Wait", cite(own, "always wait"))) == "ORDINARY_SUCCESS"


@pytest.mark.req("SK-16")
async def test_lessons_have_a_length_and_overlays_a_number(skilled: TeamWorld) -> None:
    said = cite(await skilled.say(skilled.ops, "this is how it is done"), "how it is done")
    assert await code_of(skilled, lesson("deploy", "x" * 601, said)) == "LIMIT_EXCEEDED"
    assert await code_of(skilled, lesson("deploy", " ", said)) == "LIMIT_EXCEEDED"
    many = [lesson("deploy", f"rule {word}{n}", said) for n, word in enumerate("abcdefghijklmnopqrst")]
    assert await code_of(skilled, *many) == "accepted"
    assert await code_of(skilled, lesson("deploy", "one more of them", said)) == "LIMIT_EXCEEDED"


@pytest.mark.req("SK-16")
async def test_an_overlay_has_a_token_budget(skilled: TeamWorld) -> None:
    said = cite(await skilled.say(skilled.ops, "this is how it is done"), "how it is done")
    words = iter(f"{chr(97 + n // 676)}{chr(97 + n // 26 % 26)}{chr(97 + n % 26)}" for n in range(17_000))
    long = [lesson("deploy", " ".join(take(words, 150)), said) for _ in range(10)]
    assert await code_of(skilled, *long) == "accepted"  # ten of 150 tokens
    assert await code_of(skilled, lesson("deploy", "one more", said)) == "LIMIT_EXCEEDED"


def take(words: Iterator[str], count: int) -> list[str]:
    return [next(words) for _ in range(count)]


@pytest.mark.req("SK-2", "SK-4")
async def test_what_one_agent_learned_affects_no_other(skilled: TeamWorld) -> None:
    world, admin = skilled, skilled.caller(skilled.dan)
    vega = (await command(world.deps, admin, lambda cmd: create_agent(cmd, "Vega"))).id
    shared = ChannelKind.SHARED_CHANNEL
    place = await command(world.deps, admin, lambda cmd: create_channel(cmd, vega, shared, "vega"))
    await command(world.deps, admin, lambda cmd: set_skill_enabled(cmd, vega, "deploy", True))
    said = await world.say(world.ops, "run the migrations first", speaker=world.ben)
    await apply(world, lesson("deploy", RULE, cite(said, "migrations first")))

    conversation = (await world.open(place.id)).id
    caller = Caller(workspace=world.workspace, principal=vega, kind=PrincipalKind.AGENT)
    found, _ = await read(world.deps, caller, lambda session: skill_context(session, conversation, "deploy"))
    assert (found.enabled, found.text, found.lessons) == (True, f"{BASE_TEXT}\n\n## Experience", ())
    listed, _ = await read(world.deps, admin, lambda session: skill_overlays(session, vega, first=100))
    assert [(view.skill is not None, view.lessons) for view in listed.items] == [(True, ())]
    assert RULE in (await load(world, "deploy")).text


@pytest.mark.req("SK-8")
async def test_acceptance_11_a_lesson_of_a_private_chat_stays_there(skilled: TeamWorld) -> None:
    """The part of acceptance example 11 that speaks of Skills."""
    world = skilled
    said = await world.say(world.chat, "never tell the salaries in a deploy note")
    private = (await world.open(world.chat)).id
    given = lesson("deploy", "Keep salaries out of notes", cite(said, "never tell the salaries"))
    result = await apply(world, given, conversation=private)

    assert "salaries" in (await load(world, "deploy", world.chat)).text
    assert "salaries" not in (await load(world, "deploy", world.ops)).text
    assert (await overlays(world, world.ben))["deploy"].lessons == ()
    assert len((await overlays(world, world.ana))["deploy"].lessons) == 1
    # a repetition elsewhere says nothing about it
    heard = await world.say(world.ops, "keep salaries out of notes", speaker=world.ben)
    assert (
        await code_of(world, lesson("deploy", "Keep salaries out of notes", cite(heard, "salaries out"))) == "accepted"
    )
    assert await code_of(world, remove_lesson("deploy", made(result), cite(heard, "salaries out"))) == (
        "EVIDENCE_NOT_FOUND"
    )


@pytest.mark.req("SK-12", "KN-87")
async def test_repeated_content_rewrites_the_lesson(skilled: TeamWorld) -> None:
    world = skilled
    first = await world.say(world.ops, "run the migrations first", speaker=world.ben)
    result = await apply(world, lesson("deploy", RULE, cite(first, "migrations first"), origin="human_correction"))
    again = await world.say(world.ops, "and check the backup before", speaker=world.ben)
    words = cite(again, "check the backup")
    better = f"{RULE}, and check the backup before"
    edited = await apply(world, replace_lesson("deploy", made(result), better, words, origin="human_correction"))

    (view,) = (await load(world, "deploy")).lessons
    assert (view.node.text, view.node.version, view.node.series) == (better, 2, made(result))
    assert {citation.source.id for citation in view.support.citations} == {first, again}
    assert [record.operation for record in edited.records] == ["lesson.edit"]
    assert edited.records[0].target_id == made(result)
    # the first version is no longer the present one
    stale = replace_lesson("deploy", made(result), RULE, words, origin="human_correction")
    assert await code_of(world, stale) == "VERSION_CONFLICT"
    assert await code_of(world, {**stale, "expectedVersion": 2}) == "accepted"


@pytest.mark.req("SK-18", "KN-99")
async def test_a_person_edits_deletes_and_restores_a_lesson(skilled: TeamWorld) -> None:
    world = skilled
    said = await world.say(world.ops, "run the migrations first", speaker=world.ben)
    first = made(await apply(world, lesson("deploy", RULE, cite(said, "migrations first"))))
    await enable(world, "deploy", False)  # the Agent Library shows it all the same
    how: dict[str, Any] = {"by": world.ana, "kb": channel_base(world)}
    assert await code_of(world, replace_lesson("deploy", first, "Migrate, then deploy"), **how, reason="") == (
        "REASON_REQUIRED"
    )
    edited = await apply(world, replace_lesson("deploy", first, "Migrate, then deploy"), **how)
    (view,) = (await overlays(world, world.ben))["deploy"].lessons
    assert (view.node.text, view.node.origin, view.node.modifier_id) == (
        "Migrate, then deploy",
        "human_edit",
        world.ana,
    )
    deleted = await apply(world, remove_lesson("deploy", made(edited)), **how)
    assert (await overlays(world, world.ben))["deploy"].lessons == ()

    records = [edited.records[0].id, deleted.records[0].id]
    caller = world.caller(world.ana)
    back = await command(world.deps, caller, lambda cmd: restore(cmd, records, reason="it was right"))
    assert [record.operation for record in back.records] == ["restore", "restore"]
    (view,) = (await overlays(world, world.ben))["deploy"].lessons
    assert (view.node.text, view.node.origin, view.node.series) == (RULE, "agent_added", first)
    versions, _ = await read(world.deps, caller, lambda session: lesson_versions(session, [first]))
    assert [version.node.text for version in versions[first]] == [
        RULE,
        "Migrate, then deploy",
        "Migrate, then deploy",
        RULE,
    ]


@pytest.mark.req("SK-18", "KN-64")
async def test_a_person_lets_a_stale_lesson_cite_the_newer_version_of_what_was_said(skilled: TeamWorld) -> None:
    world = skilled
    said = await world.say(world.ops, "run the migrations first", external_id="rule")
    first = made(await apply(world, lesson("deploy", RULE, cite(said, "migrations first"))))
    newer = await world.say(world.ops, "run the migrations first, please", external_id="rule")
    (view,) = (await overlays(world, world.ben))["deploy"].lessons
    assert view.support.stale
    how: dict[str, Any] = {"by": world.ana, "kb": channel_base(world)}
    assert outcomes(await apply(world, replace_lesson("deploy", first, RULE), **how)) == ["noop"]
    again = replace_lesson("deploy", first, RULE, cite(newer, "migrations first"))
    assert outcomes(await apply(world, again, **how)) == ["accepted"]
    (view,) = (await overlays(world, world.ben))["deploy"].lessons
    assert (view.support.stale, view.node.text, view.node.version) == (False, RULE, 2)


@pytest.mark.req("SK-16", "SK-18")
async def test_a_lesson_that_has_no_room_any_more_does_not_come_back(skilled: TeamWorld) -> None:
    world = skilled
    said = cite(await world.say(world.ops, "this is how it is done"), "how it is done")
    many = await apply(world, *(lesson("deploy", f"rule {word}", said) for word in "abcdefghijklmnopqrst"))
    gone = await apply(world, remove_lesson("deploy", made(many), said))
    await apply(world, lesson("deploy", "one in its place", said))
    record = gone.records[0].id
    with pytest.raises(OperationRejected) as refused:
        await command(world.deps, world.caller(world.ana), lambda cmd: restore(cmd, [record], reason="right after all"))
    assert refused.value.rule_code == "LIMIT_EXCEEDED"


@pytest.mark.req("SK-18")
async def test_readers_list_lessons_and_change_none(skilled: TeamWorld) -> None:
    world = skilled
    said = await world.say(world.ops, "run the migrations first", speaker=world.ben)
    first = made(await apply(world, lesson("deploy", RULE, cite(said, "migrations first"))))
    given = remove_lesson("deploy", first)
    assert await code_of(world, given, by=world.ben, kb=channel_base(world)) == "SCOPE_FORBIDDEN"


@pytest.mark.req("KN-62")
async def test_a_lesson_vanishes_and_returns_with_its_evidence(skilled: TeamWorld) -> None:
    world = skilled
    said = await world.say(world.ops, "run the migrations first", speaker=world.ben)
    await apply(world, lesson("deploy", RULE, cite(said, "migrations first")))
    host = world.caller(world.host)
    await command(world.deps, host, lambda cmd: withdraw_source(cmd, said, "gone"))
    assert RULE not in (await load(world, "deploy")).text
    await command(world.deps, host, lambda cmd: return_source(cmd, said, "back"))
    assert RULE in (await load(world, "deploy")).text


@pytest.mark.req("KN-81")
async def test_erasing_the_evidence_leaves_no_word_of_lessons_and_memo_lines(skilled: TeamWorld) -> None:
    world = skilled
    said = await world.say(world.ops, "run the migrations first", speaker=world.ben)
    words = cite(said, "migrations first")
    done = await apply(world, lesson("deploy", RULE, words), memo(0, ("Migrate first", [words])))
    await erase(world.deps, world.caller(world.dan), said, "asked for")
    async with world.deps.store.reading() as reader:
        kept = await reader.get(COMMIT_GUARD, [made(done), made(done, 1, 1)])
    assert [getattr(node, "text", None) for node in kept.values()] == [ERASED, ERASED]


@pytest.mark.req("SK-3", "SK-6", "SK-7")
async def test_the_base_text_is_checked_and_never_changed_by_lessons(skilled: TeamWorld) -> None:
    world = skilled
    said = await world.say(world.ops, "run the migrations first", speaker=world.ben)
    await apply(world, lesson("deploy", RULE, cite(said, "migrations first")))
    context = await load(world, "deploy")
    assert (context.skill.base_text, context.skill.base_version) == (BASE_TEXT, 1)
    id_ = skill_id(world.name, "deploy")
    await world.deps.store.transact(lambda writer: writer.patch(id_, {"base_text": "Deploy as you like."}))
    with pytest.raises(BadState):
        await load(world, "deploy")


@pytest.mark.req("SK-2", "AD-18")
async def test_provisioning_is_for_admins_and_repeats_without_effect(world: TeamWorld) -> None:
    async def put(by: NodeId, text: str) -> Skill:
        return await command(world.deps, world.caller(by), lambda cmd: provision_skill(cmd, "deploy", "Deploy", text))

    with pytest.raises(Forbidden):
        await put(world.ana, "a")
    assert (await put(world.dan, "a")).base_version == 1
    assert (await put(world.dan, "a")).base_version == 1
    assert (await put(world.dan, "b")).base_version == 2
    await enable(world, "deploy")
    await enable(world, "deploy")
    assert list(await overlays(world, world.ben)) == ["deploy"]
    for agent, slug, error in ((world.ana, "deploy", NotFound), (world.atlas, "nosuch", OperationRejected)):
        with pytest.raises(error):
            await enable_for(world, agent, slug)


async def enable_for(world: TeamWorld, agent: NodeId, slug: str) -> None:
    await command(world.deps, world.caller(world.dan), lambda cmd: set_skill_enabled(cmd, agent, slug, True))


@pytest.mark.req("SK-10")
async def test_an_unknown_skill_is_told_in_reads_too(skilled: TeamWorld) -> None:
    for slug in ("nosuch", "No such/thing", ""):
        with pytest.raises(OperationRejected) as refused:
            await load(skilled, slug)
        assert refused.value.rule_code == "SKILL_NOT_FOUND"
