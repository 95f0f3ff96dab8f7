"""What becomes of a material that was handed in: each topic in its entry, part by part, or a reason why not."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from dreaming.materials import learner
from dreaming.models.port import ModelAnswer, ModelRequest
from graph.model.errors import ModelUnavailable
from graph.model.ids import NodeId
from graph.model.nodes.evidence import Source
from graph.model.nodes.knowledge import BlockVersion, Entry
from graph.model.nodes.learning import DreamBatch, DreamRun, ModelCall, Progress
from graph.model.nodes.work import AuditRecord, Job
from graph.services.knowledge.learning_progress import learning_progress
from graph.services.knowledge.materials import prepare_file, replace_material, retry_learning
from graph.services.knowledge.submissions import submit_text
from graph.services.knowledge.withdrawal import withdraw_source
from tests.support.held_clock import HeldClock
from tests.support.operations import add, apply, block, cite, create, edit, made
from tests.support.study import Study, lines, name_of, nothing
from tests.support.world import TeamWorld
from tests.unit.dreaming.conftest import ENGINES
from tests.unit.graph.services.asking import ask, run

TEXT = "Helio is a team of nine.\n\nOrion ships in May."


@pytest.fixture
async def study(world: TeamWorld, clock: HeldClock) -> Study:
    return await Study(world, clock).make()


def about_orion(request: ModelRequest) -> dict[str, Any]:
    """Answer with one entry that cites the material."""
    source = name_of(request, kind="file")
    content = block("Orion ships in May.", cite(source, "Orion ships in May"))
    return {"operations": [create("Orion", content, type="project")]}


@pytest.mark.req("MA-7", "MA-6", "KN-82")
async def test_what_was_learned_is_written_by_the_agent_with_its_end_in_one_transaction(
    world: TeamWorld, study: Study
) -> None:
    source = await study.submit(TEXT)
    study.on(about_orion)
    assert await study.learn() == ["done"]
    (entry,) = [entry for entry in await study.all(Entry) if entry.name == "Orion"]
    assert entry.origin == "agent"
    (record,) = [r for r in await study.all(AuditRecord) if r.target_id == entry.id]
    assert (record.actor_kind, record.actor_id) == ("agent", world.atlas)
    (batch,) = await study.all(DreamBatch)
    assert (batch.tx_id, batch.state, batch.operations) == (record.tx_id, "succeeded", 1)
    learned = await study.source(source.id)
    assert (learned.learning_state, learned.learning_code) == ("succeeded", None)
    (done,) = await study.all(DreamRun)
    assert (done.trigger, done.state, done.materials_processed, done.operations) == ("material", "succeeded", 1, 1)
    assert (await study.job()).agent_id == world.atlas


@pytest.mark.req("MA-8", "DR-64")
async def test_the_entry_of_a_topic_is_shown_and_worked_into(world: TeamWorld, study: Study) -> None:
    said = await world.say(world.ops, "Helio is a team in Berlin.")
    helio = made(await apply(world, create("Helio", block("A team in Berlin.", cite(said, "a team in Berlin")))))
    await study.submit(TEXT)

    def into_helio(request: ModelRequest) -> dict[str, Any]:
        entry, source = name_of(request, name="Helio"), name_of(request, kind="file")
        return {"operations": [add(entry, block("Has nine people.", cite(source, "a team of nine")))]}

    study.on(into_helio)
    assert await study.learn() == ["done"]
    assert {b.text for b in await study.all(BlockVersion) if b.entry_id == helio} == {
        "A team in Berlin.",
        "Has nine people.",
    }
    assert len([entry for entry in await study.all(Entry) if entry.name == "Helio"]) == 1


@pytest.mark.req("MA-8")
async def test_a_statement_without_the_words_of_the_material_is_refused(study: Study) -> None:
    await study.submit(TEXT)

    def invented(request: ModelRequest) -> dict[str, Any]:
        source = name_of(request, kind="file")
        wrong = create("Vega", block("Vega ships.", cite(source, "Vega ships in July")))
        return {"operations": [wrong, *about_orion(request)["operations"]]}

    study.on(invented)
    assert await study.learn() == ["done"]
    assert {entry.name for entry in await study.all(Entry)} == {"Orion"}
    (batch,) = await study.all(DreamBatch)
    assert [row["code"] for row in batch.rejections] == ["QUOTE_NOT_VERBATIM"]


@pytest.mark.req("MA-9", "MA-10")
async def test_a_newer_version_is_learned_and_what_rests_on_the_old_one_is_shown_as_stale(
    world: TeamWorld, study: Study
) -> None:
    source = await study.submit(TEXT)
    study.on(about_orion)
    await study.learn()
    ana = world.caller(world.ana)
    file = await prepare_file(world.deps, ana, study.kb, b"Orion ships in June.", filename="plan.txt")
    newer = await run(world, world.ana, lambda cmd: replace_material(cmd, source.id, file))
    shown: list[dict[str, Any]] = []

    def corrected(request: ModelRequest) -> dict[str, Any]:
        (entry,) = [line for line in lines(request) if line.get("name") == "Orion"]
        (old,) = entry["blocks"]
        shown.append(old)
        new = block("Orion ships in June.", cite(name_of(request, kind="file"), "ships in June"), change="evolution")
        again = [cite(one["source"], one["quote"]) for one in old["sources"]]
        new = {**new, "citations": [*new["citations"], *again], "validFrom": "2025-05-10", "fromPrecision": "day"}
        return {"operations": [edit(old["id"], old["version"], new)]}

    study.on(corrected)
    assert await study.learn() == ["done"]
    assert shown[0]["stale"] is True
    assert (await study.source(newer.id)).learning_state == "succeeded"
    (batch,) = [batch for batch in await study.all(DreamBatch) if batch.item_ids == (newer.id,)]
    assert (batch.operations, batch.rejections) == (1, [])


@pytest.mark.req("MA-7")
async def test_a_long_material_is_read_in_parts_each_committed_by_itself(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learner, "PART_TOKENS", 10)
    text = "\n\n".join(f"Fact number {n} holds in town {n}." for n in range(6))
    source = await study.submit(text)
    study.on(*[nothing] * 20)
    assert await study.learn() == ["done"]
    read_so_far = [next(line for line in lines(request) if line.get("kind") == "file") for request in study.model.asked]
    assert "".join(line["text"] for line in read_so_far) == text
    assert len(read_so_far) > 3
    assert len(await study.all(DreamBatch)) == len(read_so_far)
    (progress,) = [row for row in await study.all(Progress) if row.key == source.id]
    assert progress.cursor == len(text)
    assert len(await study.all(DreamRun)) == 1


@pytest.mark.req("AD-33", "MA-3")
async def test_a_worker_that_dies_between_parts_is_followed_by_one_that_goes_on(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learner, "PART_TOKENS", 10)
    source = await study.submit("\n\n".join(f"Fact number {n} holds in town {n}." for n in range(6)))

    class Killed(BaseException):
        pass

    def dies(request: ModelRequest) -> ModelAnswer:
        raise Killed

    study.on(nothing, dies, *[nothing] * 20)
    with pytest.raises(BaseException):  # noqa: B017, PT011 - the worker is gone, however it shows
        await study.learn()
    assert (await study.source(source.id)).learning_state == "running"
    asked = len(study.model.asked)
    study.clock.advance(timedelta(seconds=700))
    assert await study.learn() == ["done"]
    assert (await study.source(source.id)).learning_state == "succeeded"
    again = [next(line for line in lines(r) if line.get("kind") == "file") for r in study.model.asked[asked:]]
    assert again[0]["from"] > 0


@pytest.mark.req("MA-6", "DR-77")
async def test_a_failure_leaves_a_reason_and_a_retry_goes_on(world: TeamWorld, study: Study) -> None:
    source = await study.submit(TEXT)

    def away(request: ModelRequest) -> ModelAnswer:
        raise ModelUnavailable("timeout")

    study.on(away, away, away, about_orion)
    for _ in range(3):
        await study.learn()
        study.clock.advance(timedelta(hours=3))
    assert study.outcomes == ["failed"] * 3
    failed = await study.source(source.id)
    assert (failed.learning_state, failed.learning_code) == ("failed", "MODEL_TIMEOUT")
    assert {run_.error for run_ in await study.all(DreamRun)} == {"MODEL_TIMEOUT"}
    await run(world, world.ana, lambda cmd: retry_learning(cmd, source.id))
    assert await study.learn() == ["done"]
    assert (await study.source(source.id)).learning_state == "succeeded"


@pytest.mark.req("DR-55", "DR-81", "MA-7")
async def test_if_every_operation_is_refused_nothing_is_written_and_the_model_is_asked_anew(study: Study) -> None:
    source = await study.submit(TEXT)
    wrong = {"operations": [create("Vega", block("Vega.", cite("s99", "Vega")))]}
    study.on(wrong, about_orion)
    assert await study.learn() == ["failed"]
    assert await study.all(Entry) == []
    (batch,) = await study.all(DreamBatch)
    assert [row["code"] for row in batch.rejections] == ["EVIDENCE_NOT_FOUND"]
    (failed,) = await study.all(DreamRun)
    assert (failed.state, failed.operations, failed.rejected) == ("failed", 0, 1)
    study.clock.advance(timedelta(minutes=2))
    assert await study.learn() == ["done"]
    assert (await study.source(source.id)).learning_state == "succeeded"


@pytest.mark.req("MA-12", "DR-31")
async def test_a_pasted_text_is_learned_beside_the_entry_that_it_became(world: TeamWorld, study: Study) -> None:
    done = await run(world, world.ana, lambda cmd: submit_text(cmd, study.kb, TEXT, title="Plan"))
    study.on(nothing)
    assert await study.learn() == ["done"]
    (request,) = study.model.asked
    assert name_of(request, name="Plan")
    assert (await study.source(done.source.id)).learning_state == "succeeded"


@pytest.mark.req("DR-6")
async def test_without_a_model_the_material_waits(world: TeamWorld, clock: HeldClock) -> None:
    study = Study(world, clock)
    await world.open(world.ops)
    source = await study.submit(TEXT)
    assert await study.learn() == ["put_off"]
    assert (await study.source(source.id)).learning_state == "queued"


@pytest.mark.req("MA-5", "MA-6")
async def test_a_file_without_text_fails_with_its_code_whenever_it_is_tried(world: TeamWorld, study: Study) -> None:
    source = await study.submit(b"\x89PNG\r\n\x1a\n" + bytes(64), "plan.png")
    await run(world, world.ana, lambda cmd: retry_learning(cmd, source.id))
    assert await study.learn() == ["done"]
    failed = await study.source(source.id)
    assert (failed.learning_state, failed.learning_code) == ("failed", "UNSUPPORTED_TYPE")
    assert failed.meta == {"filename": "plan.png", "unreadable": "unknown"}
    assert study.model.asked == []


@pytest.mark.req("MA-3", "MA-5", "MA-6")
async def test_a_document_that_cannot_be_read_waits_like_any_other_and_its_task_fails(study: Study) -> None:
    source = await study.submit(b"%PDF-1.7\n1 0 obj << /Type /Catalog >>", "plan.pdf")
    assert (source.learning_state, source.learning_code) == ("queued", None)
    assert await study.learn() == ["done"]
    failed = await study.source(source.id)
    assert (failed.learning_state, failed.learning_code) == ("failed", "UNSUPPORTED_TYPE")
    assert failed.meta == {"filename": "plan.pdf", "unreadable": "damaged"}
    assert study.model.asked == []


@pytest.mark.req("KN-63", "MA-3")
async def test_a_text_that_could_not_be_read_before_is_read_out_of_the_kept_bytes(
    world: TeamWorld, study: Study
) -> None:
    source = await study.submit(TEXT)
    await world.deps.store.transact(lambda writer: writer.patch_many({source.id: {"text": ""}}))
    study.on(about_orion)
    assert await study.learn() == ["done"]
    learned = await study.source(source.id)
    assert (learned.text, learned.content_hash) == (TEXT, source.content_hash)


async def test_what_was_withdrawn_is_not_shown_to_a_model(world: TeamWorld, study: Study) -> None:
    source = await study.submit(TEXT)
    await run(world, world.dan, lambda cmd: withdraw_source(cmd, source.id, "wrong file"))
    assert await study.learn() == ["done"]
    failed = await study.source(source.id)
    assert (failed.learning_state, failed.learning_code) == ("failed", "WITHDRAWN")
    assert study.model.asked == []


@pytest.mark.req("KN-54")
async def test_a_prompt_holds_nothing_of_another_private_chat(world: TeamWorld, study: Study) -> None:
    chat = await world.open(world.chat)
    said = await world.say(world.chat, "Orion ships in secret.")
    secret = create("Orion", block("Ships in secret.", cite(said, "ships in secret")))
    await apply(world, secret, conversation=chat.id)
    await study.submit(TEXT)
    study.on(nothing)
    await study.learn()
    assert "secret" not in str(study.model.asked[0])


async def test_a_job_made_before_jobs_named_their_agent_is_done_as_well(world: TeamWorld, study: Study) -> None:
    await study.submit(TEXT)
    job = await study.job()
    await world.deps.store.transact(lambda writer: writer.patch_many({job.id: {"agent_id": None}}))
    study.on(nothing)
    assert await study.learn() == ["done"]
    (call,) = await study.all(ModelCall)
    assert call.agent_id == world.atlas


@pytest.mark.req("KN-123")
async def test_how_far_a_material_was_read_can_be_asked(world: TeamWorld, study: Study) -> None:
    source = await study.submit(TEXT)
    before = await ask(world, world.ana, lambda s: learning_progress(s, source.id))
    assert (before.material.learning_state, before.read_characters, before.characters) == ("queued", 0, len(TEXT))
    study.on(nothing)
    await study.learn()
    after = await ask(world, world.ana, lambda s: learning_progress(s, source.id))
    assert (after.material.learning_state, after.read_characters, after.stuck) == ("succeeded", len(TEXT), False)


@pytest.mark.req("MA-26")
async def test_a_task_without_a_sign_of_life_is_told_as_stuck_and_may_be_retried(
    world: TeamWorld, study: Study
) -> None:
    source = await study.submit(TEXT)
    study.clock.advance(timedelta(minutes=29))
    assert not (await ask(world, world.ana, lambda s: learning_progress(s, source.id))).stuck
    study.clock.advance(timedelta(minutes=1))
    assert (await ask(world, world.ana, lambda s: learning_progress(s, source.id))).stuck
    await run(world, world.ana, lambda cmd: retry_learning(cmd, source.id))
    assert not (await ask(world, world.ana, lambda s: learning_progress(s, source.id))).stuck


@pytest.mark.parametrize("engine", ENGINES, indirect=True)
@pytest.mark.req("MA-7", "MA-6")
async def test_it_is_learned_on_every_store(study: Study, engine: str) -> None:
    source = await study.submit(TEXT)
    study.on(about_orion)
    assert await study.learn() == ["done"]
    assert (await study.source(source.id)).learning_state == "succeeded"
    assert NodeId((await study.all(Job))[-1].subject_id) == source.id
    assert isinstance((await study.all(Source))[0], Source)
