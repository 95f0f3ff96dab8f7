"""The hash chain of audit records: sealing a record, blanking its images; `audit_following` finds any edit afterwards.

Each pool has a gapless chain. A record's hash covers the record before it, every field of the record, and salted
commitments in place of its images and its reason, all of which may repeat the words of a source; so erasure takes
them and the salt along and the chain still verifies. Records of the first form have no commitment to the reason: their
hash covers the reason itself, which therefore stays. Pure: the salt, ids and time come from the caller's ports.
Source: KN-83 to KN-85, AD-26 to AD-28.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any

from graph.model.errors import BadInput
from graph.model.fields import Json
from graph.model.ids import NodeId, WorkspaceId
from graph.model.nodes.work import AuditRecord
from graph.model.time import Millis
from graph.rules.audit_operations import AuditOperation
from graph.rules.canonical import canonical_json

ERASED = "[erased]"
"""What stands in place of an erased image (KN-81)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Head:
    """The last record of a chain: its number and hash in hexadecimal. An empty chain has (0, "")."""

    seq: int
    hash: str


GENESIS = Head(seq=0, hash="")


@dataclass(frozen=True, kw_only=True, slots=True)
class AuditDraft:
    """One change, before it has its place in the chain.

    Attributes:
        operation: one of `AuditOperation` in knowledge; a code of their own for other surfaces.
        actor_kind: a value of `ModifierKind`.
        on_behalf_of: the person that a host named (AD-16).
        before, after: images of the touched fields as `graph.rules.images` describes; None: not live, or no image.
        image_sources: ids of the sources that the images came from, so that erasure finds them.
        restores_id: the record that a `restore` undoes.
    """

    operation: str
    actor_id: NodeId
    actor_kind: str
    target_id: NodeId
    target_kind: str
    on_behalf_of: NodeId | None = None
    before: Json = None
    after: Json = None
    reason: str | None = None
    dream_run_id: NodeId | None = None
    restores_id: NodeId | None = None
    image_sources: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class SealedAudit:
    """A change in its place in the chain of its pool.

    Attributes:
        recorded_at: UTC milliseconds.
        before_commitment, after_commitment: HMAC-SHA-256 in hexadecimal; "" where there is no image.
        salt: the key of all commitments in hexadecimal; "" where there is nothing to commit to, and after erasure.
        prev_hash: hash of the record before, "" for the first.
    """

    id: NodeId
    pool: NodeId
    seq: int
    tx_id: str
    recorded_at: Millis
    draft: AuditDraft
    before_commitment: str
    after_commitment: str
    salt: str
    prev_hash: str
    hash: str
    reason_commitment: str | None = None
    """Like those of the images; None in records of the first form."""

    @property
    def head(self) -> Head:
        """The chain's head once this record is its last."""
        return Head(seq=self.seq, hash=self.hash)

    @property
    def is_erased(self) -> bool:
        """Whether its images and its reason were erased."""
        return self.salt == "" and any(self.commitments)

    @property
    def commitments(self) -> tuple[str, str, str]:
        """The commitments to what `committed` holds; "" for what is not there."""
        return self.before_commitment, self.after_commitment, self.reason_commitment or ""

    @property
    def committed(self) -> tuple[Json, Json, Json]:
        """What the commitments are to, in their order."""
        return self.draft.before, self.draft.after, self.draft.reason if self.commits_to_reason else None

    @property
    def commits_to_reason(self) -> bool:
        """False for records of the first form, whose hash covers the reason itself."""
        return self.reason_commitment is not None

    def to_node(self, workspace: WorkspaceId) -> AuditRecord:
        """Return the node that keeps this record."""
        own = dict(zip(_OWN_FIELDS, _own(self), strict=True))
        drafted = dict(zip(_DRAFT_FIELDS, _drafted(self.draft), strict=True))
        return AuditRecord(workspace=workspace, created_at=self.recorded_at, **own, **drafted)

    @classmethod
    def from_node(cls, node: AuditRecord) -> SealedAudit:
        """Return the record that a node keeps."""
        return cls.from_export({name: getattr(node, name) for name in EXPORT_FIELDS})

    def to_export(self) -> dict[str, Json]:
        """Return the JSON object that stands for this record in an export; the offline verifier reads it."""
        own = dict(zip(_OWN_FIELDS, _own(self), strict=True))
        drafted = dict(zip(_DRAFT_FIELDS, _drafted(self.draft), strict=True))
        whole = {**own, **drafted, "image_sources": list(self.draft.image_sources)}
        return whole if self.commits_to_reason else {key: whole[key] for key in whole if key != _REASON_COMMITMENT}

    @classmethod
    def from_export(cls, line: Mapping[str, Any]) -> SealedAudit:
        """Return the record that a JSON object of an export stands for.

        Raises:
            BadInput: a field is missing, or there is one that no record has.
        """
        line = {_REASON_COMMITMENT: None, **line}
        if line.keys() != EXPORT_FIELDS or not isinstance(line["image_sources"], list | tuple):
            raise BadInput("an audit record has exactly the fields of AuditRecord", field="record")
        drafted = {name: line[name] for name in AuditDraft.__dataclass_fields__}
        draft = AuditDraft(**{**drafted, "image_sources": tuple(line["image_sources"])})
        return cls(draft=draft, **{name: line[name] for name in _PLACE_FIELDS + _SEAL_FIELDS})


_PLACE_FIELDS = ("id", "pool", "seq", "tx_id", "recorded_at")

_REASON_COMMITMENT = "reason_commitment"

_SEAL_FIELDS = ("before_commitment", "after_commitment", _REASON_COMMITMENT, "salt", "prev_hash", "hash")

_OWN_FIELDS, _DRAFT_FIELDS = _PLACE_FIELDS + _SEAL_FIELDS, tuple(AuditDraft.__dataclass_fields__)

_own, _drafted = attrgetter(*_OWN_FIELDS), attrgetter(*_DRAFT_FIELDS)

EXPORT_FIELDS = frozenset((*_PLACE_FIELDS, *_SEAL_FIELDS, *AuditDraft.__dataclass_fields__))
"""The fields of a record in an export, named as in the node; the first form has no `reason_commitment`."""


def _covered(*bare: str) -> tuple[list[str], attrgetter[tuple[Json, ...]]]:
    """Return the names of the fields that a hash covers, sorted as it wants them, and what reads them."""
    names = sorted(EXPORT_FIELDS - {"before", "after", "salt", "prev_hash", "hash", *bare})
    return names, attrgetter(*(f"draft.{name}" if name in AuditDraft.__dataclass_fields__ else name for name in names))


_BODY = _covered("reason")

_FIRST_BODY = _covered(_REASON_COMMITMENT)


def commit_image(image: Json, salt: bytes) -> str:
    """Return the commitment to an image: HMAC-SHA-256 of its canonical JSON under `salt`, in hexadecimal.

    Source: AD-28; without the salt nobody can test a guess about a short text.
    """
    return hmac.digest(salt, canonical_json(image), "sha256").hex()


def chain_hash(body: Mapping[str, Json], prev_hash: str) -> str:
    """Return SHA-256 of `prev_hash` (its hexadecimal characters) and the canonical JSON of `body`.

    `body` holds all fields of a record but images, reason, salt and the two hashes. Every chain of the service uses it.
    Source: KN-85.
    """
    return hashlib.sha256(prev_hash.encode() + canonical_json(body)).hexdigest()


def seal(
    draft: AuditDraft,
    head: Head,
    *,
    record_id: NodeId,
    pool: NodeId,
    tx_id: str,
    recorded_at: Millis,
    salt: bytes,
) -> SealedAudit:
    """Return `draft` as the record after `head`.

    Args:
        draft: the change; its images must be JSON values.
        head: the last record of the pool's chain, `GENESIS` for an empty one.
        record_id: id of the new record.
        pool: the pool whose chain it joins.
        tx_id: the transaction that writes it.
        recorded_at: time of the commit.
        salt: at least 16 random bytes, never used before; not kept if there is nothing to commit to.

    Raises:
        BadInput: an image cannot be kept exactly as JSON.
    """
    before, after, reason = commitments_to((draft.before, draft.after, draft.reason), salt)
    unsealed = SealedAudit(
        id=record_id,
        pool=pool,
        seq=head.seq + 1,
        tx_id=tx_id,
        recorded_at=recorded_at,
        draft=draft,
        before_commitment=before,
        after_commitment=after,
        reason_commitment=reason,
        salt=salt.hex() if before or after or reason else "",
        prev_hash=head.hash,
        hash="",
    )
    return replace(unsealed, hash=chain_hash(covered_fields(unsealed), head.hash))


def erase_images(record: SealedAudit) -> SealedAudit:
    """Return the record with `[erased]` for its images and reason and without its salt; the rest stays (KN-81)."""
    draft = record.draft
    blanked = replace(
        draft,
        before=_erased(draft.before),
        after=_erased(draft.after),
        reason=_erased(draft.reason) if record.commits_to_reason else draft.reason,
    )
    return replace(record, draft=blanked, salt="")


def erased_sources(records: Iterable[SealedAudit]) -> frozenset[str]:
    """Return the sources that `source.erase` records name: what may explain an erased image."""
    found: set[str] = set()
    for record in records:
        if record.draft.operation == AuditOperation.SOURCE_ERASE:
            after = record.draft.after
            found.add(record.draft.target_id)
            found.update(after.get("sourceIds", ()) if isinstance(after, dict) else ())
    return frozenset(found)


def commitments_to(values: Iterable[Json], salt: bytes) -> tuple[str, ...]:
    """Return what `commit_image` gives for each of several images under one salt, and "" for None.

    Both hashes of HMAC begin with the key alone, so they are begun once for all. Source: RFC 2104.
    """
    key = (hashlib.sha256(salt).digest() if len(salt) > _BLOCK_BYTES else salt).ljust(_BLOCK_BYTES, b"\0")
    inner, outer = hashlib.sha256(key.translate(_INNER)), hashlib.sha256(key.translate(_OUTER))
    return tuple(["" if value is None else _keyed(inner.copy(), outer.copy(), value) for value in values])


def _keyed(inner: Any, outer: Any, value: Json) -> str:
    inner.update(canonical_json(value))
    outer.update(inner.digest())
    return str(outer.hexdigest())


_BLOCK_BYTES = 64
_INNER = bytes(byte ^ 0x36 for byte in range(256))
_OUTER = bytes(byte ^ 0x5C for byte in range(256))


def _erased(value: Json) -> str | None:
    return None if value is None else ERASED


def covered_fields(record: SealedAudit) -> dict[str, Json]:
    """Return what the hash covers: an export without images, reason, salt and the two hashes.

    The first form has its reason there, and no commitment to it.
    """
    names, values = _BODY if record.commits_to_reason else _FIRST_BODY
    return dict(zip(names, values(record), strict=True))
