"""The use case `setCurationGuide`. Source: KN-104 to KN-108, KN-82, KN-87."""

from __future__ import annotations

from dataclasses import dataclass, replace

from graph.model.access import SystemScope
from graph.model.edges import Edge, EdgeType
from graph.model.errors import NotFound, OperationRejected, VersionConflict
from graph.model.ids import NodeId, node_id
from graph.model.nodes.knowledge import CurationGuide, KbKind, KnowledgeBase
from graph.model.nodes.people import Principal, PrincipalKind
from graph.model.nodes.work import AuditRecord
from graph.rules.audit_chain import AuditDraft
from graph.rules.audit_operations import AuditOperation
from graph.rules.changes import Changes
from graph.rules.guide import parse_guide
from graph.rules.images import guide_image
from graph.rules.pools import new_base, scope_of
from graph.rules.scopes import may_read, may_write_guide
from graph.services.access.commands import Command
from graph.services.access.session import Session
from graph.services.knowledge.bases import ensure_base
from graph.services.ledger import Commit, commit, hold

GUIDES = SystemScope(reason="the guide that is written")


@dataclass(frozen=True, kw_only=True, slots=True)
class GuideResult:
    """A guide as it is now, and the audit records of the change (none if nothing changed)."""

    guide: CurationGuide
    records: tuple[AuditRecord, ...]
    tx_id: str


async def set_curation_guide(
    cmd: Command, principal_id: NodeId, text: str, *, expected_version: int, reason: str | None = None
) -> GuideResult:
    """Write the one Curation Guide of a principal; an empty text takes it back.

    It is kept in the agent's own base, or in the base of a person that holds nothing else. The first version is 1,
    so a guide that does not exist yet has the expected version 0.

    Raises:
        OperationRejected: ``GUIDE_HUMAN_ONLY``: the caller is no person; ``SCOPE_FORBIDDEN``: he may only read it.
        NotFound: there is no such principal for the caller.
        BadInput: too long, or malformed front matter; details: `line`.
        VersionConflict: it was changed since; details: `current`.
    """
    if cmd.facts.kind is not PrincipalKind.HUMAN:
        raise OperationRejected("GUIDE_HUMAN_ONLY", "only a person writes the Curation Guide")
    base = await _writable_base(cmd, principal_id)
    parse_guide(text)
    base = await hold(cmd.writer, (await ensure_base(cmd.writer, base)).id)
    found = await _guide(cmd, principal_id)
    _expect(found, expected_version)
    if found is not None and found.text == text:
        return GuideResult(guide=found, records=(), tx_id=cmd.tx_id)
    guide = _next(cmd, found, principal_id, base, text)
    where = Commit(pool=base.id, tx_id=cmd.tx_id, at=cmd.at)
    records = await commit(cmd.writer, cmd.deps, where, _changes(cmd, found, guide, reason))
    return GuideResult(guide=guide, records=records, tx_id=cmd.tx_id)


async def curation_guide(session: Session, principal_id: NodeId) -> CurationGuide | None:
    """Return the guide of a principal if there is one that the caller may read; a guide taken back is none."""
    found = (await session.open([_guide_id(principal_id)])).get(_guide_id(principal_id))
    return found if isinstance(found, CurationGuide) and found.text else None


async def _writable_base(cmd: Command, principal_id: NodeId) -> KnowledgeBase:
    """Return the base of a principal's guide, made or not yet, if the caller may write the guide there."""
    principal = (await cmd.writer.get(GUIDES, [principal_id])).get(principal_id)
    if not isinstance(principal, Principal) or principal.workspace != cmd.caller.workspace:
        raise NotFound
    kind = KbKind.AGENT if principal.kind == PrincipalKind.AGENT else KbKind.GUIDE
    base = new_base(principal.workspace, principal_id, kind, cmd.at)
    scope = scope_of(base)
    if not may_read(cmd.session.viewer, scope):
        raise NotFound
    if not may_write_guide(cmd.facts, scope):
        raise OperationRejected("SCOPE_FORBIDDEN", "only curators write the guide of an agent")
    return base


async def _guide(cmd: Command, principal_id: NodeId) -> CurationGuide | None:
    id_ = _guide_id(principal_id)
    found = (await cmd.writer.get(GUIDES, [id_])).get(id_)
    return found if isinstance(found, CurationGuide) else None


def _guide_id(principal_id: NodeId) -> NodeId:
    """Return the id of the one guide of a principal."""
    return node_id(CurationGuide.PREFIX, principal_id.partition("_")[2])


def _expect(found: CurationGuide | None, expected: int) -> None:
    version = found.version if found else 0
    if version != expected:
        current = {"version": version, "text": found.text if found else ""}
        raise VersionConflict("the guide was changed since: look at it again", current=current)


def _next(
    cmd: Command, found: CurationGuide | None, principal_id: NodeId, base: KnowledgeBase, text: str
) -> CurationGuide:
    if found is not None:
        return replace(found, text=text, version=found.version + 1, modifier_id=cmd.caller.principal, updated_at=cmd.at)
    return CurationGuide(
        id=_guide_id(principal_id),
        workspace=base.workspace,
        pool=base.id,
        created_at=cmd.at,
        principal_id=principal_id,
        text=text,
        modifier_id=cmd.caller.principal,
        updated_at=cmd.at,
    )


def _changes(cmd: Command, found: CurationGuide | None, guide: CurationGuide, reason: str | None) -> Changes:
    changes = Changes()
    if found is None:
        changes.puts.append(guide)
        changes.links.append(Edge(type=EdgeType.GUIDES, source=guide.id, target=NodeId(str(guide.pool))))
    else:
        changes.patch(
            guide.id,
            text=guide.text,
            version=guide.version,
            modifier_id=guide.modifier_id,
            updated_at=guide.updated_at,
        )
    changes.drafts.append(
        AuditDraft(
            operation=AuditOperation.GUIDE_WRITE,
            actor_id=cmd.caller.principal,
            actor_kind=cmd.actor_kind,
            target_id=guide.id,
            target_kind=CurationGuide.__name__,
            before=guide_image(found.text) if found else None,
            after=guide_image(guide.text),
            reason=reason,
        )
    )
    return changes
