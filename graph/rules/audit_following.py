"""Following a hash chain of audit records to the first place where it breaks. Source: KN-85, AD-28."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from graph.model.errors import BadInput
from graph.rules.audit_chain import ERASED, GENESIS, Head, SealedAudit, chain_hash, commitments_to, covered_fields


def keeps_images(record: SealedAudit) -> bool:
    """Tell whether a record has an image, and its images are still those that it commits to."""
    has_image = bool(record.before_commitment or record.after_commitment)
    untouched = record.hash == _recomputed(record) and _image_break(record, None) is None
    return has_image and untouched and not record.is_erased


class ChainBreak(StrEnum):
    """Why a chain does not hold; the value is the sentence a reader gets."""

    ORDER = "a record is missing, added or out of order"
    LINK = "the record does not follow the one before it"
    HASH = "a field of the record was changed"
    IMAGE = "an image, a reason or the salt was changed"
    ERASURE = "images are gone, and no source.erase record explains it"
    POOL = "the record belongs to another pool"
    TAIL = "the chain ends before the known head"
    FORK = "the record is not the one that the known head names"


@dataclass(frozen=True, kw_only=True, slots=True)
class ChainReport:
    """What became of a verification.

    Attributes:
        ok: the chain holds.
        head: the last record found good.
        first_broken_seq: number at which it breaks (of the record that is missing or wrong), if it does.
        reason: why, if it does.
        erased: records found good whose images were erased.
    """

    ok: bool
    head: Head
    first_broken_seq: int | None = None
    reason: ChainBreak | None = None
    erased: int = 0


def verify_chain(
    records: Iterable[SealedAudit],
    head: Head | None = None,
    *,
    after: Head = GENESIS,
    anchored: Iterable[Head] = (),
    erased: Container[str] | None = None,
) -> ChainReport:
    """Follow the chain of one pool and report the first place where it breaks.

    Bit flips, missing, added and reordered records are found by the chain alone; a cut tail and a fork need a head
    known from elsewhere.

    Args:
        records: in ascending `seq`, starting after `after`; read once.
        head: a known head; the chain may go on behind it.
        after: the last record already verified.
        anchored: further known heads, such as those that anchors bind.
        erased: ids of erased sources; if given, erased images must be explained by one of them.
    """
    known = [found for found in (head, *anchored) if found and found.seq > after.seq]
    forks = _hashes_by_seq(known)
    seq, last, erasures, pool = after.seq, after.hash, 0, None
    for record in records:
        pool = pool or record.pool
        reason = _record_break(record, seq, last, pool, erased) or _fork(record, forks)
        if reason:
            broken = min(record.seq, seq + 1)
            good = Head(seq=seq, hash=last)
            return ChainReport(ok=False, head=good, first_broken_seq=broken, reason=reason, erased=erasures)
        seq, last, erasures = record.seq, record.hash, erasures + record.is_erased
    good = Head(seq=seq, hash=last)
    if any(found.seq > seq for found in known):
        return ChainReport(ok=False, head=good, first_broken_seq=seq + 1, reason=ChainBreak.TAIL, erased=erasures)
    return ChainReport(ok=True, head=good, erased=erasures)


def _record_break(
    record: SealedAudit, seq: int, last: str, pool: str, erased: Container[str] | None
) -> ChainBreak | None:
    if record.seq != seq + 1:
        return ChainBreak.ORDER
    if record.pool != pool:
        return ChainBreak.POOL
    if record.prev_hash != last:
        return ChainBreak.LINK
    if record.hash != _recomputed(record):
        return ChainBreak.HASH
    return _image_break(record, erased)


def _recomputed(record: SealedAudit) -> str | None:
    try:
        return chain_hash(covered_fields(record), record.prev_hash)
    except BadInput:
        return None


def _image_break(record: SealedAudit, erased: Container[str] | None) -> ChainBreak | None:
    commitments = record.commitments
    if record.salt == "" and any(commitments):
        return _erasure_break(record, erased)
    try:
        salt = bytes.fromhex(record.salt)
        kept = commitments_to(record.committed, salt)
    except (BadInput, ValueError, TypeError):
        return ChainBreak.IMAGE
    wanted_salt = salt.hex() if any(kept) else ""
    return None if kept == commitments and record.salt == wanted_salt else ChainBreak.IMAGE


def _erasure_break(record: SealedAudit, erased: Container[str] | None) -> ChainBreak | None:
    if record.committed != tuple(ERASED if commitment else None for commitment in record.commitments):
        return ChainBreak.IMAGE
    explained = erased is None or any(source in erased for source in record.draft.image_sources)
    return None if explained else ChainBreak.ERASURE


def _hashes_by_seq(known: Iterable[Head]) -> dict[int, set[str]]:
    found: dict[int, set[str]] = {}
    for head in known:
        found.setdefault(head.seq, set()).add(head.hash)
    return found


def _fork(record: SealedAudit, forks: Mapping[int, set[str]]) -> ChainBreak | None:
    known = forks.get(record.seq)
    return None if known is None or known == {record.hash} else ChainBreak.FORK
