"""Acceptance example 18: a file survives the want of a worker and a failed task."""

from __future__ import annotations

import hashlib

import pytest

from graph.model.nodes.knowledge import KbKind
from tests.acceptance.stage import Stage
from tests.api.adapters.files import pdf
from tests.api.conftest import ENGINES

pytestmark = pytest.mark.parametrize("engine", [e for e in ENGINES if e != "memory"], indirect=True)

SUBMIT = """
mutation($owner: ID!, $kb: ID!, $file: Upload!) {
  submitFile(ownerId: $owner, kbId: $kb, file: $file) { id state code reason contentHash source { id downloadPath } }
}
"""
RETRY = "mutation($id: ID!) { retryLearning(materialId: $id) { id state contentHash source { downloadPath } } }"
PDF = pdf("The kiln is lit on 3 June.")
SCAN = pdf("")
PNG = b"\x89PNG\r\n\x1a\n" + bytes(64)


@pytest.mark.req("MA-3", "MA-4", "MA-6")
async def test_18_file_survives(stage: Stage) -> None:
    # Given no worker, when a PDF is submitted
    await stage.say("hello")
    where = {"owner": stage.gid(stage.world.atlas), "kb": stage.kb(KbKind.CHANNEL, stage.world.ops)}
    answer = await stage.ana.upload(SUBMIT, "plan.pdf", PDF, **where)
    material = answer.data["submitFile"]
    # Then its state is queued and its bytes can be downloaded with equal SHA-256
    assert material["state"] == "QUEUED"
    assert await downloaded(stage, material) == hashlib.sha256(PDF).hexdigest() == material["contentHash"]
    # as that of one without any text is, whatever a worker will find
    scan = (await stage.ana.upload(SUBMIT, "scan.pdf", SCAN, **where)).data["submitFile"]
    assert (scan["state"], scan["code"]) == ("QUEUED", None)
    assert scan["reason"].startswith("the file holds no text")
    assert await downloaded(stage, scan) == hashlib.sha256(SCAN).hexdigest()
    # and after a failed task a retry needs no new upload
    failed = (await stage.ana.upload(SUBMIT, "plan.png", PNG, **where)).data["submitFile"]
    assert (failed["state"], failed["code"]) == ("FAILED", "UNSUPPORTED_TYPE")
    assert failed["reason"].startswith("text is read from plain text, Markdown, HTML")
    assert material["reason"] is None
    again = (await stage.ana.ok(RETRY, id=failed["id"]))["retryLearning"]
    assert (again["id"], again["state"]) == (failed["id"], "QUEUED")
    assert await downloaded(stage, failed) == hashlib.sha256(PNG).hexdigest()
    assert await stage.ana.code(RETRY, id=failed["id"]) == "BAD_STATE"


async def downloaded(stage: Stage, material: dict[str, dict[str, str]]) -> str:
    client = stage.ana
    path = material["source"]["downloadPath"]
    got = await client.http.get(path, headers={"Authorization": f"Bearer {client.token}"})
    assert got.status_code == 200
    refused = await client.http.get(path, headers={"Authorization": f"Bearer {stage.dan.token}"})
    assert refused.status_code == 404
    return hashlib.sha256(got.content).hexdigest()
