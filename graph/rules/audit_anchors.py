"""Anchors: records that bind the heads of all chains of a workspace, in a chain of their own.

A pool's chain alone cannot show that its tail was cut or that it was rewritten from some record on; an anchor kept
outside the store can. Source: AD-27.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from graph.model.fields import Json
from graph.model.time import Millis
from graph.rules.audit_chain import GENESIS, Head, chain_hash
from graph.rules.audit_following import ChainBreak, ChainReport


@dataclass(frozen=True, kw_only=True, slots=True)
class SealedAnchor:
    """The heads of all chains of a workspace at one moment, in the workspace's chain of anchors.

    Attributes:
        heads: pool id to the head of its chain, and the id of the workspace's node to the head of administration;
            chains without records are left out.
    """

    workspace: str
    seq: int
    recorded_at: Millis
    heads: Mapping[str, Head]
    prev_hash: str
    hash: str

    @property
    def head(self) -> Head:
        """The anchor chain's head once this anchor is its last."""
        return Head(seq=self.seq, hash=self.hash)

    def to_export(self) -> dict[str, Json]:
        """Return the JSON object that stands for this anchor in an export or a published file."""
        return {**_body(self), "prev_hash": self.prev_hash, "hash": self.hash}

    @classmethod
    def from_export(cls, line: Mapping[str, Any]) -> SealedAnchor:
        """Return the anchor that a JSON object of an export stands for."""
        return cls(**{**line, "heads": heads_from_json(line["heads"])})


def anchor(heads: Mapping[str, Head], previous: Head = GENESIS, *, workspace: str, recorded_at: Millis) -> SealedAnchor:
    """Return the anchor after `previous` that binds `heads`."""
    bound = {pool: head for pool, head in sorted(heads.items()) if head.seq}
    unsealed = SealedAnchor(
        workspace=workspace,
        seq=previous.seq + 1,
        recorded_at=recorded_at,
        heads=bound,
        prev_hash=previous.hash,
        hash="",
    )
    return replace(unsealed, hash=chain_hash(_body(unsealed), previous.hash))


def heads_to_json(heads: Mapping[str, Head]) -> dict[str, Json]:
    """Return heads as JSON: pool id to `{"seq", "hash"}`."""
    return {pool: {"seq": head.seq, "hash": head.hash} for pool, head in sorted(heads.items())}


def heads_from_json(heads: Mapping[str, Any]) -> dict[str, Head]:
    """Return the heads that `heads_to_json` wrote."""
    return {pool: Head(seq=head["seq"], hash=head["hash"]) for pool, head in heads.items()}


def verify_anchors(anchors: Iterable[SealedAnchor], head: Head | None = None) -> ChainReport:
    """Follow a chain of anchors; no pool may go back from one anchor to the next.

    Args:
        anchors: of one workspace, in ascending `seq` from 1.
        head: an anchor known from elsewhere; the chain may go on behind it.
    """
    last, seqs, workspace = GENESIS, dict[str, int](), None
    for found in anchors:
        workspace = workspace or found.workspace
        reason = _anchor_break(found, last, seqs, workspace) or _unlike(found, head)
        if reason:
            broken = min(found.seq, last.seq + 1)
            return ChainReport(ok=False, head=last, first_broken_seq=broken, reason=reason)
        last = found.head
        seqs.update((pool, bound.seq) for pool, bound in found.heads.items())
    if head and head.seq > last.seq:
        return ChainReport(ok=False, head=last, first_broken_seq=last.seq + 1, reason=ChainBreak.TAIL)
    return ChainReport(ok=True, head=last)


def heads_at(anchors: Iterable[SealedAnchor], pool: str) -> list[Head]:
    """Return every head that anchors bind for a pool, oldest first; each must be met by its chain."""
    return [found.heads[pool] for found in anchors if pool in found.heads]


def purged_pools(anchors: Iterable[SealedAnchor]) -> frozenset[str]:
    """Return the pools that some anchor names and the newest no longer does: purged since."""
    listed = list(anchors)
    named = {pool for found in listed for pool in found.heads}
    return frozenset(named - set(listed[-1].heads if listed else ()))


def _body(found: SealedAnchor) -> dict[str, Json]:
    return {
        "workspace": found.workspace,
        "seq": found.seq,
        "recorded_at": found.recorded_at,
        "heads": heads_to_json(found.heads),
    }


def _anchor_break(found: SealedAnchor, last: Head, seqs: Mapping[str, int], workspace: str) -> ChainBreak | None:
    if found.seq != last.seq + 1:
        return ChainBreak.ORDER
    if found.workspace != workspace:
        return ChainBreak.POOL
    if found.prev_hash != last.hash:
        return ChainBreak.LINK
    if found.hash != chain_hash(_body(found), found.prev_hash):
        return ChainBreak.HASH
    if any(bound.seq < seqs.get(pool, 0) for pool, bound in found.heads.items()):
        return ChainBreak.TAIL
    return None


def _unlike(found: SealedAnchor, head: Head | None) -> ChainBreak | None:
    return ChainBreak.FORK if head and found.seq == head.seq and found.hash != head.hash else None
