"""Acceptance examples 15 to 17: undoing a batch, and an entry that comes back whole."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests.acceptance.stage import Stage, made
from tests.api.conftest import ENGINES
from tests.support.operations import Json, block, cite, create, edit, relate

pytestmark = pytest.mark.parametrize("engine", [e for e in ENGINES if e != "memory"], indirect=True)

RESTORE = """
mutation($ids: [ID!]!, $hash: String) {
  restoreBatch(auditIds: $ids, reason: "undone", previewHash: $hash) { records { id operation restores { id } } }
}
"""
PREVIEW = """
query($ids: [ID!]!) {
  restorePreview(auditIds: $ids) { previewHash restorable steps { record { id } conflict omittedRelations } }
}
"""
DELETE = """
mutation($id: ID!, $version: Int!) {
  deleteEntry(id: $id, expectedVersion: $version, reason: "gone") { records { id operation target { id } } }
}
"""
TEXT = "Orion runs on Postgres. Orion is hosted in Berlin. Ana leads Orion. Orion belongs to Helio. Orion uses Kafka."
VERSIONS = "query($id: ID!) { node(id: $id) { ... on Block { current { text version } } } }"


async def rewritten(stage: Stage, source: str, block_id: str, version: int, text: str) -> str:
    """Let Ana correct a block; return the audit record."""
    stage.clock.advance(timedelta(minutes=1))
    content = block(text, cite(source, "Orion uses Kafka"), change="correction", standing="corrected")
    payload = await stage.write(edit(block_id, version, content), by=stage.ana)
    return str(payload["records"][0]["id"])


async def orion(stage: Stage) -> tuple[str, Json]:
    source = await stage.say(TEXT, speaker=stage.world.ben)
    blocks = (
        block("Runs on Postgres.", cite(source, "Orion runs on Postgres")),
        block("Is hosted in Berlin.", cite(source, "Orion is hosted in Berlin")),
        block("Is led by Ana.", cite(source, "Ana leads Orion")),
    )
    aliases = ["Orion platform", "Orion core"]
    return source, await stage.write(create("Orion", *blocks, type="system", aliases=aliases))


async def version_of(stage: Stage, block_id: str) -> Any:
    shown = await stage.ana.ok(VERSIONS, id=block_id)
    return shown["node"]["current"]["text"], shown["node"]["current"]["version"]


@pytest.mark.req("KN-97", "KN-98")
async def test_15_batch_restore_conflict(stage: Stage) -> None:
    # Given a1 (block X) and a2 (block Y), and a later edit of Y
    source, entry = await orion(stage)
    x, y = made(entry, place=1), made(entry, place=2)
    a1 = await rewritten(stage, source, x, 1, "Uses Kafka.")
    a2 = await rewritten(stage, source, y, 1, "Uses Kafka, too.")
    await rewritten(stage, source, y, 2, "Uses Kafka heavily.")
    # When both are undone, then the batch names a2 and X is unchanged, too
    answer = await stage.ana.run(RESTORE, ids=[a1, a2])
    assert answer.codes == ["RESTORE_CONFLICT"]
    assert answer.errors[0]["extensions"]["conflicts"] == [a2]
    assert await version_of(stage, x) == ("Uses Kafka.", 2)
    assert await version_of(stage, y) == ("Uses Kafka heavily.", 3)


@pytest.mark.req("KN-94", "KN-96", "KN-98", "KN-99", "KN-100")
async def test_16_batch_restore_chain(stage: Stage) -> None:
    # Given edits a1 (v1 to v2) and a2 (v2 to v3) of one block
    source, entry = await orion(stage)
    x = made(entry, place=1)
    a1 = await rewritten(stage, source, x, 1, "Uses Kafka.")
    a2 = await rewritten(stage, source, x, 2, "Uses Kafka heavily.")
    # When only a1 is undone, then that is a conflict
    assert (await stage.ana.run(RESTORE, ids=[a1])).codes == ["RESTORE_CONFLICT"]
    # When both are, then a2 first, the text is that of v1 as version 5, and two records exist
    seen = (await stage.ana.ok(PREVIEW, ids=[a1, a2]))["restorePreview"]
    assert [step["record"]["id"] for step in seen["steps"]] == [a2, a1]
    done = (await stage.ana.ok(RESTORE, ids=[a1, a2], hash=seen["previewHash"]))["restoreBatch"]["records"]
    assert [(one["operation"], one["restores"]["id"]) for one in done] == [("restore", a2), ("restore", a1)]
    assert await version_of(stage, x) == ("Runs on Postgres.", 5)


@pytest.mark.req("KN-36", "KN-90", "KN-101", "KN-102")
async def test_17_deleted_entry_comes_back_whole(stage: Stage) -> None:
    # Given an entry with 3 blocks, 2 aliases and 2 relations
    source, first = await orion(stage)
    entry = made(first)
    ends = await stage.write(
        create("Ana", block("Leads Orion.", cite(source, "Ana leads Orion")), type="person"),
        create("Helio", block("Owns Orion.", cite(source, "Orion belongs to Helio"))),
    )
    helio = made(ends, 1)
    both = await stage.write(
        relate(made(ends), "leads", entry, source, "Ana leads Orion"),
        relate(entry, "belongs_to", helio, source, "Orion belongs to Helio"),
    )
    led, owned = made(both), made(both, 1)
    before = await stage.entry(entry)
    assert before["relations"]["totalCount"] == 2
    # When it is deleted, then an end of one relation, and its record is restored
    deleted = (await stage.ana.ok(DELETE, id=entry, version=before["version"]))["deleteEntry"]["records"]
    record = next(one["id"] for one in deleted if one["operation"] == "entry.delete")
    assert await stage.entry(entry) is None
    await stage.ana.ok(DELETE, id=helio, version=(await stage.entry(helio))["version"])
    seen = (await stage.ana.ok(PREVIEW, ids=[record]))["restorePreview"]
    assert seen["steps"][0]["omittedRelations"] == [owned]
    await stage.ana.ok(RESTORE, ids=[record], hash=seen["previewHash"])
    # Then ids, blocks, aliases and one relation are back
    after = await stage.entry(entry)
    for field in ("id", "name", "type", "aliases", "summary"):
        assert after[field] == before[field]
    assert [b["id"] for b in after["blocks"]] == [b["id"] for b in before["blocks"]]
    assert await stage.texts(entry) == ["Runs on Postgres.", "Is hosted in Berlin.", "Is led by Ana."]
    assert [edge["node"]["id"] for edge in after["relations"]["edges"]] == [led]
    # and the audit trail is unbroken
    trail = [edge["node"]["operation"] for edge in after["audit"]["edges"]]
    assert [one for one in reversed(trail) if one in ("entry.create", "entry.delete", "restore")] == [
        "entry.create",
        "entry.delete",
        "restore",
    ]
    assert (await stage.dan.ok("{ verifyAudit { ok } }"))["verifyAudit"]["ok"]
