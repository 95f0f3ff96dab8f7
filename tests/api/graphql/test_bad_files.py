"""Files that cannot be read, over GraphQL: kept, failed with a code, and a reason that a person can read."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest
from pypdf import PdfWriter

from graph.model.ids import NodeId
from graph.rules.unreadable import WHY
from tests.api.adapters.files import pdf, zipped
from tests.api.clients import GraphQLClient
from tests.support.world import TeamWorld

SUBMIT = """
mutation($owner: ID!, $kb: ID!, $file: Upload!) {
  submitFile(ownerId: $owner, kbId: $kb, file: $file) { state code reason source { text } }
}
"""


def locked() -> bytes:
    writer = PdfWriter(clone_from=io.BytesIO(pdf("secret words")))
    writer.encrypt("password", algorithm="RC4-128")
    buffer = io.BytesIO()
    writer.write(buffer)
    return buffer.getvalue()


def bomb() -> bytes:
    return zipped(**{"word/document.xml": bytes(201 * 1024 * 1024), "[Content_Types].xml": b"<a/>"})


BAD: dict[str, tuple[Callable[[], bytes], str, str]] = {
    "an image that calls itself a document": (lambda: b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "plan.docx", "unknown"),
    "a locked document": (locked, "plan.pdf", "encrypted"),
    "half a document": (lambda: pdf("x" * 50)[:120], "plan.pdf", "damaged"),
    "a document that unfolds without end": (bomb, "plan.docx", "too_large"),
    "white space": (lambda: b" \n\t \n", "plan.txt", "no_text"),
    "noise": (lambda: bytes(range(256)) * 8, "plan.txt", "unknown"),
}


@pytest.mark.req("MA-5", "MA-6")
@pytest.mark.parametrize("name", BAD)
async def test_what_cannot_be_read_is_kept_with_a_reason(
    name: str, world: TeamWorld, ana: GraphQLClient, gid: Callable[[NodeId], str]
) -> None:
    make, filename, reason = BAD[name]
    of_another_type = reason == "unknown"  # its learning cannot but fail; that of the others is tried
    pool = (await world.open(world.ops)).pool
    assert pool is not None
    answer = await ana.upload(SUBMIT, filename, make(), owner=gid(world.atlas), kb=gid(pool))
    assert not answer.errors
    assert answer.data["submitFile"] == {
        "state": "FAILED" if of_another_type else "QUEUED",
        "code": "UNSUPPORTED_TYPE" if of_another_type else None,
        "reason": WHY[reason],
        "source": {"text": ""},
    }


async def test_an_empty_file_is_refused_at_once(
    world: TeamWorld, ana: GraphQLClient, gid: Callable[[NodeId], str]
) -> None:
    pool = (await world.open(world.ops)).pool
    assert pool is not None
    answer = await ana.upload(SUBMIT, "plan.txt", b"", owner=gid(world.atlas), kb=gid(pool))
    assert answer.codes == ["BAD_INPUT"]
    assert "the file is empty" in str(answer.errors)
