"""The audit chain: what holds, what breaks it, and what erasure leaves."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

import pytest

from graph.model.errors import BadInput
from graph.model.fields import Json
from graph.model.ids import NodeId, WorkspaceId
from graph.rules.audit_chain import (
    ERASED,
    GENESIS,
    Head,
    SealedAudit,
    commit_image,
    commitments_to,
    erase_images,
    erased_sources,
    seal,
)
from graph.rules.audit_following import ChainBreak, verify_chain
from graph.rules.audit_operations import AuditOperation, is_restorable
from graph.rules.images import erase_image
from tests.support.audit_chains import make_chain, make_draft


@pytest.fixture
def chain() -> list[SealedAudit]:
    drafts = [make_draft(before={"text": f"v{n}"}, after={"text": f"v{n + 1}"}) for n in range(6)]
    return make_chain([*drafts, make_draft("access.read", before=None, after=None)])


@pytest.mark.req("KN-83", "KN-85")
def test_records_are_numbered_without_gaps_and_linked(chain: list[SealedAudit]) -> None:
    assert [record.seq for record in chain] == list(range(1, 8))
    assert [record.prev_hash for record in chain] == ["", *(record.hash for record in chain[:-1])]
    assert verify_chain(chain, chain[-1].head).ok


@pytest.mark.req("KN-85")
def test_hash_covers_the_record_and_commitments_but_not_the_images() -> None:
    (record,) = make_chain([make_draft()])
    other_image = make_chain([make_draft(after={"text": "other"})])[0]
    assert other_image.hash != record.hash
    assert erase_images(record).hash == record.hash


@pytest.mark.req("AD-28")
def test_commitment_of_a_short_text_depends_on_a_salt_of_its_own() -> None:
    first, second = make_chain([make_draft(), make_draft()])
    assert first.draft.after == second.draft.after
    assert first.after_commitment != second.after_commitment
    assert first.after_commitment == commit_image(first.draft.after, bytes.fromhex(first.salt))
    assert first.after_commitment not in {hashlib.sha256(b).hexdigest() for b in (b"new", b'{"text":"new"}')}


@pytest.mark.req("KN-81", "KN-85", "AD-28")
def test_erasure_takes_images_and_salt_and_the_chain_still_verifies(chain: list[SealedAudit]) -> None:
    chain[2] = erase_images(chain[2])
    assert (chain[2].draft.before, chain[2].draft.after, chain[2].salt) == (ERASED, ERASED, "")
    report = verify_chain(chain, chain[-1].head)
    assert (report.ok, report.erased) == (True, 1)


def test_images_that_vanished_need_a_record_of_the_erasure() -> None:
    drafts = [make_draft(image_sources=("src_1",)), make_draft("source.erase", "src_2", before=None, after=None)]
    chain = make_chain(drafts)
    chain[0] = erase_images(chain[0])
    report = verify_chain(chain, erased=erased_sources(chain))
    assert (report.first_broken_seq, report.reason) == (1, ChainBreak.ERASURE)
    named = make_chain([drafts[0], replace(drafts[1], after=erase_image(["src_1", "src_2"]))])
    named[0] = erase_images(named[0])
    assert verify_chain(named, erased=erased_sources(named)).ok


def _with_draft(record: SealedAudit, **fields: Any) -> SealedAudit:
    return replace(record, draft=replace(record.draft, **fields))


TAMPERING = {
    "an image was changed": lambda r: _with_draft(r, after={"text": "forged"}),
    "an image was removed": lambda r: _with_draft(r, before=None),
    "the salt was changed": lambda r: replace(r, salt="00" * 32),
    "the salt was written otherwise": lambda r: replace(r, salt=r.salt.upper()),
    "the salt is no salt": lambda r: replace(r, salt="salt"),
    "an image was kept without its salt": lambda r: replace(r, salt=""),
    "the actor was changed": lambda r: _with_draft(r, actor_id=NodeId("prn_w/human/ben")),
    "the time was changed": lambda r: replace(r, recorded_at=r.recorded_at + 1),
    "the reason was changed": lambda r: _with_draft(r, reason=None),
    "the sources were changed": lambda r: _with_draft(r, image_sources=("src_9",)),
    "the commitment was changed": lambda r: replace(r, after_commitment=commit_image({"text": "forged"}, b"salt")),
    "the hash was changed": lambda r: replace(r, hash="0" * 64),
    "the link was changed": lambda r: replace(r, prev_hash="0" * 64),
    "a field holds what JSON cannot": lambda r: _with_draft(r, reason="\ud800"),
}


@pytest.mark.req("KN-85")
@pytest.mark.parametrize("change", TAMPERING.values(), ids=TAMPERING.keys())
def test_the_first_changed_record_is_named(chain: list[SealedAudit], change: Any) -> None:
    chain[3] = change(chain[3])
    report = verify_chain(chain)
    assert (report.ok, report.first_broken_seq, report.head) == (False, 4, chain[2].head)


@pytest.mark.req("KN-85")
def test_missing_added_and_reordered_records_are_found(chain: list[SealedAudit]) -> None:
    assert verify_chain(chain[:2] + chain[3:]).first_broken_seq == 3
    assert verify_chain(chain[1:]).first_broken_seq == 1
    assert verify_chain(chain[:3] + chain[2:]).reason is ChainBreak.ORDER
    assert verify_chain([chain[0], chain[2], chain[1], *chain[3:]]).first_broken_seq == 2


@pytest.mark.req("AD-27")
def test_a_record_of_another_pool_does_not_pass_as_one_of_this(chain: list[SealedAudit]) -> None:
    (stranger,) = make_chain([make_draft()], pool="knb_2", head=chain[2].head)
    assert verify_chain([*chain[:3], stranger]).reason is ChainBreak.POOL


@pytest.mark.req("AD-27")
def test_cut_tail_and_fork_are_found_with_a_known_head(chain: list[SealedAudit]) -> None:
    assert verify_chain(chain[:4]).ok
    cut = verify_chain(chain[:4], chain[-1].head)
    assert (cut.first_broken_seq, cut.reason) == (5, ChainBreak.TAIL)
    rewritten = chain[:4] + make_chain([make_draft(reason=str(n)) for n in range(3)], head=chain[3].head)
    assert verify_chain(rewritten).ok
    forked = verify_chain(rewritten, chain[5].head)
    assert (forked.first_broken_seq, forked.reason) == (6, ChainBreak.FORK)
    assert verify_chain([], Head(seq=1, hash="x")).reason is ChainBreak.TAIL


def test_chain_goes_on_behind_the_known_head_and_can_be_verified_in_parts(chain: list[SealedAudit]) -> None:
    assert verify_chain(chain, chain[3].head).ok
    assert verify_chain(chain[4:], chain[6].head, after=chain[3].head).head == chain[6].head
    assert verify_chain(chain[4:], after=chain[2].head).first_broken_seq == 4
    assert verify_chain([]).head == GENESIS


def test_record_survives_node_and_export(chain: list[SealedAudit]) -> None:
    for record in chain:
        assert SealedAudit.from_node(record.to_node(WorkspaceId("w"))) == record
        assert SealedAudit.from_export(record.to_export()) == record
    with pytest.raises(BadInput):
        SealedAudit.from_export({**chain[0].to_export(), "note": "?"})


def test_image_that_json_cannot_keep_is_refused_before_anything_is_sealed() -> None:
    with pytest.raises(BadInput):
        make_chain([make_draft(after={"value": 2**53 + 1})])


def test_sealing_is_a_function_of_its_arguments() -> None:
    arguments: dict[str, Any] = {
        "record_id": "aud_1",
        "pool": "knb_1",
        "tx_id": "t",
        "recorded_at": 5,
        "salt": b"s" * 16,
    }
    assert seal(make_draft(), GENESIS, **arguments) == seal(make_draft(), GENESIS, **arguments)


@pytest.mark.req("KN-84", "KN-103")
def test_only_changes_of_knowledge_can_be_restored() -> None:
    refused = {operation.value for operation in AuditOperation if not is_restorable(operation)}
    assert refused == {
        "mirror.sync",
        "mirror.withdraw",
        "source.withdraw",
        "source.return",
        "source.erase",
        "access.read",
        "settings.write",
    }
    assert {"restore", "entry.delete", "memo.write", "lesson.edit", "guide.write"} <= set(AuditOperation) - refused


@pytest.mark.parametrize("salt", [b"", b"short", b"s" * 32, b"s" * 64, b"longer than a block of the hash " * 3])
def test_commitments_of_one_salt_are_those_of_each_image_alone(salt: bytes) -> None:
    images: list[Json] = [{"text": "Builds kilns"}, None, "a reason", ["é", 1.5, None], {}]
    alone = tuple("" if image is None else commit_image(image, salt) for image in images)
    assert commitments_to(images, salt) == alone
